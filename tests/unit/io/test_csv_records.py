"""Which records a CSV file has: under a guarantee one line is one, and a guess is never made in silence."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pysynthdp.base.errors import PrivacyError, SchemaError
from pysynthdp.base.scratch import Scratch
from pysynthdp.io.csv.records import lines_as_records
from pysynthdp.io.csv.wishes import Declared
from pysynthdp.io.sources import read_on_disk
from pysynthdp.io.tables import read_table
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema


@pytest.fixture(params=["memory", "disk"])
def read(tmp_path, request):
    def reading(content: bytes, *, texts: bool = True, schema: Schema | None = None) -> pd.DataFrame:
        path = tmp_path / "t.csv"
        path.write_bytes(content)
        if request.param == "disk":
            return read_on_disk(path, Scratch(tmp_path), texts=texts, declared=Declared(schema=schema))
        return read_table(path, texts=texts, schema=schema)

    return reading


def rows_of(frame: pd.DataFrame) -> list[list[str | None]]:
    return frame.astype(object).where(frame.notna(), None).to_numpy().tolist()


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"x\n3\n1\n", [["3"], ["1"]]),
        (b"x\n\n1\n", [[None], ["1"]]),  # an empty cell in a one-column table
        (b"x\n3\n\n", [["3"], [None]]),
        (b"x\n\n\n\n", [[None], [None], [None]]),
        (b'x\n""\n1', [[None], ["1"]]),
        (b"x\n \n1\n", [[" "], ["1"]]),
        (b"x\n", []),
        (b"x", []),
        (b"x,g\n3,a\rb\n1,b\n", [["3", "a\rb"], ["1", "b"]]),  # a carriage return stands in its cell
        (b"x,g\n3,\r\n1,b\r\n", [["3", None], ["1", "b"]]),  # and before a line feed belongs to the end
        (b"x,g\r\n3,a\n1,b\r\n", [["3", "a"], ["1", "b"]]),
        (b"x,g\n1\n1,2,3,4\n,\n", [["1", None], ["1", "2"], [None, None]]),
        (b"x,g\n\xff,\x00a\n", [["\ufffd", "\x00a"]]),
        (b'x,g\n1,"a""b"\n2,"c,d"\n3,""""\n', [["1", 'a"b'], ["2", "c,d"], ["3", '"']]),
        (b'x,g\n3,5\'10"6"\n1,b\n', [["3", '5\'10"6"'], ["1", "b"]]),
        (b'x,g\n"a"b","c\n1,b\n', [['ab"', '"c'], ["1", "b"]]),  # the last quote opens nothing
        (b'x,g\n"a"b"c",d\n1,b\n', [['ab"c"', "d"], ["1", "b"]]),
        (b'\xef\xbb\xbf"x","g"\n1,2\n', [["1", "2"]]),
        (b"x,g\n1," + b"y" * 200_000 + b"\n", [["1", "y" * 200_000]]),
    ],
)
def test_a_line_is_a_record(read, content, rows):
    assert rows_of(read(content)) == rows


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'x,g\n3,"secret-31337\n1,b\n', "a quote is open"),
        (b'x,g\n3,"secret-31337\n5,"b"\n', "a quote is open"),
        (b'x,g\n3,"secret-31337\n5,b"\n', "a quote is open"),
        (b'x,g\n3,"secret-\n31337"\n5,b\n', "a quote is open"),
        (b'x,g\n3,secret"31337\n5,b\n', "a quote is open"),
        (b'x\n"\n', "a quote is open"),
        (b"x,g\nsecret-31337,a\n\n1,b\n", "a blank line is none of 2 columns"),
        (b"x,g\n\nsecret-31337,a\n", "a blank line is none of 2 columns"),
        (b"x,g\nsecret-31337,a\n\n", "a blank line is none of 2 columns"),
        (b"x,g\r\nsecret-31337,a\r\n\r\n", "a blank line is none of 2 columns"),
        (b"x,g\rsecret-31337,a\r", "the head does not"),
    ],
)
def test_a_file_that_a_cell_could_bend_is_refused_by_the_rule(read, content, said):
    with pytest.raises(PrivacyError, match=said) as caught:
        read(content)
    assert "every line of a CSV is one record" in str(caught.value)
    assert "31337" not in str(caught.value)


