"""Survey-weighted estimates: svy's numbers against linearisation by hand, pooled, and the warning."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from pysynthdp.analysis import ReleaseTags, combine, fit_copies, survey_copies
from pysynthdp.analysis.estimates import adapter_for, estimates_of
from pysynthdp.base.errors import FitError, PysynthdpWarning

svy = pytest.importorskip("svy")
pl = pytest.importorskip("polars")

N, PSUS = 120, 20
DESIGN = svy.Design(stratum="h", psu="cluster", wgt="w")
REPLICATES = svy.Design(
    wgt="w",
    rep_wgts=svy.JackknifeWgts(prefix="rw", n_reps=PSUS, df=PSUS - 2, rep_coefs=(0.9,) * PSUS, kind="jkn"),
)
REAL = frozenset({"h", "cluster", "w", *(f"rw{i}" for i in range(1, PSUS + 1))})


@dataclass(frozen=True)
class Copies:
    copies: tuple[pd.DataFrame, ...]
    tags: ReleaseTags


def jackknife(frame):
    """Drop one cluster at a time, and raise the others of its stratum by 10/9."""
    weights = {}
    for i, cluster in enumerate(frame.cluster.unique(), start=1):
        gone = frame.cluster == cluster
        same = frame.h == frame.h[gone].iloc[0]
        weights[f"rw{i}"] = frame.w.where(~same, frame.w * 10 / 9).where(~gone, 0.0)
    return frame.assign(**weights)


def table(seed):
    rng = np.random.default_rng(seed)
    design = np.random.default_rng(99)  # the same in every copy: it is real
    frame = pd.DataFrame(
        {
            "h": np.repeat(["a", "b"], N // 2),
            "cluster": np.repeat(np.arange(PSUS), N // PSUS),
            "w": design.uniform(1, 3, N),
            "x": rng.normal(size=N),
            "g": pd.Categorical(rng.choice(["u", "v"], N)),
        }
    )
    frame["y"] = 1 + frame.x + rng.normal(size=N) + np.repeat(rng.normal(size=PSUS), N // PSUS)
    return jackknife(frame)


FRAMES = tuple(table(seed) for seed in range(5))


def release(**changes):
    base = {"kind": "partial", "m": 5, "n_syn": N, "n_org": N, "synthesised": frozenset("xyg"), "kept": REAL}
    return Copies(FRAMES, ReleaseTags(**{**base, **changes}))


def linearised(frame, scores):
    """Variance of a total of scores (n, p) under two strata of ten clusters."""
    totals = pd.DataFrame(scores).groupby([frame.h.to_numpy(), frame.cluster.to_numpy()]).sum()
    parts = [part - part.mean() for _, part in totals.groupby(level=0)]
    return sum(10 / 9 * part.T.to_numpy() @ part.to_numpy() for part in parts)


def weighted_mean(frame):
    mean = np.average(frame.y, weights=frame.w)
    return mean, linearised(frame, (frame.w * (frame.y - mean) / frame.w.sum()).to_numpy())[0, 0]


def test_a_pooled_mean_is_that_of_linearisation_by_hand():
    got = survey_copies(lambda s: s.estimation.mean("y"), release(), design=DESIGN)
    q, u = np.array([weighted_mean(frame) for frame in FRAMES]).T
    want = combine(q, u, n_syn=N, n_org=N)
    assert got.rule == "partial_size_adjusted"
    assert got.terms == ("mean(y)",)
    assert got.params.iloc[0] == pytest.approx(float(want.qbar), rel=1e-12)
    assert got.bse.iloc[0] == pytest.approx(float(want.se), rel=1e-10)
    assert got.estimates[0].df == PSUS - 2


def test_replicate_weights_are_columns_of_the_copies():
    got = survey_copies(lambda s: s.estimation.mean("y", method="replication"), release(), design=REPLICATES)
    columns = [f"rw{i}" for i in range(1, PSUS + 1)]
    u = []
    for frame in FRAMES:
        each = np.array([np.average(frame.y, weights=frame[name]) for name in columns])
        u.append(0.9 * np.sum((each - each.mean()) ** 2))
    assert got.ubar.iloc[0] == pytest.approx(np.mean(u), rel=1e-10)


def test_a_regression_is_pooled_with_its_sandwich():
    got = survey_copies(lambda s: s.glm.fit(y="y", x=["x"]), release(), design=DESIGN)
    q, U = [], []
    for frame in FRAMES:
        X, w = np.column_stack([np.ones(N), frame.x]), frame.w.to_numpy()
        bread = np.linalg.inv(X.T @ (X * w[:, None]))
        q.append(bread @ X.T @ (w * frame.y))
        residual = (frame.y - X @ q[-1]).to_numpy()
        U.append(bread @ linearised(frame, X * (w * residual)[:, None]) @ bread)
    want = combine(np.array(q), np.array(U), n_syn=N, n_org=N)
    np.testing.assert_allclose(got.params, want.qbar, rtol=1e-8)
    np.testing.assert_allclose(got.cov_params(), want.covariance(), rtol=1e-8)
    assert got.wald_test("x").stat == pytest.approx(float(got.tvalues["x"] ** 2))


def test_domains_shares_ratios_and_quantiles_have_names():
    sample = svy.Sample(pl.from_pandas(FRAMES[0]), DESIGN)
    names = {
        estimates_of(estimate).terms
        for estimate in (
            sample.estimation.mean("y", by="g"),
            sample.estimation.prop("g"),
            sample.estimation.ratio("y", "w"),
            sample.estimation.quantile("y", p=0.5),
        )
    }
    assert ("mean(y)[g=u]", "mean(y)[g=v]") in names
    assert ("proportion(g)[u]", "proportion(g)[v]") in names
    assert ("ratio(y/w)",) in names
    with pytest.raises(FitError, match="no likelihood"):
        adapter_for(sample.estimation.mean("y")).loglike(None, np.ones(1))
    with pytest.raises(FitError, match="one quantity"):
        estimates_of(sample.estimation.quantile("y"))


def test_synthetic_weights_warn():
    everything = frozenset(str(name) for name in FRAMES[0].columns)
    made_up = release(kind="complete", synthesised=everything, kept=frozenset())
    with pytest.warns(PysynthdpWarning, match=r"w of the design were synthesised.*keep="):
        told = survey_copies(lambda s: s.estimation.mean("y"), made_up, design=DESIGN).flags
    assert "no clusters" in told[-1]
    weighted = fit_copies("y ~ x", made_up, svy_free_wls(), weights="w")
    assert "w was synthesised" in " ".join(weighted.notes)
    notes = fit_copies("y ~ x", release(), svy_free_wls(), weights="w").notes
    assert not any("weight" in note for note in notes)


def svy_free_wls():
    import statsmodels.formula.api as smf

    return smf.wls


def test_what_cannot_be_done_is_said():
    with pytest.raises(FitError, match="nothing"):
        survey_copies(lambda s: s.estimation.mean("y"), release(), design=svy.Design(wgt="nothing"))
    with pytest.raises(FitError, match="copy 1"):
        survey_copies(lambda s: s.estimation.mean("absent"), release(), design=DESIGN)


def test_svy_is_asked_for_when_absent(monkeypatch):
    monkeypatch.setitem(sys.modules, "svy", None)
    with pytest.raises(FitError, match="pip install svy"):
        survey_copies(lambda s: s, release(), design=DESIGN)
