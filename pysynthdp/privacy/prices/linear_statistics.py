"""Noisy linear statistics (Boedihardjo, Strohmer, Vershynin; Algorithm 1): entries E1 and E3.

Statistics (1/n) sum f(x_i) of functions with values in [-1, 1]. After the noise everything is
post-processing, for any reduced space chosen without the data and any number of records drawn.
"""

from __future__ import annotations

import math

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.domain import count, positive, upward
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.unit import Relation

__all__ = [
    "family_sensitivity",
    "marginals_sensitivity",
    "statistics_with_gaussian",
    "statistics_with_laplace",
]


def _size(n: int, relation: Relation) -> int:
    """Divisor of the sensitivity: the table that a record is removed from has n records."""
    if relation not in ("replace_one", "add_remove"):
        raise PrivacyError("relation must be 'replace_one' or 'add_remove'", kind="mechanism")
    return count("n", n)


def family_sensitivity(functions: int, n: int, *, norm: int = 1, relation: Relation = "replace_one") -> float:
    """Bound the sensitivity of any family of functions with values in [-1, 1].

    Parameters
    ----------
    functions : int
        Number of functions; the constant one costs nothing and is not counted.
    n : int
        Public number of records; under add/remove that of the larger table.
    norm : {1, 2}
        1 for Laplace, 2 for Gaussian noise.
    relation : {"replace_one", "add_remove"}
        The bound covers both.

    Returns
    -------
    float
        2 F/n or 2 sqrt(F)/n.

    Raises
    ------
    PrivacyError
        Outside the domain; give positive whole numbers.

    Notes
    -----
    Privacy: post-processing of public constants. E1, E3. A structured family has less: see
    :func:`marginals_sensitivity`.

    Examples
    --------
    >>> round(family_sensitivity(100, 10_000), 12)
    0.02
    """
    total = count("functions", functions)
    if norm not in (1, 2):
        raise PrivacyError("norm must be 1 (Laplace) or 2 (Gaussian)", kind="mechanism")
    return upward(2 * (total if norm == 1 else math.sqrt(total)) / _size(n, relation))


def marginals_sensitivity(
    columns: int, ways: int, n: int, *, norm: int = 1, relation: Relation = "replace_one"
) -> float:
    """Compute the exact sensitivity of the cells of all ``ways``-way marginals of a table.

    Parameters
    ----------
    columns : int
        Number of columns p.
    ways : int
        Columns a marginal d, at most p.
    n : int
        Public number of records; under add/remove that of the larger table, or a lower bound on it.
    norm : {1, 2}
        1 for Laplace, 2 for Gaussian noise.
    relation : {"replace_one", "add_remove"}
        Neighbours; adding one record moves shares by no more than replacing one.

    Returns
    -------
    float
        2 C(p, d)/n or sqrt(2 C(p, d))/n, whatever the number of cells.

    Raises
    ------
    PrivacyError
        Outside the domain; 1 <= ways <= columns.

    Notes
    -----
    Privacy: post-processing of public constants. E1, E3: one record is in one cell of each marginal.

    Examples
    --------
    >>> round(marginals_sensitivity(5, 2, 1), 9)
    20.0
    """
    if count("ways", ways) > count("columns", columns):
        raise PrivacyError("ways must not exceed columns", kind="mechanism")
    tables = math.comb(columns, ways)
    if norm not in (1, 2):
        raise PrivacyError("norm must be 1 (Laplace) or 2 (Gaussian)", kind="mechanism")
    return upward((2 * tables if norm == 1 else math.sqrt(2 * tables)) / _size(n, relation))


def statistics_with_laplace(sensitivity: float, scale: float) -> PureDP:
    """Price statistics with independent Laplace noise.

    Parameters
    ----------
    sensitivity : float
        In the sum of absolute changes, from public constants.
    scale : float
        Of the noise on each statistic.

    Returns
    -------
    PureDP
        epsilon = sensitivity/scale.

    Raises
    ------
    PrivacyError
        Outside the domain; both are positive.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. E1.

    Examples
    --------
    >>> round(statistics_with_laplace(family_sensitivity(100, 10_000), 0.02).eps, 12)
    1.0
    """
    return PureDP(upward(positive("sensitivity", sensitivity) / positive("scale", scale)))


def statistics_with_gaussian(sensitivity: float, scale: float) -> GDP:
    """Price statistics with independent Gaussian noise.

    Parameters
    ----------
    sensitivity : float
        In the Euclidean norm, from public constants.
    scale : float
        Standard deviation of the noise on each statistic.

    Returns
    -------
    GDP
        With rho = sensitivity^2/(2 scale^2).

    Raises
    ------
    PrivacyError
        Outside the domain; both are positive.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. E3; less noise than E1 from about five
    functions on.

    Examples
    --------
    >>> round(statistics_with_gaussian(family_sensitivity(100, 10_000, norm=2), 0.01).rho, 12)
    0.02
    """
    return GDP(upward(positive("sensitivity", sensitivity) / positive("scale", scale)))
