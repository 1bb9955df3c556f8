"""Regression columns with public penalties as priced mechanisms: H2 and H3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.rdp import RDP
from pysynthdp.privacy.mechanism import MECHANISMS
from pysynthdp.privacy.prices.regression import logistic_ridge_curve, ridge_draws
from pysynthdp.privacy.unit import Relation

__all__ = ["LogisticRidge", "RidgeRegression"]

_ASSUMED = (
    "predictors, real and synthetic, are clipped to a public norm",
    "the penalty and the number of records are public",
    "the arithmetic is exact",
)


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class RidgeRegression:
    """Records from a ridge regression with public residual scale (H2).

    Parameters
    ----------
    n : int
        Public number of records.
    row_norm : float
        Largest Euclidean norm of a row of predictors.
    response : float
        Half the width of the public range of the response.
    ridge : float
        Public total penalty.
    sigma : float
        Public residual standard deviation.

    Notes
    -----
    Privacy: public constants only; see ``ridge_draws``.
    """

    n: int
    row_norm: float
    response: float
    ridge: float
    sigma: float
    name: ClassVar[str] = "ridge_regression"
    entry: ClassVar[str] = "H2"
    source: ClassVar[str] = "rank-one update of a ridge regression, proved in the reference"
    assumptions: ClassVar[tuple[str, ...]] = (*_ASSUMED, "responses are clamped to the public range")
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one",)
    exact: ClassVar[bool] = False

    def price(self, *, n_syn: int, copies: int) -> GDP:
        """Give N shift^2/(2 sigma^2)."""
        return ridge_draws(
            self.n,
            row_norm=self.row_norm,
            response=self.response,
            ridge=self.ridge,
            sigma=self.sigma,
            n_syn=n_syn,
            copies=copies,
        )


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class LogisticRidge:
    """Levels of a binary column from a penalised logistic regression (H3).

    Parameters
    ----------
    row_norm : float
        Largest Euclidean norm of a row of predictors, with an allowance for where the search stops.
    ridge : float
        Public total penalty.

    Notes
    -----
    Privacy: public constants only; see ``logistic_ridge_curve``. Adding or removing a record moves the
    coefficients by half as much as replacing one, so the price covers both.
    """

    row_norm: float
    ridge: float
    name: ClassVar[str] = "logistic_ridge"
    entry: ClassVar[str] = "H3"
    source: ClassVar[str] = (
        "Chaudhuri, Monteleoni and Sarwate, Differentially Private Empirical Risk Minimization (2011)"
    )
    assumptions: ClassVar[tuple[str, ...]] = _ASSUMED
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one", "add_remove")
    exact: ClassVar[bool] = False

    def price(self, *, n_syn: int, copies: int) -> RDP:
        """Give the smaller of both bounds at each order."""
        return logistic_ridge_curve(row_norm=self.row_norm, ridge=self.ridge, n_syn=n_syn, copies=copies)
