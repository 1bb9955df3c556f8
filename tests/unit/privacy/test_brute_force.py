"""The claimed worst case against every pair of neighbouring tables, where there are few enough to look at."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from pysynthdp.privacy.prices.beta_binomial import one_parameter_delta, parameter_delta
from pysynthdp.privacy.prices.binary import binary_delta
from pysynthdp.privacy.prices.binary_curves import binary_renyi
from pysynthdp.privacy.prices.categorical import CellWeights, categorical_delta, categorical_one_delta
from pysynthdp.privacy.prices.cells import cells_epsilon
from pysynthdp.privacy.prices.cells_curves import categorical_draws
from pysynthdp.privacy.prices.gaussian_floored import floored_renyi
from pysynthdp.privacy.prices.gaussian_known import mean_per_copy, plug_in_mean
from pysynthdp.privacy.prices.gaussian_local import local_bound, local_from_data, local_from_summary
from pysynthdp.privacy.prices.gaussian_pairs import normal_renyi
from pysynthdp.privacy.prices.gaussian_truncated import truncated_epsilon
from pysynthdp.privacy.prices.linear_statistics import marginals_sensitivity
from pysynthdp.privacy.prices.multivariate_normal import ridge_bound_renyi, ridge_leverage
from pysynthdp.privacy.prices.mvn_pairs import mvn_renyi
from pysynthdp.privacy.prices.regression import ridge_shift


def hockey_stick(p, q, epsilon):
    return max(np.maximum(p - math.exp(epsilon) * q, 0).sum(), np.maximum(q - math.exp(epsilon) * p, 0).sum())


@pytest.mark.parametrize(("n", "m", "a", "b"), [(7, 9, 1.0, 2.5), (12, 5, 0.4, 0.4), (9, 18, 73.347, 97.805)])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.9])
def test_binary_independent_draws(n, m, a, b, epsilon):
    k, total = np.arange(m + 1), n + a + b
    laws = [stats.binom.pmf(k, m, (ones + a) / total) for ones in range(n + 1)]
    worst = max(hockey_stick(p, q, epsilon) for p, q in itertools.pairwise(laws))
    assert binary_delta(n, m, (a, b), epsilon=epsilon) == pytest.approx(worst, rel=1e-9, abs=1e-14)


def test_binary_curve_is_the_worst_over_all_tables():
    n, m, a, b, order = 11, 6, 0.7, 1.9, 3.5
    p = (np.arange(n + 1) + a) / (n + a + b)

    def divergence(x, y):
        return (
            m * np.log(x**order * y ** (1 - order) + (1 - x) ** order * (1 - y) ** (1 - order)) / (order - 1)
        )

    worst = max(divergence(p[1:], p[:-1]).max(), divergence(p[:-1], p[1:]).max())
    assert float(binary_renyi(n, m, (a, b), orders=order)) == pytest.approx(worst, rel=1e-10)


@pytest.mark.parametrize(("n", "m", "a", "b"), [(6, 8, 1.0, 2.5), (15, 20, 0.5, 0.5)])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_binary_one_parameter(n, m, a, b, epsilon):
    k = np.arange(m + 1)
    laws = [stats.betabinom.pmf(k, m, ones + a, n - ones + b) for ones in range(n + 1)]
    worst = max(hockey_stick(p, q, epsilon) for p, q in itertools.pairwise(laws))
    assert one_parameter_delta(n, m, a, b, epsilon=epsilon) == pytest.approx(worst, rel=1e-9)
    assert worst < parameter_delta(n, a, b, epsilon=epsilon)


def compositions(total, cells):
    if cells == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, cells - 1):
            yield (first, *rest)


def log_multinomial(counts):
    return gammaln(counts.sum(1) + 1) - gammaln(counts + 1).sum(1)


@pytest.mark.parametrize("draw", ["many", "one"])
@pytest.mark.parametrize(
    ("n", "m", "prior"), [(4, 5, (1.0, 1.0, 1.0)), (5, 4, (0.7, 2.0, 1.2)), (3, 4, (1, 0.8, 1.5, 2))]
)
def test_categorical_over_every_table(draw, n, m, prior):
    alpha, outcomes = np.array(prior, float), np.array(list(compositions(m, len(prior))), float)

    def law(counts):
        w = np.array(counts) + alpha
        if draw == "many":
            logs = (outcomes * np.log(w / w.sum())).sum(1)
        else:
            rising = (gammaln(w + outcomes) - gammaln(w)).sum(1)
            logs = gammaln(w.sum()) - gammaln(w.sum() + m) + rising
        return np.exp(log_multinomial(outcomes) + logs)

    worst, pure, epsilon = 0.0, 0.0, 0.3
    for counts in compositions(n, len(prior)):
        for i, j in itertools.permutations(range(len(prior)), 2):
            if counts[i]:
                moved = list(counts)
                moved[i], moved[j] = moved[i] - 1, moved[j] + 1
                p, q = law(counts), law(moved)
                worst = max(worst, hockey_stick(p, q, epsilon))
                pure = max(pure, float(np.abs(np.log(p / q)).max()))
    function = categorical_delta if draw == "many" else categorical_one_delta
    assert function(n, m, CellWeights.of(prior), epsilon=epsilon) == pytest.approx(worst, rel=1e-9)
    assert cells_epsilon(min(prior), m, draw=draw) == pytest.approx(pure, rel=1e-9)
    assert categorical_draws(n, prior, n_syn=m, draw=draw).epsilon(worst) >= epsilon * (1 - 1e-9)


def test_plug_in_mean_is_the_worst_shift():
    values = np.linspace(-1, 1, 5)
    means = {np.mean(rows): rows for rows in itertools.product(values, repeat=3)}
    worst = max(abs(np.mean(rows) - np.mean((new, *rows[1:]))) for rows in means.values() for new in values)
    claimed = plug_in_mean(3, -1, 1, sigma=2.0, n_syn=7).mu
    assert claimed == pytest.approx(worst * math.sqrt(7) / 2.0, rel=1e-12)


def test_one_mean_a_copy_is_the_mahalanobis_length():
    n, n_syn, sigma, width = 12, 5, 1.7, 3.0
    covariance = sigma**2 * (np.eye(n_syn) + np.ones((n_syn, n_syn)) / n)
    shift = np.full(n_syn, width / n)
    length = math.sqrt(shift @ np.linalg.solve(covariance, shift))
    assert mean_per_copy(n, 0, width, sigma=sigma, n_syn=n_syn).mu == pytest.approx(length, rel=1e-12)


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("order", [1.3, 2.0])
def test_floored_variance_covers_every_small_table(ddof, order):
    n, d, floor = 8, 1.0, 0.8
    grid = np.linspace(-d, d, 5)
    bound = float(floored_renyi(n, d, floor, orders=order, n_draws=1, ddof=ddof))
    worst = 0.0
    for rows in itertools.combinations_with_replacement(grid, n - 1):
        laws = [(np.mean(x := (*rows, new)), max(np.var(x, ddof=ddof), floor**2)) for new in grid]
        for (m1, v1), (m2, v2) in itertools.permutations(laws, 2):
            worst = max(worst, float(normal_renyi(m1, v1, m2, v2, orders=order)))
    assert 0.3 * bound < worst <= bound


def test_local_numbers_are_ordered():
    rng = np.random.default_rng(3)
    x = np.clip(rng.standard_normal(60), -2, 2)
    settings = {"alpha": 2.0, "n_draws": 60}
    data = float(local_from_data(x, 2.0, **settings).reveal())
    summary = float(local_from_summary(60, 2.0, mean=x.mean(), variance=x.var(ddof=1), **settings).reveal())
    bound = float(
        local_bound(60, 2.0, mean=x.mean(), variance=x.var(ddof=1), orders=2.0, n_draws=60).reveal()
    )
    assert 0 < data <= summary * (1 + 1e-3)
    assert summary <= bound * (1 + 1e-9)


def test_truncated_epsilon_is_the_largest_likelihood_ratio():
    n, radius, sigma = 4, 1.5, 0.9
    y = np.linspace(-radius, radius, 301)
    worst = 0.0
    for mean in np.linspace(-radius, radius - 2 * radius / n, 61):
        laws = [
            stats.truncnorm.logpdf(y, (-radius - c) / sigma, (radius - c) / sigma, loc=c, scale=sigma)
            for c in (mean, mean + 2 * radius / n)
        ]
        worst = max(worst, float(np.abs(laws[0] - laws[1]).max()))
    assert truncated_epsilon(n, radius, sigma=sigma) == pytest.approx(worst, rel=1e-9)


def test_ridged_normal_covers_random_neighbours():
    rng = np.random.default_rng(11)
    n, columns, ridge, order = 8, 2, 2.0, 2.5
    bound = float(ridge_bound_renyi(ridge_leverage(columns, ridge), orders=order, n=n))
    worst = 0.0
    for _ in range(400):
        x = rng.choice([-1.0, 0.0, 1.0], (n, columns)) * rng.choice([0.01, 1.0])
        y = x.copy()
        x[0], y[0] = rng.uniform(-1, 1, columns), rng.choice([-1.0, 1.0], columns)
        fits = [(z.mean(0), np.cov(z.T, ddof=0) + ridge * np.eye(columns)) for z in (x, y)]
        worst = max(worst, *(mvn_renyi(*a, *b, alpha=order) for a, b in (fits, fits[::-1])))
    assert 0.05 * bound < worst <= bound


def test_ridged_normal_is_nearly_lost_where_the_others_fill_one_corner():
    n, columns, ridge = 200, 2, 0.2
    leverage = ridge_leverage(columns, ridge)
    x = np.full((n, columns), -1.0)
    y = x.copy()
    y[0] = 1.0
    covariances = [np.cov(z.T, ddof=0) + ridge * np.eye(columns) for z in (x, y)]
    assert (y[0] - x[0]) @ np.linalg.solve(covariances[0], y[0] - x[0]) == pytest.approx(leverage, rel=1e-12)
    fits = list(zip((x.mean(0), y.mean(0)), covariances, strict=True))
    for order in (1.5, 3.0):
        worst = max(mvn_renyi(*a, *b, alpha=order) for a, b in (fits, fits[::-1]))
        assert (
            0.45 < worst / float(ridge_bound_renyi(leverage, orders=order, n=n)) <= 1
        )  # half would be exceeded
        assert worst > float(ridge_bound_renyi(leverage / 2, orders=order, n=n))


def test_ridge_shift_covers_random_neighbours_and_is_the_maximum():
    rng = np.random.default_rng(5)
    n, norm, response, ridge = 6, 1.0, 1.0, 0.5
    bound, worst = ridge_shift(n, row_norm=norm, response=response, ridge=ridge), 0.0
    for _ in range(2000):
        x = rng.uniform(-1, 1, (n, 1)) * rng.choice([0.1, 1.0])
        y = rng.choice([-1.0, 1.0], n)
        x2, y2 = x.copy(), y.copy()
        x2[0], y2[0] = rng.choice([-1.0, 1.0]), rng.choice([-1.0, 1.0])
        beta = [(a.ravel() @ b) / (a.ravel() @ a.ravel() + ridge) for a, b in ((x, y), (x2, y2))]
        worst = max(worst, abs(beta[0] - beta[1]) * norm)
    assert 0.2 * bound < worst <= bound
    kappa, t = norm**2 / ridge, np.linspace(0, 1, 200_001)
    scan = kappa * np.sqrt(t) * (1 + np.sqrt((n - 1) * kappa * t * (1 - t))) / (1 + kappa * t)
    assert bound == pytest.approx(2 * response * scan.max(), rel=1e-9)
    assert bound >= 2 * response * scan.max()


@pytest.mark.parametrize("norm", [1, 2])
def test_marginals_move_by_one_cell_each(norm):
    rows = list(itertools.product((0, 1), repeat=4))

    def cells(row):
        pairs = itertools.combinations(range(4), 2)
        return np.array(
            [[float((row[i], row[j]) == c) for c in itertools.product((0, 1), repeat=2)] for i, j in pairs]
        )

    worst = max(np.linalg.norm((cells(a) - cells(b)).ravel(), norm) for a in rows for b in rows)
    assert marginals_sensitivity(4, 2, 10, norm=norm) == pytest.approx(worst / 10, rel=1e-12)
