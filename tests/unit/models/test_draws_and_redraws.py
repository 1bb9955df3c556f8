"""Laws of draws and redraws. Seeds are fixed; each test states what it lets pass and what it rejects.

A z statistic below 6.1 in size passes at the truth with p > 1e-9; the named defect moves it beyond.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pysynthdp.models.logreg import LogReg
from pysynthdp.models.negbin import NegBin
from pysynthdp.models.norm import Norm
from pysynthdp.models.poisson import Poisson
from pysynthdp.models.polr import PolR
from pysynthdp.models.polyreg import PolyReg
from pysynthdp.models.sample import Sample
from pysynthdp.testing import fitted, sampler

COPIES = 4000
LEAST = 1e-9


def features(rng, n):
    return np.column_stack([np.ones(n), rng.normal(size=(n, 2)), rng.random(n) < 0.4]).astype(float)


def check_covariance(draws, mean, cov):
    """Chi-squared test that rows are N(mean, cov); a covariance off by a fifth has p < 1e-9."""
    lower = np.linalg.cholesky(cov)
    white = np.linalg.solve(lower, (draws - mean).T)
    total, size = float(np.sum(white**2)), white.size
    assert 2 * min(stats.chi2.cdf(total, size), stats.chi2.sf(total, size)) > LEAST
    assert 2 * min(stats.chi2.cdf(total / 1.2, size), stats.chi2.sf(total / 1.2, size)) < LEAST
    centre = np.sqrt(len(draws)) * white.mean(axis=1)
    assert np.abs(centre).max() < 6.2
    inner = np.corrcoef(white)[np.triu_indices(len(white), 1)] * np.sqrt(len(draws))
    assert np.abs(inner).max() < 6.5


def redraws(model, fit, read, seed=3):
    rng = np.random.default_rng(seed)
    return np.array([read(model.redraw(fit, rng)) for _ in range(COPIES)])


def test_norm_redraws_have_the_posterior_law():
    rng = np.random.default_rng(1)
    X = features(rng, 60)
    y = X @ [1.0, 2.0, 0.0, -1.0] + rng.normal(size=60)
    fit = fitted(Norm(), X, y).params
    drawn = redraws(Norm(), fit, lambda params: np.append(params.beta, params.sigma))
    scaled = 56 * fit.sigma**2 / drawn[:, -1] ** 2
    # sigma^2 from RSS / chi2_56; 20 % off in df gives p < 1e-9
    assert stats.kstest(scaled, stats.chi2(56).cdf).pvalue > LEAST
    assert stats.kstest(scaled, stats.chi2(45).cdf).pvalue < LEAST
    white = (drawn[:, :4] - fit.beta) * (fit.sigma / drawn[:, -1:])
    check_covariance(white, np.zeros(4), fit.sigma**2 * np.linalg.inv(X.T @ X))


def test_logreg_redraws():
    rng = np.random.default_rng(2)
    X = features(rng, 500)
    y = (X @ [0.2, 1.0, 0.0, -1.0] + rng.logistic(size=500) > 0).astype(float)
    fit = fitted(LogReg(), X, y, levels=2).params
    p = 1 / (1 + np.exp(-X @ fit.beta))
    cov = np.linalg.inv(X.T @ (X * (p * (1 - p))[:, None]))
    check_covariance(redraws(LogReg(), fit, lambda params: params.beta), fit.beta, cov)


def test_polyreg_redraws_of_a_small_and_a_large_model_agree(monkeypatch):
    rng = np.random.default_rng(4)
    n = 800
    d = rng.random(n) < 0.4
    X = np.column_stack([np.ones(n), d]).astype(float)
    y = np.argmax(np.outer(d, [0.0, 0.7, -0.5]) + rng.gumbel(size=(n, 3)), axis=1)
    cells = np.array([[np.sum((y == k) & (d == v)) for k in range(3)] for v in (0, 1)])
    # a saturated table: log odds k against 0 in cell v have covariance 1 / n_vk + 1 / n_v0
    cov = np.zeros((4, 4))
    cov[:2, :2] = np.diag(1 / cells[0, 1:]) + 1 / cells[0, 0]
    cov[2:, 2:] = np.diag(1 / cells[1, 1:]) + 1 / cells[1, 0]
    mean = np.log(cells[:, 1:] / cells[:, :1]).ravel()

    def log_odds(params):
        beta = params.beta[1:] - params.beta[0]
        beta[:, 0] += params.shift[1:, 0] - params.shift[0, 0]
        return np.concatenate([beta[:, 0], beta.sum(axis=1)])

    whole = fitted(PolyReg(), X, y, levels=3, proper=True).params
    check_covariance(redraws(PolyReg(), whole, log_odds), mean, cov)
    monkeypatch.setattr("pysynthdp.models.fits.level_posterior.LARGE", 0)
    parts = fitted(PolyReg(), X, y, levels=3, proper=True).params
    assert parts.parts.shape == (3, 2, 2)
    check_covariance(redraws(PolyReg(), parts, log_odds), mean, cov)


def test_polr_redraws():
    rng = np.random.default_rng(5)
    X = features(rng, 900)
    y = np.digitize(X @ [0.0, 1.0, 0.0, -1.0] + rng.logistic(size=900), [-1.0, 0.5, 1.5])
    fit = fitted(PolR(), X, y, levels=4, ordered=True).params
    drawn = redraws(PolR(), fit, lambda params: np.concatenate([params.beta[1:], params.cuts]))
    assert np.all(np.diff(drawn[:, 3:], axis=1) > 0)
    log_gaps = np.column_stack([drawn[:, :4], np.log(np.diff(drawn[:, 3:], axis=1))])
    mode = np.concatenate([fit.beta[1:], fit.cuts[:1], np.log(np.diff(fit.cuts))])
    check_covariance(log_gaps, mode, (fit.root @ fit.root.T)[1:, 1:])


def test_poisson_and_negbin_draws():
    rng = np.random.default_rng(6)
    X = features(rng, 600)
    mean = np.exp(X @ [0.5, 0.4, 0.0, -0.3])
    heavy = rng.poisson(mean * rng.gamma(1.5, 1 / 1.5, size=600)).astype(float)
    fit = fitted(NegBin(), X, heavy).params
    rows = np.tile(X[:1], (40_000, 1))
    mu = float(np.exp(X[0] @ fit.beta))
    drawn = NegBin().draw(fit, rows, sampler(1))
    law = stats.nbinom(1 / fit.alpha, 1 / (1 + fit.alpha * mu))
    check_counts(drawn, law, stats.poisson(mu))
    light = fitted(Poisson(), X, rng.poisson(mean).astype(float)).params
    mu = float(np.exp(X[0] @ light.beta))
    check_counts(Poisson().draw(light, rows, sampler(2)), stats.poisson(mu), stats.poisson(1.2 * mu))


def check_counts(drawn, law, defect):
    """Chi-squared over cells of expected size at least 5: the law passes, the defect has p < 1e-9."""
    observed = np.bincount(drawn.astype(int))
    for other, passes in ((law, True), (defect, False)):
        expected = other.pmf(np.arange(observed.size)) * drawn.size
        keep = expected >= 5
        seen = np.append(observed[keep], observed[~keep].sum())
        hoped = np.append(expected[keep], drawn.size - expected[keep].sum())
        p = stats.chi2.sf(np.sum((seen - hoped) ** 2 / hoped), keep.sum())
        assert (p > LEAST) == passes


@pytest.mark.parametrize("model", [PolyReg, PolR])
def test_categorical_draws_follow_the_probabilities(model):
    rng = np.random.default_rng(7)
    X = features(rng, 700)
    y = np.digitize(X @ [0.0, 0.8, 0.0, -1.0] + rng.logistic(size=700), [-1.0, 0.5])
    fit = fitted(model(), X, y, levels=3, ordered=True).params
    high = X[np.argmax(X[:, 1])]
    drawn = model().draw(fit, np.tile(high, (30_000, 1)), sampler(1))
    truth = 1 / (1 + np.exp(-(high @ [0.0, 0.8, 0.0, -1.0] - 0.5)))
    assert abs(np.mean(drawn == 2) - truth) < 0.08
    observed = np.bincount(model().draw(fit, np.tile(X, (40, 1)), sampler(2)).astype(int)) / (700 * 40)
    np.testing.assert_allclose(observed, np.bincount(y) / 700, atol=0.012)


def test_sample_of_levels_and_its_redraws():
    X, y = np.ones((400, 1)), np.repeat([0, 2, 3], [300, 80, 20])
    fit = fitted(Sample(), X, y, levels=5).params
    drawn = Sample().draw(fit, np.ones((50_000, 1)), sampler(1))
    observed = np.bincount(drawn.astype(int), minlength=5)
    assert observed[[1, 4]].tolist() == [0, 0]
    assert stats.chisquare(observed[[0, 2, 3]], np.array([300, 80, 20]) * 125).pvalue > LEAST
    shares = redraws(Sample(), fit, lambda params: params.shares)
    assert np.all(shares[:, [1, 4]] == 0)
    # Dirichlet(counts): variance s (1 - s) / (n + 1), here within a tenth (standard error 2 %)
    s = np.array([0.75, 0.2, 0.05])
    np.testing.assert_allclose(shares[:, [0, 2, 3]].var(axis=0), s * (1 - s) / 401, rtol=0.12)


def test_sample_of_numbers_keeps_the_margin_and_emits_no_record():
    rng = np.random.default_rng(8)
    y = rng.gamma(2.0, 1000.0, size=5000)
    X = np.ones((5000, 1))
    fit = fitted(Sample(), X, y).params
    drawn = Sample().draw(fit, np.ones((5000, 1)), sampler(1))
    assert not np.isin(drawn, y).any()
    assert np.sort(y)[-5] < drawn.max() < 1.5 * y.max()
    assert stats.ks_2samp(drawn, y).pvalue > 1e-6
    assert stats.ks_2samp(drawn * 1.2, y).pvalue < LEAST
    means = redraws(Sample(), fit, lambda params: Sample().draw(params, X[:1000], sampler(1)).mean())
    assert means.std() == pytest.approx(y.std() / np.sqrt(5000), rel=0.15)


def test_sample_of_original_values():
    y = np.random.default_rng(9).normal(size=300)
    model = Sample(emit_original=True)
    fit = fitted(model, np.ones((300, 1)), y).params
    assert model.real_values
    for params in (fit, model.redraw(fit, np.random.default_rng(1))):
        assert np.isin(model.draw(params, np.ones((2000, 1)), sampler(1)), y).all()
