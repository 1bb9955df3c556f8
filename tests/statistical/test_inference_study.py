"""The situations of ``benchmarks/coverage/situations.py``, run again, and the stored results of the study.

Right: the count of covered runs lies in the exact binomial interval at 1e-6, widened by 0.005 for what a
t reference is off, so a false alarm has a chance below 1e-6 a situation.
Wrong: a rule whose stored coverage differs by 0.04 or more stays in that interval with a chance below 1e-9.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
RUNS = 20_000
DEPARTURE = 0.005


@pytest.fixture(scope="module")
def study():
    """Import the scripts of the study, which lie outside the package."""
    sys.path.insert(0, str(BENCHMARKS.parent))
    try:
        from benchmarks.coverage import means, situations
    finally:
        sys.path.remove(str(BENCHMARKS.parent))
    return situations, means


@pytest.fixture(scope="module")
def stored():
    """Results of the full study, by situation."""
    with (BENCHMARKS / "results" / "inference.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    keys = ("made", "n_org", "m", "n_syn", "analysis", "rule", "expect", "r")
    return {tuple(row[key] for key in keys): row for row in rows}


def key(s):
    return tuple(str(part) for part in (s.made, s.n, s.m, s.k, s.analysis, s.rule, s.expect, s.r))


def covered(means, s, number):
    copies = means.make(s, np.random.default_rng([7, number]), RUNS)
    low, high = means.limits(s, copies).T
    truth = np.broadcast_to(copies.truth, (RUNS, 1))[:, 0]
    with np.errstate(invalid="ignore"):
        return int(np.sum((low <= truth) & (truth <= high)))


@pytest.mark.statistical
def test_the_right_rule_covers_in_every_situation(study):
    situations, means = study
    low = binom.ppf(5e-7, RUNS, 0.95 - DEPARTURE)
    high = binom.ppf(1 - 5e-7, RUNS, 0.95 + DEPARTURE)
    outside = []
    for number, s in enumerate(situations.MEANS):
        if s.has_bar and not low <= covered(means, s, number) <= high:
            outside.append(s)
    assert outside == []


@pytest.mark.filterwarnings("ignore:T = .* is not positive")  # what it is about
@pytest.mark.statistical
def test_wrong_rules_are_found_out(study, stored):
    situations, means = study
    low = binom.ppf(5e-7, RUNS, 0.95 - DEPARTURE)
    high = binom.ppf(1 - 5e-7, RUNS, 0.95 + DEPARTURE)
    wrong = [
        (number, s)
        for number, s in enumerate(situations.MEANS)
        if s.expect == "wrong" and abs(float(stored[key(s)]["covered"]) - 0.95) >= 0.04
    ]
    assert len(wrong) > 30
    assert all(not low <= covered(means, s, number) <= high for number, s in wrong)


def test_the_stored_study_is_whole_and_within_its_bars(study, stored):
    situations, _ = study
    planned = {key(s): s for s in (*situations.MEANS, *situations.JOINT, *situations.TABLES)}
    made_up = {name: row for name, row in stored.items() if row["group"] != "defaults"}
    assert planned.keys() == made_up.keys()
    for name, row in made_up.items():
        runs, rate = int(row["runs"]), float(row["covered"])
        assert runs >= (300 if row["group"] == "tables" else 2_000)
        if planned[name].has_bar:
            assert abs(rate - 0.95) < 0.015 + 3 * (0.95 * 0.05 / runs) ** 0.5


def test_default_methods_on_real_tables_cover_what_is_not_flagged(stored):
    rows = [row for row in stored.values() if row["group"] == "defaults"]
    assert {row["made"].split(",")[0] for row in rows} == {"fair", "randhie"}
    below = [row for row in rows if float(row["covered"]) <= _bar(row)]
    assert below  # else flags would warn of nothing
    assert all(row["expect"] == "flagged" for row in below)


def _bar(row):
    """Below this, copies cover less than the sample itself by more than chance."""
    alone = min(float(row["rule"].removeprefix("sample ")), 0.95)
    return alone - 0.015 - 3 * (0.95 * 0.05 / int(row["runs"])) ** 0.5
