"""Whole records of the table in the copies: exact matches of unique ones, and rare values together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.remarks import FEWEST
from pysynthdp.evaluate.risk.coding import Coded, Files, numbers_of
from pysynthdp.evaluate.sides import agreement_within, places_in_units

__all__ = [
    "Matched",
    "Matches",
    "Shared",
    "exact_matches",
    "rank_matches",
    "row_by_row",
    "shared_rare",
]

_Hash = NDArray[np.uint64]
_BLOCK: Final = 65_536  # rows of a copy at a time
_SEVERAL: Final = 2  # rare values in common from which on all columns are compared
_ALL: Final = 100.0
_GROUPS: Final = 5  # of a number that is kept real
_MANY: Final = 12  # distinct numbers that are cut into groups


@dataclass(frozen=True, slots=True)
class Matches:
    """Rows of one file that equal a record that is alone in the table.

    Parameters
    ----------
    of : str
        Which copies.
    rows, of_rows : int
        Rows that equal a unique record; rows of the file.
    found, unique : int
        Unique records of the table, and those of them that are found.
    real : float
        Per cent of the file that is the table: the rows that both have, each as often as it stands in both.
    """

    of: str
    rows: int
    of_rows: int
    found: int
    unique: int
    real: float


@dataclass(frozen=True, slots=True)
class Matched:
    """Exact matches of every copy, and what people never used have.

    Parameters
    ----------
    columns : tuple of str
        Columns that were compared.
    left_out : tuple of str
        Columns whose values the copies never repeat.
    matches : tuple of Matches
        Of each copy, then of any.
    expected : float
        Share of rows that equal a unique record if a file were a fresh sample: each real record held against
        all others (the estimate of Good and Turing, 2 f2 / n).
    twice : int
        Records that two rows have, from which it is computed.
    fresh : tuple of (hits, people)
        Of people who were never used and are alone, how many are in a copy.
    """

    columns: tuple[str, ...]
    left_out: tuple[str, ...]
    matches: tuple[Matches, ...]
    expected: float
    twice: int
    fresh: tuple[int, int]


def _mixed(codes: IntArray, place: int) -> _Hash:
    """Spread codes of one column over 64 bits (splitmix64)."""
    x = codes.astype(np.uint64) + np.uint64((place * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) % 2**64)
    for shift, times in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(times)
    return np.asarray(x ^ (x >> np.uint64(31)))


def _never_repeated(column: Coded) -> bool:
    """Whether all of the table differ, and no copy has any of these values."""
    held = np.bincount(column.table, minlength=column.size)
    if held.max(initial=0) > 1 or not column.copies:
        return False
    return not any(bool(held[copy].any()) for copy in column.copies)


def exact_matches(files: Files, names: Sequence[str]) -> Matched | None:
    """Find unique records of the table in the copies.

    Parameters
    ----------
    files : Files
        Table, copies and perhaps fresh people.
    names : sequence of str
        Columns to compare.

    Returns
    -------
    Matched or None
        None where the copies repeat no value of any column.
    """
    prints: list[_Hash] | None = None
    used: list[str] = []
    for place, name in enumerate(names):
        column = files.coded(name)
        if _never_repeated(column):
            continue
        parts = [_mixed(codes, place) for codes in column.files]
        prints = parts if prints is None else [a + b for a, b in zip(prints, parts, strict=True)]
        used.append(name)
    if prints is None:
        return None
    return _matched(prints, tuple(used), tuple(name for name in names if name not in used))


def _matched(prints: Sequence[_Hash], used: tuple[str, ...], left_out: tuple[str, ...]) -> Matched:
    """Compare files whose rows are numbers."""
    values, counts = np.unique(prints[0], return_counts=True)
    unique, everywhere = counts == 1, np.zeros(values.size, dtype=bool)
    matches = []
    for at, copy in enumerate(prints[1:-1], start=1):
        place, hit = _placed(values, copy)
        once = hit & unique[place]
        found = np.zeros(values.size, dtype=bool)
        found[place[once]] = True
        everywhere |= found
        both = np.minimum(np.bincount(place[hit], minlength=values.size), counts).sum()
        real = float(_ALL * both / max(copy.size, 1))
        row = (int(once.sum()), copy.size, int(found.sum()), int(unique.sum()))
        matches.append(Matches(f"copy {at}", *row, real=real))
    total = (sum(each.rows for each in matches), sum(each.of_rows for each in matches))
    whole = (int(everywhere.sum()), int(unique.sum()))
    most = max((each.real for each in matches), default=0.0)
    twice = int((counts == 2).sum())
    return Matched(
        columns=used,
        left_out=left_out,
        matches=(*matches, Matches("any copy", *total, *whole, real=most)),
        expected=2 * twice / max(prints[0].size, 1),
        twice=twice,
        fresh=_fresh(values, prints),
    )


def _placed(values: _Hash, rows: _Hash) -> tuple[IntArray, BoolArray]:
    """Where each row stands among sorted values, and whether it does."""
    place = np.minimum(np.searchsorted(values, rows), max(values.size - 1, 0))
    return place, values[place] == rows


def _fresh(values: _Hash, prints: Sequence[_Hash]) -> tuple[int, int]:
    """Of fresh people whom the table does not hold, count those who are in a copy."""
    fresh = prints[-1]
    if not fresh.size:
        return 0, 0
    alone = fresh[~_placed(values, fresh)[1]]
    found = np.zeros(alone.size, dtype=bool)
    for copy in prints[1:-1]:
        found |= np.isin(alone, copy)
    return int(found.sum()), alone.size


def rank_matches(
    files: Files, names: Sequence[str], rng: np.random.Generator
) -> tuple[Matched, float] | None:
    """Find records by the ranks of their numbers, as a file whose columns were shifted or stretched has them.

    Parameters
    ----------
    files : Files
        Table, and copies of as many rows.
    names : sequence of str
        Columns to compare.
    rng : Generator
        Splits the table.

    Returns
    -------
    (Matched, float) or None
        The matches, and what chance does: the largest share of them between two random halves of the table,
        of rows that equal a record as they are, since values of few kinds have the same ranks in a fresh
        sample, and of rows whose numbers are taken one rank higher, which no record is meant by. None without
        a number among the columns.
    """
    plain = Files(files.table, files.copies)
    whole: list[_Hash] = []
    half = rng.permutation(len(files.table))
    halves = (half[: half.size // 2], half[half.size // 2 : 2 * (half.size // 2)])
    split: list[_Hash] = []
    higher: list[_Hash] = []
    numeric = moved = False
    for place, name in enumerate(names):
        values = numbers_of(name, plain.columns(name))
        numeric |= values is not None
        codes = (
            [_ranked(each) for each in values[:-1]] if values is not None else plain.coded(name).files[:-1]
        )
        parts = [_ranked(values[0][rows]) if values is not None else codes[0][rows] for rows in halves]
        whole = _added(whole, codes, place)
        many = values is not None and int(codes[0].max(initial=0)) >= _MANY
        moved |= many
        higher = _added(higher, [codes[0], *(each + many for each in codes[1:])], place)
        split = _added(split, parts, place)
    if not numeric:
        return None
    empty = np.empty(0, dtype=np.uint64)
    found = _matched([*whole, empty], tuple(names), ())
    chance = [_matched([*split, empty], tuple(names), ()).matches[0]]
    chance += _matched([*higher, empty], tuple(names), ()).matches if moved else ()
    return found, max(found.expected, *(each.rows / max(each.of_rows, 1) for each in chance))


def _added(prints: list[_Hash], codes: Sequence[IntArray], place: int) -> list[_Hash]:
    """Add a column to prints."""
    parts = [_mixed(each, place) for each in codes]
    return [a + b for a, b in zip(prints, parts, strict=True)] if prints else parts


def _ranked(values: NDArray[np.float64]) -> IntArray:
    """Dense ranks, missing values after all others."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def row_by_row(
    files: Files, names: Sequence[str], *, kept: Sequence[str] = (), unit: str | None = None
) -> pd.DataFrame:
    """Compare columns row by row, as they agree where real columns were put among synthetic ones.

    Parameters
    ----------
    files : Files
        Table and copies of as many rows.
    names : sequence of str
        Columns to compare.
    kept : sequence of str
        Columns kept real, which other columns go with.
    unit : str, optional
        Column of the units that rows belong to, in which they have an order.

    Returns
    -------
    DataFrame
        Per column: per cent of rows that agree in the copy that agrees most, per cent by chance, given what
        is kept real and the places in units, and whether the table is sorted by it, so that agreement tells
        nothing.
    """
    rows = []
    groups = _stands_as_in_table(files, kept, unit)
    rng = np.random.default_rng(0)
    for name in names:
        column = files.coded(name)
        here = np.bincount(column.table, minlength=column.size) / max(column.table.size, 1)
        agree, chance = 0.0, 0.0
        for copy, own in zip(column.copies, groups, strict=True):
            there = np.bincount(copy, minlength=column.size) / max(copy.size, 1)
            share = float((copy == column.table).mean())
            free = max(float(here @ there), agreement_within(column.table, copy, own, rng))
            agree, chance = max((agree, chance), (share, free))
        rows.append((name, _ALL * agree, _ALL * chance, _is_sorted(files.table[name])))
    return pd.DataFrame(rows, columns=["column", "agree", "chance", "sorted"])


