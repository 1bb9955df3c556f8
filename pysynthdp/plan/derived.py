"""Columns that are functions of others: declared by expressions, computed after those are drawn."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.errors import PlanError, PysynthdpError, together
from pysynthdp.base.words import Setting, Words
from pysynthdp.design.expression_cells import cells_of, check_kind, parts_from
from pysynthdp.design.expressions import Expression, Values, parsed
from pysynthdp.design.parts import parts_of
from pysynthdp.plan.terms import check_known
from pysynthdp.schema import Schema

__all__ = ["Derived", "derived_columns", "derived_parts", "placed", "with_derived", "without_silent"]

_POINTS = (3.217, 17.91, 0.4127)  # any three numbers at which no curve is a straight line by accident
_SIZES = (1.0, 1e4, -1.0, -1e4)  # of what is counted; a limit or a group of numbers shows at one of them


@dataclass(frozen=True, slots=True)
class Derived:
    """A column that is computed and not drawn, or corrected after it was drawn.

    Parameters
    ----------
    column : str
        Which.
    expression : str
        Of what, as an expression.
    given : tuple of str
        Columns that the expression names; the column itself where it corrects what was drawn.
    predicts : bool
        Whether later columns are drawn from it too; a linear function of others tells these nothing new.
    found : bool
        Whether the expression was found in the rows, and not declared.
    """

    column: str
    expression: str
    given: tuple[str, ...]
    predicts: bool = False
    found: bool = False

    @property
    def tells(self) -> bool:
        """Whether later columns are drawn from what stands in the column."""
        return self.predicts or self.corrects

    @property
    def corrects(self) -> bool:
        """Whether a model draws the column, and the expression says where it is otherwise."""
        return self.column in self.given


def derived_columns(
    schema: Schema,
    derive: Mapping[str, str],
    found: Mapping[str, str] | None = None,
    *,
    apart: Collection[str] = (),
    dropped: Collection[str] = (),
    used: Collection[str] | None = None,
) -> tuple[Derived, ...]:
    """Read the expressions of a plan, each after those that it needs.

    Parameters
    ----------
    schema : Schema
        Of the plan.
    derive, found : mapping column -> expression
        As a user wrote them, and as they were found in the rows.
    apart : collection of str
        Columns that are kept or numbered anew; none of them is derived.
    dropped : collection of str
        Columns that are not released.
    used : collection of str, optional
        Columns that the user names as predictors; None where nothing that is derived may be one.

    Raises
    ------
    PlanError
        Names the column and the letter of its expression where something is wrong.

    Notes
    -----
    Privacy: settings and declared facts only.
    """
    names = set(schema.names)
    check_known(derive, names, "derive", dropped)
    read: dict[str, Derived] = {}
    faults: list[PysynthdpError] = []
    for name, text in {**(found or {}), **derive}.items():
        try:
            own = _derived(schema, name, text, apart, used)
            read[name] = replace(own, found=name not in derive)
        except PysynthdpError as fault:
            faults.append(fault)
    if faults:
        raise together(faults)
    return _in_order(read)


def _derived(
    schema: Schema, name: str, text: str, apart: Collection[str], used: Collection[str] | None
) -> Derived:
    """Read one expression, and try it on no row."""
    if name in apart:
        raise PlanError(
            Words("{name} is derived, and kept or numbered anew as well", name=name),
            column=name,
            kind="expression",
            remedy=Words("leave it out of {derive}", derive=Setting("derive", {name: "..."})),
        )
    usable = tuple(column.name for column in schema if parts_of(column)[-1].role == "value")
    expression = parsed(text, usable, column=name)
    empty = {other: cells_of(schema[other], _no_rows(schema, other)) for other in expression.columns}
    check_kind(expression.of(empty), schema[name], text)
    tells = used is not None and (name in used or not _straight(expression, schema))
    return Derived(name, text, expression.columns, tells and name not in expression.columns)


def _no_rows(schema: Schema, name: str) -> dict[tuple[str, str], AnyArray]:
    """Give a column's parts without a row."""
    return {
        part.key: np.zeros(0, np.float64 if part.numeric else np.int16) for part in parts_of(schema[name])
    }


