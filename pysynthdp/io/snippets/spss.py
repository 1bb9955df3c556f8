"""The program for SPSS."""

from __future__ import annotations

from numbers import Real

from pysynthdp.base.marks import WATERMARK_SPSS
from pysynthdp.io.snippets.example import Coded, Task, about, fill, identifiers, listed, renamed
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn

__all__ = ["program"]

_RESERVED = frozenset(["ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"])
_NUMBER, _TEXT = "F20.0", "A200"
_ANOTHER = """!read copy={0} file='{1}'.
DATASET NAME next_.
DATASET ACTIVATE every.
ADD FILES /FILE=* /FILE=next_.
EXECUTE.
DATASET CLOSE next_."""


def program(task: Task) -> str:
    """Write ``analyse.sps``."""
    example, names = task.example, task.schema.names
    known = dict(zip(names, identifiers(names, lambda name: name.upper() in _RESERVED), strict=True))
    kinds = [f"    {known[column.name]} {_format(column)}" for column in task.schema]
    kinds += [f"    {WATERMARK_SPSS} {_NUMBER}"] if task.marked else []
    nests = enumerate(task.constants["nests"], start=1)
    files = list(task.copies)
    predictors = " ".join(known[name] for name in example.predictors)
    places = {
        "about": about(task, "* ", renamed(known)),
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


def _format(column: Column) -> str:
    """Give the format that SPSS reads a column with: coded numbers are numbers, dates and texts are text."""
    if isinstance(column, NumericColumn):
        return _NUMBER if column.unit == "number" else _TEXT
    return _NUMBER if _is_coded(column) else _TEXT


def _is_coded(column: CategoricalColumn) -> bool:
    """Whether the levels are numbers; truth values are written as words."""
    numbers = [isinstance(level, Real) and not isinstance(level, bool) for level in column.levels]
    return bool(numbers) and all(numbers)


def _prepared(task: Task, known: dict[str, str]) -> list[str]:
    """Take codes out, and make the indicator and the constant that the example needs."""
    example = task.example
    lines = [_without(known[coded.name], coded) for coded in example.codes]
    if example.level is not None:
        lines.append(_indicator(task, known[str(example.source)]))
    if not example.predictors:
        lines.append("COMPUTE one_ = 1.")
    return lines or ["* Recode codes that are not values to SYSMIS here, if there are any."]


def _indicator(task: Task, source: str) -> str:
    """Make the indicator of the level of the example."""
    outcome, level = task.example.outcome, str(task.example.level)
    if _is_coded(task.schema[str(task.example.source)]):  # type: ignore[arg-type]  # it has levels
        return f"COMPUTE {outcome} = ({source} = {level})."
    quoted = level.replace("'", "''")
    return f"IF (RTRIM({source}) <> '') {outcome} = (RTRIM({source}) = '{quoted}')."


def _without(name: str, coded: Coded) -> str:
    """Make codes of a column missing; of texts and dates, which are read as text, empty."""
    if coded.kind == "number":
        return f"RECODE {name} ({listed(coded.codes)} = SYSMIS)."
    seen = f"CHAR.SUBSTR({name}, 1, 10)" if coded.kind == "day" else f"RTRIM({name})"
    quoted = (str(code).replace("'", "''") for code in coded.codes)
    hits = " OR ".join(f"{seen} = '{code}'" for code in quoted)
    return f"IF ({hits}) {name} = ''."
