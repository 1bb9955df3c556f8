"""Columns of table, copies and people never used, as common codes: equal values have equal codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray, IntArray
from pysynthdp.base.errors import SchemaError

__all__ = ["Coded", "Files", "combined", "numbers_of"]

_ROOM: Final = 2**62  # codes stay below it


@dataclass(frozen=True, slots=True)
class Coded:
    """One column, or several together, as codes 0, 1, ... that all files share.

    Parameters
    ----------
    table : array (n,)
        Codes of the confidential rows.
    copies : tuple of array (k,)
        Of each copy.
    fresh : array (f,)
        Of people who were never used; of length 0 without them.
    size : int
        Number of codes.
    missing : int
        The code of a missing value; -1 where nothing is missing.
    """

    table: IntArray
    copies: tuple[IntArray, ...]
    fresh: IntArray
    size: int
    missing: int = -1

    @property
    def files(self) -> tuple[IntArray, ...]:
        """Table, copies and fresh people, in this order."""
        return (self.table, *self.copies, self.fresh)

    def like(self, files: Sequence[IntArray], size: int, missing: int = -1) -> Coded:
        """Give other codes of the same rows."""
        return Coded(files[0], tuple(files[1:-1]), files[-1], size, missing)


@dataclass(frozen=True, slots=True)
class Files:
    """What is held against one another: a table, copies, and people who were never used.

    Parameters
    ----------
    table : DataFrame
        The rows that the copies were made from.
    copies : tuple
        Data frames, or copies that stay in their files.
    fresh : DataFrame or None
        Rows that had no part in the copies.
    """

    table: pd.DataFrame
    copies: tuple[Any, ...]
    fresh: pd.DataFrame | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that all have, in the order of the table."""
        others = [set(map(str, each.columns)) for each in (*self.copies, *self._fresh())]
        return tuple(name for name in map(str, self.table.columns) if all(name in each for each in others))

    def _fresh(self) -> tuple[pd.DataFrame, ...]:
        """Fresh people, if there are any."""
        return () if self.fresh is None else (self.fresh,)

    def columns(self, name: str) -> list[pd.Series]:
        """One column of the table, of each copy and of fresh people (empty without them)."""
        fresh = self.table[name].iloc[:0] if self.fresh is None else self.fresh[name]
        return [self.table[name], *(_column(copy, name) for copy in self.copies), fresh]

    def coded(self, name: str, ngroups: int = 0) -> Coded:
        """Code a column; a number by groups, cut at quantiles of the table and all copies, if asked for.

        Parameters
        ----------
        name : str
            A column.
        ngroups : int
            Groups of a number; 0 takes every value for itself.

        Returns
        -------
        Coded
            Missing values have a code of their own.

        Raises
        ------
        SchemaError
            When the files do not agree on whether it holds numbers.
        """
        columns = self.columns(name)
        parts = _grouped(name, columns, ngroups) if ngroups else _factored(name, columns)
        size = 1 + max((int(part.max(initial=-1)) for part in parts), default=-1)
        if not any(bool((part < 0).any()) for part in parts):
            return Coded(parts[0], tuple(parts[1:-1]), parts[-1], size)
        files = [np.where(part < 0, size, part) for part in parts]
        return Coded(files[0], tuple(files[1:-1]), files[-1], size + 1, size)

    def with_copies(self, copies: Sequence[Any]) -> Files:
        """Give the same people with other copies."""
        return Files(self.table, tuple(copies), self.fresh)


def _column(copy: Any, name: str) -> pd.Series:
    """Read one column of a copy, wherever it lies."""
    taken = copy.read([name])[name] if hasattr(copy, "read") else copy[name]
    return taken if isinstance(taken, pd.Series) else pd.Series(taken)


def _factored(name: str, columns: Sequence[pd.Series]) -> list[IntArray]:
    """Code values by their union over all files; -1 where missing."""
    pairs = [_levels(column) for column in columns]
    levels = _alike(name, [each for _, each in pairs])
    place = pd.factorize(np.concatenate(levels))[0].astype(np.int64)
    ends = np.cumsum([0, *map(len, levels)])
    files = []
    for (codes, _), start, stop in zip(pairs, ends[:-1], ends[1:], strict=True):
        own = np.append(place[start:stop], -1)  # code -1 stands last
        files.append(own[codes])
    return files


