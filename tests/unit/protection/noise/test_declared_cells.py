"""A number in declared cells under noise: what is refused, asked, priced, drawn and said."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import FitError, PlanError, PrivacyError
from pysynthdp.design.cells import cell_codes, cell_ends, cell_names, whole_edges
from pysynthdp.design.parts import settle
from pysynthdp.io.plans.plan_file import read_plan, write_plan
from pysynthdp.models import Cells
from pysynthdp.models.fits.cell_table import CellTable, leaning, placed_values

_SPEC = importlib.util.spec_from_file_location("neighbours", Path(__file__).parents[3] / "neighbours.py")
shared = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = shared
_SPEC.loader.exec_module(shared)
N = 2_000
EDGES = (0, 0, 750, 1_000, 1_250, 1_500, 2_000, 3_000)
INCOME = {"lower": 0, "upper": 6_000, "decimals": 0, "fallback": 1_000, "may_be_missing": False}


def schema(**changes: object) -> sdp.Schema:
    """Sex, an income and hours."""
    return sdp.Schema(
        [
            sdp.CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False),
            sdp.NumericColumn("income", **INCOME | changes),
            sdp.NumericColumn("hours", lower=0, upper=80, fallback=30, may_be_missing=False),
        ]
    )


def table(n: int = N, seed: int = 1) -> pd.DataFrame:
    """An income with a heap at nought that depends on sex, and hours that depend on both."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    income = np.exp(7 + 0.3 * (sex == "M") + rng.normal(0, 0.4, n)).round().clip(1, 6_000)
    income[rng.random(n) < 0.15] = 0
    hours = (20 + 0.006 * income + rng.normal(0, 6, n)).clip(0, 80)
    return pd.DataFrame({"sex": sex, "income": income, "hours": hours})


def settings(rho: float = 1.0, **changes: object) -> sdp.Synthesizer:
    """Income in declared cells."""
    asked = {"schema": schema(), "method": {"income": Cells(edges=EDGES)}, "guarantee": sdp.ZCDP(rho)}
    return sdp.Synthesizer(**asked | {"progress": False} | changes)


def test_an_edge_given_twice_is_a_cell_and_a_cell_has_its_upper_edge():
    edges = whole_edges(EDGES, schema()["income"])
    assert edges == (0, 0, 750, 1_000, 1_250, 1_500, 2_000, 3_000, 6_000)
    assert cell_names(edges)[:3] == ("0", "0 to 750", "750 to 1000")
    assert cell_codes(edges, np.array([0, 1, 750, 751, 3_000, 3_001, 6_000])).tolist() == [
        0,
        1,
        1,
        2,
        6,
        7,
        7,
    ]
    inside = (10.0, 20.0, 20.0, 30.0)
    assert cell_codes(inside, np.array([10, 19.5, 20, 20.5, 30])).tolist() == [0, 0, 1, 2, 2]
    assert cell_codes((10.0, 30.0, 30.0), np.array([10, 30, 29.9])).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("grid", "edges"),
    [
        ({"decimals": 0}, (0, 0, 3, 7, 10)),
        ({"decimals": 0}, (0, 3, 3, 10)),
        ({"decimals": 1}, (0, 0.45, 7.0, 10)),
        ({"step": 2.5}, (0, 5, 10)),
        ({"step": 3, "offset": 1}, (0, 4, 10)),
    ],
    ids=str,
)
def test_every_value_of_a_cell_is_equally_likely_and_no_other_is_drawn(grid, edges):
    column = sdp.NumericColumn("x", lower=0, upper=10, **grid)
    step, offset = grid.get("step", 10.0 ** -grid.get("decimals", 0)), grid.get("offset", 0)
    values = np.round(np.arange(offset, 10 + step / 2, step), 9)
    codes = cell_codes(edges, values)
    for cell, (low, high) in enumerate(cell_ends(edges, column)):
        places = (np.arange(20_000) + 0.5) / 20_000
        drawn = settle(low + (high - low) * places, column)
        found, counts = np.unique(np.round(drawn, 9), return_counts=True)
        assert found.tolist() == values[codes == cell].tolist()
        assert counts.max() - counts.min() <= 2


