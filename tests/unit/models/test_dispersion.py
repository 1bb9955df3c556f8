"""The dispersion that ``negbin`` redraws: its posterior, at the boundary too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pysynthdp.models.negbin import NegBin
from pysynthdp.testing import fitted, sampler


def table(n: int, alpha: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts with a mean that hangs on a number, and gamma means of variance alpha."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    mean = np.exp(0.9 + 0.3 * x)
    if alpha:
        mean = rng.gamma(1 / alpha, alpha * mean)
    return np.column_stack([np.ones(n), x]), rng.poisson(mean).astype(float)


def posterior(beta: np.ndarray, X: np.ndarray, y: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """Distribution function of alpha under the uniform shrinkage prior, by scipy's law."""
    mean = np.exp(X @ beta)
    value = np.array([stats.nbinom.logpmf(y, 1 / a, 1 / (1 + a * mean)).sum() for a in alphas])
    density = np.exp(value - value.max()) / (1 + alphas) ** 2
    mass = np.append(0.0, np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(alphas)))
    return mass / mass[-1]


@pytest.mark.parametrize("alpha", [0.0, 0.02, 0.5, 4.0])
@pytest.mark.parametrize("n", [60, 1500])
def test_the_posterior_is_that_of_scipys_law(n, alpha):
    X, y = table(n, alpha, 1)
    params = fitted(NegBin(), X, y, proper=True).params
    alphas = np.linspace(1e-6, 1.2 * params.dispersion[0, -1], 301)
    wanted = posterior(params.beta, X, y, alphas)
    assert np.interp(alphas, *params.dispersion) == pytest.approx(wanted, abs=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_redraws_of_poisson_counts_stay_poisson(seed):
    # the log of alpha has no lower end there: its normal law gave every fourth table a copy with half as much
    # variance again, the worst four hundred times
    X, y = table(1000, 0.0, seed)
    params = fitted(NegBin(), X, y, proper=True).params
    rng = np.random.default_rng(seed)
    ratio = [NegBin().draw(NegBin().redraw(params, rng), X, sampler(i)).var() / y.var() for i in range(20)]
    assert max(ratio) < 1.5
    assert np.mean(ratio) == pytest.approx(1.0, abs=0.12)


def test_a_handful_of_events_stays_a_handful():
    rng = np.random.default_rng(3)
    X = np.column_stack([np.ones(400), rng.standard_normal(400)])
    y = np.zeros(400)
    y[:4] = 1
    params = fitted(NegBin(), X, y, proper=True).params
    totals = [
        NegBin().draw(NegBin().redraw(params, np.random.default_rng(i)), X, sampler(i)).sum()
        for i in range(100)
    ]
    assert np.median(totals) < 12
    assert max(totals) < 400


def test_redraws_spread_as_the_estimate_does():
    # 60 tables of one law: the posterior spread is that of the estimate over tables, known to a tenth
    found = [fitted(NegBin(), *table(300, 0.5, 100 + seed), proper=True).params for seed in range(60)]
    levels = (np.arange(200) + 0.5) / 200
    spread = [np.interp(levels, one.dispersion[1], one.dispersion[0]).std() for one in found]
    assert np.mean(spread) == pytest.approx(np.std([one.alpha for one in found]), rel=0.4)
