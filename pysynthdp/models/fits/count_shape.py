"""Whether counts have the spread and the zeros that a count model gives them; said where they have not."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.models.ask import Answer, Note, RowSum, RowTerms, Sums
from pysynthdp.models.fits.counts import count_mean
from pysynthdp.models.fits.newton import stride
from pysynthdp.models.fits.weighting import weighted

__all__ = ["ask_count_shape"]

NARROW, WIDE = 0.75, 1.4  # of the variance: below and above, the draws look otherwise
ZEROS = 0.05
CERTAIN = 4.0  # standard errors, beside a difference that matters
CERTAIN_BELOW = 3.0  # sums of squares seldom fall far below their mean: the lower tail is light


def ask_count_shape(
    column: str, method: str, beta: FloatArray, *, alpha: float, n: int
) -> Generator[RowSum | Note, Answer, None]:
    """Compare the residual variance and the share of zeros with those of the fitted law; note what is off.

    Parameters
    ----------
    column, method : str
        For the remark.
    beta : array (features,)
        Coefficients of log mu.
    alpha : float
        Dispersion: the variance is mu + alpha mu^2.
    n : int
        Rows; above 50,000 a systematic subsample answers.

    Notes
    -----
    Privacy: asks for sums over rows; the remark tells rough shares.
    """
    sums = (yield RowSum(_terms(beta, alpha), stride(n))).value
    rows, zeros, zeros_fitted, square, variance, scatter, doubt = (float(part) for part in sums)
    ratio, error = square / max(variance, 1e-300), np.sqrt(scatter) / max(variance, 1e-300)
    surplus = (zeros - zeros_fitted) / rows
    if abs(surplus) > ZEROS and abs(zeros - zeros_fitted) > CERTAIN * np.sqrt(doubt):
        what = "more" if surplus > 0 else "fewer"
        yield Note(
            Remark(
                column,
                "shape",
                f"there are {what} zeros than {method!r} can draw, by {100 * abs(surplus):.0f} % of the rows",
                Words(
                    "{spikes} draws zeros apart, {method} keeps them",
                    spikes=Setting("spikes", {column: [0]}),
                    method=Setting("method", {column: "normrank"}),
                ),
            )
        )
    elif not NARROW < ratio < WIDE and abs(ratio - 1) > (CERTAIN if ratio > 1 else CERTAIN_BELOW) * error:
        yield Note(Remark(column, "shape", _spread(method, ratio), _mend(column, method, ratio)))


def _spread(method: str, ratio: float) -> str:
    """Say how the spread is off."""
    if ratio < 1:
        return f"counts vary less than {method!r} can, whose draws have {1 / ratio:.1f} times the variance"
    return f"counts vary more than {method!r} can, whose draws have {100 / ratio:.0f} % of the variance"


def _mend(column: str, method: str, ratio: float) -> str:
    """Name a method that holds the spread."""
    ranks = Setting("method", {column: "normrank"})
    if method == "poisson" and ratio > 1:
        negbin = Setting("method", {column: "negbin"})
        return Words("{negbin} or {ranks} keeps it", negbin=negbin, ranks=ranks)
    return Words("{ranks} keeps it", ranks=ranks)


def _terms(beta: FloatArray, alpha: float) -> RowTerms:
    """Rows, zeros seen and fitted, squared residuals seen and fitted, and how sure each comparison is."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        mean = count_mean(X @ beta)
        variance = mean + alpha * mean**2
        zero = np.exp(-mean) if alpha < 1e-7 else (1 + alpha * mean) ** (-1 / alpha)
        # the variance of a squared residual: 2 v^2 + v for a Poisson law, and about 6 alpha v^2 more
        scatter = (2 + 6 * alpha) * variance**2 + variance
        parts = (np.ones_like(y), y == 0, zero, (y - mean) ** 2, variance, scatter, zero * (1 - zero))
        return tuple(np.asarray(np.sum(weighted(part, w)), dtype=np.float64) for part in parts)

    return block
