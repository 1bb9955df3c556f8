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
        sdp.Synthesizer(progress=False).fit(table)


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
