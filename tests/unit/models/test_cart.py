"""Trees: splits as an independent program finds them, leaves that rest on five records."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpError
from pysynthdp.models import Cart
from pysynthdp.models.ask import WholeRows
from pysynthdp.models.fits import tree as trees
from pysynthdp.models.fits.leaves import code_shares, codes_of, level_shares
from pysynthdp.models.fits.tree import LEAF, Tree, leaf_of
from pysynthdp.testing import fitted, sampler

N = 1200
RNG = np.random.default_rng(8)
X = np.column_stack([np.ones(N), RNG.standard_normal((N, 2)), RNG.integers(0, 2, N)])
GATED = np.where(X[:, 3] == 1, np.where(X[:, 1] > 0.3, 2.0, 1.0), 0.0)
LEVELS = np.where(RNG.random(N) < 0.2, RNG.integers(0, 3, N), GATED)
NUMBER = np.where(X[:, 3] == 1, X[:, 1] ** 2, 5 + X[:, 2]) + RNG.normal(0, 0.2, N)


@cache
def grown(levels: int):
    y = LEVELS if levels else NUMBER
    return fitted(Cart(), X, y, levels=levels)


@pytest.mark.parametrize("levels", [3, 0])
def test_splits_are_those_of_scikit_learn_on_the_same_bins_and_scores(levels):
    sklearn = pytest.importorskip("sklearn.tree")
    done = grown(levels)
    tree = done.params.tree
    edges = edges_used(done)
    bins = np.column_stack([np.searchsorted(each, X[:, j]) for j, each in enumerate(edges)])
    make = sklearn.DecisionTreeClassifier if levels else sklearn.DecisionTreeRegressor
    scores = LEVELS if levels else ranks_of(done)(NUMBER)
    other = make(min_samples_leaf=LEAF, random_state=0).fit(bins, scores)
    ours, theirs = leaf_of(tree, X), other.apply(bins)
    assert tree.leaves.size == other.get_n_leaves() > 10
    assert spread(ours, scores, levels) == pytest.approx(spread(theirs, scores, levels), rel=0.02)
    assert pd.crosstab(ours, theirs).gt(0).sum().sum() <= 1.2 * tree.leaves.size  # but for ties


def edges_used(done):
    """Thresholds that were offered, from the second question's own function."""
    counts = done.asked[1 if done.params.knots.size else 0].of(X, np.zeros(N))[0]
    return [trees._edges(each, dummy=j == 3) for j, each in enumerate(counts)]


def ranks_of(done):
    codes = codes_of(done.params.knots)
    ranks = codes.ranks(trees.RANKS)
    return lambda y: ranks[codes.of(y)]


def spread(leaf, scores, levels):
    """Gini's index or squares left within leaves."""
    frame = pd.DataFrame({"leaf": leaf, "score": scores})
    if not levels:
        return float(((frame.score - frame.groupby("leaf").score.transform("mean")) ** 2).sum())
    table = pd.crosstab(frame.leaf, frame.score).to_numpy()
    return float((table.sum(1) - (table**2).sum(1) / table.sum(1)).sum())


@pytest.mark.parametrize("levels", [3, 0])
def test_leaves_hold_twenty_records_and_no_threshold_tells_of_one(levels):
    tree = grown(levels).params.tree
    assert LEAF == 20
    assert np.bincount(leaf_of(tree, X))[tree.leaves].min() >= LEAF
    inner = tree.feature >= 0
    for feature, at in zip(tree.feature[inner], tree.threshold[inner], strict=True):
        assert at == 0.5 if feature == 3 else np.isin(at, trees._GRID)
    assert not any(isinstance(query, WholeRows) for query in grown(levels).asked)
    assert not grown(levels).held_rows


def test_a_threshold_is_the_roundest_point_of_a_gap_and_moves_with_no_record():
    y = np.where(X[:, 1] > 1, 1.0, 0.0)
    found = []
    for below, above in ((0.52, 1.61), (0.78, 2.4)):  # the last records on either side of the gap
        moved = X.copy()
        moved[:, 1] = np.where(X[:, 1] > 1, np.maximum(X[:, 1], above), np.minimum(X[:, 1], below))
        tree = fitted(Cart(), moved, y, levels=2).params.tree
        assert tree.feature[0] == 1
        found.append(tree.threshold[0])
    assert found[0] == found[1] == trees._GRID[trees._MIDDLE + 64]


