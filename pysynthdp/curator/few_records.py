"""What fewer than five records have goes into no copy: values, and ways of being without one.

A model of so few records repeats them: their mean is the value of one, or gives one away to the others. So
they are taken out of a column before anything is fitted without a formal guarantee, and the column is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, IntArray
from pysynthdp.base.remarks import FEWEST, Remark
from pysynthdp.base.scratch import stored
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.owners import owners_of_marked, owners_with
from pysynthdp.curator.present import Present, tally
from pysynthdp.curator.table import Key, PartTable
from pysynthdp.design.parts import digits_of, kinds_of
from pysynthdp.schema import Column, NumericColumn, Schema

__all__ = ["FEW", "ColumnParts", "without_few", "without_few_of"]

FEW = "few records"
FINE = "fine values"  # of which copies have none
_FILL = "recode them before the fit to have it otherwise"
_COARSE = 2  # digits that a person would miss


@dataclass(frozen=True, slots=True, repr=False)
class ColumnParts:
    """One column's parts, without what few records have.

    Parameters
    ----------
    parts : mapping (column, role) -> array (n,)
        As they were split, or changed.
    absent : array (n,), optional
        Where a value is left out of its model although the kind of these rows says that there is one.
    remarks : tuple of Remark
        What was changed.
    """

    parts: Mapping[Key, AnyArray]
    absent: BoolArray | None = None
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class _Kinds:
    """The kinds of a column by their positions: value, missing, codes, spikes; -1 where there is none."""

    names: tuple[str, ...]
    value: int
    missing: int
    spikes: range

    @classmethod
    def of(cls, column: Column) -> _Kinds:
        """Read them off a column's facts."""
        names = kinds_of(column)
        value = 0 if names[:1] == ("value",) else -1
        spikes = len(column.spikes) if isinstance(column, NumericColumn) else 0
        missing = value + 1 if column.may_be_missing else -1
        return cls(names, value, missing, range(len(names) - spikes, len(names)))

    def said(self, kind: int) -> str:
        """Say what records of a kind have; labels are the user's own words."""
        if kind == self.value:
            return "a value besides its spikes" if len(self.spikes) else "a value"
        if kind == self.missing:
            return "no value"
        return f"the code {self.names[kind]!r}"


def without_few(
    table: PartTable, schema: Schema, *, quiet: Iterable[str] = ()
) -> tuple[PartTable, tuple[Remark, ...]]:
    """Take out of every column what fewer than five records have.

    Parameters
    ----------
    table : PartTable
        Parts of all rows.
    schema : Schema
        Of the columns that have parts.
    quiet : iterable of str
        Columns of which nothing is said: their real values are released.

    Returns
    -------
    PartTable and tuple of Remark
        The table to fit, and what there is to say.

    Notes
    -----
    Privacy: reads real rows; for fits without a guarantee only. Remarks quote no value.
    """
    silent = set(quiet)
    counts = table.total(lambda piece: tuple(_counted(piece.parts, column, piece.owner) for column in schema))
    found = [_change(column, own) for column, own in zip(schema, counts, strict=True)]
    own = [(column, change) for column, change in zip(schema, found, strict=True) if change is not None]
    after = table.changed_by(lambda piece: _without(piece, own)) if own else table
    left = after.total(lambda t: tuple(_written(t.parts, c, t.absent.get(c.name), t.owner) for c in schema))
    remarks: list[Remark] = []
    for column, change, written in zip(schema, found, left, strict=True):
        if column.name not in silent:
            remarks += (*(change.remarks if change else ()), *_of_values(column, written))
    return after, tuple(remarks)


def _without(table: PartTable, changes: Iterable[tuple[Column, _Change]]) -> PartTable:
    """Change the columns of a table, or of a piece of one."""
    parts, absent = dict(table.parts), dict(table.absent)
    for column, change in changes:
        own, out = change.of(table.parts, column)
        parts.update({key: stored(values, table.scratch) for key, values in own.items()})
        absent |= {} if out is None else {column.name: stored(out, table.scratch)}
    return replace(table, parts=parts, absent=absent)


def without_few_of(parts: Mapping[Key, AnyArray], column: Column) -> ColumnParts:
    """Take out of one column what fewer than five records have.

    Declared spikes of few records become ordinary numbers. A value, a code or no value that few records have
    counts as missing; as the commonest code where the column has no missing values; and where all of these
    together are few, or there are none, as the commonest kind, while the records' values stay out of the fit.

    Notes
    -----
    Privacy: reads real rows. No kind of one to four records remains, and no value part of so few.
    """
    change = _change(column, _counted(parts, column))
    absent = None
    if change is not None:
        own, absent = change.of(parts, column)
        parts = {**parts, **own}
    left = _of_values(column, _written(parts, column, absent))
    return ColumnParts(parts, absent, (*(change.remarks if change else ()), *left))


