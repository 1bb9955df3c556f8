"""A Python user's slips: each is told what is wrong, where, and what to type, and that works."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp

N = 300
RNG = np.random.default_rng(8)
WORKERS = pd.DataFrame(
    {
        "wage": np.where(np.arange(N) < 40, -9.0, RNG.normal(20, 4, N).round(2)),
        "years": RNG.integers(0, 30, N),
        "union": RNG.choice(["yes", "no"], N),
    }
)


def settings(**given) -> sdp.Synthesizer:
    return sdp.Synthesizer(progress=False, **given)


@pytest.fixture(scope="module")
def release() -> sdp.SyntheticRelease:
    return settings(missing={"wage": {-9: "refused"}}).fit(WORKERS).draw(m=2, rng=1)


@pytest.mark.parametrize(
    ("given", "what", "write"),
    [
        ({"missing": {"wage": -9}}, "missing of wage", "missing={'wage': {...: 'label'}}"),
        ({"bounds": {"years": 30}}, "bounds of years", "bounds={'years': (..., ...)}"),
        ({"bounds": {"years": (30,)}}, "bounds of years", "bounds={'years': (..., ...)}"),
        ({"spikes": {"years": 0}}, "spikes of years", "spikes={'years': [...]}"),
        ({"levels": {"union": "yes"}}, "levels of union", "levels={'union': [...]}"),
    ],
)
def test_a_declaration_of_one_value_is_told_its_form(given, what, write):
    with pytest.raises(sdp.PlanError, match=what) as caught:
        settings(**given)
    assert caught.value.remedy == f"write {write}"
    assert caught.value.column in write


def test_labels_in_the_place_of_codes_are_told_the_order():
    with pytest.raises(sdp.SchemaError, match="the code first") as caught:
        settings(missing={"wage": {"refused": -9}}).fit(WORKERS)
    assert "missing={'wage': {...: 'label'}}" in str(caught.value)


def test_levels_that_are_not_all_name_where_other_is_declared():
    with pytest.raises(sdp.SchemaError, match=r"CategoricalColumn\(\.\.\., other=\.\.\.\)"):
        settings(levels={"union": ["yes"]}).fit(WORKERS.drop(columns="wage"))


def test_fit_on_the_class_and_draw_before_fit_say_what_to_write():
    with pytest.raises(sdp.PysynthdpError, match=r"called on the class.*Synthesizer\(\.\.\.\)\.fit"):
        sdp.Synthesizer.fit(WORKERS)
    with pytest.raises(AttributeError, match=r"fitted = Synthesizer\(\.\.\.\)\.fit\(table\)"):
        settings().draw(m=2)


def test_a_release_tells_where_a_method_of_frames_is(release):
    with pytest.raises(AttributeError, match=r"save\(folder, format='csv'\)"):
        release.to_csv("copies.csv")
    assert not hasattr(release, "_ipython_canary_method_should_not_exist_")
    for thing in (release, settings()):
        assert type(copy.copy(thing)) is type(pickle.loads(pickle.dumps(thing)))  # noqa: S301 -- our own


def test_a_release_is_no_file(release, tmp_path):
    with pytest.raises(sdp.ReleaseError, match="a release is a folder; name a folder; format='csv'"):
        release.save(tmp_path / "copies.csv")
    assert not list(tmp_path.iterdir())
    with pytest.raises(sdp.ReleaseError, match="there is no folder"):
        sdp.SyntheticRelease.load(tmp_path / "none")
    folder = release.save(tmp_path / "copies")
    with pytest.raises(sdp.ReleaseError, match="is a file, and a release is a folder; give its folder"):
        sdp.SyntheticRelease.load(folder / "synthetic_1.parquet")
    assert sdp.SyntheticRelease.load(folder).m == 2


def test_a_file_that_is_not_there_names_the_folder_looked_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sdp.PlanError, match=f"there is no file none.csv in {tmp_path}"):
        sdp.read_table("none.csv")


def test_an_infinite_term_is_named_and_the_way_out_works(release):
    with pytest.raises(sdp.FitError, match=r"np\.log\(years\) is infinite.*np\.log1p") as caught:
        sdp.ols("wage ~ np.log(years)", release)
    assert caught.value.kind == "formula"
    assert sdp.ols("wage ~ np.log1p(years)", release).m == 2


def test_two_pooled_results_are_not_compared(release):
    pooled = sdp.ols("wage ~ years", release)
    with pytest.raises(sdp.FitError, match=r"two pooled results; write compare_fits\(pooled, table\)"):
        sdp.compare_fits(pooled, pooled)


def test_formulas_are_named_as_such_and_take_backticks():
    with pytest.raises(sdp.PlanError, match=r"formulas names 'wages'.*did you mean 'wage'"):
        settings(formulas=["wages ~ years"]).plan(WORKERS)
    named = WORKERS.rename(columns={"years": "years of work"})[["years of work", "union", "wage"]]
    with pytest.raises(sdp.PlanError, match="in backticks: `years of work`"):
        settings(formulas=["wage ~ Q('years of work')"]).plan(named)
    assert settings(formulas=["wage ~ `years of work`"]).plan(named)


def test_fine_values_are_said_once_and_the_setting_brings_them():
    hundreds = np.r_[np.repeat(np.arange(1_000, 9_000, 100), 5), [1_010, 2_020, 3_030]]
    table = pd.DataFrame({"rpm": hundreds, "beside": np.arange(len(hundreds)) % 7})
    with pytest.warns(sdp.PysynthdpWarning, match="rpm") as heard:
        settings().fit(table)
    (said,) = [one.message for one in heard if one.message.column == "rpm"]
    assert str(said) == (
        "rpm: fewer than five records have values between multiples of 100, so copies have none; "
        "decimals={'rpm': 0} asks for them"
    )
    with warnings.catch_warnings():  # no advice to round, which was just asked not to be done
        warnings.simplefilter("error")
        copies = settings(decimals={"rpm": 0}).fit(table).draw(m=2, rng=1)
    assert any((drawn["rpm"] % 100 != 0).any() for drawn in copies)


def test_a_dropped_column_is_no_misspelt_one():
    with pytest.raises(sdp.PlanError, match="method names 'years', which is dropped") as caught:
        settings(drop=["years"], method={"years": "norm"}).plan(WORKERS)
    assert "did you mean" not in str(caught.value)


def test_a_short_visit_sequence_advises_no_real_values():
    with pytest.raises(sdp.PlanError, match="visit_sequence leaves out years, union") as caught:
        settings(visit_sequence=["wage"]).plan(WORKERS)
    assert caught.value.remedy == "add them, or leave them out of the copies with drop=['years', 'union']"
    with pytest.raises(sdp.PlanError, match=r"drop=\[\.\.\.\]"):
        settings(visit_sequence=["wage"]).plan(WORKERS.assign(a=1, b=2))


def test_a_predictor_too_late_is_told_its_place():
    with pytest.raises(sdp.PlanError, match="put years before wage in visit_sequence"):
        settings(formulas=["wage ~ years"], visit_sequence=["wage", "years", "union"]).plan(WORKERS)
    assert settings(formulas=["wage ~ years"]).plan(WORKERS)
    assert settings(formulas=["wage ~ years"], visit_sequence=["years", "wage", "union"]).plan(WORKERS)


def test_a_release_or_a_fit_in_the_place_of_a_table(release):
    fitted = settings(drop=["wage"]).fit(WORKERS)
    for given, way in (
        (release, r"take one copy, release\[0\]"),
        (fitted, "the table that it was fitted to"),
    ):
        with pytest.raises(sdp.SchemaError, match=way):
            sdp.look(given)


def test_levels_of_another_type_say_how_to_write_them():
    with pytest.raises(sdp.SchemaError, match="texts in quotes and numbers without"):
        settings(levels={"union": [0, 1]}).fit(WORKERS.drop(columns="wage"))


def test_a_fit_and_a_release_are_not_read_as_each_other(release, tmp_path):
    saved = settings(drop=["wage"]).fit(WORKERS).save(tmp_path / "a.fit")
    folder = release.save(tmp_path / "copies")
    with pytest.raises(sdp.ReleaseError, match=r"a saved fit is read by FittedSynthesizer\.load"):
        sdp.SyntheticRelease.load(tmp_path / "a.fit")
    with pytest.raises(sdp.ReleaseError, match=r"a release is read by SyntheticRelease\.load"):
        sdp.FittedSynthesizer.load(folder)
    with pytest.raises(sdp.ReleaseError, match="there is no file"):
        sdp.FittedSynthesizer.load(tmp_path / "none")
    assert saved is None or sdp.FittedSynthesizer.load(tmp_path / "a.fit")
