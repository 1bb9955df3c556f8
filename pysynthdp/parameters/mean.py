"""Release a parameter itself instead of records: posterior draws of a mean or of shares, or with noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from pysynthdp._entropy import SystemEntropy
from pysynthdp._typing import FloatArray, IntArray
from pysynthdp.curator.table import split_rows
from pysynthdp.display import Printable, Table
from pysynthdp.errors import PrivacyError
from pysynthdp.numerics.clamped_sum import STEPS, clamped_sum, whole_sum
from pysynthdp.numerics.settings import positive_setting, public_range
from pysynthdp.plan.guaranteed import check_declared, public_schema
from pysynthdp.privacy.domain import count, upward
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.guarantees.rdp import RDP
from pysynthdp.privacy.noise import add_discrete_laplace
from pysynthdp.privacy.orders import ORDERS
from pysynthdp.privacy.sampling.beta_renyi import parameter_renyi
from pysynthdp.privacy.sampling.categorical import CellWeights, categorical_one_renyi
from pysynthdp.privacy.sampling.gaussian_known import mean_release
from pysynthdp.privacy.sampling.gaussian_prior import mean_with_prior
from pysynthdp.rows.frame import FrameRows
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema

__all__ = ["ParameterRelease", "release_mean", "release_shares"]

How: TypeAlias = Literal["posterior", "laplace"]
FINE = 2**20  # whole steps that stand for the sensitivity, so that rounding is far below the noise


@dataclass(frozen=True, slots=True, repr=False)
class ParameterRelease(Printable):
    """A released parameter and what it cost.

    Parameters
    ----------
    estimates : array (copies,) or (copies, levels)
        A mean in the column's unit, or shares of its levels.
    guarantee : Guarantee
        Of all copies together; anything computed from them, such as records, costs nothing more.
    status : {"idealised", "implemented"}
        ``"idealised"``: true for real-number arithmetic; ``"implemented"``: true for the code that drew.
    entry : str
        Entry of the formula reference.

    Notes
    -----
    Privacy: safe to publish; the guarantee composes with other releases from the same table.
    """

    estimates: FloatArray
    guarantee: Guarantee
    status: Literal["idealised", "implemented"]
    entry: str

    def to_table(self) -> Table:
        """One row a copy."""
        rows = tuple(tuple(float(value) for value in np.atleast_1d(row)) for row in self.estimates)
        heads = tuple(f"value {place}" for place in range(1, len(rows[0]) + 1))
        facts = (("guarantee", self.guarantee.name), ("status", self.status), ("entry", self.entry))
        return Table("Released parameter", heads, rows, facts)


def release_mean(
    table: pd.DataFrame,
    column: NumericColumn,
    *,
    how: How = "posterior",
    sigma: float | None = None,
    prior_mean: float | None = None,
    prior_sd: float | None = None,
    copies: int = 1,
    epsilon: float | None = None,
) -> ParameterRelease:
    """Release the mean of a clamped number: draws of its posterior, or its posterior mode with noise.

    Parameters
    ----------
    table : DataFrame
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
        Pure epsilon of each noisy copy.

    Returns
    -------
    ParameterRelease

    Raises
    ------
    PrivacyError
        If a public constant is missing or outside its domain; never because of a cell.

    Notes
    -----
    Privacy: reads real rows and spends budget. With weight k of the sample mean, posterior draws are
    N(mode, k sigma^2/n): rho = copies k w^2/(2 n sigma^2), B2 and B5 (the n^2-fold value in print is an
    erratum). Noise: Laplace of scale k w/(n epsilon), B7 (the printed scale is half of it), on whole steps.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [30.0, 40.0, 50.0, 60.0]})
    >>> age = NumericColumn("age", lower=20, upper=70, may_be_missing=False, fallback=45)
    >>> release = release_mean(table, age, sigma=10.0, copies=2)
    >>> release.estimates.shape, round(release.guarantee.rho, 4)
    ((2,), 6.25)
    """
    lower, upper = public_range("release_mean", column.name, column.lower, column.upper)
    n, steps = _clamped(table, column, lower, upper)
    weight = _weight(n, sigma, prior_sd)
    middle = (lower + upper) / 2 if prior_mean is None else float(prior_mean)
    width = Fraction(upper) - Fraction(lower)
    share = Fraction(weight) * Fraction(steps, STEPS * n)  # of the range, from its lower end
    mode = share + (1 - Fraction(weight)) * (Fraction(middle) - Fraction(lower)) / width
    copies = count("copies", copies)
    if _checked(how) == "laplace":
        eps = positive_setting("release_mean", "epsilon", epsilon)
        if not n * FINE / weight < 2**59:  # refused for public reasons, never for a cell
            raise PrivacyError("release_mean: the prior leaves the data no weight; raise prior_sd")
        whole = math.floor(mode * n * FINE / Fraction(weight) + Fraction(1, 2))
        noisy = add_discrete_laplace(np.full(copies, whole, dtype=np.int64), upward(FINE / eps))
        values = lower + float(width) * noisy / (n * FINE) * weight
        return ParameterRelease(values, PureDP(upward(copies * eps)), "implemented", "B7")
    sd = positive_setting("release_mean", "sigma", sigma) * math.sqrt(weight / n)
    drawn = lower + float(width * mode) + sd * SystemEntropy().standard_normal(copies)
    known: dict[str, Any] = {"sigma": sigma, "copies": copies}
    if prior_sd is None:
        return ParameterRelease(drawn, mean_release(n, lower, upper, **known), "idealised", "B2")
    cost = mean_with_prior(n, lower, upper, **known, sigma0=prior_sd, n_syn=1, draw="parameter")
    return ParameterRelease(drawn, cost, "idealised", "B5")


def _clamped(table: pd.DataFrame, column: NumericColumn, lower: float, upper: float) -> tuple[int, int]:
    """Count the rows; take the sum of the clamped column in whole steps."""
    values = _part(table, column)
    return len(values), whole_sum(clamped_sum(lower, upper)(np.empty((0, 0)), values))


def _part(table: pd.DataFrame, column: NumericColumn | CategoricalColumn) -> FloatArray:
    """Numbers or level codes of a declared column, every cell made to fit."""
    schema = public_schema(Schema([column]))
    check_declared(schema, [column.name])
    parts = split_rows(FrameRows(table), schema, tolerant=True).parts
    return np.asarray(parts[column.name, "value"], dtype=np.float64)


def _weight(n: int, sigma: float | None, prior_sd: float | None) -> float:
    """Weight of the sample mean in the posterior mean."""
    if prior_sd is None:
        return 1.0
    prior = positive_setting("release_mean", "prior_sd", prior_sd) ** 2
    return prior / (positive_setting("release_mean", "sigma", sigma) ** 2 / n + prior)


def _checked(how: How) -> How:
    """Refuse an unknown way of release."""
    if how not in ("posterior", "laplace"):
        raise PrivacyError("how must be 'posterior' or 'laplace'")
    return how


def release_shares(
    table: pd.DataFrame,
    column: CategoricalColumn,
    *,
    prior: float | Sequence[float],
    how: How = "posterior",
    copies: int = 1,
    epsilon: float | None = None,
) -> ParameterRelease:
    """Release the shares of a column's levels: draws of their posterior, or the posterior mode with noise.

    Parameters
    ----------
    table : DataFrame
        The confidential table.
    column : CategoricalColumn
        Declared, with a level for unlisted values (``other=``).
    prior : float or sequence of float
        Public prior weight of each level, or of every level; missing values that are levels of their own come
        after the declared levels. The mode needs weights of at least one.
    how : {"posterior", "laplace"}
        Draws of the Dirichlet posterior; or the mode with discrete Laplace noise.
    copies : int
        Independent draws or noisy copies; each costs.
    epsilon : float, optional
        Pure epsilon of each noisy copy.

    Returns
    -------
    ParameterRelease
        Noisy shares are the raw ones: they may leave [0, 1], and sum to about one.

    Raises
    ------
    PrivacyError
        If a public constant is missing or outside its domain; never because of a cell.

    Notes
    -----
    Privacy: reads real rows and spends budget. Posterior draws F8 (two levels) and G3's pair, finite Renyi
    orders only. Noise: a replaced record moves two counts by one (one count says all of two levels), Laplace
    of scale 2/epsilon on counts (1/epsilon for two levels), F9: the mode divides by n + total - levels.

    Examples
    --------
    >>> table = pd.DataFrame({"sex": ["F"] * 60 + ["M"] * 40})
    >>> sex = CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False)
    >>> release_shares(table, sex, prior=20.0).estimates.shape
    (1, 2)
    """
    codes = _part(table, column).astype(np.int64)
    size = len(column.levels) + len(column.specials) + int(column.may_be_missing)
    counts = np.bincount(codes, minlength=size).astype(np.int64)
    given = (prior,) * size if isinstance(prior, int | float) else tuple(prior)
    weights = tuple(positive_setting("release_shares", "prior", weight) for weight in given)
    if len(weights) != size or size < 2:
        raise PrivacyError(
            f"{column.name}: the prior must have {size} weights, one a level, and at least two"
        )
    if _checked(how) == "laplace":
        return _noisy_shares(counts, weights, copies, positive_setting("release_shares", "epsilon", epsilon))
    posterior = np.tile(counts + np.asarray(weights), (count("copies", copies), 1))
    gammas = SystemEntropy().standard_gamma(posterior)
    curve = _posterior_curve(len(codes), weights) * upward(copies)
    shares = gammas / gammas.sum(axis=1, keepdims=True)
    return ParameterRelease(shares, RDP.from_curve(curve), "idealised", "F8" if size == 2 else "G3")


def _posterior_curve(n: int, weights: tuple[float, ...]) -> FloatArray:
    """Renyi curve of one posterior draw over all tables."""
    if len(weights) == 2:
        return parameter_renyi(n, weights[0], weights[1], orders=ORDERS)
    return categorical_one_renyi(CellWeights.of(weights), orders=ORDERS)


def _noisy_shares(
    counts: IntArray, weights: tuple[float, ...], copies: int, epsilon: float
) -> ParameterRelease:
    """Posterior modes with noise; of two levels the second's is the first's with its sign turned."""
    if min(weights) < 1:
        raise PrivacyError("the posterior mode needs prior weights of at least 1; raise them")
    copies, n = count("copies", copies), int(counts.sum())
    free = counts[:-1] if len(counts) == 2 else counts
    exact = np.tile(np.asarray(free, dtype=np.int64), copies)
    noisy = add_discrete_laplace(exact, upward((1 if len(counts) == 2 else 2) / epsilon)).reshape(copies, -1)
    if len(counts) == 2:
        noisy = np.column_stack([noisy, n - noisy])
    total = n + math.fsum(weights) - len(weights)
    modes = (noisy + np.asarray(weights) - 1) / total
    return ParameterRelease(modes, PureDP(upward(copies * epsilon)), "implemented", "F9")