def test_splits_of_long_tables_come_from_a_subsample_and_leaves_from_all_rows(monkeypatch):
    monkeypatch.setattr(trees, "LONG", 300)
    done = fitted(Cart(), X, LEVELS, levels=3)
    assert {query.every for query in done.asked[:-1]} == {4}
    assert done.asked[-1].every == 1
    assert done.params.sizes.sum() == N
    assert done.params.sizes.min() >= LEAF


def test_a_product_and_a_gate_are_drawn():
    """A chi-square of drawn levels by gate and cut; a multinomial regression on main effects fails it."""
    drawn = {name: draws(name, LEVELS, 3) for name in ("cart", "polyreg")}
    region = (X[:, 3] + 2 * (X[:, 1] > 0.3)).astype(int)
    real = pd.crosstab(region, LEVELS).to_numpy().astype(float)
    p = {name: pvalue(pd.crosstab(region, y).to_numpy(), real) for name, y in drawn.items()}
    assert p["cart"] > 1e-9
    assert p["polyreg"] < 1e-9
    assert np.bincount(draws("cart", GATED, 3)[X[:, 3] == 0].astype(int)).tolist() == [(X[:, 3] == 0).sum()]


def draws(name, y, levels):
    from pysynthdp.models.base import COLUMN_MODELS

    model = COLUMN_MODELS[name]()
    return model.draw(fitted(model, X, y, levels=levels).params, X, sampler(3))


def pvalue(drawn, real):
    """Of a homogeneity test of both tables, by region."""
    found = [stats.chi2_contingency(np.stack([a, b]) + 0.5)[0] for a, b in zip(drawn, real, strict=True)]
    return stats.chi2.sf(sum(found), 2 * len(found))


def test_numbers_keep_margin_heaps_and_regions():
    y = np.where(RNG.random(N) < 0.3, 0.0, np.round(NUMBER, 1))
    params = fitted(Cart(), X, y, decimals=1).params
    drawn = Cart().draw(params, X, sampler(5))
    assert (drawn == 0).mean() == pytest.approx((y == 0).mean(), abs=6 * np.sqrt(0.21 / N))
    for gate in (0, 1):
        inside = X[:, 3] == gate
        se = y[inside].std() * np.sqrt(2 / inside.sum())
        assert drawn[inside].mean() == pytest.approx(y[inside].mean(), abs=6 * se)
    assert stats.ks_2samp(drawn, y).pvalue > 1e-9


def test_no_record_decides_a_share():
    tree = two_leaves()
    shares = level_shares(tree, np.array([[36.0, 4.0, 0.0], [30.0, 2.0, 8.0]]))
    assert shares[0, 1] == pytest.approx(shares[1, 1], rel=0.2)  # 6 of 80 put together
    assert shares[0, 1] == pytest.approx(6 / 80, rel=0.1)
    assert shares[0, 2] == 0.0  # four records at most would have to stand for it
    lone = level_shares(tree, np.array([[39.0, 1.0], [40.0, 0.0]]))
    assert lone[:, 1].tolist() == [0.0, 0.0]


def test_a_gate_of_fifty_records_stays_shut():
    whole = [np.array(each) for each in ([1, 3, -1, -1, -1], [2, 4, -1, -1, -1])]
    tree = Tree(np.array([1, 2, -1, -1, -1]), np.zeros(5), *whole)  # leaves 2; 3 and 4 below 1
    assert tree.leaves.tolist() == [2, 3, 4]
    shut = level_shares(tree, np.array([[57.0, 3.0], [80.0, 0.0], [57.0, 3.0]]))
    assert shut[:, 1] == pytest.approx([0.05, 0.0, 0.05], rel=1e-6)
    few = level_shares(tree, np.array([[57.0, 3.0], [40.0, 0.0], [57.0, 3.0]]))  # none by chance
    assert few[:, 1] == pytest.approx(np.full(3, 6 / 160), rel=0.05)


