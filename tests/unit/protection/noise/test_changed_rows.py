"""Rows with a clamped or replaced cell are counted with noise, once each, and flagged by estimand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import pysynthdp
from pysynthdp import BySampling, CategoricalColumn, NumericColumn, Schema, Synthesizer, SyntheticRelease
from pysynthdp.curator.rows import rows_of
from pysynthdp.curator.table import split_rows
from pysynthdp.design.coerce import coerce
from pysynthdp.models import Dirichlet
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.noise.moment_scales import COUNT_UNIT
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.protection.noise.by_noise import ByNoise
from pysynthdp.protection.noise.moments.health import SURE, least_clipped

N = 2_000
AGE = NumericColumn("age", lower=0, upper=100, may_be_missing=False, fallback=50)
PAY = NumericColumn("pay", lower=0, upper=10, missing={-8: "not asked", 99: "refused"}, spikes=[0, 77])
DAY = NumericColumn("day", lower=0, upper=20_000, unit="day", may_be_missing=False, fallback=9)
SEX = CategoricalColumn("sex", ["f", "m"], other="f", may_be_missing=False)
WAVE = CategoricalColumn("wave", [1, 2], other=1, missing={-1: "refused"})
CELLS = [
    (AGE, [0, 100, 50.5], [-0.1, 100.1, np.inf, -np.inf, np.nan, 1e300]),
    (AGE, ["7", True, 3 + 0j], ["x", None, "", [3], 10**400, "nan", "-1", 2j, pd.NaT]),
    (PAY, [-8, 99, 0, 77, 10, np.nan, None, "x"], [-7, 98, 10.5, np.inf]),
    (DAY, [pd.Timestamp("1990-01-01"), 86_400 // 10], [pd.Timestamp("1950-01-01"), 86_400, pd.NaT, "soon"]),
    (SEX, ["f", "m"], ["F", "", None, np.nan, 1, ["f"]]),
    (WAVE, [1, "2", 2.0, -1, None, np.nan], [3, "x", 1.5, ["x"]]),
]


@pytest.mark.parametrize(("column", "kept", "changed"), CELLS)
def test_each_cell_is_counted_by_itself(column, kept, changed):
    cells = [*kept, *changed]
    together = coerce(pd.Series(cells, dtype=object), column)[1]
    assert together.tolist() == [False] * len(kept) + [True] * len(changed)
    alone = [coerce(pd.Series([cell], dtype=object), column)[1].tolist() for cell in cells]
    assert alone == [[flag] for flag in together]


@pytest.mark.parametrize("dtype", ["float64", "float32", "Int64", "double[pyarrow]", "str", "category"])
def test_the_type_of_a_column_does_not_change_who_is_counted(dtype):
    cells = pd.Series([-1, 0, 50, 100, 101, 250]).astype(dtype)
    assert coerce(cells, AGE)[1].tolist() == [True, False, False, False, True, True]
    assert coerce(cells, WAVE)[1].tolist() == [False] + [True] * 5  # -1 is a code of its own


def people(n: int = N, seed: int = 0) -> pd.DataFrame:
    """Incomes of which about a fifth lie above 50, as in the trial that found the fault."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    income = np.exp(10 + 0.3 * x + 0.7 * rng.standard_normal(n)) / 1_000
    return pd.DataFrame({"sex": rng.choice(["f", "m"], n), "x": x, "income": income})


def declared(upper: float = 50.0) -> Schema:
    return Schema(
        [
            SEX,
            NumericColumn("x", lower=-6, upper=6, may_be_missing=False, fallback=0),
            NumericColumn("income", lower=0, upper=upper, may_be_missing=False, fallback=20),
        ]
    )


def settings(upper: float = 50.0, rho: float = 0.5, **more: object) -> Synthesizer:
    hints = {"x": (0, 1.2), "income": (25, 15) if upper == 50.0 else (30, 40)}
    own = {name: more.pop(name) for name in ("hints", "fresh", "testing") if name in more}
    asked = ByNoise(ZCDP(rho), **{"hints": hints, **own})
    return Synthesizer(**{"schema": declared(upper), "guarantee": asked, "progress": False, **more})


def flags(release: SyntheticRelease) -> str:
    return " ".join(release.tags.details["flags"])


@pytest.mark.parametrize("seed", range(3))
def test_a_fifth_cut_at_a_bound_is_flagged_with_its_share_and_what_may_be_biased(seed):
    table = people(seed=seed)
    cut = float((table.income > 50).mean())
    release = settings().fit(table).draw(m=12, rng=1)
    # noise has a standard deviation of 7 rows: 1e-9 of it; the radius adds at most one row in a hundred
    assert release.tags.details["clipped"] == pytest.approx(cut, abs=6.2 * 7.1 / N + 0.01)
    for word in ("clamped", "means", "quantiles", "variances", "correlations", "shares", "slopes", "columns"):
        assert word in flags(release)
    assert "clamped" in str(release.privacy)
    assert "flag: clamped" in " ".join(str(pysynthdp.ols("income ~ x", release).summary()).split())


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda t: t.assign(sex=t.sex.where(t.index % 5 > 0, "F")), id="unlisted"),
        pytest.param(lambda t: t.assign(x=t.x.where(t.index % 5 > 0, np.nan)), id="fallback"),
        pytest.param(lambda t: t.assign(x=t.x.astype(object).where(t.index % 5 > 0, "x")), id="unreadable"),
    ],
)
def test_what_became_other_or_a_fallback_counts_too(change):
    release = settings(upper=5_000).fit(change(people())).draw(m=2, rng=1)
    assert release.tags.details["clipped"] == pytest.approx(0.2, abs=0.04)
    assert "clamped or clipped" in flags(release)


