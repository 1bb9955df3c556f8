"""Columns drawn together by the cells of their table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.models import CatAll
from pysynthdp.models.joint import catall
from pysynthdp.testing import fitted, sampler

SETTINGS = {"workers": 1, "progress": False}


def answers(n: int = 4_000, seed: int = 0) -> pd.DataFrame:
    """Three items that hang together three at a time, one sometimes missing, after an age."""
    rng = np.random.default_rng(seed)
    old = rng.integers(0, 2, n)
    a, b = rng.integers(0, 2, n), rng.integers(0, 3, n)
    parity = np.where(rng.random(n) < 0.9, (a + b + old) % 2, rng.integers(0, 2, n))
    c = pd.Series(np.array(["no", "yes"])[parity]).where(rng.random(n) > 0.1 * (1 + a))
    return pd.DataFrame(
        {"old": np.where(old, "old", "young"), "a": a.astype(str), "b": b.astype(str), "c": c}
    )


def shares(table: pd.DataFrame, columns: list[str]) -> pd.Series:
    whole = table[columns].astype(object).where(table[columns].notna(), "none")
    return whole.value_counts(normalize=True)


def off(left: pd.DataFrame, right: pd.DataFrame, columns: list[str]) -> float:
    return float(shares(left, columns).sub(shares(right, columns), fill_value=0).abs().sum() / 2)


@pytest.mark.parametrize("proper", [False, True])
def test_relations_of_any_order_missing_values_and_earlier_predictors_are_kept(proper):
    table = answers()
    joint = [(["a", "b", "c"], "catall")]
    order = ["old", "a", "b", "c"]
    synthesizer = sdp.Synthesizer(joint=joint, visit_sequence=order, proper=proper, **SETTINGS)
    drawn = pd.concat([*synthesizer.fit(table).draw(m=5, rng=1)])
    assert off(table, drawn, ["old", "a", "b", "c"]) < (0.06 if proper else 0.03)
    main = sdp.Synthesizer(visit_sequence=order, terms="main", **SETTINGS).fit(table).draw(m=5, rng=1)
    assert off(table, pd.concat([*main]), ["old", "a", "b", "c"]) > 0.2


def test_without_features_shares_are_those_of_the_table():
    rng = np.random.default_rng(0)
    y = np.column_stack([rng.integers(0, 3, 2_000), rng.integers(0, 4, 2_000)]).astype(float)
    made, _ = catall._grouped(
        np.bincount((y[:, 0] * 4 + y[:, 1]).astype(int), minlength=12).astype(float), (3, 4), [0, 1]
    )
    assert made.counts.sum() == 2_000
    draws = CatAll().draw(made, np.ones((40_000, 1)), sampler(1))
    found = np.bincount((draws[:, 0] * 4 + draws[:, 1]).astype(int), minlength=12) / 40_000
    assert np.abs(found - made.counts / 2_000).max() < 0.01


def test_cells_of_few_records_are_drawn_by_their_margins_alone():
    rng = np.random.default_rng(0)
    counts = np.zeros((30, 30))
    places = rng.permutation(900)[:200]
    counts.ravel()[places] = 1.0
    counts[0, :5] = 50.0
    fit, code = catall._grouped(counts.ravel(), (30, 30), [0, 1])
    assert set(fit.group) == {0, 1, 2, 3, 4, -1}
    assert (code[places] == 5).sum() >= 195
    few = np.zeros(900)
    few[fit.few] = fit.shares
    few = few.reshape(30, 30)
    rest = np.where(counts < 5, counts, 0.0)
    np.testing.assert_allclose(few.sum(axis=0), rest.sum(axis=0) / rest.sum(), atol=1e-6)
    np.testing.assert_allclose(few.sum(axis=1), rest.sum(axis=1) / rest.sum(), atol=1e-6)
    assert (few > 0).sum() > 2 * len(places)  # not the records' own cells
    assert not few[0, :5].any()


def test_a_cell_that_nobody_has_though_ten_were_expected_is_not_drawn():
    table = answers()
    table = table[~((table.a == "1") & (table.b == "2"))]
    release = sdp.Synthesizer(joint=[(["a", "b"], "catall")], **SETTINGS).fit(table).draw(m=3, rng=1)
    assert not any(((copy.a == "1") & (copy.b == "2")).any() for copy in release)


def test_the_plan_and_tags_tell_what_it_holds():
    fit = sdp.Synthesizer(joint=[(["a", "b", "c"], "catall")], **SETTINGS).fit(answers())
    step = next(own for own in fit.draw(m=2, rng=1).tags.steps if own.columns == ("a", "b", "c"))
    assert (step.model, step.together, step.draws) == ("catall", 3, "levels")
    assert fit.plan.methods["c"] == "catall"


def test_a_formula_of_a_later_column_and_too_large_a_table_are_refused_by_name():
    table = answers()
    joint = [(["a", "b"], "catall")]
    with pytest.raises(PlanError, match="b is drawn together with a"):
        sdp.Synthesizer(joint=joint, formulas=["b ~ old"], **SETTINGS).plan(table)
    wide = pd.DataFrame({f"q{j}": np.random.default_rng(j).integers(0, 6, 300).astype(str) for j in range(9)})
    with pytest.raises(PlanError, match="cells, and 'catall' holds 1,048,576 at most"):
        sdp.Synthesizer(joint=[(list(wide), "catall")], **SETTINGS).fit(wide)


def test_a_guarantee_by_sampling_does_not_have_it_and_says_so():
    schema = sdp.Schema(tuple(sdp.CategoricalColumn(name, ("0", "1"), other="1") for name in "ab"))
    with pytest.raises((PrivacyError, PlanError), match=r"joint|catall"):
        sdp.Synthesizer(schema=schema, guarantee=sdp.BySampling(), joint=[(["a", "b"], "catall")]).plan()


def test_one_column_with_features_follows_them():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(3_000), rng.integers(0, 2, 3_000)])
    y = np.where(rng.random(3_000) < 0.2 + 0.6 * X[:, 1], 1.0, 0.0)
    made = fitted(CatAll(), X, y, levels=2).params
    draws = CatAll().draw(made, X, sampler(1))
    assert draws[X[:, 1] == 1].mean() == pytest.approx(0.8, abs=0.04)
