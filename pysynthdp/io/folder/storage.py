"""How a column of a copy lies in a file: its Arrow type there, and the pandas type that it gets back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from pysynthdp.base.arrays import IntArray
from pysynthdp.base.errors import ReleaseError
from pysynthdp.design.tagged import holds_tags
from pysynthdp.io.folder.stored_kinds import kinds_from_arrow, kinds_to_arrow
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema
from pysynthdp.schema.plain_values import (
    arrow_type_from_plain,
    arrow_type_to_plain,
    dtype_from_plain,
    dtype_to_plain,
    value_from_plain,
    value_to_plain,
)

__all__ = ["Stored", "storage_of"]


@dataclass(frozen=True, slots=True)
class Stored:
    """One column's storage.

    Parameters
    ----------
    name : str
        Column name.
    dtype : pandas dtype
        What the copies have; a categorical without categories takes what the file holds.
    arrow : pyarrow.DataType
        Of the values in the file.
    labels : tuple, optional
        Values that Arrow cannot hold in one column (mixed types, intervals); the file has their texts.
    tags : tuple of str
        Missing kinds: NaN with a letter in its payload in Parquet, ``.a`` in a CSV.
    """

    name: str
    dtype: Any
    arrow: pa.DataType
    labels: tuple[Any, ...] | None = None
    tags: tuple[str, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """Write plain JSON values."""
        labels = None if self.labels is None else [value_to_plain(label) for label in self.labels]
        kinds = {"kinds": list(self.tags)} if self.tags else {}
        return {
            "name": self.name,
            "dtype": dtype_to_plain(self.dtype),
            "stored": arrow_type_to_plain(self.arrow),
            "labels": labels,
            **kinds,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Stored:
        """Read what :meth:`to_plain` wrote."""
        labels = plain["labels"]
        return cls(
            plain["name"],
            dtype_from_plain(plain["dtype"]),
            arrow_type_from_plain(plain["stored"]),
            None if labels is None else tuple(value_from_plain(label) for label in labels),
            tuple(plain.get("kinds", ())),
        )

    @property
    def texts(self) -> list[str]:
        """What the file has for each label."""
        return [str(label) for label in self.labels or ()]

    def field(self, *, dictionary: bool) -> pa.Field:
        """Describe the column for a file; a categorical is a dictionary where the format has one.

        A format without dictionaries is of texts, and has a missing kind as one.
        """
        if self.tags and not dictionary:
            return pa.field(self.name, pa.string())
        if dictionary and isinstance(self.dtype, pd.CategoricalDtype):
            return pa.field(self.name, pa.dictionary(pa.int32(), self.arrow, bool(self.dtype.ordered)))
        return pa.field(self.name, self.arrow)

    def to_arrow(self, series: pd.Series[Any], *, dictionary: bool) -> pa.Array:
        """Write a column's values.

        Raises
        ------
        ReleaseError
            If a value is of another type than the column's first block; no value is quoted.
        """
        try:
            return self._written(series, dictionary)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            raise ReleaseError(
                f"{self.name} holds values that cannot be written as {self.arrow}; "
                "convert the column to one type",
                kind="type",
            ) from error

    def _written(self, series: pd.Series[Any], dictionary: bool) -> pa.Array:
        """Write by dictionary, by label or as the values are."""
        if self.tags:
            return kinds_to_arrow(series.to_numpy(), texts=not dictionary)
        if isinstance(series.dtype, pd.CategoricalDtype):
            words = self.texts if self.labels is not None else series.cat.categories
            coded = _dictionary(series.cat.codes.to_numpy(), pa.array(words, type=self.arrow))
            wanted = self.field(dictionary=dictionary).type
            return coded.cast(wanted) if dictionary else coded.dictionary_decode()
        if self.labels is not None:
            return _dictionary(self._codes(series), pa.array(self.texts, type=self.arrow)).dictionary_decode()
        if pd.api.types.is_object_dtype(series.dtype):
            return pa.array(series, type=self.arrow, from_pandas=True)
        values = pa.array(series, from_pandas=True)
        return values if values.type == self.arrow else values.cast(self.arrow)

    def _codes(self, series: pd.Series[Any]) -> IntArray:
        """Position of each value among the labels; -1 where missing."""
        codes = _index(self.labels or ()).get_indexer(_index(series))
        if bool(((codes < 0) & series.notna().to_numpy()).any()):
            raise ReleaseError(
                f"{self.name} holds values that are not among its levels",
                kind="type",
                remedy="add them to the schema",
            )
        return np.asarray(codes, dtype=np.int64)

    def from_arrow(self, values: pa.ChunkedArray) -> pd.Series[Any]:
        """Read a column back in its own dtype.

        Raises
        ------
        ReleaseError
            If the file holds what the column's type cannot; the file was changed after it was written.
        """
        try:
            if isinstance(self.dtype, pd.CategoricalDtype):
                return self._category(values)
            if self.tags:
                return pd.Series(kinds_from_arrow(values))
            if pd.api.types.is_object_dtype(self.dtype):
                return pd.Series(self._objects(values), dtype=object)
            if hasattr(self.dtype, "__from_arrow__"):
                return pd.Series(self.dtype.__from_arrow__(values))
            return pd.Series(np.array(values.to_numpy())).astype(self.dtype)
        except ReleaseError:  # a ValueError too
            raise
        except (pa.ArrowException, ValueError, TypeError) as error:
            raise ReleaseError(
                f"{self.name} is not as it was written, {self.dtype}",
                kind="type",
                remedy="take the folder anew from its source",
            ) from error

    def _category(self, values: pa.ChunkedArray) -> pd.Series[Any]:
        """Read a categorical with all its categories, by the dictionary's few words."""
        codes, words = _split_dictionary(values)
        target = self.dtype.categories
        if target is None:
            return pd.Series(pd.Index(words).take(codes) if words else [], dtype="category")
        if self.labels is not None:
            positions = _index(self.texts).get_indexer(_index(words))
        else:
            positions = target.get_indexer(pd.Index(words, dtype=target.dtype))
        if (positions < 0).any():
            raise ReleaseError(
                f"{self.name} holds values that are not among its categories",
                kind="type",
                remedy="was it edited? take the folder anew from its source",
            )
        table = np.append(np.asarray(positions, dtype=np.int64), -1)
        return pd.Series(pd.Categorical.from_codes(table[codes], dtype=self.dtype))

    def _objects(self, values: pa.ChunkedArray) -> list[Any]:
        """Read Python objects, labels by their texts."""
        plain = values.to_pylist()
        if self.labels is None:
            return list(plain)
        by_text = dict(zip(self.texts, self.labels, strict=True))
        return [None if text is None else by_text[text] for text in plain]


