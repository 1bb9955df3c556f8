"""``gaussian_floor`` and ``multivariate_normal``: fits against numpy, laws, and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pysynthdp.models.base import FitTask, Target
from pysynthdp.models.gaussian_floor import GaussianFloor
from pysynthdp.models.joint.multivariate_normal import MultivariateNormal
from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.mechanism import mechanism_from_dict
from pysynthdp.privacy.prices.gaussian_pairs import normal_renyi
from pysynthdp.privacy.prices.mvn_pairs import mvn_renyi
from pysynthdp.testing import fitted, sampler, task_for

LEAST = 1e-9


def floored(y, floor=0.4):
    return fitted(
        GaussianFloor(floor=floor),
        None,
        np.asarray(y, dtype=float),
        task=task_for(len(y), lower=-1.0, upper=1.0),
    ).params


def test_mean_and_spread_are_the_sample_s_and_the_floor_holds():
    y = np.random.default_rng(1).uniform(-1, 1, 50)
    params = floored(y)
    assert (params.mean, params.sd) == pytest.approx((y.mean(), y.std(ddof=1)))
    assert floored(y / 10).sd == 0.4


def test_floored_records_are_normal():
    y = np.random.default_rng(1).uniform(-1, 1, 50)
    drawn = GaussianFloor(floor=0.4).draw(floored(y), np.ones((20_000, 1)), sampler())
    # at the truth p > 1e-9; the spread with denominator n (1 % off) is not seen, 20 % off has p < 1e-9
    assert stats.kstest(drawn, stats.norm(y.mean(), y.std(ddof=1)).cdf).pvalue > LEAST
    assert stats.kstest(drawn, stats.norm(y.mean(), 1.2 * y.std(ddof=1)).cdf).pvalue < LEAST


def test_no_pair_of_small_tables_loses_more_than_the_floored_price():
    """All tables of five numbers on a grid, any record replaced: the fits' exact divergence (C1)."""
    ends = np.linspace(-1, 1, 5)
    n, model = 5, GaussianFloor(floor=0.8)
    price = mechanism_from_dict(*model.mechanism(task_for(n, lower=-1.0, upper=1.0))).price(n_syn=1, copies=1)
    bounded = ORDERS[np.isfinite(price.taus)]
    limit = price.renyi(bounded)
    rng = np.random.default_rng(0)
    largest = np.zeros(bounded.size)
    for common in rng.choice(ends, (60, n - 1)):
        fits = [floored([*common, end], 0.8) for end in ends]
        for one in fits:
            for two in fits:
                law = (one.mean, one.sd**2, two.mean, two.sd**2)
                largest = np.maximum(largest, normal_renyi(*law, orders=bounded))
    assert np.all(largest <= limit * (1 + 1e-12))
    assert largest[0] > 0.2 * limit[0]  # a price five times too small would be found out


def joint_task(n: int) -> FitTask:
    targets = (Target("a", "numeric", lower=-1.0, upper=1.0), Target("b", "numeric", lower=0.0, upper=10.0))
    return FitTask(targets[0], ("intercept",), (False,), n, targets=targets)


def joint_fit(y, ridge):
    return fitted(
        MultivariateNormal(ridge=ridge), None, np.asarray(y, dtype=float), task=joint_task(len(y))
    ).params


def test_joint_mean_and_covariance_are_numpy_s_with_the_ridge_in_scaled_units():
    rng = np.random.default_rng(2)
    y = np.column_stack([rng.uniform(-1, 1, 40), rng.uniform(0, 10, 40)])
    params = joint_fit(y, 0.3)
    np.testing.assert_allclose(params.mean, y.mean(axis=0))
    wanted = np.cov(y.T, ddof=0) + 0.3 * np.diag([1.0, 25.0])
    np.testing.assert_allclose(params.root @ params.root.T, wanted)


def test_joint_records_have_that_covariance():
    rng = np.random.default_rng(2)
    a = rng.uniform(-1, 1, 40)
    params = joint_fit(np.column_stack([a, 5 + 4 * a]), 0.01)
    drawn = MultivariateNormal(ridge=0.01).draw(params, np.ones((10_000, 1)), sampler(3))
    white = np.linalg.solve(params.root, (drawn - params.mean).T)
    total = float((white**2).sum())
    # a covariance off by a fifth has p < 1e-9
    assert 2 * min(stats.chi2.cdf(total, white.size), stats.chi2.sf(total, white.size)) > LEAST
    assert stats.chi2.cdf(total / 1.2, white.size) < LEAST
    assert abs(np.corrcoef(white)[0, 1]) * 100 < 6.2
    assert np.corrcoef(drawn.T)[0, 1] > 0.9


def test_no_pair_of_joint_neighbours_loses_more_than_the_ridged_price():
    n, ridge, rng = 6, 2.0, np.random.default_rng(3)
    price = mechanism_from_dict(*MultivariateNormal(ridge=ridge).mechanism(joint_task(n)))
    price = price.price(n_syn=1, copies=1)
    orders = ORDERS[np.isfinite(price.taus)][[0, 40, -1]]
    largest = np.zeros(3)
    for _ in range(150):
        common = rng.choice([-1.0, 0.0, 1.0], (n - 1, 2))
        laws = []
        for end in rng.choice([-1.0, 1.0], (2, 2)):
            params = joint_fit(np.vstack([common, end]) * [1.0, 5.0] + [0.0, 5.0], ridge)
            laws += [params.mean, params.root @ params.root.T]
        found = [mvn_renyi(*laws, alpha=float(order)) for order in orders]
        largest = np.maximum(largest, found)
    assert np.all(largest <= price.renyi(orders))
    assert largest[0] > 0.1 * price.renyi(orders)[0]  # a price ten times too small would be found out
