"""Noisy sufficient statistics, the economical road for regressions: entry H4."""

from __future__ import annotations

import math

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.domain import positive, upward
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.unit import Relation

__all__ = ["cross_products_sensitivity", "noisy_cross_products"]


def cross_products_sensitivity(row_norm: float, *, relation: Relation = "replace_one") -> float:
    """Bound the Euclidean sensitivity of the sum of z z' over rows.

    Parameters
    ----------
    row_norm : float
        L: every row z = (1, all columns) is clipped to this Euclidean norm.
    relation : {"replace_one", "add_remove"}
        Neighbours.

    Returns
    -------
    float
        sqrt(2) L^2, or L^2 under add/remove.

    Raises
    ------
    PrivacyError
        Outside the domain; the norm is positive.

    Notes
    -----
    Privacy: post-processing of public constants. H4: ``|zz' - ww'|^2 = |z|^4 + |w|^4 - 2 (z'w)^2``.

    Examples
    --------
    >>> round(cross_products_sensitivity(3, relation="add_remove"), 12)
    9.0
    """
    if relation not in ("replace_one", "add_remove"):
        raise PrivacyError("relation must be 'replace_one' or 'add_remove'", kind="mechanism")
    square = positive("row_norm", row_norm) ** 2
    return upward(math.sqrt(2) * square if relation == "replace_one" else square)


def noisy_cross_products(row_norm: float, scale: float, *, relation: Relation = "replace_one") -> GDP:
    """Price the upper triangle of the sum of z z', with independent Gaussian noise on each entry.

    Parameters
    ----------
    row_norm : float
        L: every row z = (1, all columns) is clipped to this Euclidean norm.
    scale : float
        Standard deviation of the noise on each entry.
    relation : {"replace_one", "add_remove"}
        Neighbours.

    Returns
    -------
    GDP
        With rho = L^4/scale^2, or half that under add/remove.

    Raises
    ------
    PrivacyError
        Outside the domain; both constants are positive.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. H4: every Gaussian regression of every column
    on earlier ones, every variance, any number of copies and records is then post-processing: one charge for
    the whole release.

    Examples
    --------
    >>> round(noisy_cross_products(1, 10).rho, 12)
    0.01
    """
    return GDP(upward(cross_products_sensitivity(row_norm, relation=relation) / positive("scale", scale)))
