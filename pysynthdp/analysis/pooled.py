"""The numbers of a pooled analysis, under statsmodels' names; how they are shown and tested stands above."""

# Annotations are not postponed here: as texts they would be looked up in the file of the class that inherits.

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.analysis.choose import Why
from pysynthdp.analysis.combining import Combined
from pysynthdp.analysis.estimates import Estimates
from pysynthdp.analysis.rules.base import Facts
from pysynthdp.base.arrays import FloatArray
from pysynthdp.schema import Column

__all__ = ["Pooled"]


@dataclass(frozen=True, slots=True, repr=False, kw_only=True, eq=False)
class Pooled:
    """What a rule made of the fits of m copies.

    The base of :class:`PooledResults`, which says what each field is and shows, tests and predicts; those who
    do that for it read these numbers.

    Notes
    -----
    Privacy: post-processing of synthetic copies; holds no real row.
    """

    combined: Combined
    terms: tuple[str, ...]
    design_terms: tuple[str, ...]
    model: str
    why: Why
    facts: Facts | None = None
    notes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    estimates: tuple[Estimates, ...] = ()
    fits: tuple[Any, ...] = field(default=(), repr=False)
    refit: Callable[[str], Any] | None = None
    fit_table: Callable[[pd.DataFrame], Any] | None = None
    codes: Mapping[str, Column] = field(default_factory=dict)

    def _series(self, values: Any, name: str) -> "pd.Series[float]":
        """Values by term."""
        filled = np.full(len(self.terms), np.nan) if values is None else np.asarray(values)
        return pd.Series(filled, index=list(self.terms), name=name, dtype="float64")

    def _matrix(self, values: FloatArray) -> pd.DataFrame:
        """Label a matrix by term and term."""
        return pd.DataFrame(values, index=list(self.terms), columns=list(self.terms))

    @property
    def params(self) -> "pd.Series[float]":
        """Pooled estimates, qbar."""
        return self._series(self.combined.qbar, "params")

    @property
    def qbar(self) -> "pd.Series[float]":
        """Mean of the copies' estimates; the same as ``params``."""
        return self._series(self.combined.qbar, "qbar")

    @property
    def bse(self) -> "pd.Series[float]":
        """Standard errors, the roots of T; NaN where T <= 0."""
        return self._series(self.combined.se, "bse")

    @property
    def df(self) -> "pd.Series[float]":
        """Degrees of freedom; inf for the normal reference."""
        return self._series(self.combined.df, "df")

    @property
    def tvalues(self) -> "pd.Series[float]":
        """Estimates over standard errors."""
        return self._series(self.combined.qbar / self.combined.se, "tvalues")

    @property
    def pvalues(self) -> "pd.Series[float]":
        """Two-sided p-values of zero; NaN where the rule gives none."""
        return self._series(self.combined.pvalue(), "pvalues")

    @property
    def ubar(self) -> "pd.Series[float]":
        """Mean variance within a copy."""
        return self._series(self.combined.ubar, "ubar")

    @property
    def b(self) -> "pd.Series[float]":
        """Variance between copies; NaN for one copy."""
        return self._series(self.combined.b, "b")

    @property
    def T(self) -> "pd.Series[float]":  # noqa: N802 -- the papers' letter
        """Variance of the pooled estimates; may be negative under some rules."""
        return self._series(self.combined.T, "T")

    @property
    def ubar_cov(self) -> pd.DataFrame:
        """Mean covariance within a copy (p, p)."""
        return self._matrix(self.combined.stack.matrices().ubar)

    @property
    def b_cov(self) -> pd.DataFrame:
        """Covariance between copies (p, p)."""
        return self._matrix(self.combined.stack.matrices().between)

    @property
    def T_cov(self) -> pd.DataFrame:  # noqa: N802 -- the papers' letter
        """Covariance of the pooled estimates (p, p); the same as ``cov_params()``."""
        return self._matrix(self.combined.covariance())

    @property
    def m(self) -> int:
        """Number of copies."""
        return self.combined.m

    @property
    def n_syn(self) -> float | None:
        """Rows in one copy."""
        return self.combined.stack.n_syn

    @property
    def n_org(self) -> float | None:
        """Rows in the confidential table; None when not published."""
        return self.combined.stack.n_org

    @property
    def rule(self) -> str:
        """Name of the combining rule."""
        return self.combined.rule

    def cov_params(self) -> pd.DataFrame:
        """Covariance of the pooled estimates (p, p)."""
        return self.T_cov

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Limits of the 1 - alpha intervals, columns 0 and 1; NaN where the rule gives none."""
        return pd.DataFrame(self.combined.conf_int(alpha), index=list(self.terms))
