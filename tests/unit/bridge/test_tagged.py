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

TAG_A = struct.unpack("<d", bytes([0xA2, 7, 0, 0, ord("a"), 0, 0xF0, 0x7F]))[0]  # haven::tagged_na("a")
RNG = np.random.default_rng(5)
SCHEMA = {
    name: {"kind": "numeric", "lower": 0.0, "upper": 1.0, "decimals": 1, "fallback": 0.5}
    for name in ("plain", "tagged")
}


def _column(*gaps, labels=None):
    values = RNG.random(120).round(1)
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
    told = [str(one.message) for one in heard if "tagged" in str(one.message)]
    assert len(told) == 1
    assert "'one', 'two' become plain NA" in told[0]
    assert "'three'" not in told[0]


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
    with pytest.warns(PysynthdpWarning, match="'labelled_tagged_na'.*write_rds"):
        came = read_rds(golden / "kinds.rds")
    write_rds(came.frame, tmp_path / "x.rds", facts=came.facts)
    with pytest.warns(PysynthdpWarning, match="tagged"):
        again = read_rds(tmp_path / "x.rds")
    name = "labelled_tagged_na"
    assert again.frame[name].to_numpy().tobytes() == came.frame[name].to_numpy().tobytes()


def test_missing_cells_of_copies_are_na_in_r():
    data = _data(x=_column(NA_REAL, NA_REAL, np.nan, NA_REAL, NA_REAL, NA_REAL))
    made = synthesise(data, {"method": {"x": "cells"}}, m=1, seed=1)
    x = dict(zip(made.names, made.items, strict=True))["syn"].items[0].array
    assert np.isnan(x).any()
    assert is_na_real(x[np.isnan(x)]).all()
