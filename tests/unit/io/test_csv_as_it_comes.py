"""A CSV file is read as it comes: what it says is kept, and what was chosen is said once."""

from __future__ import annotations

import gzip
import importlib.util
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpError, PysynthdpWarning, SchemaError
from pysynthdp.base.scratch import Scratch
from pysynthdp.io.csv.form import Form, separators, single_bytes
from pysynthdp.io.csv.wishes import Declared
from pysynthdp.io.folder.copy_files import Marks, write_copy
from pysynthdp.io.folder.storage import storage_of
from pysynthdp.io.sources import read_on_disk
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema

_SPEC = importlib.util.spec_from_file_location("strategies", Path(__file__).parents[2] / "strategies.py")
shared = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = shared
_SPEC.loader.exec_module(shared)

FORM = {"sep": None, "decimal": None, "encoding": None, "text": (), "day_first": None}


@pytest.fixture(params=["memory", "disk"])
def read(tmp_path, request):
    """Read a content, in memory or by way of disk; give the table and what was said."""

    def reading(content: str | bytes, *, name: str = "t.csv", **how: Any) -> tuple[pd.DataFrame, list[Any]]:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            if request.param == "disk":
                form = Form(*(how.get(key, usual) for key, usual in FORM.items()))
                own = {
                    key: how[key] for key in ("text", "levels", "missing", "bounds", "schema") if key in how
                }
                scratch, texts = Scratch(tmp_path), how.get("texts", False)
                frame = read_on_disk(path, scratch, form=form, declared=Declared(**own), texts=texts)
            else:
                frame = sdp.read_table(path, **how)
        assert all(isinstance(one.message, PysynthdpWarning) for one in heard)
        return frame, [one.message for one in heard]

    return reading


def cells(column: pd.Series[Any]) -> list[Any]:
    return column.astype(object).where(column.notna(), None).tolist()


# separator, decimal mark, encoding


@pytest.mark.parametrize("sep", [";", "\t", "|"])
def test_the_separator_is_found_and_said(read, sep):
    frame, said = read(f"a{sep}b\n1{sep}x\n2{sep}y\n")
    assert frame.to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}
    assert [one.kind for one in said] == ["file form"]
    shown = {";": "--sep ';'", "\t": "--sep tab", "|": "--sep '|'"}[sep]
    assert shown in said[0].said("shell")
    assert not read(f"a{sep}b\n1{sep}x\n2{sep}y\n", sep=sep)[1]


@pytest.mark.parametrize("name", ["t.tsv", "t.tsv.gz", "t.tab", "T.TSV"])
def test_a_name_that_promises_tabs_needs_no_word(read, name):
    content = b"a\tb\n1\tx, y\n"
    frame, said = read(gzip.compress(content) if name.endswith("gz") else content, name=name)
    assert frame["b"].tolist() == ["x, y"]
    assert not said


def test_decimal_commas_are_found_and_said_with_the_separator(read):
    frame, said = read("a;b;c\n1,5;2;x\n2,25;;y\n")
    assert frame["a"].tolist() == [1.5, 2.25]
    assert [one.said("python") for one in said] == [
        "read with ';' between fields and ',' in numbers; sep=';' and decimal=',' declare it"
    ]
    assert not read("a;b;c\n1,5;2;x\n2,25;;y\n", sep=";", decimal=",")[1]


def test_quoted_decimal_commas_are_numbers_too(read):
    frame, said = read('a,b\n"12,5",1\n"3,75",2\n')
    assert frame["a"].tolist() == [12.5, 3.75]
    assert "decimal=','" in str(said[0])


def test_a_comma_that_may_part_thousands_is_no_decimal_mark_without_a_word(read):
    frame, said = read('a,b\n"1,234",1\n"2,345",2\n')
    assert frame["a"].tolist() == ["1,234", "2,345"]
    assert "thousands" in str(said[0])
    assert read('a,b\n"1,234",1\n"2,345",2\n', decimal=",")[0]["a"].tolist() == [1.234, 2.345]


