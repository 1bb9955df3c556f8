from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from pysynthdp.analysis.estimates import ADAPTERS, Estimates, adapter_for, estimates_of
from pysynthdp.base.errors import FitError


class Ridge:
    """An estimator with scikit-learn's attributes."""

    def __init__(self, coef, **more):
        self.coef_ = np.array(coef)
        self.__dict__.update(more)

    def get_params(self):
        return {}


def test_estimators_with_a_covariance_are_read():
    got = estimates_of(Ridge([1.0, 2.0], sigma_=np.eye(2), feature_names_in_=np.array(["a", "b"])))
    assert got.terms == ("a", "b")
    with pytest.raises(FitError, match="no covariance"):
        estimates_of(Ridge([1.0]))
    with pytest.raises(FitError, match="no likelihood"):
        adapter_for(Ridge([1.0])).loglike(Ridge([1.0]), np.ones(1))


@pytest.mark.parametrize(
    ("pair", "says"),
    [
        (([1.0, 2.0], [1.0]), "one length"),
        (([1.0], [-1.0]), "negative"),
        ((np.ones((2, 2)), [1]), "give"),
    ],
)
def test_pairs_that_do_not_fit_are_refused(pair, says):
    with pytest.raises(FitError, match=says):
        estimates_of(pair)


def test_estimates_check_their_shapes_and_names():
    with pytest.raises(FitError, match="p terms"):
        Estimates(("a",), np.ones(2), np.eye(2))
    with pytest.raises(FitError, match="same name"):
        Estimates(("a", "a"), np.ones(2), np.eye(2))


def test_alignment_keeps_values_with_their_terms():
    found = Estimates(("a", "c"), np.array([1.0, 3.0]), np.array([[1.0, 0.5], [0.5, 2.0]]))
    moved = found.aligned(("c", "b", "a"), ("c", "b", "a"))
    np.testing.assert_array_equal(moved.values, [3.0, np.nan, 1.0])
    assert moved.cov[0, 2] == 0.5
    assert np.isnan(moved.cov[1]).all()


def test_robust_covariances_and_degrees_of_freedom_come_along():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=40), "y": rng.normal(size=40)})
    plain, robust = (smf.ols("y ~ x", frame).fit(cov_type=kind) for kind in ("nonrobust", "HC3"))
    assert estimates_of(plain).df == 38
    np.testing.assert_array_equal(estimates_of(robust).cov, robust.cov_params())
    assert estimates_of(robust).formula == "y ~ x"


def test_a_fit_that_did_not_converge_is_refused():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=40), "y": rng.integers(0, 2, 40)})
    with pytest.warns(Warning, match="."):
        fit = smf.logit("y ~ x", frame).fit(disp=0, maxiter=1)
    with pytest.raises(FitError, match="converge"):
        estimates_of(fit)


class Greedy:
    """An adapter of another package that takes every fit, by a name that sorts before ours."""

    name = "aaa"

    def accepts(self, _fit):
        return True


Greedy.__module__ = "another_package.adapters"


def test_an_outside_adapter_takes_no_fit_of_ours_and_all_that_none_of_ours_is_for(monkeypatch):
    ADAPTERS.load()
    monkeypatch.setitem(ADAPTERS._entries, "aaa", Greedy)
    data = pd.DataFrame({"y": [1.0, 2.0, 3.5, 4.0], "x": [1.0, 2.0, 3.0, 4.5]})
    assert adapter_for(smf.ols("y ~ x", data).fit()).name == "statsmodels"
    assert adapter_for(([1.0], [[1.0]])).name == "plain"

    class Fit:
        params = pd.Series({"a": 1.0})

        def cov_params(self):
            return np.eye(1)

    assert adapter_for(Fit()).name == "aaa"  # before the one for whatever has params
    monkeypatch.delitem(ADAPTERS._entries, "aaa")
    assert adapter_for(Fit()).name == "with_params"
