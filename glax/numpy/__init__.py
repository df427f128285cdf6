"""NumPy's functions on arrays of this package, with JAX's rules of promotion."""

from . import _methods
from .abstract import ndarray
from .arithmetic import (
    abs, absolute, angle, around, ceil, conj, conjugate, deg2rad, degrees, divmod, fabs, float_power, floor,
    floor_divide, fmod, hypot, i0, imag, log10, log2, logaddexp, logaddexp2, mod, positive, pow, power, rad2deg,
    radians, real, reciprocal, remainder, rint, round, sign, sinc, square, trunc,
)
from .constants import (
    ComplexWarning, can_cast, dtype, e, euler_gamma, finfo, get_printoptions, iinfo, index_exp, inf, isdtype,
    isscalar, issubdtype, iterable, nan, newaxis, pi, printoptions, promote_types, result_type, s_, set_printoptions,
)
from .creation import (
    arange, array, asarray, copy, empty, empty_like, eye, fromfunction, full, full_like, geomspace, identity,
    indices, linspace, logspace, meshgrid, ones, ones_like, tri, tril, triu, vander, zeros, zeros_like,
)
from .floats import bitwise_count, copysign, fmax, fmin, frexp, gcd, heaviside, lcm, ldexp, modf, spacing
from .indexing import choose, diag, diagflat, diagonal, fill_diagonal, put, put_along_axis, take, take_along_axis, trace
from .linear import cross, dot, einsum, einsum_path, inner, kron, matmul, matvec, outer, tensordot, vdot, vecdot, vecmat
from .logic import (
    allclose, array_equal, array_equiv, isclose, iscomplex, iscomplexobj, isfinite, isinf, isnan, isneginf,
    isposinf, isreal, isrealobj, logical_and, logical_not, logical_or, logical_xor, signbit,
)
from .nan_reductions import (
    nanargmax, nanargmin, nancumprod, nancumsum, nanmax, nanmean, nanmin, nanprod, nanstd, nansum, nanvar,
)
from .reductions import (
    all, amax, amin, any, argmax, argmin, average, count_nonzero, cumprod, cumsum, cumulative_prod, cumulative_sum,
    max, mean, min, prod, ptp, std, sum, var,
)
from .scalar_types import (
    bfloat16, bool_, cdouble, character, complex128, complex64, complexfloating, csingle, double, flexible, float16,
    float32, float4_e2m1fn, float64, float6_e2m3fn, float6_e3m2fn, float8_e3m4, float8_e4m3, float8_e4m3b11fnuz,
    float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu, floating, generic, inexact, int16,
    int2, int32, int4, int64, int8, integer, number, object_, signedinteger, single, uint16, uint2, uint32, uint4,
    uint64, uint8, unsignedinteger,
)
from .selection import clip, nan_to_num, piecewise, select, where
from .shaping import (
    append, array_split, astype, atleast_1d, atleast_2d, atleast_3d, block, broadcast_arrays, broadcast_shapes,
    broadcast_to, column_stack, concat, concatenate, dsplit, dstack, expand_dims, flip, fliplr, flipud, hsplit,
    hstack, matrix_transpose, moveaxis, ndim, permute_dims, ravel, repeat, reshape, resize, roll, rollaxis, rot90,
    shape, size, split, squeeze, stack, swapaxes, tile, transpose, unstack, vsplit, vstack,
)
from .sorting import (
    argpartition, argsort, argwhere, bincount, compress, digitize, extract, flatnonzero, lexsort, nonzero,
    partition, ravel_multi_index, searchsorted, sort, sort_complex, unravel_index,
)
from .ufuncs import (
    acos, acosh, add, arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh, asin, asinh, atan, atan2, atanh,
    bitwise_and, bitwise_invert, bitwise_left_shift, bitwise_not, bitwise_or, bitwise_right_shift, bitwise_xor,
    cbrt, cos, cosh, divide, equal, exp, exp2, expm1, greater, greater_equal, invert, left_shift, less, less_equal,
    log, log1p, maximum, minimum, multiply, negative, nextafter, not_equal, right_shift, sin, sinh, sqrt, subtract,
    tan, tanh, true_divide,
)

