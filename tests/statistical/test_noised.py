"""The noise has the stated law, is new each time, and hides one row as well as promised; intervals count it.

Each test states both errors: the probability of a false alarm, and a named defect that it rejects.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pysynthdp import CategoricalColumn, NumericColumn, Schema, Synthesizer, ols
from pysynthdp.analysis.combining import combine_stack
from pysynthdp.analysis.rules.base import RULES
from pysynthdp.analysis.stack import stack
from pysynthdp.curator.noised.integers import integer_rows
from pysynthdp.curator.noised.rows import NoisedRows, answer_all
from pysynthdp.curator.rows import rows_of
from pysynthdp.curator.table import split_rows
from pysynthdp.design.encode import Layout, Scale
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.noise.protective import add_discrete_gaussian
from pysynthdp.protection.noise.by_noise import ByNoise
from pysynthdp.protection.noise.moments.asking import ask_moments
from pysynthdp.protection.noise.moments.design import moment_layout, moment_shape
from pysynthdp.protection.noise.moments.released import fresh_moments, reduced_moments
from pysynthdp.protection.noise.moments.state import owners_of

pytestmark = pytest.mark.statistical

LEVELS = Schema(
    [CategoricalColumn(c, [0, 1, 2], other=0, may_be_missing=False, dtype="int64") for c in "abc"]
)
NUMBERS = Schema([NumericColumn(c, lower=-4, upper=4, may_be_missing=False, fallback=0) for c in "xyz"])
MIXED = Schema([*LEVELS, *NUMBERS])
S = 0.5 ** np.abs(np.subtract.outer(range(3), range(3)))


def rows(n: int, seed: int = 0) -> pd.DataFrame:
    """Three categorical and three numeric columns."""
    rng = np.random.default_rng(seed)
    codes = pd.DataFrame(rng.integers(0, 3, (n, 3)), columns=list("abc"))
    return codes.join(pd.DataFrame(rng.multivariate_normal(np.full(3, 0.3), S, n), columns=list("xyz")))


def opened(schema: Schema, table: pd.DataFrame, rho: float) -> tuple:
    """Plan, layout and rows as a fit makes them."""
    plan = Synthesizer(schema=schema, guarantee=ZCDP(rho)).plan()
    layout = moment_layout(plan, plan.protection.hints)
    return (
        plan,
        layout,
        NoisedRows(split_rows(rows_of(table[list(schema.names)]), schema, tolerant=True), layout),
    )


def asked(
    schema: Schema, table: pd.DataFrame, rho: float, noise=add_discrete_gaussian
) -> tuple[list, list, object]:
    """Run one fit's questions; exact and noised answers in units of their scales, and what came of it."""
    plan, layout, held = opened(schema, table, rho)
    exact, noised = [], []

    def watched(values, scale):
        answer = noise(values, scale)
        exact.append(values / scale)
        noised.append(answer / scale)
        return answer

    shape = moment_shape(layout.parts)
    asking = ask_moments(shape, owners_of(plan.steps), rho=rho, relation="replace_one", n=len(table))
    return exact, noised, answer_all(asking, lambda: held, watched)


def standardised(noise=add_discrete_gaussian, fits: int = 12) -> list[np.ndarray]:
    """Noise over its scale, one vector a fit."""
    found = []
    for seed in range(fits):
        exact, noised, _ = asked(MIXED, rows(200, seed), 2.0, noise)
        found.append(np.concatenate(noised) - np.concatenate(exact))
    return found


def test_the_noise_has_its_scale():
    z = np.concatenate(standardised())
    inside = stats.chi2.cdf(float(z @ z), z.size)
    assert 1e-9 < inside < 1 - 1e-9  # false alarm 2e-9
    for factor in (0.8, 1.25):  # a scale off by a fifth is rejected
        assert min(stats.chi2.cdf(factor**2 * z @ z, z.size), stats.chi2.sf(factor**2 * z @ z, z.size)) < 1e-9


