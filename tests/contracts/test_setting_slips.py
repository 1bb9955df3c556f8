"""A setting that is not there is answered, wherever a user may type one: did you mean, or where it goes."""

from __future__ import annotations

import inspect
from copy import deepcopy

import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import SettingError
from pysynthdp.base.slips import answers_slips

NUMBER = sdp.NumericColumn("a", lower=0, upper=1)


@pytest.fixture(scope="module")
def fitted() -> sdp.FittedSynthesizer:
    table = pd.DataFrame({"sex": ["F", "M"] * 50, "age": [20.5, 31, 47, 62] * 25})
    return sdp.Synthesizer(progress=False).fit(table)


SLIPS = {
    "bound": (sdp.Synthesizer, "bounds"),
    "metod": (sdp.Synthesizer, "method"),
    "seed": (sdp.Synthesizer, r"draw\(rng="),
    "random_state": (sdp.Synthesizer, r"draw\(rng="),
    "m": (sdp.Synthesizer, r"draw\(m="),
    "num_rows": (sdp.Synthesizer, r"draw\(k="),
    "epsilon": (sdp.Synthesizer, "ApproxDP"),
    "unit": (sdp.Synthesizer, "ByNoise"),
    "visit.sequence": (sdp.Synthesizer, "'visit_sequence'"),
    "cont.na": (sdp.Synthesizer, "'missing'"),
    "level": (lambda **own: sdp.synthesize(pd.DataFrame(), **own), "levels"),
    "seeds": (lambda **own: sdp.synthesize(pd.DataFrame(), **own), "has m, rng"),
    "Seed": (lambda **own: sdp.synthesize(pd.DataFrame(), **own), "'rng'"),
    "guarantee": (lambda **own: sdp.Synthesizer().fit(pd.DataFrame(), **own), "Synthesizer"),
    "ansers": (lambda **own: sdp.Synthesizer().fit(pd.DataFrame(), **own), "answers"),
    "lowr": (lambda **own: sdp.NumericColumn("a", **own), "lower"),
    "max": (lambda **own: sdp.NumericColumn("a", **own), "'upper'"),
    "orderd": (lambda **own: sdp.CategoricalColumn("a", ["x"], **own), "ordered"),
    "upr": (lambda **own: sdp.Schema([NUMBER]).amend("a", **own), "upper"),
    "column": (sdp.Schema, "columns"),
    "rh": (sdp.ZCDP, "rho"),
    "eps_": (sdp.PureDP, "eps"),
    "delta": (lambda **own: sdp.ByNoise(sdp.ZCDP(1.0), **own), "deltas"),
    "exakt": (sdp.BySampling, "exact"),
    "row_per_unit": (sdp.PrivacyUnit, "rows_per_unit"),
    "bnds": (lambda **own: sdp.look(pd.DataFrame(), **own), "bounds"),
    "ruel": (lambda **own: sdp.pool([], **own), "rule"),
    "keey": (lambda **own: sdp.verify("here", **own), "key"),
    "foldr": (sdp.SyntheticRelease.load, "folder"),
}


@pytest.mark.parametrize("name", SLIPS)
def test_a_setting_that_is_not_there_is_answered(name):
    call, way_out = SLIPS[name]
    with pytest.raises(SettingError, match=way_out) as caught:
        call(**{name: 1})
    assert f"'{name}'" in str(caught.value)
    assert caught.value.kind == "setting"
    assert caught.value.remedy
    assert isinstance(caught.value, sdp.PlanError)
    assert isinstance(caught.value, TypeError)  # what Python raises, and what callers may expect


@pytest.mark.parametrize("name", ["seed", "num_rows", "n_copies"])
def test_drawing_answers_words_of_other_packages(fitted, name):
    with pytest.raises(SettingError, match=r"here it is called '(rng|k|m)'"):
        fitted.draw(**{name: 3})


def test_what_is_lacking_or_too_much_is_said_with_all_there_is():
    with pytest.raises(SettingError, match="it takes schema=, method="):
        sdp.Synthesizer("norm")
    with pytest.raises(SettingError, match=r"'name'.*it takes name, lower"):
        sdp.NumericColumn()


def test_a_type_error_from_inside_stays_what_it_is():
    @answers_slips
    def inner(value: int) -> int:
        return value + "text"

    with pytest.raises(TypeError, match="unsupported operand") as caught:
        inner(1)
    assert not isinstance(caught.value, SettingError)


def test_signature_documentation_and_copies_stay():
    assert "block_rows" in inspect.signature(sdp.Synthesizer.fit).parameters
    assert "bounds" in inspect.signature(sdp.Synthesizer).parameters
    assert sdp.Synthesizer.fit.__doc__.startswith("Fit every")
    assert deepcopy(NUMBER) == NUMBER


def test_a_field_that_no_call_can_give_is_not_offered():
    with pytest.raises(SettingError) as told:
        sdp.synthesize(pd.DataFrame({"a": [1]}), labelz=1)
    assert "labels" not in str(told.value)
