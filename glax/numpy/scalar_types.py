"""Dtypes as callables: ``float32(x)`` is an array of that dtype, and ``float32`` stands wherever a dtype does."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ..ir import dtypes
from ..ir.config import config


class _ScalarType(type):
    """The class of the scalar types: equal to the dtype they stand for."""

    dtype: np.dtype

    def __hash__(cls) -> int:
        return hash(cls.dtype)

    def __eq__(cls, other: object) -> bool:
        if cls is other:
            return True
        try:
            return other is not None and cls.dtype == np.dtype(other)
        except TypeError:
            return NotImplemented

    def __call__(cls, x: Any = 0) -> Any:
        from .creation import array
        return array(x, dtype=cls.dtype)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.dtype.type)

    def __repr__(cls) -> str:
        return f"<class 'glax.numpy.{cls.__name__}'>"


def _scalar_type(name: str) -> type:
    dtype = np.dtype(getattr(ml_dtypes, name, name.rstrip("_")))
    doc = f"The dtype {dtype.name}; called, an array of that dtype."
    return _ScalarType(name, (), {"dtype": dtype, "__doc__": doc, "__module__": "glax.numpy"})


NAMES = (
    "bool_", *sorted(d.name for d in dtypes.DTYPES if d.name != "bool"),
)
SCALAR_TYPES = {name: _scalar_type(name) for name in NAMES}
globals().update(SCALAR_TYPES)
bool_ = SCALAR_TYPES["bool_"]
float16, float32, float64 = (SCALAR_TYPES[f"float{n}"] for n in (16, 32, 64))
int8, int16, int32, int64 = (SCALAR_TYPES[f"int{n}"] for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (SCALAR_TYPES[f"uint{n}"] for n in (8, 16, 32, 64))
complex64, complex128, bfloat16 = (SCALAR_TYPES[n] for n in ("complex64", "complex128", "bfloat16"))
single, double, csingle, cdouble = float32, float64, complex64, complex128
int_, uint, float_, complex_ = ((int64, uint64, float64, complex128) if config.enable_x64 else (
    int32, uint32, float32, complex64))

generic, number, integer, signedinteger, unsignedinteger = (
    np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger)
inexact, floating, complexfloating, flexible, character, object_ = (
    np.inexact, np.floating, np.complexfloating, np.flexible, np.character, np.object_)

__all__ = [
    *NAMES,
    "cdouble", "character", "complex_", "complexfloating", "csingle", "double", "flexible", "float_", "floating",
    "generic", "inexact", "int_", "integer", "number", "object_", "signedinteger", "single", "uint",
    "unsignedinteger",
]

bool = bool_
