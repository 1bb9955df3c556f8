"""Under noise in the answers nobody but the curator reads the confidential table."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import numpy as np
import pandas as pd
import pytest

import pysynthdp
from pysynthdp import CategoricalColumn, NumericColumn, Schema, Synthesizer
from pysynthdp.design.values import to_codes
from pysynthdp.privacy.guarantees.zcdp import ZCDP

PACKAGE = Path(pysynthdp.__file__).parent
OPEN = {"columns", "shape", "index"}  # names and size, which the room of rows asks before the curator does
GUESSING = ("curator/infer/", "curator/look/", "curator/rows/")  # nothing is learned under a guarantee
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
    if any(name.startswith("curator/") and not name.startswith(GUESSING) for name in files):
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


READERS: set[str | None] = set()


class PoisonedCell:
    """A value that notes who reads it; a reader that swallows errors cannot hide."""

    def __init__(self, value: object) -> None:
        object.__setattr__(self, "value", value)

    def __getattribute__(self, name: str):
        READERS.add(reader())
        return object.__getattribute__(self, name)

    def __float__(self) -> float:
        READERS.add(reader())
        return float(object.__getattribute__(self, "value"))

    def __hash__(self) -> int:
        READERS.add(reader())
        return hash(object.__getattribute__(self, "value"))

    def __eq__(self, other: object) -> bool:
        READERS.add(reader())
        return bool(object.__getattribute__(self, "value") == other)

    def __str__(self) -> str:
        READERS.add(reader())
        return "a cell"

    __repr__ = __str__


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


@pytest.mark.parametrize("method", [None, {"pay": "normrank"}], ids=["norm", "normrank"])
def test_no_cell_is_read_outside_the_curator(method, tmp_path):
    poisoned = table().map(PoisonedCell)
    READERS.clear()
    settings = Synthesizer(schema=SCHEMA, method=method, guarantee=ZCDP(5.0), progress=False)
    fitted = settings.fit(poisoned, answers=tmp_path / "answers.json")
    assert list(READERS) == ["curator"]
    READERS.clear()
    release = fitted.draw(m=2, rng=1)
    assert release.privacy.verify().ok
    assert str(fitted)
    again = settings.fit(poisoned, answers=tmp_path / "answers.json")
    pd.testing.assert_frame_equal(again.draw(m=2, rng=1)[1], release[1])
    assert not READERS


def test_a_reader_outside_the_curator_is_noted():
    poisoned = table().map(PoisonedCell)
    READERS.clear()
    to_codes(poisoned["sex"], SCHEMA["sex"])
    assert {"design/values.py"} == READERS


def held_by(thing: object) -> Iterator[object]:
    """Everything that an object keeps alive, but code and modules."""
    seen, waiting = set(), [thing]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, ModuleType | FunctionType | type):
            continue
        seen.add(id(one))
        yield one
        waiting += gc.get_referents(one)


@pytest.mark.parametrize("method", [None, {"pay": "normrank"}], ids=["norm", "normrank"])
def test_a_noised_fit_holds_no_row(method):
    n = 1_009  # a prime that no number of levels, knots or draws happens to be
    data = pd.concat([table()] * 3).head(n).reset_index(drop=True)
    settings = Synthesizer(schema=SCHEMA, method=method, guarantee=ZCDP(5.0), progress=False)
    fitted = settings.fit(data)
    fitted.draw(m=2, rng=1)
    arrays = [one for one in held_by(fitted) if isinstance(one, np.ndarray)]
    assert arrays
    assert not [one.shape for one in arrays if n in one.shape]
    assert not [one for one in held_by(fitted) if isinstance(one, pd.DataFrame | pd.Series)]