def two_leaves() -> Tree:
    sides = [np.array(each) for each in ([1, -1, -1], [2, -1, -1])]
    return Tree(np.array([1, -1, -1]), np.array([0.0, 0.0, 0.0]), *sides)


def test_codes_of_fewer_than_five_records_are_spread():
    codes = codes_of(np.stack([np.full(8, 1 / 8), *(np.arange(8.0) + step for step in (0, 0.5, 1))]))
    counts = np.array([[1.0, 1, 1, 1, 1, 0, 9, 0], [3.0, 3, 3, 3, 3, 9, 3, 9]])
    shares = code_shares(two_leaves(), counts, codes)
    assert shares.sum(axis=1) == pytest.approx([1, 1])
    assert shares[0, 6] == shares[0].max()
    other = counts.copy()
    other[0, :5] = [0, 1, 3, 1, 0]  # five records elsewhere: the same mean, another spread
    assert shares[0, 0] > code_shares(two_leaves(), other, codes)[0, 0]
    one = counts.copy()
    one[0, :5], one[0, 6] = [0, 0, 3, 0, 0], 11  # three records: no group, and none around
    assert code_shares(two_leaves(), one, codes)[0, 2] < 3 / 14


# -- the doors ---------------------------------------------------------------------------------------------


def table(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    sex, age = rng.choice(["f", "m"], n), rng.integers(18, 90, n)
    pay = np.where(age > 65, np.nan, np.round(np.exp(7 + (sex == "m") * (age > 40) + rng.normal(size=n)), 2))
    return pd.DataFrame({"sex": sex, "age": age, "pay": pay, "region": rng.choice(list("abcd"), n)})


@cache
def synthesised(**settings):
    return sdp.Synthesizer(method="cart", **settings).fit(table())


def test_all_columns_and_kinds_are_drawn_by_trees_and_no_number_is_a_record_s():
    done = synthesised()
    assert {step.model.name for step in done.plan.steps} == {"cart"}
    assert not done.plan.to_screen  # a tree finds products by itself
    copy = done.draw(m=1, rng=1)[0]
    assert copy.pay.isna()[copy.age > 66].all()
    assert copy.pay.notna()[copy.age < 65].all()
    assert copy.pay.dropna().isin(table().pay).mean() < 0.1
    own = synthesised(emit_original=True)
    assert own.draw(m=1, rng=1)[0].pay.dropna().isin(table().pay).all()
    assert "REAL values of age, pay:" in own.holds


def test_a_fit_is_saved_and_draws_the_same(tmp_path):
    done = synthesised()
    again = type(done).load(done.save(tmp_path / "fit.psdp"))
    pd.testing.assert_frame_equal(again.draw(m=1, rng=1)[0], done.draw(m=1, rng=1)[0])


def test_pooled_tables_give_estimates_without_intervals_and_say_what_to_do():
    pooled = sdp.ols("pay ~ age * sex", synthesised().draw(m=5, rng=1))
    assert pooled.rule == "estimates_only"
    assert pooled.params.notna().all()
    assert pooled.bse.isna().all()
    flag = next(flag for flag in pooled.flags if "cart" in flag)
    assert "age, pay, sex" in flag
    assert "default methods" in flag
    assert not any("interactions" in flag for flag in pooled.flags)


SCHEMA = sdp.Schema(
    [
        sdp.CategoricalColumn("sex", ["f", "m"], may_be_missing=False, other="m"),
        sdp.NumericColumn("age", lower=18, upper=90, decimals=0, may_be_missing=False, fallback=50),
    ]
)


PERSON = sdp.PrivacyUnit(name="person")
GUARANTEES = (
    sdp.ByNoise(sdp.ZCDP(1.0), unit=PERSON),
    sdp.BySampling(PERSON),
)


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda guarantee: guarantee.name)
def test_both_guarantees_refuse_it_by_name(guarantee):
    with pytest.raises(PysynthdpError, match=r"cart") as caught:
        sdp.Synthesizer(schema=SCHEMA, method="cart", guarantee=guarantee).plan(table()[["sex", "age"]])
    assert caught.value.column in {"sex", "age"}
