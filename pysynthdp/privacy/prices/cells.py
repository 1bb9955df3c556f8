"""Pure epsilon of binary and categorical columns with a Beta or Dirichlet prior: entries F1 and G1."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.domain import count, positive, upward

__all__ = ["CellDraw", "cells_epsilon", "cells_smallest_weight"]


CellDraw: TypeAlias = Literal["map", "many", "one"]


def cells_epsilon(smallest: float, n_draws: int, *, draw: CellDraw = "many") -> float:
    """Compute the exact pure epsilon of draws from cells with a Beta or Dirichlet prior.

    Parameters
    ----------
    smallest : float
        Smallest prior weight alpha_i over the cells; above one for ``"map"``, above zero else.
    n_draws : int
        Draws over all copies for ``"map"`` and ``"many"``; from one parameter (one copy) for ``"one"``.
    draw : {"map", "many", "one"}
        Posterior mode plugged in; posterior mean, one parameter a record; one parameter a copy.

    Returns
    -------
    float
        n ln(a/(a-1)), n ln(1 + 1/a) or ln(1 + n/a).

    Raises
    ------
    PrivacyError
        Outside the domain; give larger prior weights.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. F1 and G1. Errata: Zheng 6.9 to 6.13 print 2 +
    ... and 1 + ... with "only if", which is too strong; 6.21 and 6.22 are loose by a factor of two; "one" and
    "many" do not have the same epsilon.

    Examples
    --------
    >>> round(cells_epsilon(1.0, 100, draw="one"), 4), round(cells_epsilon(1.0, 100), 4)
    (4.6151, 69.3147)
    """
    weight, draws = positive("smallest", smallest), count("n_draws", n_draws)
    if draw == "one":
        return upward(math.log1p(draws / weight))
    if draw == "many":
        return upward(draws * math.log1p(1 / weight))
    if draw != "map":
        raise PrivacyError("draw must be 'map', 'many' or 'one'", kind="mechanism")
    if weight <= 1:
        raise PrivacyError(
            "smallest must exceed 1 for 'map'",
            kind="mechanism",
            remedy="raise the prior weights or choose 'many'",
        )
    return upward(draws * math.log1p(1 / (weight - 1)))


def cells_smallest_weight(epsilon: float, n_draws: int, *, draw: CellDraw = "many") -> float:
    """Find the smallest prior weight whose draws cost at most pure epsilon.

    Parameters
    ----------
    epsilon : float
        Above zero.
    n_draws : int
        As for :func:`cells_epsilon`.
    draw : {"map", "many", "one"}
        As for :func:`cells_epsilon`.

    Returns
    -------
    float
        1 + 1/(e^(eps/n) - 1), 1/(e^(eps/n) - 1) or n/(e^eps - 1).

    Raises
    ------
    PrivacyError
        Outside the domain; give epsilon > 0.

    Notes
    -----
    Privacy: post-processing of public constants. F1 inverted; necessary and sufficient.

    Examples
    --------
    >>> round(cells_smallest_weight(math.log(2), 1), 9)
    1.0
    """
    epsilon, draws = positive("epsilon", epsilon), count("n_draws", n_draws)
    if draw == "one":
        return upward(upward(draws / math.expm1(epsilon)))
    if draw not in ("many", "map"):
        raise PrivacyError("draw must be 'map', 'many' or 'one'", kind="mechanism")
    weight = 1 / math.expm1(epsilon / draws)
    return upward(upward(weight + (1 if draw == "map" else 0)))