def _index(values: Any) -> pd.Index[Any]:
    """Index values as the Python objects that they are."""
    index: pd.Index[Any] = pd.Index(values, dtype="object")
    return index


def _dictionary(codes: Any, words: pa.Array) -> pa.DictionaryArray:
    """Pair codes with words; -1 is missing."""
    whole = np.asarray(codes, dtype=np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(whole, mask=whole < 0), words)


def _split_dictionary(values: pa.ChunkedArray) -> tuple[IntArray, list[Any]]:
    """Split into codes (-1 where missing) and words."""
    coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    if not coded.num_chunks:
        return np.empty(0, dtype=np.int64), []
    whole = coded.unify_dictionaries().combine_chunks()
    array = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(codes, dtype=np.int64), array.dictionary.to_pylist()


def storage_of(
    frame: pd.DataFrame, schema: Schema, *, dated: bool, changing: Collection[str] = ()
) -> tuple[Stored, ...]:
    """Say how the columns of a copy lie in a file.

    Parameters
    ----------
    frame : DataFrame
        The first rows.
    schema : Schema
        Tells the types of object columns, whose first rows may all be missing.
    dated : bool
        Whether whole days are written as dates without a time (text formats).
    changing : collection of str
        Categorical columns whose categories differ from block to block.

    Raises
    ------
    ReleaseError
        If two levels of a column with mixed types read alike, such as 1 and "1"; rename one.
    """
    return tuple(_storage(frame[name], schema, dated, name in changing) for name in frame.columns)


def _storage(series: pd.Series[Any], schema: Schema, dated: bool, changing: bool) -> Stored:
    """Say how one column lies in a file."""
    name, dtype = str(series.name), series.dtype
    column = dict(zip(schema.names, schema, strict=True)).get(name)
    if isinstance(dtype, pd.CategoricalDtype):
        arrow = _common_type(dtype.categories)
        shown = pd.CategoricalDtype(None, ordered=dtype.ordered) if changing else dtype
        return _labelled(name, shown, arrow, tuple(dtype.categories))
    if pd.api.types.is_object_dtype(dtype):
        if isinstance(column, CategoricalColumn) and column.levels:
            values = (*column.levels, *column.specials)
            return _labelled(name, dtype, _common_type(_index(values)), values)
        return Stored(name, dtype, _object_type(series, column))
    if column is not None and column.tags and holds_tags(series):
        return Stored(name, dtype, pa.float64(), tags=column.tags)
    day = dated and isinstance(column, NumericColumn) and column.unit == "day"
    if day and isinstance(dtype, np.dtype) and dtype.kind == "M":
        return Stored(name, dtype, pa.date32())
    try:
        arrow = pa.array(series.iloc[:0], from_pandas=True).type
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise ReleaseError(
            f"{name} has type {dtype}, which no file of a release holds", kind="type", remedy="convert it"
        ) from error
    return Stored(name, dtype, pa.float32() if arrow == pa.float16() else arrow)


def _labelled(name: str, dtype: Any, arrow: pa.DataType | None, values: tuple[Any, ...]) -> Stored:
    """Keep values as they are where they share a type, else their texts, which must differ."""
    if arrow is not None:
        return Stored(name, dtype, arrow)
    if len({str(value) for value in values}) < len(values):
        raise ReleaseError(
            f"{name} has two levels of different types that read alike",
            kind="type",
            remedy="rename one of them",
        )
    return Stored(name, dtype, pa.string(), values)


def _common_type(values: pd.Index[Any]) -> pa.DataType | None:
    """Find the Arrow type that holds all values; None when there is none."""
    if isinstance(values, pd.IntervalIndex | pd.PeriodIndex):
        return None
    if len({type(value) for value in values} & {bool, np.bool_}) and values.dtype == object:
        return None if len({type(value) for value in values}) > 1 else pa.bool_()
    try:
        arrow = pa.array(values).type
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return None
    return pa.string() if pa.types.is_null(arrow) else arrow


def _object_type(series: pd.Series[Any], column: Any) -> pa.DataType:
    """Infer an object column's Arrow type from its first rows, else from the schema."""
    try:
        arrow = pa.array(series, from_pandas=True).type
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise ReleaseError(
            f"{series.name} mixes types", kind="type", remedy="convert it to text, numbers or times"
        ) from error
    if pa.types.is_nested(arrow):  # its name would tell keys, which are values
        raise ReleaseError(
            f"{series.name} holds lists or mappings, which no file of a release does",
            kind="type",
            remedy="convert it to text",
        )
    if not pa.types.is_null(arrow):
        return arrow
    if not isinstance(column, NumericColumn):
        return pa.string()
    return pa.date32() if column.unit == "day" else pa.float64()
