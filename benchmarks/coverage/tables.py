"""Tables through the package's own synthesizer; fits by Newton's method on arrays; rule by `pool`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

import pysynthdp as sdp
from benchmarks.coverage.situations import Situation

TRUTH = {
    "linear": 0.5,
    "robust linear": 0.5,
    "interaction": 0.5,
    "logistic": 0.7,
    "poisson": 0.3,
    "multinomial": 0.6,
}
RESPONSE = {
    "linear": "y",
    "robust linear": "y",
    "interaction": "y",
    "logistic": "z",
    "poisson": "c",
    "multinomial": "h",
}
COEFFICIENT = {"interaction": 3}  # others: that of x, the second of the first equation
LEVELS = [0.0, 1.0, 2.0]
SCHEMA = sdp.Schema(
    [
        sdp.CategoricalColumn("g", LEVELS[:2], dtype="float64", may_be_missing=False),
        sdp.NumericColumn("x", may_be_missing=False),
        sdp.NumericColumn("y", may_be_missing=False),
        sdp.CategoricalColumn("z", LEVELS[:2], dtype="float64", may_be_missing=False),
        sdp.NumericColumn("c", lower=0, decimals=0, may_be_missing=False),
        sdp.CategoricalColumn("h", LEVELS, dtype="float64", may_be_missing=False),
    ]
)
# each response is drawn from the predictors alone, the models that the analyses fit
METHOD = {"x": "norm", "y": "norm", "c": "poisson"}
PREDICTORS = {"g": [], "x": ["g"], "y": ["g", "x"], "z": ["g", "x"], "c": ["g", "x"], "h": ["g", "x"]}


def sample(rng: np.random.Generator, n: int, made: str) -> pd.DataFrame:
    """Draw a confidential sample."""
    g = (rng.random(n) < 0.4).astype(float)
    x = 0.3 * g + rng.standard_normal(n)
    spread = np.exp(0.5 * x) if "unequal spread" in made else 1.0
    bend = 0.5 * g * x if "interaction" in made else 0.0
    y = 1 + TRUTH["linear"] * x + 0.8 * g + bend + spread * rng.standard_normal(n)
    z = (rng.random(n) < 1 / (1 + np.exp(0.5 - TRUTH["logistic"] * x - 0.5 * g))).astype(float)
    c = rng.poisson(np.exp(0.2 + TRUTH["poisson"] * x + 0.3 * g)).astype(float)
    odds = np.exp(np.column_stack([np.zeros(n), -0.2 + TRUTH["multinomial"] * x, -0.4 + 0.3 * x + 0.3 * g]))
    cut = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
    h = (rng.random(n)[:, None] > cut).sum(axis=1).astype(float)
    return pd.DataFrame({"g": g, "x": x, "y": y, "z": z, "c": c, "h": h})


def synthesizer(made: str) -> sdp.Synthesizer:
    """Give the settings for one way to make copies."""
    keep = ("g", "x") if "kept real" in made else ()
    method = {name: how for name, how in METHOD.items() if name not in keep}
    predictors = {name: use for name, use in PREDICTORS.items() if name not in keep}
    return sdp.Synthesizer(
        schema=SCHEMA,
        method=method,
        predictor_matrix=predictors,
        keep=keep,
        proper=made.startswith("drawn"),
        draws="independent",  # the study is of rules for independent rows; even.py is of others
        workers=1,
        progress=False,
    )


def newton(X: np.ndarray, Y: np.ndarray, mean, weight) -> tuple[np.ndarray, np.ndarray]:
    """Maximise a likelihood with a canonical link; Y (n, d), coefficients (d * p,) and covariance.

    A linear predictor beyond 30 means that the data are separated, so there is no estimate.
    """
    d, p = Y.shape[1], X.shape[1]
    beta = np.zeros((d, p))
    for _ in range(50):
        eta = X @ beta.T
        if np.abs(eta).max() > 30:
            break
        mu = mean(eta)
        W = weight(mu)
        blocks = [[(X * W[:, i, j, None]).T @ X for j in range(d)] for i in range(d)]
        hessian = np.block(blocks)
        step = np.linalg.solve(hessian, ((Y - mu).T @ X).ravel())
        beta += step.reshape(d, p)
        if np.abs(step).max() < 1e-9:
            return beta.ravel(), np.linalg.inv(hessian)
    raise np.linalg.LinAlgError("there is no estimate")


def _expit(eta):
    return 1 / (1 + np.exp(-eta))


def _softmax(eta):
    odds = np.exp(eta)
    return odds / (1 + odds.sum(axis=1, keepdims=True))


FAMILIES = {
    "logistic": (_expit, lambda mu: (mu * (1 - mu))[:, :, None]),
    "poisson": (np.exp, lambda mu: mu[:, :, None]),
    "multinomial": (_softmax, lambda mu: mu[:, :, None] * np.eye(2) - mu[:, :, None] * mu[:, None, :]),
}


def least_squares(X: np.ndarray, y: np.ndarray, *, robust: bool) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients, and the usual covariance or HC3."""
    bread = np.linalg.inv(X.T @ X)
    beta = bread @ X.T @ y
    residual = y - X @ beta
    if not robust:
        return beta, bread * (residual @ residual) / (len(y) - X.shape[1])
    leverage = np.einsum("ni,ij,nj->n", X, bread, X)
    scores = X * (residual / (1 - leverage))[:, None]
    return beta, bread @ (scores.T @ scores) @ bread


