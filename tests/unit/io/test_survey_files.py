"""Labelled files come as frames whose values are values, with all that the files say of them beside."""

from __future__ import annotations

import os
import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp import CategoricalColumn, Kind, Labels, NumericColumn, Schema
from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpWarning, SchemaError
from pysynthdp.design.tagged import letters_of, tagged
from pysynthdp.io.survey.clocks import clock_of

MUST_RUN = os.environ.get("PYSYNTHDP_TESTS_MUST_RUN") == "yes"
needs_pyreadstat = pytest.mark.skipif(
    not MUST_RUN and find_spec("pyreadstat") is None, reason="pyreadstat is not installed"
)
RNG = np.random.default_rng(8)
N = 400
SPSS = {
    "income": RNG.choice([100.5, 200, 350, -8, -9, 98, 99, np.nan], N),
    "sex": RNG.choice([1.0, 2.0, 9.0], N),
    "score": RNG.choice([0.0, 1.0, 2.0, 3.0], N),
    "town": RNG.choice(["a", "b", "", "zz"], N),
    "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(RNG.integers(0, 20_000, N), "D"),
}
SPSS_FACTS = {
    "column_labels": {"income": "Income per month", "sex": "Sex"},
    "variable_value_labels": {
        "income": {-8.0: "not asked", -9.0: "refused", 98.0: "unknown"},
        "sex": {1.0: "Man", 2.0: "Woman", 3.0: "Other", 9.0: "No answer"},
        "score": {0.0: "none"},
        "town": {"a": "Aachen", "b": "Bonn", "zz": "nowhere"},
    },
    "missing_ranges": {
        "income": [{"lo": 97, "hi": 99}, {"lo": -9, "hi": -9}],
        "sex": [9],
        "town": ["zz"],
    },
    "variable_measure": {"income": "scale", "sex": "ordinal"},
}


def _sav(path, frame=None, **facts):
    import pyreadstat

    pyreadstat.write_sav(pd.DataFrame(SPSS) if frame is None else frame, str(path), **(facts or SPSS_FACTS))
    return path


def _dta(path, frame, **facts):
    import pyreadstat

    pyreadstat.write_dta(frame, str(path), **facts)
    return path


def _letters(numbers):
    return "".join(chr(letter) if letter else "-" for letter in letters_of(np.asarray(numbers)))


@pytest.fixture(scope="module")
def sav(tmp_path_factory):
    return _sav(tmp_path_factory.mktemp("sav") / "wave.sav")


@pytest.fixture
def read_sav(sav):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*(score|income): some of its values have no label")
        return sdp.read(sav)


@needs_pyreadstat
def test_labels_of_some_values_alone_are_said(sav):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        sdp.read(sav)
    assert sorted(each.message.column for each in said) == ["income", "score"]
    assert all("some of its values have no label" in str(each.message) for each in said)


@needs_pyreadstat
def test_spss_missing_codes_are_kinds_and_never_numbers(read_sav):
    raw = SPSS["income"]
    kinds = read_sav.kinds("income")
    expected = {-9.0: "refused", 98.0: "unknown", 99.0: "99"}
    for code, label in expected.items():
        assert ((raw == code) == (kinds == label)).all()
    income = read_sav.frame["income"]
    assert income.dropna().isin([100.5, 200, 350, -8]).all()  # -8 has a label and is not declared missing
    assert (income.isna() == (np.isnan(raw) | np.isin(raw, list(expected)))).all()
    labels = read_sav.schema["income"].labels
    assert labels.missing_range == (97, 99)
    assert {kind.code: kind.label for kind in labels.kinds} == {-9: "refused", 98: "unknown", 99: ""}
    assert labels.codes == ((-8, "not asked"),)
    assert (labels.label, labels.measure, labels.source) == ("Income per month", "scale", "spss")


@needs_pyreadstat
def test_a_variable_whose_codes_all_have_labels_is_categories_of_them(read_sav):
    sex, column = read_sav.frame["sex"], read_sav.schema["sex"]
    assert list(sex.cat.categories) == ["Man", "Woman", "Other", "No answer"]
    assert column.levels == ("Man", "Woman", "Other")
    assert column.missing == (("No answer", "No answer"),)
    assert sex.cat.ordered
    assert column.ordered
    assert (sex == "No answer").equals(pd.Series(SPSS["sex"] == 9, name="sex"))
    assert column.labels.code_of() == {"Man": 1, "Woman": 2, "Other": 3, "No answer": 9}
    town = read_sav.frame["town"]
    assert town.isna().sum() == (SPSS["town"] == "").sum()
    assert read_sav.kinds("town").notna().sum() == (SPSS["town"] == "zz").sum()


