"""Copies that R holds against the confidential table that R holds: for the owner of the data only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

import pysynthdp as sdp
from pysynthdp.bridge.codec import RValue, RVector, character
from pysynthdp.bridge.facts import RFrame
from pysynthdp.bridge.frame_shape import checked_frame
from pysynthdp.bridge.frames import frame_from_r
from pysynthdp.bridge.releases import changed_release_from_r
from pysynthdp.bridge.sides import refit_from_r, whole
from pysynthdp.evaluate.pictures import drawn_frames

__all__ = ["evaluate"]


def evaluate(
    data: RValue | RFrame, x: RValue | None = None, others: Any = None, models: Any = None, by: Any = None,
    rules: Any = None, refit: Mapping[str, Any] | None = None, foreseen: Any = 0,
) -> dict[str, Any]:  # fmt: skip
    """Compare copies with the confidential table.

    Parameters
    ----------
    data : R data frame
        The confidential table.
    x : R value, optional
        A release as R holds it.
    others : list of data frames, optional
        Copies of another tool, where there is no release.
    models, by, rules
        As of :func:`pysynthdp.compare`.
    refit, foreseen : mapping, int
        Settings of the release, and runs in which intervals are foreseen.

    Returns
    -------
    dict
        What is printed, and every table as vectors by column.

    Notes
    -----
    Privacy: shows numbers of real rows, so the result is internal.
    """
    table = _frame(data)
    copies: Any = changed_release_from_r(x) if x is not None else [_frame(one) for one in others]
    asked: dict[str, Any] = {"by": _texts(by), "rules": _texts(rules) or ()}
    asked |= {"refit": refit_from_r(refit, table), "foreseen": whole(foreseen)}
    found = sdp.compare(table, copies, models=_texts(models), **asked)
    return {
        "text": found.said("r"),
        "alarms": character([alarm.text for alarm in found.alarms]),
        "missing": character(list(found.missing)),
        "tables": {name: _columns(frame) for name, frame in found.tables().items()},
        "worst": _columns(found.worst(20)),
        "pictures": {name: _columns(frame) for name, frame in drawn_frames(found).items()},
    }


def _frame(data: RValue | RFrame) -> pd.DataFrame:
    """Read a data frame of R."""
    if isinstance(data, RFrame):
        return data.frame
    checked_frame(data)
    return frame_from_r(data).frame


def _texts(given: Any) -> list[str] | None:
    """Give a vector of texts of any length; None for nothing."""
    if given is None:
        return None
    return [str(one) for one in (given if isinstance(given, list) else [given])]


def _columns(frame: pd.DataFrame) -> Mapping[str, RVector | np.ndarray[Any, Any]]:
    """Give a table as vectors."""
    return {
        str(name): column.to_numpy(dtype=np.float64)
        if pd.api.types.is_numeric_dtype(column.dtype)
        else character([str(cell) for cell in column])
        for name, column in frame.items()
    }
