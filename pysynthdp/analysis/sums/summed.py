"""What sums over rows say of a model."""

from __future__ import annotations

from dataclasses import dataclass

from pysynthdp.base.arrays import FloatArray

__all__ = ["Lacking", "Summed"]


@dataclass(frozen=True, slots=True)
class Summed:
    """Estimates.

    Parameters
    ----------
    beta : array (p,)
        Coefficients.
    cov : array (p, p)
        Their covariance.
    scale : float
        Variance of the response, or dispersion.
    n : int
        Rows.
    """

    beta: FloatArray
    cov: FloatArray
    scale: float
    n: int


@dataclass(frozen=True, slots=True)
class Lacking:
    """Columns of the matrix that are zero in all rows, as of a level that a copy lacks."""

    names: tuple[str, ...]
