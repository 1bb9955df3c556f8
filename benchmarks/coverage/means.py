"""Copies of a normal mean (variance 1), made directly from their distributions, all runs at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from benchmarks.coverage.situations import NAIVE, Situation
from pysynthdp import combine

TRUTH = 0.0
MISSING = 0.3  # share of values imputed
DESIGN_EFFECT = 1.6
NOISE = 0.5  # variance of the privacy noise over that of the confidential mean


@dataclass(frozen=True, slots=True)
class Copies:
    """Estimates and variances (copies, runs, p), and what the rules want to know besides."""

    q: np.ndarray
    u: np.ndarray
    n_org: int
    truth: np.ndarray | float = TRUTH
    noise_var: float | None = None
    df_com: float | None = None


def _drawn_once(centre, s2, rng, copies, k):
    """Draw copies of size k around ``centre`` with variance ``s2``."""
    shape = (copies, *np.broadcast_shapes(np.shape(centre)[1:], np.shape(s2)[1:]))
    q = centre + rng.standard_normal(shape) * np.sqrt(s2 / k)
    u = s2 * rng.chisquare(k - 1, shape) / (k - 1) / k
    return q, u


def _posterior(mean, s2, n, rng, copies):
    """Draw mean and variance anew for each copy."""
    shape = (copies, *mean.shape[1:])
    drawn = s2 * (n - 1) / rng.chisquare(n - 1, shape)
    return mean + rng.standard_normal(shape) * np.sqrt(drawn / n), drawn


def _sample(rng, n, runs, p):
    """Mean and variance of the confidential sample."""
    return rng.standard_normal((1, runs, p)) / np.sqrt(n), rng.chisquare(n - 1, (1, runs, p)) / (n - 1)


def make(s: Situation, rng: np.random.Generator, runs: int, p: int = 1) -> Copies:
    """Make the copies of a situation."""
    mean, s2 = _sample(rng, s.n, runs, p)
    simple = {"fitted": _fitted, "drawn": _drawn, "missing values imputed only": _imputed}
    if s.made in simple:
        return simple[s.made](s, mean, s2, rng)
    if s.made.startswith("half the rows"):
        return _half(s, rng, runs, p)
    special = {
        "fresh subsample of half": _subsample,
        "fresh sample of a synthetic census": _census,
        "one noisy fit for all copies": _shared_noise,
        "a fresh noisy fit for each copy": _fresh_noise,
        "noise drawn again around one release": _redrawn_noise,
        "pseudo-populations": _pseudo,
        "imputed, then synthesised": _imputed_then_synthesised,
        "synthesised in two stages": _two_stages,
        "populations imputed in two stages": _two_stages_full,
    }
    return special[s.made](s, mean, s2, rng)


def _fitted(s, mean, s2, rng):
    q, u = _drawn_once(mean, s2, rng, s.m, s.k)
    return Copies(q, u, s.n)


def _drawn(s, mean, s2, rng):
    q, u = _drawn_once(*_posterior(mean, s2, s.n, rng, s.m), rng, s.m, s.k)
    return Copies(q, u, s.n)


def _observed(s, rng, shape):
    """Mean and variance of the values that are not missing."""
    seen = round(s.n * (1 - MISSING))
    mean = rng.standard_normal(shape) / np.sqrt(seen)
    return mean, rng.chisquare(seen - 1, shape) / (seen - 1), seen


def _completed(s, rng, shape, m):
    """Mean and variance of m completed samples, parameters drawn for each."""
    mean, s2, seen = _observed(s, rng, shape)
    gone = s.n - seen
    centre, drawn = _posterior(mean, s2, seen, rng, m)
    imputed, within = _drawn_once(centre, drawn, rng, m, gone)
    whole = (seen * mean + gone * imputed) / s.n
    square = (seen - 1) * s2 + (gone - 1) * gone * within + seen * gone / s.n * (imputed - mean) ** 2
    return whole, square / (s.n - 1)


def _imputed(s, mean, _s2, rng):
    q, variance = _completed(s, rng, mean.shape, s.m)
    return Copies(q, variance / s.n, s.n, df_com=s.n - 1)


def _half(s, rng, runs, p):
    """Replace half of the rows; the model from those rows or from all, those rows or all analysed."""
    half = s.n // 2
    kept = _sample(rng, half, runs, p)
    gone = _sample(rng, half, runs, p)
    mean = gone[0] if "model from them" in s.made else (kept[0] + gone[0]) / 2
    variance = gone[1] if "model from them" in s.made else (kept[1] + gone[1]) / 2
    q, u = _drawn_once(mean, variance, rng, s.m, half)
    if s.made.endswith("alone"):
        return Copies(q, u, half if "model from them" in s.made else s.n)
    square = (half - 1) * (kept[1] + u * half) + half / 2 * (q - kept[0]) ** 2
    return Copies((q + kept[0]) / 2, square / (s.n - 1) / s.n, s.n)


def _subsample(s, mean, s2, rng):
    """Take a fresh subsample of k of the n rows for each copy, then complete synthesis of it."""
    shape = (s.m, *mean.shape[1:])
    part = mean + rng.standard_normal(shape) * np.sqrt(s2 * (1 / s.k - 1 / s.n))
    q, u = _drawn_once(part, s2, rng, s.m, s.k)
    return Copies(q, u, s.n)


def _census(s, mean, _s2, rng):
    """Take a census of 100 n, replaced anew for each copy, of which a sample is released; it is the truth."""
    census = mean / 10
    replaced = census + rng.standard_normal((s.m, *mean.shape[1:])) / np.sqrt(100 * s.n)
    q, u = _drawn_once(replaced, np.ones_like(mean), rng, s.m, s.k)
    return Copies(q, u, 100 * s.n, truth=census[0])


def _shared_noise(s, mean, s2, rng):
    noisy = mean + rng.standard_normal(mean.shape) * np.sqrt(NOISE / s.n)
    q, u = _drawn_once(noisy, s2, rng, s.m, s.k)
    return Copies(q, u, s.n, noise_var=NOISE / s.n)


def _fresh_noise(s, mean, s2, rng):
    """Give each copy m-th part of the budget, so m times the noise variance."""
    noisy = mean + rng.standard_normal((s.m, *mean.shape[1:])) * np.sqrt(s.m * NOISE / s.n)
    q, u = _drawn_once(noisy, s2, rng, s.m, s.k)
    return Copies(q, u, s.n)


def _redrawn_noise(s, mean, s2, rng):
    """Draw each copy's parameters from their posterior given one noisy release."""
    noisy = mean + rng.standard_normal(mean.shape) * np.sqrt(NOISE / s.n)
    centre = noisy + rng.standard_normal((s.m, *mean.shape[1:])) * np.sqrt((s2 + NOISE) / s.n)
    q, u = _drawn_once(centre, s2, rng, s.m, s.k)
    return Copies(q, u, s.n)


