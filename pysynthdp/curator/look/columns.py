"""``look``: one line a column, with warnings that name their mend; never part of a release."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.display import Printable, Table, number
from pysynthdp.base.errors import FitError, PysynthdpError, SchemaError
from pysynthdp.base.remarks import FEWEST, Remark, without_overlap
from pysynthdp.base.words import Dialect
from pysynthdp.curator.extremes import extremes_remarked
from pysynthdp.curator.few_records import without_few_of
from pysynthdp.curator.infer import infer_column, is_scale, key_remarks, scale_remark
from pysynthdp.curator.look.found import hints_of, plain_numbers
from pysynthdp.curator.look.hints import Hint
from pysynthdp.curator.look.size import slow_table, wide_table
from pysynthdp.curator.look.skips import skip_remarks
from pysynthdp.curator.look.weights import replicate_groups, replicate_remark, weight_remarks
from pysynthdp.curator.rows import rows_of
from pysynthdp.curator.spread.pieces import SpreadRows, of_column
from pysynthdp.curator.spread.table import parts_of_rows
from pysynthdp.curator.table import groups_of
from pysynthdp.curator.whole_table import check_rows, index_remarks, size_remarks, unused_remarks
from pysynthdp.design.counting import BLOCK, without
from pysynthdp.design.encode import n_features
from pysynthdp.design.parts import parts_of, split
from pysynthdp.design.rows import Rows
from pysynthdp.design.survey_table import SurveyTable, declarations_of, label_of
from pysynthdp.design.tagged import missing_kinds
from pysynthdp.design.values import is_dated, to_numbers
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema
from pysynthdp.schema.declarations import Declarations

__all__ = ["ColumnLook", "Look", "look"]

Shares: TypeAlias = tuple[tuple[str, float], ...]
_SHOWN = ("identifier", "numbers as text", "dates as text")  # kinds of refusals that name what a column is


@dataclass(frozen=True, slots=True)
class ColumnLook:
    """What one column holds.

    Parameters
    ----------
    name, kind, dtype : str
        Column name, how it is understood, and its type.
    levels : int or None
        Number of levels that have records or are declared.
    missing : tuple of (label, share)
        Ways to be missing, with the share of rows.
    spikes : tuple of (value, share)
        Declared or plain to see, with the share of rows.
    decimals : int or None
        Digits after the point; negative for tens and hundreds.
    remarks : tuple of Remark
        Oddities, each with its kind and its mend.
    step : float or None
        All values are multiples of it, and so will be those of the copies.
    offset : float
        Added to these multiples.
    notes : tuple of Remark
        What is well as it is, and how to declare it.
    label : str
        Of the variable, in a labelled file.
    """

    name: str
    kind: str
    dtype: str
    levels: int | None = None
    missing: Shares = ()
    spikes: Shares = ()
    decimals: int | None = None
    remarks: tuple[Remark, ...] = ()
    step: float | None = None
    notes: tuple[Remark, ...] = ()
    offset: float = 0.0
    label: str = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The remarks as sentences, without the column's name."""
        return tuple(remark.sentence for remark in self.remarks)

    @property
    def grain(self) -> str | int | None:
        """Decimals, or the step."""
        if self.step is None:
            return self.decimals
        return f"steps of {self.step:g}" + (f" from {self.offset:g}" if self.offset else "")


