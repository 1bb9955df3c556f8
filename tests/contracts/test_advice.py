"""Advice that an error gives works when it is followed; several faults are told at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp

N = 300
RNG = np.random.default_rng(5)
X = RNG.normal(size=N).round(2)


def table(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({**columns, "beside": X})


def with_cells(value: float, cells: int = 12) -> list[float]:
    return [value] * cells + list(np.abs(X[cells:]))


@dataclass(frozen=True)
class Case:
    """A table that is refused, words of the way out, and the way out followed: settings or another table."""

    table: pd.DataFrame
    remedy: str
    settings: dict[str, Any] = field(default_factory=dict)
    follow: dict[str, Any] = field(default_factory=dict)
    mend: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame


ZONES = [
    pd.Timestamp("2024-01-01", tz=("UTC", "Europe/Berlin")[i % 2]) + pd.Timedelta(days=i) for i in range(N)
]
SCHEMA = sdp.Schema([sdp.NumericColumn("beside")])
CASES = {
    "infinite": Case(
        table(x=with_cells(np.inf)),
        "table.replace([np.inf, -np.inf], np.nan)",
        mend=lambda frame: frame.replace([np.inf, -np.inf], np.nan),
    ),
    "huge code": Case(
        table(x=with_cells(1e308)), "missing={'x': {", follow={"missing": {"x": {1e308: "bad"}}}
    ),
    "huge unit": Case(table(x=X * 1e200), "another unit", mend=lambda frame: frame.assign(x=frame.x / 1e200)),
    "beyond 2^53, dropped": Case(table(x=2**60 + 3 * np.arange(N)), "drop=['x']", follow={"drop": ["x"]}),
    "beyond 2^53, numbered": Case(
        table(x=2**60 + 3 * np.arange(N)), "method={'x': 'serial'}", follow={"method": {"x": "serial"}}
    ),
    "beyond 2^53, levels": Case(
        table(x=2**60 + np.arange(N) % 20),
        "levels={'x': [",
        follow={"levels": {"x": [2**60 + i for i in range(20)]}},
    ),
    "lists": Case(table(x=[[1]] * N), "drop=['x']", follow={"drop": ["x"]}),
    "zones": Case(
        table(t=pd.Series(ZONES, dtype=object)),
        "pd.to_datetime(..., utc=True)",
        mend=lambda frame: frame.assign(t=pd.to_datetime(frame.t, utc=True)),
    ),
    "beyond bounds": Case(
        table(x=with_cells(-8.0)),
        "missing={'x': {",
        {"bounds": {"x": (0, 10)}},
        {"missing": {"x": {-8.0: "no"}}},
    ),
    "levels": Case(
        table(g=["a", "b", "c"] * (N // 3)),
        "add them to the levels",
        {"levels": {"g": ["a", "b"]}},
        {"levels": {"g": ["a", "b", "c"]}},
    ),
    "not in the schema": Case(table(x=X), "drop=['x']", {"schema": SCHEMA}, {"drop": ["x"]}),
    "not in the table": Case(
        table(),
        "drop it from the schema",
        {"schema": sdp.Schema([*SCHEMA, sdp.NumericColumn("z")])},
        {"schema": SCHEMA},
    ),
    "missing": Case(
        table(x=with_cells(np.nan)),
        "may_be_missing=True",
        {"schema": sdp.Schema([sdp.NumericColumn("x", may_be_missing=False), *SCHEMA])},
        {"schema": sdp.Schema([sdp.NumericColumn("x", may_be_missing=True), *SCHEMA])},
    ),
    "missing in a whole type": Case(
        table(x=with_cells(np.nan)),
        "dtype='Int64'",
        {"schema": sdp.Schema([sdp.NumericColumn("x", dtype="int64"), *SCHEMA])},
        {"schema": sdp.Schema([sdp.NumericColumn("x", dtype="Int64"), *SCHEMA])},
    ),
    "visit_sequence": Case(table(x=X), "drop=['x']", {"visit_sequence": ["beside"]}, {"drop": ["x"]}),
    "a text for a list": Case(table(x=X), "drop=['x']", {"drop": "x"}, {"drop": ["x"]}),
    "a method for all": Case(table(x=X), "method='norm'", {"method": ["norm"]}, {"method": "norm"}),
    "trees": Case(table(x=X), "'cart'", {"method": {"x": "ranger"}}, {"method": {"x": "cart"}}),
    "bounds that are one number": Case(
        table(x=X), "bounds={'x': (..., ...)}", {"bounds": {"x": 3}}, {"bounds": {"x": (-9, 9)}}
    ),
    "two names": Case(
        pd.DataFrame(np.c_[X, X], columns=["x", "x"]),
        "rename",
        mend=lambda frame: frame.set_axis(["x", "y"], axis=1),
    ),
    "names of numbers": Case(
        pd.DataFrame(np.c_[X, X]), "df.columns = [...]", mend=lambda frame: frame.set_axis(["x", "y"], axis=1)
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_advised_works(name):
    case = CASES[name]
    with pytest.raises(sdp.PysynthdpError) as caught:
        sdp.Synthesizer(progress=False, **case.settings).fit(case.table)
    remedy = caught.value.remedy
    assert remedy
    assert case.remedy in remedy
    assert caught.value.kind
    followed = {**case.settings, **case.follow}
    drawn = sdp.Synthesizer(progress=False, **followed).fit(case.mend(case.table)).draw(m=1, rng=1)
    assert len(drawn[0]) == N


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ([1, 2], "pd.DataFrame"),
        ({"a": [1]}, "pd.DataFrame"),
        (np.ones((3, 2)), "pd.DataFrame"),
        ("survey.csv", "there is no file survey.csv"),
        (pd.Series([1.0]), "to_frame"),
        (None, "give the table"),
    ],
)
def test_what_is_no_table_is_refused_with_the_way_to_make_one(given, advice):
    with pytest.raises(sdp.PysynthdpError, match=advice):
        sdp.Synthesizer(progress=False).fit(given)


def test_a_frame_of_another_library_is_told_its_own_way():
    class Polars:
        def to_pandas(self) -> pd.DataFrame:
            return table()

    with pytest.raises(sdp.SchemaError, match=r"not Polars; convert it with \.to_pandas\(\)"):
        sdp.Synthesizer(progress=False).fit(Polars())


def test_faults_of_several_columns_are_told_together():
    ids = [f"p{i}" for i in range(N)]
    with pytest.raises(sdp.SchemaError) as caught:
        sdp.Synthesizer(progress=False).fit(table(id=ids, b=[[1]] * N, c=with_cells(1e300, 1)))
    assert len(caught.value.faults) == 3
    assert [fault.column for fault in caught.value.faults[1:]] == ["b", "c"]
    assert "fewer than ten rows" in str(caught.value)


@pytest.mark.parametrize("block_rows", [None, 40])
def test_drift_in_several_columns_is_told_together_with_rows(block_rows):
    schema = sdp.Schema(
        [
            sdp.NumericColumn("a", lower=0, upper=1),
            sdp.CategoricalColumn("g", ["u", "v"]),
            sdp.NumericColumn("beside"),
        ]
    )
    drifted = table(a=[0.5] * (N - 3) + [7.0] * 3, g=["u", "v", "w"] * (N // 3))
    with pytest.raises(sdp.SchemaError) as caught:
        sdp.Synthesizer(schema=schema, progress=False).fit(drifted, block_rows=block_rows)
    faults = {fault.column: fault for fault in caught.value.faults}
    assert {name: fault.kind for name, fault in faults.items()} == {"a": "bounds", "g": "levels"}
    assert "in fewer than ten rows" in str(faults["a"])
    assert "in 100 rows" in str(faults["g"])
    assert "7" not in str(caught.value)
    assert "'w'" not in str(caught.value)


def test_columns_that_are_too_many_or_lacking_are_told_together():
    schema = sdp.Schema([*SCHEMA, sdp.NumericColumn("y"), sdp.NumericColumn("z")])
    with pytest.raises(sdp.SchemaError) as caught:
        sdp.Synthesizer(schema=schema, progress=False).fit(table(p=X, q=X))
    assert [fault.column for fault in caught.value.faults] == ["p", "q", "y", "z"]


def test_settings_of_wrong_types_are_told_together():
    with pytest.raises(sdp.PlanError) as caught:
        sdp.Synthesizer(keep="id", bounds=[1], proper="yes", workers="4", method={"a": "rf"})
    assert len(caught.value.faults) == 5


def test_each_reader_is_told_in_what_they_type():
    with pytest.raises(sdp.SchemaError) as caught:
        sdp.Synthesizer(progress=False).fit(table(x=2**60 + 3 * np.arange(N)))
    assert "drop=['x']" in str(caught.value)
    assert 'drop = "x"' in caught.value.said("r")
    assert "--drop x" in caught.value.said("shell")


def test_whole_numbers_beyond_2_53_are_levels_where_they_are_few():
    codes = [2**60 + 1, 2**60 + 2, 2**60 + 5]
    drawn = sdp.Synthesizer(progress=False).fit(table(k=np.resize(codes, N))).draw(m=1, rng=1)
    assert set(drawn[0]["k"]) == set(codes)
    assert drawn[0]["k"].dtype == np.int64


def test_sparse_columns_are_drawn_in_full_and_saved(tmp_path):
    sparse = table(flag=pd.arrays.SparseArray(np.arange(N) % 2))
    release = sdp.synthesize(sparse, m=1, rng=1, progress=False)
    assert release[0]["flag"].dtype == np.int64
    release.save(tmp_path / "release")


def test_columns_in_the_index_are_told_of():
    indexed = table(g=["u", "v"] * (N // 2), h=X).set_index(["g", "h"])
    with pytest.warns(sdp.PysynthdpWarning, match="g, h stand in the index") as heard:
        sdp.Synthesizer(progress=False).fit(indexed)
    assert heard[0].filename == __file__  # where the user called
    assert heard[0].message.kind == "index"
