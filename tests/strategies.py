"""Random tables for property tests: every kind of column that people bring, and some that nobody should."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

__all__ = ["PLAIN_KINDS", "columns", "tables", "wild_columns"]

EPOCH = np.datetime64("1970-01-01", "s")
NAMES = ("y", "index", "intercept", "X", "a b", "a.b", "é`", "C(a)", "a:b", "sex [F]", "1", "_", "κ", "class")


def _days(rng: np.random.Generator, n: int) -> pd.Series[Any]:
    return pd.Series(EPOCH + rng.integers(-30_000, 30_000, n) * np.timedelta64(86_400, "s"))


def _times(rng: np.random.Generator, n: int) -> pd.Series[Any]:
    return pd.Series(EPOCH.astype("M8[us]") + rng.integers(0, 2 * 10**15, n).astype("m8[us]"))


def _levels(rng: np.random.Generator, n: int, names: list[Any]) -> list[Any]:
    return [names[i] for i in rng.integers(0, len(names), n)]


def _coded(rng: np.random.Generator, n: int, names: list[Any], *, ordered: bool = False) -> pd.Series[Any]:
    codes = rng.integers(0, max(1, len(names) - 1), n)  # the last level is unused
    return pd.Series(pd.Categorical.from_codes(codes, names, ordered=ordered))


Maker = Callable[[np.random.Generator, int], "pd.Series[Any]"]
PLAIN_KINDS: dict[str, Maker] = {
    "real": lambda rng, n: pd.Series(rng.normal(size=n)),
    "cents": lambda rng, n: pd.Series(np.round(rng.gamma(1.0, 1000.0, n), 2)),
    "huge": lambda rng, n: pd.Series(rng.normal(1e12, 1e11, n)),
    "tiny": lambda rng, n: pd.Series(rng.normal(0.0, 1e-12, n)),
    "far": lambda rng, n: pd.Series(rng.normal(1e9, 1.0, n)),
    "float32": lambda rng, n: pd.Series(rng.normal(size=n).astype("float32")),
    "Float64": lambda rng, n: pd.Series(rng.normal(size=n)).astype("Float64"),
    "arrow real": lambda rng, n: pd.Series(rng.normal(size=n)).astype("double[pyarrow]"),
    "int8": lambda rng, n: pd.Series(rng.integers(-128, 128, n).astype("int8")),
    "uint64": lambda rng, n: pd.Series(rng.integers(0, 99, n).astype("uint64")),
    "Int64": lambda rng, n: pd.Series(rng.integers(-9, 999, n)).astype("Int64"),
    "arrow int": lambda rng, n: pd.Series(rng.integers(-9, 999, n)).astype("int32[pyarrow]"),
    "count": lambda rng, n: pd.Series(rng.poisson(1.5, n)),
    "zeros": lambda rng, n: pd.Series(np.where(rng.random(n) < 0.6, 0.0, rng.gamma(1.0, 9.0, n))),
    "binary": lambda rng, n: pd.Series(rng.integers(0, 2, n)),
    "constant": lambda rng, n: pd.Series(np.full(n, 3.25)),  # noqa: ARG005
    "text": lambda rng, n: pd.Series(_levels(rng, n, ["a", "b", "", "NA"])),
    "object text": lambda rng, n: pd.Series(_levels(rng, n, ["a", "b"]), dtype=object),
    "arrow text": lambda rng, n: pd.Series(_levels(rng, n, ["a", "b"]), dtype="string[pyarrow]"),
    "bool": lambda rng, n: pd.Series(rng.random(n) < 0.3),
    "boolean": lambda rng, n: pd.Series(rng.random(n) < 0.3).astype("boolean"),
    "unordered": lambda rng, n: _coded(rng, n, ["z", "y", "x", "unused"]),
    "ordered": lambda rng, n: _coded(rng, n, ["lo", "mid", "hi", "never"], ordered=True),
    "integer levels": lambda rng, n: _coded(rng, n, [3, 1, 2], ordered=True),
    "date levels": lambda rng, n: _coded(
        rng, n, list(pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"]))
    ),
    "day": _days,
    "time": _times,
    "time ns": lambda rng, n: _times(rng, n).astype("M8[ns]"),
    "zoned": lambda rng, n: _times(rng, n).dt.tz_localize("UTC").dt.tz_convert("Europe/Warsaw"),
    "duration": lambda rng, n: pd.Series(rng.integers(0, 10**6, n).astype("m8[s]")),
    "date objects": lambda rng, n: pd.Series([day.date() for day in _days(rng, n)], dtype=object),
    "arrow date": lambda rng, n: pd.Series([d.date() for d in _days(rng, n)], dtype=object).astype(
        "date32[pyarrow]"
    ),
}


def _with_gaps(series: pd.Series[Any], gaps: np.ndarray) -> pd.Series[Any]:
    """Take values away where the type has a missing value."""
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iub":
        return series
    return series.mask(gaps)


@st.composite
def columns(draw: st.DrawFn, n: int) -> pd.Series[Any]:
    """One column of a kind that can be synthesised, with no, some, or only missing values."""
    maker = PLAIN_KINDS[draw(st.sampled_from(sorted(PLAIN_KINDS)))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.0, 0.0, 0.2, 0.9, 1.0]))
    return _with_gaps(maker(rng, n), rng.random(n) < share)


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=4),
    st.dates(),
    st.datetimes(),
    st.timedeltas(),
    st.decimals(allow_nan=False),
    st.binary(max_size=2),
    st.tuples(st.integers()),
    st.just(dt.time(1)),
)


@st.composite
def wild_columns(draw: st.DrawFn, n: int) -> pd.Series[Any]:
    """One column that may well be refused: extreme numbers, mixed objects, free text."""
    kind = draw(st.sampled_from(["float", "int", "text", "object", "same object"]))
    if kind == "float":
        return pd.Series(draw(st.lists(st.floats(), min_size=n, max_size=n)), dtype="float64")
    if kind == "int":
        cells = st.integers(-(2**63), 2**63 - 1)
        return pd.Series(draw(st.lists(cells, min_size=n, max_size=n)), dtype="int64")
    if kind == "text":
        return pd.Series(
            draw(st.lists(st.none() | st.text(max_size=3), min_size=n, max_size=n)), dtype=object
        )
    cells = CELLS if kind == "object" else draw(st.sampled_from(CELLS.original_strategies))
    return pd.Series(draw(st.lists(cells, min_size=n, max_size=n)), dtype=object)


@st.composite
def tables(draw: st.DrawFn, *, wild: bool = False, most_rows: int = 40) -> pd.DataFrame:
    """A table of one to five columns, with an index that nobody should rely on."""
    n = draw(st.integers(1 if wild else 5, 12 if wild else most_rows))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    of = {name: draw(wild_columns(n) | columns(n) if wild else columns(n)) for name in names}
    return pd.DataFrame(of).set_axis(draw(st.permutations(range(7, 7 + n))), axis=0)