@needs_pyreadstat
def test_others_keep_their_types(read_sav):
    assert read_sav.frame["score"].dtype == np.float64  # printed with decimals
    assert read_sav.schema["score"].labels.codes == ((0, "none"),)
    assert read_sav.frame["born"].dtype == "datetime64[us]"
    assert (read_sav.frame["born"] == SPSS["born"]).all()
    assert read_sav.schema["born"].unit == "second"  # DATETIME20
    assert not read_sav.schema.declared


@needs_pyreadstat
def test_labels_travel_to_copies_and_folders(read_sav, tmp_path):
    release = sdp.synthesize(read_sav, m=2, rng=1)
    assert [column.labels for column in release.schema] == [column.labels for column in read_sav.schema]
    for name in ("sex", "town"):
        assert release[0][name].dtype == read_sav.frame[name].dtype
        assert release.schema[name].levels == read_sav.schema[name].levels
    shares = [sdp.missing_kinds(frame, release.schema)["income"].value_counts(normalize=True)
              for frame in (release[0], read_sav.frame)]  # fmt: skip
    assert (shares[0] - shares[1]).abs().max() < 0.1
    release.save(tmp_path / "out", format="csv")
    again = sdp.read(tmp_path / "out" / "synthetic_1.csv", tmp_path / "out" / "codebook.csv")
    pd.testing.assert_frame_equal(again.frame, release[0])
    assert (letters_of(again.frame["income"].to_numpy()) == letters_of(release[0]["income"].to_numpy())).all()
    assert [column.labels for column in again.schema] == [column.labels for column in release.schema]
    assert again.schema == Schema.from_codebook(tmp_path / "out" / "codebook.csv")


@needs_pyreadstat
def test_every_door_takes_the_table_and_the_name_of_its_file(read_sav, sav):
    ask = sdp.Synthesizer(drop=["born"])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*some of its values have no label")
        by_name = ask.fit(sav).draw(1, rng=1)
    assert by_name[0].equals(ask.fit(read_sav).draw(1, rng=1)[0])
    assert str(ask.plan(read_sav)).count("income") >= 2
    seen = {column.name: column for column in sdp.look(read_sav).columns}
    assert seen["sex"].label == "Sex"
    assert [label for label, _ in seen["income"].missing][1:] == ["refused", "unknown", "99"]
    assert "Income per month" in str(sdp.look(read_sav))


@needs_pyreadstat
def test_the_users_own_words_win(read_sav):
    schema = (
        sdp.Synthesizer(levels={"sex": ["Man", "Woman"]}, missing={"sex": {"Other": "x", "No answer": "y"}})
        .plan(read_sav)
        .schema
    )
    assert schema["sex"].levels == ("Man", "Woman")
    assert schema["income"].tags == (".a", ".b", ".c")


@needs_pyreadstat
def test_its_picture_shows_no_cell(read_sav):
    shown = str(read_sav)
    assert "400 rows" in shown
    assert not any(str(value) in shown for value in (100.5, 350))
    assert read_sav._repr_html_()
    part = read_sav[["sex", "income"]]
    assert part.schema.names == ("sex", "income") == tuple(part.frame.columns)
    with pytest.raises(SchemaError, match="no kinds"):
        read_sav.kinds("score")
    with pytest.raises(SchemaError, match="several"):
        read_sav["sex"]


