"""The parts of every column as arrays, split once from the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, BoolArray, IntArray
from pysynthdp.base.errors import PysynthdpError, SchemaError, together
from pysynthdp.base.remarks import FEWEST
from pysynthdp.base.scratch import Scratch, ScratchFile, stored
from pysynthdp.base.words import Facts, Words
from pysynthdp.curator.owners import fewest_rows, owners_with
from pysynthdp.curator.present import Present, tally
from pysynthdp.design.coerce import coerce, coerced_numbers
from pysynthdp.design.encode import Scale
from pysynthdp.design.groups import LevelGroups, group_levels
from pysynthdp.design.parts import Part, absent_columns, kinds_of, split
from pysynthdp.design.rows import Rows
from pysynthdp.design.universes import APART, OUTSIDE, condition_of, limited, with_universes
from pysynthdp.design.values import LARGEST
from pysynthdp.schema import Column, NumericColumn, Schema

__all__ = [
    "DISTANCE",
    "SCALE_ROWS",
    "Key",
    "PartTable",
    "Totals",
    "groups_of",
    "level_counts",
    "present_rows",
    "scales_of",
    "split_rows",
]

T = TypeVar("T")

Key = tuple[str, str]
DISTANCE = "distance"  # role of what is fitted in the place of a number that is counted from another one
Totals: TypeAlias = tuple[AnyArray, ...]
SCALE_ROWS = 20_000  # rows of the systematic sample that sets centres and widths
_CHANGED: Key = ("", "changed")  # beside the parts of columns
LEAST = 100  # values that the sample must have; else all are taken


@dataclass(frozen=True, slots=True, repr=False)
class PartTable:
    """Parts by key, each an array over all rows.

    Parameters
    ----------
    n : int
        Number of rows.
    parts : mapping (column, role) -> array (n,)
        Kind and level codes int16, numbers float64.
    changed : array (n,), optional
        Rows with a cell that was made to fit; None where every cell had to fit.
    absent : mapping column -> array (n,)
        Where fits do without a value although there is one by its kind: see ``few_records.py``.
    scratch : Scratch, optional
        Where all these arrays lie on disk; in memory without it.
    owner : array of int (n,), optional
        Whose row each is, where units have several: what rests on few counts these.

    Notes
    -----
    On disk an array is mapped, so read-only, or encrypted (:class:`pysynthdp.base.sealed.SealedArray`): rows
    are read when a slice of them is taken.
    """

    n: int
    parts: Mapping[Key, AnyArray]
    changed: BoolArray | None = None
    absent: Mapping[str, BoolArray] = field(default_factory=dict)
    scratch: Scratch | None = None
    owner: IntArray | None = None
    here: ClassVar[bool] = True

    @property
    def fewest(self) -> int:
        """Rows that rest on five records, whichever rows these are."""
        return FEWEST if self.owner is None else fewest_rows(self.owner)

    def kind(self, part: Part) -> AnyArray | None:
        """Kinds of the rows of a partial value, not 0 where it is absent; None where it is always there."""
        if not part.partial:
            return None
        return self.absent.get(part.column, self.parts.get((part.column, "kind")))

    def absence(self, part: Part) -> AnyArray | None:
        """Mark the rows, not 0, that a step which draws a part does without; None where it takes all.

        A value is absent there; of kinds, the column is not asked.
        """
        if not part.gated:
            return self.kind(part)
        return self.parts.get((part.column, APART if part.partial else OUTSIDE))

    def target(self, part: Part) -> AnyArray:
        """Values of a part that a step is fitted to: those of the column, or distances from another one."""
        far = self.parts.get((part.column, DISTANCE)) if part.numeric else None
        return self.parts[part.key] if far is None else far

    def with_parts(self, parts: Iterable[tuple[Key, AnyArray]]) -> PartTable:
        """Put other arrays in the place of some parts; each goes to where the others lie before the next."""
        own = {key: stored(values, self.scratch) for key, values in parts}
        return replace(self, parts={**self.parts, **own})

    def total(self, of_table: Callable[[PartTable], Totals]) -> Totals:
        """Add arrays up over all rows: over each piece of them, where they lie in several."""
        return of_table(self)

    def count(self, of_table: Callable[[PartTable], AnyArray]) -> int:
        """Count the rows of which a function says so."""
        return int(self.total(lambda piece: (np.asarray(np.count_nonzero(of_table(piece))),))[0])

    def folded(self, of_table: Callable[[PartTable], T], merge: Callable[[T, T], T]) -> T:  # noqa: ARG002
        """Merge what a function gives of each piece, in row order; neighbours first."""
        return of_table(self)

    def changed_by(self, of_table: Callable[[PartTable], PartTable]) -> PartTable:
        """Change rows, each for itself, where they lie."""
        return of_table(self)

    def present(self, part: Part, scale: Scale | None = None) -> Present:
        """Give the values of a part where it is there."""
        return Present(self.target(part), self.absence(part), scale)

    def sample(self, part: Part, every: int) -> tuple[AnyArray, AnyArray | None]:
        """Give a part, and the kinds of a partial one, in every s-th row."""
        kind = self.absence(part)
        return self.parts[part.key][::every], None if kind is None else kind[::every]

    def to_learn(self, every: int) -> PartTable:  # noqa: ARG002 -- all rows are here
        """Give the rows of which those who take every s-th one may learn."""
        return self

    def after(self, first: int) -> PartTable:
        """Give the rows from one on."""
        parts = {key: values[first:] for key, values in self.parts.items()}
        absent = {name: there[first:] for name, there in self.absent.items()}
        changed = None if self.changed is None else self.changed[first:]
        owner = None if self.owner is None else self.owner[first:]
        return PartTable(max(self.n - first, 0), parts, changed, absent, self.scratch, owner)


def split_rows(rows: Rows, schema: Schema, *, tolerant: bool = False) -> PartTable:
    """Split all rows into parts; ``tolerant`` makes every cell fit, as a formal guarantee asks.

    Raises
    ------
    SchemaError
        If a column is absent or a cell does not fit, or if blocks have other types or another number of rows
        than the rows say; no value is quoted. Where every cell is made to fit, types are not compared: they
        may hang on a cell.
    """
    absent = absent_columns(rows.columns, schema)
    if absent:
        raise together(absent)
    wrong: set[str] = set()
    scratch: Scratch | None = getattr(rows, "scratch", None)
    files: dict[Key, ScratchFile] = {}
    types = {} if tolerant else dict(rows.dtypes)
    asked = _asked(schema)

    def of_block(block: pd.DataFrame) -> _Blocks:
        parts: dict[Key, list[AnyArray]] = {}
        changed = np.zeros(len(block), dtype=np.bool_)
        held: dict[Key, AnyArray] = {}
        for column in schema:
            cells = block[column.name]
            if types and cells.dtype != types[column.name]:
                raise _unlike(column.name)
            own, moved = _split_coerced(cells, column) if tolerant else _split_or(wrong, cells, column)
            changed |= moved
            for key, array in own.items():
                if column.name in asked:
                    held[key] = array
                else:
                    parts[key] = [_put(array, key, files, scratch)]
        for key, array in with_universes(held, schema, len(block)).items() if held else ():
            parts[key] = [_put(array, key, files, scratch)]
        marks = _put(changed, _CHANGED, files, scratch) if tolerant else changed[:0]
        return parts, [marks], len(block)

    lists, marks, n = rows.fold(of_block, _merged)
    _refuse(rows, schema, wrong)
    if n != rows.n_rows:
        raise SchemaError(
            "the blocks of these rows have another number of rows together than their n_rows",
            kind="table",
            remedy="count in n_rows the rows of all pieces, and give each piece once in fold",
        )
    joined = {key: _joined(arrays, key, files) for key, arrays in lists.items()}
    changed = _joined(marks, _CHANGED, files) if tolerant else None
    return PartTable(rows.n_rows, joined, changed, scratch=scratch, owner=getattr(rows, "owner", None))


def _put(array: AnyArray, key: Key, files: dict[Key, ScratchFile], scratch: Scratch | None) -> AnyArray:
    """Write a piece of a part behind those before, and leave nothing in memory; without scratch keep it."""
    if scratch is None:
        return array
    files[key] = files.get(key) or scratch.file()
    files[key].write(array)
    return array[:0].copy()


def _joined(pieces: Sequence[AnyArray], key: Key, files: Mapping[Key, ScratchFile]) -> AnyArray:
    """Put the pieces of a part together."""
    if key in files:
        return files[key].array()
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _asked(schema: Schema) -> frozenset[str]:
    """Columns that are not asked in every row, and those of their conditions."""
    columns = limited(schema)
    given = (name for column in columns for name in condition_of(column, schema).columns)
    return frozenset((*(column.name for column in columns), *given))


def _unlike(name: str) -> SchemaError:
    """Say that a block has a column in another type than the whole table."""
    return SchemaError(
        Words("{name} has another type in a block of these rows than in their dtypes", name=name),
        column=name,
        kind="table",
        remedy="give all pieces one type before they become rows; a categorical needs every level in each",
    )


def _split_or(
    wrong: set[str], cells: pd.Series[Any], column: Column
) -> tuple[dict[Key, AnyArray], BoolArray | bool]:
    """Split a column of a block and change no cell; note one that does not fit, to be told later."""
    try:
        return {} if column.name in wrong else split(cells, column), False
    except SchemaError:
        wrong.add(column.name)
        return {}, False


def _refuse(rows: Rows, schema: Schema, wrong: set[str]) -> None:
    """Say of each column that does not fit why, counted over all rows."""
    faults: list[PysynthdpError] = []
    for column in (each for each in schema if each.name in wrong):
        try:
            split(rows.take([column.name])[column.name], column)
        except SchemaError as fault:
            faults.append(fault)
    if faults:
        raise together(faults)


_Blocks: TypeAlias = tuple[dict[Key, list[AnyArray]], list[BoolArray], int]


def _merged(left: _Blocks, right: _Blocks) -> _Blocks:
    """Put the parts of two runs of blocks one after the other."""
    parts = {key: left[0][key] + right[0].get(key, []) for key in left[0]}
    return parts, left[1] + right[1], left[2] + right[2]


def _split_coerced(series: pd.Series[Any], column: Column) -> tuple[dict[Key, AnyArray], BoolArray]:
    """Split a column of which every cell was made to fit; dates are counted by then."""
    if isinstance(column, NumericColumn) and len(kinds_of(column)) == 1 and not column.may_be_missing:
        numbers, changed = coerced_numbers(series, column)
        return {(column.name, "value"): numbers}, changed  # in bounds, so nothing to check
    counted = replace(column, unit="number") if isinstance(column, NumericColumn) else column
    fitting, changed = coerce(series, column)
    return split(fitting, counted), changed


def scales_of(
    table: PartTable, parts: tuple[Part, ...], schema: Schema, *, public: bool = False
) -> dict[Key, Scale]:
    """Centre and width of each numeric part: its declared bounds, else moments of a systematic sample.

    ``public`` takes declared bounds to -1 and 1, so that a guaranteed model may rely on it.
    """
    if public:
        return {part.key: _public_scale(schema[part.column]) for part in parts if part.numeric}
    return {part.key: _scale(table, part, schema) for part in parts if part.numeric}


def groups_of(table: PartTable, parts: tuple[Part, ...]) -> dict[Key, LevelGroups]:
    """Put the levels of each categorical part together that fewer than five records have.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee.
    """
    levels = [part for part in parts if not part.numeric]
    counted = table.total(lambda piece: tuple(record_counts(piece, part) for part in levels))
    found = {
        part.key: group_levels(counts, ordered=part.ordered)
        for part, counts in zip(levels, counted, strict=True)
    }
    return {key: groups for key, groups in found.items() if groups is not None}


def level_counts(table: PartTable, part: Part) -> IntArray:
    """Count the rows that have each level of a part, where it is there."""
    return tally(table.parts[part.key], len(part.levels), table.absence(part))


def record_counts(table: PartTable, part: Part) -> IntArray:
    """Count the records that have each level of a part: rows, or units where these have several."""
    if table.owner is None:
        return level_counts(table, part)
    return owners_with(table.parts[part.key], len(part.levels), table.owner, table.absence(part))


def present_rows(table: PartTable, part: Part) -> int:
    """Count the rows where a part is there."""
    if not part.partial and not part.gated:
        return table.n
    return int(table.total(lambda piece: (np.array(piece.present(part).n),))[0])


def _public_scale(column: Column) -> Scale:
    """Take a declared range to [-1, 1]."""
    if not isinstance(column, NumericColumn) or column.lower is None or column.upper is None:
        raise SchemaError(
            Words("{name} has no declared bounds", name=column.name),
            column=column.name,
            kind="bounds",
            remedy=Words("give {facts}", facts=Facts(lower=..., upper=...)),
        )
    return Scale((column.lower + column.upper) / 2, (column.upper - column.lower) / 2)


def _scale(table: PartTable, part: Part, schema: Schema) -> Scale:
    """Scale one numeric part."""
    column = schema[part.column]
    if isinstance(column, NumericColumn) and column.lower is not None and column.upper is not None:
        return Scale((column.lower + column.upper) / 2, (column.upper - column.lower) / 4 or 1.0)
    values = _sampled(table, part)
    if len(values) < LEAST:  # of a sample so small, centre and width would be a few records' own
        values = table.present(part).every(1)
    if not len(values):
        return Scale()
    width = float(np.std(values))
    if width == 0.0 and 0.0 < np.abs(values).max() < 1 / LARGEST:
        what = Words("{name} holds numbers too small to square", name=part.column)
        raise SchemaError(what, column=part.column, kind="too small", remedy="give it in another unit")
    return Scale(float(np.mean(values)), width if width > 0 and np.isfinite(width) else 1.0)


def _sampled(table: PartTable, part: Part) -> AnyArray:
    """Values of a part in every s-th row, where it is there."""
    values, kind = table.sample(part, max(1, table.n // SCALE_ROWS))
    return values if kind is None else values[kind == 0]