@pytest.mark.parametrize(
    ("edges", "what"),
    [
        ((500, 300), "must rise"),
        ((), "must rise"),
        ((500, 500, 500), "twice at most"),
        ((500, 9_000), "beyond the declared bounds"),
        ((500.2, 500.6), "no value"),
        ("500", "finite numbers"),
        ((500, np.inf), "finite numbers"),
    ],
)
def test_edges_that_make_no_cells_are_refused(edges, what):
    with pytest.raises(PlanError, match=what):
        settings(method={"income": Cells(edges=edges)}).plan()


def test_cells_without_edges_are_refused_under_noise_with_both_ways_out():
    with pytest.raises(PrivacyError, match="income") as told:
        settings(method={"income": "cells"}).plan()
    assert "declare edges" in str(told.value)
    assert "normrank" in str(told.value)


@pytest.mark.parametrize(
    "absent", [{"may_be_missing": True}, {"missing": {-8: "no"}}, {"spikes": [0]}], ids=str
)
def test_a_number_that_may_be_absent_is_refused_in_cells(absent):
    with pytest.raises(PrivacyError, match="income: declared cells take numbers that are always there"):
        settings(schema=schema(**absent)).plan()


def test_cells_with_edges_are_refused_by_sampling_and_without_a_guarantee():
    alone = sdp.Schema([schema()["income"]])
    with pytest.raises(PrivacyError, match="income: method 'cells' has no guarantee by sampling"):
        settings(guarantee=sdp.BySampling(), schema=alone).plan()
    with pytest.raises(FitError, match="income: declared edges of cells are for noise"):
        settings(guarantee=None).fit(table())


def test_the_price_is_that_of_a_categorical_column_in_the_place_of_the_number():
    levels = sdp.CategoricalColumn("income", list("abcdefgh"), other="a", may_be_missing=False)
    columns = [levels if column.name == "income" else column for column in schema()]
    plain = sdp.Synthesizer(schema=sdp.Schema(columns), guarantee=sdp.ZCDP(1.0), progress=False).plan()
    got, wanted = settings().plan().price(n=N), plain.price(n=N)
    assert got.questions == wanted.questions
    assert got.guarantee == wanted.guarantee
    # R^2 of a row: one for each of two blocks, and the numeric block's weight times its radius
    final = got.questions[-2]
    assert final.row_bound >= 2 * 4**12
    row = 2 + final.alpha**2 * final.radius**2
    assert final.row_bound / 4**12 == pytest.approx(row, rel=1e-3)


def test_what_is_asked_moves_by_the_declared_sensitivity_at_most(monkeypatch):
    usual, asked = table(300), settings(rho=2.0)
    most = Fraction(0)
    for income in (0, 1, 750, 751, 1_400, 6_000, 1e9, np.nan, "x"):
        other = usual.astype({"income": object})
        other.loc[7, ["sex", "income", "hours"]] = ["M" if usual.sex[7] == "F" else "F", income, 80.0]
        with shared.watched(monkeypatch) as one, warnings.catch_warnings():
            warnings.simplefilter("error")
            first = asked.fit(usual).draw(2, rng=1)
        with shared.watched(monkeypatch, one) as two, warnings.catch_warnings():
            warnings.simplefilter("error")
            second = asked.fit(other).draw(2, rng=1)
        lost = shared.loss(one, two)
        assert 0 < lost <= Fraction(2)
        assert shared.changed_rows(one, two) == {7}
        assert all(left.equals(right) for left, right in zip(first, second, strict=True))
        assert first.tags == second.tags
        assert str(first.privacy) == str(second.privacy)
        most = max(most, lost)
    assert most > 1  # a row with no cell in common moves both blocks