@needs_pyreadstat
def test_stata_letters_are_kinds(tmp_path):
    income = np.array(["a", "b", 12.5, 30.0, None, "z"] * 20, dtype=object)
    band = np.array([1.0, 2.0, "a", np.nan] * 30, dtype=object)
    frame = pd.DataFrame(
        {"income": income, "band": band, "n": np.arange(120, dtype=np.int32), "s": ["x", ""] * 60}
    )
    labels = {
        "income": {"a": "refused", "b": "don't know"},
        "band": {1: "low", 2: "high", 3: "top", "a": "refused"},
    }
    path = _dta(
        tmp_path / "w.dta", frame, variable_value_labels=labels, column_labels={"income": "Income"},
        missing_user_values={"income": ["a", "b", "z"], "band": ["a"]},
    )  # fmt: skip
    table = sdp.read(path)
    numbers = table.frame["income"].to_numpy()
    assert [chr(letter) if letter else "" for letter in letters_of(numbers[:6])] == [
        "a",
        "b",
        "",
        "",
        "",
        "z",
    ]
    assert numbers.view(np.uint64)[0] == tagged([".a"]).view(np.uint64)[0]
    assert table.schema["income"].missing == ((".a", "refused"), (".b", "don't know"), (".z", ".z"))
    assert table.schema["band"].levels == ("low", "high", "top")
    assert table.schema["band"].missing == (("refused", "refused"),)
    assert table.schema["band"].labels.kinds == (Kind(".a", None, "refused"),)
    assert table.frame["n"].dtype == "Int64"
    assert table.frame["s"].isna().sum() == 60
    copy = sdp.synthesize(table[["income", "band"]], m=1, rng=1)[0]
    assert {*letters_of(copy["income"].to_numpy())} == {0, *map(ord, "abz")}


@needs_pyreadstat
def test_public_labels_decide_alone(sav, tmp_path):
    table = sdp.read(sav, public=True)
    assert table.public
    other = pd.DataFrame(SPSS)
    other.loc[0, ["income", "sex", "score", "town"]] = [97.5, 7.0, 1.5, "qq"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        neighbour = sdp.read(_sav(tmp_path / "other.sav", other), public=True)
    assert neighbour.schema == table.schema
    assert neighbour.frame.dtypes.equals(table.frame.dtypes)
    pd.testing.assert_frame_equal(neighbour.frame[1:], table.frame[1:])
    assert neighbour.frame["sex"].isna()[0]
    assert str(neighbour) == str(table)
    assert [column.name for column in table.schema if not column.declared] == []
    labels = table.schema["income"].labels
    assert [kind.code for kind in labels.kinds] == [-9, 97, 98, 99, None]
    assert neighbour.kinds("income")[0] == "other code from 97 to 99"


@needs_pyreadstat
def test_a_guarantee_takes_public_labels_alone(sav, read_sav):
    guarantee = sdp.ByNoise(sdp.ZCDP(20.0), testing=True)
    with pytest.raises(PrivacyError, match="cells of the table decided"):
        sdp.Synthesizer(guarantee=guarantee).fit(read_sav[["sex"]], noise_seed=1)
    with pytest.raises(PrivacyError, match="takes nothing from the data"):
        sdp.Synthesizer(guarantee=guarantee).fit(sav, noise_seed=1)
    table = sdp.read(sav, public=True)[["sex", "income"]]
    with pytest.raises((PrivacyError, sdp.PlanError), match=r"sex|income"):
        sdp.Synthesizer(guarantee=guarantee).fit(table, noise_seed=1)  # no bounds, nowhere for others
    schema = table.schema.amend("sex", other="Other").amend("income", lower=-10, upper=500, fallback=0)
    noted = Schema([*schema, CategoricalColumn("note", (), declared=False)])
    with_note = sdp.SurveyTable(table.frame.assign(note="x"), noted, public=True)
    with pytest.raises((PrivacyError, sdp.PlanError), match="note"):
        sdp.Synthesizer(guarantee=guarantee).fit(with_note, noise_seed=1)
    release = sdp.Synthesizer(guarantee=guarantee, schema=schema).fit(table, noise_seed=1).draw(1, rng=1)
    assert release.schema["income"].labels == table.schema["income"].labels
    assert (release[0]["sex"] == "No answer").mean() == pytest.approx(1 / 3, abs=0.12)


@needs_pyreadstat
def test_equal_labels_and_none_are_told_apart_by_their_codes(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0] * 10})
    path = _sav(
        tmp_path / "t.sav", frame, variable_value_labels={"x": {1.0: "Yes", 2.0: "Yes", 3.0: " ", 4.0: "No"}}
    )
    with pytest.warns(PysynthdpWarning, match="x: two of its codes have the same label"):
        table = sdp.read(path)
    assert table.schema["x"].levels == ("1 Yes", "2 Yes", "3", "No")


