"""What a formal guarantee allows any attack at most: the trade-off curve and posterior odds."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.statements.claim import Claim

__all__ = ["bound_table", "curve_table", "most_true_positives"]

_EPSILONS: Final = np.unique(np.concatenate([np.linspace(0, 8, 161), np.geomspace(1e-3, 60.0, 120)]))
_PRIORS: Final = (0.01, 0.1, 0.5)
_RATES: Final = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5)


def most_true_positives(guarantee: Guarantee, rates: FloatArray) -> FloatArray:
    """Give the largest rate of true positives that a guarantee allows a test at each rate of false ones.

    Parameters
    ----------
    guarantee : Guarantee
        Of everything that was released.
    rates : array
        Rates of false positives.

    Returns
    -------
    array
        One less the trade-off function: the least over epsilon of exp(epsilon) rate + delta and of
        1 - exp(-epsilon) (1 - delta - rate) (Kairouz, Oh and Viswanath 2015; Dong, Roth and Su 2022).

    Notes
    -----
    Privacy: post-processing of public constants. A finite number of epsilons gives an upper bound.

    Examples
    --------
    >>> from pysynthdp.privacy.guarantees.gdp import GDP
    >>> most_true_positives(GDP(1.0), np.array([0.01, 0.5])).round(3)
    array([0.092, 0.841])
    """
    delta = np.array([min(guarantee.delta(float(epsilon)), 1.0) for epsilon in _EPSILONS])[:, None]
    steep = np.exp(_EPSILONS)[:, None] * rates + delta
    flat = 1 - np.exp(-_EPSILONS)[:, None] * np.maximum(1 - delta - rates, 0)
    return np.asarray(np.minimum(np.minimum(steep, flat).min(axis=0), 1.0))


def curve_table(guarantee: Guarantee, points: int = 101) -> pd.DataFrame:
    """Give the trade-off curve, dense near zero.

    Parameters
    ----------
    guarantee : Guarantee
        Of everything that was released.
    points : int
        Number of points.

    Returns
    -------
    DataFrame
        ``false_positives`` and the ``most_true_positives`` that are possible.
    """
    rates = np.linspace(0, 1, points) ** 2
    return pd.DataFrame(
        {"false_positives": rates, "most_true_positives": most_true_positives(guarantee, rates)}
    )


def bound_table(claim: Claim) -> pd.DataFrame:
    """Translate a guarantee: what anybody can reach who knows everything but one unit.

    Parameters
    ----------
    claim : Claim
        The privacy statement of the release.

    Returns
    -------
    DataFrame
        Rows of ``what``, ``at``, ``at_most`` in per cent: right guesses at even odds; certainty reached from
        several odds before, but for a probability delta; true positives at rates of false ones.

    Notes
    -----
    Privacy: post-processing of public constants.
    """
    guarantee = claim.guarantee
    even = 50 * (1 + min(guarantee.delta(0.0), 1.0))
    rows: list[tuple[str, str, float]] = [("right guesses whether somebody took part", "even odds", even)]
    for delta in claim.deltas:
        epsilon = guarantee.epsilon(delta)
        for prior in _PRIORS:
            odds = np.exp(min(epsilon, 700.0)) * prior / (1 - prior)
            at = f"before {100 * prior:g} %, but for a probability of {delta:g}"
            rows.append(("certainty that somebody took part", at, float(100 * odds / (1 + odds))))
    rates = np.array(_RATES)
    for rate, most in zip(_RATES, most_true_positives(guarantee, rates), strict=True):
        rows.append(("true positives", f"{100 * rate:g} % false positives", float(100 * most)))
    return pd.DataFrame(rows, columns=["what", "at", "at_most"])
