"""``cells``: what its score equations keep, where its cells meet, and when another model is taken."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.streams import level_and_place
from pysynthdp.curator.quantiles import coarse_quantiles
from pysynthdp.models.ask import RowSum
from pysynthdp.models.cells import Cells, CellsFit
from pysynthdp.models.fits import newton
from pysynthdp.models.fits.cell_table import CellTable, cell_table, joined, placed_values, tilted
from pysynthdp.models.fits.multinomial import level_probabilities
from pysynthdp.models.normrank import NormRankFit
from pysynthdp.testing import fitted, sampler

N = 1200


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(8)


def skewed(rng: np.random.Generator, n: int = N):
    """Return features, and a number whose spread grows with one of them, with a mass at twelve."""
    X = np.column_stack([np.ones(n), rng.standard_normal(n), rng.random(n) < 0.3]).astype(float)
    y = np.exp(2 + 0.4 * X[:, 1] - 0.3 * X[:, 2] + (0.3 + 0.2 * X[:, 2]) * rng.standard_normal(n))
    return X, np.where(rng.random(n) < 0.1, 12.0, y)


def of_fit(fit) -> CellTable:
    """Make a table that draws, of a fit's parameters."""
    none = np.zeros(0)
    return CellTable(fit.knots, fit.cell, none, none.astype(int), none, np.zeros(1, dtype=int))


def test_sums_of_features_by_cell_are_those_of_the_rows(rng):
    X, y = skewed(rng)
    fit = fitted(Cells(), X, y).params
    table, _ = joined(
        cell_table(coarse_quantiles(y), N), np.full(99, 9.0)[: cell_table(coarse_quantiles(y), N).size]
    )
    real = (table.codes(y) == np.arange(table.size)[:, None]).astype(float) @ X
    drawn = level_probabilities(fit.beta, X) @ X
    # the prior, with a standard deviation of 25, moves a sum by a few hundredths of a row
    np.testing.assert_allclose(drawn, real, atol=0.15)
    assert 12.0 in table.heaps


def test_cells_meet_between_means_of_five_and_hold_no_record(rng):
    _, y = skewed(rng)
    table = cell_table(coarse_quantiles(y), N)
    alone = y[y != 12]
    assert not np.isin(table.edges, alone).any()
    assert not np.isin(table.knots[1:], alone).any()
    edges = np.concatenate([[-np.inf], table.edges, [np.inf]])
    assert np.histogram(alone, edges)[0].min() >= 10
    moved = np.sort(y)
    place = int(np.searchsorted(moved, table.edges[3]))
    moved[place] += 1e-7  # an edge next to a record tells a fifth of a change in it at most
    assert np.abs(cell_table(coarse_quantiles(moved), N).edges[3] - table.edges[3]) <= 0.2e-7 + 1e-12


def test_cells_of_fewer_than_five_records_are_joined():
    knots = np.array([[0.25] * 4, [0.0, 1, 2, 3], [0.5, 1.5, 2.5, 3.5], [1.0, 2, 3, 4]])
    table = cell_table(knots, 200)
    after, new = joined(table, np.array([50.0, 3.0, 0.0, 147.0]))
    assert after.size == 2
    assert np.bincount(new, [50.0, 3, 0, 147]).tolist() in ([53.0, 147.0], [50.0, 150.0])
    assert after.codes(np.array([0.1, 9.0])).tolist() == [0, 1]


@pytest.mark.parametrize("of", [lambda y: y, np.log, lambda y: y > 15])
def test_regressions_on_every_scale_are_kept(rng, of):
    X, y = skewed(rng, 6000)
    fit = fitted(Cells(), X, y).params
    rows = np.tile(X, (10, 1))
    drawn = Cells().draw(fit, rows, sampler(1))
    real = np.linalg.lstsq(X, of(y).astype(float), rcond=None)
    se = np.sqrt(np.diag(np.linalg.inv(X.T @ X)) * real[1][0] / len(y))
    kept = np.linalg.lstsq(rows, of(drawn).astype(float), rcond=None)[0]
    # ten draws of each row know a slope to a third of its error; one scale only would be off by ten
    assert (np.abs(kept - real[0]) / se).max() < 2


def test_redraws_spread_as_estimates_do(rng):
    X, y = skewed(rng)
    fit = fitted(Cells(), X, y, proper=True).params
    table = of_fit(fit)
    places = (np.arange(50) + 0.5) / 50
    mean = [np.log(placed_values(table, np.full(50, c), places)).mean() for c in range(table.size)]
    solve = np.linalg.pinv(X)
    slopes = []
    for seed in range(200):
        drawn = Cells().redraw(fit, np.random.default_rng(seed))
        slopes.append(solve @ (np.array(mean) @ level_probabilities(drawn.beta, X)))
    rest = np.log(y) - X @ (solve @ np.log(y))
    robust = np.sqrt(np.diag(solve @ np.diag(rest**2) @ solve.T))
    # what is inside cells adds little on this scale; 200 redraws know a spread to a twentieth
    np.testing.assert_allclose(np.std(slopes, axis=0), robust, rtol=0.2)