def _stands_as_in_table(files: Files, kept: Sequence[str], unit: str | None) -> list[list[IntArray]]:
    """Group rows by cells of columns kept real, numbers in five groups, and by places in units."""
    coded = [files.coded(name, _GROUPS if _is_number(files, name) else 0) for name in kept]
    groups = [[each.table for each in coded] for _ in files.copies]
    if unit is not None and unit in files.names:
        real, *others = files.columns(unit)[:-1]
        for own, copy in zip(groups, others, strict=True):
            own.append(places_in_units(real, copy))
    return groups


def _is_number(files: Files, name: str) -> bool:
    """Whether a column holds numbers of many values."""
    return numbers_of(name, files.columns(name)) is not None and files.table[name].nunique() > _MANY


def _is_sorted(column: pd.Series) -> bool:
    """Whether the table is sorted by it."""
    codes = pd.Series(pd.factorize(column, sort=False)[0])
    plain = column if column.dtype.kind in "iufM" else codes
    return bool(plain.is_monotonic_increasing or plain.is_monotonic_decreasing)


@dataclass(frozen=True, slots=True)
class Shared:
    """Rows that have several rare values of one and the same record.

    Parameters
    ----------
    of : str
        Which file: ``"copy 1"``, ``"fresh"``, or ``"table"``, whose records are held against one another.
    of_rows : int
        Its rows.
    rows : array (g,)
        Rows that have at least 1, 2, ... rare values of one record.
    records : array (g,)
        Records of whom one row has as many.
    told : array (records,)
        For each record with whom a row shares two rare values, what the row tells most of it: the sum of
        -log(share of the value) over all columns in which both agree; the largest first.
    """

    of: str
    of_rows: int
    rows: IntArray
    records: IntArray
    told: FloatArray


