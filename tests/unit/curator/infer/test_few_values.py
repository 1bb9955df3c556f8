"""What three records alone have, and how finely they write it, changes no byte of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp

COARSE: dict[str, list[Any]] = {
    "number": [431.0, 1200.0, 800.0],
    "date": list(pd.to_datetime(["1931-05-05", "1990-01-01", "2001-02-03"])),
    "duration": list(pd.to_timedelta([3, 9, 80], "D")),
}
FINE: dict[str, list[Any]] = {
    "number": [431.777, -1.25, 0.0625],
    "date": list(
        pd.to_datetime(["1875-05-05T03:17", "1990-01-01T00:00:01.123", "2001-02-03"], format="ISO8601")
    ),
    "duration": list(pd.to_timedelta([3.7, 90000.123, 80], "s")),
}


DTYPES = {"number": "float64", "date": "datetime64[ns]", "duration": "timedelta64[ns]"}


def table(kind: str, cells: list[Any], many: int) -> pd.DataFrame:
    """Two hundred rows, of which a few have a value."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"age": rng.normal(50, 9, 200), "town": rng.choice(["a", "b"], 200)})
    frame["rare"] = pd.Series(cells[:many], dtype=DTYPES[kind]).reindex(range(200))
    return frame


def saved(frame: pd.DataFrame, path: Path) -> dict[str, bytes]:
    """Everything that is written of a fit and its release."""
    with pytest.warns(sdp.PysynthdpWarning, match="rare: fewer than five records have a value"):
        fitted = sdp.Synthesizer(progress=False).fit(frame)
    fitted.save(path / "fit")
    fitted.draw(m=2, rng=1).save(path / "release")
    return {file.name: file.read_bytes() for file in path.rglob("*") if file.is_file()}


@pytest.mark.parametrize("many", [1, 3])
@pytest.mark.parametrize("kind", list(COARSE))
def test_values_of_few_records_leave_no_trace(kind: str, many: int, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    first = saved(table(kind, COARSE[kind], many), tmp_path / "one")
    second = saved(table(kind, FINE[kind], many), tmp_path / "two")
    first, second = ({name: own[name] for name in own if name != "release.json"} for own in (first, second))
    assert first.keys() == second.keys()
    assert {name for name in first if first[name] != second[name]} == set()


def test_a_column_that_is_released_keeps_its_decimals() -> None:
    frame = table("number", FINE["number"], 3)
    fitted = sdp.Synthesizer(keep=["rare"], progress=False).fit(frame)
    assert fitted.schema["rare"].decimals == 4
    pd.testing.assert_series_equal(fitted.draw(m=1, rng=1)[0]["rare"], frame["rare"])


@pytest.mark.parametrize("largest", [1e3, 1e9, 1e15, -1e15])
def test_decimals_do_not_depend_on_the_largest_value(largest: float) -> None:
    values = np.append(np.random.default_rng(0).normal(50, 9, 200).round(2), largest)
    assert sdp.Synthesizer().plan(pd.DataFrame({"x": values})).schema["x"].decimals == 2
