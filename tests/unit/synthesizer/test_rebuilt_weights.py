"""Replicate weights are made anew from the design that copies keep, under their old names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError

pytestmark = pytest.mark.filterwarnings("ignore::pysynthdp.base.errors.PysynthdpWarning")
NAMES = [f"rep{number}" for number in range(1, 13)]


def survey() -> pd.DataFrame:
    """Four strata of three units, of five rows each; replicate weights that are noise."""
    rng = np.random.default_rng(1)
    n = 60
    own = pd.DataFrame({"stratum": np.repeat(list("abcd"), 15), "unit": np.tile(np.repeat([1, 2, 3], 5), 4)})
    own["w"] = own["stratum"].map({"a": 10.0, "b": 20.0, "c": 30.0, "d": 40.0})
    own["x"] = rng.normal(size=n).round(2)
    return own.assign(**{name: rng.random(n) for name in NAMES})


def design(**more) -> sdp.Design:
    own = {
        "weight": "w",
        "strata": "stratum",
        "psu": "unit",
        "replicate_weights": NAMES,
        "replicates": "rebuild",
    }
    return sdp.Design(**{**own, "replicate_weights": NAMES, **more})


def test_replicates_are_those_of_the_design():
    release = sdp.Synthesizer(design=design(), method={"x": "norm"}).fit(survey()).draw(m=2, rng=1)
    for copy in release:
        assert [name for name in copy if name.startswith("rep")] == NAMES
        times = copy[NAMES].to_numpy() / copy[["w"]].to_numpy()
        assert set(np.unique(times.round(9))) == {0.0, 1.0, 1.5}
        left_out = times == 0
        assert (left_out.sum(axis=0) == 5).all()  # a unit each
        for column in left_out.T:
            assert copy.loc[column, ["stratum", "unit"]].drop_duplicates().shape == (1, 2)
        np.testing.assert_allclose(copy[NAMES].sum(), copy["w"].sum())
    told = release.tags.details["design"]["replicates"]
    assert told == {"kind": "JKn", "columns": NAMES}


def test_they_predict_nothing_and_no_record_is_told_by_them():
    fitted = sdp.Synthesizer(design=design(), method={"x": "norm"}).fit(survey())
    steps = fitted.draw(m=1, rng=1).tags.steps
    asked = str([step.terms for step in steps if step.columns == ("x",)])
    assert "rep" not in asked


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"replicates": "refuse"}, "never drawn as columns"),
        ({"how": "population"}, "made anew from a design that stays real"),
        ({"rebuild": "jackknife"}, "rebuild of design must be one of"),
    ],
)
def test_other_designs_are_refused_by_name(more, says):
    with pytest.raises(PlanError, match=says) as caught:
        sdp.Synthesizer(design=design(**more))
    assert caught.value.remedy


def test_a_number_that_the_design_has_not_is_refused_and_a_bootstrap_has_any():
    few = design(replicate_weights=NAMES[:7])
    with pytest.raises(PlanError, match="each of 12 sampling units, and 7 columns"):
        sdp.Synthesizer(design=few, drop=NAMES[7:]).fit(survey())
    own = design(replicate_weights=NAMES[:7], rebuild="bootstrap")
    copy = sdp.Synthesizer(design=own, drop=NAMES[7:], method={"x": "norm"}).fit(survey()).draw(m=1, rng=1)[0]
    np.testing.assert_allclose(copy[NAMES[:7]].sum(), copy["w"].sum())
