"""``dirichlet``: a categorical column with a public Dirichlet prior; Beta for two levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from pysynthdp._typing import FloatArray, IntArray
from pysynthdp.errors import PlanError, PrivacyError
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.numerics.settings import positive_setting
from pysynthdp.queries import Counts, Sampler

__all__ = ["Dirichlet", "LevelWeights"]

CellDraw = Literal["map", "one", "many"]


@dataclass(frozen=True, slots=True)
class LevelWeights:
    """The law of a record.

    Parameters
    ----------
    shares : array (levels,)
        Probabilities.
    weights : array (levels,)
        Counts plus prior (less one for the mode): of the posterior, and what shares are proportional to.
    whole : int64 array (levels,)
        The same in whole numbers, for the exact sampler; empty where none is asked for.
    """

    shares: FloatArray
    weights: FloatArray
    whole: IntArray


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True, kw_only=True)
class Dirichlet:
    """Draw a level by its posterior probability under a public Dirichlet prior, without predictors.

    Parameters
    ----------
    prior : float or sequence of float
        Public prior weight of each level, or of every level; above one for the mode. Missing values that are
        levels of their own come after the declared levels.
    posterior : {"map", "one", "many"}, optional
        Probabilities at their mode; drawn once a copy (needs ``proper=True``); or anew for each record, which
        is the posterior mean. By default "one" in a proper synthesis, else "many".

    Raises
    ------
    PrivacyError
        If a prior weight is not a positive finite number, or not above one for "map".
    PlanError
        If ``posterior`` does not fit the plan's ``proper``, or the prior the number of levels.

    Notes
    -----
    Privacy: asks for the count of each level; under ``BySampling`` each record drawn costs. Two levels F1, F7
    and F8; more G1, G3 and G4. Prior weights of some tens a level are needed for a guarantee worth the name.
    With ``exact=True`` levels are drawn from whole-number weights, which needs prior weights of at most six
    decimals.

    Examples
    --------
    >>> Dirichlet(prior=20.0).accepts(Target("sex", "categorical", n_levels=2))
    True
    """

    prior: float | Sequence[float] | None = None
    posterior: CellDraw | None = None
    name: ClassVar[str] = "dirichlet"
    reason: ClassVar[str] = (
        "its draws carry a guarantee only when guarantee=BySampling() is asked for the whole table"
    )
    bias: ClassVar[str] = "shrunk"
    real_values: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.prior is not None and not isinstance(self.prior, int | float):
            object.__setattr__(self, "prior", tuple(self.prior))

    def accepts(self, target: Target) -> bool:
        """Levels only, at least two."""
        return target.kind == "categorical" and target.n_levels > 1

    def mechanism(self, task: FitTask) -> tuple[str, dict[str, Any]]:
        """Name the privacy mechanism of the draws and its public constants."""
        kind, prior = self._kind(task), self._prior(task)
        if kind == "one":
            return "cells_per_copy", {"n": task.n, "prior": prior}
        return "cells_per_record", {"n": task.n, "prior": prior, "draw": kind}

    def _kind(self, task: FitTask) -> CellDraw:
        """How the posterior is used; refused where the plan says otherwise."""
        kind: CellDraw = self.posterior or ("one" if task.proper else "many")
        if kind not in ("map", "one", "many"):
            raise PlanError("dirichlet: posterior must be 'map', 'one' or 'many'")
        if (kind == "one") != task.proper:
            wanted = "proper=True" if kind == "one" else "proper=False"
            raise PlanError(f"dirichlet: posterior={kind!r} needs a synthesis with {wanted}; change either")
        return kind

    def _prior(self, task: FitTask) -> tuple[float, ...]:
        """One checked weight a level."""
        target = task.target
        given: tuple[Any, ...] = (
            self.prior if isinstance(self.prior, tuple) else (self.prior,) * target.n_levels
        )
        if len(given) != target.n_levels:
            raise PlanError(f"{target.name}: the prior must have {target.n_levels} weights, one a level")
        prior = tuple(positive_setting(self.name, "prior", weight) for weight in given)
        if self._kind(task) == "map" and min(prior) <= 1:
            raise PrivacyError(f"{target.name}: posterior='map' needs prior weights above 1; raise them")
        return prior

    def fit(self, task: FitTask) -> Fit:
        """Ask for the counts, return LevelWeights."""
        prior = self._prior(task)
        less = 1 if self._kind(task) == "map" else 0
        answer = yield Counts()
        counts = np.asarray(answer.value, dtype=np.float64)
        weights = counts + np.asarray(prior) - less
        whole = _whole(counts, prior, less, task.target.name) if task.exact else np.zeros(0, dtype=np.int64)
        return LevelWeights(weights / weights.sum(), weights, whole)

    def redraw(self, params: LevelWeights, rng: np.random.Generator) -> LevelWeights:
        """Probabilities from their Dirichlet posterior."""
        gammas = np.asarray(rng.standard_gamma(params.weights))
        return replace(params, shares=gammas / gammas.sum())

    def draw(self, params: LevelWeights, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One level code for each row of X, whatever the row holds."""
        if getattr(sampler, "exact", False):
            codes = sampler.integer_weights(params.whole, len(X))  # type: ignore[attr-defined]  # only exact samplers have it
            return np.asarray(codes, dtype=np.float64)
        edges = np.cumsum(params.shares)[:-1]
        return np.searchsorted(edges, sampler.uniform(len(X)), side="right").astype(np.float64)


def _whole(counts: FloatArray, prior: tuple[float, ...], less: int, name: str) -> IntArray:
    """Weights as whole numbers in exact proportion: the prior read as the decimal that it was written as."""
    fractions = [Fraction(repr(weight)) - less for weight in prior]
    unit = math.lcm(*(fraction.denominator for fraction in fractions))
    if unit > 10**6:
        raise PlanError(f"{name}: exact draws need prior weights of at most six decimals; round them")
    whole = [int(count) * unit + int(weight * unit) for count, weight in zip(counts, fractions, strict=True)]
    return np.array(whole, dtype=np.int64)
