"""Length of a pooled interval that counts noise, over that of a plain analysis, from variances alone."""

from __future__ import annotations

import math

__all__ = ["median_length"]


def median_length(extra: float, *, m: int, ratio: float) -> float:
    """Median length of an interval from m copies around one noisy release, over the plain interval's length.

    Parameters
    ----------
    extra : float
        Variance that the noise adds, over the sampling variance.
    m : int
        Copies, at least two.
    ratio : float
        Rows of a copy over rows of the table.

    Returns
    -------
    float

    Notes
    -----
    Privacy: arithmetic on public constants. With the sampling variance as unit, ubar = 1/ratio and
    E b = 1 + extra + ubar; the median of b is E b times that of chi-square over its degrees of freedom;
    T = max((1 + 1/m) b - ubar, 1 + (1 + ubar)/m) grows with b, so its median is T at the median of b. The t
    quantile has nu = (m - 1)(T/((1 + 1/m) b))^2 degrees of freedom.

    Examples
    --------
    >>> round(median_length(0.7177, m=20, ratio=5), 2)
    1.43
    """
    from scipy import stats  # slow to import: only where it is used

    within = 1 / ratio
    between = (1 + extra + within) * float(stats.chi2.median(m - 1)) / (m - 1)
    total = max((1 + 1 / m) * between - within, 1 + (1 + within) / m)
    df = (m - 1) * (total / ((1 + 1 / m) * between)) ** 2
    return math.sqrt(total) * float(stats.t.ppf(0.975, df) / stats.norm.ppf(0.975))
