from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats

from pysynthdp.analysis import Estimates, ReleaseTags, pool
from pysynthdp.base.errors import FitError
from pysynthdp.evaluate import compare_fits


@dataclass(frozen=True)
class Copies:
    copies: tuple[pd.DataFrame, ...]
    tags: ReleaseTags


def release(**changes):
    names = frozenset({"a", "b"})
    base = {"kind": "complete", "m": 5, "n_syn": 200, "n_org": 100, "synthesised": names}
    return Copies((pd.DataFrame(columns=["a", "b"]),) * 5, ReleaseTags(**{**base, **changes}))


def synthesis(rng, data):
    """A bivariate confidential estimate with variance V, and copies around it as the tags say."""
    V = np.array([[1.0, 0.3], [0.3, 0.5]])
    f = data.tags.n_syn / data.tags.n_org
    spread = V / f + (V if data.tags.parameters == "drawn" else 0)
    Q = rng.multivariate_normal([0, 0], V)
    pairs = [(rng.multivariate_normal(Q, spread), V / f) for _ in range(data.tags.m)]
    return pool(pairs, release=data), Estimates(("estimate 1", "estimate 2"), Q, V)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "changes", [{}, {"parameters": "drawn"}, {"kind": "partial", "synthesised": frozenset("a")}]
)
def test_lack_of_fit_has_its_size(changes):
    # 1,500 runs: p > 1e-9 at the promised 5%; the variance for fitted parameters, used on drawn ones, rejects
    # far more often (checked below with the same copies).
    rng, data = np.random.default_rng(1), release(**changes)
    tests = [compare_fits(*synthesis(rng, data)).lack_of_fit for _ in range(1500)]
    count = sum(test.pvalue < 0.05 for test in tests)
    assert stats.binomtest(count, 1500, 0.05).pvalue > 1e-9
    if changes.get("parameters") == "drawn":
        wrong = sum(stats.chi2.sf(test.stat * 3, 2) < 0.05 for test in tests)
        assert stats.binomtest(wrong, 1500, 0.05).pvalue < 1e-9


def test_numbers_by_hand():
    data = release(n_syn=100)
    fit = pool([([0.4], [0.04]), ([0.6], [0.04])], n_syn=100, n_org=100)
    got = compare_fits(fit, ([0.45], [0.09]))
    low, high = fit.conf_int().iloc[0]
    own = 0.45 + np.array([-1, 1]) * stats.norm.ppf(0.975) * 0.3
    common = min(high, own[1]) - max(low, own[0])
    assert got.std_diff[0] == pytest.approx(0.05 / 0.3)
    assert got.overlap[0] == pytest.approx((common / (high - low) + common / np.ptp(own)) / 2)
    assert got.se_ratio[0] == pytest.approx(fit.bse.iloc[0] / 0.3)
    assert np.isnan(got.lack_of_fit.stat)
    assert data.tags.m == 5


def test_apart_intervals_count_below_zero_and_at_zero():
    fit = pool([([0.0], [0.01]), ([0.0], [0.01])], n_syn=10, n_org=10)
    got = compare_fits(fit, ([9.0], [0.01]))
    assert got.mean_overlap < 0
    assert got.mean_overlap_nonnegative == 0


def test_untested_where_the_variance_is_not_known():
    rng = np.random.default_rng(2)
    for changes, says in (
        ({"noise": "per_copy_fresh"}, "noise"),
        ({"kind": "partial", "synthesised": frozenset("a"), "m": 2}, "more copies"),
    ):
        data = release(**changes)
        got = compare_fits(*synthesis(rng, data)).lack_of_fit
        assert says in got.reason
        assert np.isnan(got.pvalue)


def test_terms_that_one_lacks_are_named():
    fit = pool([(pd.Series({"a": 1.0, "b": 2.0}), [1, 1])] * 2, n_syn=9, n_org=9)
    got = compare_fits(fit, (pd.Series({"a": 1.0, "c": 2.0}), [1, 1]))
    assert got.terms == ("a",)
    assert "b, c" in got.to_table().to_text()
    with pytest.raises(FitError, match="no term in common"):
        compare_fits(fit, (pd.Series({"z": 1.0}), [1]))


def test_statsmodels_fits_and_the_plot_say_internal():
    plt = pytest.importorskip("matplotlib")
    plt.use("Agg")
    rng = np.random.default_rng(3)
    frames = [pd.DataFrame({"x": rng.normal(size=50), "y": rng.normal(size=50)}) for _ in range(3)]
    fit = pool([smf.ols("y ~ x", frame).fit() for frame in frames], n_syn=50, n_org=50)
    got = compare_fits(fit, smf.ols("y ~ x", frames[0]).fit())
    assert got.to_table().title.startswith("INTERNAL")
    assert got.plot().get_title().startswith("INTERNAL")
    assert list(got.to_frame().index) == ["Intercept", "x"]
    plt.pyplot.close("all")


def test_a_saved_comparison_is_named_internal_and_stays_out_of_releases(tmp_path):
    pooled, own = synthesis(np.random.default_rng(3), release())
    path = compare_fits(pooled, own).save(tmp_path, name="income")
    assert path.name == "INTERNAL_income.html"
    assert "INTERNAL" in path.read_text(encoding="utf-8")
    (tmp_path / "release.json").write_text("{}")
    with pytest.raises(FitError, match="choose another folder"):
        compare_fits(pooled, own).save(tmp_path)
