"""Where each rule comes from (tests/laws/rules.txt): that one is gone would not show where a class's rule stands in.

Run as a program, this file writes the table anew.
"""

from pathlib import Path

from glax.ir import INTERPRETATIONS, Operation, expand_rule
from glax.ir import ops as o

FILE = Path(__file__).parent / "rules.txt"
HOW = "if that is meant, write tests/laws/rules.txt anew with: python tests/laws/test_rules_table.py"
HEADER = f"""\
# Where rules come from ({HOW.partition("with: ")[2]} writes this anew).
# own: the operation's; a class's name: that base's; expand: that of the program it stands for. Left out: columns in
# which it has that of every operation, or none.
"""
COLUMNS = ("abstract_eval", "evaluate", "lower_rule", "jvp_rule", "vmap_rule", "transpose_rule", "partial_eval_rule",
           "dce_rule", "simplify_rule", "expand_rule")


def origin(op_type, column):
    """Which class's rule an operation has."""
    interpretation = INTERPRETATIONS[column]
    for cls in op_type.__mro__:
        if (cls,) in interpretation.dispatcher.funcs:
            return "own" if cls is op_type else cls.__name__
    expands = interpretation.by_expansion is not None and expand_rule.find(op_type) is not None
    return "expand" if expands else "-"


def table():
    """For each operation of the library by name, for each column, whose rule it has."""
    types = {cls.name: cls for cls in vars(o).values() if isinstance(cls, type) and "name" in cls.__dict__}
    return {name: {column: origin(cls, column) for column in COLUMNS} for name, cls in sorted(types.items())}


def usual(column):
    """What is left out of the file."""
    return "Operation" if (Operation,) in INTERPRETATIONS[column].dispatcher.funcs else "-"


def written(cells):
    """The table as text, a line for an operation: columns of the same origin go together."""
    lines = []
    for name, row in cells.items():
        columns_of = {}
        for column, kind in row.items():
            if kind != usual(column):
                columns_of.setdefault(kind, []).append(column)
        lines.append(f"{name}: " + ", ".join(f"{kind} {' '.join(columns)}" for kind, columns in columns_of.items()))
    return HEADER + "\n".join(lines) + "\n"


def read():
    cells = {}
    for line in FILE.read_text().splitlines():
        if not line.startswith("#"):
            name, _, parts = line.partition(": ")
            cells[name] = {column: usual(column) for column in COLUMNS}
            for kind, *columns in map(str.split, parts.split(", ")):
                cells[name] |= dict.fromkeys(columns, kind)
    return cells


def test_rules_come_from_where_the_table_says():
    wanted, found = read(), table()
    wrong = [f"{column} of {name} comes from {found.get(name, {}).get(column)!r}, not from {kind!r}"
             for name, row in wanted.items() for column, kind in row.items()
             if found.get(name, {}).get(column) != kind]
    new = sorted(found.keys() - wanted.keys())
    assert not wrong and not new, "\n".join([*wrong, *(f"{name} has no line" for name in new), HOW])


if __name__ == "__main__":
    FILE.write_text(written(table()))
