"""Objects of class synds: ours as synthpop's functions read them, synthpop's as a release."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge import (
    dumps,
    load_rds,
    loads,
    read_synds,
    release_from_r,
    release_from_synds,
    release_to_r,
    synds_from_release,
)
from pysynthdp.bridge.codec import NA_INTEGER, RVector, character, is_na_real, named_list

GOLDEN = Path(__file__).parents[2] / "golden" / "r"
FIELDS = (
    "call",
    "m",
    "syn",
    "method",
    "visit.sequence",
    "predictor.matrix",
    "smoothing",
    "event",
    "denom",
    "proper",
    "n",
    "k",
    "rules",
    "rvalues",
    "cont.na",
    "semicont",
    "drop.not.used",
    "drop.pred.only",
    "models",
    "seed",
    "var.lab",
    "val.lab",
    "obs.vars",
    "numtocat",
    "catgroups",
)


def _release(m=3, **settings):
    rng = np.random.default_rng(2)
    income = np.where(rng.random(90) < 0.2, -8, rng.lognormal(7, 0.4, 90).round())
    table = pd.DataFrame({
        "sex": pd.Categorical(rng.choice(["f", "m"], 90)), "age": rng.integers(18, 90, 90), "income": income,
        "zone": pd.Categorical(rng.choice(["a", "b", "c"], 90)),
    })  # fmt: skip
    given = {"missing": {"income": {-8: "refused"}}, "progress": False, **settings}
    return sdp.synthesize(table, m=m, rng=1, **given)


def _fields(value):
    return dict(zip(value.names, value.items, strict=True))


@pytest.mark.parametrize("m", [1, 3])
def test_fields_and_types_are_those_that_synthpop_reads(m):
    made = synds_from_release(_release(m))
    fields = _fields(made)
    assert made.classes == ("synds",)
    assert made.names == FIELDS
    assert fields["m"].kind == "double"
    assert fields["m"].array.tolist() == [m]
    assert ("data.frame" in fields["syn"].classes) is (m == 1)
    assert fields["method"].names == ("sex", "age", "income", "zone")
    assert fields["visit.sequence"].kind == "integer"
    assert fields["visit.sequence"].array.tolist() == [1, 4, 2, 3]  # categories first
    assert [fields[name].array.tolist() for name in ("n", "k", "proper")] == [[90], [90], [0]]
    assert fields["predictor.matrix"].kind == "double"
    matrix = fields["predictor.matrix"].array.reshape(4, 4, order="F")
    assert matrix.tolist() == [[0, 0, 0, 0], [1, 0, 0, 1], [1, 1, 0, 1], [1, 0, 0, 0]]
    codes = _fields(fields["cont.na"])
    assert codes["age"].kind == "logical"
    assert codes["age"].array.tolist() == [NA_INTEGER]
    assert is_na_real(codes["income"].array).tolist() == [True, False]
    assert codes["income"].array[1] == -8
    assert is_na_real(fields["seed"].array).all()


@pytest.mark.parametrize("settings", [{}, {"proper": True}, {"keep": ["zone"]}, {"drop": ["zone"]}])
def test_a_release_goes_to_r_and_back(settings):
    release = _release(2, **settings)
    back = release_from_r(loads(dumps(release_to_r(release))))
    assert back.tags == release.tags
    assert back.schema == release.schema
    assert back.provenance == release.provenance
    assert back.privacy.to_dict() == release.privacy.to_dict()
    for one, other in zip(back.copies, release.copies, strict=True):
        pd.testing.assert_frame_equal(one, other, check_dtype=False)


def test_kept_columns_are_told_as_synthpop_tells_them():
    release = _release(1, keep=["zone"])
    fields = _fields(synds_from_release(release))
    assert fields["method"].texts[3] == ""
    assert fields["visit.sequence"].names == ("sex", "age", "income")
    assert release_from_synds(synds_from_release(release)).tags.kept == {"zone"}


@pytest.mark.parametrize(
    ("name", "m", "kind", "parameters", "n_syn", "kept"),
    [
        ("m1", 1, "complete", "fitted", 60, set()),
        ("m3", 3, "complete", "fitted", 60, set()),
        ("proper", 1, "complete", "drawn", 60, set()),
        ("partial", 3, "partial", "fitted", 60, {"sex", "health"}),
        ("k200", 5, "complete", "fitted", 200, set()),
        ("strata", 3, "complete", "fitted", 60, set()),
        ("models", 2, "complete", "fitted", 60, set()),
    ],
)
def test_what_synthpop_made_has_the_right_tags(name, m, kind, parameters, n_syn, kept):
    release = read_synds(GOLDEN / f"synds_{name}.rds")
    tags = release.tags
    assert (tags.m, tags.kind, tags.parameters, tags.n_syn, tags.kept) == (m, kind, parameters, n_syn, kept)
    assert tags.n_org == 60
    assert release.schema["income"].missing == ((-8, "-8"),)
    assert release.schema["health"].ordered
    assert release.privacy.status == "none"
    assert {part.column for part in release.privacy.columns if part.method == "kept real"} == kept


@pytest.mark.parametrize(
    ("name", "formula", "rule"),
    [
        ("m1", "age ~ sex", "raab_simple"),
        ("proper", "age ~ sex", "raab_proper"),
        ("m3", "age ~ sex", "partial_size_adjusted"),
        ("k200", "age ~ sex", "partial_size_adjusted"),
        ("strata", "age ~ health", "partial_size_adjusted"),
    ],
)
def test_pooling_takes_the_rule_by_the_tags(name, formula, rule):
    assert sdp.ols(formula, read_synds(GOLDEN / f"synds_{name}.rds")).rule == rule


def test_a_real_column_in_the_model_is_counted():
    release = read_synds(GOLDEN / "synds_partial.rds")
    assert not sdp.ols("age ~ sex", release).facts.all_synthetic
    assert sdp.ols("age ~ 1", release).facts.all_synthetic


@pytest.mark.parametrize("name", ["m1", "m3", "partial", "strata"])
def test_objects_are_written_as_they_were_read(name):
    raw = load_rds(GOLDEN / f"synds_{name}.rds")
    assert dumps(loads(dumps(raw))) == dumps(raw)


@pytest.mark.parametrize("lost", ["m", "syn", "method", "visit.sequence", "n", "proper"])
def test_a_field_that_pooling_needs_is_missed_by_name(lost):
    raw = load_rds(GOLDEN / "synds_m3.rds")
    fields = {name: item for name, item in _fields(raw).items() if name != lost}
    with pytest.raises(BridgeError, match=f"'{lost}'"):
        release_from_synds(named_list(fields, {"class": character(["synds"])}))


def test_other_objects_are_refused():
    with pytest.raises(BridgeError, match="not of class synds"):
        read_synds(GOLDEN / "kinds.rds")
    with pytest.raises(BridgeError):
        release_from_synds(None)


def test_copies_that_were_changed_are_refused():
    made = release_to_r(_release(2))
    fields = _fields(made)
    fields["syn"] = RVector("list", fields["syn"].items[:1])
    with pytest.raises(BridgeError, match="copies were added"):
        release_from_r(named_list(fields, {"class": character(["synthetic", "synds"])}))


def test_a_statement_that_was_edited_is_refused():
    made = release_to_r(_release(1))
    fields = _fields(made)
    privacy = _fields(fields["privacy"])
    privacy["status"] = character(["implemented"])
    fields["privacy"] = named_list(privacy)
    with pytest.raises(sdp.PysynthdpError):
        release_from_r(named_list(fields, {"class": character(["synthetic", "synds"])}))
