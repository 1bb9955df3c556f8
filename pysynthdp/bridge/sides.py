"""The two sides of an evaluation as R sends them: confidential frames, and copies of whoever made them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

import pysynthdp as sdp
from pysynthdp.bridge.codec import RValue, RVector
from pysynthdp.bridge.frames import frame_from_r
from pysynthdp.bridge.plain import plain_from_r
from pysynthdp.bridge.releases import release_from_r
from pysynthdp.bridge.settings import settings_from_r

__all__ = ["copies_from_r", "earlier_from_r", "frames_from_r", "listed", "refit_from_r", "whole"]


def frames_from_r(data: RValue) -> tuple[pd.DataFrame, ...]:
    """Read the frames of a list.

    Notes
    -----
    Privacy: real rows, for whoever holds them.
    """
    return tuple(frame_from_r(each).frame for each in (data.items if isinstance(data, RVector) else ()))


def refit_from_r(refit: Mapping[str, Any] | None, table: pd.DataFrame) -> sdp.Synthesizer | None:
    """Read the settings of a release, where they are given."""
    if refit is None:
        return None
    own = settings_from_r(refit, {str(name): dtype for name, dtype in table.dtypes.items()})
    return sdp.Synthesizer(**own, progress=False)


def earlier_from_r(given: RValue | None) -> list[Any]:
    """Read a list of what was released before: objects, data frames, lists of these, or paths."""
    if not isinstance(given, RVector):
        return []
    return [
        str(plain_from_r(one)) if isinstance(one, RVector) and one.kind == "character" else copies_from_r(one)
        for one in given.items
    ]


def whole(given: Any) -> Any:
    """Give a whole number that R sent as a double; all else as it is."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def copies_from_r(x: RValue) -> Any:
    """Read a release, or copies of another tool."""
    if isinstance(x, RVector) and x.kind == "list" and not {"synthetic", "synds"} & {*x.classes}:
        single = (x,) if "data.frame" in x.classes else x.items
        return [frame_from_r(each).frame for each in single]
    return release_from_r(x)


def listed(given: Any) -> list[Any]:
    """Give a vector of any length as a list."""
    return list(given) if isinstance(given, list | tuple | np.ndarray) else [given]
