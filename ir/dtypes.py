"""Dtypes: their names, kinds and limits, and the lattice by which they promote.

A *weak* dtype is that of a Python scalar: it yields to any array dtype of its kind or of a higher one. Everywhere in
the project a value's type in this sense is a pair ``(dtype, weak)``.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import ml_dtypes
import numpy as np

from .config import config

__all__ = [
    "DTYPES",
    "TypePromotionError",
    "bfloat16",
    "canonicalize",
    "check_array_dtype",
    "coerce_scalar",
    "default_dtype",
    "finfo",
    "float0",
    "from_short_name",
    "iinfo",
    "is_bool",
    "is_complex",
    "is_float",
    "is_inexact",
    "is_integer",
    "issubdtype",
    "itemsize_bits",
    "kind",
    "promote_types",
    "python_scalar_dtype",
    "real_part_dtype",
    "result_type",
    "scalar_type_of",
    "short_name",
    "tangent_dtype",
    "wider",
    "to_complex",
    "to_inexact",
]

bfloat16 = ml_dtypes.bfloat16
float0 = np.dtype([("float0", np.void, 0)])

_SMALL_FLOATS = (
    "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn",
    "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz",
    "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
)  # fmt: skip
_BITS = (2, 4, 8, 16, 32, 64)
_NAMES_OF_KIND = {
    "b": ("bool",),
    "u": tuple(f"uint{n}" for n in _BITS),
    "i": tuple(f"int{n}" for n in _BITS),
    "f": (*_SMALL_FLOATS, "bfloat16", "float16", "float32", "float64"),
    "c": ("complex64", "complex128"),
}
_ABBREVIATIONS = (("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c"))


def _named(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, name))


def _abbreviate(name: str) -> str:
    for long, short in _ABBREVIATIONS:
        name = name.replace(long, short)
    return name


_SHORT = {_named(name): _abbreviate(name) for names in _NAMES_OF_KIND.values() for name in names}
DTYPES: tuple[np.dtype, ...] = tuple(_SHORT)  # every dtype an array may have
_SHORT[float0] = "float0"
_FROM_SHORT = {short: dtype for dtype, short in _SHORT.items()}
_NATIVE = {dtype: dtype for dtype in _SHORT}
_PYTHON = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
_DEFAULTS = {
    False: {"b": np.dtype(bool), "i": _FROM_SHORT["i32"], "u": _FROM_SHORT["u32"],
            "f": _FROM_SHORT["f32"], "c": _FROM_SHORT["c64"]},
    True: {"b": np.dtype(bool), "i": _FROM_SHORT["i64"], "u": _FROM_SHORT["u64"],
           "f": _FROM_SHORT["f64"], "c": _FROM_SHORT["c128"]},
}  # fmt: skip
_PYTHON_DTYPES = {x64: {_PYTHON[k]: table[k] for k in "bifc"} for x64, table in _DEFAULTS.items()}
_NARROW = {_FROM_SHORT[wide]: _FROM_SHORT[thin] for wide, thin in
           (("i64", "i32"), ("u64", "u32"), ("f64", "f32"), ("c128", "c64"))}  # fmt: skip

# Looked up by dtype, by NumPy scalar type and by Python scalar type.
_KINDS: dict[Any, str] = {_named(name): k for k, names in _NAMES_OF_KIND.items() for name in names}
_KINDS |= {dtype.type: k for dtype, k in _KINDS.items()} | {t: k for k, t in _PYTHON.items() if k != "u"}
_KINDS[float0] = "V"


# ---- names and validity ----------------------------------------------------------------------------------------


def short_name(dtype: Any) -> str:
    """The name by which programs print a dtype.

    >>> from glax.ir import dtypes
    >>> dtypes.short_name("float32"), dtypes.short_name(dtypes.bfloat16)
    ('f32', 'bf16')
    """
    try:
        return _SHORT[dtype]
    except (KeyError, TypeError):
        return _SHORT[check_array_dtype(dtype, "short_name")]


def from_short_name(name: str) -> np.dtype:
    """The dtype that prints as `name`; ValueError when there is none.

    >>> from glax.ir import dtypes
    >>> dtypes.from_short_name("c64")
    dtype('complex64')
    """
    try:
        return _FROM_SHORT[name]
    except (KeyError, TypeError):
        raise ValueError(f"no dtype is named {name!r}; the names are {', '.join(_FROM_SHORT)}") from None


def check_array_dtype(dtype: Any, where: str = "glax") -> np.dtype:
    """`dtype` as a native-endian `np.dtype`; TypeError naming `where` when an array cannot have it."""
    try:
        return _NATIVE[dtype]
    except (KeyError, TypeError):
        resolved = _as_dtype(dtype, where)
    native = _NATIVE.get(resolved if resolved.isnative else resolved.newbyteorder("="))
    if native is None:
        raise TypeError(f"{where}: arrays of dtype {resolved} are not supported; expected bool or a number dtype")
    return native


def _as_dtype(dtype: Any, where: str) -> np.dtype:
    try:
        if dtype is not None:  # which np.dtype takes for float64
            return np.dtype(dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{where}: expected a dtype, got {dtype!r} of type {type(dtype).__name__}") from error
    raise TypeError(f"{where}: expected a dtype, got None")


def canonicalize(dtype: Any) -> np.dtype:
    """The dtype that values have here: 64-bit ones are halved unless `config.enable_x64`.

    Raises TypeError for what is not a dtype of arrays.

    >>> from glax.ir import dtypes
    >>> dtypes.canonicalize("int64"), dtypes.canonicalize(float)
    (dtype('int32'), dtype('float32'))
    """
    native = check_array_dtype(dtype, "dtype")
    return native if config.enable_x64 else _NARROW.get(native, native)


# ---- kinds -----------------------------------------------------------------------------------------------------


def kind(dtype: Any) -> str:
    """One of 'b', 'i', 'u', 'f', 'c' for a bool, signed, unsigned, floating or complex dtype; 'V' for float0."""
    try:
        return _KINDS[dtype]
    except (KeyError, TypeError):
        return _KINDS[check_array_dtype(dtype, "kind")]


def is_bool(dtype: Any) -> bool:
    """Whether `dtype` is bool."""
    return kind(dtype) == "b"


def is_integer(dtype: Any) -> bool:
    """Whether `dtype` is a signed or unsigned integer of any width."""
    return kind(dtype) in "iu"


def is_float(dtype: Any) -> bool:
    """Whether `dtype` is real floating, bfloat16 and the smaller formats included."""
    return kind(dtype) == "f"


def is_complex(dtype: Any) -> bool:
    """Whether `dtype` is complex."""
    return kind(dtype) == "c"


def is_inexact(dtype: Any) -> bool:
    """Whether `dtype` is floating or complex, so that values of it have derivatives."""
    return kind(dtype) in "fc"


_CUSTOM_SUPERTYPES = {
    "f": (np.floating, np.inexact, np.number, np.generic),
    "i": (np.signedinteger, np.integer, np.number, np.generic),
    "u": (np.unsignedinteger, np.integer, np.number, np.generic),
}


def _scalar_class(x: Any) -> type:
    return x if isinstance(x, type) and issubclass(x, np.generic) else np.dtype(x).type


@lru_cache(1024)
def issubdtype(a: Any, b: Any) -> bool:
    """`np.issubdtype`, for which bfloat16 and the small formats are floating and int4 is an integer too.

    >>> import numpy as np
    >>> from glax.ir import dtypes
    >>> dtypes.issubdtype(dtypes.bfloat16, np.floating)
    True
    """
    low, high = _scalar_class(a), _scalar_class(b)
    if low.__module__ == "ml_dtypes":
        return high is low or high in _CUSTOM_SUPERTYPES[_KINDS[low]]
    return bool(np.issubdtype(low, high))


def _dtype_of(x: Any, where: str) -> np.dtype:
    own = getattr(x, "dtype", None)
    return check_array_dtype(own if isinstance(own, np.dtype) else x, where)


@cache
def _limits(dtype: np.dtype) -> Any:
    return (ml_dtypes.iinfo if _KINDS[dtype] in "iu" else ml_dtypes.finfo)(dtype)


def finfo(x: Any) -> np.finfo:
    """Limits of a floating dtype, or of the parts of a complex one; `x` is a dtype or has one. Else ValueError.

    >>> from glax.ir import dtypes
    >>> dtypes.finfo("bfloat16").bits
    16
    """
    dtype = _dtype_of(x, "finfo")
    if not is_inexact(dtype):
        raise ValueError(f"finfo: expected a floating or complex dtype, got {dtype}")
    return _limits(dtype)


def iinfo(x: Any) -> np.iinfo:
    """Limits of an integer dtype; `x` is a dtype or has one. Otherwise ValueError.

    >>> from glax.ir import dtypes
    >>> dtypes.iinfo("int4").max
    7
    """
    dtype = _dtype_of(x, "iinfo")
    if not is_integer(dtype):
        raise ValueError(f"iinfo: expected an integer dtype, got {dtype}")
    return _limits(dtype)


def itemsize_bits(dtype: Any) -> int:
    """Bits of one element; 8 for bool, 4 for int4."""
    dtype = check_array_dtype(dtype, "itemsize_bits")
    k = _KINDS[dtype]
    if k == "V":
        raise ValueError("itemsize_bits: float0 has no size; expected bool or a number dtype")
    return 8 if k == "b" else _limits(dtype).bits * (2 if k == "c" else 1)


def scalar_type_of(x: Any) -> type:
    """The Python type (bool, int, float or complex) of the elements of a dtype, a value or an array."""
    k = kind(_PYTHON_DTYPES[True].get(type(x)) or _dtype_of(x, "scalar_type_of"))
    if k == "V":
        raise TypeError("scalar_type_of: float0 has no values; expected bool or a number dtype")
    return _PYTHON[k]


# ---- related dtypes --------------------------------------------------------------------------------------------


def to_inexact(dtype: Any) -> np.dtype:
    """The dtype in which a function such as sin computes for `dtype`: integers and bool become floating.

    >>> from glax.ir import dtypes
    >>> dtypes.to_inexact("int8"), dtypes.to_inexact("float16")
    (dtype('float32'), dtype('float16'))
    """
    dtype = check_array_dtype(dtype, "to_inexact")
    if _KINDS[dtype] not in "biu":
        return dtype
    return _FROM_SHORT["f64" if dtype.itemsize == 8 else "f32"]


def to_complex(dtype: Any) -> np.dtype:
    """complex128 for 64-bit dtypes and complex128 itself, complex64 for the others."""
    return _FROM_SHORT["c128" if to_inexact(dtype) in (_FROM_SHORT["f64"], _FROM_SHORT["c128"]) else "c64"]


def real_part_dtype(dtype: Any) -> np.dtype:
    """The dtype of the real part: float32 for complex64, float64 for complex128, any other one itself."""
    dtype = check_array_dtype(dtype, "real_part_dtype")
    return {"c64": _FROM_SHORT["f32"], "c128": _FROM_SHORT["f64"]}.get(_SHORT[dtype], dtype)


_RANKS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def wider(given: np.dtype, wanted: np.dtype) -> np.dtype:
    """The one of two dtypes that holds more: of the higher kind, or of the same kind the larger; else the second.

    >>> from glax.ir import dtypes
    >>> dtypes.wider(np.dtype("uint8"), np.dtype("int32")), dtypes.wider(np.dtype("float32"), np.dtype("int32"))
    (dtype('int32'), dtype('float32'))
    """
    rank, wanted_rank = _RANKS[_KINDS[given]], _RANKS[_KINDS[wanted]]
    return given if wanted_rank < rank or wanted_rank == rank and wanted.itemsize < given.itemsize else wanted


def tangent_dtype(dtype: Any) -> np.dtype:
    """The dtype of tangents: `dtype` itself when floating or complex, otherwise float0.

    >>> from glax.ir import dtypes
    >>> dtypes.tangent_dtype("int32") == dtypes.float0
    True
    """
    dtype = check_array_dtype(dtype, "tangent_dtype")
    return dtype if _KINDS[dtype] in "fc" else float0


def default_dtype(dtype: Any) -> np.dtype:
    """The widest dtype in use of the same kind: int32, uint32, float32, complex64, or 64-bit under `enable_x64`."""
    k = kind(dtype)
    return float0 if k == "V" else _DEFAULTS[config.enable_x64][k]


# ---- Python scalars --------------------------------------------------------------------------------------------


def python_scalar_dtype(scalar_type: type) -> np.dtype:
    """The dtype of a Python bool, int, float or complex; TypeError for another type.

    >>> from glax.ir import dtypes
    >>> dtypes.python_scalar_dtype(int)
    dtype('int32')
    """
    try:
        return _PYTHON_DTYPES[config.enable_x64][scalar_type]
    except (KeyError, TypeError):
        raise TypeError(f"expected bool, int, float or complex, got {scalar_type!r}") from None


def coerce_scalar(value: Any) -> tuple[np.generic | np.ndarray, bool]:
    """A Python or NumPy scalar, or array, as a NumPy value of canonical dtype, and whether its dtype is weak.

    Python ints, floats and complex numbers are weak; bools and NumPy values are not. An int that does not fit raises
    OverflowError, a value of no supported dtype TypeError.

    >>> from glax.ir import dtypes
    >>> dtypes.coerce_scalar(2.5)
    (np.float32(2.5), True)
    """
    scalar_type = type(value)
    dtype = _PYTHON_DTYPES[config.enable_x64].get(scalar_type)
    if dtype is not None:
        return _from_python(value, dtype), scalar_type is not bool
    if isinstance(value, np.generic | np.ndarray):
        dtype = canonicalize(value.dtype)
        if value.dtype is dtype:
            return value, False
        with np.errstate(over="ignore"):
            return value.astype(dtype), False
    for base in (int, float, complex):
        if isinstance(value, base):
            return coerce_scalar(base(value))
    raise TypeError(f"expected a scalar or a NumPy array, got {value!r} of type {scalar_type.__name__}")


def _from_python(value: complex, dtype: np.dtype) -> np.generic:
    try:
        if type(value) is not complex and abs(value) < 3e38:
            return dtype.type(value)
        with np.errstate(over="ignore"):  # 1e300 is float32's infinity, silently; entering this costs a microsecond
            return dtype.type(value)
    except OverflowError:
        hint = "" if config.enable_x64 else "; glax.enable_x64 gives ints 64 bits"
        raise OverflowError(f"Python int {value} too large to convert to {dtype}{hint}") from None


# ---- promotion -------------------------------------------------------------------------------------------------


class TypePromotionError(ValueError):
    """Dtypes that have no common dtype to which they promote without an explicit cast."""


# Each dtype, and each weak kind (a star), with those directly above it.
_ABOVE = {
    "bool": "i*",
    "i*": "u8 u2 u4 i8 i2 i4", "u8": "i16 u16", "u16": "i32 u32", "u32": "i64 u64", "u64": "f*",
    "i8": "i16", "i16": "i32", "i32": "i64", "i64": "f*",
    "f*": " ".join(["bf16 f16 c*", *map(_abbreviate, _SMALL_FLOATS)]),
    "bf16": "f32", "f16": "f32", "f32": "f64 c64", "f64": "c128",
    "c*": "c64", "c64": "c128",
}  # fmt: skip
_ABOVE_32 = _ABOVE | {"u32": "i32 u64"}  # without x64, no pair of narrower dtypes makes a 64-bit one
_ABOVE_STRICT = {
    f"{k}*": " ".join([higher, *(_abbreviate(name) for k_ in kinds for name in _NAMES_OF_KIND[k_])])
    for k, kinds, higher in (("i", "ui", "f*"), ("f", "f", "c*"), ("c", "c", ""))
}


def _upper_bounds(above: dict[str, str]) -> dict[str, frozenset[str]]:
    @cache
    def bounds(node: str) -> frozenset[str]:
        return frozenset([node]).union(*map(bounds, above.get(node, "").split()))

    return {node: bounds(node) for node in [*_FROM_SHORT, "i*", "f*", "c*"] if node != "float0"}


_BOUNDS = {
    (False, "standard"): _upper_bounds(_ABOVE_32),
    (True, "standard"): _upper_bounds(_ABOVE),
    (False, "strict"): _upper_bounds(_ABOVE_STRICT),
    (True, "strict"): _upper_bounds(_ABOVE_STRICT),
}
_WEAK_DTYPES = {"i*": "i64", "f*": "f64", "c*": "c128"}


def _why_not(nodes: tuple[str, ...], mode: str) -> str:
    if mode == "strict":
        return "config.numpy_dtype_promotion is 'strict', which mixes no two dtypes"
    names = [short for short in nodes if short in _FROM_SHORT]
    if any(_abbreviate(small) in names for small in _SMALL_FLOATS):
        return "floats of 8 bits or less never promote implicitly"
    return "integers of 2 and 4 bits never promote implicitly"


def _join(nodes: tuple[str, ...]) -> str:
    """The least node above all of `nodes`."""
    mode = (config.enable_x64, config.numpy_dtype_promotion)
    bounds = _BOUNDS[mode]
    common = frozenset.intersection(*(bounds[node] for node in nodes))
    least = [node for node in common if common <= bounds[node]]
    if least:
        return least[0]
    names = ", ".join(node if node in _WEAK_DTYPES else str(_FROM_SHORT[node]) for node in nodes)
    raise TypePromotionError(f"no common dtype for {names}: {_why_not(nodes, mode[1])}; cast one of them with astype")


def _node(dtype: np.dtype, weak: bool) -> str:
    k = _KINDS[dtype]
    if k == "V":
        raise TypeError("float0 has no values to promote; float0 arrays are tangents of integers and bools")
    return f"{'i' if k == 'u' else k}*" if weak and k != "b" else _SHORT[dtype]


_results: dict[tuple[bool, str, tuple[tuple[np.dtype, bool], ...]], tuple[np.dtype, bool]] = {}


def result_type(*pairs: tuple[np.dtype, bool]) -> tuple[np.dtype, bool]:
    """The ``(dtype, weak)`` of an operation on operands of these ``(dtype, weak)``.

    One pair, or equal dtypes of which one is strong, come back as they are; anything else takes the least dtype above
    all, canonical. The result is weak when every operand is, or when the operands meet in a weak kind (an int32 array
    and a Python float). Raises TypePromotionError, a ValueError, when there is no such dtype.

    >>> import numpy as np
    >>> from glax.ir import dtypes
    >>> f32, i32 = np.dtype("float32"), np.dtype("int32")
    >>> dtypes.result_type((i32, False), (f32, True))
    (dtype('float32'), True)
    """
    try:
        return _results[config.enable_x64, config.numpy_dtype_promotion, pairs]
    except KeyError:
        if not pairs:
            raise ValueError("result_type: expected at least one (dtype, weak) pair") from None
        key = (config.enable_x64, config.numpy_dtype_promotion, pairs)
        return _results.setdefault(key, _promote(*zip(*pairs, strict=True)))


def _promote(given: tuple[Any, ...], weak: tuple[bool, ...]) -> tuple[np.dtype, bool]:
    dtypes = [check_array_dtype(dtype, "result_type") for dtype in given]
    if len(dtypes) == 1:
        return dtypes[0], bool(weak[0]) and not is_bool(dtypes[0])
    if len(set(dtypes)) == 1 and not all(weak):
        return dtypes[0], False
    if all(weak) and config.numpy_dtype_promotion == "standard":
        # Joined as if strong, because two weak dtypes of one kind may differ in width.
        joined, joined_weak = _join(tuple(dict.fromkeys(_node(d, False) for d in dtypes))), True
    else:
        joined = _join(tuple(dict.fromkeys(_node(d, bool(w)) for d, w in zip(dtypes, weak, strict=True))))
        joined_weak = joined in _WEAK_DTYPES
    dtype = canonicalize(_FROM_SHORT[_WEAK_DTYPES.get(joined, joined)])
    return dtype, joined_weak and not is_bool(dtype)


def promote_types(a: Any, b: Any) -> np.dtype:
    """The dtype to which two dtypes promote; int, float and complex stand for weak dtypes. Not canonicalised.

    >>> from glax.ir import dtypes
    >>> dtypes.promote_types("uint8", "int8"), dtypes.promote_types("float16", float)
    (dtype('int16'), dtype('float16'))
    """
    # By identity, since np.dtype("float64") == float.
    nodes = [_node(check_array_dtype(x, "promote_types"), any(x is t for t in (int, float, complex))) for x in (a, b)]
    joined = _join(tuple(dict.fromkeys(nodes)))
    return _FROM_SHORT[_WEAK_DTYPES.get(joined, joined)]
