"""Would fitting a step to stand-ins in place of real rows mend a drift, and what would it cost?

``python -m benchmarks.coverage.moment_fit [RUNS]``: x1 is normal; x2 is drawn by a straight line in x1, which
is right or wrong (a curve in half the rows, a spread that grows); y is a logit of both, and right. Its
coefficients are those of the real rows (maximum likelihood), or solve the equation with evenly drawn x1, x2
of 16 times the rows: sum over stand-ins of x p(x) = 16 times the sum over real rows of x y. 500 rows, five
copies; standard errors of plug-in copies.

Rule: build the fit to stand-ins in if it brings the share of y nearer without taking its slopes farther
off.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from pysynthdp.base.arrays import FloatArray

ROWS, COPIES, TIMES = 500, 5, 16
TRUTH = np.array([-0.5, 0.7, 0.5])


def logit(X: FloatArray, cross: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Solve sum x p(x) = cross by Newton's steps: coefficients and their variances."""
    beta = np.zeros(X.shape[1])
    for _ in range(40):
        p = expit(X @ beta)
        inverse = np.linalg.inv((X * (p * (1 - p))[:, None]).T @ X)
        step = np.clip(inverse @ (cross - X.T @ p), -2, 2)
        beta += step
        if np.abs(step).max() < 1e-9:
            break
    return beta, inverse.diagonal()


def even(rng: np.random.Generator, n: int) -> FloatArray:
    """Draw normal numbers evenly."""
    return np.asarray(ndtri((rng.permutation(n) + rng.random(n)) / n))


def drawn(rng: np.random.Generator, n: int, real: FloatArray) -> FloatArray:
    """Draw x1 and x2 by models of the real ones: an intercept and both."""
    one, x = real[:, :2], real[:, 2]
    line = np.linalg.lstsq(one, x, rcond=None)[0]
    first = np.column_stack([np.ones(n), real[:, 1].mean() + real[:, 1].std() * even(rng, n)])
    return np.column_stack([first, first @ line + (x - one @ line).std() * even(rng, n)])


def table(rng: np.random.Generator, right: bool) -> tuple[FloatArray, FloatArray]:
    """Draw a confidential table."""
    x, e = rng.normal(size=ROWS), rng.normal(size=ROWS)
    curve = np.where(rng.random(ROWS) < 0.5, 0.5 * x + 0.5 * (x**2 - 1), 0.0)
    X = np.column_stack([np.ones(ROWS), x, 0.5 * x + e if right else curve + e * np.exp(0.4 * x)])
    return X, (rng.random(ROWS) < expit(X @ TRUTH)).astype(float)


def run(rng: np.random.Generator, right: bool, stand_ins: bool) -> FloatArray:
    """Give whether slopes are covered, how far they and the share of y are off in real standard errors."""
    X, y = table(rng, right)
    beta, variance = logit(X, X.T @ y)
    used = logit(drawn(rng, TIMES * ROWS, X), TIMES * (X.T @ y))[0] if stand_ins else beta
    found = []
    for _ in range(COPIES):
        C = drawn(rng, ROWS, X)
        copy = (rng.random(ROWS) < expit(C @ used)).astype(float)
        found.append((*logit(C, C.T @ copy), np.repeat(copy.mean(), 3)))
    q, u, share = (np.mean(each, axis=0) for each in zip(*found, strict=True))
    covered = np.abs(q - TRUTH) < 1.96 * np.sqrt(u * (1 + 1 / COPIES))
    z = np.abs(q - beta) / np.sqrt(variance)
    moved = abs(share[0] - y.mean()) / (y.std() / np.sqrt(ROWS))
    return np.array([*covered[1:], *z[1:], moved])


def study(runs: int) -> Iterator[dict[str, object]]:
    """Measure all four cases."""
    heads = ("covered slope 1", "covered slope 2", "z slope 1", "z slope 2", "z share of y")
    for right in (True, False):
        for stand_ins in (False, True):
            rng = np.random.default_rng(1)
            mean = np.mean([run(rng, right, stand_ins) for _ in range(runs)], axis=0)
            case = {
                "x2's model": "right" if right else "wrong",
                "fit to": "stand-ins" if stand_ins else "rows",
            }
            yield case | dict(zip(heads, mean.round(3), strict=True))


if __name__ == "__main__":
    print(pd.DataFrame(study(int(sys.argv[1]) if len(sys.argv) > 1 else 600)).to_string(index=False))