def _levels(column: pd.Series) -> tuple[IntArray, AnyArray]:
    """Codes of one file, and the values that they stand for."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = np.asarray(column.cat.codes, dtype=np.int64)
        return codes, np.asarray(column.cat.categories)
    places, values = pd.factorize(column)
    return np.asarray(places, dtype=np.int64), np.asarray(values)


def _alike(name: str, levels: Sequence[AnyArray]) -> list[AnyArray]:
    """Bring the values of all files to one type: numbers, dates or texts."""
    kinds = {_kind(each) for each in levels if len(each)}
    if kinds <= {"number"}:
        return [np.asarray(each, dtype=np.float64) + 0.0 for each in levels]
    if kinds == {"date"}:
        return [np.asarray(each, dtype="datetime64[ns]") for each in levels]
    if "number" not in kinds:
        return [np.asarray([str(value) for value in each], dtype=object) for each in levels]
    numbers = [np.asarray(pd.to_numeric(pd.Series(each), errors="coerce"), np.float64) for each in levels]
    if any(bool(np.isnan(each).any()) for each in numbers):
        what = f"{name} holds numbers in one of table and copies, and texts in another"
        raise SchemaError(what, column=name, kind="type", remedy="read both in the same way")
    return list(numbers)


def _kind(values: AnyArray) -> str:
    """Tell numbers, dates and texts apart."""
    if values.dtype.kind in "biuf":
        return "number"
    if values.dtype.kind == "M":
        return "date"
    kind = pd.api.types.infer_dtype(values, skipna=True)
    return (
        "number" if kind in ("integer", "floating", "mixed-integer-float", "boolean", "decimal") else "text"
    )


def numbers_of(name: str, columns: Sequence[pd.Series]) -> list[FloatArray] | None:
    """Values of a column as numbers, NaN where missing; None where it holds none.

    Parameters
    ----------
    name : str
        The column.
    columns : sequence of Series
        It in each file.

    Returns
    -------
    list of array, or None
        One array a file.
    """
    pairs = [_levels(column) for column in columns]
    if not {_kind(each) for _, each in pairs if len(each)} <= {"number", "date"}:
        return None
    levels = _alike(name, [each for _, each in pairs])
    whole = [each.astype(np.int64).astype(np.float64) if each.dtype.kind == "M" else each for each in levels]
    return [np.append(each, np.nan)[codes] for (codes, _), each in zip(pairs, whole, strict=True)]


def _grouped(name: str, columns: Sequence[pd.Series], ngroups: int) -> list[IntArray]:
    """Cut a number as synthpop does: at quantiles of table and copies; equal widths if too few are left."""
    values = numbers_of(name, columns)
    if values is None:
        what = f"ngroups names {name}, which holds no numbers"
        raise SchemaError(what, column=name, kind="setting", remedy="leave it out there")
    known = np.concatenate([each[~np.isnan(each)] for each in values[:-1]])
    if not known.size:
        return [np.full(each.size, -1, dtype=np.int64) for each in values]
    breaks = np.unique(np.quantile(known, np.linspace(0, 1, ngroups + 1)))
    if np.unique(_cut(values[0][~np.isnan(values[0])], breaks)).size < min(3, ngroups):
        breaks = np.linspace(known.min(), known.max(), ngroups + 1)
    return [_cut(each, breaks) for each in values]


def _cut(values: FloatArray, breaks: FloatArray) -> IntArray:
    """Give the number of each value's interval [a, b), the last one closed; -1 where missing."""
    place = np.clip(np.searchsorted(breaks, values, side="right") - 1, 0, max(breaks.size - 2, 0))
    return np.where(np.isnan(values), -1, place).astype(np.int64)


def combined(parts: Sequence[Coded]) -> Coded:
    """Code several columns together; combinations that nobody has get no code.

    Parameters
    ----------
    parts : sequence of Coded
        At least one.

    Returns
    -------
    Coded
        Without a code for missing values, which are part of a combination.
    """
    files, size = [each.astype(np.int64) for each in parts[0].files], max(parts[0].size, 1)
    for part in parts[1:]:
        if size * max(part.size, 1) >= _ROOM:
            files, size = _squeezed(files)
        files = [mine * part.size + theirs for mine, theirs in zip(files, part.files, strict=True)]
        size *= max(part.size, 1)
    files, size = _squeezed(files)
    return parts[0].like(files, size)


def _squeezed(files: Sequence[IntArray]) -> tuple[list[IntArray], int]:
    """Keep the codes that occur, from 0 on."""
    codes, values = pd.factorize(np.concatenate(files))
    ends = np.cumsum([each.size for each in files])[:-1]
    return [np.asarray(each, dtype=np.int64) for each in np.split(codes, ends)], len(values)
