"""Penalised logistic regression to an optimum that is as good as exact, whatever the rows."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeAlias

import numpy as np
from scipy.special import expit

from pysynthdp._typing import FloatArray
from pysynthdp.numerics.clip_rows import clip_rows
from pysynthdp.numerics.penalised import solve_penalised
from pysynthdp.queries import Answer, RowSum, Sums

__all__ = ["STOPPED", "ask_ridge_logistic"]

STOPPED = 1e-7  # gradient left, relative to the norm of a row: what the price allows for
ROUNDS = 500  # never reached: see Notes of ask_ridge_logistic

Asking: TypeAlias = Generator[RowSum, Answer, FloatArray]


def ask_ridge_logistic(features: int, *, penalty: float, norm: float | None, longest: float) -> Asking:
    """Minimise sum log(1 + exp(-s x'beta)) + (penalty/2) |beta|^2, s = 1 for level 1 and -1 for level 0.

    Parameters
    ----------
    features : int
        Columns of X.
    penalty : float
        Above zero.
    norm : float or None
        Rows are clipped to this Euclidean norm.
    longest : float
        Bound R on the norm of a row, for the length of the steps.

    Returns
    -------
    array (features,)
        With a gradient of at most ``STOPPED`` times R, so within STOPPED R/penalty of the optimum.

    Notes
    -----
    Privacy: asks for sums over rows; sees no row. Damped Newton steps d scaled by log(1 + a)/a, a = R |d|:
    as |f'''| <= R |d| f'' along d, every step lowers the loss by at least g'd ((1 + a) log(1 + a) - a)/a^2,
    without a search (Bach 2010, Self-concordant analysis for logistic regression, Prop. 1). It is strongly
    convex, so the steps reach the optimum from anywhere and nothing fails on any table.
    """
    beta = np.zeros(features)
    for _ in range(ROUNDS):
        answer = yield RowSum(_block(beta, norm))
        gradient, hessian = answer.value
        gradient = gradient + penalty * beta
        if float(np.linalg.norm(gradient)) <= STOPPED * longest:
            break
        step = -solve_penalised(hessian, gradient, penalty)
        reach = longest * float(np.linalg.norm(step))
        beta = beta + step * (np.log1p(reach) / reach if reach > 1e-12 else 1.0)
    return beta


def _block(beta: FloatArray, norm: float | None) -> Callable[[FloatArray, FloatArray], Sums]:
    """Gradient and Hessian of the loss on some rows."""

    def of(X: FloatArray, y: FloatArray) -> Sums:
        Z = clip_rows(X, norm)
        p = expit(Z @ beta)
        return np.asarray(Z.T @ (p - y)), np.asarray((Z * (p * (1 - p))[:, None]).T @ Z)

    return of
