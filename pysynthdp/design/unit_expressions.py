"""Expressions over the rows of a unit: ``1 + 0.5 * (count(age >= 14) - 1)``, in the language of columns.

``count(condition)``, ``count()`` of all rows, ``sum(x)``, ``mean(x)``, ``least(x)`` and ``most(x)`` take an
expression of one row and give one value a unit; what is missing is left out of them. The rest of an
expression is one of columns (:mod:`~pysynthdp.design.expressions`), in which these stand as columns would.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Words
from pysynthdp.design.expression_values import MisfitError, Values
from pysynthdp.design.expressions import Expression, parsed

__all__ = ["OVER_UNITS", "UnitExpression", "over_units", "parsed_over_units"]

_CALL: Final = re.compile(r"(?<![\w.])(count|sum|mean|least|most)\s*\(")
_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`")


def _total(values: FloatArray, there: BoolArray, unit: IntArray, n: int) -> FloatArray:
    """Sum what is there; 0 where nothing is."""
    return np.asarray(np.bincount(unit[there], weights=values[there], minlength=n), dtype=np.float64)


def _mean(values: FloatArray, there: BoolArray, unit: IntArray, n: int) -> FloatArray:
    """Average what is there; NaN where nothing is."""
    return _total(values, there, unit, n) / np.bincount(unit[there], minlength=n)


def _extreme(start: float, take: np.ufunc) -> Callable[..., FloatArray]:
    """Make the function that takes the least or the most of what is there; NaN where nothing is."""

    def found(values: FloatArray, there: BoolArray, unit: IntArray, n: int) -> FloatArray:
        best = np.full(n, start)
        take.at(best, unit[there], values[there])
        return np.where(np.isfinite(best), best, np.nan)

    return found


OVER_UNITS: Final[Mapping[str, Callable[[FloatArray, BoolArray, IntArray, int], FloatArray]]] = {
    "count": _total,
    "sum": _total,
    "mean": _mean,
    "least": _extreme(np.inf, np.minimum),
    "most": _extreme(-np.inf, np.maximum),
}
"""Functions of the rows of a unit, by name."""


@dataclass(frozen=True, slots=True)
class UnitExpression:
    """An expression of columns, and of functions over the rows of a unit.

    Parameters
    ----------
    outer : Expression
        In which each function over a unit stands as a column that is called as it was written.
    inner : mapping str -> (function, Expression or None)
        These, by what they are called; ``count()`` has no expression.
    """

    outer: Expression
    inner: Mapping[str, tuple[str, Expression | None]]

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that it names, each once."""
        inside = (name for _, own in self.inner.values() if own is not None for name in own.columns)
        plain = (name for name in self.outer.columns if name not in self.inner)
        return tuple(dict.fromkeys((*plain, *inside)))

    def of(self, cells: Mapping[str, Values], unit: IntArray) -> Values:
        """Evaluate on columns.

        Parameters
        ----------
        cells : mapping column -> Values
            Of all rows.
        unit : array of int (rows,)
            Number of each row's unit, from 0.

        Raises
        ------
        PlanError
            Where texts are taken for numbers; says where.

        Notes
        -----
        Privacy: arithmetic on what it is given; messages quote the expression, never a cell.
        """
        n = int(unit.max(initial=-1)) + 1
        made = {name: self._over(name, cells, unit, n) for name in self.inner}
        return self.outer.of({**cells, **made})

    def _over(self, name: str, cells: Mapping[str, Values], unit: IntArray, n: int) -> Values:
        """Evaluate one function over units, in every row."""
        how, own = self.inner[name]
        given = Values.constant(1.0) if own is None else own.of(cells)
        try:
            values, there = _rows_of(how, given.over(len(unit)))
        except MisfitError as misfit:
            what = Words("{column}: '{text}' {what}", column=self.outer.column, text=name, what=str(misfit))
            raise PlanError(what, column=self.outer.column, kind="expression") from None
        with np.errstate(all="ignore"):
            found = OVER_UNITS[how](values, there, unit, n)[unit]
        return Values(found, ~np.isfinite(found))


def _rows_of(how: str, given: Values) -> tuple[FloatArray, BoolArray]:
    """Give the numbers of rows, and in which rows there is one; a count is of true conditions."""
    if how == "count" and given.kind == "truth":
        return given.truths().astype(np.float64), np.asarray(~given.missing)
    if how == "count":
        return np.ones(len(given.missing)), np.asarray(~given.missing)
    return given.numbers(), np.asarray(~given.missing)


def over_units(text: object) -> bool:
    """Whether an expression has a function over the rows of a unit.

    Examples
    --------
    >>> over_units("count(age < 14) + 1"), over_units("'count(' == kind"), over_units("discount (1)")
    (True, False, False)
    """
    return isinstance(text, str) and next(_calls(text), None) is not None


def parsed_over_units(text: str, known: tuple[str, ...], *, column: str) -> UnitExpression:
    """Read an expression over units.

    Raises
    ------
    PlanError
        As :func:`~pysynthdp.design.expressions.parsed`, and for a function over units inside another.

    Notes
    -----
    Privacy: reads no record.

    Examples
    --------
    >>> import numpy as np
    >>> scale = parsed_over_units("1 + 0.5 * (count(age >= 14) - 1)", ("age",), column="eqSS")
    >>> age = Values(np.array([40.0, 38.0, 5.0, 70.0]), np.zeros(4, dtype=bool))
    >>> scale.of({"age": age}, np.array([0, 0, 0, 1])).data.tolist()
    [1.5, 1.5, 1.5, 1.0]
    """
    pieces: list[str] = []
    inner: dict[str, tuple[str, Expression | None]] = {}
    last = 0
    for start, how, inside, end in _calls(text):
        if end > len(text):
            what = Words("{column}: '{piece}' lacks a bracket at its end", column=column, piece=text[start:])
            raise PlanError(what, column=column, kind="expression", remedy="close it")
        if over_units(inside):
            what = Words("{column}: '{piece}' is inside another", column=column, piece=inside.strip())
            raise PlanError(what, column=column, kind="expression", remedy="name a column of its own for it")
        name = re.sub(r"[`\s]+", " ", text[start:end])
        own = parsed(inside, known, column=column) if inside.strip() or how != "count" else None
        inner[name] = how, own
        pieces += [text[last:start], f"`{name}`"]
        last = end
    outer = "".join((*pieces, text[last:]))
    return UnitExpression(parsed(outer, (*known, *inner), column=column), inner)


def _calls(text: str) -> Iterator[tuple[int, str, str, int]]:
    """Find calls of functions over units: where each begins, its name, what is inside, where it ends."""
    shown = _QUOTED.sub(lambda found: "_" * len(found[0]), text)
    at = 0
    while (call := _CALL.search(shown, at)) is not None:
        at = _closing(shown, call.end())
        yield call.start(), call[1], text[call.end() : at - 1], at


def _closing(text: str, at: int) -> int:
    """Find the place after the bracket that closes one that was opened; the end where none does."""
    depth = 1
    while depth and at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at + depth
