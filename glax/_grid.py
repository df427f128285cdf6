"""The grid as a table: which operation has which rule, and where it is."""

from __future__ import annotations

import inspect

from .ir import INTERPRETATIONS, OPERATIONS, expand_rule

CORE_COLUMNS = ("abstract_eval", "evaluate", "jvp_rule", "vmap_rule", "transpose_rule", "partial_eval_rule",
                "dce_rule", "lower_rule")


class Grid:
    """The rules of all operations, as a mapping from (operation name, interpretation name) to the rule's place.

    Printed, it is a table: a dot for an operation's own rule, ``base`` for one it has from its class, ``expand`` for
    one by expansion, a dash for none.
    """

    def __init__(self) -> None:
        self.cells: dict[tuple[str, str], str] = {}
        self.kinds: dict[tuple[str, str], str] = {}
        for name, op_type in sorted(OPERATIONS.items()):
            for column, interpretation in INTERPRETATIONS.items():
                rule = interpretation.find(op_type)
                kind = "base"
                if rule is not None and (op_type,) in interpretation.dispatcher.funcs:
                    kind = "own"
                elif rule is None and interpretation.by_expansion and expand_rule.find(op_type):
                    rule, kind = interpretation.by_expansion, "expand"
                if rule is not None:
                    self.cells[name, column] = _place(rule)
                    self.kinds[name, column] = kind

    def __getitem__(self, cell: tuple[str, str]) -> str:
        return self.cells[cell]

    def missing(self, columns: tuple[str, ...] = CORE_COLUMNS) -> list[tuple[str, str]]:
        """The cells without a rule."""
        return [(name, column) for name in sorted(OPERATIONS) for column in columns if (name, column) not in self.cells]

    def __str__(self) -> str:
        marks = {"own": ".", "base": "base", "expand": "expand"}
        width = max(map(len, OPERATIONS)) + 2
        lines = [" " * width + "  ".join(CORE_COLUMNS)]
        for name in sorted(OPERATIONS):
            row = [marks.get(self.kinds.get((name, c), ""), "-").center(len(c)) for c in CORE_COLUMNS]
            lines.append(name.ljust(width) + "  ".join(row))
        lines.append("\n. a rule of its own   base: its class's   expand: that of the program it stands for   - none")
        return "\n".join(lines)

    __repr__ = __str__


def _place(rule: object) -> str:
    try:
        return f"{inspect.getsourcefile(rule)}:{inspect.getsourcelines(rule)[1]}"
    except (TypeError, OSError):
        return repr(rule)


def rules() -> Grid:
    """The grid of operations and interpretations.

    >>> import glax
    >>> glax.rules().missing()
    []
    """
    return Grid()
