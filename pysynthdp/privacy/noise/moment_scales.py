"""Integer sensitivities of cross-products and counts, and integer noise scales that keep within a budget.

A row is a vector of integers whose squared length is at most ``row_bound``. Its cross-products are released
as one vector: off-diagonal entries times 99, diagonal ones times 70, so that one discrete Gaussian scale
gives the diagonal at least sqrt(2) times the noise of the rest (99/70 > sqrt 2 > 99/71).
"""

from __future__ import annotations

import math
from fractions import Fraction

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.domain import positive
from pysynthdp.privacy.unit import Relation

__all__ = [
    "COUNT_UNIT",
    "DIAGONAL",
    "OFF_DIAGONAL",
    "cost_of",
    "count_square",
    "gram_square",
    "histogram_square",
    "scale_for",
]

OFF_DIAGONAL = 99
DIAGONAL = 70
COUNT_UNIT = 1024  # grid steps of a count: so that an integer scale can be as fine as the budget
_ROOM = Fraction(1, 10**12)  # left of each budget, so that sums in floats never exceed it


def gram_square(row_bound: int, relation: Relation) -> Fraction:
    """Squared Euclidean sensitivity of the scaled cross-products of rows with squared length <= row_bound.

    Parameters
    ----------
    row_bound : int
        Largest squared length of a row, in squared grid steps.
    relation : {"replace_one", "add_remove"}
        Which tables are neighbours.

    Returns
    -------
    Fraction
        9801 row_bound^2 under replacement, half of it when a row is added or removed.

    Raises
    ------
    PrivacyError
        For a bound below one.

    Notes
    -----
    Privacy: a public constant. For a difference D = zz' - ww' the scaled vector has squared length
    99^2 sum_{i<j} D_ij^2 + 70^2 sum_i D_ii^2 <= (99^2/2) |D|_F^2, since 2 * 70^2 < 99^2; and |D|_F^2 =
    |z|^4 + |w|^4 - 2 <z, w>^2 <= 2 row_bound^2, or |z|^4 <= row_bound^2 with one row only.

    Examples
    --------
    >>> gram_square(10, "replace_one"), gram_square(10, "add_remove")
    (Fraction(980100, 1), Fraction(490050, 1))
    """
    if isinstance(row_bound, bool) or not isinstance(row_bound, int) or row_bound < 1:
        raise PrivacyError("row_bound must be a whole number of at least one", kind="domain")
    frobenius = row_bound**2 * (2 if relation == "replace_one" else 1)
    return Fraction(OFF_DIAGONAL**2 * frobenius, 2)


def count_square() -> Fraction:
    """Squared sensitivity of a count of rows in grid steps: one row counts once under both relations."""
    return Fraction(COUNT_UNIT**2)


def histogram_square(columns: int, relation: Relation) -> Fraction:
    """Squared sensitivity, in grid steps, of the histograms of some columns released together.

    Parameters
    ----------
    columns : int
        How many; a row counts in at most one range of each.
    relation : {"replace_one", "add_remove"}
        Which tables are neighbours.

    Returns
    -------
    Fraction

    Notes
    -----
    Privacy: a public constant. A row that comes or goes moves one count of each column by one; a replaced row
    moves two.

    Examples
    --------
    >>> histogram_square(3, "replace_one") / count_square()
    Fraction(6, 1)
    """
    return columns * (2 if relation == "replace_one" else 1) * count_square()


def scale_for(square: Fraction, rho: float) -> int:
    """Smallest integer scale whose cost stays within rho.

    Parameters
    ----------
    square : Fraction
        Squared sensitivity in grid steps.
    rho : float
        Budget in zCDP.

    Returns
    -------
    int

    Notes
    -----
    Privacy: a public constant. square/(2 scale^2) <= rho.

    Examples
    --------
    >>> scale_for(Fraction(2), 0.01)
    11
    """
    allowed = Fraction(positive("rho", rho)) * (1 - _ROOM)
    needed = square / (2 * allowed)
    root = math.isqrt(math.ceil(needed))
    return root if root * root >= needed else root + 1


def cost_of(square: Fraction, scale: int) -> Fraction:
    """Exact zCDP cost of discrete Gaussian noise: square/(2 scale^2) (Canonne, Kamath and Steinke 2020).

    Examples
    --------
    >>> cost_of(Fraction(2), 10)
    Fraction(1, 100)
    """
    return square / (2 * scale * scale)