def test_redraws_pull_no_slope_in(rng):
    n = 500
    X = np.column_stack([np.ones(n), rng.standard_normal((n, 6)), rng.random(n) < 0.4]).astype(float)
    y = X @ np.array([0, 1.5, 0.8, -0.5, 0.3, 0, 0, 0.5]) + 2 * rng.standard_normal(n)
    fit = fitted(Cells(), X, y, proper=True).params
    table, solve = of_fit(fit), np.linalg.pinv(X)
    middle = [
        placed_values(table, np.full(50, c), (np.arange(50) + 0.5) / 50).mean() for c in range(table.size)
    ]

    def slopes(beta):
        return solve @ (np.array(middle) @ level_probabilities(beta, X))

    drawn = [slopes(Cells().redraw(fit, np.random.default_rng(seed)).beta) for seed in range(300)]
    error = 2 * np.sqrt(np.diag(np.linalg.inv(X.T @ X)))
    # 300 redraws know a mean to 0.06 errors; with the intercept alone shifted the first two lose 0.6 and 0.3
    assert (np.abs(np.mean(drawn, axis=0) - slopes(fit.beta)) / error).max() < 0.25


@pytest.mark.filterwarnings("ignore::pysynthdp.base.errors.PysynthdpWarning")  # near functions are told
def test_the_plan_names_the_model_that_was_taken(rng):
    x = rng.standard_normal(N)
    table = pd.DataFrame({"x": x, "twice": 2 * x + 0.3 * rng.standard_normal(N)})
    table["spread"] = np.exp(0.9 * x) * rng.standard_normal(N)
    synthesizer = sdp.Synthesizer(derive="no", progress=False)
    assert synthesizer.plan(table).methods["twice"] == "cells"
    fit = synthesizer.fit(table)
    assert fit.plan.methods == {"x": "sample", "twice": "normrank", "spread": "cells"}
    assert fit.draw(m=1, rng=1).tags.steps[1].model == "normrank"
    named = sdp.Synthesizer(method={"twice": "cells"}, progress=False).fit(table)
    assert named.plan.methods["twice"] == "cells"


def test_redraws_spread_the_mean_inside_cells_too(rng):
    y = np.exp(1.2 * rng.standard_normal(N))
    fit = fitted(Cells(), None, y, proper=True).params
    means = []
    for seed in range(200):
        drawn = Cells().redraw(fit, np.random.default_rng(seed))
        means.append(Cells().draw(drawn, np.ones((4000, 1)), EvenSampler()).mean())
    # 200 redraws know a spread to a twentieth; with cells fixed inside it is four fifths of it
    assert np.std(means) == pytest.approx(np.std(y) / np.sqrt(N), rel=0.15)


def test_places_lean_as_the_features_say_and_keep_the_cell(rng):
    x = rng.standard_normal(20_000)
    y = x + 0.5 * rng.standard_normal(x.size)
    X = np.column_stack([np.ones(x.size), x])
    fit = fitted(Cells(), X[:1000], y[:1000]).params
    shares = level_probabilities(fit.beta, X).T
    cells, places = level_and_place(shares, rng.random(x.size))
    moved = tilted(of_fit(fit), cells, places, shares)
    assert ((moved >= 0) & (moved <= 1)).all()
    inside = cells == 6
    # 20,000 rows, some 1,300 in a cell: a mean is known to .008, a correlation to .03; without it that is 0
    assert moved[inside].mean() == pytest.approx(0.5, abs=0.04)
    assert np.corrcoef(moved[inside], x[inside])[0, 1] > 0.09


class EvenSampler:
    """Places on an even grid, so that a mean has no noise of its own."""

    def placed(self, probabilities):
        """Read a grid as levels and places."""
        return level_and_place(probabilities, (np.arange(len(probabilities)) + 0.5) / len(probabilities))


def passes(found, every: int) -> list[RowSum]:
    """What every s-th row was asked to add."""
    return [query for query in found.asked if isinstance(query, RowSum) and query.every == every]


@pytest.mark.parametrize("rival", [True, False])
def test_on_a_long_table_a_sample_decides_and_all_rows_fit_the_model_taken(rng, monkeypatch, rival):
    monkeypatch.setattr(newton, "LONG", 2_000)
    monkeypatch.setattr(newton, "SAMPLE", 1_000)
    X, y = skewed(rng, 6_000)
    y = X @ [0.0, 1.0, 1.0] + 0.7 * rng.standard_normal(6_000) if rival else y
    found = fitted(Cells(by_evidence=True), X, y)
    assert isinstance(found.params, NormRankFit if rival else CellsFit)
    alone = fitted(Cells(), X, y)
    of_all = len(passes(found, 1))
    if rival:
        assert of_all == 1  # the sums by cell, and no gradient
    else:
        assert of_all == len(passes(alone, 1))
        np.testing.assert_array_equal(found.params.beta, alone.params.beta)
