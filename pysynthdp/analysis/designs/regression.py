"""A weighted regression of one copy, with the variance that its design gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.analysis.designs.sample import Lonely, Sample, variance
from pysynthdp.analysis.estimates import Estimates, estimates_of
from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.errors import FitError

__all__ = ["under_design"]

_COVARIANCE: Final = "of the design, linearised"


def under_design(fit: Any, frame: pd.DataFrame, sample: Sample, lonely: Lonely) -> Estimates:
    """Put the linearised variance of a design in the place of a weighted model's own.

    Parameters
    ----------
    fit : statsmodels GLMResults
        Fitted with the weights of the sample.
    frame : DataFrame
        The copy; rows that the model left out have no influence.
    sample : Sample
        Its design.
    lonely : {"fail", "certainty", "adjust", "average"}
        What a stratum with one unit adds.

    Returns
    -------
    Estimates
        With df = units - strata + 1 - coefficients, of units and strata with rows in the model.

    Raises
    ------
    FitError
        Where no degree of freedom is left.

    Notes
    -----
    Privacy: post-processing. With A the weighted information and s_i the weighted score of row i, the
    influence is A^-1 s_i (Binder 1983).
    """
    found = estimates_of(fit)
    influence = _influence(fit)
    z = np.zeros((len(frame), influence.shape[1]))
    used = frame.index.get_indexer(fit.model.data.row_labels)
    z[used] = influence
    df = _df(sample, used) + 1 - influence.shape[1]
    if df < 1:
        raise FitError(
            "the design has too few sampling units for so many coefficients",
            kind="design",
            remedy="take fewer terms",
        )
    cov = variance(z, sample, lonely)
    lost = np.isnan(found.values)
    cov[lost], cov[:, lost] = np.nan, np.nan
    about = None if found.about is None else replace(found.about, covariance=_COVARIANCE)
    return replace(found, cov=cov, df=df, model="survey-weighted GLM", about=about)


def _df(sample: Sample, used: IntArray) -> float:
    """Units less strata, of those that have rows in the model."""
    units = np.unique(sample.unit[used])
    return float(len(units) - len(np.unique(sample.stratum[units])))


def _influence(fit: Any) -> FloatArray:
    """Weighted influence of each row on the coefficients: (rows, coefficients)."""
    model = fit.model
    X, mu = np.asarray(model.exog, dtype=np.float64), np.asarray(fit.mu)
    slope = model.family.link.deriv(mu)
    spread = model.family.variance(mu)
    w = np.asarray(model.freq_weights, dtype=np.float64)
    scores = X * (w * (np.asarray(model.endog) - mu) / (spread * slope))[:, None]
    information = X.T @ (X * (w / (spread * slope**2))[:, None])
    return np.asarray(scores @ np.linalg.pinv(information, hermitian=True))
