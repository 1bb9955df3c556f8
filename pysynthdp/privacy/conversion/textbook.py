"""Textbook composition and subsampling of (epsilon, delta), by name: entry A6; post-processing of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.domain import count, nonnegative, positive, probability, upward
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.guarantees.approx import ApproxDP
from pysynthdp.privacy.guarantees.pure import PureDP

__all__ = ["advanced_composition", "basic_composition", "subsample", "subsample_simple"]


def basic_composition(parts: Sequence[Guarantee]) -> ApproxDP | PureDP:
    """Add pairs (epsilon, delta), pure epsilon having delta zero.

    Parameters
    ----------
    parts : sequence of PureDP and ApproxDP
        At least one.

    Returns
    -------
    PureDP or ApproxDP
        Pure if all parts are.

    Raises
    ------
    PrivacyError
        For another kind; use :func:`compose`.

    Notes
    -----
    Privacy: post-processing of numbers. Zheng 2.10 and 2.11 (Dwork and Roth 2014, Theorem 3.16).

    Examples
    --------
    >>> basic_composition([PureDP(0.5), ApproxDP(0.5, 1e-6)]).name
    'approx'
    """
    pure = [part for part in parts if isinstance(part, PureDP)]
    pairs = [part for part in parts if isinstance(part, ApproxDP)]
    if not parts or len(pure) + len(pairs) < len(parts):
        raise PrivacyError(
            "basic composition adds pure and (epsilon, delta) guarantees",
            kind="domain",
            remedy="use compose for others",
        )
    if not pairs:
        return PureDP.compose(pure)
    total = ApproxDP.compose(pairs)
    return ApproxDP(upward(total.eps + math.fsum(part.eps for part in pure)), total.at_delta)


def advanced_composition(epsilon: float, copies: int, *, slack: float, delta: float = 0.0) -> ApproxDP:
    """Compose equal (epsilon, delta) releases by the textbook formula; correct, not tight.

    Parameters
    ----------
    epsilon : float
        Of each release, above zero.
    copies : int
        Number of releases.
    slack : float
        The extra delta' spent, between zero and one.
    delta : float
        Of each release, at least zero.

    Returns
    -------
    ApproxDP
        eps = epsilon sqrt(2 k ln(1/delta')) + k epsilon (e^epsilon - 1) at k delta + delta'.

    Raises
    ------
    PrivacyError
        Outside the domain; give epsilon > 0, a smaller ``delta`` or fewer releases.

    Notes
    -----
    Privacy: post-processing of numbers. A6: Zheng 2.18 (Dwork, Rothblum and Vadhan 2010), correct as printed.
    For pure epsilon, ``repeat(ZCDP(pure_zcdp(epsilon)), copies)`` is better.

    Examples
    --------
    >>> round(advanced_composition(0.1, 100, slack=1e-6).eps, 4)
    6.3082
    """
    epsilon, k = positive("epsilon", epsilon), count("copies", copies)
    slack, delta = probability("slack", slack), nonnegative("delta", delta)
    total = epsilon * math.sqrt(-2 * k * math.log(slack)) + k * epsilon * math.expm1(epsilon)
    return ApproxDP(upward(total), upward(k * delta + slack))


def subsample(epsilon: float, n_draws: int, *, n: int, delta: float = 0.0) -> tuple[float, float]:
    """Amplify by a secret subsample of ``n_draws`` of n records without replacement, exactly.

    Parameters
    ----------
    epsilon : float
        Of the mechanism on the subsample, at least zero.
    n_draws : int
        Records in the subsample.
    n : int
        Records in the table.
    delta : float
        Of the mechanism on the subsample, at least zero.

    Returns
    -------
    tuple (epsilon, delta)
        log(1 + (m/n)(e^eps - 1)) and (m/n) delta, m the size of the subsample.

    Raises
    ------
    PrivacyError
        Outside the domain; the subsample is at most the table.

    Notes
    -----
    Privacy: post-processing of numbers; neighbours replace one record. A6 (Balle, Barthe and Gaboardi 2018,
    Theorem 9); Zheng 2.20 to 2.22 are correct, the printed (m/n)(e^eps - 1) is not tight.

    Examples
    --------
    >>> round(subsample(1.0, 3, n=10)[0], 6)
    0.415735
    """
    epsilon, delta = nonnegative("epsilon", epsilon), nonnegative("delta", delta)
    rate = _rate(n_draws, n)
    return upward(math.log1p(rate * math.expm1(epsilon))), upward(rate * delta)


def subsample_simple(epsilon: float, n_draws: int, *, n: int) -> float:
    """Amplify by subsampling with the formula as printed: (m/n)(e^eps - 1); correct, not tight.

    Parameters
    ----------
    epsilon : float
        Of the mechanism on the subsample, at least zero.
    n_draws : int
        Records in the subsample.
    n : int
        Records in the table.

    Returns
    -------
    float
        epsilon.

    Raises
    ------
    PrivacyError
        Outside the domain; the subsample is at most the table.

    Notes
    -----
    Privacy: post-processing of numbers. A6: Zheng 2.22.

    Examples
    --------
    >>> round(subsample_simple(1.0, 3, n=10), 4)
    0.5155
    """
    return upward(_rate(n_draws, n) * math.expm1(nonnegative("epsilon", epsilon)))


def _rate(n_draws: int, n: int) -> float:
    """Share of the table that is drawn, at most one."""
    size, total = count("n_draws", n_draws), count("n", n)
    if size > total:
        raise PrivacyError(
            "n_draws must not exceed n", kind="domain", remedy="a subsample is drawn without replacement"
        )
    return size / total
