"""An audit of noise in the answers through the public fit, on the neighbours that are worst for it.

Exact: both tables are taken through ``fit`` with the same noisy answers coming back, and what they would have
been asked to hide is compared question by question. Given its past each noisy answer is a Gaussian around its
exact one, so sum |gap|^2/(2 scale^2) is the zCDP loss of that run: in whole numbers it may never exceed the
budget, and on the worst neighbours nearly uses it up. Statistical: released copies, made with OpenDP's noise,
are told apart no better than the budget says.

Each planted bug is found by a test that names it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import pysynthdp.protection.noise.fitting
from pysynthdp import CategoricalColumn, NumericColumn, PrivacyUnit, Schema, Synthesizer, Units
from pysynthdp.curator.noised.rows import NoisedRows
from pysynthdp.curator.table import split_rows
from pysynthdp.design.unit_keys import places_in_unit
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.noise import moment_scales
from pysynthdp.protection.noise.by_noise import ByNoise

pytestmark = pytest.mark.statistical
RUNS = int(os.environ.get("AUDIT_RUNS", "20000")) // 200
RHO, N = 2.0, 400
Answers = list[np.ndarray]
Bug = Callable[[pytest.MonkeyPatch], None]


class Answered(Exception):  # noqa: N818  # not an error: the answers are all that is audited
    """All questions have been answered."""


def number(name: str) -> NumericColumn:
    return NumericColumn(name, lower=-40, upper=40, may_be_missing=False, fallback=0)


def levels(name: str) -> CategoricalColumn:
    return CategoricalColumn(name, [0, 1, 2], other=0, may_be_missing=False, dtype="int64")


ONE = Schema([levels("a")])
LEVELS = Schema([levels(name) for name in "abc"])
NUMBERS = Schema([number(name) for name in "xy"])
MIXED = Schema([*LEVELS, *NUMBERS])
ROWS = {"a": (0, 1), "b": (0, 2), "c": (0, 1), "x": (40.0, 0.0), "y": (0.0, 40.0)}  # orthogonal, out of reach
SHAPES = {"x": "normrank", "y": "normrank"}


def settings(schema: Schema, relation: str = "replace_one", **more: Any) -> Synthesizer:
    hints = {name: (0.0, 1.0) for name in schema.names if name in "xy"}
    asked = ByNoise(ZCDP(RHO), hints=hints, unit=PrivacyUnit(relation))
    return Synthesizer(schema=schema, guarantee=asked, progress=False, **more)


def worst_neighbours(schema: Schema, relation: str = "replace_one") -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables that differ in one row; numbers of the others are normal."""
    rng = np.random.default_rng(4)
    common = {
        name: rng.standard_normal(N) if name in "xy" else rng.integers(0, 3, N) for name in schema.names
    }
    first, second = pd.DataFrame(common), pd.DataFrame(common)
    first.loc[0] = [ROWS[name][0] for name in schema.names]
    if relation == "add_remove":
        return first, first.drop(index=0)
    second.loc[0] = [ROWS[name][1] for name in schema.names]
    return first.astype(second.dtypes), second


def questioned(
    synthesizer: Synthesizer, table: pd.DataFrame, given: Answers | None, seed: int, patch: pytest.MonkeyPatch
) -> tuple[list[list[int]], list[int], Answers]:
    """Exact answers, scales, and what came back: the given answers, or noised ones."""
    exact, scales, back = [], [], []
    rng = np.random.default_rng(seed)

    def noise(values: np.ndarray, scale: float) -> np.ndarray:
        exact.append(values.tolist())
        scales.append(int(scale))
        fresh = values + np.rint(scale * rng.standard_normal(values.size)).astype(np.int64)
        back.append(fresh if given is None else given[len(back)])
        return back[-1]

    def stop(*_: Any) -> None:
        raise Answered

    with patch.context() as here:
        here.setattr(pysynthdp.protection.noise.fitting, "add_discrete_gaussian", noise)
        here.setattr(pysynthdp.protection.noise.fitting, "moment_state", stop)
        with pytest.raises(Answered):
            synthesizer.fit(table)
    return exact, scales, back


