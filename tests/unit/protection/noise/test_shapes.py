"""Numbers that keep their shape by noisy histograms: what is asked and paid, and what copies look like."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from pysynthdp import CategoricalColumn, NumericColumn, Schema, Synthesizer
from pysynthdp.base.errors import PrivacyError
from pysynthdp.models.normrank import NormRank
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.noise.moment_budget import moment_budget
from pysynthdp.privacy.noise.moment_scales import COUNT_UNIT, histogram_square
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.protection.noise.by_noise import ByNoise
from pysynthdp.protection.noise.moments.design import Span
from pysynthdp.protection.noise.moments.margins import margin_of, nearest_shares, range_edges

N = 5_000
SCHEMA = Schema(
    [
        CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False),
        NumericColumn("age", lower=16, upper=100, may_be_missing=False, fallback=50),
        NumericColumn("wait", lower=0, upper=40, may_be_missing=True),
    ]
)
HINTS = {"age": (50, 20), "wait": (5, 6)}


def table(n: int = N, seed: int = 0) -> pd.DataFrame:
    """A skewed number that depends on two others, and is missing in a fifth of the rows."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    age = np.clip(rng.normal(48, 14, n), 16, 100)
    wait = 0.05 * (age - 16) + 1.5 * (sex == "M") + 3 * rng.gamma(1.0, size=n)
    wait[rng.random(n) < 0.2] = np.nan
    return pd.DataFrame({"sex": sex, "age": age, "wait": np.clip(wait, 0, 40)})


def fitted(method: str, rho: float = 1.0, **changes):
    """A fit with or without the shape."""
    asked = ByNoise(ZCDP(rho), hints=HINTS, **changes)
    return Synthesizer(schema=SCHEMA, method={"wait": method}, guarantee=asked, progress=False).fit(table())


def waits(method: str) -> np.ndarray:
    """The skewed number of one long copy."""
    return fitted(method).draw(1, k=50_000, rng=1, parameters="fitted")[0].wait.dropna().to_numpy()


def test_the_shape_is_kept_that_a_normal_regression_loses():
    real = table(200_000, 1).wait.dropna().to_numpy()
    assert stats.ks_2samp(waits("normrank"), real).statistic < 0.03
    assert stats.ks_2samp(waits("norm"), real).statistic > 0.06


def test_a_shaped_number_stays_inside_its_bounds():
    assert waits("normrank").min() >= 0
    assert waits("norm").min() < 0


def test_the_regression_of_the_shaped_number_is_that_of_the_table():
    real, copy = table().dropna(), fitted("normrank", 50.0).draw(1, k=100_000, rng=1, parameters="fitted")[0]

    def slopes(frame: pd.DataFrame) -> np.ndarray:
        X = np.column_stack([np.ones(len(frame)), frame.age, frame.sex == "M"])
        return np.linalg.lstsq(X, frame.wait.to_numpy())[0][1:]

    # standard errors 0.0035 and 0.095 on the table; the noise at rho = 50 is far below
    assert np.abs(slopes(copy.dropna()) - slopes(real)) == pytest.approx(0, abs=0.1)
    assert slopes(copy.dropna())[0] == pytest.approx(slopes(real)[0], abs=0.006)


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_histograms_are_paid_within_the_budget_and_stated(relation):
    one = fitted("normrank", 0.5, unit=PrivacyUnit(relation))
    names = [question.name for question in one._machine.fit.source.state.answers[0].budget.questions]
    assert names[-2:] == ["clipped", "shape"]
    total = float(one._machine.fit.source.state.answers[0].cost)
    assert 0.5 * 0.999 < total <= 0.5
    assert one.ledger.total().rho == pytest.approx(total, rel=1e-9)
    release = one.draw(m=2, rng=1)
    plain = json.loads(json.dumps(release.privacy.to_dict()))
    assert PrivacyStatement.from_dict(plain).verify().ok
    assert "histograms" in release.tags.details["fit"]
    assert "n_eff" not in release.tags.details


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_the_sensitivity_of_histograms_is_attained(relation):
    before, after = np.zeros((3, 8), dtype=int), np.zeros((3, 8), dtype=int)
    before[:, 0] = 1
    if relation == "replace_one":
        after[:, 5] = 1
    moved = int((((before - after) * COUNT_UNIT) ** 2).sum())
    assert moved == histogram_square(3, relation)


def test_a_row_is_in_one_range_of_each_number_at_most(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "pysynthdp.protection.noise.fitting.add_discrete_gaussian", lambda v, _scale: seen.append(v) or v + 0
    )
    fitted("normrank")
    counts = seen[-1] // COUNT_UNIT
    assert counts.sum() == table().wait.notna().sum()
    assert (counts >= 0).all()


def test_ranges_grow_with_what_the_budget_can_tell():
    ranges = [
        moment_budget(2, 3, rho=0.1, relation="replace_one", n=n, shaped=2).questions[-1].ranges
        for n in (1_000, 10_000, 1_000_000)
    ]
    assert ranges[0] == 8 < ranges[1] < ranges[2] == 48


def test_records_own_values_are_refused():
    with pytest.raises(PrivacyError, match=r"wait.*own values"):
        fitted(NormRank(emit_original=True))


@pytest.mark.parametrize("mean", [np.nan, -1e9, 1e9, 3.0])
@pytest.mark.parametrize("sd", [0.0, np.inf, np.nan, 1e9, 1.0])
def test_ranges_stay_inside_the_bounds_whatever_the_noise_says(mean, sd):
    edges, _, spread = range_edges(Span(0, -2.0, 5.0), mean, sd, 12)
    assert edges[0] == -2.0
    assert edges[-1] == 5.0
    assert (np.diff(edges) >= 0).all()
    assert 0 < spread <= 7.0
    assert np.isfinite(margin_of(np.arange(12.0), edges, 0.0, spread)).all()


def test_exact_counts_of_a_normal_number_give_the_normal_law():
    edges, mean, sd = range_edges(Span(0, -10.0, 10.0), 0.3, 1.2, 9)
    u, values = margin_of(1e6 * np.diff(stats.norm.cdf(edges, mean, sd)), edges, mean, sd)
    assert np.allclose(values, stats.norm.ppf(u, mean, sd), atol=1e-6)


def test_negative_counts_move_to_the_nearest_shares():
    counts = np.array([50.0, -8.0, 30.0, 2.0, -1.0])
    goal = counts / counts.sum()
    found = optimize.minimize(
        lambda p: ((p - goal) ** 2).sum(),
        np.full(5, 0.2),
        bounds=[(0, 1)] * 5,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        options={"ftol": 1e-14},
    )
    assert np.allclose(nearest_shares(counts), found.x, atol=1e-6)
    assert nearest_shares(-counts - 100).tolist() == [0.2] * 5


def test_a_number_that_nobody_has_still_ends():
    nobody = table(500).assign(wait=np.nan)
    release = Synthesizer(
        schema=SCHEMA, guarantee=ByNoise(ZCDP(50.0), hints=HINTS), method={"wait": "normrank"}, progress=False
    ).fit(nobody)
    assert release.draw(3, rng=1)[0].wait.isna().mean() > 0.95