CELLS = st.text(st.sampled_from("a1 ,\"\r\x00\ufffd;'\\\t.é"), max_size=8)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    table=st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=6),
    odd=CELLS,
    at=st.integers(0, 5),
)
def test_no_cell_without_a_line_feed_changes_the_number_of_records(tmp_path, table, odd, at):
    """Cells written as they are, without a quote around them: the file is refused, or has its records."""
    other = [list(row) for row in table]
    other[at % len(table)][0] = odd
    for number, rows in enumerate((table, other)):
        path = Path(tmp_path) / f"{number}.csv"
        path.write_bytes(("x,g\n" + "".join(",".join(row) + "\n" for row in rows)).encode())
        try:
            frame = read_table(path, texts=True)
        except PrivacyError:
            assert any(",".join(row).count('"') % 2 for row in rows)
        else:
            assert len(frame) == len(table)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    table=st.lists(st.lists(CELLS, min_size=1, max_size=3), min_size=1, max_size=6).filter(
        lambda rows: len({len(row) for row in rows}) == 1
    )
)
def test_cells_of_a_proper_file_come_back_as_they_are(tmp_path, table):
    path = Path(tmp_path) / "t.csv"
    names = ["x", "y", "z"][: len(table[0])]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([names, *table])
    assert rows_of(read_table(path, texts=True)) == [[cell or None for cell in row] for row in table]


def test_a_packed_file_has_the_same_records(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"x\n\n1\n"))
    assert lines_as_records(path)[2] == len(read_table(path, texts=True)) == 2
    path.write_bytes(b"no gzip")
    with pytest.raises(SchemaError, match="cannot be read"):
        read_table(path, texts=True)


ABSENT = ["NA", "None", "null", "N/A", "nan", "NaN", ""]


def test_spellings_of_missing_are_levels_where_they_are_declared(read):
    content = ("g,h,x\n" + "".join(f"{text},{text},{text}\n" for text in ABSENT)).encode()
    schema = Schema([
        CategoricalColumn("g", ["NA", "None", "null"], missing={"N/A": "not asked"}),
        CategoricalColumn("h", ["a", "b"]),
        NumericColumn("x"),
    ])  # fmt: skip
    frame = read(content, schema=schema)
    assert frame["g"].dropna().tolist() == ["NA", "None", "null", "N/A"]
    assert frame["h"].isna().all()
    assert frame["x"].isna().all()
    assert read(content).isna().all(axis=None)


def test_parquet_has_the_types_of_the_file_whether_values_are_missing_or_not(tmp_path):
    whole = pd.DataFrame({
        "int": pd.Series([2**53 + 1, 2], dtype="Int64"), "flag": pd.Series([True, False], dtype="boolean"),
        "text": pd.Series(["a", "b"], dtype="string"), "float": pd.Series([0.5, 1.5], dtype="Float64"),
        "day": pd.to_datetime(["2020-01-01", "2021-01-01"]), "level": pd.Categorical(["a", "b"]),
    })  # fmt: skip
    holes = whole.copy()
    holes.loc[0] = None
    for frame in (whole, holes):
        frame.to_parquet(tmp_path / f"{len(frame.dropna())}.parquet", index=False)
    one, two = (read_table(tmp_path / f"{rows}.parquet", texts=True) for rows in (2, 1))
    assert one.dtypes.tolist() == two.dtypes.tolist()
    pd.testing.assert_frame_equal(one.iloc[[1]], two.iloc[[1]])
    assert read_table(tmp_path / "1.parquet")["int"].dtype == read_table(tmp_path / "2.parquet")["int"].dtype


# without a guarantee


def test_an_empty_cell_of_a_one_column_table_is_a_record(read):
    frame = read(b"x\n3\n\n1\n", texts=False)
    assert frame["x"].isna().tolist() == [False, True, False]
    assert len(read(b"x,g\n3,a\n\n1,b\n", texts=False)) == 2  # where no record is blank


@pytest.mark.parametrize(
    "content",
    [
        b"x,g\n3,a\rb\n1,b\n",
        b'x,g\n3,"a\n' + b"1,b\n" * 7 + b'5,"b"\n' + b"1,b\n" * 9,
        b'x,g\n3,"a\n1,b\n',
    ],
)
def test_a_file_whose_records_are_a_guess_is_refused(read, content):
    with pytest.raises(
        SchemaError, match=r"lines that end in two ways|a quoted cell does not end|not a whole"
    ):
        read(content, texts=False)


def test_cells_over_several_lines_and_other_line_ends_stay_readable(read):
    buffer = io.StringIO()
    csv.writer(buffer).writerows([["x", "g"], [1, "a\nb"], [2, "c\rd"], [3, 'e"f'], [4, "g" * 200_000]])
    frame = read(buffer.getvalue().encode(), texts=False)
    assert frame["g"].tolist()[:3] == ["a\nb", "c\rd", 'e"f']
    assert read(b"x,g\r1,a\r2,b\r", texts=False)["x"].tolist() == [1, 2]
    assert csv.field_size_limit() == 131072
