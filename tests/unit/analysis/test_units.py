"""Analyses of rows that belong together: errors of clusters, held against statsmodels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import pysynthdp as sdp
from pysynthdp.analysis import gini_of, mean_of, quantile_of, share_of
from pysynthdp.analysis.units import estimand_by_unit
from pysynthdp.tags import ReleaseTags


class Release:
    """Copies of 60 units of three rows that are alike."""

    def __init__(self, unit="hid"):
        details = {} if unit is None else {"unit": unit}
        n = 60 if unit else 180
        self.tags = ReleaseTags(kind="complete", m=3, n_syn=n, n_org=n, details=details)
        self.copies = tuple(self._copy(np.random.default_rng(seed)) for seed in range(3))

    @staticmethod
    def _copy(rng):
        hid = np.repeat(np.arange(60), 3)
        x = rng.normal(size=60)[hid] + 0.2 * rng.normal(size=180)
        y = 2 + x + rng.normal(size=60)[hid] + 0.3 * rng.normal(size=180)
        return pd.DataFrame({"hid": hid, "x": x, "y": np.exp(y / 4), "z": np.where(y > 2, "yes", "no")})


def test_regressions_take_units_as_clusters_and_say_so():
    release = Release()
    pooled = sdp.ols("y ~ x", release)
    own = [
        smf.ols("y ~ x", copy).fit(cov_type="cluster", cov_kwds={"groups": copy.hid})
        for copy in release.copies
    ]
    again = sdp.pool(own, release=release)
    np.testing.assert_allclose(pooled.bse, again.bse)
    assert pooled.bse["x"] > 1.3 * sdp.ols("y ~ x", release, cov_type="nonrobust").bse["x"]
    assert any("rows of one hid are alike" in note for note in pooled.notes)
    assert not any("have no clusters" in flag for flag in pooled.flags)
    assert any(
        "have no clusters" in flag
        for flag in sdp.ols("y ~ x", Release(None), cov_type="cluster", cov_kwds={"groups": "hid"}).flags
    )


def test_a_model_without_such_errors_says_that_it_has_none():
    pooled = sdp.analysis.fit_copies("y ~ x", Release(), smf.quantreg)
    assert any("intervals are too short" in note for note in pooled.notes)


def test_a_mean_and_a_share_are_those_of_a_regression_on_a_constant():
    release = Release()
    mean = sdp.analysis.apply(mean_of("y"), release)
    np.testing.assert_allclose(mean.bse.iloc[0], sdp.ols("y ~ 1", release).bse.iloc[0], rtol=0.01)
    share = sdp.analysis.apply(share_of("z", "yes"), release)
    fit = sdp.ols("I(z == 'yes') ~ 1", release)
    np.testing.assert_allclose(share.bse.iloc[0], fit.bse.iloc[0], rtol=0.01)


@pytest.mark.parametrize("estimand", [quantile_of("y", 0.5), gini_of("y"), mean_of("y")])
def test_errors_over_units_are_those_of_a_bootstrap_of_units(estimand):
    rng = np.random.default_rng(9)
    copy = Release._copy(rng)
    over, _ = estimand_by_unit(Release(), estimand)
    told = float(np.sqrt(over(copy).cov[0, 0]))
    blocks = [own for _, own in copy.groupby("hid")]
    drawn = [estimand(pd.concat([blocks[unit] for unit in rng.integers(0, 60, 60)])) for _ in range(150)]
    spread = float(np.std([each.values[0] for each in drawn]))  # noqa: PD011 -- of estimates
    assert 0.7 < told / spread < 1.4
    assert told > 1.3 * float(np.sqrt(estimand(copy).cov[0, 0]))


def test_subgroups_of_rows_of_one_unit_are_not_independent():
    copy = Release._copy(np.random.default_rng(9)).assign(g=list("abc") * 60)
    cov = estimand_by_unit(Release(), mean_of("y", by="g"))[0](copy).cov
    assert np.corrcoef(copy.y[copy.g == "a"], copy.y[copy.g == "b"])[0, 1] > 0.5
    assert cov[0, 1] / np.sqrt(cov[0, 0] * cov[1, 1]) > 0.5


def test_copies_with_units_left_out_are_refused():
    release = Release()
    release.check_unchanged = lambda: None
    release.copies = tuple(copy[copy.hid > 3] for copy in release.copies)
    with pytest.raises(sdp.FitError, match="60 were drawn"):
        sdp.ols("y ~ x", release)


def test_a_cross_table_has_errors_of_clusters():
    release = Release()
    for copy in release.copies:
        copy["w"] = np.where(copy.x > 0, "high", "low")
    table = sdp.crosstab_of("z", "w", release)
    own = [
        smf.ols("cell ~ 1", copy.assign(cell=((copy.z == "yes") & (copy.w == "high")).astype(float))).fit(
            cov_type="cluster", cov_kwds={"groups": copy.hid}
        )
        for copy in release.copies
    ]
    again = sdp.pool(own, release=release)
    np.testing.assert_allclose(table.shares.bse.loc["z=yes, w=high"], again.bse.iloc[0], rtol=0.01)
    assert table.test.pvalue > 0
    assert any("rows of one hid are alike" in note for note in table.shares.notes)
