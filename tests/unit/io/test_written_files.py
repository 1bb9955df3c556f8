"""Copies as files of SPSS, Stata and SAS: what pyreadstat and our reader find there, and what is refused."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pyreadstat
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, ReleaseError
from pysynthdp.design.tagged import letters_of, tagged
from pysynthdp.io.survey import writing
from pysynthdp.io.survey.writing import planned, write_files
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema
from pysynthdp.schema.labels import Kind, Labels

N = 60
KINDS = (Kind(".a", -8, "refused"), Kind(".b", -9, "don't know"))


def table(N: int = N) -> tuple[pd.DataFrame, Schema]:
    """Labels, tags, unused levels, dates, whole and other numbers, texts."""
    rng = np.random.default_rng(3)
    income = rng.gamma(3, 900, N).round()
    income[9:] = np.where(rng.random(N - 9) < 0.1 * (N > 100), tagged([".a"])[0], income[9:])
    income[:9] = np.concatenate([tagged([".a"] * 5), tagged([".b"] * 3), [np.nan]])
    smoke = pd.Categorical(rng.choice(["Yes", "No", "refused"], N), ["Yes", "No", "Never", "refused"])
    frame = pd.DataFrame({
        "income": income,
        "smoke": smoke,
        "edu": pd.Categorical(rng.choice(["low", "high"], N), ["low", "mid", "high"], ordered=True),
        "age": rng.integers(18, 90, N),
        "kids": pd.array(rng.integers(0, 5, N), dtype="Int64"),
        "works": rng.random(N) < 0.4,
        "town": rng.choice(["Bergen", "Narvik"], N),
        "day": pd.to_datetime("1919-05-01") + pd.to_timedelta(rng.integers(0, 50_000, N), unit="D"),
        "at": pd.to_datetime("2020-01-01 10:20:30") + pd.to_timedelta(rng.integers(0, 9_999, N), unit="s"),
        "score": rng.normal(size=N),
    })  # fmt: skip
    frame.loc[3:5, ["kids", "day"]] = pd.NA
    columns = [
        NumericColumn("income", decimals=0, missing={".a": "refused", ".b": "don't know"}, labels=Labels(
            "Net income", {0: "none"}, KINDS, measure="scale", format="F8.0", source="spss")),
        CategoricalColumn("smoke", ["Yes", "No", "Never"], missing={"refused": "refused"}, labels=Labels(
            "Smokes?", {1: "Yes", 2: "No", 3: "Never"}, KINDS[:1])),
        CategoricalColumn("edu", ["low", "mid", "high"], ordered=True),
        NumericColumn("day", unit="day", dtype="datetime64[us]"),
    ]  # fmt: skip
    return frame, Schema(columns)


def written(frame, schema, folder, formats=("sav", "dta", "xpt"), *, mark=True):
    plans = planned(frame, [frame], schema, formats, watermark=mark)
    list(write_files(plans, frame, folder, "t", number=1 if mark else None, title="Synthetic data"))
    return plans


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    written(*table(), folder)
    return folder


def test_spss_has_codes_labels_and_declared_missing_codes(files):
    frame, _ = table()
    found, meta = pyreadstat.read_sav(files / "t.sav", user_missing=True)
    assert list(found) == [*frame, "synthetic_"]
    letters = letters_of(frame["income"].to_numpy())
    want = np.where(letters == ord("a"), -8, np.where(letters == ord("b"), -9, frame["income"]))
    np.testing.assert_array_equal(found["income"], want)
    assert meta.missing_ranges["income"] == [{"lo": -8, "hi": -8}, {"lo": -9, "hi": -9}]
    assert meta.variable_value_labels["income"] == {0: "none", -8: "refused", -9: "don't know"}
    assert meta.variable_value_labels["smoke"] == {1: "Yes", 2: "No", 3: "Never", -8: "refused"}
    assert meta.variable_value_labels["edu"] == {1: "low", 2: "mid", 3: "high"}
    assert meta.column_names_to_labels["income"] == "Net income"
    assert (meta.variable_measure["edu"], meta.variable_measure["income"]) == ("ordinal", "scale")
    assert meta.original_variable_types["income"] == "F8.0"
    assert set(found["synthetic_"]) == {1}


def test_stata_has_letters_with_labels(files):
    frame, _ = table()
    found, meta = pyreadstat.read_dta(files / "t.dta", user_missing=True)
    assert list(found) == [*frame, "_synthetic"]
    letters = letters_of(frame["income"].to_numpy())
    assert [cell if isinstance(cell, str) else "" for cell in found["income"]] == [
        chr(letter) if letter else "" for letter in letters
    ]
    assert meta.variable_value_labels["smoke"] == {1: "Yes", 2: "No", 3: "Never", "a": "refused"}
    assert (files / "t.dta").read_bytes()[0] == ord("s")  # 115, the format of Stata 12, which foreign reads


def test_sas_has_special_missing_values_and_a_program_for_labels(files, tmp_path):
    frame, schema = table()
    found, _ = pyreadstat.read_xport(files / "t.xpt")
    assert list(found) == [*frame, "_synthetic"]
    np.testing.assert_array_equal(found["age"], frame["age"])
    np.testing.assert_allclose(found["score"], frame["score"], rtol=1e-15)
    assert found["income"].isna().sum() == 9
    data = (files / "t.xpt").read_bytes()
    rows = data[data.index(b"HEADER RECORD*******OBSV8") + 80 :]  # of ten numbers, and a text of six bytes
    heads = [rows[86 * at : 86 * at + 8] for at in range(N)]
    letters = letters_of(frame["income"].to_numpy())
    for letter in "AB":
        special = bytes([ord(letter), *[0] * 7])
        assert [head == special for head in heads] == (letters == ord(letter.lower())).tolist()
    plans = written(frame, schema, tmp_path, ("xpt",))
    program = writing.to_sas.format_program(plans["xpt"], ["t.xpt"])
    assert '1 = "Yes"' in program
    assert '.A = "refused"' in program
    assert "filespec='t.xpt'" in program


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_our_reader_gives_the_copy_with_its_kinds_and_labels(files, ending):
    frame, schema = table()
    with pytest.warns(sdp.PysynthdpWarning, match="income: some of its values have no label"):
        read = sdp.read(files / f"t.{ending}")
    assert list(read.frame) == list(frame)
    for name in ("age", "kids", "town", "day", "at", "score"):
        assert read.frame[name].isna().tolist() == frame[name].isna().tolist()
        assert read.frame[name].dropna().tolist() == frame[name].dropna().tolist(), name
    assert read.frame["smoke"].astype(str).tolist() == frame["smoke"].astype(str).tolist()
    assert read.frame["smoke"].cat.categories.tolist() == ["Yes", "No", "Never", "refused"]
    same = letters_of(read.frame["income"].to_numpy()) == letters_of(frame["income"].to_numpy())
    if ending == "dta":  # letters of SPSS are given anew by its reader
        assert same.all()
    assert sdp.missing_kinds(read.frame, read.schema)["income"].astype(str).tolist() == (
        sdp.missing_kinds(frame, schema)["income"].astype(str).tolist()
    )
    assert read.schema["income"].labels.label == "Net income"


def test_our_reader_tells_special_missing_values_of_sas_apart(files):
    frame, _ = table()
    read = sdp.read(files / "t.xpt")
    np.testing.assert_array_equal(
        letters_of(read.frame["income"].to_numpy()), letters_of(frame["income"].to_numpy())
    )
    some = sdp.read(files / "t.xpt", usecols=["town", "income"])
    np.testing.assert_array_equal(
        letters_of(some.frame["income"].to_numpy()), letters_of(frame["income"].to_numpy())
    )


def test_labels_of_texts_that_are_no_levels_are_left_out_of_stata(tmp_path):
    labels = Labels("Town", {"B": "Bergen"}, source="spss")
    schema = Schema([CategoricalColumn("town", [], labels=labels, dtype="str")])
    plans = written(pd.DataFrame({"town": ["B", "elsewhere"]}), schema, tmp_path)
    assert pyreadstat.read_sav(tmp_path / "t.sav")[1].variable_value_labels["town"] == {"B": "Bergen"}
    assert pyreadstat.read_dta(tmp_path / "t.dta")[1].variable_value_labels == {}
    assert [one.what for one in plans["dta"].fallbacks] == ["lacks labels of codes that are no whole numbers"]


def test_whole_numbers_with_letters_and_plain_missing_values_keep_both(tmp_path):
    cells = pd.Series([1, "a", None, 2], dtype=object)
    frame = pd.DataFrame({"x": pd.Series([1, "a", 2], dtype=object)})
    pyreadstat.write_dta(frame, tmp_path / "i.dta", missing_user_values={"x": ["a"]})
    raw = (tmp_path / "i.dta").read_bytes()
    at = raw.index(b"<data>") + 6  # three longs
    assert raw[at : at + 4] == (1).to_bytes(4, "little")
    plain = (2_147_483_621).to_bytes(4, "little")  # the missing value without a letter
    (tmp_path / "i.dta").write_bytes(raw[: at + 8] + plain + raw[at + 12 :])
    read = sdp.read(tmp_path / "i.dta")
    assert read.frame["x"].isna().tolist() == [False, True, True]
    schema = Schema([NumericColumn("x", decimals=0, missing={".a": "refused"})])
    held = np.concatenate([[1.0], tagged([".a"]), [np.nan, 2.0]])
    written(pd.DataFrame({"x": held}), schema, tmp_path, ("dta",))
    found, _ = pyreadstat.read_dta(tmp_path / "t.dta", user_missing=True)
    assert found["x"].where(found["x"].notna(), None).tolist() == cells.tolist()


def test_whole_numbers_stay_so_where_some_are_missing(tmp_path):
    cells = pd.Series([3, None, 12] * 20, dtype="Int64")
    written(pd.DataFrame({"month": cells}), Schema([NumericColumn("month", decimals=0)]), tmp_path, ("dta",))
    assert pyreadstat.read_dta(tmp_path / "t.dta")[1].readstat_variable_types["month"] == "int32"
    pd.testing.assert_series_equal(sdp.read(tmp_path / "t.dta").frame["month"], cells.rename("month"))


def test_texts_are_as_wide_in_every_copy(tmp_path):
    labels = Labels("Town", source="spss", format="A12")
    schema = Schema([CategoricalColumn("town", [], missing={"none": "refused"}, labels=labels, dtype="str")])
    copies = [pd.DataFrame({"town": [None, "Bergen"]}), pd.DataFrame({"town": ["none", "Ås"]})]
    plans = planned(copies[0], copies, schema, ("sav", "xpt", "dta"), watermark=True)
    for number, copy in enumerate(copies):
        list(write_files(plans, copy, tmp_path, f"t{number}", number=number, title="Synthetic data"))
        found, meta = pyreadstat.read_sav(tmp_path / f"t{number}.sav", user_missing=True)
        assert meta.original_variable_types["town"] == "A12"
        assert meta.missing_ranges["town"] == [{"lo": "none", "hi": "none"}]
        want = copy["town"].fillna("").tolist()
        assert found["town"].tolist() == want
        assert pyreadstat.read_xport(tmp_path / f"t{number}.xpt")[0]["town"].tolist() == want
        assert pyreadstat.read_dta(tmp_path / f"t{number}.dta")[0]["town"].tolist() == want
    assert {one.what for one in plans["dta"].fallbacks} == {
        "has texts that mean missing, and does not say that they do"
    }


def test_a_file_depends_on_its_copy_alone(files, tmp_path):
    written(*table(), tmp_path)
    for ending in ("sav", "dta", "xpt"):
        assert (tmp_path / f"t.{ending}").read_bytes() == (files / f"t.{ending}").read_bytes()


def test_a_range_of_missing_codes_is_declared_again(tmp_path):
    kinds = (Kind(".a", 98, "other"), Kind(".b", 99, "none"), Kind(".c", -8, "refused"))
    labels = Labels(kinds=kinds, missing_range=(98, 99), source="spss", format="F8.0")
    x = np.concatenate([[1.0, 2.0], tagged([".a", ".b", ".c"])])
    missing = {".a": "other", ".b": "none", ".c": "refused"}
    schema = Schema([NumericColumn("x", missing=missing, labels=labels)])
    written(pd.DataFrame({"x": x}), schema, tmp_path, ("sav",))
    found, meta = pyreadstat.read_sav(tmp_path / "t.sav", user_missing=True)
    assert found["x"].tolist() == [1, 2, 98, 99, -8]
    assert meta.missing_ranges["x"] == [{"lo": 98, "hi": 99}, {"lo": -8, "hi": -8}]


def test_kinds_of_stata_get_codes_below_all_values_in_spss(tmp_path):
    schema = Schema([NumericColumn("x", missing={".a": "refused", ".z": "moved"})])
    for low, codes in ((0.0, [-1, -2]), (-50.0, [-101, -102])):
        frame = pd.DataFrame({"x": np.concatenate([[low, 5.0], tagged([".a", ".z"])])})
        plans = written(frame, schema, tmp_path, ("sav", "dta"))
        found, meta = pyreadstat.read_sav(tmp_path / "t.sav", user_missing=True)
        assert found["x"].tolist() == [low, 5, *codes]
        assert meta.variable_value_labels["x"] == dict(zip(codes, ["refused", "moved"], strict=True))
        assert "has codes for missing kinds: .a is" in plans["sav"].fallbacks[0].what
        assert pyreadstat.read_dta(tmp_path / "t.dta", user_missing=True)[0]["x"].tolist()[2:] == ["a", "z"]


def test_four_kinds_become_a_range_where_no_value_lies_in_it(tmp_path):
    codes = {-9: "a", -8: "b", -7: "c", 99: "d"}
    schema = Schema([NumericColumn("x", missing=codes)])
    frame = pd.DataFrame({"x": [1.0, 50.0, -9, -8, -7, 99]})
    written(frame, schema, tmp_path, ("sav",))
    _, meta = pyreadstat.read_sav(tmp_path / "t.sav", user_missing=True)
    assert meta.missing_ranges["x"] == [{"lo": -9, "hi": -7}, {"lo": 99, "hi": 99}]
    with pytest.raises(ReleaseError, match="it has 5 missing kinds, and three"):
        planned(frame, [frame], schema.amend("x", missing={**codes, 40: "e"}), ("sav",), watermark=True)


def test_text_codes_stay_texts_in_spss_and_become_numbers_in_stata(tmp_path):
    labels = Labels("Sex", {"M": "Male", "F": "Female"})
    schema = Schema([CategoricalColumn("sex", ["Male", "Female"], labels=labels)])
    frame = pd.DataFrame({"sex": pd.Categorical(["Female", "Male", None], ["Male", "Female"])})
    plans = written(frame, schema, tmp_path)
    found, meta = pyreadstat.read_sav(tmp_path / "t.sav")
    assert found["sex"].tolist() == ["F", "M", ""]
    assert meta.variable_value_labels["sex"] == {"M": "Male", "F": "Female"}
    found, meta = pyreadstat.read_dta(tmp_path / "t.dta")
    assert found["sex"].dropna().tolist() == [2, 1]
    assert meta.variable_value_labels["sex"] == {1: "Male", 2: "Female"}
    assert [one.column for one in plans["dta"].fallbacks if one.lossy] == ["sex"]


NAMES = ["a b", "n" * 70, "if", "ALL", "x.", "Größe", "größe", "1a", "_q", "synthetic_", "z"]


def test_names_that_a_program_has_not_are_others_there_and_said(tmp_path):
    frame = pd.DataFrame({name: [1.0, 2.0] for name in NAMES})
    plans = written(frame, Schema(()), tmp_path)
    for ending, read in (
        ("sav", pyreadstat.read_sav),
        ("dta", pyreadstat.read_dta),
        ("xpt", pyreadstat.read_xport),
    ):
        found, meta = read(tmp_path / f"t.{ending}")
        assert len({name if ending == "dta" else name.lower() for name in found}) == len(NAMES) + 1
        assert list(found)[len(NAMES) - 1] == "z"
        renamed = {one.column for one in plans[ending].fallbacks if "is called" in one.what}
        for old, new in zip(NAMES, found, strict=False):
            assert (old in renamed) == (old != new)
            assert old == new or meta.column_names_to_labels[new] == old
        assert "a b" in renamed
        assert "z" not in renamed


def test_labels_that_are_too_long_are_cut_and_said(tmp_path):
    labels = Labels("ä" * 300, {1: "x" * 130, 2: "y"})
    schema = Schema([CategoricalColumn("q", ["x" * 130, "y"], labels=labels)])
    frame = pd.DataFrame({"q": pd.Categorical(["y"] * 3, ["x" * 130, "y"])})
    plans = written(frame, schema, tmp_path)
    _, spss = pyreadstat.read_sav(tmp_path / "t.sav")
    _, stata = pyreadstat.read_dta(tmp_path / "t.dta")
    assert spss.column_names_to_labels["q"] == "ä" * 128
    assert spss.variable_value_labels["q"][1] == "x" * 120
    assert stata.column_names_to_labels["q"] == "ä" * 80
    assert stata.variable_value_labels["q"][1] == "x" * 130
    assert [one.what for one in plans["sav"].fallbacks] == [
        "has a label that is cut at 256 bytes",
        "has labels of 1 values that are cut at 120 bytes",
    ]
    alike = replace(labels, codes={1: "x" * 130, 2: "x" * 131})
    levels = ["x" * 130, "x" * 131]
    frame = pd.DataFrame({"q": pd.Categorical(levels, levels)})
    with pytest.raises(ReleaseError, match="labels that differ after 120 bytes only are one there"):
        planned(
            frame, [frame], Schema([CategoricalColumn("q", levels, labels=alike)]), ("sav",), watermark=True
        )


@pytest.mark.parametrize(
    ("cells", "formats", "what"),
    [
        (["a ", "b"], "sav xpt", "texts that end in blanks"),
        (["x" * 40_000, "b"], "sav xpt", "texts longer than 32,767 bytes"),
        (["", None], "sav dta xpt", "empty texts and missing ones"),
        (["a\x00b", "c"], "sav dta xpt", "a zero byte"),
        ([np.inf, 1.0], "sav dta xpt", "infinite numbers"),
        ([1e308, 1.0], "dta xpt", "numbers beyond"),
        ([1e-300, 1.0], "xpt", "nearer to zero than"),
        ([2**53 + 1, 1], "sav dta xpt", "whole numbers of more than 53 bits"),
        (np.array(["1500-01-01", "2020-01-01"], "datetime64[s]"), "sav xpt", "days before 1582"),
    ],
)
def test_what_would_be_changed_is_refused_by_column(cells, formats, what):
    frame = pd.DataFrame({"fine": [1, 2], "bad": cells})
    for ending in ("sav", "dta", "xpt"):
        if ending in formats.split():
            with pytest.raises(
                ReleaseError, match=rf"bad: a \.{ending} file cannot hold it: .*{what}"
            ) as caught:
                planned(frame, [frame.iloc[1:], frame], Schema(()), (ending,), watermark=True)
            assert "2020" not in str(caught.value)
        else:
            assert planned(frame, [frame], Schema(()), (ending,), watermark=True)


def test_all_faults_of_all_formats_are_told_at_once():
    frame = pd.DataFrame({"one": ["a ", "b"], "two": [np.inf, 1.0]})
    with pytest.raises(ReleaseError, match="5 faults") as caught:
        planned(frame, [frame], Schema(()), ("sav", "dta", "xpt"), watermark=True)
    assert {fault.column for fault in caught.value.faults} == {"one", "two"}


def test_values_that_equal_a_missing_code_are_refused():
    x = np.concatenate([[-8.0, 1.0], tagged([".a"])])
    labels = Labels(kinds=(Kind(".a", -8, "refused"),), source="spss")
    schema = Schema([NumericColumn("x", missing={".a": "refused"}, labels=labels)])
    with pytest.raises(ReleaseError, match="some of its values equal codes that mean missing"):
        planned(pd.DataFrame({"x": x}), [pd.DataFrame({"x": x})], schema, ("sav",), watermark=True)


def test_days_with_kinds_keep_both(tmp_path):
    days = np.concatenate([[0.0, 18_262.0], tagged([".a"])])
    schema = Schema([NumericColumn("day", unit="day", missing={".a": "unknown"}, dtype="float64")])
    written(pd.DataFrame({"day": days}), schema, tmp_path)
    found, _ = pyreadstat.read_dta(tmp_path / "t.dta", user_missing=True)
    assert [str(cell) for cell in found["day"]] == ["1970-01-01", "2020-01-01", "a"]
    found, meta = pyreadstat.read_sav(tmp_path / "t.sav", disable_datetime_conversion=True, user_missing=True)
    assert meta.missing_ranges["day"]
    assert (found["day"].iloc[:2] / 86_400 - 141_428).tolist() == [0, 18_262]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_any_unit_come_back(unit, tmp_path):
    times = pd.Series(np.array(["2020-01-02T03:04:05", "1800-05-06T07:08:09", "NaT"], f"datetime64[{unit}]"))
    frame = pd.DataFrame({"at": times, "x": [1.0, 2.0, 3.0]})
    written(frame, Schema(()), tmp_path)
    for ending, read in (
        ("sav", pyreadstat.read_sav),
        ("dta", pyreadstat.read_dta),
        ("xpt", pyreadstat.read_xport),
    ):
        found, _ = read(tmp_path / f"t.{ending}")
        assert pd.to_datetime(found["at"]).dt.round("s").tolist()[:2] == times.tolist()[:2]
        assert found["at"].isna().tolist() == [False, False, True]


def test_a_release_is_saved_in_all_formats_and_read_back(tmp_path):
    frame, schema = table()
    others = [NumericColumn(name, decimals=0) for name in ("age", "kids")]
    others += [CategoricalColumn("works", [False, True]), CategoricalColumn("town", ["Bergen", "Narvik"])]
    others += [NumericColumn("at", unit="second", dtype="datetime64[us]"), NumericColumn("score")]
    whole = Schema([{one.name: one for one in (*schema, *others)}[name] for name in frame])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = sdp.Synthesizer(schema=whole, progress=False).fit(frame).draw(m=2, rng=1)
        folder = made.save(tmp_path / "r", formats=("parquet", "csv", "sav", "dta", "xpt"))
    names = {path.name for path in folder.iterdir()}
    for number in (1, 2):
        assert {f"synthetic_{number}.{e}" for e in ("parquet", "csv", "sav", "dta", "xpt")} <= names
    assert {"labels.sas", "analyse.do"} <= names
    manifest = json.loads((folder / "release.json").read_text())
    assert set(manifest["other_copies"]) == {"csv", "sav", "dta", "xpt"}
    assert {"format": "xpt", "column": "works", "what": "has 1 and 0 for truth values"} in manifest[
        "fallbacks"
    ]
    assert sdp.verify(folder).status == "none"
    for number, copy in enumerate(sdp.SyntheticRelease.load(folder)):
        pd.testing.assert_frame_equal(copy, made[number])
        with pytest.warns(sdp.PysynthdpWarning):
            back = sdp.read(folder / f"synthetic_{number + 1}.dta").frame
        assert back["age"].tolist() == copy["age"].tolist()
    text = " ".join((folder / "README.txt").read_text().split())
    assert "synthetic_1.sav to synthetic_2.sav the same for SPSS" in text
    assert ".sav, .dta, .xpt: works has 1 and 0 for truth values" in text
    (folder / "synthetic_2.sav").write_bytes(b"x")
    assert sdp.verify(folder).status == "changed"


def test_drawing_to_files_writes_the_same_bytes(tmp_path):
    frame, _ = table()
    fits = [sdp.Synthesizer(progress=False).fit(frame[["age", "town", "score"]]) for _ in range(2)]
    formats = ("csv", "parquet", "sav", "dta", "xpt")
    one = fits[0].draw(m=2, rng=5).save(tmp_path / "one", formats=formats)
    two = fits[1].draw_to(tmp_path / "two", m=2, rng=5, formats=formats)
    assert {p.name for p in one.iterdir()} == {p.name for p in two.iterdir()}
    for path in one.iterdir():
        assert path.read_bytes() == (two / path.name).read_bytes(), path.name


def test_nothing_is_written_where_one_format_refuses(tmp_path):
    frame = pd.DataFrame({"t": ["a ", "b "] * 40, "x": np.arange(80) / 4})
    release = sdp.Synthesizer(progress=False).fit(frame).draw(m=1, rng=1)
    with pytest.raises(ReleaseError, match=r"t: a \.sav file cannot hold it"):
        release.save(tmp_path / "r", formats=("csv", "sav"))
    assert list(tmp_path.iterdir()) == []


def test_large_copies_go_into_parquet_and_csv_only(tmp_path, monkeypatch):
    release = sdp.synthesize(pd.DataFrame({"x": np.arange(90) / 4, "y": np.arange(90) % 7}), m=1, rng=1)
    monkeypatch.setattr(writing, "MOST_CELLS", 100)
    with pytest.raises(ReleaseError, match="copies of 180 cells are too large for sav"):
        release.save(tmp_path / "r", formats=("csv", "sav"))
    release.save(tmp_path / "r", formats=("csv", "parquet"))


def test_without_pyreadstat_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyreadstat", None)
    release = sdp.synthesize(pd.DataFrame({"x": np.arange(90) / 4}), m=1, rng=1)
    with pytest.raises(PlanError, match=r"pip install 'pysynthdp\[files\]'"):
        release.save(tmp_path / "r", formats="sav")
    assert list(tmp_path.iterdir()) == []


def test_formats_that_lose_something_warn_once(tmp_path):
    frame = pd.DataFrame({"with blank": np.arange(90) / 4, "y": np.arange(90) % 7})
    release = sdp.synthesize(frame, m=2, rng=1)
    with pytest.warns(
        sdp.PysynthdpWarning, match=r"with blank: in \.dta files it is called with_blank"
    ) as said:
        release.save(tmp_path / "r", formats="dta")
    assert len(said) == 1


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_a_labelled_file_goes_in_and_out_with_its_structure(ending, tmp_path):
    written(*table(800), tmp_path, (ending,), mark=False)
    source = tmp_path / f"t.{ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sdp.PysynthdpWarning)
        original = sdp.read(source)
        release = sdp.synthesize(original, m=2, rng=1)
        folder = release.save(tmp_path / "out", formats=("csv", ending))
        for other in (release, folder, folder / f"synthetic_2.{ending}"):
            diff = sdp.structure_diff(source, other)
            assert diff.empty, diff
        back = sdp.read(folder / "synthetic_1.csv", folder / "codebook.csv")
        copy = sdp.read(folder / f"synthetic_1.{ending}")
    pd.testing.assert_frame_equal(back.frame, release[0])
    assert sdp.structure_diff(release, back).empty
    assert "Never" in copy.frame["smoke"].cat.categories  # a level that nobody has
    before, after = (one.kinds("income").value_counts(normalize=False) for one in (original, copy))
    share = before["refused"] / 800
    assert abs(after["refused"] / 800 - share) < 5 * np.sqrt(2 * share * (1 - share) / 800)
    assert not ((copy.frame["income"] < 0).any())


def test_what_the_schema_forbids_is_refused_before_anything_is_drawn(tmp_path):
    frame = pd.DataFrame({"x": np.arange(95) / 4 + 1})
    missing = {"x": {-code: f"reason {code}" for code in range(1, 28)}}
    fit = sdp.Synthesizer(missing=missing, progress=False).fit(frame)
    with pytest.raises(ReleaseError, match="it has more than 26 missing kinds"):
        fit.draw_to(tmp_path / "r", m=1, formats=("csv", "dta"))
    assert not fit.account.draws
    assert list(tmp_path.iterdir()) == []
