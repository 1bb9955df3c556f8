"""``polr`` says where one slope does not serve all thresholds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.models.ask import Note
from pysynthdp.models.polr import PolR
from pysynthdp.testing import fitted

STYLE = {0: [0.05, 0.2, 0.5, 0.2, 0.05], 1: [0.25, 0.15, 0.2, 0.15, 0.25]}


def notes(X: np.ndarray, y: np.ndarray) -> list[str]:
    """What the fit says."""
    done = fitted(PolR(), X, y, levels=5, ordered=True)
    _, asked = done.params, done.asked
    return [str(query.remark) for query in asked if isinstance(query, Note)]


@pytest.mark.parametrize("n", [1000, 60_000])
def test_a_response_style_is_noted(n):
    rng = np.random.default_rng(1)
    sex = rng.integers(0, 2, n)
    edges = np.cumsum([STYLE[0], STYLE[1]], axis=1)
    y = (rng.random(n)[:, None] > edges[sex]).sum(axis=1).astype(float)
    (note,) = notes(np.column_stack([np.ones(n), sex]).astype(float), y)
    assert "polyreg" in note
    assert any(f"by up to {points} points" in note for points in range(7, 14))


@pytest.mark.parametrize("seed", range(5))
def test_proportional_odds_are_not_noted(seed):
    # six standard errors and five points: p < 1e-7 a feature and threshold
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(3000), rng.standard_normal((3000, 2)), rng.random((3000, 2)) < 0.2])
    latent = X @ [0.0, 1.0, -0.5, 2.0, 0.3] + rng.logistic(size=3000)
    assert notes(X, np.digitize(latent, [-2.0, -0.5, 1.0, 3.0]).astype(float)) == []


def test_the_remark_reaches_the_person():
    rng = np.random.default_rng(2)
    sex = rng.integers(0, 2, 3000)
    item = [rng.choice(5, p=STYLE[one]) for one in sex]
    ordered = pd.Categorical.from_codes(item, list("abcde"), ordered=True)
    table = pd.DataFrame({"sex": np.array(["f", "m"])[sex], "item": ordered})
    with pytest.warns(PysynthdpWarning, match="item: 'polr' moves all levels one way"):
        sdp.Synthesizer(progress=False, method={"item": "polr"}).fit(table)


def test_levels_without_declared_order_are_taken_as_listed():
    rng = np.random.default_rng(3)
    X = np.column_stack([np.ones(2000), rng.standard_normal(2000)])
    y = np.searchsorted([-1.0, 1.0], X[:, 1] + rng.logistic(size=2000)).astype(float)
    fits = [fitted(PolR(), X, y, levels=3, ordered=ordered) for ordered in (True, False)]
    ordered, listed = fits
    np.testing.assert_array_equal(ordered.params.beta, listed.params.beta)
    assert not ordered.notes
    (note,) = listed.notes
    assert note.kind == "order of levels"
    assert "polyreg" in note.remedy


def test_polr_draws_a_column_of_texts_and_says_whose_order():
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"x": rng.standard_normal(400), "town": rng.choice(["a", "b", "c"], 400)})
    with pytest.warns(PysynthdpWarning, match="town: 'polr' takes the levels in the order"):
        fit = sdp.Synthesizer(method={"town": "polr"}, progress=False).fit(data)
    assert fit.plan.methods["town"] == "polr"
    assert set(fit.draw(rng=1)[0]["town"]) == {"a", "b", "c"}


def chosen(X: np.ndarray, y: np.ndarray, levels: int, **more) -> str:
    """The model whose parameters a fit by evidence returns."""
    return type(fitted(PolR(by_evidence=True), X, y, levels=levels, ordered=True, **more).params).__name__


@pytest.mark.parametrize("proper", [False, True])
def test_evidence_gives_up_parallel_slopes_where_the_middle_empties(proper):
    # right in every one of 2 x 200 simulated columns of this kind; the bound below allows a chance of 1e-6
    right = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        group = rng.integers(0, 2, 800)
        shares = np.cumsum([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4]], axis=1)
        y = (rng.random(800)[:, None] > shares[group]).sum(axis=1).clip(0, 2).astype(float)
        X = np.column_stack([np.ones(800), group]).astype(float)
        right += chosen(X, y, 3, proper=proper) == "PolyRegFit"
    assert right == 10


def test_evidence_keeps_parallel_slopes_where_they_hold():
    # with twelve further slopes they are given up in 1 to 3 % of columns: three or more of ten with p < .004
    given_up = 0
    for seed in range(10):
        rng = np.random.default_rng(100 + seed)
        X = np.column_stack([np.ones(1000), rng.standard_normal((1000, 4))])
        y = np.digitize(X[:, 1] - X[:, 2] + rng.logistic(size=1000), [-2.0, -0.5, 1.0, 2.5]).astype(float)
        given_up += chosen(X, y, 5) == "PolyRegFit"
    assert given_up < 3


def survey(n: int, seed: int) -> pd.DataFrame:
    """Trust by region: one region has both ends."""
    rng = np.random.default_rng(seed)
    region = rng.choice(["north", "south", "east"], n)
    shares = {"north": [0.2, 0.4, 0.3, 0.1], "south": [0.45, 0.05, 0.05, 0.45], "east": [0.1, 0.2, 0.4, 0.3]}
    trust = [rng.choice(4, p=shares[one]) for one in region]
    levels = ["none", "little", "some", "much"]
    return pd.DataFrame({"region": region, "trust": pd.Categorical.from_codes(trust, levels, ordered=True)})


@pytest.mark.parametrize("proper", [False, True])
def test_shares_of_an_ordered_default_are_the_real_ones(proper):
    table = survey(3000, 5)
    fit = sdp.Synthesizer(progress=False, proper=proper).fit(table)
    assert fit.plan.methods["trust"] == "polyreg"
    drawn = pd.concat(fit.draw(m=20, rng=1))
    real, copied = (pd.crosstab(each.region, each.trust, normalize="index") for each in (table, drawn))
    # standard errors of a share: .016 of the 1,000 rows, .005 of the copies' mean; three and six are allowed
    assert np.abs(real - copied).to_numpy().max() < 0.1 * (1 if proper else 0.5)
    assert "which of two models draws trust" in " ".join(str(fit.draw(m=1, rng=1).privacy).split())


def test_a_method_that_was_asked_for_stays():
    table = survey(800, 6)
    with pytest.warns(PysynthdpWarning, match="trust: 'polr' moves all levels one way"):
        asked = sdp.Synthesizer(progress=False, method={"trust": "polr"}).fit(table)
    assert asked.plan.methods["trust"] == "polr"
    assert "which of two models" not in str(asked.draw(m=1, rng=1).privacy)


def test_a_saved_fit_draws_with_the_chosen_model(tmp_path):
    fit = sdp.Synthesizer(progress=False).fit(survey(800, 7))
    again = sdp.FittedSynthesizer.load(fit.save(tmp_path / "fit"))
    pd.testing.assert_frame_equal(fit.draw(m=1, rng=3)[0], again.draw(m=1, rng=3)[0])