@needs_pyreadstat
def test_kinds_beyond_the_alphabet_are_refused_by_name(tmp_path):
    codes = np.repeat(np.arange(100.0, 130.0), 6)
    frame = pd.DataFrame({"x": codes, "y": 1.0})
    path = _sav(tmp_path / "t.sav", frame, missing_ranges={"x": [{"lo": 100, "hi": 200}]})
    with pytest.raises(SchemaError, match=r"x has more than 26 kinds.*usecols") as error:
        sdp.read(path)
    assert error.value.column == "x"
    assert sdp.read(path, usecols=["y"]).schema.names == ("y",)


@needs_pyreadstat
def test_codes_of_few_records_in_a_range_are_one_kind(tmp_path):
    codes = np.append(np.repeat([-1.0, -2.0, 7.0], 30), [-55.0, -56.0])
    frame = pd.DataFrame({"x": codes})
    path = _sav(tmp_path / "t.sav", frame, missing_ranges={"x": [{"lo": -100, "hi": -1}]})
    table = sdp.read(path)
    assert [kind.code for kind in table.schema["x"].labels.kinds] == [-2, -1, None]
    assert (table.kinds("x") == "other code from -100 to -1").sum() == 2
    assert "-55" not in str(table.schema["x"])


@needs_pyreadstat
@pytest.mark.parametrize("cut", [40, 400, -300, -1])
@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_damaged_files_are_refused_without_a_cell(tmp_path, cut, ending):
    frame = pd.DataFrame({"secret": RNG.normal(size=500), "name": ["Wilhelmina"] * 500})
    path = (_sav if ending == "sav" else _dta)(tmp_path / f"t.{ending}", frame, column_labels=["a", "b"])
    content = path.read_bytes()
    path.write_bytes(content[:cut] if cut != -1 else b"\x00" * 50 + content)
    with pytest.raises(SchemaError, match="damaged") as error:
        sdp.read(path)
    assert "Wilhelmina" not in str(error.value)


@needs_pyreadstat
def test_dates_beyond_any_calendar_are_missing(tmp_path):
    seconds = np.array([0.0, -86_400.0, 13_797_216_000.0, 1e20, np.nan] * 3)
    path = _sav(tmp_path / "t.sav", pd.DataFrame({"d": seconds}), variable_format={"d": "DATE11"})
    days = sdp.read(path).frame["d"]
    assert days[0] == np.datetime64("1582-10-14")
    assert days[1] == np.datetime64("1582-10-13")
    assert days[2] == np.datetime64("2020-01-01")
    assert days[3:5].isna().all()


@needs_pyreadstat
def test_dates_with_kinds_are_days_as_numbers(tmp_path):
    seconds = np.array([13_797_216_000.0, 13_797_302_400.0, -99.0] * 10)
    path = _sav(
        tmp_path / "t.sav", pd.DataFrame({"d": seconds}), variable_format={"d": "DATE11"},
        missing_ranges={"d": [-99]},
    )  # fmt: skip
    table = sdp.read(path)
    assert table.frame["d"][:2].tolist() == [18_262.0, 18_263.0]
    assert table.schema["d"].unit == "day"
    assert (table.kinds("d") == "-99").sum() == 10
    plan = sdp.Synthesizer().plan(table)
    assert plan.schema["d"].labels == table.schema["d"].labels


@needs_pyreadstat
def test_long_texts_come_whole(tmp_path):
    texts = ["é" * 900, "b"] * 20
    for write, name in ((_sav, "t.sav"), (_dta, "t.dta")):
        path = write(tmp_path / name, pd.DataFrame({"s": texts}), column_labels=["text"])
        assert sdp.read(path).frame["s"].tolist() == texts


