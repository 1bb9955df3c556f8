"""``linear_statistics``: sensitivity by brute force, the linear program, the bootstrap, both relations."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import pysynthdp as sdp
from pysynthdp.curator.answers import _noisy
from pysynthdp.models.ask import NoisyStatistics
from pysynthdp.models.base import FitTask, Target
from pysynthdp.models.fits.marginals import Marginals, public_points
from pysynthdp.models.joint.linear_statistics import LinearStatistics, closest_weights
from pysynthdp.privacy.prices.linear_statistics import marginals_sensitivity
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.protection.sampling.by_sampling import BySampling

LEAST = 1e-9
N = 4000


def table() -> pd.DataFrame:
    """Three columns that depend on each other."""
    rng = np.random.default_rng(8)
    sex = rng.integers(0, 2, N)
    work = (rng.random(N) < 0.2 + 0.6 * sex).astype(int)
    age = rng.uniform(0, 100, N) ** (1 + 0.1 * work)
    return pd.DataFrame({"sex": np.array(["f", "m"])[sex], "work": work, "age": np.clip(age, 0, 100)})


SCHEMA = sdp.Schema(
    [
        sdp.CategoricalColumn("sex", ["f", "m"], other="f", may_be_missing=False, dtype="str"),
        sdp.CategoricalColumn("work", [0, 1], other=0, may_be_missing=False, dtype="int64"),
        sdp.NumericColumn("age", lower=0, upper=100, may_be_missing=False, fallback=0),
    ]
)
EDGES = [0, 18, 40, 65, 100]


def fit(model, relation="replace_one", schema=SCHEMA):
    guarantee = BySampling(unit=PrivacyUnit(relation))
    settings = {"schema": schema, "joint": [(schema.names, model)], "guarantee": guarantee}
    return sdp.Synthesizer(**settings, progress=False).fit(table()[list(schema.names)])


def cells(frame):
    """Shares of all two-way cells."""
    cut = frame.assign(age=pd.cut(frame["age"], EDGES, include_lowest=True, right=False).cat.codes % 4)
    return np.concatenate(
        [pd.crosstab(cut[one], cut[two]).to_numpy().ravel() / len(cut) for one, two in combinations(cut, 2)]
    )


def test_with_a_large_epsilon_all_two_way_marginals_are_met():
    fitted = fit(LinearStatistics(epsilon=200.0, bins={"age": EDGES}))
    drawn = fitted.draw(m=1, k=200_000, rng=1)[0]
    # bootstrap noise of a share is below 6.2 sqrt(1/4/k) with p > 1e-9; noise at the fit is below 0.001
    assert np.abs(cells(drawn) - cells(table())).max() < 6.2 * 0.5 / np.sqrt(200_000) + 0.001
    independent = np.outer(table()["sex"].eq("m").mean(), table()["work"].mean())
    assert abs(float(independent.item()) - cells(table())[3]) > 0.05  # so independence would be found out


def test_numbers_are_uniform_inside_their_bin():
    drawn = fit(LinearStatistics(epsilon=50.0, bins={"age": EDGES})).draw(m=1, k=20_000, rng=2)[0]["age"]
    inside = drawn[drawn.between(18, 40)]
    assert stats.kstest(inside, stats.uniform(18, 22).cdf).pvalue > LEAST
    assert stats.kstest(inside, stats.uniform(18, 26).cdf).pvalue < LEAST


def task(*targets: Target) -> FitTask:
    return FitTask(targets[0], ("intercept",), (False,), 10, targets=targets)


THREE = task(
    Target("a", "categorical", 2), Target("b", "categorical", 3), Target("c", "numeric", lower=0.0, upper=1.0)
)


def asked(model: LinearStatistics):
    return next(model.fit(THREE))


@pytest.mark.parametrize("ways", [1, 2, 3])
@pytest.mark.parametrize("further", [0, 2])
def test_the_stated_gap_and_norm_are_the_largest_over_all_records(ways, further):
    functions = [lambda v: 2 * v[:, 0] - 1, lambda v: np.cos(v[:, 1] + v[:, 2])][:further]
    query = asked(LinearStatistics(epsilon=1.0, ways=ways, bins={"c": 2}, functions=functions))
    records = np.array(list(product(range(2), range(3), [0.0, 0.3, 0.5, 1.0])), dtype=float)
    terms = [query.of(np.ones((1, 1)), record[None, :]) for record in records]
    assert all(term.dtype == np.int64 for term in terms)
    gaps = [np.abs(one - two).sum() for one in terms for two in terms]
    assert max(np.abs(term).sum() for term in terms) <= query.row_norm
    assert max(gaps) <= query.row_gap
    if not further:
        assert (max(gaps), query.row_norm) == (query.row_gap, query.row_gap // 2)
        assert query.row_gap == pytest.approx(marginals_sensitivity(3, ways, 1))


def test_a_wild_test_function_is_kept_in_its_range():
    wild = [lambda v: np.where(v[:, 0] > 0, np.inf, np.nan), lambda v: 1e9 * v[:, 1]]
    query = asked(LinearStatistics(epsilon=1.0, ways=1, bins={"c": 2}, functions=wild))
    term = query.of(np.ones((1, 1)), np.array([[1.0, 2.0, 0.1]]))
    assert np.abs(term).sum() <= query.row_norm


def test_test_functions_are_met_too():
    mean_age = [lambda v: v[:, 2] / 50 - 1]
    model = LinearStatistics(epsilon=200.0, ways=1, bins={"age": 20}, functions=mean_age)
    drawn = fit(model).draw(m=1, k=100_000, rng=3)[0]
    assert drawn["age"].mean() == pytest.approx(table()["age"].mean(), abs=1.0)


@pytest.mark.parametrize(("relation", "norm"), [("replace_one", 6), ("add_remove", 3)])
def test_the_noise_has_the_scale_that_the_relation_needs(relation, norm):
    model = LinearStatistics(epsilon=0.5, ways=2, bins={"age": EDGES})
    fitted = fit(model, relation)
    params = fitted._machine.fit.steps[0].params
    assert params.scale * N == pytest.approx(norm / 0.5, rel=0.1)
    statement = fitted.draw(m=1, k=100).privacy
    assert statement.guarantee.epsilon(1e-9) == pytest.approx(0.5, rel=1e-6)
    assert statement.unit.relation == relation


def test_the_noise_that_is_added_has_that_scale():
    """The noisy sums themselves, over many fits: discrete Laplace, scale six over epsilon."""

    class Rows:
        table = type("Table", (), {"n": N})

        def fold(self, _of_block):
            return (np.zeros(4000, dtype=np.int64),)

    query = NoisyStatistics(lambda _, y: y, row_gap=6, row_norm=3, epsilon=0.5)
    for relation, scale, n in (("replace_one", 12.0, N), ("add_remove", 6.0, None)):
        found = _noisy(query, None, Rows(), relation)
        assert (found.scale, found.n) == (pytest.approx(scale), n)
        size = np.abs(found.sums).mean() * 4000
        # |Laplace| sums are gamma; a scale 20 % off has p < 1e-9
        assert (
            2 * min(stats.gamma.cdf(size, 4000, scale=scale), stats.gamma.sf(size, 4000, scale=scale)) > LEAST
        )
        assert stats.gamma.cdf(size, 4000, scale=1.2 * scale) < LEAST


def test_the_reduced_space_is_all_cells_or_a_public_sample_that_no_record_moves():
    rng = np.random.default_rng(0)
    assert len(np.unique(public_points((3, 4), 100, rng), axis=0)) == 12
    assert public_points((50, 50, 50), 100, rng).shape == (100, 3)
    mine = LinearStatistics(
        epsilon=1.0, bins={"age": 2}, sampler=lambda size, rng: rng.integers(0, 2, (size, 3)), space=30
    )
    assert set(fit(mine)._machine.fit.steps[0].params.points.ravel()) <= {0, 1}


def test_a_sampler_outside_the_levels_is_refused():
    bad = LinearStatistics(epsilon=1.0, bins={"age": 2}, sampler=lambda size, rng: np.full((size, 3), 7))  # noqa: ARG005
    with pytest.raises(sdp.PlanError, match="sampler"):
        fit(bad)


def test_counts_and_matrix_agree_with_a_cross_table():
    codes = np.random.default_rng(1).integers(0, [2, 3, 4], (500, 3))
    family = Marginals((2, 3, 4), 2)
    wanted = [pd.crosstab(codes[:, i], codes[:, j]).to_numpy().ravel() for i, j in combinations(range(3), 2)]
    np.testing.assert_array_equal(family.counts(codes), np.concatenate(wanted))
    np.testing.assert_array_equal(family.matrix(codes).sum(axis=1), family.counts(codes))


def test_the_linear_program_beats_every_other_weighting():
    rng = np.random.default_rng(2)
    family = Marginals((3, 3), 1)
    matrix = family.matrix(public_points((3, 3), 9, rng))
    wanted = rng.dirichlet(np.ones(3), 2).ravel() + rng.normal(0, 0.2, 6)
    found = closest_weights(matrix, wanted)
    assert found.weights.sum() == pytest.approx(1)
    assert found.weights.min() >= 0
    others = rng.dirichlet(np.full(9, 0.3), 3000)
    assert found.distance <= np.abs(others @ matrix.toarray().T - wanted).max(axis=1).min() + 1e-9


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"bins": {"c": 2}}, "epsilon"),
        ({"epsilon": -1.0, "bins": {"c": 2}}, "epsilon"),
        ({"epsilon": 1.0}, "c: this number needs public bins"),
        ({"epsilon": 1.0, "bins": {"c": [0.2, 0.8]}}, "cover the declared range"),
        ({"epsilon": 1.0, "bins": {"c": [0, 0, 1]}}, "increasing edges"),
    ],
)
def test_an_impossible_setting_is_refused_by_name(settings, error):
    with pytest.raises(sdp.PysynthdpError, match=error):
        LinearStatistics(**settings).mechanism(THREE)
