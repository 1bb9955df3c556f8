"""Release the mean of a number: draws of its posterior, or its posterior mode with noise."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.checks import positive_setting, public_range
from pysynthdp.base.entropy import SystemEntropy
from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.slips import answers_slips
from pysynthdp.design.rows import Rows
from pysynthdp.design.survey_table import SurveyTable
from pysynthdp.io.ledger import SpendingLedger
from pysynthdp.models.fits.clamped_sum import STEPS, clamped_sum, whole_sum
from pysynthdp.parameters.released import ParameterRelease
from pysynthdp.parameters.spending import Asked, How, Source, Terms
from pysynthdp.privacy.domain import real, upward
from pysynthdp.privacy.mechanism import SamplingMechanism
from pysynthdp.privacy.mechanisms.gaussian import MeanWithPrior
from pysynthdp.privacy.mechanisms.parameters import NoisyMean, PosteriorMean
from pysynthdp.privacy.noise.protective import add_discrete_laplace
from pysynthdp.privacy.prices.gaussian_prior import shrinkage
from pysynthdp.privacy.shared_account import PrivacyAccount
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.schema import NumericColumn

__all__ = ["release_mean"]

_WHAT = "release_mean"
FINE = 2**20  # whole steps that stand for the sensitivity, so that rounding is far below the noise


@answers_slips
def release_mean(
    table: pd.DataFrame | SurveyTable | Rows,
    column: NumericColumn,
    *,
    how: How = "posterior",
    sigma: float | None = None,
    prior_mean: float | None = None,
    prior_sd: float | None = None,
    copies: int = 1,
    epsilon: float | None = None,
    unit: PrivacyUnit | None = None,
    deltas: Sequence[float] | None = None,
    account: PrivacyAccount | None = None,
    ledger: str | os.PathLike[str] | SpendingLedger | None = None,
    source: str | None = None,
) -> ParameterRelease:
    """Release the mean of a clamped number: draws of its posterior, or its posterior mode with noise.

    Parameters
    ----------
    table : DataFrame, SurveyTable or Rows
        The confidential table.
    column : NumericColumn
        Declared with finite bounds, ``may_be_missing=False`` and a fallback.
    how : {"posterior", "laplace"}
        Draws of the posterior under a public sigma; or the mode plus discrete Laplace noise.
    sigma : float, optional
        Public standard deviation; needed for the posterior, and for a prior.
    prior_mean, prior_sd : float, optional
        Public normal prior; flat without ``prior_sd``, its mean mid-range by default.
    copies : int
        Independent draws or noisy copies; each costs.
    epsilon : float, optional
        Pure epsilon of each noisy copy, for the unit.
    unit : PrivacyUnit, optional
        Whose record is protected; the account's, or one record, by default. Its key bounds the rows of a unit
        before any sum.
    deltas : sequence of float, optional
        Where the statement quotes (epsilon, delta); the account's, or 1e-6, by default.
    account : PrivacyAccount, optional
        Charged before anything is drawn; states what several releases cost together.
    ledger : path, ``"env:NAME"`` or SpendingLedger, optional
        The agency's ledger, which the price is reserved in before a record is read.
    source : str, optional
        Whose account there: the id of the people.

    Returns
    -------
    ParameterRelease

    Raises
    ------
    PrivacyError
        If a public constant is missing or outside its domain, or the account protects another unit; never
        because of a cell.
    SchemaError
        If the table lacks the column, or the one that the unit names as its key.

    Notes
    -----
    Privacy: reads real rows and spends budget. With weight k of the sample mean, posterior draws are
    N(mode, k sigma^2/n): rho = copies k w^2/(2 n sigma^2), B2 and B5 (the n^2-fold value in print is an
    erratum). Noise: Laplace of scale k w/(n epsilon), B7 (the printed scale is half of it), on whole steps.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [30.0, 40.0, 50.0, 60.0]})
    >>> age = NumericColumn("age", lower=20, upper=70, may_be_missing=False, fallback=45)
    >>> account = PrivacyAccount()
    >>> release = release_mean(table, age, sigma=10.0, copies=2, account=account)
    >>> release.estimates.shape, round(release.guarantee.rho, 4), release.sensitivity
    ((2,), 6.25, 12.5)
    >>> again = release_mean(table, age, how="laplace", epsilon=0.5, account=account)
    >>> len(again.together.parts), again.together.verify().ok
    (2, True)
    """
    if not isinstance(column, NumericColumn):
        raise PrivacyError(
            "release_mean takes a NumericColumn", kind="parameter", remedy="use release_shares for levels"
        )
    terms = Terms.of(unit, deltas, account, ledger=ledger, source=source)
    asked = Asked.of(_WHAT, how, copies, epsilon, terms=terms)
    lower, upper = public_range(_WHAT, column.name, column.lower, column.upper)
    held = Source.of(table, column, asked.terms.unit)
    _check_sigma(asked, sigma, prior_sd)
    known = _Known.of(held.n, lower, upper, sigma=sigma, prior_mean=prior_mean, prior_sd=prior_sd)
    charge = asked.charge(column.name, "mean", _mechanism(asked, known))
    mode = known.mode(whole_sum(clamped_sum(lower, upper)(np.empty((0, 0)), held.read())))
    values = _noisy(asked, known, mode) if how == "laplace" else _drawn(asked, known, mode)
    sensitivity = known.weight * known.width / known.n * asked.terms.unit.rows_per_unit
    charge.settle(values)
    return ParameterRelease(values, ("mean",), sensitivity, charge.statement, charge.together)


def _check_sigma(asked: Asked, sigma: float | None, prior_sd: float | None) -> None:
    """Refuse a sigma that nothing would use."""
    if asked.how == "laplace" and sigma is not None and prior_sd is None:
        raise PrivacyError(
            "release_mean: with how='laplace' sigma belongs to a prior",
            kind="parameter",
            remedy="give prior_sd too",
        )


@dataclass(frozen=True, slots=True)
class _Known:
    """The public constants of a mean."""

    n: int
    lower: float
    upper: float
    sigma: float | None
    prior_mean: float
    prior_sd: float | None

    @classmethod
    def of(
        cls,
        n: int,
        lower: float,
        upper: float,
        *,
        sigma: float | None,
        prior_mean: float | None,
        prior_sd: float | None,
    ) -> _Known:
        """Check them, used or not."""
        middle = (lower + upper) / 2 if prior_mean is None else real("prior_mean", prior_mean)
        if prior_mean is not None and prior_sd is None:
            raise PrivacyError(
                "release_mean: prior_mean needs prior_sd", kind="parameter", remedy="give both or neither"
            )
        if sigma is not None or prior_sd is not None:
            sigma = positive_setting(_WHAT, "sigma", sigma)
        prior_sd = None if prior_sd is None else positive_setting(_WHAT, "prior_sd", prior_sd)
        return cls(n, lower, upper, sigma, middle, prior_sd)

    @property
    def width(self) -> float:
        """Width of the range."""
        return self.upper - self.lower

    @property
    def spread(self) -> float:
        """Public standard deviation, which must have been given."""
        return positive_setting(_WHAT, "sigma", self.sigma)

    @property
    def weight(self) -> float:
        """Weight of the sample mean in the posterior mean."""
        if self.prior_sd is None:
            return 1.0
        return shrinkage(self.n, sigma=self.spread, sigma0=self.prior_sd)[0]

    def mode(self, steps: int) -> Fraction:
        """Posterior mode as a share of the range, from its lower end, in exact arithmetic."""
        weight = Fraction(self.weight)
        prior = (Fraction(self.prior_mean) - Fraction(self.lower)) / self.exact_width
        return weight * Fraction(steps, STEPS * self.n) + (1 - weight) * prior

    @property
    def exact_width(self) -> Fraction:
        """Width of the range, exactly."""
        return Fraction(self.upper) - Fraction(self.lower)


def _mechanism(asked: Asked, known: _Known) -> SamplingMechanism:
    """Choose the priced mechanism; refuse for public reasons only."""
    if asked.how == "laplace":
        if not known.n * FINE / known.weight < 2**59:
            raise PrivacyError(
                "release_mean: the prior leaves the data no weight", kind="parameter", remedy="raise prior_sd"
            )
        return NoisyMean(asked.row_epsilon, known.n, known.lower, known.upper, known.weight)
    if known.prior_sd is None:
        return PosteriorMean(known.n, known.lower, known.upper, known.spread)
    return MeanWithPrior(known.n, known.lower, known.upper, known.spread, known.prior_sd, "parameter")


def _noisy(asked: Asked, known: _Known, mode: Fraction) -> FloatArray:
    """Modes with discrete Laplace noise: ``FINE`` steps are what one record moves."""
    whole = math.floor(mode * known.n * FINE / Fraction(known.weight) + Fraction(1, 2))
    exact = np.full(asked.copies, whole, dtype=np.int64)
    noisy = add_discrete_laplace(exact, upward(FINE / asked.row_epsilon))
    return np.asarray(known.lower + known.width * noisy / (known.n * FINE) * known.weight)


def _drawn(asked: Asked, known: _Known, mode: Fraction) -> FloatArray:
    """Draws from the normal posterior."""
    centre = known.lower + float(known.exact_width * mode)
    spread = known.spread * math.sqrt(known.weight / known.n)
    return np.asarray(centre + spread * SystemEntropy().standard_normal(asked.copies))