@needs_pyreadstat
@pytest.mark.parametrize("ending", ["zsav", "por"])
def test_other_files_of_spss_are_read_alike(tmp_path, ending):
    import pyreadstat

    frame = pd.DataFrame({"SEX": [1.0, 2.0] * 20, "X": [1.5, 8.25] * 20, "S": ["a", "b"] * 20})
    labels = {"SEX": {1.0: "Man", 2.0: "Woman"}}
    path = tmp_path / f"t.{ending}"
    if ending == "por":
        pyreadstat.write_por(frame, str(path))
    else:
        pyreadstat.write_sav(frame, str(path), variable_value_labels=labels, compress=True)
    table = sdp.read(path)
    assert table.frame["X"].tolist() == frame["X"].tolist()
    assert table.frame["S"].tolist() == frame["S"].tolist()
    if ending == "zsav":
        assert table.schema["SEX"].levels == ("Man", "Woman")


@needs_pyreadstat
@pytest.mark.parametrize("version", [5, 8])
def test_transport_files_tell_their_kinds(tmp_path, version):
    import pyreadstat

    frame = pd.DataFrame({"X": [1.5, np.nan] * 20, "Y": [1.0, 2.0] * 20, "S": ["a", "b"] * 20})
    pyreadstat.write_xport(frame, str(tmp_path / "t.xpt"), file_format_version=version)
    content = (tmp_path / "t.xpt").read_bytes()
    plain = b"." + bytes(7)
    (tmp_path / "t.xpt").write_bytes(
        content.replace(plain, b"C" + bytes(7), 1).replace(plain, b"_" + bytes(7), 1)
    )
    table = sdp.read(tmp_path / "t.xpt")
    assert table.frame["X"].tolist()[:1] == [1.5]
    assert table.frame["S"].tolist() == frame["S"].tolist()
    assert table.frame["X"].isna().tolist() == frame["X"].isna().tolist()
    assert letters_of(table.frame["X"].to_numpy())[:6].tolist() == [0, ord("c"), 0, ord("_"), 0, 0]


@needs_pyreadstat
def test_slips_are_named(tmp_path, sav):
    with pytest.raises(PlanError, match="there is no file"):
        sdp.read(tmp_path / "none.sav")
    with pytest.raises(SchemaError, match=r"has no column 'sexx'.*'sex'"):
        sdp.read(sav, usecols=["sexx"])
    with pytest.raises(PlanError, match="catalog"):
        sdp.read(sav, "formats.sas7bcat")
    with pytest.raises(PlanError, match=r"read it with its labels by pysynthdp.read"):
        sdp.read_table(sav)


def test_without_pyreadstat_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyreadstat", None)
    (tmp_path / "t.sav").write_bytes(b"$FL2")
    with pytest.raises(PlanError, match=r"pyreadstat.*pip install 'pysynthdp\[files\]'"):
        sdp.read(tmp_path / "t.sav")


BOOK = """name,kind,type,codes,levels,kinds,measure,missing
sex,categorical,,1 = Man | 2 = Woman,Man | Woman,= 9 = No answer,,
income,numeric,,,,.a = -8 = refused,scale,
age,numeric,Int64,,,,,
"""


HEADS = "name,codes,levels\n"


def _csv(folder, text, book=BOOK):
    (folder / "t.csv").write_text(text)
    (folder / "book.csv").write_text(book)
    return folder / "t.csv", folder / "book.csv"


def test_a_codebook_gives_a_csv_its_labels(tmp_path):
    table = sdp.read(*_csv(tmp_path, "sex,income,age,more\n1,-8,30,u\n2,12.5,,v\n9,.a,40,u\n1,,50,v\n"))
    assert table.frame["sex"].astype(object).tolist() == ["Man", "Woman", "No answer", "Man"]
    assert table.schema["sex"].missing == (("No answer", "No answer"),)
    assert [chr(letter) if letter else "" for letter in letters_of(table.frame["income"].to_numpy())] == [
        "a",
        "",
        "a",
        "",
    ]
    assert table.frame["age"].dtype == "Int64"
    assert table.schema["age"].declared
    assert not table.schema["more"].declared


def test_codes_beside_labels_are_one_and_said(tmp_path):
    with pytest.warns(PysynthdpWarning, match="sex: it has codes and labels beside one another"):
        table = sdp.read(*_csv(tmp_path, "sex,income,age\n1,1,30\nWoman,2,31\n9,3,40\n"))
    assert table.frame["sex"].astype(object).tolist() == ["Man", "Woman", "No answer"]


