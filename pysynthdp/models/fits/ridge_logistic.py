"""Penalised logistic regression to an optimum that is as good as exact, whatever the rows."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import expit

from pysynthdp.base.arrays import FloatArray
from pysynthdp.models.ask import Answer, RowSum, RowTerms, Sums
from pysynthdp.models.fits.clip_rows import clip_rows
from pysynthdp.models.fits.penalised import solve_penalised
from pysynthdp.models.fits.weighting import weighted

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
    Privacy: asks for sums over rows; sees no row. Newton steps d, halved until the loss falls by a part of
    what the slope promises, but never below log(1 + a)/a of d, a = R |d|: as |f'''| <= R |d| f'' along d,
    that step lowers the loss by at least g'd ((1 + a) log(1 + a) - a)/a^2 (Bach 2010, Self-concordant
    analysis for logistic regression, Prop. 1). The loss is strongly convex, so the optimum is reached from
    anywhere and nothing fails on any table.
    """
    beta = np.zeros(features)
    answer = yield RowSum(_block(beta, norm))
    here = _penalised(answer.value, beta, penalty)
    for _ in range(ROUNDS):
        if float(np.linalg.norm(here.gradient)) <= STOPPED * longest:
            break
        step = -solve_penalised(here.hessian, here.gradient, penalty)
        beta, here = yield from _lower(beta, step, here, penalty=penalty, norm=norm, longest=longest)
    return beta


@dataclass(frozen=True, slots=True)
class _State:
    """The penalised loss and its gradient at a point; the Hessian without the penalty."""

    value: float
    gradient: FloatArray
    hessian: FloatArray


def _penalised(sums: Sums, beta: FloatArray, penalty: float) -> _State:
    """Add the penalty to the sums over rows."""
    value, gradient, hessian = sums
    return _State(float(value) + penalty / 2 * float(beta @ beta), gradient + penalty * beta, hessian)


def _lower(
    beta: FloatArray, step: FloatArray, here: _State, *, penalty: float, norm: float | None, longest: float
) -> Generator[RowSum, Answer, tuple[FloatArray, _State]]:
    """Go along a step as far as the loss falls."""
    reach = longest * float(np.linalg.norm(step))
    surely = float(np.log1p(reach) / reach) if reach > 1e-12 else 1.0
    slope, part = float(here.gradient @ step), 1.0
    while True:
        trial = beta + part * step
        answer = yield RowSum(_block(trial, norm))
        there = _penalised(answer.value, trial, penalty)
        promised = 1e-4 * part * slope + 1e-13 * abs(here.value)
        if part <= surely or there.value <= here.value + promised:
            return trial, there
        part = max(part / 2, surely)


def _block(beta: FloatArray, norm: float | None) -> RowTerms:
    """Loss, gradient and Hessian on some rows."""

    def of(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        Z = clip_rows(X, norm)
        eta = Z @ beta
        p = expit(eta)
        value = np.asarray(np.sum(weighted(np.logaddexp(0.0, eta) - y * eta, w)))
        curve = weighted(p * (1 - p), w)[:, None]
        return value, np.asarray(Z.T @ weighted(p - y, w)), np.asarray((Z * curve).T @ Z)

    return of
