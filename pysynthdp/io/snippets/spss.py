"""The program for SPSS."""

from __future__ import annotations

from pysynthdp.io.snippets.example import Coded, Task, about, fill, identifiers, listed
from pysynthdp.schema import NumericColumn

__all__ = ["program"]

_RESERVED = frozenset(["ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"])
_ANOTHER = """!read copy={0} file='{1}'.
DATASET NAME next_.
DATASET ACTIVATE every.
ADD FILES /FILE=* /FILE=next_.
EXECUTE.
DATASET CLOSE next_."""


def program(task: Task) -> str:
    """Write ``analyse.sps``."""
    example, columns = task.example, list(task.schema)
    names = [f"{n}_" if n.upper() in _RESERVED else n for n in identifiers(task.schema.names)]
    known = dict(zip(task.schema.names, names, strict=True))
    numeric = [isinstance(column, NumericColumn) and column.unit == "number" for column in columns]
    kinds = [
        f"    {name} {'F20.0' if number else 'A200'}" for name, number in zip(names, numeric, strict=True)
    ]
    nests = enumerate(task.constants["nests"], start=1)
    files = [f"{name.rpartition('.')[0]}.csv" for name in task.copies]
    predictors = " ".join(known[name] for name in example.predictors)
    places = {
        "about": about(task, "* "),
        "variables": "\n".join(kinds),
        "first": files[0],
        "reads": "\n".join(_ANOTHER.format(copy, file) for copy, file in enumerate(files[1:], start=2))
        or "* There is one copy.",
        "prepared": "\n".join(_prepared(task, known)),
        "origin": "" if predictors else "/ORIGIN ",
        "outcome": known.get(example.outcome, example.outcome),
        "predictors": predictors or "one_",
        "nests": " ".join(f"({copy}={nest})" for copy, nest in nests),
    }
    return fill("analyse.sps", task.places | places)


def _prepared(task: Task, known: dict[str, str]) -> list[str]:
    """Take codes out, and make the indicator and the constant that the example needs."""
    example = task.example
    lines = [_without(known[coded.name], coded) for coded in example.codes]
    if example.level is not None:
        level = example.level.replace("'", "''")
        source = f"RTRIM({known[str(example.source)]})"
        lines.append(f"IF ({source} <> '') {example.outcome} = ({source} = '{level}').")
    if not example.predictors:
        lines.append("COMPUTE one_ = 1.")
    return lines or ["* Recode codes that are not values to SYSMIS here, if there are any."]


def _without(name: str, coded: Coded) -> str:
    """Make codes of a column missing; of texts and dates, which are read as text, empty."""
    if coded.kind == "number":
        return f"RECODE {name} ({listed(coded.codes)} = SYSMIS)."
    seen = f"CHAR.SUBSTR({name}, 1, 10)" if coded.kind == "day" else f"RTRIM({name})"
    quoted = (str(code).replace("'", "''") for code in coded.codes)
    hits = " OR ".join(f"{seen} = '{code}'" for code in quoted)
    return f"IF ({hits}) {name} = ''."
