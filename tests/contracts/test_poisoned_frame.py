"""Under noise in the answers nobody but the curator reads the confidential table."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pysynthdp
from pysynthdp import CategoricalColumn, NumericColumn, Schema, Synthesizer
from pysynthdp.privacy.guarantees.zcdp import ZCDP

PACKAGE = Path(pysynthdp.__file__).parent
OPEN = {"columns", "shape", "index"}  # names and size, which the room of rows asks before the curator does
SEEN: set[str] = set()


class PoisonError(AssertionError):
    """Someone reached for the table."""


def reader() -> str | None:
    """Who of the package reaches: its first file above pandas; "curator" if the curator asked for it."""
    frame, files = sys._getframe(2), []
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(PACKAGE):
            files.append(str(path.relative_to(PACKAGE)))
        frame = frame.f_back
    if any(name.startswith("curator/") for name in files):
        return "curator"
    return files[0] if files else None


class PoisonedFrame(pd.DataFrame):
    """Raises when anything of the package but the curator looks at a cell."""

    @property
    def _constructor(self):
        return pd.DataFrame

    def __getattribute__(self, name: str):
        if not name.startswith("_") and name not in OPEN:
            self_check(name)
        return super().__getattribute__(name)

    def __getitem__(self, key):
        self_check("cells")
        return super().__getitem__(key)

    def __len__(self) -> int:
        return super().__len__()

    def __iter__(self):
        self_check("cells")
        return super().__iter__()


def self_check(name: str) -> None:
    """Raise for any reader of the package that is not the curator."""
    who = reader()
    if who not in (None, "curator"):
        raise PoisonError(f"{who} reached for {name}")
    if who:
        SEEN.add(who)


SCHEMA = Schema(
    [
        CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False),
        NumericColumn("age", lower=0, upper=100, spikes=[0]),
        NumericColumn("pay", lower=0, upper=10, may_be_missing=False, fallback=0),
    ]
)


def table() -> pd.DataFrame:
    """Some rows."""
    rng = np.random.default_rng(0)
    n = 400
    age = rng.integers(0, 100, n).astype(float)
    age[:20] = np.nan
    return pd.DataFrame({"sex": rng.choice(["F", "M"], n), "age": age, "pay": rng.uniform(0, 10, n)})


def test_the_whole_road_works_with_a_poisoned_frame():
    SEEN.clear()
    fitted = Synthesizer(schema=SCHEMA, guarantee=ZCDP(5.0), progress=False).fit(PoisonedFrame(table()))
    assert fitted.draw(m=2, rng=1).m == 2
    assert "curator" in SEEN


def test_the_poison_works():
    with pytest.raises(PoisonError, match=r"infer|rows|synthesizer|schema|look|holds|design"):
        Synthesizer(progress=False).fit(PoisonedFrame(table()))


def test_a_refused_plan_never_touches_the_table():
    class Untouchable(PoisonedFrame):
        def __getattribute__(self, name: str):
            if not name.startswith("__") and not name.startswith("_"):
                raise PoisonError(name)
            return object.__getattribute__(self, name)

    open_schema = SCHEMA.amend("pay", upper=None)
    with pytest.raises(pysynthdp.PrivacyError, match="pay"):
        Synthesizer(schema=open_schema, guarantee=ZCDP(1.0)).fit(Untouchable(table()))
