"""Tables come in with exact numbers and distinct names, or with an error that names the file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp.base.errors import PlanError, PysynthdpError, SchemaError
from pysynthdp.io.tables import read_table, write_table


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "T.CSV", "t.parquet", "t.pq"])
def test_round_trip(name, tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=50) * 1e-7,
            "n": range(50),
            "my name": ["a", None] * 25,
            "b": [True, False] * 25,
        }
    )
    pd.testing.assert_frame_equal(read_table(write_table(frame, tmp_path / name)), frame, check_exact=True)


def test_csv_dates_become_dates_only_when_all_are(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "day,time,part,bad,text\n2020-01-31,2020-01-31 10:00:00,2020-01-31,2020-02-31,x\n,,soon,,\n"
    )
    frame = read_table(path)
    assert frame["day"].tolist()[0] == pd.Timestamp("2020-01-31")
    assert frame["time"].tolist()[0] == pd.Timestamp("2020-01-31 10:00")
    assert frame["day"].isna().tolist() == [False, True]
    assert all(pd.api.types.is_string_dtype(frame[name].dtype) for name in ("part", "bad", "text"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b,a\n1,2,3\n", "two columns are called 'a'"),
        (b",b\n1,2\n", "column 1 has no name"),
        (b"a,b\n1,2,3\n", "more fields"),
        (b"a,b\n1,2,3\n4,5,6\n", "more fields"),
        (b"a,b\n0,2,3\n1,5,6\n", "more fields"),
        (b"a,b\n1,2,3\n4\n", "more fields"),
        (b"a,b\n1,2\n3,4,5\n", "more fields"),
        (b"", "is empty"),
        (b"a\n\xff\xfe\n", "UTF-8"),
    ],
)
def test_csv_errors_name_the_file(content, words, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(SchemaError, match=words) as caught:
        read_table(path)
    assert "t.csv" in str(caught.value)


def test_other_errors_are_typed(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 no")
    (tmp_path / "t.csv.gz").write_bytes(b"no gzip")
    for name in ("t.parquet", "t.csv.gz"):
        with pytest.raises(SchemaError, match=name):
            read_table(tmp_path / name)
    for name in ("none.csv", "t.xlsx"):
        with pytest.raises(PlanError, match=name):
            read_table(tmp_path / name)
    with pytest.raises(PlanError, match="cannot be written"):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / "none" / "t.csv")


def test_errors_quote_no_value(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\nsecret-31337,4,5\n")
    with pytest.raises(PysynthdpError) as caught:
        read_table(path)
    assert "31337" not in str(caught.value)
