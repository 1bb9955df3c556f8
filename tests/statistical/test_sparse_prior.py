"""``polyreg``: what its prior leaves of slopes."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

import pysynthdp as sdp


@pytest.mark.filterwarnings("ignore::pysynthdp.PysynthdpWarning")
def test_the_sparse_prior_does_not_pull_slopes_in():
    """A straight slope of an ordered code on the levels of others, many of them empty: within .5 s.e.

    Twelve tables, each off with a spread of .4: the mean of a right fit lies beyond .5 once in 20,000 times;
    with the prior of 10, off by .8, it passes once in 200.
    """
    whole, off = sm.datasets.fair.load_pandas().data, []
    names = ["religious", "rate_marriage", "age", "children", "educ", "occupation", "yrs_married"]
    for seed in range(12):
        table = whole.sample(800, replace=True, random_state=seed)[names].reset_index(drop=True)
        release = sdp.Synthesizer(workers=1, progress=False).fit(table).draw(m=5, rng=seed)
        formula = "yrs_married ~ age + rate_marriage"
        real = smf.ols(formula, table).fit()
        drawn = np.mean([smf.ols(formula, copy).fit().params["age"] for copy in release])
        off.append((drawn - real.params["age"]) / real.bse["age"])
    assert abs(np.mean(off)) < 0.5