def test_the_noise_is_new_each_time():
    def largest(vectors: list[np.ndarray]) -> float:
        unit = [z / np.linalg.norm(z) for z in vectors]
        return max(abs(float(a @ b)) for i, a in enumerate(unit) for b in unit[i + 1 :])

    fresh = standardised()
    limit = stats.norm.isf(1e-10) / np.sqrt(fresh[0].size)  # false alarm 66 * 2e-10
    assert largest(fresh) < limit
    kept = np.random.default_rng(0).standard_normal(10_000)
    reused = standardised(
        lambda values, scale: values + np.rint(scale * kept[: values.size]).astype(np.int64)
    )
    assert largest(reused) > limit


def test_a_changed_row_changes_no_other_rows_integers():
    first, second = rows(500), rows(500)
    second.loc[77] = [2, 1, 0, 4.0, -4.0, 4.0]

    def changed(layouts: list[Layout]) -> np.ndarray:
        got = []
        for table, layout in zip((first, second), layouts, strict=True):
            _, _, answers = asked(
                MIXED, first, 2.0
            )  # one noisy whitening for both, as a neighbour pair has it
            got.append((NoisedRows(opened(MIXED, table, 2.0)[2].table, layout), answers))
        answers = got[0][1]
        whole = [
            integer_rows(answers.frame, *held._block(slice(0, 500)), answers.budget.final, answers.whitening)[
                0
            ]
            for held, _ in got
        ]
        return np.flatnonzero((whole[0] != whole[1]).any(axis=1))

    public = opened(MIXED, first, 2.0)[1]
    assert changed([public, public]).tolist() == [77]
    leaking = [
        replace(
            public, scales={key: Scale(table[key[0]].mean(), table[key[0]].std()) for key in public.scales}
        )
        for table in (first, second)
    ]
    assert changed(leaking).size > 400  # bounds or scales from the data are seen


def test_worst_neighbours_are_as_close_as_promised():
    # three parts without a common level: the change of the release is as long as the sensitivity allows
    rho, runs = 0.5, 600
    table = pd.DataFrame(0, index=range(60), columns=list("abc"))
    other = table.copy()
    other.loc[0] = [1, 2, 1]
    exact, _, _ = asked(LEVELS, table, rho)
    shifted, _, _ = asked(LEVELS, other, rho)
    gap = shifted[0] - exact[0]
    bound = np.sqrt(2 * rho)
    assert 0.999 * bound < np.linalg.norm(gap) <= bound
    direction = gap / np.linalg.norm(gap)
    first = np.array([asked(LEVELS, table, rho)[1][0] @ direction for _ in range(runs)])
    second = np.array([asked(LEVELS, other, rho)[1][0] @ direction for _ in range(runs)])
    shift, error = second.mean() - first.mean(), np.sqrt(2 / runs)
    assert abs(shift - bound) < stats.norm.isf(1e-9) * error  # false alarm 2e-9
    # half the sensitivity would double the shift in units of the noise: rejected but for 2e-10 of runs
    assert abs(2 * shift - bound) > stats.norm.isf(1e-6) * error


def test_noise_redrawn_for_copies_has_the_law_of_the_noise_that_was_added():
    table = rows(2_000)
    _, _, answers = asked(MIXED, table, 1.0)
    released = []
    for _ in range(60):  # the same whitening, so that the law is the same
        entries = tuple(
            add_discrete_gaussian(np.zeros_like(values), float(question.scale))
            for question, values in zip(answers.budget.questions, answers.entries, strict=True)
        )
        released.append(reduced_moments(replace(answers, entries=entries, n=0.0)))
    rng = np.random.default_rng(1)
    redrawn = np.array([fresh_moments(answers, rng) for _ in range(2_000)])
    real = np.array(released)
    at = np.triu_indices(real.shape[1])
    spread = redrawn.reshape(len(redrawn), -1).std(axis=0).reshape(real.shape[1:])[at]
    use = spread > 0
    z = (real[:, at[0], at[1]][:, use] / spread[use]) ** 2
    # entries are correlated, so each one alone: 60 squares, false alarm 45 * 2e-9
    low, high = stats.chi2.cdf(z.sum(axis=0), 60), stats.chi2.sf(z.sum(axis=0), 60)
    assert min(low.min(), high.min()) > 1e-9
    pooled = z.sum(axis=0).mean() / 60
    assert abs(pooled - 1) < 0.15  # a scale off by a fifth moves it to 0.64 or 1.44