def asked_counts(synthesizer: Synthesizer, table: pd.DataFrame, patch: pytest.MonkeyPatch) -> list[int]:
    """Exact answers of one number, in rows."""
    seen: list[int] = []

    def noiseless(values: np.ndarray, _scale: float) -> np.ndarray:
        seen.extend([int(values[0]) // COUNT_UNIT] if values.size == 1 else [])
        return values + 0

    with patch.context() as here:
        here.setattr("pysynthdp.protection.noise.fitting.add_discrete_gaussian", noiseless)
        synthesizer.fit(table)
    return seen


def test_a_row_counts_once_for_many_cells_and_the_radius(monkeypatch):
    table = people()
    table.loc[:9, ["sex", "x", "income"]] = ["?", 1e9, -5]
    table.loc[10:14, "sex"] = None
    inside = (table.income.between(0, 5_000) & table.sex.isin(["f", "m"]) & table.x.between(-6, 6)).to_numpy()
    (found,) = asked_counts(settings(upper=5_000), table, monkeypatch)
    (radius,) = asked_counts(settings(upper=5_000), table[inside], monkeypatch)
    assert (~inside).sum() == 15
    assert 15 <= found <= 15 + radius + 3  # the whitening is learned anew and cuts a few others
    assert found < N / 10


def test_reading_in_blocks_counts_the_same_rows():
    table = people()
    one, many = (split_rows(rows_of(table, rows), declared(), tolerant=True) for rows in (None, 7))
    assert np.array_equal(one.changed, many.changed)
    assert one.changed.sum() == (table.income > 50).sum()
    assert split_rows(rows_of(table), declared(5_000)).changed is None


@pytest.mark.parametrize("fresh", [0, 4])
def test_where_nothing_is_changed_a_flag_is_as_seldom_as_stated(fresh):
    """One in a hundred releases at most, of which the noise alone makes a flag."""
    for n, rho in ((1_000, 0.05), (2_000, 0.5), (100_000, 0.5)):
        made = settings(upper=5_000, rho=rho, testing=True, fresh=fresh)
        state = made.fit(people(n), noise_seed=1)._machine.fit.source.state
        asked = next(each for each in state.answers[0].budget.questions if each.name == "clipped")
        least, sd = least_clipped(state), asked.sd / max(fresh, 1) ** 0.5
        assert stats.norm.sf(least * state.answers[0].n / sd) <= 0.01 + 1e-12
        assert least == pytest.approx(max(0.01, SURE * sd / state.answers[0].n))


def test_the_counts_of_several_noisy_releases_are_taken_together():
    made = settings(testing=True, fresh=4).fit(people(), noise_seed=1)
    each = [answers.clipped for answers in made._machine.fit.source.state.answers]
    assert len(set(each)) == 4
    assert made.draw(rng=1).tags.details["clipped"] == pytest.approx(np.mean(each))


def test_no_flag_where_nothing_is_changed():
    rng = np.random.default_rng(3)
    table = people().assign(income=rng.normal(50, 10, N).clip(0, 100))
    flagged = sum(
        "clamped" in flags(settings(upper=100, hints={"income": (50, 15)}).fit(table).draw(m=1, rng=1))
        for _ in range(20)
    )
    assert flagged <= 3  # at a rate of 1 in 100, more has a chance of 4e-5


def test_a_table_without_numbers_has_no_count_and_says_so():
    release = (
        settings(schema=Schema([SEX, WAVE]), hints={})
        .fit(pd.DataFrame({"sex": ["f", "m"] * 500, "wave": [1, 7] * 500}))
        .draw(m=2, rng=1)
    )
    assert "clipped" not in release.tags.details
    assert "unknown" in " ".join(release.tags.details["remarks"])


def test_by_sampling_the_number_is_unknown_and_every_text_says_so(tmp_path):
    asked = BySampling(deltas=(1e-6,))
    schema = Schema([SEX])
    release = (
        Synthesizer(
            schema=schema,
            method={"sex": Dirichlet(prior=20.0)},
            guarantee=asked,
            progress=False,
        )
        .fit(pd.DataFrame({"sex": ["f", "m", "?"] * 100}))
        .draw(m=1)
    )
    words = "how many cells were clamped to their bounds is unknown (counting would cost)"
    assert words in " ".join(str(release.privacy).split())
    assert words in release.privacy.plain_language()
    assert words in str(release.privacy.to_dict()["not_covered"])
    assert words in release.tags.details["remarks"]
    assert PrivacyStatement.from_dict(release.privacy.to_dict()).verify().ok
    both = PrivacyStatement.compose(release.privacy, release.privacy)
    assert both.not_covered == release.privacy.not_covered
    loaded = SyntheticRelease.load(release.save(tmp_path / "out"))
    assert words in loaded.tags.details["remarks"]
