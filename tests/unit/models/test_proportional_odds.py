"""``polr`` says where one slope does not serve all thresholds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.errors import PysynthdpWarning
from pysynthdp.models.polr import PolR
from pysynthdp.queries import Note

from .driver import trace

STYLE = {0: [0.05, 0.2, 0.5, 0.2, 0.05], 1: [0.25, 0.15, 0.2, 0.15, 0.25]}


def notes(X: np.ndarray, y: np.ndarray) -> list[str]:
    """What the fit says."""
    _, asked = trace(PolR(), X, y, levels=5, ordered=True)
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