_methods.install()

__all__ = [
    "ComplexWarning", "abs", "absolute", "acos", "acosh", "add", "all", "allclose", "amax", "amin", "angle", "any",
    "append", "arange", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax",
    "argmin", "argpartition", "argsort", "argwhere", "around", "array", "array_equal", "array_equiv", "array_split",
    "asarray", "asin", "asinh", "astype", "atan", "atan2", "atanh", "atleast_1d", "atleast_2d", "atleast_3d",
    "average", "bfloat16", "bincount", "bitwise_and", "bitwise_count", "bitwise_invert", "bitwise_left_shift",
    "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "block", "bool_", "broadcast_arrays",
    "broadcast_shapes", "broadcast_to", "can_cast", "cbrt", "cdouble", "ceil", "character", "choose", "clip",
    "column_stack", "complex128", "complex64", "complexfloating", "compress", "concat", "concatenate", "conj",
    "conjugate", "copy", "copysign", "cos", "cosh", "count_nonzero", "cross", "csingle", "cumprod", "cumsum",
    "cumulative_prod", "cumulative_sum", "deg2rad", "degrees", "diag", "diagflat", "diagonal", "digitize", "divide",
    "divmod", "dot", "double", "dsplit", "dstack", "dtype", "e", "einsum", "einsum_path", "empty", "empty_like",
    "equal", "euler_gamma", "exp", "exp2", "expand_dims", "expm1", "extract", "eye", "fabs", "fill_diagonal",
    "finfo", "flatnonzero", "flexible", "flip", "fliplr", "flipud", "float16", "float32", "float4_e2m1fn",
    "float64", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float_power",
    "floating", "floor", "floor_divide", "fmax", "fmin", "fmod", "frexp", "fromfunction", "full", "full_like",
    "gcd", "generic", "geomspace", "get_printoptions", "greater", "greater_equal", "heaviside", "hsplit", "hstack",
    "hypot", "i0", "identity", "iinfo", "imag", "index_exp", "indices", "inexact", "inf", "inner", "int16", "int2",
    "int32", "int4", "int64", "int8", "integer", "invert", "isclose", "iscomplex", "iscomplexobj", "isdtype",
    "isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal", "isrealobj", "isscalar", "issubdtype",
    "iterable", "kron", "lcm", "ldexp", "left_shift", "less", "less_equal", "lexsort", "linspace", "log", "log10",
    "log1p", "log2", "logaddexp", "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor",
    "logspace", "matmul", "matrix_transpose", "matvec", "max", "maximum", "mean", "meshgrid", "min", "minimum",
    "mod", "modf", "moveaxis", "multiply", "nan", "nan_to_num", "nanargmax", "nanargmin", "nancumprod", "nancumsum",
    "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar", "ndarray", "ndim", "negative",
    "newaxis", "nextafter", "nonzero", "not_equal", "number", "object_", "ones", "ones_like", "outer", "partition",
    "permute_dims", "pi", "piecewise", "positive", "pow", "power", "printoptions", "prod", "promote_types", "ptp",
    "put", "put_along_axis", "rad2deg", "radians", "ravel", "ravel_multi_index", "real", "reciprocal", "remainder",
    "repeat", "reshape", "resize", "result_type", "right_shift", "rint", "roll", "rollaxis", "rot90", "round", "s_",
    "searchsorted", "select", "set_printoptions", "shape", "sign", "signbit", "signedinteger", "sin", "sinc",
    "single", "sinh", "size", "sort", "sort_complex", "spacing", "split", "sqrt", "square", "squeeze", "stack",
    "std", "subtract", "sum", "swapaxes", "take", "take_along_axis", "tan", "tanh", "tensordot", "tile", "trace",
    "transpose", "tri", "tril", "triu", "true_divide", "trunc", "uint16", "uint2", "uint32", "uint4", "uint64",
    "uint8", "unravel_index", "unsignedinteger", "unstack", "vander", "var", "vdot", "vecdot", "vecmat", "vsplit",
    "vstack", "where", "zeros", "zeros_like",
]
