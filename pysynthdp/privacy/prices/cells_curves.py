"""Prices of binary and categorical columns as Renyi curves that also carry pure epsilon."""

from __future__ import annotations

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.conversion.pure import pure_renyi
from pysynthdp.privacy.domain import count, positive, upward
from pysynthdp.privacy.guarantees.rdp import RDP
from pysynthdp.privacy.prices.beta_curves import parameter_renyi
from pysynthdp.privacy.prices.binary_curves import binary_renyi
from pysynthdp.privacy.prices.categorical import CellWeights, categorical_one_renyi, categorical_renyi
from pysynthdp.privacy.prices.cells import CellDraw, cells_epsilon

__all__ = ["binary_draws", "categorical_draws"]


def _weights(prior: tuple[float, ...], draw: CellDraw) -> list[float]:
    """Pseudo-counts: the prior, less one for the posterior mode."""
    weights = [positive("every prior weight", weight) - (1.0 if draw == "map" else 0.0) for weight in prior]
    if min(weights) <= 0:
        raise PrivacyError(
            "every prior weight must exceed 1 for 'map'",
            kind="mechanism",
            remedy="raise them or choose 'many'",
        )
    return weights


def _joined(curve: FloatArray, pure: float, times: int) -> RDP:
    """Smaller of a curve and pure epsilon's at each order, repeated."""
    return RDP.from_curve(np.minimum(curve, pure_renyi(pure, ORDERS)) * upward(times))


def binary_draws(
    n: int, prior: tuple[float, float], *, n_syn: int, copies: int = 1, draw: CellDraw = "many"
) -> RDP:
    """Price copies of a binary column with a public Beta prior.

    Parameters
    ----------
    n : int
        Public number of records.
    prior : tuple (alpha, beta)
        Public prior weights of ones and zeros, above zero; above one for ``"map"``.
    n_syn, copies : int
        Records a copy, and copies.
    draw : {"map", "many", "one"}
        Posterior mode plugged in; one parameter a record; one parameter a copy.

    Returns
    -------
    RDP
        F7 or F8, and F1's pure epsilon where that is smaller.

    Raises
    ------
    PrivacyError
        Outside the domain; raise the prior.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. Composed by J1. For one release alone
    ``binary_delta`` and ``one_parameter_delta`` are exact and smaller.

    Examples
    --------
    >>> round(binary_draws(1000, (20, 20), n_syn=1000).epsilon(1e-6), 2)
    1.16
    """
    first, second = _weights(prior, draw)
    size, m = count("n_syn", n_syn), count("copies", copies)
    if draw == "one":
        curve = parameter_renyi(n, first, second, orders=ORDERS)
        return _joined(curve, cells_epsilon(min(first, second), size, draw="one"), m)
    curve = binary_renyi(n, 1, (first, second), orders=ORDERS)
    return _joined(curve, cells_epsilon(min(first, second), 1), m * size)


def categorical_draws(
    n: int, prior: tuple[float, ...], *, n_syn: int, copies: int = 1, draw: CellDraw = "many"
) -> RDP:
    """Price copies of a categorical column with a public Dirichlet prior.

    Parameters
    ----------
    n : int
        Public number of records.
    prior : tuple of float
        Public prior weight of each public cell, above zero; above one for ``"map"``.
    n_syn, copies : int
        Records a copy, and copies.
    draw : {"map", "many", "one"}
        Posterior mode plugged in; one parameter a record; one parameter a copy.

    Returns
    -------
    RDP
        G4 or G3's pair by F8, and G1's pure epsilon where that is smaller.

    Raises
    ------
    PrivacyError
        Outside the domain; raise the prior.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. Composed by J1. For one release alone
    ``categorical_delta`` and ``categorical_one_delta`` are exact and smaller.

    Examples
    --------
    >>> round(categorical_draws(1000, (20, 20, 20), n_syn=1000).epsilon(1e-6), 2)
    1.44
    """
    weights = _weights(prior, draw)
    cells = CellWeights.of(weights)
    size, m = count("n_syn", n_syn), count("copies", copies)
    if draw == "one":
        pure = cells_epsilon(min(weights), size, draw="one")
        return _joined(categorical_one_renyi(cells, orders=ORDERS), pure, m)
    curve = categorical_renyi(n, 1, cells, orders=ORDERS)
    return _joined(curve, cells_epsilon(min(weights), 1), m * size)
