"""What was guessed of a column and may well be wrong, said with how to say otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp._typing import FloatArray
from pysynthdp.infer.keys import key_remarks, plain_numbers
from pysynthdp.infer.numbers import FEW_VALUES
from pysynthdp.infer.written import texts_of, written_as
from pysynthdp.remarks import Remark
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn
from pysynthdp.words import Setting, Words

__all__ = ["guess_remarks"]

_ROWS: Final = 30


def guess_remarks(series: pd.Series[Any], column: Column) -> tuple[Remark, ...]:
    """Say what a column was taken for where that may be wrong: keys, texts of numbers, few numbers.

    Parameters
    ----------
    series : Series
        The column's cells.
    column : NumericColumn or CategoricalColumn
        What they were taken for; of a declared one nothing is said, and nothing should be asked of one that
        the user has said something of.

    Returns
    -------
    tuple of Remark
        The same from ``look`` and from ``fit``.

    Notes
    -----
    Privacy: reads real rows; quotes no value. Not to be asked under a guarantee.
    """
    if column.declared:
        return ()
    if isinstance(column, CategoricalColumn):
        return (*_of_texts(series, column), *key_remarks(series, column))
    return (*_of_few(series, column), *key_remarks(series, column))


def _of_texts(series: pd.Series[Any], column: CategoricalColumn) -> Iterator[Remark]:
    """Numbers and dates among texts."""
    plain = isinstance(series.dtype, pd.CategoricalDtype) or not column.levels
    written = None if plain else written_as(texts_of(series[series.isin(column.levels)]), column.name)
    if written is not None:
        what = Words("{what}, and is drawn as levels", what=written.what)
        yield Remark(column.name, written.kind, what, written.remedy)


def _of_few(series: pd.Series[Any], column: NumericColumn) -> Iterator[Remark]:
    """Few different numbers that are not taken as levels, because some have few records."""
    numbers = plain_numbers(series, column)
    if numbers is None or len(numbers) < _ROWS:
        return
    distinct = np.unique(numbers)
    if not 2 < len(distinct) <= FEW_VALUES or not _has_holes(distinct, column):
        return
    yield Remark(
        column.name,
        "few values",
        "has few different values, some of few records, and is drawn as a number: copies have others too",
        Words("{levels} draws these values only", levels=Setting("method", {column.name: "polyreg"})),
    )


def _has_holes(distinct: FloatArray, column: NumericColumn) -> bool:
    """Whether drawn numbers may well lie between the values: counts leave no room, and bands do."""
    if column.decimals is None:
        return True
    grid = column.step if column.step is not None else 10.0**-column.decimals
    return bool((distinct[-1] - distinct[0]) / grid + 1 >= 2 * len(distinct))