@pytest.mark.parametrize(
    ("text", "book", "words"),
    [
        ("sex,income,age\n1,1,30\n4,2,31\n", BOOK, "sex holds values that the codebook does not list"),
        ("sex,income,age\n1,x,30\n2,2,31\n", BOOK, "income holds cells that are neither numbers nor"),
        ("sex,income,age\n1,1,3.5\n2,2,31\n", BOOK, "age holds cells that are no Int64"),
        ("sex,income\n1,1\n2,2\n", BOOK, "describes 'age', which the file does not have"),
        (
            "sex\n1\n2\n",
            "name,codes,levels\nsex,1 = 2 | 2 = 1,2 | 1\n",
            "sex holds a code that is also the label",
        ),
        (
            "sex\n1\n2\n",
            "name,codes,levels\nsex,1 = a | 1 = b,a | b\n",
            "sex: codes has two labels for one code",
        ),
    ],
)
def test_codebooks_that_contradict_a_file_are_refused(tmp_path, text, book, words):
    with pytest.raises(SchemaError, match=words) as error:
        sdp.read(*_csv(tmp_path, text, book))
    assert "3.5" not in str(error.value)


def test_a_public_codebook_lets_no_cell_decide(tmp_path):
    one = sdp.read(*_csv(tmp_path, "sex,income,age\n1,1,30\n2,.a,31\n"), public=True)
    two = sdp.read(*_csv(tmp_path, "sex,income,age\nq,zz,many\n2,.a,31\n"), public=True)
    assert one.schema == two.schema
    assert one.frame.dtypes.equals(two.frame.dtypes)
    pd.testing.assert_frame_equal(one.frame[1:], two.frame[1:])


@needs_pyreadstat
def test_a_codebook_counts_before_a_labelled_file(sav, tmp_path):
    book = "name,lower,upper,kinds\nincome,0,1000,.a = -8 = not asked | .b = -9 = refused\n"
    (tmp_path / "book.csv").write_text(book)
    with pytest.raises(SchemaError, match="income holds codes of missing values that"):
        sdp.read(sav, tmp_path / "book.csv", usecols=["income"])
    (tmp_path / "book.csv").write_text(
        book.replace("refused", "refused | .c = 98 = unknown | .d = 99 = other")
    )
    table = sdp.read(sav, tmp_path / "book.csv", usecols=["income"])
    column = table.schema["income"]
    assert (column.lower, column.upper, column.declared) == (0, 1000, True)
    assert column.labels.label == "Income per month"
    for code, label in {-8: "not asked", -9: "refused", 98: "unknown", 99: "other"}.items():
        assert ((table.kinds("income") == label) == (SPSS["income"] == code)).all()
    (tmp_path / "book.csv").write_text("name,kind,lower,upper\nincome,numeric,0,1000\n")
    plain = sdp.read(sav, tmp_path / "book.csv", usecols=["income"])
    assert plain.schema["income"].missing == ((".a", "refused"), (".b", "unknown"), (".c", "99"))
    assert plain.schema["income"].upper == 1000


def test_formats_have_their_clocks():
    dated = {
        "spss": ["DATE11", "ADATE10", "DATETIME20"],
        "stata": ["%td", "%tdCCYY.NN.DD", "%d", "%tc", "%-td"],
        "sas": ["DATE9", "YYMMDD10", "E8601DA", "E8601DT", "DATETIME20"],
    }
    assert all(clock_of(source, form) for source, forms in dated.items() for form in forms)
    others = {
        "spss": ["F8.2", "TIME8", "A10", "DOLLAR8.2", "WKDAY9"],
        "stata": ["%9.0g", "%tw", "%tm", "%s", None],
        "sas": ["BEST12", "TIME8", "$10", "COMMA12"],
    }
    assert not any(clock_of(source, form) for source, forms in others.items() for form in forms)
    assert clock_of("stata", "%td").times(np.array([0.0]))[0] == np.datetime64("1960-01-01")
    assert clock_of("sas", "DATE9").times(np.array([0.0]))[0] == np.datetime64("1960-01-01")
    assert clock_of("stata", "%tc").times(np.array([1000.0]))[0] == np.datetime64("1960-01-01T00:00:01")
    assert isinstance(Schema([NumericColumn("x", labels=Labels(source="sas"))])["x"], NumericColumn)
    assert CategoricalColumn("x", ["a"], labels=Labels("x")).labels.label == "x"