def test_points_beside_decimal_commas_may_part_thousands(read):
    frame, said = read("a;b\n1,5;1.234\n2,25;2.345\n")
    assert frame["b"].tolist() == ["1.234", "2.345"]
    assert [one.column for one in said] == [None, "b"]
    assert read("a;b\n1,5;1.234\n2,25;2.345\n", sep=";", decimal=",")[0]["b"].tolist() == ["1.234", "2.345"]


@pytest.mark.parametrize("cell", ["7 %", "1,234.5", "12.345,6"])
def test_numbers_with_other_signs_stay_texts_and_are_told(read, cell):
    frame, said = read(f'a;b\n"{cell}";1\n', sep=";")
    assert frame["a"].tolist() == [cell]
    assert [(one.column, one.kind) for one in said] == [("a", "numbers as text")]
    assert cell not in str(said[0])


def test_signs_that_fit_both_are_told(read):
    frame, said = read("a;b,c\n1;2,3\n")
    assert list(frame) == ["a;b", "c"]
    assert "though ';' would part them as well" in str(said[0])
    assert separators("id;x, net;y\n1;1,5;3\n", ",", cut=False) == [";", ","]


def test_encodings(read):
    western = "name,x\nMüller,1\n"
    assert read(western.encode("cp1252"), encoding="cp1252")[0]["name"].tolist() == ["Müller"]
    for marked in ("utf-16", "utf-8-sig"):
        frame, said = read(western.encode(marked))
        assert frame.columns.tolist() == ["name", "x"]
        assert frame["name"].tolist() == ["Müller"]
        assert not said
    with pytest.raises(SchemaError, match="not in UTF-8") as caught:
        read(western.encode("cp1252"))
    assert "--encoding cp1252" in caught.value.said("shell")
    assert "ller" not in str(caught.value)
    long = "x\n" + "ü" * (1 << 20) + "\n"  # a sign over the end of a piece
    assert read(long)[0]["x"].tolist() == [long[2:-1]]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"sep": "x"}, "sep must be"),
        ({"decimal": ";"}, "decimal must be"),
        ({"encoding": "klingon"}, "no encoding 'klingon'"),
        ({"encoding": "base64"}, "no encoding"),
        ({"text": "a"}, r"text=\['a'\]"),
    ],
)
def test_a_wrong_setting_is_refused(read, how, said):
    with pytest.raises(PlanError, match=said):
        read("a\n1\n", **how)


def test_a_column_to_be_read_as_text_must_be_there(read):
    for texts in (False, True):
        with pytest.raises(SchemaError, match="did you mean 'town'"):
            read("town\n1\n", text=["towm"], texts=texts)


# types


def test_leading_zeros_stay_and_are_told(read):
    frame, said = read("plz,nace,x\n01067,01.1,1\n50667,01.10,0.5\n")
    assert frame["plz"].tolist() == ["01067", "50667"]
    assert frame["nace"].tolist() == ["01.1", "01.10"]
    assert [(one.column, one.kind) for one in said] == [("plz", "leading zeros"), ("nace", "leading zeros")]
    assert not read("plz,x\n01067,1\n50667,2\n", text=["plz"])[1]
    assert read("plz,x\n01067,1\n", bounds={"plz": (None, None)})[0]["plz"].tolist() == [1067]


def test_a_late_leading_zero_is_seen(read):
    rows = "".join(f"{at},{at}.5\n" for at in range(1, 30_000))
    frame, said = read(f"a,b\n{rows}007,0.5\n")
    assert frame["a"].tolist()[-1] == "007"
    assert frame["b"].dtype == "float64"
    assert [one.column for one in said] == ["a"]


def test_whole_numbers_keep_their_digits(read):
    codes = [1234567890123456789, 1234567890123456790]
    frame, _ = read(f"a,b,c\n{codes[0]},1,{10**23}\n,2,{10**23 + 1}\n{codes[1]},3,{10**23 + 2}\n")
    assert frame["a"].dtype == "Int64"
    assert frame["a"].dropna().tolist() == codes
    assert frame["b"].dtype == "int64"
    assert frame["c"].tolist() == [str(10**23 + at) for at in range(3)]


@pytest.mark.parametrize("words", [("TRUE", "FALSE"), ("true", "false"), ("True", "False")])
@pytest.mark.parametrize("gap", ["", "NA"])
def test_flags_with_gaps(read, words, gap):
    frame, said = read(f"works,x\n{words[0]},1\n{words[1]},2\n{gap},3\n")
    assert frame["works"].dtype == "boolean"
    assert cells(frame["works"]) == [True, False, None]
    assert not said


