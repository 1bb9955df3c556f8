"""A regression on the records that fit best, and the residuals as the records have them."""

import warnings

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.models.fits.trimmed import ask_trimmed, residual_table

N = 900


def answered(model, X, y):
    """Run a question and answer of sums over rows."""
    try:
        query = next(model)
        while True:
            query = model.send(type("Answer", (), {"value": query.of(X, y)})())
    except StopIteration as end:
        return end.value


def rows(seed=1, odd=0.08):
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(N), rng.normal(size=(N, 2))])
    y = X @ [3.0, 2.0, -1.0] + rng.normal(0, 0.01, N)
    wrong = rng.random(N) < odd
    y[wrong] += rng.uniform(5, 9, wrong.sum())
    return X, y, wrong


def test_errors_in_a_tenth_of_the_records_move_no_coefficient():
    X, y, wrong = rows()
    fit = answered(ask_trimmed(lambda z: z), X, y)
    oracle = np.linalg.lstsq(X[~wrong], y[~wrong], rcond=None)[0]
    assert fit.beta == pytest.approx(oracle, abs=0.002)
    assert np.abs(np.linalg.lstsq(X, y, rcond=None)[0] - oracle).max() > 0.1


def test_residuals_are_in_groups_of_five_and_the_farthest_are_not_learned():
    X, y, _ = rows(odd=0.0)
    y[:3] += 500.0
    fit = answered(ask_trimmed(lambda z: z), X, y)
    shares, means = residual_table(fit)
    assert shares.sum() == pytest.approx(1)
    assert (shares * (N - 3) >= 5 - 1e-9).all()
    assert np.abs(means).max() < 0.1
    spread = np.sqrt(shares @ means**2)
    assert spread == pytest.approx(np.std((y - X @ fit.beta)[3:]), rel=0.05)


def test_an_identity_with_exceptions_is_one_in_copies_and_has_as_many():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"a": rng.integers(8, 19, N), "b": rng.integers(0, 50, N)})
    table["c"] = table.a + table.b + 6
    table.loc[table.index < 30, "c"] += rng.choice([-5, -4, 4, 5], 30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = sdp.Synthesizer(progress=False).fit(table.sample(frac=1, random_state=2, ignore_index=True))
    step = fitted.plan.steps[-1]
    assert (step.label, step.model.name, step.terms) == ("c", "residual", (("a",), ("b",)))
    assert any("c, that it is nearly a function of a, b" in fact for fact in fitted.draw(m=1).privacy.learned)
    (said,) = [remark for remark in fitted.remarks if remark.kind == "near function"]
    assert "drawn as that and a residual" in str(said.what)
    exact = [(copy.c == copy.a + copy.b + 6).mean() for copy in fitted.draw(m=5, rng=4)]
    # a share of .967 in 4,500 rows: its standard error is .003
    assert np.mean(exact) == pytest.approx(1 - 30 / N, abs=6 * 0.003 + 0.005)


def test_a_rounded_ratio_is_drawn_on_its_own_scale():
    rng = np.random.default_rng(5)
    kg, cm = rng.lognormal(4.2, 0.25, N), rng.normal(165, 12, N)
    table = pd.DataFrame({"kg": kg.round(), "cm": cm.round(), "bmi": (1e4 * kg / cm**2).round(2)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = sdp.Synthesizer(progress=False).fit(table)
    step = next(step for step in fitted.plan.steps if step.model.name == "residual")
    assert {str(factor) for term in step.terms for factor in term} <= {
        f"log({name})" for name in ("kg", "cm", "bmi")
    }

    def off(rows):
        return np.std(np.log(rows.bmi * rows.cm**2 / 1e4 / rows.kg))

    # what is drawn is rounded again, which adds no more variance than rounding did
    assert 0.8 < off(fitted.draw(m=1, rng=6)[0]) / off(table) < 1.1 * np.sqrt(2)


def test_a_near_function_is_missing_where_what_it_is_made_of_is():
    rng = np.random.default_rng(7)
    a, b = rng.gamma(4, 10, N), rng.gamma(9, 4, N)
    a[rng.random(N) < 0.2] = np.nan
    table = pd.DataFrame({"a": a, "b": b, "c": a + b + rng.normal(0, 0.1, N)}).round(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = sdp.Synthesizer(progress=False).fit(table)
    assert {step.label for step in fitted.plan.steps if step.model.name == "residual"} == {"c"}
    copy = fitted.draw(m=1, rng=8)[0]
    assert (copy.c.isna() == copy.a.isna()).all()
    assert np.nanstd(copy.c - copy.a - copy.b) == pytest.approx(0.11, abs=0.02)