def analysis(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and the slopes of z on x and y, with variances."""
    n = len(X)
    Z = np.column_stack([np.ones(n), X[:, :2]])
    inverse = np.linalg.inv(Z.T @ Z)
    beta = inverse @ (Z.T @ X[:, 2])
    rest = X[:, 2] - Z @ beta
    slopes = inverse.diagonal()[1:] * (rest @ rest) / (n - 3)
    return np.append(X.mean(axis=0), beta[1:]), np.append(X.var(axis=0) / n, slopes)


def test_intervals_that_count_the_noise_cover_and_others_do_not():
    runs, n = 60, 3_000
    synthesizer = Synthesizer(
        schema=NUMBERS,
        guarantee=ByNoise(ZCDP(0.05), hints=dict.fromkeys("xyz", (0, 1.0)), testing=True),
        progress=False,
    )
    truth = np.append(np.full(3, 0.3), np.linalg.solve(S[:2, :2], S[:2, 2]))
    counted = naive = 0
    for run in range(runs):
        table = pd.DataFrame(
            np.random.default_rng(run).multivariate_normal(np.full(3, 0.3), S, n), columns=list("xyz")
        )
        fitted = synthesizer.fit(table, noise_seed=run)
        copies = [copy.to_numpy() for copy in fitted.draw(m=20, rng=run)]
        q, u = zip(*map(analysis, copies), strict=True)
        done = combine_stack(
            stack(np.array(q), np.array(u), n_syn=n, n_org=n), RULES["noise_floored"]()
        ).conf_int()
        counted += int(((done[:, 0] <= truth) & (truth <= done[:, 1])).sum())
        plain = [copy.to_numpy() for copy in fitted.draw(m=20, rng=run, parameters="fitted")]
        q, u = zip(*map(analysis, plain), strict=True)
        ignoring = combine_stack(
            stack(np.array(q), np.array(u), n_syn=n, n_org=n), RULES["raab_simple"]()
        ).conf_int()
        naive += int(((ignoring[:, 0] <= truth) & (truth <= ignoring[:, 1])).sum())
    total = runs * len(truth)
    assert stats.binom.cdf(counted, total, 0.95) > 1e-6  # false alarm about 1e-6
    assert stats.binom.cdf(naive, total, 0.95) < 1e-9  # the rule that ignores the noise is rejected


def test_fresh_noise_for_each_copy_gives_intervals_that_cover():
    runs, n = 50, 3_000
    hints = dict.fromkeys("xyz", (0, 1.0))
    synthesizer = Synthesizer(
        schema=NUMBERS, guarantee=ByNoise(ZCDP(0.5), hints=hints, fresh=5, testing=True), progress=False
    )
    truth = np.append(np.full(3, 0.3), np.linalg.solve(S[:2, :2], S[:2, 2]))
    counted = ignoring = 0
    for run in range(runs):
        X = np.random.default_rng(run).multivariate_normal(np.full(3, 0.3), S, n)
        release = synthesizer.fit(pd.DataFrame(X, columns=list("xyz")), noise_seed=run).draw(rng=run)
        q, u = map(np.array, zip(*(analysis(copy.to_numpy()) for copy in release.copies), strict=True))
        done = combine_stack(
            stack(q, u, n_syn=n, n_org=n), RULES[ols("z ~ x + y", release).rule]()
        ).conf_int()
        counted += int(((done[:, 0] <= truth) & (truth <= done[:, 1])).sum())
        half = stats.norm.ppf(0.975) * np.sqrt(u[0])  # one copy taken for the table
        ignoring += int((np.abs(q[0] - truth) <= half).sum())
    total = runs * len(truth)
    assert stats.binom.cdf(counted, total, 0.95) > 1e-6  # false alarm about 1e-6
    assert stats.binom.cdf(ignoring, total, 0.95) < 1e-9  # that ignores the noise and the copy's own sampling
