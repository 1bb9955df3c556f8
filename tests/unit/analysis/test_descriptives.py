from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import pysynthdp as sdp
from pysynthdp.analysis import ReleaseTags, apply, gini_of, mean_of
from pysynthdp.analysis.crosstab import _departures


def table(seed: int, n: int = 400, lift: float = 1.5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    smokes = np.where(rng.random(n) < np.where(sex == "M", 0.3 * lift, 0.3), "yes", "no")
    return pd.DataFrame({"sex": sex, "smokes": smokes, "pay": rng.normal(20, 4, n) + (sex == "M")})


@pytest.fixture(scope="module")
def release() -> sdp.SyntheticRelease:
    return sdp.Synthesizer(progress=False).fit(table(1)).draw(m=5, rng=1)


def test_a_mean_is_pooled_as_the_regression_on_a_constant(release):
    got, want = sdp.mean_of("pay", release), sdp.ols("pay ~ 1", release)
    assert got.params.item() == pytest.approx(want.params.item(), rel=1e-12)
    assert got.bse.item() == pytest.approx(want.bse.item(), rel=1e-12)
    assert got.rule == want.rule
    assert got.conf_int().shape == (1, 2)


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (lambda r: sdp.share_of("sex", "M", r), lambda c: (c["sex"] == "M").mean()),
        (lambda r: sdp.quantile_of("pay", 0.25, r), lambda c: c["pay"].quantile(0.25)),
        (lambda r: sdp.mean_of("pay", r, by="sex"), lambda c: c.groupby("sex")["pay"].mean().iloc[0]),
    ],
)
def test_estimates_are_means_over_the_copies(release, call, value):
    got = call(release)
    assert got.params.iloc[0] == pytest.approx(np.mean([value(copy) for copy in release]), rel=1e-12)
    assert (got.bse > 0).all()


def test_without_a_release_they_are_functions_for_apply(release):
    assert apply(mean_of("pay"), release).params.item() == sdp.mean_of("pay", release).params.item()
    assert gini_of("pay", release).params.item() > 0
    with pytest.raises(sdp.FitError, match="give the release after the column"):
        mean_of("pay", rule="auto")


def test_a_cross_table_has_shares_and_a_test(release):
    found = sdp.crosstab_of("sex", "smokes", release)
    want = np.mean([pd.crosstab(c["sex"], c["smokes"], normalize=True).to_numpy() for c in release], axis=0)
    assert found.to_frame().to_numpy() == pytest.approx(want, rel=1e-12)
    assert found.to_frame().index.tolist() == ["F", "M"]
    assert found.test.df1 == 1
    assert "independence, p" in str(found)


def test_departures_test_as_the_chi_square_of_a_table():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.choice(list("xyz"), 3000), "b": rng.choice(list("uv"), 3000)})
    counts = pd.crosstab(frame["a"], frame["b"]).to_numpy()
    values, cov = _departures(counts)
    wald = float(values @ np.linalg.solve(cov, values))
    assert wald == pytest.approx(stats.chi2_contingency(counts).statistic, rel=0.05)


@dataclass(frozen=True)
class Copies:
    copies: tuple[pd.DataFrame, ...]
    tags: ReleaseTags
    schema: None = None


def multinomial_copies(rng, lift: float, n: int = 400, m: int = 5) -> Copies:
    """Copies of a table of two columns by its own cell shares, which is complete synthesis."""
    p = np.array([0.35, 0.15, 0.5 - 0.15 * lift, 0.15 * lift])
    fitted = rng.multinomial(n, p) / n
    levels = [("F", "no"), ("F", "yes"), ("M", "no"), ("M", "yes")]
    copies = [
        pd.DataFrame([levels[at] for at in rng.choice(4, n, p=fitted)], columns=["sex", "smokes"])
        for _ in range(m)
    ]
    names = frozenset({"sex", "smokes"})
    return Copies(tuple(copies), ReleaseTags(kind="complete", m=m, n_syn=n, n_org=n, synthesised=names))


@pytest.mark.statistical
def test_the_test_of_independence_keeps_its_size_and_sees_dependence():
    """Of 60 syntheses of independent columns fewer than 15 are rejected at 5 % (p < 1e-6 at the truth)."""
    rng = np.random.default_rng(4)

    def rejected(lift: float, times: int) -> int:
        found = (sdp.crosstab_of("sex", "smokes", multinomial_copies(rng, lift)) for _ in range(times))
        return sum(each.test is not None and each.test.pvalue < 0.05 for each in found)

    assert rejected(1.0, 60) < 15
    assert rejected(1.8, 20) > 10


def test_a_column_of_one_level_has_no_test_and_unknown_columns_are_named(release):
    flat = sdp.Synthesizer(progress=False).fit(table(1).assign(sex="F")).draw(m=2, rng=1)
    found = sdp.crosstab_of("sex", "smokes", flat)
    assert found.test is None
    assert "a column has one level only" in str(found)
    with pytest.raises(sdp.FitError, match="no column 'sx'"):
        sdp.crosstab_of("sx", "smokes", release)
    with pytest.raises(sdp.FitError, match="cut it into groups"):
        sdp.crosstab_of("pay", "smokes", release)