def _counted(parts: Mapping[Key, AnyArray], column: Column, owner: IntArray | None = None) -> IntArray:
    """Count the records of each kind; none where the column has no kinds."""
    kind = parts.get((column.name, "kind"))
    if kind is None:
        return np.zeros(0, dtype=np.int64)
    size = len(kinds_of(column))
    return tally(kind, size) if owner is None else owners_with(kind, size, owner)


@dataclass(frozen=True, slots=True)
class _Change:
    """What is done to one column, decided by its counts alone.

    Parameters
    ----------
    spikes : tuple of int
        Kinds of spikes that become ordinary numbers.
    rare : tuple of int
        Kinds that few records have.
    into : int
        Kind that these records get.
    out : bool
        Whether their values stay out of the fit.
    remarks : tuple of Remark
        What is to be said.
    """

    spikes: tuple[int, ...]
    rare: tuple[int, ...]
    into: int
    out: bool
    remarks: tuple[Remark, ...]

    def of(
        self, parts: Mapping[Key, AnyArray], column: Column
    ) -> tuple[dict[Key, AnyArray], BoolArray | None]:
        """Change the parts of some rows; return the new ones, and where a value is left out."""
        new, kind = dict[Key, AnyArray](), parts[column.name, "kind"]
        if self.spikes and isinstance(column, NumericColumn):
            new, kind = _as_numbers(parts, column, self.spikes)
        if not self.rare:
            return new, None
        moved = np.isin(kind, self.rare)
        kind = np.where(moved, self.into, kind).astype(np.int16)
        return {**new, (column.name, "kind"): kind}, (kind != 0) | moved if self.out else None


def _change(column: Column, counts: IntArray) -> _Change | None:
    """Decide by the rows of each kind; None where nothing is to be done."""
    kinds, counts = _Kinds.of(column), counts.copy()
    spikes = [spike for spike in kinds.spikes if len(counts) and 0 < counts[spike] < FEWEST]
    remarks = [_spike_remark(column.name, len(spikes))] if spikes else []
    for spike in spikes:
        counts[[0, spike]] += [counts[spike], -counts[spike]]
    rare = [each for each in range(len(counts)) if each not in kinds.spikes and 0 < counts[each] < FEWEST]
    into, out = 0, False
    if rare:
        target, common = _target(counts, rare, kinds), _commonest(counts, rare)
        into, out = (common if target < 0 else target), target < 0 and common == kinds.value
        remarks.append(_kind_remark(column.name, kinds, rare, target, common))
    return _Change(tuple(spikes), tuple(rare), into, out, tuple(remarks)) if remarks else None


def _written(
    parts: Mapping[Key, AnyArray], column: Column, absent: BoolArray | None, owner: IntArray | None = None
) -> IntArray:
    """Count the records with a value, and those whose value is written more finely than the copies'."""
    kind = parts.get((column.name, "kind")) if absent is None else absent
    if owner is not None:
        return _written_by_owners(parts[column.name, "value"], column, kind, owner)
    return np.array([_present(parts, column, kind), _finer(parts, column, kind)])


def _written_by_owners(values: AnyArray, column: Column, kind: AnyArray | None, owner: IntArray) -> IntArray:
    """Count as :func:`_written` does the units, all their rows at once."""
    there = np.ones(len(owner), dtype=np.bool_) if kind is None else np.asarray(kind[:]) == 0
    finer, digits = np.zeros(len(owner), dtype=np.bool_), _digits(column)
    if digits is not None:
        numbers = np.where(there, np.asarray(values[:]), 0.0)
        finer = np.abs(np.round(numbers, digits) - numbers) > 1e-9 * np.maximum(np.abs(numbers), 1.0)
    return np.array([owners_of_marked(there, owner), owners_of_marked(finer & there, owner)])


def _of_values(column: Column, counts: IntArray) -> tuple[Remark, ...]:
    """Say what few records have of values."""
    many, finer = counts.tolist()
    return (*_one_average(column, many, _Kinds.of(column)), *_fine(column, finer))


def _commonest(counts: IntArray, rare: list[int]) -> int:
    """Find the kind with the most records among those that have enough."""
    enough = counts.copy()
    enough[rare] = 0
    return int(np.argmax(enough))


def _as_numbers(
    parts: Mapping[Key, AnyArray], column: NumericColumn, rare: Iterable[int]
) -> tuple[dict[Key, AnyArray], AnyArray]:
    """Write spikes as the numbers that they are."""
    old = parts[column.name, "kind"]
    kind, numbers = old.copy(), parts[column.name, "value"].copy()
    first = len(kinds_of(column)) - len(column.spikes)
    for spike in rare:
        numbers[old == spike] = float(column.spikes[spike - first])
        kind[old == spike] = 0
    return {(column.name, "kind"): kind, (column.name, "value"): numbers}, kind