def test_numbers_in_quotes_are_texts_where_others_have_none(read):
    frame, said = read('"grade","x"\n"0",1.5\n"1",2\nNA,3\n')
    assert cells(frame["grade"]) == ["0", "1", None]
    assert [one.kind for one in said] == ["quoted numbers"]
    assert read('"grade","x"\n"0","1.5"\n"1","2"\n')[0]["grade"].tolist() == [0, 1]


def test_flags_in_quotes_are_texts_where_numbers_have_none(read):
    frame, said = read('"works","x"\n"TRUE",1.5\n"FALSE",2\n')
    assert frame["works"].tolist() == ["TRUE", "FALSE"]
    assert [one.kind for one in said] == ["quoted flags"]
    frame, said = read('"works","x"\n"TRUE",1.5\n"FALSE",2\n', levels={"works": [True, False]})
    assert frame["works"].tolist() == [True, False]
    assert not said


def test_odd_numbers(read):
    frame, _ = read("a,b,c,d\n 7,+1,Inf,1e5\n8,2,3,-.5\n")
    assert frame["a"].tolist() == [7, 8]
    assert frame["b"].tolist() == [1, 2]
    assert frame["c"].tolist() == [np.inf, 3]
    assert frame["d"].tolist() == [1e5, -0.5]
    assert read("a,b\n0x1F,1\n12,2\n")[0]["a"].tolist() == ["0x1F", "12"]


# missing values


def test_only_an_empty_field_without_quotes_is_missing_among_texts(read):
    words = ["NA", "None", "null", "NULL", "n/a", "N/A", "nan", "<NA>", "#N/A", ""]
    frame, said = read('"land","x"\n' + "".join(f'"{word}",1\n' for word in words) + ",2\n")
    assert cells(frame["land"]) == [*words, None]
    assert not said


def test_na_without_quotes_beside_texts_in_quotes_is_missing(read):
    rows = '"NA",1\n"DE",2\nNA,3\n'
    frame, said = read('"land","x"\n' + rows)
    assert cells(frame["land"]) == ["NA", "DE", None]
    assert not said
    late = '"land","x"\n' + "NA,1\n" * 20_000 + rows  # nothing but NA in the first records
    assert cells(read(late)[0]["land"])[-3:] == ["NA", "DE", None]


def test_na_among_texts_without_quotes_is_a_text_and_told(read):
    frame, said = read("land,x\nNA,1\nDE,2\nFR,3\n")
    assert cells(frame["land"]) == ["NA", "DE", "FR"]
    assert "fewer than ten cells hold NA" in str(said[0])
    assert "missing={'land': {'NA': 'missing'}}" in str(said[0])
    assert "--text land" in said[0].said("shell")
    assert not read("land,x\nNA,1\nDE,2\nFR,3\n", text=["land"])[1]
    assert not read("land,x\nNA,1\nDE,2\nFR,3\n", missing={"land": {"NA": "refused"}})[1]


def test_a_file_that_writes_na_for_missing_numbers_writes_it_for_texts(read):
    frame, said = read("land,x\nNA,1\nDE,NA\nFR,3\n")
    assert cells(frame["land"]) == [None, "DE", "FR"]
    assert "read as missing" in str(said[0])
    assert cells(read("land,x\nNA,1\nDE,NA\nFR,\n")[0]["land"]) == ["NA", "DE", "FR"]


def test_words_for_missing_among_numbers_are_missing_and_told(read):
    frame, said = read("a,b,c\n1,NA,2020-01-01\nnull,2,NULL\n.,3,\n")
    assert cells(frame["a"]) == [1, None, None]
    assert cells(frame["b"]) == [None, 2, 3]
    assert frame["c"].isna().tolist() == [False, True, True]
    assert [one.column for one in said] == ["a", "c"]


# declarations


