"""``gaussian``: a normal column whose standard deviation is public."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final, Literal

import numpy as np
from scipy.special import ndtr, ndtri

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.checks import positive_setting, public_range
from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Setting, Words
from pysynthdp.models.ask import RowSum, Sampler
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.clamped_sum import STEPS, clamped_sum, whole_sum

__all__ = ["Gaussian", "PublicNormal"]

_TRUNCATE: Final = Setting("truncate", True)

MeanDraw = Literal["map", "one", "many"]


@dataclass(frozen=True, slots=True)
class PublicNormal:
    """The law of a record.

    Parameters
    ----------
    mean, spread : float
        Centre and standard deviation of a record.
    mean_sd : float
        Posterior standard deviation of the mean.
    lower, upper : float
        Public range.
    step : float
        Grid of the exact sampler: the width of the range over n.
    place : int
        The centre in whole steps from ``lower``, rounded half up.
    """

    mean: float
    spread: float
    mean_sd: float
    lower: float
    upper: float
    step: float
    place: int


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True, kw_only=True)
class Gaussian:
    """Draw a number from N(mean, sigma^2) with a public sigma, without predictors.

    Parameters
    ----------
    sigma : float
        Public standard deviation, in the column's unit.
    prior_mean, prior_sd : float, optional
        Public normal prior of the mean; flat without ``prior_sd``. The mean is the middle of the declared
        range by default.
    posterior : {"map", "one", "many"}, optional
        The mean plugged in; drawn from its posterior once a copy (needs ``proper=True``); or anew for each
        record. By default "one" in a proper synthesis, else "map".
    truncate : bool
        Condition draws to the declared range, which gives pure epsilon, instead of moving them onto it.

    Raises
    ------
    PrivacyError
        If sigma or the prior is not a positive finite number, or the column has no declared bounds.
    PlanError
        If ``posterior`` does not fit the plan's ``proper``.

    Notes
    -----
    Privacy: asks for one sum of clamped numbers; under ``BySampling`` each record drawn costs. Plug-in B1,
    one mean a copy B3, one a record B4, with a prior B5, conditioned B6; with ``exact=True`` H1: the mean
    rounded to the grid (upper - lower)/n and discrete Gaussian noise. k = sd0^2/(sigma^2/n + sd0^2) is the
    weight of the mean and k sigma^2/n its posterior variance.

    Examples
    --------
    >>> Gaussian(sigma=15.0).accepts(Target("age", "numeric"))
    True
    """

    sigma: float | None = None
    prior_mean: float | None = None
    prior_sd: float | None = None
    posterior: MeanDraw | None = None
    truncate: bool = False
    name: ClassVar[str] = "gaussian"
    reason: ClassVar[str] = (
        "its draws carry a guarantee only when guarantee=BySampling() is asked for the whole table"
    )
    real_values: ClassVar[bool] = False

    @property
    def bias(self) -> str:
        """What moves the estimates from its copies."""
        return "clamped" if self.truncate else "none" if self.prior_sd is None else "shrunk"

    def accepts(self, target: Target) -> bool:
        """Numbers only."""
        return target.kind == "numeric"

    def mechanism(self, task: FitTask) -> tuple[str, dict[str, Any]]:
        """Name the privacy mechanism of the draws and its public constants."""
        kind, law = self._kind(task), self._law(task)
        lower, upper = public_range(self.name, task.target.name, task.target.lower, task.target.upper)
        known: dict[str, Any] = {"n": task.n, "sigma": self.sigma}
        if self.truncate:
            return "truncated_mean", {
                **known,
                "half_width": (upper - lower) / 2,
                "sigma0": self.prior_sd,
                "draw": kind,
            }
        known |= {"lower": lower, "upper": upper}
        if task.exact:
            return "mean_on_grid", {**known, "sigma": math.nextafter(law.spread, 0.0)}
        if self.prior_sd is not None:
            return "mean_with_prior", {**known, "sigma0": self.prior_sd, "draw": kind}
        names = {"map": "plug_in_mean", "one": "mean_per_copy", "many": "mean_per_record"}
        return names[kind], known

    def fit(self, task: FitTask) -> Fit:
        """Ask for the sum of the clamped target, return a PublicNormal."""
        law = self._law(task)
        answer = yield RowSum(clamped_sum(law.lower, law.upper))
        steps = Fraction(whole_sum(answer.value), STEPS)  # the mean, in steps of the range over n
        weight = Fraction(self._weight(task))
        prior = (Fraction(law.mean) - Fraction(law.lower)) * task.n / Fraction(law.upper - law.lower)
        centre = weight * steps + (1 - weight) * prior
        place = math.floor(centre + Fraction(1, 2))
        return replace(law, mean=law.lower + law.step * float(centre), place=place)

    def _weight(self, task: FitTask) -> float:
        """Weight of the sample mean in the posterior mean."""
        sigma = positive_setting(self.name, "sigma", self.sigma)
        if self.prior_sd is None:
            return 1.0
        prior = positive_setting(self.name, "prior_sd", self.prior_sd) ** 2
        return prior / (sigma**2 / task.n + prior)

    def _law(self, task: FitTask) -> PublicNormal:
        """Law of a record before a row is read: everything but the sum."""
        lower, upper = public_range(self.name, task.target.name, task.target.lower, task.target.upper)
        sigma = positive_setting(self.name, "sigma", self.sigma)
        middle = (lower + upper) / 2
        mean = middle if self.prior_mean is None else float(self.prior_mean)
        if self.truncate and mean != middle:
            what = Words("gaussian: {truncate} needs the prior mean in mid-range", truncate=_TRUNCATE)
            raise PlanError(what, column=task.target.name, kind="method", remedy="leave it out")
        variance = self._weight(task) * sigma**2 / task.n
        kind = self._kind(task)
        spread = math.sqrt(sigma**2 + variance) if kind == "many" else sigma
        mean_sd = math.sqrt(variance) if kind == "one" else 0.0
        return PublicNormal(mean, spread, mean_sd, lower, upper, (upper - lower) / task.n, 0)

    def _kind(self, task: FitTask) -> MeanDraw:
        """How the posterior of the mean is used; refused where the plan says otherwise."""
        kind: MeanDraw = self.posterior or ("one" if task.proper else "map")
        if kind not in ("map", "one", "many"):
            raise PlanError("gaussian: posterior must be 'map', 'one' or 'many'", kind="method")
        if (kind == "one") != task.proper:
            what = Words(
                "gaussian: posterior {kind} needs a synthesis with {proper}",
                kind=repr(kind),
                proper=Setting("proper", kind == "one"),
            )
            raise PlanError(what, column=task.target.name, kind="method", remedy="change either")
        if kind == "one" and self.truncate:
            what = Words("gaussian: {truncate} has no price with one mean a copy", truncate=_TRUNCATE)
            mend = Words("set {proper}", proper=Setting("proper", False))
            raise PlanError(what, column=task.target.name, kind="method", remedy=mend)
        return kind

    def redraw(self, params: PublicNormal, rng: np.random.Generator) -> PublicNormal:
        """Mean from its normal posterior; its place moves by whole steps that do not depend on the data."""
        moved = params.mean_sd * float(np.asarray(rng.standard_normal(1))[0])
        shift = round(moved / params.step)
        return replace(params, mean=params.mean + moved, place=params.place + shift)

    def draw(self, params: PublicNormal, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One number for each row of X, whatever the row holds."""
        if getattr(sampler, "exact", False):
            noisy = sampler.discrete_gaussian(params.place, params.spread / params.step, len(X))  # type: ignore[attr-defined]  # only exact samplers have it
            return np.asarray(params.lower + params.step * noisy.astype(np.float64))
        if self.truncate:
            u = sampler.uniform(len(X))
            law = {"centre": params.mean, "spread": params.spread}
            return _truncated_normal(u, **law, lower=params.lower, upper=params.upper)
        return sampler.normal(np.full(len(X), params.mean), params.spread)


def _truncated_normal(
    u: FloatArray, *, centre: float, spread: float, lower: float, upper: float
) -> FloatArray:
    """Turn uniforms into N(centre, spread^2) conditioned to [lower, upper], by inversion.

    Parameters
    ----------
    u : array (k,)
        Uniforms.
    centre, spread : float
        Of the normal law before conditioning; the centre lies in the interval.
    lower, upper : float
        The interval.

    Returns
    -------
    array (k,)

    Notes
    -----
    Privacy: arithmetic on variates.

    Examples
    --------
    >>> float(_truncated_normal(np.array([0.5]), centre=0.0, spread=1.0, lower=-2.0, upper=2.0)[0])
    0.0
    """
    low, high = ndtr((lower - centre) / spread), ndtr((upper - centre) / spread)
    values = centre + spread * ndtri(low + u * (high - low))
    return np.asarray(np.clip(values, lower, upper), dtype=np.float64)
