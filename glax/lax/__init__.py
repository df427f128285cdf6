"""The operations themselves: nothing is promoted, and little is broadcast. glax.numpy is made of these."""

from .elementwise import (
    RoundingMethod, abs, acos, acosh, add, asin, asinh, atan, atan2, atanh, bitcast_convert_type, bitwise_and,
    bitwise_not, bitwise_or, bitwise_xor, cbrt, ceil, clamp, clz, complex, conj, convert_element_type, cos, cosh,
    digamma, div, dtype, eq, erf, erf_inv, erfc, exp, exp2, expm1, floor, ge, gt, imag, integer_pow, is_finite, le,
    lgamma, log, log1p, logistic, lt, max, min, mul, ne, neg, nextafter, optimization_barrier, polygamma,
    population_count, pow, real, reciprocal, reduce_precision, rem, round, rsqrt, select, select_n, shift_left,
    shift_right_arithmetic, shift_right_logical, sign, sin, sinh, sqrt, square, stop_gradient, sub, tan, tanh,
)
from .gathering import (
    GatherDimensionNumbers, GatherScatterMode, ScatterDimensionNumbers, gather, index_take, scatter, scatter_add,
    scatter_max, scatter_min, scatter_mul, scatter_sub,
)
from .products import DotDimensionNumbers, Precision, PrecisionLike, batch_matmul, dot, dot_general
from .reductions import (
    argmax, argmin, cumlogsumexp, cummax, cummin, cumprod, cumsum, reduce, reduce_and, reduce_max, reduce_min,
    reduce_or, reduce_prod, reduce_sum, reduce_xor, sort, sort_key_val, top_k,
)
from .shape import (
    broadcast, broadcast_in_dim, broadcast_like, broadcast_shapes, broadcast_to_rank, broadcasted_iota, collapse,
    concatenate, empty, expand_dims, full, full_like, iota, pad, reshape, rev, split, squeeze, stack, tile, transpose,
    unstack, zeros_like_array,
)
from .slicing import (
    dynamic_index_in_dim, dynamic_slice, dynamic_slice_in_dim, dynamic_update_index_in_dim, dynamic_update_slice,
    dynamic_update_slice_in_dim, index_in_dim, slice, slice_in_dim,
)
