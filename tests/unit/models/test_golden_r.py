"""METHOD-FITS: our fits beside R's of synthpop's definitions, where they are the same as ours.

synthpop adds weighted pseudo-rows to categorical fits. Ours never does; here the pseudo-rows are written into
the data, and real rows are repeated so that the weights become whole numbers: then both maximise the same
function. Its ``norm`` shrinks by 1e-5 of the diagonal and divides by one degree of freedom less.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pysynthdp.models.ask import MomentSums
from pysynthdp.models.cubertnorm import CubeRtNorm
from pysynthdp.models.fits.linear import fit_linear
from pysynthdp.models.logreg import LogReg
from pysynthdp.models.norm import Norm
from pysynthdp.models.normrank import NormRank
from pysynthdp.models.polr import PolR
from pysynthdp.models.polyreg import PolyReg
from pysynthdp.models.sqrtnorm import SqrtNorm
from pysynthdp.testing import fitted

GOLDEN = Path(__file__).parents[2] / "golden"
SHRINK = 1e-5
EDU = ["primary", "lower", "upper", "college", "graduate"]


@pytest.fixture(scope="module")
def reference():
    return json.loads((GOLDEN / "method_fits.json").read_text())["direct"]


@pytest.fixture(scope="module")
def survey():
    return pd.read_csv(GOLDEN / "method_fits_survey.csv")


@pytest.fixture(scope="module", name="X")
def predictors(survey):
    return np.column_stack(
        [np.ones(len(survey)), survey["age"], survey["visits"], survey["sex"] == "M"]
    ).astype(float)


def unshrunk(X, beta):
    """What least squares gives where the shrunken normal equations give beta."""
    gram = X.T @ X
    return np.linalg.solve(gram, (gram + SHRINK * np.diag(gram.diagonal())) @ beta)


def check_linear(fit, X, expected):
    n, size = X.shape
    np.testing.assert_allclose(fit.beta, unshrunk(X, np.array(expected["beta"])), rtol=1e-6, atol=1e-9)
    sigma = expected["sigma"] * np.sqrt((n - size - 1) / (n - size))
    np.testing.assert_allclose(fit.sigma, sigma, rtol=1e-6)


def test_norm(reference, survey, X):
    check_linear(fitted(Norm(), X, survey["bmi"]).params, X, reference["norm_bmi"])


def test_sqrtnorm(reference, survey, X):
    check_linear(fitted(SqrtNorm(), X, survey["income"]).params, X, reference["sqrtnorm_income"])


def test_cubertnorm(reference, survey, X):
    check_linear(fitted(CubeRtNorm(), X, survey["income"]).params, X, reference["cubertnorm_income"])


def test_normrank_of_original_values(reference, survey, X):
    fit = fitted(NormRank(emit_original=True), X, survey["bmi"]).params
    check_linear(fit, X, reference["normrank_bmi"])


def test_lognorm_core_with_the_shift_of_synthpop(reference, survey, X):
    # ours takes the shift from the quantile table, because half the smallest income is one record's value
    income = survey["income"].to_numpy()
    z = np.log(income + 0.5 * income[income > 0].min())
    sums = MomentSums(float(len(z)), X.T @ X, X.T @ z, float(z @ z))
    check_linear(fit_linear(sums), X, reference["lognorm_income"])


def pseudo_rows(X, levels):
    """Per predictor and level, two rows half a standard deviation from the means (White et al. 2010)."""
    means, sds = X[:, 1:].mean(axis=0), X[:, 1:].std(axis=0, ddof=1)
    low, high = X[:, 1:].min(axis=0), X[:, 1:].max(axis=0)
    rows, codes = [], []
    for j in range(means.size):
        for level in range(levels):
            for sign in (0.5, -0.5):
                row = means.copy()
                row[j] = np.clip(row[j] + sign * sds[j], low[j], high[j])
                rows.append([1.0, *row])
                codes.append(level)
    return np.array(rows), np.array(codes)


def augmented(X, codes, levels, *, real, pseudo):
    rows, extra = pseudo_rows(X, levels)
    whole = np.concatenate([np.repeat(X, real, axis=0), np.repeat(rows, pseudo, axis=0)])
    return whole, np.concatenate([np.repeat(codes, real), np.repeat(extra, pseudo)])


def test_logreg(reference, survey, X):
    expected = np.array(reference["logreg_smoke"]["coefficients"]["values"])[:, 0]
    centred = X.copy()
    centred[:, 1:] -= X[:, 1:].mean(axis=0)
    rows, y = augmented(centred, (survey["smoke"] == "yes").to_numpy().astype(int), 2, real=3, pseudo=1)
    np.testing.assert_allclose(fitted(LogReg(), rows, y, levels=2).params.beta, expected, rtol=1e-6)


def test_polyreg(reference, survey, X):
    expected = np.array(reference["polyreg_region"]["coefficients_tight"]["values"])
    codes = survey["region"].map({"east": 0, "north": 1, "south": 2, "west": 3}).to_numpy()
    rows, y = augmented(X, codes, 4, real=6, pseudo=1)
    for j in (1, 2):
        rows[:, j] = (rows[:, j] - rows[:, j].min()) / np.ptp(rows[:, j])
    fit = fitted(PolyReg(), rows, y, levels=4).params
    # R stopped at its tightest tolerance, 2e-5 from the maximum
    np.testing.assert_allclose(fit.beta[1:] - fit.beta[0], expected, atol=5e-5)


def test_polr(reference, survey, X):
    expected = np.array(reference["polr_edu"]["coefficients"]["values"])[:, 0]
    codes = survey["edu"].map({level: code for code, level in enumerate(EDU)}).to_numpy()
    rows, y = augmented(X, codes, 5, real=15, pseudo=2)
    fit = fitted(PolR(), rows, y, levels=5, ordered=True).params
    # MASS::polr stops at a relative change of 1e-8 in the deviance
    np.testing.assert_allclose(np.concatenate([fit.beta[1:], fit.cuts]), expected, rtol=2e-3, atol=2e-4)