def shared_rare(files: Files, names: Sequence[str]) -> list[Shared]:
    """Count rows with rare values of one record: a value is rare that fewer than five records have.

    Parameters
    ----------
    files : Files
        Table, copies, perhaps fresh people.
    names : sequence of str
        Columns to compare.

    Returns
    -------
    list of Shared
        Of the table against itself, of each copy, of fresh people if there are any.

    Notes
    -----
    Privacy: reads real rows. Memory: blocks of 65,536 rows, and the rare values of one pair of files.
    """
    out = [_shared("table", files.with_copies([files.table]), names, itself=True)]
    for at, copy in enumerate(files.copies, start=1):
        out.append(_shared(f"copy {at}", files.with_copies([copy]), names))
    if files.fresh is not None:
        out.append(_shared("fresh", files.with_copies([files.fresh]), names))
    return out


def _shared(of: str, pair: Files, names: Sequence[str], *, itself: bool = False) -> Shared:
    """Count for one file."""
    plain = Files(pair.table, pair.copies)
    n, most = len(pair.table), len(names)
    columns = [_Agreeing.of(plain.coded(name)) for name in names]
    donors = [each for each in (_donors(column, itself) for column in columns) if each is not None]
    told, needed = np.zeros(n), min(_SEVERAL, len(donors))
    rows = np.zeros(most + 1, dtype=np.int64)
    best = np.zeros(n, dtype=np.int64)
    size = len(pair.copies[0])
    for start in range(0, size, _BLOCK):
        stop = min(start + _BLOCK, size)
        pairs = [_pairs(each, start, stop, n, itself) for each in donors]
        codes, many = np.unique(np.concatenate([*pairs, np.empty(0, np.int64)]), return_counts=True)
        row, record = codes // n - start, codes % n
        several = many >= max(needed, 1)
        said = sum(
            (each.told(codes[several] // n, record[several]) for each in columns), np.zeros(several.sum())
        )
        np.maximum.at(told, record[several], said)
        np.maximum.at(best, record, many)
        top = np.zeros(stop - start, dtype=np.int64)
        np.maximum.at(top, row, many)
        rows += np.bincount(top, minlength=most + 1)
    reached = np.cumsum(rows[::-1])[::-1][1:]
    records = np.cumsum(np.bincount(best, minlength=most + 1)[::-1])[::-1][1:]
    return Shared(of, size, reached, records, np.sort(told[told > 0])[::-1])


@dataclass(frozen=True, slots=True)
class _Donors:
    """Rows of a file whose value is rare in the table, and the records that have each such value."""

    rows: IntArray
    codes: IntArray
    order: NDArray[np.int32]
    first: IntArray
    many: IntArray


@dataclass(frozen=True, slots=True)
class _Agreeing:
    """A column of the table and of one file, in little room, and what agreement on each value tells."""

    table: NDArray[np.int32]
    file: NDArray[np.int32]
    held: IntArray
    missing: int

    @classmethod
    def of(cls, column: Coded) -> _Agreeing:
        """Take a coded column."""
        held = np.bincount(column.table, minlength=column.size)
        small = [each.astype(np.int32) for each in (column.table, column.copies[0])]
        return cls(small[0], small[1], held, column.missing)

    def told(self, row: IntArray, record: IntArray) -> FloatArray:
        """Give -log(share) where a row of the file agrees with a record, else 0."""
        code = self.table[record]
        share = self.held[code] / max(self.table.size, 1)
        return np.where(self.file[row] == code, -np.log(share), 0.0)


def _donors(column: _Agreeing, itself: bool) -> _Donors | None:
    """Find the rare values of a column, and who has them; None where none is repeated."""
    held = column.held
    rare = (held > int(itself)) & (held < FEWEST + int(itself))
    if column.missing >= 0:
        rare[column.missing] = False
    rows = np.flatnonzero(rare[column.file])
    if not rows.size:
        return None
    order = np.argsort(column.table, kind="stable").astype(np.int32)
    first = np.concatenate([[0], np.cumsum(held)[:-1]])
    return _Donors(rows, column.file[rows].astype(np.int64), order, first, held)


def _pairs(donors: _Donors, start: int, stop: int, n: int, itself: bool) -> IntArray:
    """Give a number to the pairs (row, record) that have a rare value in common, for some rows."""
    here = slice(*np.searchsorted(donors.rows, [start, stop]))
    rows, codes = donors.rows[here], donors.codes[here]
    many = donors.many[codes]
    row = np.repeat(rows, many)
    offset = np.arange(row.size) - np.repeat(np.cumsum(many) - many, many)
    record = donors.order[np.repeat(donors.first[codes], many) + offset].astype(np.int64)
    if itself:
        other = row != record
        row, record = row[other], record[other]
    return np.asarray(row * n + record, dtype=np.int64)
