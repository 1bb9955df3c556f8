"""Fits that an evaluation makes: nobody can draw from them, save them or charge them."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd

from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.release import SyntheticRelease
from pysynthdp.synthesizer import Synthesizer

__all__ = ["sealed_copies", "sealed_release"]


def sealed_release(
    refit: Synthesizer, table: pd.DataFrame, *, m: int, k: int | None, rng: np.random.Generator
) -> SyntheticRelease:
    """Fit and draw for an evaluation only: nobody can draw from the fit, save it or charge it.

    Parameters
    ----------
    refit : Synthesizer
        Settings of the release.
    table : DataFrame
        Rows to fit.
    m, k : int
        Copies, and rows of each; k None as many as the table has.
    rng : Generator
        Of the drawing; under a guarantee the operating system's is taken, as for a release.

    Returns
    -------
    SyntheticRelease
        To be looked at and dropped by the caller.

    Notes
    -----
    Privacy: reads the rows that it is given. Of real ones: under a guarantee the copies have it too, but many
    of them together do not have that of the release, so no number that is measured on them may leave.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PysynthdpWarning)  # said when the release was made
        fitted = replace(refit, progress=False).fit(table)  # without a ledger
        return fitted.draw(m=m, k=k, rng=rng if refit.protection.learns else None)


def sealed_copies(
    refit: Synthesizer, table: pd.DataFrame, *, m: int, k: int | None, rng: np.random.Generator
) -> tuple[pd.DataFrame, ...]:
    """Give the copies of :func:`sealed_release` alone."""
    return sealed_release(refit, table, m=m, k=k, rng=rng).copies
