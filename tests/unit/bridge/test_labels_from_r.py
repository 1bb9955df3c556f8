"""What haven's attributes say goes along to the schema of copies; no row has a part in it."""

from __future__ import annotations

import numpy as np
import pytest

from pysynthdp.base.errors import SchemaError
from pysynthdp.bridge.codec import RVector, character, named_list
from pysynthdp.bridge.frames import frame_from_r
from pysynthdp.bridge.labels_from_r import labels_of
from pysynthdp.bridge.releases import release_from_r
from pysynthdp.bridge.verbs.synthesis import synthesise
from pysynthdp.schema import Kind, Labels

SPSS = ("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double")
RNG = np.random.default_rng(3)


def _numbers(*values):
    return RVector("double", np.array(values, dtype=float))


def _coded(values, **attributes):
    labels = RVector("double", np.array([-8.0, 1.0, 2.0]), {"names": character(["refused", "yes", "no"])})
    own = {"class": character(SPSS), "labels": labels, "label": character(["Smokes?"]), **attributes}
    return RVector("double", np.asarray(values, dtype=float), own)


def _data(**columns):
    rows = len(next(iter(columns.values())).array)
    names = RVector("integer", np.array([-(2**31), -rows], dtype=np.int32))
    return named_list(columns, {"class": character(["data.frame"]), "row.names": names})


def _labels(column):
    found = labels_of(frame_from_r(_data(x=column)))
    return found["x"].labels if "x" in found else None


def test_attributes_are_labels():
    said = _coded(
        [1, 2, -8], na_values=_numbers(-8), **{"format.spss": character(["F2.0"])}, display_width=_numbers(6)
    )
    kinds = (Kind(None, -8, "refused"),)
    assert _labels(said) == Labels(
        "Smokes?", {1: "yes", 2: "no"}, kinds, None, width=6, format="F2.0", source="spss"
    )


def test_columns_without_attributes_have_no_labels():
    assert _labels(_numbers(1, 2, 3)) is None


def test_codes_without_a_label_are_named_where_five_records_have_them():
    ranged = {"na_range": _numbers(-9, -7)}
    assert _labels(_coded([1] * 20 + [-9] * 5 + [-7] * 4, **ranged)).kinds == (
        Kind(None, -8, "refused"),
        Kind(None, -9, ""),
    )
    assert _labels(_coded([1] * 20, **ranged)).missing_range == (-9, -7)


def test_attributes_that_contradict_each_other_are_refused_by_column():
    with pytest.raises(SchemaError, match="x: its labels, na_values or na_range") as caught:
        _labels(_coded([1, 2], na_range=_numbers(9, 7)))
    assert caught.value.column == "x"
    wrong = _data(x=_coded([1, 2], na_range=_numbers(9, 7)), y=_numbers(1, 2))
    assert not labels_of(frame_from_r(wrong), drop=["x"]).names


def test_labels_come_back_from_r():
    data = _data(x=_coded(RNG.choice([1, 2, -8], 200), na_values=_numbers(-8)), y=_numbers(*RNG.random(200)))
    release = release_from_r(synthesise(data, {}, m=1, seed=1))
    assert release.schema["x"].labels == labels_of(frame_from_r(data))["x"].labels
    assert release.schema["x"].levels == (1, 2)
    assert not release.schema["y"].declared


@pytest.mark.parametrize("cells", [[1, 2, -8], [1, 2, 2]])
def test_under_a_guarantee_the_schema_alone_speaks(cells):
    schema = {"x": {"kind": "categorical", "levels": [1, 2], "missing": {"refused": -8}, "other": 2}}
    data = _data(x=_coded(cells * 40, na_range=_numbers(-9, -7)))
    asked = {"schema": schema, "guarantee": {"name": "zcdp", "rho": 1.0}}
    release = release_from_r(synthesise(data, asked, m=1))
    assert release.schema["x"].labels is None