def _pseudo(s, mean, s2, rng):
    """Weighted survey, pseudo-populations, a simple random sample of each, r copies of each."""
    shape = (s.m, *mean.shape[1:])
    estimate = mean * np.sqrt(DESIGN_EFFECT)
    population = estimate + rng.standard_normal(shape) * np.sqrt(DESIGN_EFFECT * s2 / s.n)
    sample = population + rng.standard_normal(shape) * np.sqrt(s2 / s.n)
    q, u = _drawn_once(np.repeat(sample, s.r, axis=0), s2, rng, s.m * s.r, s.k)
    return Copies(q, u, s.n)


def _imputed_then_synthesised(s, mean, _s2, rng):
    whole, variance = _completed(s, rng, mean.shape, s.m)
    centre, spread = (np.repeat(part, s.r, axis=0) for part in (whole, variance))
    q, u = _drawn_once(centre, spread, rng, s.m * s.r, s.k)
    return Copies(q, u, s.n)


def _two_stages(s, mean, s2, rng):
    """Two variables in one sum, the first synthesised m times, the second r times for each."""
    first = rng.standard_normal((s.m, *mean.shape[1:])) * np.sqrt(s2 / 2 / s.k)
    second = rng.standard_normal((s.m * s.r, *mean.shape[1:])) * np.sqrt(s2 / 2 / s.k)
    q = mean + np.repeat(first, s.r, axis=0) + second
    return Copies(q, s2 * rng.chisquare(s.k - 1, q.shape) / (s.k - 1) / s.k, s.n)


def _two_stages_full(s, mean, s2, rng):
    """Do the same with drawn parameters: each stage adds its posterior and its sampling variance."""
    both = np.sqrt(s2 / 2 * (1 / s.n + 1 / s.k))
    first = rng.standard_normal((s.m, *mean.shape[1:])) * both
    second = rng.standard_normal((s.m * s.r, *mean.shape[1:])) * both
    q = mean + np.repeat(first, s.r, axis=0) + second
    return Copies(q, s2 * rng.chisquare(s.k - 1, q.shape) / (s.k - 1) / s.k, s.n)


def labels(s: Situation) -> list[int] | None:
    """Name the nest of every copy."""
    return np.repeat(np.arange(s.m), s.r).tolist() if s.r > 1 and s.rule != "partial_size_adjusted" else None


def limits(s: Situation, c: Copies) -> np.ndarray:
    """Limits (runs, 2) of the 95 % interval by the rule of the situation."""
    q, u = c.q[..., 0], c.u[..., 0]
    if s.rule == NAIVE:
        half = stats.t.ppf(0.975, s.k - 1) * np.sqrt(u[0])
        return np.stack([q[0] - half, q[0] + half], axis=-1)
    return combine(
        q,
        u,
        rule=s.rule,
        n_syn=s.k,
        n_org=c.n_org,
        nests=labels(s),
        noise_var=c.noise_var if s.rule == "shared_noise_added" else None,
        df_com=c.df_com,
    ).conf_int()
