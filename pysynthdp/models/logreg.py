"""``logreg``: a logistic regression for two levels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import expit, logit

from pysynthdp.base.arrays import FloatArray
from pysynthdp.models.ask import Moments, MomentSums, Sampler, StepMoments
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.glm import Coefficients, canonical_fit, logistic_terms, redraw_coefficients
from pysynthdp.models.fits.impossible import never_together
from pysynthdp.models.fits.moment_logit import logit_from_moments
from pysynthdp.models.fits.rank import independent_features
from pysynthdp.models.fits.redraw_shift import with_shift
from pysynthdp.models.fits.sparsity import empty_cells

__all__ = ["LogReg"]

NEVER = -800.0


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class LogReg:
    """Draw level 1 with probability 1 / (1 + exp(-X beta)), else level 0; ``logreg`` in synthpop.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``); the fit keeps coefficients only, draws are post-processing.
    Maximum likelihood; with an empty cell, few rows of a level per coefficient, or separation, the mode under
    a prior on slopes: N(0, 10^2), or with fewer than ten rows of a level a narrower one, its scale chosen by
    marginal likelihood, so that noise predictors do not inflate a rare level. The mean fitted probability is
    the observed share; only then pairs of levels are taken out that never occur though ten were expected.

    Examples
    --------
    >>> LogReg().accepts(Target("smoke", "categorical", n_levels=2))
    True
    """

    name: ClassVar[str] = "logreg"
    reason: ClassVar[str] = (
        "the coefficients of a logistic regression without a public penalty can be moved without limit "
        "by one record"
    )
    real_values: ClassVar[bool] = False
    linear_on: ClassVar[str] = "logit"

    def accepts(self, target: Target) -> bool:
        """Two levels."""
        return target.kind == "categorical" and target.n_levels == 2

    def fit(self, task: FitTask) -> Fit:
        """Ask for the moments, then for gradient and curvature a few times; return Coefficients."""
        answer = yield Moments()
        sums: MomentSums = answer.value
        share = sums.cross[0] / sums.n
        if share <= 0.0 or share >= 1.0:
            return _one_level(sums.cross.size, NEVER if share <= 0.0 else -NEVER)
        cells = np.stack([sums.gram[0] - sums.cross, sums.cross])
        free = independent_features(sums.gram)
        sparse = empty_cells(cells, np.asarray(task.dummies), free.size)
        fit = yield from canonical_fit(
            logistic_terms,
            sums.gram,
            sums.cross,
            intercept=float(logit(share)),
            sparse=sparse,
            events=float(cells[:, 0].min()),
        )
        if task.proper:
            fit = yield from with_shift(fit, expit, logit, total=float(sums.cross[0]), n=int(sums.n))
        never = never_together(cells, np.asarray(task.dummies), task.exclusive)
        return replace(fit, beta=fit.beta + never[1] - never[0])

    def fit_from_moments(self, task: FitTask, given: StepMoments) -> Coefficients:  # noqa: ARG002
        """Solve the score equations of noisy sums."""
        before = None if given.start is None else np.stack([-given.start.beta / 2, given.start.beta / 2])
        beta = logit_from_moments(given.X, given.weights, given.cross, n=given.n, start=before)
        return Coefficients(beta[1] - beta[0], np.zeros((beta.shape[1], 0)), (), shrunk=True)

    def redraw(self, params: Coefficients, rng: np.random.Generator) -> Coefficients:
        """Coefficients from the normal approximation to their posterior."""
        return redraw_coefficients(params, rng)

    def level_shares(self, params: Coefficients, X: FloatArray) -> FloatArray:
        """Probability of each level, (rows, 2)."""
        one = expit(X @ params.beta)
        return np.stack([1 - one, one], axis=1)

    def draw(self, params: Coefficients, X: FloatArray, sampler: Sampler) -> FloatArray:
        """Level 0 or 1 for each row of X."""
        return sampler.event(expit(X @ params.beta)).astype(np.float64)


def _one_level(size: int, intercept: float) -> Coefficients:
    """Only one of the levels occurs: it is drawn with probability 1."""
    beta = np.zeros(size)
    beta[0] = intercept
    return Coefficients(beta, np.zeros((size, 0)), (), shrunk=False)