def fit(copy: dict[str, np.ndarray], analysis: str, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Analyse the first k rows of one copy."""
    g, x, y = (copy[name][:k] for name in ("g", "x", RESPONSE[analysis]))
    columns = [np.ones(k), x, g] + ([g * x] if analysis == "interaction" else [])
    X = np.column_stack(columns)
    if analysis not in FAMILIES:
        return least_squares(X, y, robust=analysis == "robust linear")
    levels = (1.0, 2.0) if analysis == "multinomial" else None
    Y = y[:, None] if levels is None else np.column_stack([y == level for level in levels]).astype(float)
    return newton(X, Y, *FAMILIES[analysis])


def interval(
    s: Situation, release: sdp.SyntheticRelease, fits: list[tuple[np.ndarray, np.ndarray]]
) -> tuple[float, float]:
    """Limits of the pooled interval of the coefficient in question, by the rule of the release's tags."""
    tags = release.tags.with_size(m=s.m, n_syn=s.k)
    shown = replace(release, copies=release.copies[: s.m], tags=tags)
    used = ("g", "x", RESPONSE[s.analysis])
    limits = sdp.pool(fits, release=shown, variables=used).conf_int().to_numpy()
    return tuple(limits[COEFFICIENT.get(s.analysis, 1)])


def one_run(seed: int, made: str, n: int, situations: tuple[Situation, ...]) -> list[tuple[float, float]]:
    """Limits of every situation that shares a way to make copies and n; NaN where a copy has no fit."""
    rng = np.random.default_rng([20261128, seed, n])
    table = sample(rng, n, made)
    try:
        fitted = synthesizer(made).fit(table)
        release = fitted.draw(max(s.m for s in situations), max(s.k for s in situations), rng=rng)
    except sdp.PysynthdpError:
        return [(np.nan, np.nan)] * len(situations)
    copies = [dict(zip(copy, copy.to_numpy(dtype=float).T, strict=True)) for copy in release]
    known: dict[tuple[str, int], list[tuple[np.ndarray, np.ndarray]]] = {}
    found = []
    for s in situations:
        try:
            done = known.setdefault((s.analysis, s.k), [])
            done += [fit(copy, s.analysis, s.k) for copy in copies[len(done) : s.m]]
            found.append(interval(s, release, done[: s.m]))
        except np.linalg.LinAlgError:
            found.append((np.nan, np.nan))
    return found
