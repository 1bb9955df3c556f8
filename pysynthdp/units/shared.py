"""Which columns the rows of a unit share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import IntArray
from pysynthdp.base.errors import together
from pysynthdp.base.remarks import Remark, few
from pysynthdp.base.words import Setting, Words
from pysynthdp.schema.units import Units
from pysynthdp.units.faults import apart, no_column, of_rows
from pysynthdp.units.places import Placed

__all__ = ["check_of_units", "shared_columns"]

_NEARLY = 0.02  # of the units of several rows: a column that differs in fewer was meant to be shared


def shared_columns(
    frame: pd.DataFrame, placed: Placed, units: Units, among: Collection[str], *, also: Collection[str] = ()
) -> tuple[tuple[str, ...], tuple[Remark, ...]]:
    """Name the columns that are the same in all rows of a unit, and say which nearly are.

    Parameters
    ----------
    frame : DataFrame
        The confidential table.
    placed : Placed
        Its rows by unit.
    units : Units
        With the shared columns, where they are declared.
    among : collection of str
        Columns that may be shared.
    also : collection of str
        Columns that are known to be, whether they are declared or not.

    Raises
    ------
    SchemaError
        If a declared one differs inside a unit, or is no column.

    Notes
    -----
    Privacy: reads real rows.
    """
    several = int((placed.sizes > 1).sum())
    if units.shared is not None:
        for name in units.shared:
            if name not in frame.columns:
                raise no_column("shared", name, map(str, frame.columns))
            odd = _differing(frame[name], placed)
            if len(odd):
                raise apart(name, units.id, len(odd))
        return tuple(name for name in frame.columns if name in units.shared or name in also), ()
    odd_units = {name: len(_differing(frame[name], placed)) for name in frame.columns if name in among}
    shared = tuple(name for name, odd in odd_units.items() if not odd)
    nearly = {name: odd for name, odd in odd_units.items() if 0 < odd <= _NEARLY * several}
    return shared, tuple(_remark(name, odd, units) for name, odd in nearly.items())


def check_of_units(
    frame: pd.DataFrame, placed: Placed, units: Units, asked: Mapping[str, Sequence[str]]
) -> None:
    """Refuse columns that a setting takes as those of units, and that rows of a unit do not share.

    Parameters
    ----------
    frame : DataFrame
        The confidential table.
    placed : Placed
        Its rows by unit.
    units : Units
        Whose ids these are.
    asked : mapping setting -> columns
        What is of units by each setting.

    Raises
    ------
    SchemaError
        Names all such columns, why they must be shared, and what to do.

    Notes
    -----
    Privacy: reads real rows; counts units, vaguely below ten.
    """
    faults = []
    for what, names in asked.items():
        for name in (each for each in names if each in frame.columns):
            odd = _differing(frame[name], placed)
            if len(odd) or name == units.by:
                faults.append(of_rows(what, name, units.id, len(odd)))
    if faults:
        raise together(faults)


def _differing(series: pd.Series[Any], placed: Placed) -> IntArray:
    """Find the units whose rows differ; missing is like missing."""
    codes = pd.factorize(series)[0][placed.rows]
    return np.unique(placed.unit[1:][(np.diff(placed.unit) == 0) & (np.diff(codes) != 0)])


def _remark(name: str, odd: int, units: Units) -> Remark:
    """Say that a column nearly is shared, and what is done with it."""
    return Remark(
        name,
        "nearly shared",
        Words("it differs among rows in {few} units alone, and is drawn for each row", few=few(odd)),
        Words(
            "mend these rows, or the id {unit} that may join units, and name it in {shared}",
            unit=units.id,
            shared=Setting("shared", [name]),
        ),
    )
