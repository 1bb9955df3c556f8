"""Columns of labelled files in R and back: codes, labels, na_values, tagged missing values, dates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.bridge.codec import RVector
from pysynthdp.bridge.labels_to_r import labelled_from_r, labelled_to_r
from pysynthdp.bridge.releases import release_from_r, release_to_r
from pysynthdp.bridge.verbs import objects
from pysynthdp.design.tagged import letters_of, tagged
from pysynthdp.schema import Kind, Labels

N = 300


def spss() -> sdp.SurveyTable:
    """Levels with a code that means missing, numbers with two, a range, texts, days and an instant."""
    rng = np.random.default_rng(2)
    pay = rng.integers(100, 900, N).astype(float)
    pay[:40], pay[40:60], pay[60:70] = tagged([".a"])[0], tagged([".b"])[0], np.nan
    sex = pd.Categorical(rng.choice(["Man", "Woman", "Refused"], N), ["Man", "Woman", "Other", "Refused"])
    town = pd.Categorical(rng.choice(["Aachen", "Bonn"], N), ["Aachen", "Bonn"])
    start = np.datetime64("1960-02-29", "us")
    frame = pd.DataFrame(
        {
            "pay": pay,
            "sex": sex,
            "town": town,
            "name": pd.Series(rng.choice(["x", "y"], N), dtype="str"),
            "day": start + rng.integers(0, 9_000, N).astype("timedelta64[D]"),
            "kids": pd.array(rng.integers(0, 5, N), dtype="Int64"),
            "plain": rng.normal(0, 1, N),
        }
    )
    kinds = (Kind(".a", -8, "not asked"), Kind(".b", -9, ""))
    refused = (Kind(".a", 9, "Refused"),)
    codes = ((1, "Man"), (2, "Woman"), (3, "Other"))
    columns = [
        sdp.NumericColumn(
            "pay",
            missing={".a": "not asked", ".b": "-9"},
            labels=Labels("Pay", (), kinds, missing_range=(-9.0, -8.0), source="spss"),
            declared=False,
        ),
        sdp.CategoricalColumn(
            "sex",
            ["Man", "Woman", "Other"],
            missing={"Refused": "Refused"},
            dtype=sex.dtype,
            labels=Labels("Sex", codes, refused, source="spss", format="F8.0"),
            declared=False,
        ),
        sdp.CategoricalColumn(
            "town",
            ["Aachen", "Bonn"],
            dtype=town.dtype,
            labels=Labels("Town", (("a", "Aachen"), ("b", "Bonn")), source="spss"),
            declared=False,
        ),
        sdp.CategoricalColumn("name", [], labels=Labels("Name", source="spss", format="A1"), declared=False),
        sdp.NumericColumn("day", unit="day", labels=Labels("Day", source="spss", format="DATE11")),
        sdp.NumericColumn("kids", dtype="Int64", labels=Labels("", ((0, "none"),), source="spss")),
        sdp.NumericColumn("plain", declared=False),
    ]
    return sdp.SurveyTable(frame, sdp.Schema(columns))


def alike(one: pd.DataFrame, other: pd.DataFrame) -> None:
    """Compare, tags and types too."""
    pd.testing.assert_frame_equal(one, other)
    for name in one:
        if one[name].dtype == np.float64:
            assert np.array_equal(letters_of(one[name].to_numpy()), letters_of(other[name].to_numpy()))


def column(frame: RVector, name: str) -> RVector:
    """Give one column of R's frame."""
    found = frame.items[frame.names.index(name)]
    assert isinstance(found, RVector)
    return found


def test_codes_labels_and_missing_kinds_are_as_haven_has_them():
    table = spss()
    made = labelled_to_r(table.frame, table.schema)
    pay, sex, town = (column(made, name) for name in ("pay", "sex", "town"))
    assert list(sex.attributes) == ["label", "na_values", "class", "format.spss", "labels"]
    assert set(sex.array.tolist()) == {1.0, 2.0, 9.0}
    assert (pay.array == -8).sum() == 40
    assert (pay.array == -9).sum() == 20
    assert pay.attributes["na_range"].array.tolist() == [-9.0, -8.0]
    assert "na_values" not in pay.attributes
    assert town.kind == "character"
    assert set(town.texts) == {"a", "b"}
    assert column(made, "day").classes == ("Date",)
    assert column(made, "plain").attributes == {}


def test_the_frame_comes_back_as_it_was():
    table = spss()
    schema = table.schema.amend("day", dtype=np.dtype("datetime64[us]"))
    alike(labelled_from_r(labelled_to_r(table.frame, schema), schema), table.frame)


def test_a_release_comes_back_as_it_was_with_codes_and_with_factors():
    table = spss()
    release = sdp.synthesize(table, m=2, rng=1, progress=False)
    for factors in (False, True):
        back = release_from_r(release_to_r(release, factors=factors))
        assert back.schema == release.schema
        for one, other in zip(release, back, strict=True):
            alike(one[["pay", "sex", "town", "name", "day"]], other[["pay", "sex", "town", "name", "day"]])
    sex = column(column_of_copies(release_to_r(release, factors=True)), "sex")
    assert sex.classes == ("factor",)


def test_levels_that_are_numbers_get_their_kinds_back():
    rng = np.random.default_rng(3)
    pay = rng.integers(0, 8, N).astype(float)
    pay[:50] = tagged([".a"])[0]
    labels = Labels("Pay", (), (Kind(".a", -8, ""),), (-9.0, -8.0), source="spss")
    schema = sdp.Schema(
        [
            sdp.NumericColumn("pay", missing={".a": "-8"}, labels=labels, declared=False),
            sdp.NumericColumn("x", declared=False),
        ]
    )
    table = sdp.SurveyTable(pd.DataFrame({"pay": pay, "x": rng.normal(0, 1, N)}), schema)
    release = sdp.synthesize(table, m=1, rng=1, progress=False)
    alike(release[0], release_from_r(release_to_r(release))[0])


def column_of_copies(value: RVector) -> RVector:
    """Give the first copy."""
    copies = value.items[value.names.index("syn")]
    assert isinstance(copies, RVector)
    found = copies.items[0]
    assert isinstance(found, RVector)
    return found


def test_stata_kinds_stay_tags():
    table = spss()
    kinds = (Kind(".a", None, "refused"), Kind(".b", None, ""))
    schema = table.schema.amend("pay", labels=Labels("Pay", ((100, "low"),), kinds, source="stata"))
    made = column(labelled_to_r(table.frame, schema), "pay")
    assert np.array_equal(letters_of(made.array), letters_of(table.frame["pay"].to_numpy()))
    assert made.classes == ("haven_labelled", "vctrs_vctr", "double")
    labels = made.attributes["labels"]
    assert labels.names == ("low", "refused")
    assert letters_of(labels.array).tolist() == [0, ord("a")]


def test_a_release_that_is_read_says_that_its_codes_are_no_numbers(tmp_path):
    sdp.synthesize(spss(), m=1, rng=1, progress=False).save(tmp_path / "out")
    with pytest.warns(PysynthdpWarning, match=r"sex, town: codes with labels.*factors = TRUE"):
        objects.read_release(str(tmp_path / "out"))
    objects.read_release(str(tmp_path / "out"), factors=True)
    objects.read_release(str(tmp_path / "out"), factors=False)
