"""``dirichlet``: a categorical column with a public Dirichlet prior; Beta for two levels."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.checks import positive_setting
from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.base.words import Setting, Words
from pysynthdp.models.ask import Counts, Sampler
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target

__all__ = ["Dirichlet", "LevelWeights"]

_MAP = Setting("posterior", "map")

CellDraw = Literal["map", "one", "many"]


class LevelUrn:
    """Levels of one copy, drawn one after the other; exchangeable, so blocks may take turns in any order."""

    __slots__ = ("_balls", "_lock", "_unit")

    def __init__(self, balls: IntArray, unit: int) -> None:
        self._balls, self._unit, self._lock = balls.copy(), unit, threading.Lock()

    def draw(self, sampler: Any, size: int) -> FloatArray:
        """Take the next draws from an exact sampler."""
        with self._lock:
            codes = sampler.urn(self._balls, self._unit, size)
            self._balls += self._unit * np.bincount(codes, minlength=self._balls.size)
        return np.asarray(codes, dtype=np.float64)


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
    unit : int
        Whole numbers that stand for one record.
    """

    shares: FloatArray
    weights: FloatArray
    whole: IntArray
    unit: int = 1


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
    decimals; those of a proper synthesis by a Polya urn, whose records have the law of one parameter a copy.

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
        if task.exact:
            _unit_of(prior, task.target.name)  # refused here, before a row is read
        if kind == "one":
            return "cells_by_urn" if task.exact else "cells_per_copy", {"n": task.n, "prior": prior}
        return "cells_per_record", {"n": task.n, "prior": prior, "draw": kind}

    def _kind(self, task: FitTask) -> CellDraw:
        """How the posterior is used; refused where the plan says otherwise."""
        kind: CellDraw = self.posterior or ("one" if task.proper else "many")
        if kind not in ("map", "one", "many"):
            raise PlanError("dirichlet: posterior must be 'map', 'one' or 'many'", kind="method")
        if (kind == "one") != task.proper:
            wanted, given = Setting("proper", kind == "one"), Setting("posterior", kind)
            what = Words("dirichlet: {given} needs a synthesis with {wanted}", given=given, wanted=wanted)
            raise PlanError(what, kind="setting", remedy="change either")
        return kind

    def _prior(self, task: FitTask) -> tuple[float, ...]:
        """One checked weight a level; levels that are put together have the sum of theirs."""
        target = task.target
        groups = target.groups or tuple(range(target.n_levels))
        given: tuple[Any, ...] = self.prior if isinstance(self.prior, tuple) else (self.prior,) * len(groups)
        if len(given) != len(groups):
            raise PlanError(
                f"{target.name}: the prior must have {len(groups)} weights, one a level",
                column=target.name,
                kind="method",
            )
        each = [positive_setting(self.name, "prior", weight) for weight in given]
        prior = tuple(np.bincount(groups, each, target.n_levels).tolist()) if groups else ()
        if self._kind(task) == "map" and min(prior) <= 1:
            what = Words("{column}: {map} needs prior weights above 1", column=target.name, map=_MAP)
            raise PrivacyError(what, column=target.name, kind="setting", remedy="raise them")
        return prior

    def fit(self, task: FitTask) -> Fit:
        """Ask for the counts, return LevelWeights."""
        prior = self._prior(task)
        less = 1 if self._kind(task) == "map" else 0
        answer = yield Counts()
        counts = np.asarray(answer.value, dtype=np.float64)
        weights = counts + np.asarray(prior) - less
        if not task.exact:
            return LevelWeights(weights / weights.sum(), weights, np.zeros(0, dtype=np.int64))
        unit = _unit_of(prior, task.target.name)
        return LevelWeights(weights / weights.sum(), weights, _whole(counts, prior, less, unit), unit)

    def redraw(self, params: LevelWeights, rng: np.random.Generator) -> LevelWeights | LevelUrn:
        """Probabilities from their Dirichlet posterior; for exact draws a fresh urn instead."""
        if params.whole.size:
            return LevelUrn(params.whole, params.unit)
        gammas = np.asarray(rng.standard_gamma(params.weights))
        return replace(params, shares=gammas / gammas.sum())

    def draw(self, params: LevelWeights | LevelUrn, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One level code for each row of X, whatever the row holds."""
        if isinstance(params, LevelUrn):
            return params.draw(sampler, len(X))
        if getattr(sampler, "exact", False):
            codes = sampler.integer_weights(params.whole, len(X))  # type: ignore[attr-defined]  # only exact samplers have it
            return np.asarray(codes, dtype=np.float64)
        edges = np.cumsum(params.shares)[:-1]
        return np.searchsorted(edges, sampler.uniform(len(X)), side="right").astype(np.float64)


def _fractions(prior: tuple[float, ...]) -> list[Fraction]:
    """Prior weights as the decimals that they were written as."""
    return [Fraction(repr(weight)) for weight in prior]


def _unit_of(prior: tuple[float, ...], name: str) -> int:
    """Whole number that stands for one record, so that every prior weight is whole too."""
    unit = math.lcm(*(fraction.denominator for fraction in _fractions(prior)))
    if unit > 10**6:
        raise PlanError(
            f"{name}: exact draws need prior weights of at most six decimals",
            column=name,
            kind="method",
            remedy="round them",
        )
    return unit


def _whole(counts: FloatArray, prior: tuple[float, ...], less: int, unit: int) -> IntArray:
    """Weights as whole numbers in exact proportion."""
    shifted = [int(unit * (fraction - less)) for fraction in _fractions(prior)]
    return np.array(
        [int(count) * unit + own for count, own in zip(counts, shifted, strict=True)], dtype=np.int64
    )
