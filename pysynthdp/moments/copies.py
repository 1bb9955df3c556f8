"""Moments of one more copy: the released ones, fresh noise of the same law, and a fresh sampling draw."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pysynthdp._random import NumpySampler
from pysynthdp._typing import BoolArray, FloatArray
from pysynthdp.moments.answers import Answers
from pysynthdp.moments.cells import Cells
from pysynthdp.moments.fitting import MomentFit, MomentStep
from pysynthdp.moments.margins import margin_of, nearest_shares
from pysynthdp.moments.released import fresh_counts, fresh_moments

__all__ = ["TRIES", "implied_moments", "normal_moments", "sampled_moments"]

TRIES = 50
MOST_ROWS = 40_000


def implied_moments(cells: Cells) -> FloatArray:
    """Take expected cross-products of one row under a fit, in the layout's order."""
    every = np.ones(len(cells.weights), dtype=np.bool_)
    return cells.products(np.arange(cells.X.shape[1]), np.arange(cells.means.shape[1]), every)


def sampled_moments(
    answers: Answers,
    gram: FloatArray,
    fit: MomentFit,
    steps: Sequence[MomentStep],
    rng: np.random.Generator,
) -> tuple[FloatArray, dict[int, FloatArray]]:
    """Redraw the moments of a mixed table, and the margins of bent numbers.

    Parameters
    ----------
    answers : Answers
        Whose noise law.
    gram : array (features, features)
        The released moments.
    fit : MomentFit
        Fitted to them.
    steps : sequence of MomentStep
        Of the plan.
    rng : Generator
        Of the drawing.

    Returns
    -------
    array (features, features), mapping number -> array (2, knots)

    Notes
    -----
    Privacy: post-processing; simulation after the release. T* = T + (T(D) - E T(D)) + P E', D being n rows
    of the fitted model and E' fresh noise: the first-order posterior of the mean-value parameter. Beyond
    40,000 rows D is that long and its deviation is scaled up.
    """
    n = max(float(gram[0, 0]), 1.0)
    rows = int(min(n, MOST_ROWS))
    X, there = _simulated(fit, steps, rows, rng)
    scale = float(np.sqrt(n / rows))
    deviation = X.T @ X - rows * implied_moments(fit.cells)
    drawn = np.asarray(gram + scale * deviation + fresh_moments(answers, rng))
    first = X.shape[1] - fit.cells.means.shape[1]
    knots = {
        number: _redrawn_margin(answers, number, X[there[number], first + number], scale, rng)
        for number in answers.margins
    }
    return drawn, knots


def _redrawn_margin(
    answers: Answers, number: int, values: FloatArray, scale: float, rng: np.random.Generator
) -> FloatArray:
    """Add the sampling deviation of simulated rows and fresh noise to the noisy counts of a number."""
    margin = answers.margins[number]
    shares = nearest_shares(margin.counts)
    found = np.bincount(np.searchsorted(margin.edges[1:-1], values, side="right"), minlength=len(shares))
    counts = margin.counts + scale * (found - len(values) * shares) + fresh_counts(answers, number, rng)
    return margin_of(counts, margin.edges, margin.mean, margin.sd)


def _simulated(
    fit: MomentFit, steps: Sequence[MomentStep], rows: int, rng: np.random.Generator
) -> tuple[FloatArray, list[BoolArray]]:
    """Rows drawn from the fitted model, and where each number is there."""
    cells = fit.cells
    counts = rng.multinomial(rows, cells.weights / cells.weights.sum())
    at = np.repeat(np.arange(len(counts)), counts)
    dummies = cells.X.shape[1]
    X = np.empty((dummies + cells.means.shape[1], rows)).T
    X[:, :dummies] = cells.X[at]
    column, there = dummies, []
    for step, params in zip(steps, fit.params, strict=True):
        if not step.part.numeric:
            continue
        values = step.model.draw(params, step.design.take(X), NumpySampler(rng))
        there.append(np.ones(rows, dtype=np.bool_) if step.kind < 0 else cells.codes[at, step.kind] == 0)
        X[:, column] = np.where(there[-1], values, 0.0)
        column += 1
    return X, there


def normal_moments(answers: Answers, gram: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, bool]:
    """Redraw the moments of a table of numbers from their posterior.

    Parameters
    ----------
    answers : Answers
        Whose noise law.
    gram : array (1 + p, 1 + p)
        The released moments.
    rng : Generator
        Of the drawing.

    Returns
    -------
    array (1 + p, 1 + p), bool
        And whether the noisy covariance was positive definite without repair.

    Notes
    -----
    Privacy: post-processing; simulation after the release. Under a flat prior on mean and covariance the
    moments given the noisy ones are normal around them, cut to the positive definite; then
    Sigma ~ IW(S, n - p - 2) and mu ~ N(t/n, Sigma/n).
    """
    for _ in range(TRIES):
        noisy = gram + fresh_moments(answers, rng)
        n = max(float(gram[0, 0]), 1.0)
        mean = noisy[0, 1:] / n
        scatter = noisy[1:, 1:] - n * np.outer(mean, mean)
        values = np.linalg.eigvalsh(scatter)
        if values[0] > 0:
            return _posterior(mean, scatter, n, rng), True
    values, vectors = np.linalg.eigh(scatter)
    repaired = (vectors * np.maximum(values, 1e-6 * max(values[-1], 1.0))) @ vectors.T
    return _posterior(mean, repaired, n, rng), False


def _posterior(mean: FloatArray, scatter: FloatArray, n: float, rng: np.random.Generator) -> FloatArray:
    """Draw covariance and mean, and write them as moments; Bartlett's decomposition."""
    p = len(mean)
    df = max(n - p - 2, p + 1.0)
    lower = np.tril(rng.standard_normal((p, p)), -1)
    lower[np.diag_indices(p)] = np.sqrt(rng.chisquare(df - np.arange(p)))
    # Sigma = C A^-T A^-1 C' with C C' = S and A A' ~ Wishart(I, df)
    root = np.linalg.cholesky(scatter) @ np.linalg.inv(lower).T
    centre = mean + root @ rng.standard_normal(p) / np.sqrt(n)
    result = np.empty((p + 1, p + 1))
    result[0, 0] = n
    result[0, 1:] = result[1:, 0] = n * centre
    result[1:, 1:] = n * (root @ root.T + np.outer(centre, centre))
    return result
