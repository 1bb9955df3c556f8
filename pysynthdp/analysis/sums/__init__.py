"""Linear and canonical models of large copies from sums over blocks of rows: the fits of statsmodels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.analysis.failures import Job
from pysynthdp.analysis.formula import by_patsy
from pysynthdp.analysis.frames import without_unused
from pysynthdp.analysis.sums.design import design_of
from pysynthdp.analysis.sums.fitted import SumsFit, made
from pysynthdp.analysis.sums.generalised import generalised, logistic
from pysynthdp.analysis.sums.linear import least_squares
from pysynthdp.analysis.sums.request import Request, read_request
from pysynthdp.analysis.sums.summed import Lacking
from pysynthdp.base.blas import one_blas_thread

__all__ = ["FROM_ROWS", "fitted_by_sums"]

FROM_ROWS = 50_000
"""Rows of a copy from which on sums pay."""
_FITTERS = {"OLS": least_squares, "WLS": least_squares, "GLM": generalised, "Logit": logistic}


def fitted_by_sums(job: Job, frame: pd.DataFrame, full: Callable[[], Any]) -> SumsFit | None:
    """Fit one copy by sums; None where statsmodels has to.

    Parameters
    ----------
    job : Job
        One model for all copies.
    frame : DataFrame
        The copy, coded as the others.
    full : callable
        Fits by statsmodels.

    Returns
    -------
    SumsFit or None
        None for few rows, other models and settings, terms that need all rows at a time, columns that nearly
        depend on each other, values that are not finite, and outcomes that may be separated.

    Notes
    -----
    Privacy: post-processing of synthetic copies.
    """
    if len(frame) < FROM_ROWS or not by_patsy():
        return None
    asked = read_request(job, frozenset(map(str, frame.columns)))
    if asked is None:
        return None
    with one_blas_thread(), np.errstate(all="ignore"):  # what is not finite goes to statsmodels
        return _fit(job, asked, frame, cache(full))


def _fit(job: Job, asked: Request, frame: pd.DataFrame, full: Callable[[], Any]) -> SumsFit | None:
    """Fit, again without the levels that this copy lacks, if the other columns keep their meaning."""
    design = design_of(job.formula, frame, asked.columns)
    if design is None or not design.trusted():
        return None
    found = _FITTERS[asked.kind](design, asked)
    if isinstance(found, Lacking):
        names = tuple(name for name in design.names if name not in found.names)
        design = design_of(job.formula, without_unused(frame, job.columns), asked.columns)
        if design is None or design.names != names or not design.trusted():
            return None
        found = _FITTERS[asked.kind](design, asked)
    if found is None or isinstance(found, Lacking):
        return None
    return made(design, asked, str(job.formula), found, full)