def test_copies_hold_the_cells_the_heap_the_grid_and_the_slopes():
    real = table(8_000)
    own = (0, 0, *range(500, 2_750, 250), 3_000, 3_500, 4_000)
    release = settings(rho=200.0, method={"income": Cells(edges=own)}).fit(real).draw(10, rng=1)
    assert not [flag for flag in release.tags.details["flags"] if flag.startswith(("sparse", "wide"))]
    both = pd.concat(release.copies)
    edges = whole_edges(own, schema()["income"])
    assert (both.income == both.income.round()).all()
    assert both.income.between(0, 6_000).all()
    for sex in ("F", "M"):
        shares = [
            np.bincount(cell_codes(edges, frame.income[frame.sex == sex].to_numpy(float)), minlength=16)
            / (frame.sex == sex).sum()
            for frame in (both, real)
        ]
        assert np.abs(shares[0] - shares[1]).max() < 0.015
    gap = [frame.groupby("sex").income.mean().diff().iloc[-1] for frame in (both, real)]
    assert gap[0] == pytest.approx(gap[1], abs=45)
    slope = [np.polyfit(frame.income, frame.hours, 1)[0] for frame in (both, real)]
    assert slope[0] == pytest.approx(slope[1], rel=0.05)


def test_the_release_says_what_it_holds():
    fitted = settings().fit(table())
    release = fitted.draw(10, rng=1)
    assert "edges of cells of income: 0, 0, 750, 1000" in " ".join(str(release.privacy).split())
    assert "edges were declared" in release.tags.details["column_notes"]["income"]
    step = next(step for step in release.tags.steps if step.columns == ("income",))
    assert (step.draws, step.model, step.keeps_shape) == ("number", "cells", True)
    told = " ".join(release.tags.details["flags"])
    assert "sparse" not in told
    assert (
        "of the variance of income lies inside its declared cells" in told
    )  # nothing between 3,000 and 6,000
    narrow = settings(rho=0.1, method={"income": Cells(edges=(*EDGES, 5_000))}).fit(table()).draw(10, rng=1)
    assert any("sparse cells: income" in flag for flag in narrow.tags.details["flags"])


def test_a_fit_in_cells_is_saved_loaded_and_planned_from_a_file(tmp_path):
    fitted = settings().fit(table(), answers=tmp_path / "answers.json")
    fitted.save(tmp_path / "fit")
    again = sdp.FittedSynthesizer.load(tmp_path / "fit")
    assert again.draw(1, rng=3)[0].equals(fitted.draw(1, rng=3)[0])
    other = settings(method={"income": Cells(edges=EDGES[:-1])})
    with pytest.raises(PrivacyError, match="another plan"):
        other.fit(table(), answers=tmp_path / "answers.json")
    text = (
        'guarantee = {name = "zcdp", rho = 1.0}\n[method]\nincome = {name = "cells", edges = [0, 0, 750]}\n'
    )
    (tmp_path / "plan.toml").write_text(text)
    read = sdp.Synthesizer(schema=schema(), **read_plan(tmp_path / "plan.toml"))
    assert read.plan().steps[1].targets[0].edges == (0, 0, 750, 6_000)
    asked = {"method": {"income": Cells(edges=(0, 750))}}
    write_plan(asked, tmp_path / "again.toml")
    assert read_plan(tmp_path / "again.toml")["method"] == {"income": Cells(edges=(0, 750))}


def test_densities_lean_to_the_cells_beside_them():
    # a straight density from nought to one, cut into ten cells: kept but at its ends
    ends = np.linspace(0, 1, 11)
    knots, cell = leaning(np.diff(ends**2), ends[:-1], ends[1:])
    means = [np.average(knots[2, cell == at], weights=knots[0, cell == at]) for at in range(1, 9)]
    exact = [2 / 3 * (b**3 - a**3) / (b**2 - a**2) for a, b in pairwise(ends[1:10])]
    assert means == pytest.approx(exact, abs=2e-4)
    # a heap between two cells is nobody's neighbour, and an even density stays even
    low, high = np.array([0.0, 1.0, 1.0]), np.array([1.0, 1.0, 2.0])
    knots, cell = leaning(np.array([0.25, 0.5, 0.25]), low, high)
    assert knots[0].reshape(3, -1).std(axis=1) == pytest.approx(0)
    none = np.zeros(0)
    kept = CellTable(knots, cell, none, none.astype(int), none, np.zeros(1, dtype=int))
    drawn = placed_values(kept, np.array([0, 1, 2]), np.array([0.5, 0.5, 0.25]))
    assert drawn == pytest.approx([0.5, 1.0, 1.25])
