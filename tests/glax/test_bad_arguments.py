"""Arguments of the wrong type: a TypeError or ValueError that names the function called, and the argument."""

import inspect

import numpy as np
import pytest

import glax
import glax.numpy as gnp
from glax import lax

ROW = gnp.ones((2, 2))
LINE = gnp.array([1., 2., 3.])
WHOLE = gnp.array([1, 2, 3])
COMPLEX = gnp.array([1 + 2j, 3])

# ---- what is no array, given as the operand of any function of lax ---

OPERAND_NAMES = ("x", "operand", "array", "a", "lhs", "keys", "y", "operands")
NOT_AN_OPERAND = ("reduce", "stop_gradient", "optimization_barrier")  # which take trees
NUMBERS = lax.ScatterDimensionNumbers((), (0, 1), (0, 1))
SCATTERED = (gnp.zeros((1, 2), "int32"), gnp.ones(1), NUMBERS)
OTHERS = {
    "argmax": (0,), "argmin": (0,), "broadcast": ((2,),), "broadcast_in_dim": ((2, 2), (0, 1)), "collapse": (0,),
    "bitcast_convert_type": ("int32",), "broadcast_to_rank": (3,), "convert_element_type": ("int32",),
    "dynamic_index_in_dim": (0,), "dynamic_slice": ((0, 0), (1, 1)), "dynamic_slice_in_dim": (0, 1),
    "dynamic_update_index_in_dim": (1., 0, 0), "dynamic_update_slice": (ROW, (0, 0)),
    "dynamic_update_slice_in_dim": (ROW, 0, 0), "expand_dims": (0,), "full_like": (1.,), "index_in_dim": (0,),
    "integer_pow": (2,), "pad": (0., ((0, 0, 0), (0, 0, 0))), "reduce_precision": (8, 7), "reshape": ((4,),),
    "rev": ((0,),), "slice": ((0, 0), (1, 1)), "slice_in_dim": (0, 1), "split": ((1, 1),), "squeeze": ((),),
    "sort_key_val": (ROW,), "tile": ((1, 1),), "top_k": (1,), "transpose": ((1, 0),), "batch_matmul": (ROW,),
    "dot": (ROW,), "dot_general": (ROW, (((1,), (0,)), ((), ()))), "stack": (), "concatenate": (0,),
    "scatter": SCATTERED,
    "scatter_add": SCATTERED, "scatter_sub": SCATTERED, "scatter_mul": SCATTERED, "scatter_min": SCATTERED,
    "scatter_max": SCATTERED,
}


