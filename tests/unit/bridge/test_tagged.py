"""Haven's tagged missing values: kept exactly on the way, and never lost without a word."""

from __future__ import annotations

import struct
import warnings

import numpy as np
import pytest

from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.bridge.codec import NA_REAL, RVector, character, is_na_real, named_list
from pysynthdp.bridge.frames import frame_from_r, read_rds, write_rds
from pysynthdp.bridge.tagged import declared_tags, found_tags
from pysynthdp.bridge.verbs.synthesis import synthesise
from pysynthdp.design.tagged import letters_of

TAG_B = struct.unpack("<d", bytes([0xA2, 7, 0, 0, ord("b"), 0, 0xF0, 0x7F]))[0]
TAG_A = struct.unpack("<d", bytes([0xA2, 7, 0, 0, ord("a"), 0, 0xF0, 0x7F]))[0]  # haven::tagged_na("a")
RNG = np.random.default_rng(5)
SCHEMA = {
    name: {"kind": "numeric", "lower": 0.0, "upper": 1.0, "decimals": 1, "fallback": 0.5}
    for name in ("plain", "tagged")
}


def _column(*gaps, labels=None):
    values = RNG.random(max(120, len(gaps))).round(1)
    values[: len(gaps)] = gaps
    own = {} if labels is None else {"labels": RVector("double", np.array([labels]))}
    return RVector("double", values, own)


def _data(**columns):
    return frame_from_r(named_list(columns, {"class": character(["data.frame"])}))


def test_only_na_with_a_letter_is_a_tag():
    data = _data(
        tagged=_column(1.0, TAG_A), na=_column(NA_REAL), nan=_column(np.nan, -np.nan), none=_column(1954.0)
    )
    assert found_tags(data) == ["tagged"]
    assert declared_tags(data) == []
    assert declared_tags(_data(x=_column(labels=TAG_A), y=_column(labels=2.0))) == ["x"]


def test_synthesis_warns_once_and_names_the_columns():
    data = _data(one=_column(TAG_A), two=_column(1.0, TAG_A), three=_column(NA_REAL))
    with pytest.warns(PysynthdpWarning) as heard:
        synthesise(data, {}, m=1, seed=1)
    told = [one.message.column for one in heard if one.message.kind == "kinds"]
    assert told == ["one", "two"]


def test_tags_that_a_schema_does_not_declare_are_named():
    data = _data(plain=_column(), tagged=_column(*[TAG_A] * 20))
    schema = {name: {"kind": "numeric", "may_be_missing": True} for name in SCHEMA}
    with pytest.warns(PysynthdpWarning, match="'tagged' become plain NA"):
        synthesise(data, {"schema": schema}, m=1)


@pytest.mark.parametrize("apart", ["keep", "drop"])
def test_columns_that_are_not_drawn_lose_nothing(apart):
    data = _data(tagged=_column(TAG_A), other=_column())
    with warnings.catch_warnings():
        warnings.simplefilter("error", PysynthdpWarning)
        made = synthesise(data, {apart: "tagged", "method": {"other": "cells"}}, m=1, seed=1)
    copy = dict(zip(made.names, made.items, strict=True))["syn"]
    if apart == "keep":
        assert (
            copy.items[copy.names.index("tagged")].array.tobytes()
            == data.frame["tagged"].to_numpy().tobytes()
        )


@pytest.mark.parametrize(("labels", "rows", "said"), [(None, TAG_A, 0), (TAG_A, 0.5, 1)])
def test_under_a_guarantee_the_warning_follows_from_labels_alone(labels, rows, said):
    data = _data(plain=_column(), tagged=_column(rows, labels=labels))
    guarantee = {"name": "zcdp", "rho": 1.0, "unit": "person"}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        synthesise(data, {"schema": SCHEMA, "guarantee": guarantee}, m=1)
    assert sum("tagged missing" in str(one.message) for one in heard) == said


@pytest.mark.filterwarnings("ignore:.*the whole column is read otherwise")
def test_a_file_with_tags_is_read_with_a_warning_and_written_exactly(tmp_path, golden):
    with pytest.warns(PysynthdpWarning, match="'labelled_tagged_na'.*missing_kinds"):
        came = read_rds(golden / "kinds.rds")
    write_rds(came.frame, tmp_path / "x.rds", facts=came.facts)
    with pytest.warns(PysynthdpWarning, match="tagged"):
        again = read_rds(tmp_path / "x.rds")
    name = "labelled_tagged_na"
    assert again.frame[name].to_numpy().tobytes() == came.frame[name].to_numpy().tobytes()


def _labelled(values, **attributes):
    own = {name: given for name, given in attributes.items() if given is not None}
    return RVector("double", values, {"class": character(["haven_labelled", "vctrs_vctr", "double"]), **own})


def _labels(**codes):
    return RVector("double", np.array(list(codes.values())), {"names": character(list(codes))})


def test_labelled_tags_are_kinds_of_the_copies():
    values = RNG.random(400).round(2)
    values[:100], values[100:130], values[130:140] = TAG_A, TAG_B, NA_REAL
    labels = _labels(refused=TAG_A, unknown=TAG_B)
    data = _data(x=_labelled(values, labels=labels), y=_column(*RNG.random(400)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PysynthdpWarning)
        made = synthesise(data, {}, m=1, seed=1)
    copy = dict(zip(made.names, made.items, strict=True))["syn"]
    x = copy.items[copy.names.index("x")]
    letters = [chr(letter) if letter else "" for letter in letters_of(x.array)]
    assert letters.count("a") == pytest.approx(100, abs=15)
    assert letters.count("b") == pytest.approx(30, abs=12)
    assert is_na_real(x.array[np.isnan(x.array)]).all()
    assert np.isnan(x.array).sum() > letters.count("a") + letters.count("b")
    assert x.attributes["labels"].array.tobytes() == labels.array.tobytes()


def test_tags_can_be_declared_by_hand():
    values = RNG.random(200).round(2)
    values[:50] = TAG_A
    data = _data(x=RVector("double", values), y=_column(*RNG.random(200)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PysynthdpWarning)
        made = synthesise(data, {"missing": {"x": {"refused": ".a"}}}, m=1, seed=1)
    copy = dict(zip(made.names, made.items, strict=True))["syn"]
    assert (letters_of(copy.items[copy.names.index("x")].array) == ord("a")).sum() > 30


def test_ranges_of_missing_codes_are_none_of_the_values():
    values = RNG.integers(1, 60, 400).astype(float)
    values[:60], values[60:100] = 97.0, 98.0
    spss = ["haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"]
    own = {"class": character(spss), "na_range": RVector("double", np.array([97.0, np.inf]))}
    data = _data(x=RVector("double", values, own), y=_column(*RNG.random(400)))
    made = synthesise(data, {}, m=1, seed=1)
    copy = dict(zip(made.names, made.items, strict=True))["syn"]
    x = copy.items[copy.names.index("x")].array
    assert set(x[x > 59.5]) == {97.0, 98.0}
    assert (x == 97).sum() == pytest.approx(60, abs=12)


def test_missing_cells_of_copies_are_na_in_r():
    data = _data(x=_column(NA_REAL, NA_REAL, np.nan, NA_REAL, NA_REAL, NA_REAL))
    made = synthesise(data, {"method": {"x": "cells"}}, m=1, seed=1)
    x = dict(zip(made.names, made.items, strict=True))["syn"].items[0].array
    assert np.isnan(x).any()
    assert is_na_real(x[np.isnan(x)]).all()
