"""How far a model with a log link may go: what the column can hold, by its own margin."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.models.ask import Answer, Quantiles
from pysynthdp.models.fits.quantile_table import quantile_table, table_values

__all__ = ["BEYOND", "LARGEST_LOG", "ask_log_ceiling", "log_ceiling"]

LARGEST_LOG = 700.0
ABOVE = 1.5  # times the top of the margin: the largest mean that a row may have
BEYOND = 10.0  # times that mean: the largest draw


def ask_log_ceiling() -> Generator[Quantiles, Answer, float]:
    """Ask for the margin; return the log of the largest mean that a drawn row may have.

    Notes
    -----
    Privacy: asks for averages of neighbouring values. See :func:`log_ceiling`.
    """
    answer = yield Quantiles()
    return log_ceiling(np.asarray(answer.value, dtype=np.float64))


def log_ceiling(knots: FloatArray, shift: float = 0.0) -> float:
    """Log of the largest mean that a drawn row may have, by the top of the margin.

    Parameters
    ----------
    knots : array (4, groups) or (2, knots)
        The coarse quantile table (:class:`~pysynthdp.models.ask.Quantiles`).
    shift : float
        Added to values before their logarithm.

    Returns
    -------
    float
        The log of one and a half times the top of the table, which averages of records lead to; the largest
        that a float holds where nothing positive is there.

    Notes
    -----
    Privacy: post-processing of averages of neighbouring values.
    exp(x'beta) has no end, and a predictor that was itself drawn may lie far beyond the rows of the fit: a
    count of at most 32 was drawn as 10^15. A row of the fit whose mean lies above the average of the highest
    values is seldom, so the ceiling changes copies only where the model goes beyond what it was fitted to.

    Examples
    --------
    >>> round(log_ceiling(np.array([[0.25, 0.75], [1.0, 2.0]])), 3)
    1.099
    """
    top = float(table_values(quantile_table(knots), np.array([1.0]))[0]) + shift
    return float(np.log(ABOVE * top)) if top > 0 else LARGEST_LOG
