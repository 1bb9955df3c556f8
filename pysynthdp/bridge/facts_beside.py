"""R's facts of a frame, kept beside it while it lives: never inside it, where files would carry them."""

from __future__ import annotations

import weakref

import pandas as pd

from pysynthdp.bridge.facts import FrameFacts, RFrame

__all__ = ["remember", "remembered"]

_facts: dict[int, tuple[weakref.ref[pd.DataFrame], FrameFacts]] = {}


def remember(held: RFrame) -> pd.DataFrame:
    """Give the frame, and remember its facts until it is gone."""
    key = id(held.frame)
    _facts[key] = (weakref.ref(held.frame, lambda _: _facts.pop(key, None)), held.facts)
    return held.frame


def remembered(frame: pd.DataFrame) -> FrameFacts | None:
    """Give R's facts of a frame that came from R."""
    known = _facts.get(id(frame))
    return known[1] if known is not None and known[0]() is frame else None
