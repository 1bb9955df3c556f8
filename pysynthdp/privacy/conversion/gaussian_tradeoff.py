"""The exact delta of a Gaussian shift, in float64 without cancellation."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

__all__ = ["gaussian_delta"]

_FAR = 1e5
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Hockey-stick divergence of N(mu, 1) from N(0, 1); arguments already checked.

    With a = mu/2 - eps/mu and b = a - mu it is phi(a) [r(-a) - r(-b)], r the Mills ratio, because
    phi(a) = e^eps phi(b). For a short shift the difference is the integral of -r'(x) = 1 - x r(x) > 0.
    """
    a = mu / 2 - epsilon / mu
    if a < -37.5:
        # phi(a) < 1e-305, where floats lose digits: a coarser bound that cannot underflow
        return 1e-305
    if mu < 1:
        return _short_shift(a, mu)
    b = -mu / 2 - epsilon / mu
    if a <= 0:
        return math.exp(-a * a / 2) / math.sqrt(2 * math.pi) * (_mills(-a) - _mills(-b))
    if mu > _FAR:
        # the second term is below 1 / mu, and floats cannot tell it from epsilon's rounding: an upper bound
        return float(ndtr(a))
    return float(ndtr(a)) - math.exp(epsilon + float(log_ndtr(b)))


def _mills(x: float) -> float:
    """(1 - Phi(x)) / phi(x)."""
    return math.sqrt(math.pi / 2) * float(erfcx(x / math.sqrt(2)))


def _short_shift(a: float, mu: float) -> float:
    """Integrate 1 - x r(x) over [-a, -a + mu] by Gauss and Legendre; the integrand is entire."""
    x = -a + mu * (1 + _NODES) / 2
    heights = 1 - x * math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))
    return math.exp(-a * a / 2) / math.sqrt(2 * math.pi) * mu / 2 * float(_WEIGHTS @ heights)
