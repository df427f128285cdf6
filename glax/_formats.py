"""Format strings for values that are known only when a program runs."""

from __future__ import annotations

import string


def fields_of(fmt: str) -> list[int | str]:
    """What a format string shows: positions and names, in their order, those within format specs too.

    >>> fields_of("{} {x.real:{width}} {}")
    [0, 'x', 'width', 1]
    """
    found: list[int | str] = []
    automatic = 0
    for _, field, spec, _ in string.Formatter().parse(fmt):
        for name in [field, *(inner for _, inner, _, _ in string.Formatter().parse(spec or ""))]:
            if name is None:
                continue
            first = name.split(".")[0].split("[")[0]
            if first == "":
                found.append(automatic)
                automatic += 1
            else:
                found.append(int(first) if first.isdigit() else first)
    return found
