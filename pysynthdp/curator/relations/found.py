"""Which columns of a table are functions of others: found, verified in all rows; and what is nearly one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from pysynthdp.base.arrays import BoolArray
from pysynthdp.base.errors import PysynthdpError
from pysynthdp.base.remarks import FEWEST, Remark, few
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.relations.arithmetic import Numbers, arithmetic_of
from pysynthdp.curator.relations.copied import copies_of, told_apart
from pysynthdp.curator.relations.declared import rows_unlike
from pysynthdp.curator.relations.lookups import (
    Among,
    Coded,
    code_of,
    coded,
    cut_of,
    listed,
    listed_of,
    may_cut,
    recode_of,
)
from pysynthdp.curator.spread.table import parts_of_rows
from pysynthdp.curator.table import SCALE_ROWS, PartTable
from pysynthdp.design.expression_cells import cells_of
from pysynthdp.design.parts import digits_of, parts_of
from pysynthdp.design.rows import Rows
from pysynthdp.plan.derived import Derived, derived_columns
from pysynthdp.plan.factors import KIND, formula_name
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema

__all__ = ["Relations", "find_relations"]

_SAMPLE = 2_000  # rows by which a relation is looked for; all rows then say whether it holds
_FEWEST_ROWS = 50  # records that have both sides
_ODD = 0.1  # of the rows: with more exceptions it is no near-function
_MOST_NUMBERS = 60
_VALUES = 300
_GROUPS = 20  # values of a code, at least
_GLANCE = 200
_LOOSE = 0.05  # standard deviations, where the numbers that a column was made of are rounded


@dataclass(frozen=True, slots=True)
class Relations:
    """What was found.

    Parameters
    ----------
    exact : mapping column -> expression
        Functions that hold in every row, or in all but fewer than five.
    offered : tuple of Remark
        Functions that hold in nearly every row, with what to type; and which of ``exact`` have exceptions.
    codes : mapping column -> column
        Columns that are looked up by a code, and it. A code is drawn before all, and what it tells right
        after it, so that this is there for the rest.
    nearly : mapping column -> formulas
        Numbers that are nearly sums, products or ratios of others, which are drawn as that and a residual.
    """

    exact: Mapping[str, str] = field(default_factory=dict)
    offered: tuple[Remark, ...] = ()
    codes: Mapping[str, str] = field(default_factory=dict)
    nearly: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def find_relations(
    tables: Sequence[Rows], schema: Schema, *, order: Sequence[str] | None, free: Collection[str]
) -> Relations:
    """Find columns that are functions of others.

    Parameters
    ----------
    tables : sequence of Rows
        The confidential table, or its imputations; a function holds in all of them.
    schema : Schema
        Inferred, of the columns that may be looked at.
    order : sequence of str, optional
        A user's own order, in which a column may depend on earlier ones alone.
    free : collection of str
        Columns of which the user says nothing, so that they may be derived.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee. A systematic sample proposes, all rows decide. What
    fewer than five records do otherwise than the rest could not be learned anyway, so such a function is
    taken for one, and that is said.
    """
    used = Schema(tuple(column for column in schema if parts_of(column)[-1].role == "value"))
    if not tables or tables[0].n_rows < _FEWEST_ROWS:
        return Relations()
    split = [parts_of_rows(rows, used) for rows in tables]
    with np.errstate(all="ignore"):  # of numbers of any size; what is not finite is no function
        return _Search(used, split, tuple(order) if order is not None else None, frozenset(free)).run()


@dataclass(frozen=True, slots=True)
class _Near:
    """How nearly a function holds: rows that are otherwise, or otherwise by more than rounding moves."""

    count: int
    loose: bool


@dataclass(slots=True, repr=False)
class _Search:
    """One search through a table."""

    schema: Schema
    tables: Sequence[PartTable]
    order: tuple[str, ...] | None
    free: frozenset[str]
    exact: dict[str, str] = field(default_factory=dict)
    given: dict[str, tuple[str, ...]] = field(default_factory=dict)
    near: dict[Derived, _Near] = field(default_factory=dict)
    nearly: dict[str, Derived] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)

    @property
    def table(self) -> PartTable:
        """Rows by which functions are proposed: all of the first table, unless they lie elsewhere."""
        return self.tables[0].to_learn(max(1, self.n // SCALE_ROWS))

    @property
    def n(self) -> int:
        """Rows of the first table."""
        return self.tables[0].n

    def run(self) -> Relations:
        """Names and groups first, then arithmetic, then what else one number tells of another."""
        columns = {column.name: coded(column, self.table) for column in self.schema}
        self._look_ups(columns, numbers=False)
        numbers = self._numbers()
        self._arithmetic(numbers)
        odd = tuple(self._but_for_few())
        self._copies(numbers)
        self._look_ups(columns, numbers=True)
        sure = [{name, *self.given[name]} for name in self.exact]
        near = {own: how for own, how in self.near.items() if {own.column, *own.given} not in sure}
        nearly = dict(self._drawn_nearly(near, numbers))
        offered = (_offered(own, each, self.n, drawn=own.column in nearly) for own, each in near.items())
        return Relations(dict(self.exact), (*odd, *offered), self._codes_used(), nearly)

    def _drawn_nearly(
        self, near: Mapping[Derived, _Near], numbers: Numbers
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Name the numbers that are drawn as a near-function and a residual, and from what.

        A sum is drawn from its terms; what is none, from their logarithms where all are positive.
        """
        for own in near:
            columns = [self.schema[name] for name in own.given]
            known = {own.column, *own.given} <= set(numbers.columns) - set(self.exact)
            if not known or not isinstance(self.schema[own.column], NumericColumn):
                continue
            terms = [formula_name(name) for name in own.given]
            if not self._straight(own):
                if not all(isinstance(column, NumericColumn) for column in columns):
                    continue
                if any(np.nanmin(numbers.columns[name]) <= 0 for name in own.given):
                    continue
                terms = [f"log({term})" for term in terms]
            yield own.column, tuple(self._formulas(own, terms))

    def _formulas(self, own: Derived, terms: Sequence[str]) -> Iterator[str]:
        """Write what a near-function is drawn from; whether it is there, those tell that it is made of."""
        left = formula_name(own.column)
        yield f"{left} ~ {' + '.join(terms)}"
        if len(parts_of(self.schema[own.column])) > 1:
            yield f"{left}{KIND} ~ {' + '.join(map(formula_name, own.given))}"

    def _codes_used(self) -> dict[str, str]:
        """Name the columns that are looked up by a code, and it."""
        used = {name: code for name, code in self.codes.items() if code in self.given.get(name, ())}
        return {name: code for name, code in used.items() if code not in self.exact}

    def _straight(self, own: Derived) -> bool:
        """Whether a function is a sum of multiples, of numbers and of levels that are numbers."""
        given = [self.schema[name] for name in (own.column, *own.given)]
        numeric = Schema(
            tuple(NumericColumn(column.name) if _numbered(column) else column for column in given)
        )
        (same,) = derived_columns(numeric, {own.column: own.expression}, used=())
        return not same.predicts

    # -- look-ups ------------------------------------------------------------------------------------------

    def _look_ups(self, columns: Mapping[str, Coded], *, numbers: bool) -> None:
        """Find columns that one other column determines, both of them ``numbers`` or not."""
        for name in reversed(self.schema.names):
            y = columns[name]
            if name not in self.free or name in self.exact or len(y.values) > _VALUES:
                continue
            for other in self._arguments(name):
                x = columns[other]
                both = isinstance(x.column, NumericColumn) and isinstance(y.column, NumericColumn)
                text = self._look_up(y, x) if both == numbers else None
                if text is None:
                    continue
                code = self.codes.get(name) == other
                if self._take(name, text, among=self._listed(y, x, code=code)):
                    break

    def _look_up(self, y: Coded, x: Coded) -> str | None:
        """Write one column as a table of another; a finer one is no function of a coarser one."""
        if len(x.values) < len(y.values) or not _may_determine(y, x):
            return None
        if isinstance(x.column, NumericColumn):
            cut = cut_of(y, x) if may_cut(y, x) else None
            return cut or self._code(y, x)
        return recode_of(y, x) if len(x.values) <= _VALUES else None

    def _listed(self, y: Coded, x: Coded, *, code: bool) -> Among:
        """Say of which rows a table of one column by another speaks."""
        if self.table is self.tables[0]:
            rows = listed(y, x, code=code)
            return lambda _: rows
        return listed_of(y, x, code=code)

    def _code(self, y: Coded, x: Coded) -> str | None:
        """Write a column as a table of a number that is a code, which is then drawn first."""
        text = code_of(y, x) if _GROUPS < len(x.values) <= _VALUES else None
        if text is not None:
            self.codes[y.column.name] = x.column.name
        return text

    # -- arithmetic ----------------------------------------------------------------------------------------

    def _arithmetic(self, numbers: Numbers) -> None:
        """Find numbers that are made of other numbers."""
        for name in reversed(list(numbers.columns)):
            if name in self.exact or name not in self.free:
                continue
            others = [other for other in self._arguments(name) if other in numbers.columns]
            for text in arithmetic_of(name, others, numbers):
                if self._take(name, text):
                    break

    def _but_for_few(self) -> Iterator[Remark]:
        """Take functions that all records but fewer than five obey, where no other one was found."""
        for name, own in self.nearly.items():
            if name not in self.exact and self.exact.keys().isdisjoint(own.given):
                self.exact[name], self.given[name] = own.expression, own.given
                yield _but_few(own)

    def _copies(self, numbers: Numbers) -> None:
        """Find numbers that repeat another one wherever that is there."""
        numeric = [name for name in numbers.columns if isinstance(self.schema[name], NumericColumn)]
        for name in reversed(numeric):
            if name in self.exact or name not in self.free:
                continue
            others = [other for other in self._arguments(name) if other in numeric]
            for other, text in copies_of(name, others, numbers):
                x, y = (cells_of(self.schema[each], self.table.parts).numbers() for each in (other, name))
                if told_apart(x, y) and self._take(name, text, noted=False):
                    break

    def _numbers(self) -> Numbers:
        """Take a sample of the numbers that vary."""
        every = max(1, -(-self.table.n // _SAMPLE))
        sample = {key: array[::every] for key, array in self.table.parts.items()}
        numeric = [column for column in self.schema if isinstance(column, NumericColumn)]
        coded = [column for column in self.schema if _numbered(column)]
        taken = {column.name for column in (*numeric, *coded)[:_MOST_NUMBERS]}
        used = [column for column in self.schema if column.name in taken]
        columns = {column.name: cells_of(column, sample).numbers() for column in used}
        return Numbers(columns, {column.name: _step(column) for column in used})

    # -- both ----------------------------------------------------------------------------------------------

    def _arguments(self, name: str) -> Iterator[str]:
        """Columns that one may be made of: none that is derived, and earlier ones where an order is given."""
        names = self.schema.names
        if self.order is not None:
            kept = [other for other in names if other not in self.order]
            place = self.order.index(name) if name in self.order else 0
            names = (*kept, *self.order[:place])
        return (other for other in names if other != name and other not in self.exact)

    def _take(self, name: str, text: str, *, among: Among | None = None, noted: bool = True) -> bool:
        """Check a proposed function in all rows, or ``among`` some; note one that nearly holds in all."""
        try:
            (own,) = derived_columns(self.schema, {name: text}, used=())
        except PysynthdpError:
            return False
        odd = self._odd(own, among if len(self.tables) == 1 else None)
        if not odd and self._both_sides(own):
            self.exact[name], self.given[name] = text, own.given
            return True
        if noted and odd < FEWEST and self._both_sides(own):
            self.nearly.setdefault(name, own)
        told = any(name in (near.column, *near.given) for near in self.near)
        if among is None and noted and not told:
            self._note(own)
        return False

    def _odd(self, own: Derived, among: Among | None) -> int:
        """Count the rows in which a function does not hold, of the table where these are most."""
        schema = self.schema  # and no more, since it may be sent to where rows lie

        def of_table(table: PartTable) -> BoolArray:
            rows = rows_unlike(own, schema, table)
            return rows if among is None else rows & among(table)

        return max(table.count(of_table) for table in self.tables)

    def _off(self, own: Derived, spread: float) -> int:
        """Count the rows of the first table that are off a function by more than so much."""
        return self.tables[0].count(partial(rows_unlike, own, self.schema, off=_LOOSE * spread))

    def _note(self, own: Derived) -> None:
        """Note what holds in nearly all rows, to within a small part of the column's spread."""
        if not self._both_sides(own):
            return
        column, odd = self.schema[own.column], self._off(own, 0.0)
        loose = odd > _ODD * self.n
        if loose and isinstance(column, NumericColumn):
            odd = self._off(own, float(np.nanstd(cells_of(column, self.table.parts).numbers())))
        if odd <= _ODD * self.n:
            self.near[own] = _Near(odd, loose)

    def _both_sides(self, own: Derived) -> bool:
        """Whether enough records have the column and all that it is made of."""
        columns = [self.schema[name] for name in (own.column, *own.given)]

        def there(table: PartTable) -> BoolArray:
            lost = np.any([cells_of(column, table.parts).missing for column in columns], axis=0)
            return np.asarray(~lost)

        return self.tables[0].count(there) >= _FEWEST_ROWS


def _may_determine(y: Coded, x: Coded) -> bool:
    """Glance at the first rows: whether equal values of one have equal values of the other there."""
    first, codes = x.codes[:_GLANCE], y.codes[:_GLANCE]
    there = (first >= 0) & (codes >= 0)
    last = np.full(len(x.values) + 1, -2, dtype=np.int64)
    last[first[there]] = codes[there]
    return bool((last[first[there]] == codes[there]).all())


def _numbered(column: Column) -> bool:
    """Whether a column's levels are numbers."""
    return isinstance(column, CategoricalColumn) and all(
        isinstance(level, int | float | np.number) and not isinstance(level, bool) for level in column.levels
    )


def _step(column: Column) -> float:
    """Grid of a number; 0 where it has none."""
    if not isinstance(column, NumericColumn):
        return 0.0
    digits = digits_of(column)
    return column.step or (0.0 if digits is None else 10.0**-digits)


def _but_few(own: Derived) -> Remark:
    """Say that fewer than five records are not what a function makes of them; a table is not quoted."""
    text = f"groups of {', '.join(own.given)}" if "[" in own.expression else own.expression
    return Remark(
        own.column,
        "few exceptions",
        Words("fewer than five records are not {text}, as all others are; copies have none", text=text),
        Words(
            "correct those records, or give {derive} to have the column drawn by a model",
            derive=Setting("derive", {own.column: None}),
        ),
    )


def _offered(own: Derived, near: _Near, n: int, *, drawn: bool) -> Remark:
    """Offer a function that holds in nearly every row."""
    count = near.count
    rows = f"{few(count)} of {n:,} rows" if count >= 10 else f"{few(count)} rows"
    model = "drawn by a model, it is that in a copy only roughly"
    residual = "drawn as that and a residual, it is so in a copy, and what goes with the exceptions is lost"
    return Remark(
        own.column,
        "near function",
        Words(
            "{but}{about} it is {text}; {how}",
            but=f"but for {rows}" if count else "in all rows",
            about=", to within what rounding moves," if near.loose else "",
            text=own.expression,
            how=residual if drawn else model,
        ),
        Words(
            "correct those rows, or give {derive} to have it computed",
            derive=Setting("derive", {own.column: own.expression}),
        ),
    )
