"""The two sides of an evaluation as R sends them: confidential frames, and copies of whoever made them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.bridge.codec import RValue, RVector
from pysynthdp.bridge.frames import frame_from_r
from pysynthdp.bridge.releases import release_from_r

__all__ = ["copies_from_r", "frames_from_r", "listed"]


def frames_from_r(data: RValue) -> tuple[pd.DataFrame, ...]:
    """Read the frames of a list.

    Notes
    -----
    Privacy: real rows, for whoever holds them.
    """
    return tuple(frame_from_r(each).frame for each in (data.items if isinstance(data, RVector) else ()))


def copies_from_r(x: RValue) -> Any:
    """Read a release, or copies of another tool."""
    if isinstance(x, RVector) and x.kind == "list" and not {"synthetic", "synds"} & {*x.classes}:
        single = (x,) if "data.frame" in x.classes else x.items
        return [frame_from_r(each).frame for each in single]
    return release_from_r(x)


def listed(given: Any) -> list[Any]:
    """Give a vector of any length as a list."""
    return list(given) if isinstance(given, list | tuple | np.ndarray) else [given]