def _straight(expression: Expression, schema: Schema) -> bool:
    """Whether an expression is a sum of multiples of numbers, or a function of one column's levels.

    Told by values: of a linear function the change from one point to another is the sum of the changes column
    by column.
    """
    if len(expression.columns) == 1 and not parts_of(schema[expression.columns[0]])[-1].numeric:
        return True
    if not all(parts_of(schema[name])[-1].numeric for name in expression.columns):
        return False
    return all(
        _adds_up(expression, size * first, size * second)
        for size in _SIZES
        for first, second in itertools.pairwise(_POINTS)
    )


def _adds_up(expression: Expression, start: float, step: float) -> bool:
    """Whether changes of single columns add up to the change of all, and two steps are twice one.

    Where a column changes nothing, as inside a group of numbers, it does so elsewhere, and they do not.
    """

    def at(moved: Iterable[str], times: float = 1.0) -> float:
        cells = {
            name: Values.constant(start * (place + 1) + (times * step if name in moved else 0.0))
            for place, name in enumerate(expression.columns)
        }
        found = expression.of(cells).over(1)
        return float("nan") if found.kind == "text" else float(found.numbers()[0])

    names = expression.columns
    base, whole, twice = at(()), at(names), at(names, 2.0)
    changes = [at((name,)) - base for name in names]
    found = np.array([whole - base, sum(changes), (twice - base) / 2])
    return bool(
        all(changes)
        and np.isfinite(found).all()
        and np.ptp(found) <= 1e-9 * max(1.0, float(np.abs(found).max()))
    )


def _in_order(found: dict[str, Derived]) -> tuple[Derived, ...]:
    """Put each behind those that it is made of.

    Raises
    ------
    PlanError
        Where columns are derived from one another in a circle.
    """
    left, done = dict(found), []
    while left:
        ready = [
            name for name, own in left.items() if not any(each in left for each in own.given if each != name)
        ]
        if not ready:
            circle = ", ".join(left)
            raise PlanError(
                Words("{circle} are derived from one another", circle=circle),
                column=next(iter(left)),
                kind="expression",
                remedy="let one of them be drawn",
            )
        done += [left.pop(name) for name in ready]
    return tuple(done)


def with_derived(order: Sequence[str], derived: Iterable[Derived]) -> tuple[str, ...]:
    """Put derived columns into an order of columns: each right after the last one that it needs."""
    found, made = list(order), set[str]()
    for own in derived:
        others = [found.index(name) for name in own.given if name in found and name != own.column]
        place = 1 + max(others, default=len(found) - 1 if own.given else -1)
        while place < len(found) and found[place] in made:
            place += 1
        if not own.corrects:
            found.insert(place, own.column)
            made.add(own.column)
        elif found.index(own.column) < place:
            found.remove(own.column)
            found.insert(place - 1, own.column)
    return tuple(found)


def placed(derived: Iterable[Derived], order: Sequence[str]) -> list[tuple[Derived, frozenset[str]]]:
    """Say beside each derived column which ones stand before it, and itself."""
    return [(own, frozenset(order[: order.index(own.column) + 1])) for own in derived]


def without_silent(order: Iterable[str], derived: Iterable[Derived]) -> tuple[str, ...]:
    """Leave out of an order what no later column is drawn from."""
    silent = {own.column for own in derived if not own.tells}
    return tuple(name for name in order if name not in silent)


def derived_parts(own: Derived, schema: Schema, parts: Mapping[tuple[str, str], AnyArray]) -> dict[Any, Any]:
    """Compute a derived column from the parts of those that it is made of.

    Raises
    ------
    PlanError
        Where it makes what the column has no place for.

    Notes
    -----
    Privacy: arithmetic on the rows that it is given: drawn ones, or real ones where they are checked.
    """
    rows = len(next(iter(parts.values())))
    expression = parsed(own.expression, own.given, column=own.column)
    cells = {name: cells_of(schema[name], parts) for name in own.given}
    return parts_from(expression.of(cells), schema[own.column], rows)
