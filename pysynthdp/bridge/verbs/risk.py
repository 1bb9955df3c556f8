"""What copies give away of the confidential table: for the owner of the data only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

import pysynthdp as sdp
from pysynthdp.base.words import said
from pysynthdp.bridge.codec import RValue, character
from pysynthdp.bridge.sides import copies_from_r, earlier_from_r, frames_from_r, listed, refit_from_r, whole

__all__ = ["disclosure_risk"]


def disclosure_risk(
    x: RValue,
    data: RValue,
    refit: Mapping[str, Any] | None = None,
    earlier: RValue | None = None,
    **asked: Any,
) -> dict[str, Any]:
    """Measure disclosure risk.

    Parameters
    ----------
    x : RVector
        Copies: an object of class ``synthetic`` or ``synds``, or a data frame or list of them.
    data : RVector
        A list: the confidential data frame, and perhaps one of people who were never used.
    refit : mapping, optional
        Settings of the release.
    earlier : RVector, optional
        A list of what was released before from the same source.
    **asked
        As of :func:`pysynthdp.disclosure_risk`.

    Returns
    -------
    dict
        Page one as text, alarms, and each table as vectors.

    Notes
    -----
    Privacy: shows numbers of the confidential rows, so the result is internal.
    """
    table, *others = frames_from_r(data)
    wanted = {name: value for name, value in asked.items() if value is not None}
    for name in ("keys", "known_by_all"):
        if isinstance(wanted.get(name), Mapping):
            wanted[name] = {key: listed(value) for key, value in wanted[name].items()}
    for name in ("targets", "without_missing"):
        if name in wanted:
            wanted[name] = listed(wanted[name])
    if "ngroups" in wanted:
        wanted["ngroups"] = {name: int(many) for name, many in wanted["ngroups"].items()}
    for name in ("attacks", "shadow_fits", "denom_lim"):
        wanted[name] = whole(wanted.get(name))
    found = sdp.disclosure_risk(
        table,
        copies_from_r(x),
        holdout=next(iter(others), None),
        refit=refit_from_r(refit, table),
        earlier=earlier_from_r(earlier),
        **{name: value for name, value in wanted.items() if value is not None},
    )
    tables = {name: _columns(frame) for name, frame in found.tables().items()}
    return {
        "text": found.said("r"),
        "alarms": character([said(each, "r") for each in found.alarms]),
        "tables": tables,
    }


def _columns(frame: pd.DataFrame) -> dict[str, Any]:
    """Give a table as one vector a column; what is no number as text."""
    return {str(name): _vector(frame[name]) for name in frame.columns}


def _vector(column: pd.Series[Any]) -> Any:
    """Give a column as a vector."""
    if column.dtype.kind in "iufb":
        return column.to_numpy(dtype=np.float64)
    return character([None if pd.isna(value) else said(value, "r") for value in column])
