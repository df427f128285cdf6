"""Sums, products and extremes over segments of an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import numpy as gnp
from ._promotion import named
from ._tracer_conversions import concretized
from .ir import Tracer, dtypes
from .ir.limits import greatest, least

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]


def _segments(name: str, method: str, start: Callable[[np.dtype], Any], doc: str) -> Callable[..., Any]:
    def function(data: Any, segment_ids: Any, num_segments: int | None = None, indices_are_sorted: bool = False,
                 unique_indices: bool = False, mode: Any = None) -> Any:
        data, segment_ids = gnp.asarray(data), gnp.asarray(segment_ids)
        if not dtypes.is_integer(segment_ids.dtype) or segment_ids.ndim != 1 or data.shape[:1] != segment_ids.shape:
            raise ValueError(f"{name}: segment_ids must be a vector of integers as long as data, got "
                             f"{segment_ids.dtype.name}{list(segment_ids.shape)} for data of shape {data.shape}")
        if num_segments is None:
            ids = concretized(segment_ids, "the number of segments; pass num_segments") if isinstance(
                segment_ids, Tracer) else np.asarray(segment_ids)
            num_segments = int(ids.max(initial=-1)) + 1
        if num_segments < 0:
            raise ValueError(f"{name}: num_segments must not be negative, got {num_segments}")
        out = gnp.full((num_segments, *data.shape[1:]), start(data.dtype), data.dtype)
        place = out.at[segment_ids]
        return getattr(place, method)(data, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices,
                                      mode=mode or "drop", wrap_negative_indices=False)

    return named(function, name, __name__, f"""{doc} over segments of the first axis.

    Args:
        data: an array.
        segment_ids: for each element of the first axis, its segment. Elements of negative segments, and of segments
            beyond the last, are left out.
        num_segments: how many segments there are; one more than the largest id if None, which must then be concrete.
        indices_are_sorted, unique_indices: promises about segment_ids.
        mode: what happens to elements out of range, as of ``.at[]``.

    Returns:
        An array with an axis of the segments in the place of the first; segments without elements have {doc.lower()}
        of nothing.
    """)


segment_sum = _segments("segment_sum", "add", lambda dtype: 0, "Sum")
segment_prod = _segments("segment_prod", "multiply", lambda dtype: 1, "Product")
segment_max = _segments("segment_max", "max", least, "Maximum")
segment_min = _segments("segment_min", "min", greatest, "Minimum")