@dataclass(frozen=True, slots=True, repr=False)
class Look(Printable):
    """What a table holds: one line a column, warnings below.

    Parameters
    ----------
    columns : tuple of ColumnLook
        In table order.
    n_rows : int
        Rows of the table.
    remarks : tuple of Remark
        Of the table as a whole.
    """

    columns: tuple[ColumnLook, ...]
    n_rows: int
    remarks: tuple[Remark, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The remarks of the table as a whole, as sentences."""
        return tuple(remark.sentence for remark in self.remarks)

    def to_table(self) -> Table:
        """Build the table; warnings stand below it, with their columns' names."""
        return self._table("python")

    def said(self, dialect: Dialect) -> str:
        """Write it for somebody who writes Python, types commands, or writes R.

        Parameters
        ----------
        dialect : {"python", "shell", "r"}
            Who reads.
        """
        return self._table(dialect).to_text()

    def _table(self, dialect: Dialect) -> Table:
        """Build the table with warnings in a dialect."""
        heads: tuple[str, ...] = (
            "column",
            "kind",
            "type",
            "levels",
            "missing",
            "spikes",
            "decimals",
            "warnings",
        )
        rows: tuple[tuple[str | int | None, ...], ...] = tuple(
            (c.name, c.kind, c.dtype, c.levels, _shown(c.missing), _shown(c.spikes), c.grain,
             len(c.remarks) or None)
            for c in self.columns
        )  # fmt: skip
        if any(column.label for column in self.columns):
            heads = (heads[0], "label", *heads[1:])
            rows = tuple((row[0], c.label, *row[1:]) for row, c in zip(rows, self.columns, strict=True))
        of_columns = (remark for column in self.columns for remark in (*column.remarks, *column.notes))
        notes = [remark.warning().said(dialect) for remark in (*self.remarks, *of_columns)]
        title = (
            f"{number(self.n_rows)} rows, {number(len(self.columns))} columns (confidential: do not release)"
        )
        return Table(title, heads, rows, notes=tuple(notes))

    def to_frame(self) -> pd.DataFrame:
        """Return one row a column as a DataFrame, indexed by column name."""
        rows = [
            {
                "label": column.label,
                "kind": column.kind,
                "type": column.dtype,
                "levels": column.levels,
                "missing": dict(column.missing),
                "spikes": dict(column.spikes),
                "decimals": column.decimals,
                "step": column.step,
                "offset": column.offset,
                "warnings": list(column.warnings),
            }
            for column in self.columns
        ]
        names = pd.Index([column.name for column in self.columns], name="column")
        frame = pd.DataFrame(rows, index=names, columns=list(rows[0]) if rows else None)
        return frame.astype({"levels": "Int64", "decimals": "Int64"}) if rows else frame


def _shown(shares: Shares) -> str:
    """Write shares in one cell."""
    return ", ".join(f"{label} {100 * share:.1f} %" for label, share in shares)


def look(
    table: pd.DataFrame | SurveyTable | Rows,
    *,
    exempt: Iterable[str] = (),
    drop: Collection[str] = (),
    **declared: Any,
) -> Look:
    """Show how every column is understood, before anything is fitted (:func:`pysynthdp.look`).

    Parameters
    ----------
    table : DataFrame, SurveyTable or Rows
        The confidential table; with labels as :func:`pysynthdp.read` gives it, which are shown.
    exempt : iterable of str
        Columns that may be identifiers, because they are kept or replaced by running numbers.
    drop : collection of str
        Columns that are not looked at.
    **declared
        What is declared of columns: ``missing``, ``spikes``, ``bounds``, ``decimals``, ``levels``.

    Raises
    ------
    SchemaError
        If two columns share a name, or a declaration names no column.

    Notes
    -----
    Privacy: reads real rows and shows shares and codes of them: for the person who holds the data.
    """
    rows = rows_of(table.frame if isinstance(table, SurveyTable) else table, full=True)
    names = [name for name in rows.columns if name not in drop]
    asked = Declarations(**declared)
    told = asked.by_column(names)
    if isinstance(table, SurveyTable):
        told = asked.over(declarations_of(table.schema), rows.columns).by_column(rows.columns)
    free = set(exempt)
    given = ((name, name in free, told[name]) for name in names)
    found = [of_column(rows, name, _seen, name, kept, said) for name, kept, said in given]
    shown = [look for look, _ in found]
    if isinstance(table, SurveyTable):
        shown = [replace(look, label=label_of(table.schema[look.name])) for look in shown]
    columns = [column for look, column in found if column is not None and look.name not in free]
    size, skips = _size(rows, columns)
    shown = [replace(look, notes=(*look.notes, *skips.get(look.name, ()))) for look in shown]
    notes = (
        *size,
        *wide_table(columns),
        *slow_table(columns, rows.n_rows),
        *index_remarks(rows),
        *weight_remarks(rows, (name for name in names if name not in free and not told[name])),
        *map(replicate_remark, replicate_groups(rows, (name for name in names if name not in free))),
    )
    return Look(tuple(shown), rows.n_rows, notes)


def _size(rows: Rows, columns: Sequence[Column]) -> tuple[Iterable[Remark], Mapping[str, tuple[Remark, ...]]]:
    """Say that a table is too small for its columns, each drawn from all before it; and what was skipped."""
    skips: dict[str, tuple[Remark, ...]] = {}
    parts = tuple(part for column in columns for part in parts_of(column))
    read = [part for part in parts if part.column != columns[-1].name]
    try:
        check_rows(rows.n_rows)
    except FitError as problem:
        return (_problem("", problem, "small table"),), skips
    try:
        table = parts_of_rows(rows, Schema(tuple(columns)))
        groups = groups_of(table, parts)
        if not isinstance(rows, SpreadRows):
            skips = {remark.column: (remark,) for remark in skip_remarks(table, Schema(tuple(columns)))}
    except SchemaError as problem:
        if problem.kind == "table":  # rows that are not what they say: every number here would be wrong
            raise
        groups = {}  # shown with its column
    sizes = (groups[part.key].size - 1 if part.key in groups else n_features(part) for part in read)
    return size_remarks(rows.n_rows, 1 + sum(sizes)), skips


def _problem(name: str, problem: PysynthdpError, kind: str) -> Remark:
    """Show an error that a fit will raise as a remark."""
    return Remark(name, problem.kind or kind, problem.what, problem.remedy or "")


def _seen(
    cells: pd.Series[Any], name: str, kept: bool, declared: Mapping[str, Any]
) -> tuple[ColumnLook, Column | None]:
    """Look at one column, and say what a fit would say of it."""
    look, column = _column(cells, name, kept, declared)
    return (look if column is None else _with_remarks(look, cells, column, kept=kept)), column


def _with_remarks(look: ColumnLook, cells: pd.Series[Any], column: Column, *, kept: bool) -> ColumnLook:
    """Add what a fit would say of a column: what few records have, and categories that none has."""
    remarks = unused_remarks({column.name: cells.dtype}, Schema((column,)), [column.name])
    try:
        if not kept and len(cells) >= FEWEST:
            remarks += without_few_of(split(cells, column), column).remarks
    except SchemaError as problem:
        remarks += (_problem(column.name, problem, "not usable"),)
    return replace(look, remarks=without_overlap((*look.remarks, *remarks)))


def _column(
    series: pd.Series[Any], name: str, exempt: bool, declared: Mapping[str, Any]
) -> tuple[ColumnLook, Column | None]:
    """Look at one column; what cannot be modelled is shown with the ways out and is no column of a schema."""
    dtype = "category" if isinstance(series.dtype, pd.CategoricalDtype) else str(series.dtype)
    try:
        column = infer_column(series, name, exempt=exempt, **declared)
        if isinstance(column, NumericColumn):
            numbers = _numeric(series, column, dtype, exempt)
            return numbers if exempt else _hinted(numbers, series, column, told=bool(declared)), column
    except SchemaError as problem:
        remark = _problem(name, problem, "not usable")
        kind = remark.kind if remark.kind in _SHOWN else "not usable"
        return ColumnLook(name, kind, dtype, missing=_absent(series.isna()), remarks=(remark,)), None
    if exempt and not column.levels and series.notna().any():
        return ColumnLook(name, "identifier", dtype, missing=_absent(series.isna())), None
    levels = _categorical(series, column, dtype)
    return levels if exempt else _hinted(levels, series, column, told=bool(declared)), column


def _hinted(look: ColumnLook, series: pd.Series[Any], column: Column, *, told: bool) -> ColumnLook:
    """Add what is odd about a column that is modelled, codes and spikes by their values."""
    hints = tuple(hints_of(series, column))
    if not told and is_scale(column):
        scale = Hint(scale_remark(column.name), scale_remark(column.name, column.levels))
        hints = tuple(scale if hint.remark.kind == "rare levels" else hint for hint in hints)
    odd, well = (tuple(hint.to_holder for hint in hints if hint.note is note) for note in (False, True))
    keys = () if told else key_remarks(series, column)
    return replace(look, remarks=(*odd, *look.remarks, *keys), notes=well)


def _absent(absent: pd.Series[Any]) -> Shares:
    """Share of rows without a value."""
    return _absent_share(int(absent.sum()) / max(len(absent), 1))


def _absent_share(share: float) -> Shares:
    """Write a share of rows without a value; nothing for none."""
    return (("NA", share),) if share else ()


def _numeric(series: pd.Series[Any], column: NumericColumn, dtype: str, exempt: bool) -> ColumnLook:
    """Look at numbers, dates or durations."""
    plain = plain_numbers(series, column)
    labels = (*(label for _, label in column.missing), *(f"{spike:g}" for spike in column.spikes))
    absent, *own = _shares_of(series, column)
    shares = tuple(zip(labels, own, strict=True))
    codes, spikes = shares[: len(column.missing)], shares[len(column.missing) :]
    kind = "numeric"
    if column.unit != "number":
        kind = "duration" if is_dated(series.dtype) == "m" else "date"
    ends = () if exempt else _of_extremes(plain, column)
    return ColumnLook(
        column.name,
        kind,
        dtype,
        missing=(*_absent_share(absent), *codes),
        spikes=spikes,
        decimals=column.decimals,
        step=column.step,
        offset=column.offset,
        remarks=ends,
    )


def _shares_of(series: pd.Series[Any], column: NumericColumn) -> list[float]:
    """Count missing cells, codes and then spikes, as shares of all rows."""
    counts = np.zeros(1 + len(column.specials))
    for start in range(0, len(series), BLOCK):
        numbers = to_numbers(series.iloc[start : start + BLOCK], column)
        absent = np.count_nonzero(np.isnan(numbers))
        counts += [absent, *(np.count_nonzero(numbers == value) for value in column.specials)]
    return [float(count) / max(len(series), 1) for count in counts]


def _of_extremes(plain: FloatArray, column: NumericColumn) -> tuple[Remark, ...]:
    """Say what a fit without a guarantee will do to the ends; the array is one's own."""
    return extremes_remarked(without(plain, column.spikes), column)


def _categorical(series: pd.Series[Any], column: CategoricalColumn, dtype: str) -> ColumnLook:
    """Look at levels."""
    size = max(len(series), 1)
    kinds = missing_kinds(pd.DataFrame({column.name: series}), Schema((column,))).get(column.name)
    counts = pd.Series(dtype=int) if kinds is None else kinds.value_counts(sort=False)
    codes = tuple((str(label), int(count) / size) for label, count in counts.items())
    absent = series.isna() if kinds is None else series.isna() & kinds.isna()
    return ColumnLook(
        column.name,
        _kind(column),
        dtype,
        levels=len(column.levels),
        missing=(*_absent(absent), *codes),
    )


def _kind(column: CategoricalColumn) -> str:
    """Name the kind of a categorical column."""
    if not column.levels:
        return "empty"
    if column.ordered:
        return "ordered"
    return "binary" if len(column.levels) == 2 else "categorical"
