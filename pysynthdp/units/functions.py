"""Which columns of units are functions of the rows of the unit: found, and verified in all units.

Looked for are counts of rows (of all, of those with a level, above and below a whole number), scales of
equivalence such as ``0.5 + 0.5 * count(age >= 14) + 0.3 * count(age < 14)``, the sum, mean, least and most of
a number of rows, and sums of such sums and numbers of units, also a row, or divided by a number of units.
Some units propose, all units decide.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pysynthdp.base.errors import PysynthdpError
from pysynthdp.base.remarks import FEWEST, Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.design.expression_cells import cells_of
from pysynthdp.design.expression_values import Values
from pysynthdp.design.expressions import quoted
from pysynthdp.design.parts import digits_of, split
from pysynthdp.design.unit_expressions import OVER_UNITS, parsed_over_units
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema
from pysynthdp.units.places import Placed

__all__ = ["functions_over_units"]

_FEWEST_UNITS: Final = 50
_SAMPLE: Final = 2_000  # units by which functions are proposed
_GLANCE: Final = 200  # of these, by which most are discarded
_MOST_VALUES: Final = 150  # of a number of rows that is counted above and below each
_CLOSE: Final = 1e-6  # of a coefficient, or of a spread
_LARGEST: Final = 40  # numbers in one sum, and levels that are counted


def functions_over_units(
    heads: pd.DataFrame, frame: pd.DataFrame, placed: Placed, schema: Schema, *, own: Collection[str]
) -> tuple[Remark, ...]:
    """Offer what columns of units are computed from, where that holds in all units.

    Parameters
    ----------
    heads : DataFrame
        Columns of which nobody said what they are computed from, one row a unit, as the table has them.
    frame : DataFrame
        The confidential rows, unit after unit, rare levels merged.
    placed : Placed
        Where they stand.
    schema : Schema
        Of columns of units and of rows, inferred.
    own : collection of str
        Columns of rows.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee. What is offered quotes names, levels, and whole numbers
    that five records or more have; it stays with whoever fits.
    """
    numbers = [name for name in heads.columns if _is_number(heads[name])]
    if placed.n < _FEWEST_UNITS or not numbers:
        return ()
    sampled = np.unique(np.arange(min(placed.n, _SAMPLE)) * placed.n // min(placed.n, _SAMPLE))
    rows = np.flatnonzero(np.isin(placed.unit, sampled))
    sample = frame.iloc[rows].reset_index(drop=True)
    cells = {column.name: cells_of(column, split(sample[column.name], column)) for column in schema}
    unit = np.unique(placed.unit[rows], return_inverse=True)[1]
    wanted = {name: heads[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in numbers}
    search = _Search(wanted, frame, placed, schema, tuple(own), cells, sampled, unit)
    return tuple(_offered(name, text) for name, text in search.run())


def _is_number(series: pd.Series[Any]) -> bool:
    """Whether a column is one of numbers, none of which is missing."""
    kind = series.dtype
    number = pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
    return bool(number and not series.isna().any())


@dataclass(slots=True, repr=False)
class _Search:
    """One search: numbers of all units, all rows, and of some units the cells and each row's number."""

    wanted: Mapping[str, FloatArray]
    frame: pd.DataFrame
    placed: Placed
    schema: Schema
    own: tuple[str, ...]
    cells: Mapping[str, Values]
    sampled: IntArray
    unit: IntArray
    found: dict[str, str] = field(default_factory=dict)

    def run(self) -> Iterator[tuple[str, str]]:
        """Look for functions of one column, then for sums; of columns that are one another's, the last."""
        wanted = {name: y[self.sampled] for name, y in self.wanted.items() if _varies(y)}
        for name, y in wanted.items():
            if _equal(y, self._sizes):
                self._take(name, iter(["count()"]))
        for own in self.own:
            left = {name: y for name, y in wanted.items() if name not in self.found}
            for name, text in self._of_one(own, left):
                self._take(name, iter([text]))
        for name in reversed(wanted):
            if name not in self.found:
                self._take(name, self._sums(name, wanted))
        return iter(self.found.items())

    def _take(self, name: str, texts: Iterator[str]) -> None:
        """Keep the first proposal that holds in all units."""
        for text in texts:
            if name not in self.found and self._holds(name, text):
                self.found[name] = text
                return

    # -- what is there ------------------------------------------------------------------------------------

    @property
    def _first(self) -> BoolArray:
        """Which rows are the first of their unit."""
        return np.asarray(np.r_[True, np.diff(self.unit) > 0])

    @property
    def _sizes(self) -> FloatArray:
        """Rows of each unit."""
        return np.bincount(self.unit).astype(np.float64)

    def _over(self, how: str, values: Values) -> FloatArray:
        """Sum, average or take the least or most over each unit."""
        there = np.asarray(~values.missing)
        with np.errstate(all="ignore"):
            return OVER_UNITS[how](values.numbers(), there, self.unit, int(self.unit[-1]) + 1)

    # -- proposals ----------------------------------------------------------------------------------------

    def _of_one(self, name: str, wanted: Mapping[str, FloatArray]) -> Iterator[tuple[str, str]]:
        """Propose functions of one column of rows."""
        column, values = self.schema[name], self.cells[name]
        if isinstance(column, CategoricalColumn):
            yield from self._levels(name, values, wanted)
            return
        for how in ("sum", "mean", "least", "most"):
            found = self._over(how, values)
            yield from ((own, f"{how}({quoted(name)})") for own, y in wanted.items() if _equal(y, found))
        yield from self._scales(name, values, wanted)

    def _levels(
        self, name: str, values: Values, wanted: Mapping[str, FloatArray]
    ) -> Iterator[tuple[str, str]]:
        """Propose counts of levels of which five records tell."""
        if values.kind == "nothing":
            return
        levels, counts = np.unique(values.data[~values.missing], return_counts=True)
        for level in levels[counts >= FEWEST][:_LARGEST].tolist():
            found = self._over(
                "sum", Values(np.asarray(values.data == level) & ~values.missing, values.missing)
            )
            text = f"count({quoted(name)})" if level is True else f"count({quoted(name)} == {level!r})"
            yield from ((own, text) for own, y in wanted.items() if _equal(y, found))

    def _scales(
        self, name: str, values: Values, wanted: Mapping[str, FloatArray]
    ) -> Iterator[tuple[str, str]]:
        """Propose counts above and below a whole number, and what adds so much for each of both."""
        numbers, there = values.numbers(), np.asarray(~values.missing)
        at, counts = np.unique(numbers[there], return_counts=True)
        if not 2 <= len(at) <= _MOST_VALUES or (at % 1).any():
            return
        table = np.zeros((len(self.sampled), len(at)))
        np.add.at(table, (self.unit[there], np.searchsorted(at, numbers[there])), 1.0)
        below = np.cumsum(table, axis=1) - table  # of each unit, by value: rows below it
        above = table.sum(axis=1)[:, None] - below
        resting = (counts >= FEWEST) & (counts.cumsum() - counts >= FEWEST)
        one = np.ones(len(table))
        base = np.linalg.qr(np.stack([one, table.sum(axis=1)]).T)[0]
        left = above - base @ (base.T @ above)
        for own, y in wanted.items():
            for place in np.flatnonzero(resting & _collinear(left, y - base @ (base.T @ y))):
                weights = _solved(np.stack([one, above[:, place], below[:, place]]).T, y)
                if weights is not None:
                    yield own, _scale(quoted(name), int(at[place]), weights)

    def _sums(self, name: str, wanted: Mapping[str, FloatArray]) -> Iterator[str]:
        """Propose sums of numbers of rows and of units, as they are, a row, and by a number of units."""
        y, numbers = wanted[name], [own for own in self.own if isinstance(self.schema[own], NumericColumn)]
        sums = {f"sum({quoted(own)})": self._over("sum", self.cells[own]) for own in numbers}
        units = {quoted(other): z for other, z in wanted.items() if other != name and other not in self.found}
        terms = {text: z for text, z in {**sums, **units}.items() if np.ptp(z) > 0}
        if not 1 <= len(terms) <= min(_LARGEST, len(y) // FEWEST):
            return
        others = {quoted(other): values for other, values in self._scaling().items() if other != name}
        for below, scale in {"": np.ones(len(y)), "count()": self._sizes, **others}.items():
            left = {text: z for text, z in terms.items() if text != below}
            signs = _solved(np.stack([*left.values()]).T, y * scale) if left else None
            if signs is None or not np.isin(signs, (-1.0, 0.0, 1.0)).all():
                continue
            used = {text: sign for (text, sign) in zip(left, signs, strict=True) if sign}
            if any(text in sums for text in used):
                total = _written(used)
                yield total if not below else f"{total if len(used) == 1 else f'({total})'} / {below}"

    def _scaling(self) -> dict[str, FloatArray]:
        """Give the numbers of units that something may be divided by: above zero in all of them."""
        cells = {name: own for name, own in self.cells.items() if name not in self.own and own.kind != "text"}
        units = {name: own.numbers()[self._first] for name, own in cells.items()}
        return {name: z for name, z in units.items() if z.min() > 0 and np.ptp(z) > 0}

    # -- verdict ------------------------------------------------------------------------------------------

    def _holds(self, name: str, text: str) -> bool:
        """Whether a function holds in all units, of which five have several rows."""
        try:
            read = parsed_over_units(text, self.schema.names, column=name)
            columns = [self.schema[own] for own in read.columns]
            cells = {own.name: cells_of(own, split(self.frame[own.name], own)) for own in columns}
            made = read.of(cells, self.placed.unit).over(len(self.placed.unit))
        except PysynthdpError:
            return False
        column, y = self.schema[name], self.wanted[name]
        digits = digits_of(column) if isinstance(column, NumericColumn) else None
        room = 0.0 if digits is None else 0.5 * 10.0**-digits
        off = np.abs(made.numbers()[self.placed.first] - y)
        several = int((self.placed.sizes > 1).sum()) >= FEWEST
        return several and bool((off <= room + 1e-9 * np.maximum(1.0, np.abs(y))).all())


def _varies(y: FloatArray) -> bool:
    """Whether five units have another number than most have."""
    counts = np.unique(y, return_counts=True)[1]
    return int(counts.sum() - counts.max()) >= FEWEST


def _equal(y: FloatArray, z: AnyArray) -> bool:
    """Whether two numbers are the same in all units, but for rounding."""
    return bool((np.abs(y - z) <= _CLOSE * np.maximum(1.0, np.abs(y))).all())


def _solved(X: FloatArray, y: FloatArray) -> FloatArray | None:
    """Give the weights, in thousandths, by which columns sum to a number; None where they do not."""
    size = np.maximum(np.abs(X).max(axis=0), 1e-300)
    for rows in (slice(0, _GLANCE), slice(None)):
        beta, _, rank, _ = np.linalg.lstsq(X[rows] / size, y[rows], rcond=None)
        if np.abs(X[rows] @ (beta / size) - y[rows]).max() > _CLOSE * np.abs(y).max():
            return None
    if rank < X.shape[1]:
        return None
    weights = np.round(beta / size, 3) + 0.0
    return weights if np.abs(X @ weights - y).max() <= 1e-3 * max(1.0, np.abs(y).max()) else None


def _collinear(X: FloatArray, y: FloatArray) -> BoolArray:
    """Which columns a number is a multiple of."""
    total = (X**2).sum(axis=0) * (y @ y)
    return np.asarray(((y @ X) ** 2 > (1 - _CLOSE) * total) & (total > 0))


def _scale(name: str, at: int, weights: FloatArray) -> str:
    """Write a constant, and so much for each row at or above a number, and below it."""
    start, above, below = map(float, weights)
    terms = {f"count({name} >= {at})": above, f"count({name} < {at})": below}
    used = {text: weight for text, weight in terms.items() if weight}
    return _written(({f"{start:g}": 1.0} if start else {}) | used)


def _written(terms: Mapping[str, float]) -> str:
    """Write a sum with signs and factors."""
    text = ""
    for term, weight in terms.items():
        sign = (" - " if weight < 0 else " + ") if text else ("-" if weight < 0 else "")
        factor = "" if abs(weight) == 1 else f"{abs(weight):g} * "
        text += f"{sign}{factor}{term}"
    return text


def _offered(name: str, text: str) -> Remark:
    """Offer a function that holds in all units."""
    return Remark(
        name,
        "function over units",
        Words("in all units it is {text}; drawn by a model, it is that in a copy only roughly", text=text),
        Words(
            "give {derive} to have it computed",
            derive=Setting("derive", {name: text}),
        ),
    )