def losses(
    synthesizer: Synthesizer, tables: tuple[pd.DataFrame, pd.DataFrame], seed: int, patch: pytest.MonkeyPatch
) -> list[Fraction]:
    """Loss of each question of one run, in whole numbers."""
    first, scales, back = questioned(synthesizer, tables[0], None, seed, patch)
    second, again, _ = questioned(synthesizer, tables[1], back, seed, patch)
    assert scales == again  # the scales are public
    gaps = [sum((a - b) ** 2 for a, b in zip(*both, strict=True)) for both in zip(first, second, strict=True)]
    return [Fraction(gap, 2 * scale**2) for gap, scale in zip(gaps, scales, strict=True)]


SYSTEMS = [
    pytest.param(ONE, {}, 0.99, id="one column of levels"),
    pytest.param(LEVELS, {}, 0.99, id="levels"),
    pytest.param(NUMBERS, {}, 0.90, id="numbers"),
    pytest.param(MIXED, {}, 0.90, id="mixed"),
    pytest.param(MIXED, {"method": SHAPES}, 0.85, id="shapes"),
]


@pytest.mark.parametrize(("schema", "more", "least"), SYSTEMS)
@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_no_run_loses_more_than_the_budget_and_the_worst_neighbours_nearly_lose_it(
    schema, more, least, relation, monkeypatch
):
    tables = worst_neighbours(schema, relation)
    totals = [sum(losses(settings(schema, relation, **more), tables, seed, monkeypatch)) for seed in range(8)]
    assert max(totals) <= Fraction(RHO)
    assert max(totals) >= Fraction(RHO) * Fraction(least)


def test_no_neighbours_of_random_tables_lose_more(monkeypatch):
    rng = np.random.default_rng(7)
    for seed in range(30):
        first = pd.DataFrame(
            {name: rng.standard_normal(50) * 10.0 ** rng.integers(-2, 3) for name in "xy"}
        ).assign(a=rng.integers(0, 4, 50), b=rng.integers(0, 2, 50), c=0)[list(MIXED.names)]
        second = first.copy()
        at = rng.integers(50)
        second.loc[at] = [*rng.integers(0, 4, 3), *(rng.standard_normal(2) * 100)]
        second = second.astype(first.dtypes)
        total = sum(losses(settings(MIXED, method=SHAPES), (first, second), seed, monkeypatch))
        assert total <= Fraction(RHO)


HOUSEHOLDS = Schema([levels("shared"), levels("a"), number("x")])
UNITS = Units(
    id="hid", member="line", max_size=3, larger="truncate", order="line asc", shared=["shared"], size="size"
)


def household(rows: int, *, other: bool) -> pd.DataFrame:
    """Give one household whose rows are as far as can be from those of the other kind."""
    cells = {"hid": 0, "shared": int(other), "a": int(other), "x": 40.0 if other else 0.0}
    return pd.DataFrame([{**cells, "line": line + 1} for line in range(rows)])


def homes(first: pd.DataFrame) -> pd.DataFrame:
    """Give a table of households, of which one is given."""
    rng = np.random.default_rng(4)
    house = np.repeat(np.arange(1, 200), 2)
    rest = pd.DataFrame({"hid": house, "shared": rng.integers(0, 3, 199)[house - 1]})
    rest["a"], rest["x"] = rng.integers(0, 3, len(rest)), rng.standard_normal(len(rest))
    rest["line"] = np.tile([1, 2], 199)
    return pd.concat([first, rest], ignore_index=True)


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_no_household_loses_more_than_the_budget_whatever_its_size(relation, monkeypatch):
    asked = ByNoise(ZCDP(RHO), hints={"x": (0.0, 1.0)}, unit=PrivacyUnit(relation, name="household"))
    synthesizer = Synthesizer(schema=HOUSEHOLDS, units=UNITS, guarantee=asked, progress=False)
    large = homes(household(3, other=False))
    others = [homes(household(rows, other=True)) for rows in (1, 3, 40)]
    if relation == "add_remove":
        others = [large[large.hid != 0].reset_index(drop=True)]
    totals = [
        sum(losses(synthesizer, (large, other), seed, monkeypatch)) for other in others for seed in range(4)
    ]
    assert max(totals) <= Fraction(RHO)
    least = Fraction("0.6") if relation == "replace_one" else Fraction("0.3")  # rows of one household differ
    assert max(totals) >= Fraction(RHO) * least  # in their places, so that their products do not all add up


