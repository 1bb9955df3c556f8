"""Expected lengths of intervals against simulation and against lengths measured in runs of the whole road."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pysynthdp import CategoricalColumn, NumericColumn, Schema, Synthesizer
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.protection.noise.precision import ExpectedPrecision, median_length


def number(name: str) -> NumericColumn:
    return NumericColumn(name, lower=-4, upper=4, may_be_missing=False, fallback=0)


def levels(name: str, size: int) -> CategoricalColumn:
    return CategoricalColumn(name, list(range(size)), other=0, may_be_missing=False)


def expected(columns: list, rho: float = 0.1, n: int = 10_000, **settings: int) -> ExpectedPrecision:
    plan = Synthesizer(schema=Schema(columns), guarantee=ZCDP(rho)).plan()
    return plan.expected_precision(n=n, **settings)


SURVEY = [*(levels(f"c{i}", size) for i, size in enumerate((2, 4, 4, 2, 3))), *map(number, "xyz")]


@pytest.mark.parametrize(("extra", "m", "ratio"), [(0.7, 20, 5), (0.2, 20, 1), (2.5, 10, 1), (0.0, 5, 1)])
def test_the_median_length_is_that_of_simulated_intervals(extra, m, ratio):
    rng = np.random.default_rng(1)
    within = 1 / ratio
    b = (1 + extra + within) * rng.chisquare(m - 1, 200_001) / (m - 1)
    total = np.maximum((1 + 1 / m) * b - within, 1 + (1 + within) / m)
    df = (m - 1) * (total / ((1 + 1 / m) * b)) ** 2
    lengths = np.sqrt(total) * stats.t.ppf(0.975, df) / stats.norm.ppf(0.975)
    assert median_length(extra, m=m, ratio=ratio) == pytest.approx(np.median(lengths), rel=0.01)


@pytest.mark.parametrize(
    ("p", "rho", "n", "measured"),
    [(10, 0.1, 10_000, 1.44), (20, 0.1, 10_000, 1.85), (10, 1.0, 10_000, 1.15), (10, 0.01, 100_000, 1.44)],
)
def test_tables_of_numbers_get_what_was_measured(p, rho, n, measured):
    # slopes, medians over 1,000 runs of benchmarks/noise/study.py; correlated numbers blur the first stage
    found = dict(expected([number(f"x{i}") for i in range(p)], rho, n, n_syn=5 * n).copies)
    assert found["slopes"] == pytest.approx(measured, rel=0.05)


@pytest.mark.parametrize(
    ("kind", "measured", "within"),
    [
        ("proportions", 1.40, 0.03),
        ("means", 1.40, 0.03),
        ("two-way cells", 1.57, 0.08),
        ("linear slopes", 2.06, 0.15),
        ("logistic slopes", 1.84, 0.08),
    ],
)
def test_a_mixed_table_gets_what_was_measured(kind, measured, within):
    # SD2011 of 5,000 rows, rho = 0.1: its levels are not equally common, so regressions come out longer
    found = dict(expected(SURVEY, n=5_000).copies)
    assert found[kind] == pytest.approx(measured, rel=within)
    assert found[kind] <= measured * 1.01


def test_more_budget_rows_or_copies_make_every_interval_shorter():
    plain = expected(SURVEY, n=5_000)
    for better in (expected(SURVEY, 0.4, n=5_000), expected(SURVEY, n=20_000)):
        assert all(new < old for (_, new), (_, old) in zip(better.copies, plain.copies, strict=True))
    more = expected(SURVEY, n=5_000, m=50)
    assert all(new < old for (_, new), (_, old) in zip(more.copies, plain.copies, strict=True))
    assert more.lengths == plain.lengths


def test_the_tax_in_rows_halves_what_the_table_tells():
    plain = expected([number(name) for name in "abc"])
    half = expected([number(name) for name in "abc"], n=round(plain.lost))
    assert dict(half.lengths)["slopes"] == pytest.approx(np.sqrt(2), rel=0.01)


def test_a_column_with_many_rare_levels_is_named_until_there_are_rows_enough():
    columns = [*SURVEY, levels("job", 60)]
    assert expected(columns, n=5_000).costly == ("job",)
    assert expected(columns, n=500_000).costly == ()
    assert "job" in str(expected(columns, n=5_000))
    assert expected(SURVEY, n=5_000).costly == ()


def test_a_blurred_first_stage_is_told():
    assert "blurred" in str(expected([number(f"x{i}") for i in range(20)], 0.1, 1_000))
    assert "blurred" not in str(expected([number(name) for name in "abc"]))


@pytest.mark.parametrize("columns", [[levels("a", 2)], [levels("a", 2), number("x")], [number("x")]])
def test_small_plans_have_an_answer_too(columns):
    found = expected(columns)
    assert all(np.isfinite(length) and length > 1 for _, length in found.copies)


def test_one_copy_is_refused():
    with pytest.raises(PrivacyError, match="two or more"):
        expected(SURVEY, m=1)
