from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp import CategoricalColumn, NumericColumn, PlanError, Synthesizer
from pysynthdp.draw.machine import serial_numbers

N = 40_000  # three canonical blocks


@pytest.fixture(scope="module")
def long_table() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    x = rng.normal(size=N)
    table = pd.DataFrame({"x": x, "n": rng.poisson(np.exp(0.2 * x)), "g": rng.choice(list("abc"), N)})
    table["o"] = pd.Categorical.from_codes(
        np.digitize(x + rng.logistic(size=N), [-1, 1]), [1, 2, 3], ordered=True
    )
    table["b"] = pd.Series(rng.random(N) < 0.3).astype("boolean").mask(rng.random(N) < 0.1)
    table["w"] = pd.Series(np.where(rng.random(N) < 0.4, 0.0, np.exp(x))).mask(rng.random(N) < 0.2)
    return table


@pytest.mark.parametrize("proper", [False, True])
def test_same_seed_same_bytes_whatever_the_blocks_and_workers(long_table, proper) -> None:
    wishes = {"spikes": {"w": [0]}, "method": {"n": "poisson"}, "proper": proper, "progress": False}
    one = Synthesizer(workers=1, **wishes).fit(long_table).draw(m=2, rng=7)
    for workers, block_rows in ((2, 777), (3, 16_384), (2, None), (3, 39_999)):
        other = Synthesizer(workers=workers, **wishes).fit(long_table, block_rows=block_rows).draw(m=2, rng=7)
        for left, right in zip(one, other, strict=True):
            pd.testing.assert_frame_equal(left, right, check_exact=True)


@pytest.mark.parametrize("draws", ["even", "independent"])
def test_a_longer_copy_begins_like_a_shorter_one(long_table, draws) -> None:
    """Streams are keyed by copy, step and block: whole blocks do not depend on the rows that follow.

    Even draws are spread over the rows of a block alone.
    """
    fitted = Synthesizer(progress=False, draws=draws, method={"n": "poisson"}).fit(long_table.head(2000))
    long = fitted.draw(m=1, k=40_000, rng=1)[0]
    short = fitted.draw(m=1, k=16_384, rng=1)[0]
    pd.testing.assert_frame_equal(long.head(16_384), short, check_exact=True)


@pytest.mark.parametrize(
    ("dtype", "first"),
    [("int64", 1), ("Int32", 1), ("float64", 1.0), ("str", "1"), (object, "1"), ("string[pyarrow]", "1")],
)
def test_running_numbers_have_the_columns_type(dtype, first) -> None:
    numbers = serial_numbers(CategoricalColumn("id", [], dtype=dtype), 0, 3)
    assert numbers.dtype == pd.Series([], dtype=dtype).dtype
    assert numbers[0] == first
    assert serial_numbers(CategoricalColumn("id", [], dtype=dtype), 5, 3)[0] == type(first)(6)


def test_running_numbers_do_not_wrap() -> None:
    with pytest.raises(PlanError, match="int8 cannot count"):
        serial_numbers(NumericColumn("id", dtype="int8"), 0, 200)


def test_periods_are_no_running_numbers() -> None:
    table = pd.DataFrame({"id": pd.period_range("2001-01", periods=40, freq="M"), "x": np.arange(40.0) % 7})
    with pytest.raises(PlanError, match="cannot be written as period"):
        Synthesizer(method={"id": "serial"}, progress=False).fit(table)
