"""einsum: operands are contracted two at a time, in an order that NumPy's path search finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._promotion import promote, shape_of, strong, type_of
from ..ir import ops as o
from ..lax._names import dtype_of
from ..lax.products import dot_general
from .creation import asarray

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _from_lists(subscripts: Any, operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """The form with a string, of the form with lists of labels."""
    if isinstance(subscripts, str):
        return subscripts.replace(" ", ""), list(operands)
    items = [subscripts, *operands]
    pairs, rest = items[:len(items) // 2 * 2], items[len(items) // 2 * 2:]
    terms = [*pairs[1::2], *rest]
    for labels in terms:
        if not isinstance(labels, (tuple, list)):
            raise TypeError(f"einsum: operands are followed by lists of labels each, or come after a string, got "
                            f"{labels!r} of type {type(labels).__name__} in place of a list")
    letters = _letters_of({x for labels in terms for x in labels if x is not Ellipsis})
    spec = ",".join(_text(labels, letters) for labels in terms[:len(pairs) // 2])
    return spec + ("->" + _text(rest[0], letters) if rest else ""), pairs[::2]


def _letters_of(labels: set[Any]) -> dict[Any, str]:
    """A letter for each label, in the order of the labels, which decides that of a result that is not spelled out."""
    if len(labels) > len(_LETTERS):
        raise ValueError(f"einsum: at most {len(_LETTERS)} labels are supported, got {len(labels)}")
    try:
        return dict(zip(sorted(labels), sorted(_LETTERS)))
    except TypeError:
        raise TypeError(f"einsum: labels must be of one kind, ints say, got {list(labels)!r}") from None


def _text(labels: Sequence[Any], letters: dict[Any, str]) -> str:
    return "".join("..." if x is Ellipsis else letters[x] for x in labels)


def _expand(spec: str, shapes: Sequence[tuple[int, ...]]) -> tuple[list[str], str]:
    """The letters of each operand and of the result, an ellipsis replaced by letters of its own."""
    left, arrow, result = spec.partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise ValueError(f"einsum: {spec!r} has {len(terms)} terms for {len(shapes)} operands")
    for c in set(left.replace("...", "").replace(",", "") + result.replace("...", "")):
        if c not in _LETTERS:
            raise ValueError(f"einsum: {spec!r} has the character {c!r}, which is not a letter")
    free = [c for c in _LETTERS if c not in spec]
    widths = []
    for term, shape in zip(terms, shapes):
        named = len(term.replace("...", ""))
        if named > len(shape) or ("..." not in term and named != len(shape)):
            raise ValueError(f"einsum: the term {term!r} does not fit an operand of shape {shape}")
        widths.append(len(shape) - named if "..." in term else 0)
    most = max(widths, default=0)
    stand_in = "".join(free[:most])
    terms = [t.replace("...", stand_in[most - w:] if w else "") for t, w in zip(terms, widths)]
    if not arrow:
        once = sorted(c for c in set("".join(terms)) if "".join(terms).count(c) == 1 and c not in stand_in)
        return terms, stand_in + "".join(once)
    result = result.replace("...", stand_in)
    for c in result:
        if result.count(c) > 1 or not any(c in t for t in terms):
            raise ValueError(f"einsum: the result of {spec!r} has the letter {c!r} twice, or no operand has it")
    return terms, result


def path_of(subscripts: Any, operands: Sequence[Any], optimize: Any) -> tuple[list[Any], str]:
    """NumPy's path for operands of these shapes."""
    spec, arrays = _from_lists(subscripts, operands)
    stand_ins = [np.broadcast_to(np.float32(0), type_of("einsum_path", x).shape) for x in arrays]
    return np.einsum_path(spec, *stand_ins, optimize=_numpy_option(optimize))


def _numpy_option(optimize: Any) -> Any:
    return {"auto": "optimal", True: "optimal"}.get(optimize, optimize) if isinstance(optimize, (str,
                                                                                                 bool)) else optimize


def contract(subscripts: Any, operands: Sequence[Any], optimize: Any, precision: Any, preferred: Any) -> Any:
    """The result of an einsum."""
    spec, arrays = _from_lists(subscripts, operands)
    for position, x in enumerate(arrays):
        type_of("einsum", x, position)
    if not arrays:
        raise ValueError("einsum: at least one operand is needed")
    xs = [asarray(x) for x in promote("einsum", *arrays)]
    terms, result = _expand(spec, [x.aval.shape for x in xs])
    sizes = _sizes(spec, terms, xs)
    pairs = [_unrepeated(x, t) for x, t in zip(xs, terms)]
    steps = _steps(terms, result, sizes, optimize)
    for step in steps:
        taken = [pairs.pop(i) for i in sorted(step, reverse=True)]
        kept = set(result).union(*[t for _, t in pairs]) if pairs else set(result)
        pairs.append(_combine(taken[::-1], kept, sizes, precision, preferred))
    x, term = pairs[0]
    x, term = _summed(x, term, set(result))
    x = _stretched(x, term, result, sizes)
    return x if preferred is None else strong(x, dtype_of(preferred, "einsum", "preferred_element_type"))


