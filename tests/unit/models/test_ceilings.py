"""Models with a log link stay within what the column can hold, and say what they cannot hold."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.models.ask import Note
from pysynthdp.models.lognorm import LogNorm
from pysynthdp.models.negbin import NegBin
from pysynthdp.models.poisson import Poisson
from pysynthdp.testing import fitted, sampler

METHODS = {"poisson": Poisson, "negbin": NegBin, "lognorm": LogNorm}


def said(table: pd.DataFrame, **settings) -> list[PysynthdpWarning]:
    """What a fit warns of."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        sdp.Synthesizer(progress=False, **settings).fit(table)
    return [warning.message for warning in seen if isinstance(warning.message, PysynthdpWarning)]


@pytest.mark.parametrize("proper", [False, True])
@pytest.mark.parametrize("name", METHODS)
def test_a_predictor_far_beyond_the_rows_moves_no_mean_beyond_the_column(name, proper):
    # the predictor doubles a mean at every step, and a drawn one lies sixty steps beyond the rows
    rng = np.random.default_rng(1)
    x = rng.standard_normal(800)
    X = np.column_stack([np.ones(800), x])
    y = rng.poisson(np.exp(0.7 * x)).astype(float)
    y = y + 1 if name == "lognorm" else y
    model = METHODS[name]()
    params = fitted(model, X, y, proper=proper).params
    params = model.redraw(params, rng) if proper else params
    far = model.draw(params, np.column_stack([np.ones(5000), np.full(5000, 60.0)]), sampler(1))
    assert far.mean() < 3 * y.max()
    assert far.max() < 20 * y.max()


@pytest.mark.parametrize("name", METHODS)
def test_the_ceiling_leaves_draws_at_the_rows_alone(name):
    # heavy predictor: 200 draws a row, known to 2 %; a ceiling at the middle of the column loses a fifth
    rng = np.random.default_rng(2)
    x = rng.gamma(2.0, 0.5, 1500)
    X = np.column_stack([np.ones(1500), x])
    y = rng.poisson(np.exp(0.8 * x)).astype(float) + (name == "lognorm")
    params = fitted(METHODS[name](), X, y).params
    free = type(params)(**{**{f: getattr(params, f) for f in params.__dataclass_fields__}, "highest": 36.0})
    drawn, open_ended = (
        METHODS[name]().draw(one, np.tile(X, (200, 1)), sampler(3)).mean() for one in (params, free)
    )
    assert drawn == pytest.approx(open_ended, rel=0.01)


def test_a_column_of_zeros_has_no_ceiling_to_fall_from():
    X = np.ones((50, 1))
    assert (Poisson().draw(fitted(Poisson(), X, np.zeros(50)).params, X, sampler(1)) == 0).all()


@pytest.mark.parametrize("method", ["poisson", "negbin", "lognorm"])
def test_counts_given_a_drawn_logarithm_stay_small(method):
    rng = np.random.default_rng(4)
    neg = np.where(rng.random(1000) < 0.3, 0, rng.lognormal(0, 1.2, 1000)).round(2)
    visits = rng.poisson(np.exp(0.25 * np.minimum(neg, 8)))
    table = pd.DataFrame({"neg": neg, "visits": visits})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PysynthdpWarning)
        rel = sdp.synthesize(table, m=5, rng=1, method={"neg": "lognorm", "visits": method}, progress=False)
    assert max(copy.visits.max() for copy in rel.copies) < 20 * visits.max()


def test_zeros_under_a_logarithm_are_said_with_the_remedy():
    rng = np.random.default_rng(5)
    x = rng.standard_normal(800).round(3)
    wage = np.where(rng.random(800) < 0.1, 0, rng.lognormal(size=800)).round(2)
    table = pd.DataFrame({"x": x, "wage": wage})
    (told,) = (one for one in said(table, method={"wage": "lognorm"}) if one.kind != "drift")
    assert (told.column, told.kind) == ("wage", "shape")
    assert "spikes={'wage': [0]}" in told.remedy
    assert not said(table, method={"wage": "lognorm"}, spikes={"wage": [0]})
    assert not said(table.assign(wage=wage + 1), method={"wage": "lognorm"})


@pytest.mark.parametrize(
    ("method", "draw", "word"),
    [
        ("negbin", lambda rng, x: rng.binomial(5, 0.9, len(x)), "less"),
        ("poisson", lambda rng, x: rng.binomial(5, 0.9, len(x)), "less"),
        ("poisson", lambda rng, x: rng.poisson(rng.gamma(1, 4, len(x))), "zeros"),
        ("poisson", lambda rng, x: rng.poisson(30 * rng.gamma(5, 0.2, len(x))), "more"),
        ("negbin", lambda rng, x: (rng.random(len(x)) > 0.7) * (rng.poisson(9, len(x)) + 4), "less"),
        ("poisson", lambda rng, x: rng.poisson(np.exp(0.5 * x)), ""),
        ("negbin", lambda rng, x: rng.poisson(np.exp(0.5 * x)), ""),
        ("negbin", lambda rng, x: rng.poisson(rng.gamma(0.5, 6, len(x))), ""),
        ("negbin", lambda rng, x: rng.poisson(rng.lognormal(1, 0.7, len(x))), ""),
    ],
)
def test_counts_that_a_model_cannot_hold_are_noted(method, draw, word):
    # without a fault a remark needs four standard errors and a quarter of the variance; seeds are fixed
    rng = np.random.default_rng(6)
    x = rng.standard_normal(1500)
    y = np.asarray(draw(rng, x), dtype=float)
    done = fitted(METHODS[method](), np.column_stack([np.ones(1500), x]), y)
    _, asked = done.params, done.asked
    notes = [str(query.remark) for query in asked if isinstance(query, Note)]
    assert len(notes) == bool(word)
    assert all(word in note and "normrank" in note for note in notes)


def test_a_remark_names_the_column_and_is_kept_with_the_fit():
    rng = np.random.default_rng(7)
    table = pd.DataFrame({"x": rng.standard_normal(600), "visits": rng.poisson(rng.gamma(1, 9, 600))})
    with pytest.warns(PysynthdpWarning, match="visits: there are more zeros than 'poisson' can draw"):
        fitted = sdp.Synthesizer(method={"visits": "poisson"}, progress=False).fit(table)
    (remark,) = fitted.remarks
    assert (remark.column, remark.kind) == ("visits", "shape")