def functions_of_an_operand():
    for name in lax.__all__:
        function = getattr(lax, name)
        if not inspect.isfunction(function):
            continue
        parameters = list(inspect.signature(function).parameters.values())
        if parameters and parameters[0].name in OPERAND_NAMES and name not in NOT_AN_OPERAND:
            required = [p for p in parameters[1:] if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
            rest = OTHERS.get(name, ((0,),) if name.startswith("reduce_") else (1.,) * len(required))
            yield pytest.param(function, rest, id=name)


@pytest.mark.parametrize("function, rest", list(functions_of_an_operand()))
@pytest.mark.parametrize("bad", [None, "text", object()], ids=["None", "text", "object"])
def test_lax_names_itself(function, rest, bad):
    def call():
        return function(bad, *rest)

    for attempt in (call, glax.jit(call)):
        with pytest.raises(TypeError) as caught:
            attempt()
        assert str(caught.value).startswith(function.__name__), caught.value


@pytest.mark.parametrize("name", ["sub", "div", "atan2", "eq", "bitwise_and", "shift_left", "nextafter", "complex"])
def test_the_second_operand_is_named_by_its_place(name):
    with pytest.raises(TypeError, match=f"^{name} requires arrays or numbers, got 'text' of type str at position 1"):
        getattr(lax, name)(1., "text")


# ---- the function called is named, not one that it calls ---

NAMED = {
    "zeros: shape": lambda: gnp.zeros(-1), "ones: shape": lambda: gnp.ones("a"), "empty: shape": lambda: gnp.empty(-1),
    "full: shape": lambda: gnp.full(-1, 0), "zeros_like: shape": lambda: gnp.zeros_like(ROW, shape=-1),
    "full_like: shape": lambda: gnp.full_like(ROW, 0, shape=-1),
    "full_like: incompatible shapes": lambda: gnp.full_like(ROW, LINE),
    "full_like requires arrays": lambda: gnp.full_like(ROW, None),
    "zeros: dtype": lambda: gnp.zeros(2, "text"), "empty: dtype": lambda: gnp.empty(2, [1]),
    "array: dtype": lambda: gnp.array(1, "text"), "arange: dtype": lambda: gnp.arange(3, dtype="text"),
    "sum: dtype": lambda: gnp.sum(ROW, dtype="text"), "nansum: dtype": lambda: gnp.nansum(ROW, dtype="text"),
    **{f"{name}: dtype": lambda name=name: getattr(gnp, name)(LINE, dtype="text") for name in (
        "mean", "var", "std", "nanstd", "prod", "nanprod", "cumsum", "nancumsum", "zeros_like", "asarray")},
    "einsum: preferred_element_type": lambda: gnp.einsum("i,i", LINE, LINE, preferred_element_type="text"),
    "astype: dtype": lambda: gnp.astype(LINE, "text"), "linspace: dtype": lambda: gnp.linspace(0, 1, dtype="text"),
    "repeat: repeats": lambda: gnp.repeat(LINE, -1), "identity: N and M": lambda: gnp.identity(-1),
    "logspace: num": lambda: gnp.logspace(0, 1, -1), "append requires": lambda: gnp.append(None, 1),
    "cov: None": lambda: gnp.cov(None), "median requires arrays": lambda: gnp.median("text"),
    "interp: 'text'": lambda: gnp.interp("text", LINE, LINE), "vstack: arrays": lambda: gnp.vstack(None),
    "hsplit: axis 0": lambda: gnp.hsplit(LINE, 2), "nanmax: initial": lambda: gnp.nanmax(LINE, initial="text"),
    "correlate: mode": lambda: gnp.correlate(LINE, LINE, "text"), "std: ddof": lambda: gnp.std(LINE, ddof="text"),
    "dot: precision": lambda: gnp.dot(ROW, ROW, precision="text"),
    "matmul: precision": lambda: gnp.matmul(ROW, ROW, precision="text"),
    "bitwise_or does not accept": lambda: gnp.bitwise_or(1.5, 2), "invert does not accept": lambda: gnp.invert(1.5),
    "negative does not accept": lambda: gnp.negative(True), "left_shift does not accept": lambda: gnp.left_shift(1., 2),
    "lax empty: empty: shape": lambda: lax.empty(-1, "float32"), "lax full_like: full_like: dtype":
        lambda: lax.full_like(ROW, 1., "text"),
    "iota: size": lambda: lax.iota("int32", -1), "iota: dtype": lambda: lax.iota("text", 3),
    "broadcasted_iota: dimension": lambda: lax.broadcasted_iota("int32", (2,), 5),
    "argmax: index_dtype": lambda: lax.argmax(ROW, 0, "text"), "dot: preferred_element_type":
        lambda: lax.dot(ROW, ROW, preferred_element_type="text"),
    "select requires arrays or numbers, got None of type NoneType at position 1": lambda: lax.select(True, None, 1.),
    "sort_key_val: dimension": lambda: lax.sort_key_val(LINE, LINE, 5),
    "dynamic_index_in_dim: axis": lambda: lax.dynamic_index_in_dim(LINE, 0, 5),
    "dynamic_index_in_dim: a start index": lambda: lax.dynamic_index_in_dim(LINE, "text"),
    "dynamic_slice_in_dim: slice_size": lambda: lax.dynamic_slice_in_dim(LINE, 0, -1),
    "dynamic_update_slice_in_dim: a start index": lambda: lax.dynamic_update_slice_in_dim(LINE, LINE, "text", 0),
    "reshape: (0, 0)": lambda: lax.reshape(ROW, (4,), (0, 0)), "reciprocal does not accept": lambda: lax.reciprocal(1),
    "conj takes float32": lambda: lax.conj(1), "bitwise_not does not accept": lambda: lax.bitwise_not(1.5),
    "bitwise_xor requires arguments": lambda: lax.bitwise_xor(1.5, 2), "broadcast_like: an array":
        lambda: lax.broadcast_like(LINE, 1.), "slice_in_dim": lambda: lax.slice_in_dim(LINE, 0, 99),
    "batch_matmul: precision": lambda: lax.batch_matmul(gnp.ones((1, 2, 2)), gnp.ones((1, 2, 2)), "text"),
}


@pytest.mark.parametrize("words", NAMED)
def test_the_function_that_was_called_is_named(words):
    with pytest.raises((TypeError, ValueError)) as caught:
        NAMED[words]()
    assert str(caught.value).startswith(words.rsplit("lax ", 1)[-1].split(": ", 1)[-1] if words.startswith("lax ")
                                        else words), caught.value


def test_a_function_of_the_users_own_is_where_the_search_for_names_ends():
    def mine(row):
        return gnp.ravel(None)

    with pytest.raises(TypeError, match="^ravel requires"):
        gnp.apply_along_axis(mine, 0, LINE)


# ---- no error of Python's or NumPy's own ---

RAW = {
    "pad: an axis of pad_width 2": lambda: gnp.pad(ROW, {2: 1}), "pad: mode": lambda: gnp.pad(ROW, 1, [1]),
    "pad: pad_width": lambda: gnp.pad(ROW, {0: "text"}),
    "trim_zeros: trim": lambda: gnp.trim_zeros(LINE, 3), "trim_zeros: filt": lambda: gnp.trim_zeros(1.5),
    "polyfit: None": lambda: gnp.polyfit(None, LINE, 1), "polyfit: deg": lambda: gnp.polyfit(LINE, LINE, -1),
    "polyfit: y": lambda: gnp.polyfit(LINE, gnp.ones(2), 1), "polyfit: rcond": lambda: gnp.polyfit(LINE, LINE, 1, "a"),
    "from_dlpack: x": lambda: gnp.from_dlpack("text"), "concatenate: arrays": lambda: gnp.concatenate(None),
    "column_stack: arrays": lambda: gnp.column_stack(None), "dstack: arrays": lambda: gnp.dstack(1.5),
    "stack: arrays": lambda: gnp.stack(None), "diag: k": lambda: gnp.diag(LINE, "text"),
    "diag: k ": lambda: gnp.diag(ROW, "text"), "diagonal: offset": lambda: gnp.diagonal(ROW, "text"),
    "diagflat: k": lambda: gnp.diagflat(LINE, None), "trace: offset": lambda: gnp.trace(ROW, None),
    "array: ndmin": lambda: gnp.array(LINE, ndmin=None), "eye: N and M": lambda: gnp.eye(-1),
    "tri: N and M": lambda: gnp.tri(2, -1), "vander: N": lambda: gnp.vander(LINE, -1),
    "ShapeDtypeStruct: shape": lambda: glax.ShapeDtypeStruct("ab", "float32"),
    "ShapeDtypeStruct: shape ": lambda: glax.ShapeDtypeStruct(5, "float32"),
    "ShapeDtypeStruct: shape  ": lambda: glax.ShapeDtypeStruct((2, "a"), "float32"),
    "ShapeDtypeStruct: dtype": lambda: glax.ShapeDtypeStruct((2,), "text"),
    "linspace: axis": lambda: gnp.linspace(0, 1, 5, axis=None), "geomspace: axis":
        lambda: gnp.geomspace(1, 2, 5, axis="text"),
    "indices: dimensions": lambda: gnp.indices(None), "choose: choices": lambda: gnp.choose(WHOLE, None),
    "histogram: range": lambda: gnp.histogram(LINE, range=1.5), "lexsort: keys": lambda: gnp.lexsort(None),
    "histogram: weights": lambda: gnp.histogram(LINE, weights="text"), "bincount: weights":
        lambda: gnp.bincount(WHOLE, "text"),
    "select: condlist": lambda: gnp.select(None, [LINE]), "piecewise: funclist":
        lambda: gnp.piecewise(LINE, [LINE > 1], None),
    "piecewise: condlist": lambda: gnp.piecewise(LINE, None, [1.]), "nan_to_num: nan":
        lambda: gnp.nan_to_num(LINE, nan=None),
    "sum: initial": lambda: gnp.sum(LINE, initial="text"), "max: initial": lambda: gnp.max(LINE, initial="text"),
    "var: mean": lambda: gnp.var(LINE, mean="text"), "var: ddof": lambda: gnp.var(LINE, ddof=None),
    "cov: ddof": lambda: gnp.cov(ROW, ddof="text"), "ravel_multi_index: dims":
        lambda: gnp.ravel_multi_index((WHOLE,), None),
    "apply_along_axis takes a function": lambda: gnp.apply_along_axis(None, 0, ROW), "apply_over_axes takes a function":
        lambda: gnp.apply_over_axes("text", ROW, 0),
    "vectorize: signature": lambda: gnp.vectorize(lambda x: x, signature=[1]), "vectorize: excluded":
        lambda: gnp.vectorize(lambda x: x, excluded=None),
    "frompyfunc: nin": lambda: gnp.frompyfunc(lambda x: x, None, 1), "tril_indices: k":
        lambda: gnp.tril_indices(3, None),
    "triu_indices_from: k": lambda: gnp.triu_indices_from(ROW, "text"), "transpose: axes":
        lambda: gnp.transpose(ROW, 5),
    "rot90: axes": lambda: gnp.rot90(ROW, axes=None), "roll: shift": lambda: gnp.roll(LINE, (1, "text"), 0),
    "trapezoid: dx": lambda: gnp.trapezoid(LINE, dx=None), "unwrap: period": lambda: gnp.unwrap(LINE, period=None),
    "interp: period": lambda: gnp.interp(LINE, LINE, LINE, period="text"), "kaiser: beta":
        lambda: gnp.kaiser(3, "text"),
    "take: fill_value": lambda: gnp.take(LINE, WHOLE, fill_value="text"), "can_cast: casting":
        lambda: gnp.can_cast("int32", "int8", "text"),
    "issubdtype: arg1": lambda: gnp.issubdtype([1], np.integer), "can_cast: to": lambda: gnp.can_cast("int32", 1.5),
}


@pytest.mark.parametrize("words", RAW)
def test_errors_name_the_argument(words):
    with pytest.raises((TypeError, ValueError)) as caught:
        RAW[words]()
    assert str(caught.value).startswith(words.strip()), caught.value


def test_an_array_on_a_device():
    assert gnp.array([1, 2], device=glax.devices()[0]).tolist() == [1, 2]
    with pytest.raises(ValueError, match="device must be"):
        gnp.array([1, 2], device="text")


# ---- widths of pad for some of the axes ---


@pytest.mark.parametrize("widths", [{}, {0: (1, 2)}, {0: 1}, {1: 2}, {-1: (0, 1)}, {0: 1, 1: (2, 3)}, {0: 0}])
@pytest.mark.parametrize("mode", ["constant", "edge", "maximum"])
def test_axes_without_widths_are_not_padded(widths, mode):
    x = np.arange(6.).reshape(2, 3)
    pairs = [(0, 0), (0, 0)]
    for axis, width in widths.items():
        pairs[axis] = width if isinstance(width, tuple) else (width, width)
    assert np.array_equal(gnp.pad(x.astype("float32"), widths, mode), np.pad(x, pairs, mode))


# ---- products and the dtype asked for ---

NARROWER = [
    ("int32", "int8"), ("int32", "bool"), ("int32", "bfloat16"), ("int32", "float16"), ("uint32", "uint8"),
    ("complex64", "float16"), ("complex64", "int8"), ("int8", "bool"),
]
TAKEN = [
    ("int32", "float32"), ("int32", "complex64"), ("int32", "uint32"), ("float32", "bfloat16"), ("float32", "int32"),
    ("bfloat16", "float32"), ("float32", "complex64"), ("complex64", "float32"), ("bool", "int8"), ("uint8", "int32"),
]


@pytest.mark.parametrize("given, wanted", NARROWER)
@pytest.mark.parametrize("product", [lax.dot, gnp.dot, gnp.matmul, gnp.vecdot, gnp.inner])
def test_products_are_not_given_in_a_narrower_dtype(product, given, wanted):
    x = gnp.ones(3, given)
    for call in (product, glax.jit(product, static_argnames="preferred_element_type")):
        with pytest.raises(TypeError, match="preferred_element_type must not be narrower"):
            call(x, x, preferred_element_type=wanted)


@pytest.mark.parametrize("given, wanted", TAKEN)
def test_products_in_another_dtype(given, wanted):
    x = gnp.ones(3, given)
    assert lax.dot(x, x, preferred_element_type=wanted).dtype == wanted


def test_products_in_another_width():
    with glax.enable_x64(True):
        for given, wanted in (("int64", "float32"), ("int64", "int32"), ("complex128", "complex64")):
            x = gnp.ones(3, given)
            with pytest.raises(TypeError, match="must not be narrower"):
                lax.dot(x, x, preferred_element_type=wanted)
        assert lax.dot(gnp.ones(3), gnp.ones(3), preferred_element_type="float32").dtype == "float32"


# ---- running extremes of complex numbers ---


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_running_extremes_of_complex_numbers(axis, reverse):
    x = np.array([[1 + 2j, 1 + 3j, 0.5 + 9j], [-1, 1 + 2.5j, 2 - 1j]], "complex64")
    for function, better in ((lax.cummax, max), (lax.cummin, min)):
        rows = np.moveaxis(x, axis, -1)[..., ::-1 if reverse else 1].tolist()
        wanted = [[better(row[:i + 1], key=lambda c: (c.real, c.imag)) for i in range(len(row))] for row in rows]
        wanted = np.moveaxis(np.array(wanted)[..., ::-1 if reverse else 1], -1, axis)
        assert np.array_equal(function(x, axis, reverse), wanted)
    sums = np.flip(np.cumsum(np.flip(np.exp(x), axis), axis), axis) if reverse else np.cumsum(np.exp(x), axis)
    assert np.allclose(np.exp(lax.cumlogsumexp(x, axis, reverse)), sums, atol=1e-4)
