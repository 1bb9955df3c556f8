"""Noisy linear statistics (Boedihardjo, Strohmer, Vershynin; Algorithm 1): entries E1 to E3 and the planner.

Statistics (1/n) sum f(x_i) of functions with values in [-1, 1]. After the noise everything is
post-processing, for any reduced space chosen without the data and any number of records drawn.
"""

from __future__ import annotations

import math

import numpy as np

from pysynthdp._typing import FloatArray
from pysynthdp.errors import PrivacyError
from pysynthdp.privacy.domain import count, positive, probability, real, upward
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.unit import Relation

__all__ = [
    "family_sensitivity",
    "marginals_sensitivity",
    "points_for_accuracy",
    "records_for_accuracy",
    "records_for_privacy",
    "renyi_condition_number",
    "statistics_with_gaussian",
    "statistics_with_laplace",
]


def _size(n: int, relation: Relation) -> int:
    """Divisor of the sensitivity: the table that a record is removed from has n records."""
    if relation not in ("replace_one", "add_remove"):
        raise PrivacyError("relation must be 'replace_one' or 'add_remove'")
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
        raise PrivacyError("norm must be 1 (Laplace) or 2 (Gaussian)")
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
        raise PrivacyError("ways must not exceed columns")
    tables = math.comb(columns, ways)
    if norm not in (1, 2):
        raise PrivacyError("norm must be 1 (Laplace) or 2 (Gaussian)")
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


def records_for_privacy(functions: int, *, failure: float, accuracy: float, epsilon: float) -> float:
    """Find how many records Theorem 2.2 needs for a privacy with a given accuracy.

    Parameters
    ----------
    functions : int
        Number of functions F.
    failure : float
        gamma, between zero and one.
    accuracy : float
        delta of the theorem, above zero: the noise has scale delta/log(F/gamma).
    epsilon : float
        Pure epsilon, above zero.

    Returns
    -------
    float
        2 F log(F/gamma)/(eps delta), to be rounded up.

    Raises
    ------
    PrivacyError
        Outside the domain; give positive constants.

    Notes
    -----
    Privacy: post-processing of public constants. E2: the condition that is garbled in print, recovered from
    the proof.

    Examples
    --------
    >>> round(records_for_privacy(100, failure=0.05, accuracy=0.1, epsilon=1.0), 3)
    15201.805
    """
    total, gamma = count("functions", functions), probability("failure", failure)
    spent = positive("accuracy", accuracy) * positive("epsilon", epsilon)
    return upward(2 * total * math.log(total / gamma) / spent)


def records_for_accuracy(functions: int, *, failure: float, accuracy: float) -> float:
    """Find how many records, real and drawn, Theorem 2.3 needs for sampling error below ``accuracy``.

    Parameters
    ----------
    functions : int
        Number of functions F.
    failure : float
        gamma, between zero and one.
    accuracy : float
        delta of the theorem, above zero; the copies are then 8 delta-accurate with probability 1 - 4 gamma.

    Returns
    -------
    float
        2 log(2F/gamma)/delta^2, a lower bound on both n and the records drawn.

    Raises
    ------
    PrivacyError
        Outside the domain; give positive constants.

    Notes
    -----
    Privacy: post-processing of public constants. E2. Erratum: Lemma 3.2 prints exp(-n t^2), false for values
    in [-1, 1]; Hoeffding gives 2 exp(-n t^2/2).

    Examples
    --------
    >>> round(records_for_accuracy(100, failure=0.05, accuracy=0.1), 2)
    1658.81
    """
    total, gamma = count("functions", functions), probability("failure", failure)
    return upward(2 * math.log(2 * total / gamma) / positive("accuracy", accuracy) ** 2)


def points_for_accuracy(functions: int, *, failure: float, accuracy: float, condition: float = 1.0) -> float:
    """Find how many points of the reduced space Theorem 2.3 needs.

    Parameters
    ----------
    functions : int
        Number of functions F.
    failure : float
        gamma, between zero and one.
    accuracy : float
        delta of the theorem, above zero.
    condition : float
        Renyi condition number K of the population with respect to the public sampler, at least one.

    Returns
    -------
    float
        K F/(gamma delta^2), to be rounded up.

    Raises
    ------
    PrivacyError
        Outside the domain; K is at least one.

    Notes
    -----
    Privacy: post-processing of public constants. E2.

    Examples
    --------
    >>> round(points_for_accuracy(10, failure=0.1, accuracy=0.1, condition=2.0), 6)
    20000.0
    """
    total, gamma = count("functions", functions), probability("failure", failure)
    if real("condition", condition) < 1:
        raise PrivacyError("condition must be at least 1; it is 1 when the sampler is the population")
    return upward(condition * total / gamma / positive("accuracy", accuracy) ** 2)


def renyi_condition_number(population: FloatArray, sampler: FloatArray) -> float:
    """Compute how badly a public sampler covers a population: sum of p^2/q over the cells.

    Parameters
    ----------
    population : array (k,)
        Probabilities p of the cells; they sum to one.
    sampler : array (k,)
        Probabilities q of the same cells under the sampler.

    Returns
    -------
    float
        exp of the Renyi divergence of order two; one when both agree, ``inf`` where the sampler misses a
        cell.

    Raises
    ------
    PrivacyError
        If either is not a distribution over the same cells.

    Notes
    -----
    Privacy: arithmetic on two laws; a function of the data if the population is estimated from them. The
    variance of an importance-weighted mean over m points is at most K/m, which gives Theorem 2.3's condition
    on m.

    Examples
    --------
    >>> round(renyi_condition_number(np.array([0.5, 0.5]), np.array([0.25, 0.75])), 6)
    1.333333
    """
    p, q = np.asarray(population, dtype=np.float64), np.asarray(sampler, dtype=np.float64)
    if p.shape != q.shape or p.ndim != 1 or not bool(np.all((p >= 0) & (q >= 0))):
        raise PrivacyError("population and sampler must be probabilities of the same cells")
    if abs(float(p.sum()) - 1) > 1e-9 or abs(float(q.sum()) - 1) > 1e-9:
        raise PrivacyError("the probabilities must sum to one; divide them by their sum")
    used = p > 0
    if bool(np.any(q[used] == 0)):
        return math.inf
    return upward(math.fsum(p[used] ** 2 / q[used]))
