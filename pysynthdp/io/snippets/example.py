"""What a program in a release folder is made from: the rule, and an analysis that fits the columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from importlib.resources import files
from numbers import Real
from string import Template
from typing import Any, Literal

from pysynthdp.io.csv.reading_lines import kinds_of_numbers
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema

__all__ = [
    "Coded",
    "Example",
    "Task",
    "about",
    "example_of",
    "fill",
    "identifiers",
    "listed",
    "renamed",
    "texts_of",
]

_WIDTH = 96
_VALID = "Valid under the synthesis model: what no model held, a product or a curve, is not in the copies."
_UNTRIED = "The makers of pysynthdp have not run this file; what it prints must equal what analyse.py prints."
_MOST = 3  # predictors of the example
_MADE_FROM = frozenset(
    ["log", "ln", "lg", "log10", "sqrt", "sq", "squared", "2", "10", "z", "std", "scaled", "rank", "cat"]
) | {"cl", "class", "gr", "grp", "group", "band", "rec", "r"}
"""What stands beside a column's name in that of a function of it, as in ``logpopul`` and ``age_group``."""


@dataclass(frozen=True, slots=True)
class Coded:
    """Codes of one column that are not values; ``kind`` says how the copies write them."""

    name: str
    kind: Literal["number", "text", "day"]
    codes: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A regression of numbers on numbers, or the share of a level where there are no numbers.

    Parameters
    ----------
    outcome : str
        Column, or the name of the indicator of a level.
    predictors : tuple of str
        Columns; none for a mean or a share.
    codes : tuple of Coded
        Codes that are not values, in all columns, since users change the model.
    source, level : str or None
        Column and level of the indicator.
    """

    outcome: str
    predictors: tuple[str, ...] = ()
    codes: tuple[Coded, ...] = ()
    source: str | None = None
    level: str | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """All that a program is made from."""

    constants: Mapping[str, Any]
    example: Example
    schema: Schema
    copies: tuple[str, ...]
    parquet: bool
    marked: bool

    @property
    def places(self) -> dict[str, Any]:
        """What every template asks for."""
        nests = self.constants["nests"]
        m = len(set(nests))
        numbers = {
            name: repr(float(self.constants[name])) for name in ("within", "between", "nested", "floor")
        }
        return {**numbers, "m": m, "r": len(nests) // m, "copies": len(self.copies)}


class _Filled(Template):
    """A template whose places are marked by two signs that none of the languages uses."""

    delimiter = "@@"


def fill(name: str, places: Mapping[str, Any]) -> str:
    """Fill a template of the package."""
    path = files("pysynthdp.io.snippets").joinpath("templates", f"{name}.txt")
    text = _Filled(path.read_text(encoding="utf-8")).substitute(places)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def about(task: Task, mark: str, *more: str) -> str:
    """Say in comments which rule is applied and why; more where the program was never run here."""
    texts = [
        f"Rule {task.constants['rule']}: T = {task.constants['formula']}.",
        task.constants["reason"],
        _VALID,
        *filter(None, more),
    ]
    if mark == "* ":
        texts.append(_UNTRIED)
    wrapped = (textwrap.wrap(text, _WIDTH - len(mark), break_on_hyphens=False) for text in texts)
    return "\n".join(f"{mark}{line}" for lines in wrapped for line in lines)


def example_of(schema: Schema, withheld: Collection[str], order: Sequence[str] = ()) -> Example:
    """Make an example of columns that are not withheld: the number drawn last, on the first three others.

    Functions of one another by their names (``popul`` and ``logpopul``) do not explain each other, and are
    outcomes only where there is nothing else.
    """
    shown = sorted(
        (column for column in schema if column.name not in withheld),
        key=lambda column: order.index(column.name) if column.name in order else -1,
    )
    numbers = [c.name for c in shown if isinstance(c, NumericColumn) and c.unit == "number"]
    plain = [name for name in numbers if re.fullmatch(r"[A-Za-z]\w{0,30}", name, re.ASCII)] or numbers
    codes = tuple(coded for column in schema if column in shown and (coded := _coded(column)) is not None)
    if not plain:
        return _share(shown, codes)
    alone = [name for name in plain if not any(_related(name, other) for other in schema.names)] or plain
    used = [alone[-1]]
    for name in plain:
        if name not in used and len(used) <= _MOST and not any(_related(name, other) for other in used):
            used.append(name)
    return Example(used[0], tuple(used[1:]), codes)


def _related(one: str, other: str) -> bool:
    """Whether one column looks like a function of the other by its name."""
    short, long = sorted((one.lower(), other.lower()), key=len)
    rests = {long.removeprefix(short), long.removesuffix(short)} - {long, ""}
    return any(rest.strip("_. ") in _MADE_FROM for rest in rests)


def _coded(column: Column) -> Coded | None:
    """Codes of a column as the files of the copies hold them."""
    codes = tuple(code for code, _ in column.missing if code not in kinds_of_numbers(column))
    if not codes:
        return None
    if all(isinstance(code, str) for code in codes):
        return Coded(column.name, "text", codes)
    if isinstance(column, NumericColumn) and column.unit == "day":
        origin = date(1970, 1, 1)
        return Coded(column.name, "day", tuple(str(origin + timedelta(days=float(code))) for code in codes))
    plain = getattr(column, "unit", "number") == "number"
    numbers = all(isinstance(code, Real) and not isinstance(code, bool) for code in codes)
    return Coded(column.name, "number", tuple(map(float, codes))) if plain and numbers else None


def _share(columns: Sequence[Column], codes: tuple[Coded, ...]) -> Example:
    """Give the share of the first level of the first column with levels; a name to replace without any."""
    named = [column for column in columns if isinstance(column, CategoricalColumn) and column.levels]
    if not named:
        return Example("OUTCOME")
    first, taken = named[0], {column.name for column in columns}
    name = next(name for name in ("indicator", "indicator_1", "v_indicator") if name not in taken)
    return Example(name, codes=codes, source=first.name, level=str(first.levels[0]))


def texts_of(schema: Schema) -> list[str]:
    """Columns whose levels are text: they are read as text, whatever they look like."""
    named = [column for column in schema if isinstance(column, CategoricalColumn) and column.levels]
    return [column.name for column in named if all(isinstance(level, str) for level in column.levels)]


def renamed(known: Mapping[str, str]) -> str:
    """Say which columns have another name in a program."""
    pairs = ", ".join(f"{name} as {own}" for name, own in known.items() if name != own)
    return f"Names of columns that cannot be used here are written otherwise: {pairs}." if pairs else ""


def identifiers(names: Sequence[str], reserved: Callable[[str], bool]) -> list[str]:
    """Turn column names into names that Stata and SPSS take, all different, none a word of theirs."""
    found: list[str] = []
    for number, name in enumerate(names, start=1):
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)[:30]
        plain = plain if re.match(r"[A-Za-z]", plain) else f"v{plain}"[:30]
        plain = f"{plain}_" if reserved(plain) else plain
        found.append(f"v{number}" if plain.lower() in {other.lower() for other in found} else plain)
    return found


def listed(values: Sequence[float], between: str = ", ") -> str:
    """Write plain numbers one after another."""
    return between.join(f"{value:.15g}" for value in values)
