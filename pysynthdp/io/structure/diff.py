"""Where two tables differ in structure, and a program that was written for one stumbles over the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pysynthdp.base.display import Printable, Table
from pysynthdp.base.slips import answers_slips
from pysynthdp.io.structure.facts import ASPECTS, ColumnFacts, Structure
from pysynthdp.io.structure.taking import taken

__all__ = ["Difference", "StructureDiff", "structure_diff"]

_MOST: Final = 4  # levels or codes that a cell names
_OWN: Final = ("measure", "format", "width")  # which every program has in its own way
_ABSENT: Final = "-"
_NO_LABELS: Final = (
    "{}: a data frame holds no labels, so labels, value labels and missing kinds were not compared; give the "
    "table that was read, the release or a file"
)
_READ: Final = "A file has types of its own: numbers of any length are one type here, texts too"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference.

    Parameters
    ----------
    column : str
        Name of the column; empty for the table.
    what : str
        ``"column"`` (there or not), ``"order"``, ``"type"``, ``"label"``, ``"levels"``, ``"ordered"``,
        ``"value labels"``, ``"missing kinds"``, ``"missing range"``, ``"measure"``, ``"format"`` or
        ``"width"``.
    first, second : str
        How it is in the two tables.
    """

    column: str
    what: str
    first: str
    second: str


@dataclass(frozen=True, slots=True, repr=False)
class StructureDiff(Printable):
    """Where two tables differ in structure; false where they do not.

    Parameters
    ----------
    differences : tuple of Difference
        In the order of the first table.
    names : (str, str)
        What the two are called.
    columns : int
        Columns that both have.
    notes : tuple of str
        What was not compared, and why.

    Notes
    -----
    Privacy: holds names, types, declared labels and category sets, no cell.
    """

    differences: tuple[Difference, ...]
    names: tuple[str, str]
    columns: int
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.differences)

    def __len__(self) -> int:
        return len(self.differences)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    @property
    def empty(self) -> bool:
        """Whether there is no difference."""
        return not self.differences

    def to_table(self) -> Table:
        """One row a difference."""
        rows = tuple((one.column or "(table)", one.what, one.first, one.second) for one in self.differences)
        found = len(rows) or "none"
        return Table(
            f"Structure of {self.names[0]} and {self.names[1]}",
            ("column", "what", "first", "second"),
            rows,
            facts=(("differences", found), ("columns in both", self.columns)),
            notes=self.notes,
        )


@answers_slips
def structure_diff(a: Any, b: Any) -> StructureDiff:
    """Compare two tables in structure: names, order, types, labels, missing kinds, levels, widths.

    Parameters
    ----------
    a, b : DataFrame, SurveyTable, SyntheticRelease, or path
        Two tables: as they lie in memory, or files; of a release and of its folder the first copy.

    Returns
    -------
    StructureDiff
        Empty, and false, if there is no difference; print it. Columns named ``_synthetic`` are passed over.

    Raises
    ------
    PlanError
        If one of them is no table, or there is no such file.
    SchemaError
        If a file cannot be read.

    Notes
    -----
    Privacy: reads names, types, category sets and declared labels, no cell; the category sets of a
    confidential table are shown, so a comparison with one is for who holds it. What only one side says is a
    difference where the other could say it: a data frame holds no labels, so they are not compared with one.

    Examples
    --------
    >>> import pandas as pd
    >>> found = structure_diff(pd.DataFrame({"age": [31], "sex": ["F"]}), pd.DataFrame({"age": [31.5]}))
    >>> [(one.column, one.what) for one in found]
    [('age', 'type'), ('sex', 'column')]
    """
    first, second = taken(a, "the first"), taken(b, "the second")
    both = [name for name in first.names if name in second.names]
    found = (*_columns(first, second), *_order(second, both), *_aspects(first, second))
    order = {name: at for at, name in enumerate((*first.names, *second.names)[::-1])}
    ranked = sorted(found, key=lambda one: -order.get(one.column, len(order)))
    return StructureDiff(tuple(ranked), (first.name, second.name), len(both), tuple(_notes(first, second)))


def _columns(first: Structure, second: Structure) -> Iterator[Difference]:
    """Name the columns that only one has."""
    for name in first.names:
        if name not in second.names:
            yield Difference(name, "column", "there", _ABSENT)
    for name in second.names:
        if name not in first.names:
            yield Difference(name, "column", _ABSENT, "there")


def _order(second: Structure, both: Sequence[str]) -> Iterator[Difference]:
    """Tell where the order of common columns begins to differ."""
    other = [name for name in second.names if name in both]
    for at, (one, two) in enumerate(zip(both, other, strict=True), start=1):
        if one != two:
            yield Difference("", "order", f"{one} at {at}", f"{two} at {at}")
            return


def _aspects(first: Structure, second: Structure) -> Iterator[Difference]:
    """Compare the columns that both have, aspect by aspect."""
    others = {column.name: column for column in second.columns}
    loose = first.stored or second.stored
    for column in first.columns:
        if column.name in others:
            yield from _of_column(column, others[column.name], loose=loose)


def _of_column(one: ColumnFacts, two: ColumnFacts, *, loose: bool) -> Iterator[Difference]:
    """Compare two columns in what both say."""
    for what in ASPECTS:
        if what not in one.facts or what not in two.facts or (what in _OWN and one.source != two.source):
            continue
        if one.facts[what] == two.facts[what] or (what == "type" and loose and one.family == two.family):
            continue
        yield Difference(one.name, what, *_shown(one.facts[what], two.facts[what]))


def _shown(one: Any, two: Any) -> tuple[str, str]:
    """Write what differs in two facts; of long lists only that."""
    if not isinstance(one, tuple) or not isinstance(two, tuple):
        return _text(one), _text(two)
    alone = [each for each in one if each not in two], [each for each in two if each not in one]
    if any(alone):
        return _list(alone[0], one), _list(alone[1], two)
    return "in this order", _list(list(two), two)


def _list(named: list[Any], whole: tuple[Any, ...]) -> str:
    """Write the members of a list that the other lacks."""
    if not named:
        return f"{len(whole)}, none besides" if whole else _ABSENT
    shown = ", ".join(map(_text, named[:_MOST]))
    return shown + (f" and {len(named) - _MOST} more" if len(named) > _MOST else "")


def _text(fact: Any) -> str:
    """Write one fact."""
    if isinstance(fact, tuple):
        return " ".join(map(str, fact))
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    return _ABSENT if fact is None or fact == "" else str(fact)


def _notes(first: Structure, second: Structure) -> Iterator[str]:
    """Say what was not compared."""
    if first.labelled != second.labelled:
        yield _NO_LABELS.format(second.name if first.labelled else first.name)
    if first.stored or second.stored:
        yield _READ