def test_an_uncounted_further_row_is_found(monkeypatch):
    """Breaks the price: as if a household had one further row."""
    real = pysynthdp.protection.noise.fitting.tables_of

    def wrong(plan, noise):
        first, further = real(plan, noise)
        return first, replace(further, rho=further.rho * further.rows**2)

    monkeypatch.setattr(pysynthdp.protection.noise.fitting, "tables_of", wrong)
    with pytest.raises(AssertionError):
        test_no_household_loses_more_than_the_budget_whatever_its_size("replace_one", monkeypatch)


def outside_and_inside() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables that differ in one row: every cell of it lies outside what is declared, or none does."""
    first, second = worst_neighbours(MIXED)
    first.loc[0] = [9, 9, 9, 1e9, -1e9]
    second.loc[0] = [0, 0, 0, 0.0, 0.0]
    return first.astype(second.dtypes), second


@pytest.mark.parametrize("bug", [None, "every_cell_counts"])
def test_a_row_counts_once_however_many_of_its_cells_were_clamped_or_replaced(bug, monkeypatch):
    if bug is not None:
        _count_cells(monkeypatch)
    found = losses(settings(MIXED), outside_and_inside(), 1, monkeypatch)
    allowed = Fraction(RHO) * Fraction(2, 100)  # of rho, which that count may lose
    assert (found[-1] > allowed) == (bug is not None)
    assert (sum(found) > Fraction(RHO)) == (bug is not None)
    assert found[-1] > allowed * Fraction(99, 100)  # and the worst neighbours nearly lose it


def _count_cells(patch: pytest.MonkeyPatch) -> None:
    """Plant a count of cells in place of rows."""
    real = NoisedRows.sums

    def sums(self: NoisedRows, asked: Any) -> tuple[np.ndarray, int]:
        packed, rows = real(self, asked)
        outside = sum(int((np.abs(self.table.parts[name, "value"]) == 40).sum()) for name in "xy")
        return packed, rows + 20 * outside

    patch.setattr(NoisedRows, "sums", sums)


def half_sensitivity(patch: pytest.MonkeyPatch) -> None:
    real = moment_scales.gram_square
    patch.setattr("pysynthdp.privacy.noise.moment_budget.gram_square", lambda *given: real(*given) / 4)


def half_sensitivity_of_histograms(patch: pytest.MonkeyPatch) -> None:
    real = moment_scales.histogram_square
    patch.setattr("pysynthdp.privacy.noise.moment_budget.histogram_square", lambda *given: real(*given) / 4)


def no_factor_on_the_diagonal(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("pysynthdp.curator.noised.integers.DIAGONAL", moment_scales.OFF_DIAGONAL)


def scales_from_the_data(patch: pytest.MonkeyPatch) -> None:
    real = NoisedRows._block

    def block(self: NoisedRows, rows: slice, *more: object) -> tuple[list[np.ndarray], np.ndarray]:
        codes, numbers = real(self, rows, *more)
        return codes, numbers / numbers.std(axis=1, keepdims=True)

    patch.setattr(NoisedRows, "_block", block)


def no_clip_and_no_bound(patch: pytest.MonkeyPatch) -> None:
    def unclipped(block: np.ndarray, _: float) -> tuple[np.ndarray, np.ndarray]:
        return block, np.zeros(block.shape[1], dtype=bool)

    patch.setattr("pysynthdp.curator.noised.integers.clip_radially", unclipped)
    patch.setattr("pysynthdp.curator.noised.integers._keep_within", lambda *_: None)


def rho_spent_on_every_stage(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("pysynthdp.privacy.noise.moment_budget._scale_for", lambda square, _: scale(square))


def scale(square: Fraction) -> int:
    """Smallest scale that keeps one question alone within the whole budget."""
    return moment_scales.scale_for(square, RHO)


BUGS: list[tuple[Bug, Schema, dict[str, Any]]] = [
    (half_sensitivity, LEVELS, {}),
    (half_sensitivity_of_histograms, NUMBERS, {"method": SHAPES}),
    (no_factor_on_the_diagonal, ONE, {}),
    (scales_from_the_data, NUMBERS, {}),
    (no_clip_and_no_bound, NUMBERS, {}),
    (rho_spent_on_every_stage, NUMBERS, {}),
]


@pytest.mark.parametrize(("bug", "schema", "more"), BUGS, ids=[bug.__name__ for bug, _, _ in BUGS])
def test_a_planted_bug_is_found_out(bug, schema, more, monkeypatch):
    tables = worst_neighbours(schema)
    bug(monkeypatch)
    found = [losses(settings(schema, **more), tables, seed, monkeypatch) for seed in range(4)]
    shares = {"half_sensitivity_of_histograms": Fraction(1, 10)}  # of rho, which that question may lose
    allowed = Fraction(RHO) * shares.get(bug.__name__, 1)
    totals = [each[-1] if bug.__name__ in shares else sum(each) for each in found]
    assert max(totals) > allowed * Fraction(11, 10)


LIMIT = 3
MOST = Fraction(RHO * 400)  # the noise of so small a table would swamp it otherwise
Tables = tuple[pd.DataFrame, pd.DataFrame]


def households(schema: Schema, relation: str, rows: int, others: int = 60) -> Tables:
    """Tables that differ in one household, all its rows as bad as can be; it stands among the others."""
    rng = np.random.default_rng(rows)
    near, far = worst_neighbours(schema)
    first = near.iloc[1 : 1 + others].assign(hid=rng.integers(0, others // 4, others))
    own, other = (pd.concat([each.iloc[:1]] * rows).assign(hid=999) for each in (near, far))
    order = rng.permutation(others + rows)
    one, two = (pd.concat([first, each]).iloc[order].reset_index(drop=True) for each in (own, other))
    return one, two if relation == "replace_one" else one[one.hid != 999].reset_index(drop=True)


def keyed(relation: str, **more: Any) -> Synthesizer:
    unit = PrivacyUnit(relation, rows_per_unit=LIMIT, name="household", key="hid")
    hints = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
    asked = ByNoise(ZCDP(float(MOST)), hints=hints, unit=unit)
    return Synthesizer(schema=MIXED, guarantee=asked, progress=False, **more)


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("more", [{}, {"method": SHAPES}], ids=["plain", "shapes"])
def test_a_household_of_any_size_loses_no_more_than_the_budget(relation, more, monkeypatch):
    found = {
        rows: sum(losses(keyed(relation, **more), households(MIXED, relation, rows), rows, monkeypatch))
        for rows in range(1, 10)
    }
    assert max(found.values()) <= MOST
    assert max(found.values()) >= MOST * Fraction(8, 10)  # the limit is all but used up
    assert found[1] * 4 < found[LIMIT]  # and a smaller household loses less: by the square of its rows


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_random_households_lose_no_more(relation, monkeypatch):
    rng = np.random.default_rng(11)
    for seed in range(12):
        tables = [each.astype(object) for each in households(MIXED, relation, int(rng.integers(1, 10)))]
        for table in tables:
            for row in np.flatnonzero(table.hid == 999):
                table.loc[row, ["x", "y"]] = (rng.standard_normal(2) * 10.0 ** rng.integers(-1, 3)).tolist()
                table.loc[row, list("abc")] = rng.integers(0, 4, 3).tolist()
        assert sum(losses(keyed(relation), (tables[0], tables[1]), seed, monkeypatch)) <= MOST


UNBOUNDED: dict[str, tuple[str, Any]] = {
    "not_enforced": (
        "pysynthdp.protection.noise.held.bounded_rows",
        lambda rows, schema, _: split_rows(rows, schema, tolerant=True),
    ),
    "one_more": ("pysynthdp.curator.contributions.places_in_unit", lambda codes: places_in_unit(codes) - 1),
    "each_row_a_unit": ("pysynthdp.curator.contributions.unit_codes", lambda keys: np.arange(len(keys))),
}


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("bug", UNBOUNDED)
def test_a_bound_that_is_not_enforced_is_found_out(bug, relation, monkeypatch):
    monkeypatch.setattr(*UNBOUNDED[bug])
    total = sum(losses(keyed(relation), households(MIXED, relation, 9), 1, monkeypatch))
    assert total > MOST * Fraction(13, 10)


def noises(synthesizer: Synthesizer, table: pd.DataFrame, runs: int, patch: pytest.MonkeyPatch) -> np.ndarray:
    """Standardised noise of every question of some runs, one row a run."""
    found, real = [], pysynthdp.protection.noise.fitting.add_discrete_gaussian

    def watched(values: np.ndarray, scale: float) -> np.ndarray:
        noised = real(values, scale)
        found.append((noised - values) / scale)
        return noised

    with patch.context() as here:
        here.setattr(pysynthdp.protection.noise.fitting, "add_discrete_gaussian", watched)
        here.setattr(
            pysynthdp.protection.noise.fitting, "moment_state", lambda *_: (_ for _ in ()).throw(Answered)
        )
        for _ in range(runs):
            with pytest.raises(Answered):
                synthesizer.fit(table)
    return np.concatenate(found).reshape(runs, -1)


@pytest.mark.parametrize("bug", [None, "noise_reused_in_the_next_question", "noise_reused_in_the_next_fit"])
def test_noise_is_never_used_twice(bug, monkeypatch):
    table = worst_neighbours(NUMBERS)[0]
    if bug is not None:
        _reuse(bug, monkeypatch)
    z = noises(settings(NUMBERS), table, 60, monkeypatch)
    first, second = z[:, :6], z[:, 6:12]  # both stages of two numbers ask for six products
    within = abs(float((first * second).mean())) * np.sqrt(first.size)
    between = abs(float((z[::2] * z[1::2]).mean())) * np.sqrt(z.size / 2)
    limit = stats.norm.isf(1e-10)  # false alarm 4e-10; noise used again gives about sqrt(360) or more
    assert (within > limit) == (bug == "noise_reused_in_the_next_question")
    assert (between > limit) == (bug == "noise_reused_in_the_next_fit")


def _reuse(bug: str, patch: pytest.MonkeyPatch) -> None:
    """Plant noise that comes back."""
    rng = np.random.default_rng(1)
    kept: list[np.ndarray] = []

    def reused(values: np.ndarray, scale: float) -> np.ndarray:
        place = len(kept)
        if bug == "noise_reused_in_the_next_question":
            again = place % 3 == 1
            z = kept[-1] if again else rng.standard_normal(values.size)
        else:
            z = kept[place - 3] if place % 6 >= 3 else rng.standard_normal(values.size)
        kept.append(z)
        return values + np.rint(scale * z).astype(np.int64)

    patch.setattr(pysynthdp.protection.noise.fitting, "add_discrete_gaussian", reused)


def shares_of_a_level(table: pd.DataFrame, rho: float) -> np.ndarray:
    """What a release says about one level, over many releases; copies are long, so drawing adds little."""
    synthesizer = Synthesizer(schema=Schema([levels("a")]), guarantee=ZCDP(rho), progress=False)
    found = []
    for _ in range(RUNS):
        release = synthesizer.fit(table).draw(m=4, k=100_000, parameters="fitted")
        counts = np.array([[(copy["a"] == level).mean() for level in (0, 1)] for copy in release.copies])
        found.append(counts.mean(axis=0) @ [1.0, -1.0] * len(table))
    return np.array(found)


@pytest.mark.parametrize("bug", [None, half_sensitivity], ids=["honest", "half_sensitivity"])
def test_released_copies_are_told_apart_no_better_than_the_budget_says(bug, monkeypatch):
    # counts of three levels: the change of one row is as long as the sensitivity allows, and shows in full
    rho, n = 8.0, 90
    table = pd.DataFrame({"a": np.arange(n) % 3})
    other = table.copy()
    other.loc[0, "a"] = 1
    if bug is not None:
        bug(monkeypatch)
    near, far = (shares_of_a_level(each, rho) for each in (table, other))
    spread = np.sqrt((near.var(ddof=1) + far.var(ddof=1)) / 2)
    told = abs(near.mean() - far.mean()) / spread
    bound = np.sqrt(2 * rho)
    # error of a standardised difference of two means of RUNS values each; false alarm 1e-9
    error = np.sqrt(2 / RUNS + bound**2 / (4 * RUNS))
    most = bound + stats.norm.isf(1e-9) * error
    assert (told > most) == (bug is half_sensitivity)
    if bug is None:
        assert told > bound - stats.norm.isf(1e-9) * error  # and the audit sees what there is to see
