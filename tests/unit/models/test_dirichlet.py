"""``dirichlet``: shares, laws, and brute force over all small tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import pysynthdp as sdp
from pysynthdp.models.dirichlet import Dirichlet
from pysynthdp.privacy.mechanism import mechanism_from_dict
from pysynthdp.testing import fitted, sampler, task_for

LEAST = 1e-9
CODES = np.array([0.0] * 30 + [1.0] * 10 + [2.0] * 3)


def shares(model, codes, levels=3, **more):
    return fitted(
        model, None, np.asarray(codes), task=task_for(len(codes), levels=levels, **more)
    ).params.shares


@pytest.mark.parametrize(("posterior", "weights"), [("many", [32.0, 12.0, 5.0]), ("map", [31.0, 11.0, 4.0])])
def test_shares_are_the_posterior_mean_or_mode(posterior, weights):
    found = shares(Dirichlet(prior=2.0, posterior=posterior), CODES)
    np.testing.assert_allclose(found, np.array(weights) / sum(weights))


def test_each_level_may_have_its_own_weight():
    np.testing.assert_allclose(shares(Dirichlet(prior=[1, 2, 4]), CODES) * 50, [31, 12, 7])
    with pytest.raises(sdp.PlanError, match="3 weights"):
        shares(Dirichlet(prior=[1, 2]), CODES)


def test_redrawn_shares_have_their_dirichlet_law():
    model = Dirichlet(prior=2.0)
    params = fitted(model, None, CODES, task=task_for(len(CODES), levels=3, proper=True)).params
    rng = np.random.default_rng(1)
    first = [model.redraw(params, rng).shares[0] for _ in range(5000)]
    assert stats.kstest(first, stats.beta(32, 17).cdf).pvalue > LEAST
    assert stats.kstest(first, stats.beta(30, 13).cdf).pvalue < LEAST  # the prior forgotten


@pytest.mark.parametrize("exact", [False, True])
def test_levels_are_drawn_by_their_shares(exact):
    model = Dirichlet(prior=2.5)
    params = fitted(model, None, CODES, task=task_for(len(CODES), levels=3, exact=exact)).params
    source = sampler(exact=True) if exact else sampler(2)
    seen = np.bincount(model.draw(params, np.ones((20_000, 1)), source).astype(int), minlength=3)
    weights = np.array([32.5, 12.5, 5.5])
    assert stats.chisquare(seen, weights / weights.sum() * 20_000).pvalue > LEAST
    bare = np.array([30.0, 10.0, 3.0])
    assert stats.chisquare(seen, bare / bare.sum() * 20_000).pvalue < LEAST  # the prior forgotten


def test_exact_weights_are_whole_and_in_exact_proportion():
    task = task_for(len(CODES), levels=3, exact=True)
    assert fitted(Dirichlet(prior=[0.1, 2.5, 3]), None, CODES, task=task).params.whole.tolist() == [
        301,
        125,
        60,
    ]
    assert fitted(Dirichlet(prior=3.0, posterior="map"), None, CODES, task=task).params.whole.tolist() == [
        32,
        12,
        5,
    ]
    with pytest.raises(sdp.PlanError, match="six decimals"):
        fitted(Dirichlet(prior=1 / 3), None, CODES, task=task)


@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("posterior", ["map", "many"])
def test_the_largest_ratio_over_all_tables_is_the_price_of_one_record(levels, posterior):
    n, model = 4, Dirichlet(prior=1.7, posterior=posterior)
    price = mechanism_from_dict(*model.mechanism(task_for(n, levels=levels)))
    claimed = float(price.price(n_syn=1, copies=1).renyi(np.array([np.inf]))[0])
    largest = 0.0
    for common in product(range(levels), repeat=n - 1):
        laws = [np.log(shares(model, np.array([*common, end]), levels)) for end in range(levels)]
        largest = max(largest, *(np.max(one - two) for one in laws for two in laws))
    assert largest == pytest.approx(claimed, rel=1e-12)


def test_levels_that_few_records_have_bring_their_weights_together():
    towns = np.array(["a"] * 40 + ["b"] * 30 + ["c"] * 3 + ["d"] * 4)
    weights = (2.0, 3.0, 5.0, 7.0)
    levels = sdp.CategoricalColumn("town", tuple("abcd"), may_be_missing=False)
    made = sdp.Synthesizer(schema=sdp.Schema((levels,)), method={"town": Dirichlet(prior=weights)})
    with pytest.warns(sdp.PysynthdpWarning, match="fewer than 5"):
        step = made.fit(pd.DataFrame({"town": towns}))._machine.fit.steps[0]
    assert step.params.weights.tolist() == [42.0, 33.0, 19.0]
