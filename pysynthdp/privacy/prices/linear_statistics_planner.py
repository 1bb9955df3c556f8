"""Planning noisy linear statistics (Boedihardjo, Strohmer, Vershynin): Theorems 2.2 and 2.3, entry E2."""

from __future__ import annotations

import math

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.domain import count, positive, probability, real, upward

__all__ = ["points_for_accuracy", "records_for_accuracy", "records_for_privacy", "renyi_condition_number"]


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
        raise PrivacyError(
            "condition must be at least 1",
            kind="mechanism",
            remedy="it is 1 when the sampler is the population",
        )
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
        raise PrivacyError("population and sampler must be probabilities of the same cells", kind="mechanism")
    if abs(float(p.sum()) - 1) > 1e-9 or abs(float(q.sum()) - 1) > 1e-9:
        raise PrivacyError(
            "the probabilities must sum to one", kind="mechanism", remedy="divide them by their sum"
        )
    used = p > 0
    if bool(np.any(q[used] == 0)):
        return math.inf
    return upward(math.fsum(p[used] ** 2 / q[used]))