def _sizes(spec: str, terms: Sequence[str], xs: Sequence[Any]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for term, x in zip(terms, xs):
        for c, n in zip(term, x.aval.shape):
            if sizes.get(c, 1) not in (1, n) and n != 1:
                raise ValueError(f"einsum: the letter {c!r} of {spec!r} has the sizes {sizes[c]} and {n}")
            sizes[c] = max(n, sizes.get(c, n)) if sizes.get(c, n) != 0 and n != 0 else 0
    return sizes


def _steps(terms: Sequence[str], result: str, sizes: dict[str, int], optimize: Any) -> list[tuple[int, ...]]:
    if len(terms) <= 2:
        return [tuple(range(len(terms)))] if len(terms) == 2 else []
    if isinstance(optimize, (list, tuple)):
        return [tuple(step) for step in optimize if not isinstance(step, str)]
    if optimize is False or 0 in sizes.values():
        return [(0, 1)] + [(0, len(terms) - 1 - k) for k in range(1, len(terms) - 1)]
    stand_ins = [np.broadcast_to(np.float32(0), tuple(sizes[c] for c in t)) for t in terms]
    path = np.einsum_path(",".join(terms) + "->" + result, *stand_ins, optimize=_numpy_option(optimize))[0]
    return [tuple(step) for step in path[1:]]


def _unrepeated(x: Any, term: str) -> tuple[Any, str]:
    """The diagonal of dimensions with one letter."""
    from .diagonals import diagonal
    for c in term:
        while term.count(c) > 1:
            i = term.index(c)
            j = term.index(c, i + 1)
            x = diagonal(x, 0, i, j)
            term = term[:i] + term[i + 1:j] + term[j + 1:] + c
    return x, term


def _summed(x: Any, term: str, kept: set[str]) -> tuple[Any, str]:
    """Letters that nothing else has summed away."""
    axes = tuple(i for i, c in enumerate(term) if c not in kept)
    return (o.reduce_sum(x, axes) if axes else x), "".join(c for c in term if c in kept)


def _combine(pair: list[tuple[Any, str]], kept: set[str], sizes: dict[str, int], precision: Any,
             preferred: Any) -> tuple[Any, str]:
    """One operand of several: contracted from left to right."""
    x, x_term = pair[0]
    for k, (y, y_term) in enumerate(pair[1:], 1):
        later = kept.union(*[t for _, t in pair[k + 1:]])
        x, x_term = _multiply((x, x_term), (y, y_term), later, sizes, precision, preferred)
    return x, x_term


def _multiply(left: tuple[Any, str], right: tuple[Any, str], kept: set[str], sizes: dict[str, int], precision: Any,
              preferred: Any) -> tuple[Any, str]:
    x, x_term = _summed(*left, kept | set(right[1]))
    y, y_term = _summed(*right, kept | set(x_term))
    x, x_term = _without_stretched(x, x_term, sizes)
    y, y_term = _without_stretched(y, y_term, sizes)
    shared = [c for c in x_term if c in y_term]
    batch, summed = [c for c in shared if c in kept], [c for c in shared if c not in kept]
    numbers = tuple((tuple(x_term.index(c) for c in letters), tuple(y_term.index(c) for c in letters))
                    for letters in (summed, batch))
    result = dot_general(x, y, numbers, precision, preferred)
    rest = [c for t in (x_term, y_term) for c in t if c not in shared]
    term = "".join(batch + rest)
    return _summed(result, term, kept)


def _without_stretched(x: Any, term: str, sizes: dict[str, int]) -> tuple[Any, str]:
    """Dimensions of size 1 removed whose letter is larger elsewhere: a product takes no notice of them."""
    axes = tuple(i for i, c in enumerate(term) if shape_of(x)[i] == 1 and sizes[c] != 1)
    return o.squeeze(x, axes), "".join(c for i, c in enumerate(term) if i not in axes)


def _stretched(x: Any, term: str, result: str, sizes: dict[str, int]) -> Any:
    """x with its letters in the order of the result, and those of size 1 repeated."""
    order = [c for c in result if c in term]
    x = o.transpose(x, tuple(term.index(c) for c in order))
    shape = tuple(sizes[c] for c in result)
    return x if shape_of(x) == shape else o.broadcast_in_dim(x, shape, tuple(result.index(c) for c in order))