def _target(counts: IntArray, rare: list[int], kinds: _Kinds) -> int:
    """Choose the kind that takes the rare ones; -1 where no kind without a value has enough records."""
    total = int(counts[rare].sum())
    codes = [each for each in range(len(counts)) if each not in (kinds.value, kinds.missing, *kinds.spikes)]
    codes.sort(key=lambda each: -int(counts[each]))
    missing = [kinds.missing] if kinds.missing >= 0 and counts[kinds.missing] else []
    for each in (*missing, *codes[:1]):
        if total + (0 if each in rare else int(counts[each])) >= FEWEST:
            return each
    return -1


def _spike_remark(name: str, many: int) -> Remark:
    """Say that spikes are drawn as numbers."""
    spikes = "its declared spike" if many == 1 else f"each of {many} declared spikes"
    what = f"fewer than five records have {spikes}, so it is drawn as any other number"
    none = Setting("spikes", {name: []})
    return Remark(name, FEW, what, Words("{none} declares none", none=none))


def _kind_remark(name: str, kinds: _Kinds, rare: list[int], target: int, common: int) -> Remark:
    """Say what few records have, what became of it, and the ways out."""
    if rare == [kinds.missing] and target < 0 and common == kinds.value:
        return Remark(
            name, FEW, "fewer than five records have no value, and copies have one everywhere", _FILL
        )
    said = [kinds.said(each) for each in rare if each != target]
    listed, each = " and ".join(said), " each" if len(said) > 1 else ""
    if target == kinds.missing and target >= 0:
        fate = "so these records count as missing"
    elif target >= 0:
        fate = f"so these records count as {kinds.names[target]!r}"
    elif common == kinds.value:
        fate = "so every record of a copy has a value"
    else:
        fate = "so no copy has that"
    return Remark(
        name,
        FEW,
        f"fewer than five records{each} have {listed}, {fate}",
        Words(
            "recode it before the fit so that more records share it; {drop} leaves the column out, and "
            "{keep} releases its REAL values",
            drop=Setting("drop", [name]),
            keep=Setting("keep", [name]),
        ),
    )


def _one_average(column: Column, many: int, kinds: _Kinds) -> tuple[Remark, ...]:
    """Say that a number's few values have no spread in the copies."""
    few = kinds.value == 0 and FEWEST <= many < 2 * FEWEST
    if not few or not isinstance(column, NumericColumn):
        return ()
    what = f"fewer than ten records have {kinds.said(0)}, and the default methods draw their one average"
    remedy = Words(
        "{norm} gives them a spread, {drop} leaves them out",
        norm=Setting("method", {column.name: "norm"}),
        drop=Setting("drop", [column.name]),
    )
    return (Remark(column.name, FEW, what, remedy),)


def _present(parts: Mapping[Key, AnyArray], column: Column, kind: AnyArray | None) -> int:
    """Count the rows with a value."""
    if kind is not None:
        return int(tally(kind, 1)[0])
    return len(parts[column.name, "value"])


def _digits(column: Column) -> int | None:
    """Digits that copies are written with, where a person would miss more of them."""
    digits = digits_of(column) if isinstance(column, NumericColumn) and not column.declared else None
    return None if digits is None or digits > _COARSE else digits


def _finer(parts: Mapping[Key, AnyArray], column: Column, kind: AnyArray | None) -> int:
    """Count values that are written more finely than the copies', up to enough of them."""
    finer, digits = 0, _digits(column)
    if digits is None:
        return 0
    for there in Present(parts[column.name, "value"], kind).blocks():
        noise = 1e-9 * np.maximum(np.abs(there), 1.0)
        finer += int(np.count_nonzero(np.abs(np.round(there, digits) - there) > noise))
        if finer >= FEWEST:
            break
    return finer


def _fine(column: Column, finer: int) -> tuple[Remark, ...]:
    """Say that few records' values are written more finely than the copies'."""
    digits = digits_of(column) if isinstance(column, NumericColumn) else None
    if digits is None or not isinstance(column, NumericColumn) or not 0 < finer < FEWEST:
        return ()
    what = f"fewer than five records have {_finely(digits, column.unit)}, so copies have none"
    more = Setting("decimals", {column.name: 0 if digits < 0 else digits + 1})
    remedy = Words("{more} asks for them", more=more)
    if column.unit != "number":
        remedy = Words("round the column to {unit}s before the fit", unit=column.unit)
    return (Remark(column.name, FINE, what, remedy),)


def _finely(digits: int, unit: str) -> str:
    """Say how values are written that are finer than the copies'."""
    if unit != "number":
        return f"a finer time than {unit}s"
    if digits < 0:
        return f"values between multiples of {10**-digits:,}"
    return f"more than {digits} decimal{'' if digits == 1 else 's'}" if digits else "decimals"
