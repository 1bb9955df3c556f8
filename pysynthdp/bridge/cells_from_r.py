"""An R data frame read cell by cell as a schema declares it: what a formal guarantee asks of a carrier.

What a column becomes follows from its class, its storage and its declaration, never from a cell: else one
record would decide how all others are read. A cell that cannot be read is missing, alone.

=========================  ==============================================================================
R column                   what one cell means
=========================  ==============================================================================
Date, POSIXct, difftime    a number in the declared unit, fractions and years beyond 9999 too; R's own number
                           (days, seconds, the difftime's units) where the column is declared as plain numbers
factor                     the text of its level; missing for NA, an NA level and a damaged code
integer64                  its whole number
logical, integer, raw,     the number; haven's labels and tags are left aside
double, complex
character                  the text
=========================  ==============================================================================
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray
from pysynthdp.bridge import times
from pysynthdp.bridge.codec import NA_INTEGER, RValue, RVector, character
from pysynthdp.bridge.columns_from_r import checked_column, is_a_list
from pysynthdp.bridge.facts import ColumnFacts, FrameFacts, RFrame, column_keys
from pysynthdp.bridge.frame_shape import checked_frame, rows_of
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema

__all__ = ["cells_from_r", "declared_facts"]

_NUMBERS: Final = ("double", "integer")
_NA_INTEGER64: Final = np.iinfo(np.int64).min


def cells_from_r(
    value: RValue, schema: Schema | None, drop: Collection[str] = (), ids: Collection[str] = ()
) -> RFrame:
    """Read an R data frame for a formal guarantee.

    Parameters
    ----------
    value : RVector
        A list of class ``data.frame``.
    schema : Schema, optional
        What is declared; a column that it does not name, or that is dropped, is not read and stands empty.
    drop : collection of str
        Columns that are left out later.
    ids : collection of str
        Columns that say whose a row is, or which of its unit: read with all their digits, though no schema
        names them.

    Returns
    -------
    RFrame
        The frame, of types that follow from classes and declarations alone, and R's attributes.

    Raises
    ------
    BridgeError
        If it is no data frame, or a column is a list, a table, a matrix, POSIXlt, S4 or a function.

    Notes
    -----
    Privacy: reads every cell by itself; no cell raises, warns, or changes a type.

    Examples
    --------
    >>> from pysynthdp.bridge.codec import named_list
    >>> days = RVector("double", np.array([8123.0, np.inf]), {"class": character(["Date"])})
    >>> table = named_list({"born": days}, {"class": character(["data.frame"])})
    >>> cells_from_r(table, Schema([NumericColumn("born", unit="day")])).frame["born"].tolist()
    [8123.0, inf]
    """
    vector, names = checked_frame(value)
    columns = [
        item if name in drop else checked_column(item, name)
        for name, item in zip(names, vector.items, strict=True)
    ]
    rows = rows_of(vector)
    known = {} if schema is None else {column.name: column for column in schema if column.name not in drop}
    held, facts = {}, {}
    for at, (key, item) in enumerate(zip(column_keys(names), columns, strict=True)):
        if key[0] in ids:
            held[at] = _ids(item, key[0])
        else:
            held[at] = _cells(item, known[key[0]]) if key[0] in known else np.full(rows, np.nan)
        facts[key] = _facts(item)
    frame = pd.DataFrame(held, index=pd.RangeIndex(rows))
    frame.columns = pd.Index(names, dtype=object)
    kept = {key: item for key, item in vector.attributes.items() if key not in ("names", "row.names")}
    return RFrame(frame, FrameFacts(facts, kept))


def declared_facts(schema: Schema, frame: FrameFacts) -> FrameFacts:
    """Give the R classes of copies that a schema declares: days are Dates; all else follows from the types.

    Notes
    -----
    Privacy: the class of the frame, and public facts; a column's class in R may have changed for one cell.
    """
    days = ColumnFacts("double", "day", {"class": character(["Date"])})
    columns = {
        (column.name, 0): days
        for column in schema
        if isinstance(column, NumericColumn) and column.unit == "day"
    }
    return FrameFacts(columns, frame.attributes)


def _facts(value: RValue) -> ColumnFacts:
    """Keep a column's attributes, for warnings that follow from them alone."""
    if not isinstance(value, RVector):
        return ColumnFacts("list")
    attributes = {key: item for key, item in value.attributes.items() if key not in ("names", "levels")}
    return ColumnFacts(value.kind, "plain", attributes)


def _cells(vector: Any, declared: Column) -> Any:
    """Give the cells of a declared column."""
    if vector.kind == "list":
        raise is_a_list(declared.name)
    if "factor" in vector.classes and vector.kind == "integer":
        return _factor(vector)
    if vector.kind == "character":
        codes, texts = pd.factorize(vector.array)
        return pd.Categorical.from_codes(codes, categories=pd.Index(texts, dtype=object))
    numbers = _numbers(vector)
    if vector.kind not in _NUMBERS or not times.is_time(vector):
        return numbers
    if isinstance(declared, NumericColumn):
        return times.in_unit(vector, numbers, declared.unit)
    return _times(vector, numbers)


def _ids(vector: Any, name: str) -> Any:
    """Give the cells of a column of ids; those of 64 bits keep all digits."""
    if vector.kind == "double" and "integer64" in vector.classes:
        whole = vector.array.view(np.int64)
        return pd.arrays.IntegerArray(whole.copy(), whole == _NA_INTEGER64)
    return _cells(vector, CategoricalColumn(name, ()))


def _numbers(vector: RVector) -> AnyArray:
    """Give R's numbers as doubles; complex ones stay complex."""
    if vector.kind == "double" and "integer64" in vector.classes:
        return _doubles(vector.array.view(np.int64), _NA_INTEGER64)
    if vector.kind in ("double", "complex"):
        return vector.array
    return _doubles(vector.array, NA_INTEGER)


def _doubles(values: AnyArray, na: int) -> FloatArray:
    """Give integers as doubles, NaN where they are missing."""
    return np.where(values == na, np.nan, values.astype(np.float64))


def _factor(vector: RVector) -> pd.Categorical:
    """Give the texts of a factor; a level that stands twice is one."""
    stored = vector.attributes.get("levels")
    levels = stored.texts if isinstance(stored, RVector) and stored.kind == "character" else ()
    known = [text for text in levels if text is not None]
    places: dict[str | None, int] = {text: at for at, text in enumerate(dict.fromkeys(known))}
    table = np.array([*(places.get(text, -1) for text in levels), -1], dtype=np.int64)
    codes = vector.array.astype(np.int64) - 1
    codes = np.where((codes >= 0) & (codes < len(levels)), codes, len(levels))
    return pd.Categorical.from_codes(table[codes], categories=pd.Index(list(places), dtype=object))


def _times(vector: RVector, numbers: FloatArray) -> pd.Series[Any]:
    """Give times for declared levels: what pandas can hold as a time, each by itself, else R's number."""
    codes, values = pd.factorize(numbers)
    cells = np.empty(len(values) + 1, dtype=object)
    cells[:-1] = [times.stamp_of(vector, float(value)) for value in values]
    cells[-1] = None
    return pd.Series(cells[codes], dtype=object)
