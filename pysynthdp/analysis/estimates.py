"""The narrow neck between any model library and pooling: terms, values and their covariance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from pysynthdp.analysis.description import Description
from pysynthdp.base.arrays import BoolArray, FloatArray
from pysynthdp.base.errors import FitError
from pysynthdp.base.registry import Registry, is_outside

__all__ = ["ADAPTERS", "Adapter", "Estimates", "adapter_for", "estimates_of"]


@dataclass(frozen=True, slots=True)
class Estimates:
    """What one copy says: an estimate vector and its covariance, as if the copy were real.

    Parameters
    ----------
    terms : tuple of str, length p
        Names of the estimates.
    values : array (p,)
        Estimates; NaN for a term that cannot be estimated in this copy.
    cov : array (p, p)
        Their covariance; NaN rows for such terms.
    df : float or None
        Residual degrees of freedom; None for a normal reference.
    nobs : float or None
        Rows that entered the fit.
    formula : str or None
        The model as the user wrote it, from which the columns in it are read.
    design_terms : tuple of str
        Name of each term within its equation, for models with several; ``terms`` by default.
    model : str
        What kind of model it is, for headings.
    about : Description or None
        What the fit says of its model besides, by which the fits of the copies are compared.
    separated : tuple of str
        Terms that are NaN because the outcome is separated: it never varies where they would be learned.
    """

    terms: tuple[str, ...]
    values: FloatArray
    cov: FloatArray
    df: float | None = None
    nobs: float | None = None
    formula: str | None = None
    design_terms: tuple[str, ...] = ()
    model: str = "estimates"
    about: Description | None = None
    separated: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        p = len(self.terms)
        if self.values.shape != (p,) or self.cov.shape != (p, p):
            raise FitError(
                "estimates need p terms, p values and a p x p covariance; check their shapes",
                kind="estimates",
            )
        if len(set(self.terms)) != p:
            raise FitError("two estimates have the same name; name every term differently", kind="estimates")
        if not self.design_terms:
            object.__setattr__(self, "design_terms", self.terms)

    def aligned(self, terms: tuple[str, ...], design_terms: tuple[str, ...]) -> Estimates:
        """Return the estimates in the order of ``terms``, NaN for those that this copy does not have."""
        if terms == self.terms:
            return self
        place = {term: i for i, term in enumerate(self.terms)}
        mine = np.array([place.get(term, -1) for term in terms])
        known = np.flatnonzero(mine >= 0)
        values, cov = np.full(len(terms), np.nan), np.full((len(terms), len(terms)), np.nan)
        values[known] = self.values[mine[known]]
        cov[np.ix_(known, known)] = self.cov[np.ix_(mine[known], mine[known])]
        return replace(self, terms=terms, values=values, cov=cov, design_terms=design_terms)

    def design_terms_here(self) -> tuple[str, ...]:
        """Names, within their equations, of the terms that this copy has."""
        there = ~np.isnan(self.values)
        return tuple(name for name, known in zip(self.design_terms, there, strict=True) if known)

    def without(self, gone: BoolArray) -> Estimates:
        """Return the estimates with NaN for the terms (p,) whose outcome is separated."""
        if not gone.any():
            return self
        values, cov = self.values.copy(), self.cov.copy()
        values[gone], cov[gone], cov[:, gone] = np.nan, np.nan, np.nan
        named = tuple(term for term, lost in zip(self.terms, gone, strict=True) if lost)
        return replace(
            self, values=values, cov=cov, separated=tuple(dict.fromkeys((*self.separated, *named)))
        )


class Adapter(Protocol):
    """Reads the fits of one model library."""

    name: ClassVar[str]

    def accepts(self, fit: Any) -> bool:
        """Whether the fit is of this library; must not import it."""
        ...

    def estimates(self, fit: Any) -> Estimates:
        """Terms, values and covariance of a fit."""
        ...

    def loglike(self, fit: Any, values: FloatArray) -> float:
        """Log-likelihood of the fit's model and data at other parameter values (p,)."""
        ...


ADAPTERS: Registry[type[Adapter]] = Registry(
    "pysynthdp.analysis.adapters", FitError, group="pysynthdp.adapters"
)


_ANY = "with_params"  # takes whatever has params and their covariance


def adapter_for(fit: Any) -> Adapter:
    """Return the adapter that reads a fit.

    Those of this package for one library are asked first, then those of other packages, which so cannot take
    its fits over unsaid, and at last the one for whatever has params and their covariance.

    Raises
    ------
    FitError
        When no adapter knows it; give ``(estimates, covariance)`` pairs or :class:`Estimates` instead.
    """
    for name in sorted(ADAPTERS, key=lambda name: (name == _ANY, is_outside(ADAPTERS[name]))):
        adapter = ADAPTERS[name]()
        if adapter.accepts(fit):
            return adapter
    known = ", ".join(ADAPTERS)
    raise FitError(
        f"a fit of type {type(fit).__name__} is not known (adapters: {known})",
        kind="fit",
        remedy="give an object with params and cov_params(), or (estimates, covariance)",
    )


def estimates_of(fit: Any) -> Estimates:
    """Read one fit with the adapter of its library.

    Raises
    ------
    FitError
        When the fit is of an unknown kind, did not converge, or has no finite covariance.
    """
    return adapter_for(fit).estimates(fit)
