"""What the first stage teaches: centres by level, and the residual spread of the numbers."""

from __future__ import annotations

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.curator.noised.integers import Frame
from pysynthdp.curator.noised.whitening import Whitening
from pysynthdp.privacy.noise.moment_budget import Question
from pysynthdp.protection.noise.moments.projection import consistent_levels, consistent_numbers

__all__ = ["learned_whitening"]


def learned_whitening(
    frame: Frame, gram: FloatArray, question: Question, *, n: float, edge: float
) -> tuple[Whitening, float]:
    """Centre by the regression on levels, whiten by the residual covariance; both from noisy answers.

    Parameters
    ----------
    frame : Frame
        Where features lie.
    gram : array (size, size)
        Noisy cross-products of the first stage.
    question : Question
        Its noise.
    n : float
        Rows.
    edge : float
        Spectral edge of the noise in the covariance; directions below it were not learned.

    Returns
    -------
    Whitening, float
        And the signal-to-noise ratio: smallest eigenvalue over the edge.

    Notes
    -----
    Privacy: post-processing. Any square root would do, since clip and noise have no direction; a triangular
    one is quick to apply. The edge of a symmetric Gaussian matrix of off-diagonal deviation s is
    2 s sqrt(p); in the covariance of the unscaled numbers it is 2 s sqrt(p)/(alpha^2 n).
    """
    at = slice(frame.levels, None)
    levels = consistent_levels(frame, gram[: frame.levels, : frame.levels], n)
    sums = consistent_numbers(frame, gram[: frame.levels, at])
    effects = _effects(levels, sums, floor=2 * question.sd * np.sqrt(frame.levels))
    crossed = effects.T @ sums
    covariance = (gram[at, at] - crossed - crossed.T + effects.T @ levels @ effects) / n
    values, vectors = np.linalg.eigh(covariance)
    kept = np.maximum(values, min(1.0, edge))
    inverse = np.linalg.qr((vectors * np.sqrt(kept)).T).R.T  # inverse inverse' is the covariance
    root = np.tril(np.linalg.inv(inverse))
    return Whitening(effects, root, inverse), float(values[0] / edge)


def _effects(levels: FloatArray, sums: FloatArray, *, floor: float) -> FloatArray:
    """Regress on the levels; combinations of levels that the noise hides are shrunk towards no effect."""
    values, vectors = np.linalg.eigh(levels)
    strength = values / np.maximum(values, floor) ** 2
    strength[values < floor / 4] = 0.0
    return np.asarray((vectors * strength) @ (vectors.T @ sums))