@pytest.mark.parametrize(
    "how",
    [
        {"levels": {"g": ["01", "NA"]}},
        {"schema": Schema([CategoricalColumn("g", ["01", "NA"])])},
        {"schema": Schema([CategoricalColumn("g", ["01"], missing={"NA": "no answer"})])},
    ],
)
def test_declared_texts_are_texts_and_other_words_missing(read, how):
    frame, said = read("g,x\n01,1\nNA,2\nnull,3\n", **how)
    assert cells(frame["g"]) == ["01", "NA", None]
    assert not said


@pytest.mark.parametrize(
    "how", [{"levels": {"g": [1, 2]}}, {"schema": Schema([NumericColumn("g", lower=0, upper=9)])}]
)
def test_declared_numbers_are_numbers(read, how):
    frame, said = read('g,x\n01,1\n"02",2\n', **how)
    assert frame["g"].tolist() == [1, 2]
    assert not said


# dates


@pytest.mark.parametrize(
    ("texts", "day", "form"),
    [
        (["27.11.2020", "01.02.2021"], "2021-02-01", "day, month, year"),
        (["11/27/2020", "1/2/2021"], "2021-01-02", "month, day, year"),
        (["27-11-2020 08:30", "01-02-2021 9:05"], "2021-02-01 09:05", "day, month, year"),
    ],
)
def test_the_order_of_dates_is_what_a_cell_decides(read, texts, day, form):
    frame, said = read("d,x\n" + "".join(f"{text},1\n" for text in texts) + ",2\n")
    assert frame["d"].tolist()[1] == pd.Timestamp(day)
    assert frame["d"].isna().tolist() == [False, False, True]
    assert form in str(said[0])


def test_dates_of_either_order_are_texts_until_it_is_declared(read):
    content = "d,x\n01/02/2020,1\n02/03/2021,2\n"
    frame, said = read(content)
    assert frame["d"].tolist() == ["01/02/2020", "02/03/2021"]
    assert "day_first=True or day_first=False" in str(said[0])
    assert read(content, day_first=True)[0]["d"].tolist()[0] == pd.Timestamp("2020-02-01")
    assert read(content, day_first=False)[0]["d"].tolist()[0] == pd.Timestamp("2020-01-02")
    beside = read("d,e\n01/02/2020,13/01/2020\n")[0]  # another column tells the order
    assert beside["d"].tolist() == [pd.Timestamp("2020-02-01")]


@pytest.mark.parametrize(
    "texts", [["31.02.2020"], ["27.11.2020", "soon"], ["27.11.2020", "1/2/2020"], ["27.11.20"]]
)
def test_what_is_no_date_stays_text(read, texts):
    assert read("d,x\n" + "".join(f"{text},1\n" for text in texts))[0]["d"].tolist() == texts


def test_times_with_a_zone_are_in_utc(read):
    frame, _ = read("t,x\n2024-05-01T10:00:00Z,1\n2024-05-01T10:00:00+02:00,2\n,3\n")
    assert frame["t"].tolist()[:2] == [pd.Timestamp("2024-05-01 10:00Z"), pd.Timestamp("2024-05-01 08:00Z")]
    assert str(frame["t"].dt.tz) == "UTC"


# under a guarantee nothing is found


def test_under_a_guarantee_nothing_is_found_from_rows(read):
    frame, said = read("a,b\n01,x;y\n1,5\n", texts=True)
    assert frame["a"].tolist() == ["01", "1"]
    assert not said
    for head, name in (("a;b", ";"), ("a\tb", "tab")):
        with pytest.raises(SchemaError, match="the head is one name") as caught:
            read(f"{head}\nsecret-31337\n", texts=True)
        assert name in caught.value.said("shell")
    assert list(read("a;b\n1\n", texts=True, sep=",")[0]) == ["a;b"]


def test_under_a_guarantee_a_declared_form_is_read_cell_by_cell(read):
    schema = Schema([
        NumericColumn("a", lower=0, upper=9), NumericColumn("d", unit="day"), CategoricalColumn("g", ["x,y"]),
    ])  # fmt: skip
    content = "a;d;g\n1,5;01.02.2020;x,y\n1.5;13.13.2020;ü\n".encode("cp1252")
    frame, _ = read(
        content, texts=True, schema=schema, sep=";", decimal=",", encoding="cp1252", day_first=True
    )
    assert cells(frame["a"]) == ["1.5", "1,5"]
    assert cells(frame["d"]) == ["2020-02-01", "2020-13-13"]
    assert cells(frame["g"]) == ["x,y", "ü"]


@pytest.mark.parametrize("encoding", ["shift_jis", "utf-16", "utf-7", "iso2022_jp", "hz", "gbk", "cp037"])
def test_under_a_guarantee_no_byte_may_bend_others(read, encoding):
    assert not single_bytes(encoding)
    with pytest.raises(PrivacyError, match="a byte may change"):
        read(b"a,b\n1,2\n", texts=True, encoding=encoding)


@pytest.mark.parametrize(
    "encoding", ["cp1252", "latin-1", "iso8859-15", "cp1250", "cp850", "koi8-r", "mac-roman"]
)
def test_bytes_that_are_characters_are_read(read, encoding):
    assert read("a;b\n1;2\n".encode(encoding), texts=True, encoding=encoding, sep=";")[0]["b"].tolist() == [
        "2"
    ]


# what is refused


def test_rows_of_another_length_are_refused_without_a_cell(read):
    for content in ("a,b\nsecret-31337,2,3\n", "a,b\n1,2\nsecret-31337\n", 'a,b\n1,2\n"secret-31337\n'):
        with pytest.raises(SchemaError) as caught:
            read(content)
        assert "31337" not in "".join(map(str, (caught.value, caught.value.__cause__, caught.value.remedy)))
        assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_a_head_without_rows_is_refused(read):
    with pytest.raises(SchemaError, match="no rows"):
        read("a,b\n")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("w.xlsx", "read_excel"), ("w.sav", "pysynthdp"), ("w.dta", "pysynthdp"),
        ("w.sas7bdat", "pysynthdp"), ("w.rds", "readRDS"), ("w.RData", "load"),
    ],
)  # fmt: skip
def test_other_files_are_refused_with_the_line_that_converts_them(tmp_path, name, line):
    with pytest.raises(PlanError, match="must end in") as caught:
        sdp.read_table(tmp_path / name)
    assert all(line in caught.value.said(dialect) for dialect in ("python", "shell"))
    assert name in caught.value.said("r")


# our own files


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_our_own_csv_comes_back_equal(tmp_path, data):
    """But for types that no CSV tells: days and times in any unit, and durations as numbers."""
    kinds = [kind for kind in shared.PLAIN_KINDS if kind not in ("duration", "float32")]
    kind = data.draw(st.sampled_from(sorted(kinds)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    column = shared._with_gaps(
        shared.PLAIN_KINDS[kind](rng, 40), rng.random(40) < data.draw(st.sampled_from([0, 0.3]))
    )
    frame = pd.DataFrame({"c": column, "n": np.arange(40) + 0.5})
    path = Path(tmp_path) / "own.csv"
    storage = storage_of(frame, Schema(()), dated=True)
    write_copy([frame], path, storage=storage, marks=Marks({}, 1), file_format="csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back = sdp.read_table(path)
    assert back["c"].isna().tolist() == column.isna().tolist()
    dated = pd.api.types.is_datetime64_any_dtype(back["c"].dtype)
    same = [pd.Timestamp(one) == pd.Timestamp(two) if dated else one == two
            for one, two in zip(cells(column), cells(back["c"]), strict=True) if one is not None]  # fmt: skip
    assert all(same)


def test_no_remark_tells_a_value_or_a_small_count(read):
    content = "plz,d,n\n01067,27.11.2020,7 %\nsecret,31.12.2020,8 %\n"
    _, said = read(content + "NA,,\n")
    assert said
    for one in said:
        assert not any(
            value in one.said(dialect)
            for value in ("01067", "27.11", "7 %", "secret")
            for dialect in ("python", "shell", "r")
        )


def test_errors_are_ours_whatever_the_bytes(read):
    rng = np.random.default_rng(3)
    alphabet = list(b'ab,;\t"\n\r\x00\xff01.')
    for _ in range(300):
        content = bytes(rng.choice(alphabet, rng.integers(0, 30)).astype(np.uint8))
        try:
            frame, _ = read(b"h\n" + content)
        except PysynthdpError:
            continue
        assert frame.columns[0].strip('"') == "h" or len(frame)
