"""Pooled 95 % intervals after imputation cover the population value: in small, benchmarks/coverage/nested.py.

Right: the count of covered runs lies in the exact binomial interval at 1e-6 (false alarm 1e-6 an estimand).
Wrong: all copies pooled as if of one table (true coverage about 0.81 for the slope of y on x and 0.85 for the
mean of y) leaves that interval below; in 300 runs of both together the chance to miss it is about 1e-3.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

RUNS = 300
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "coverage" / "nested.py"


@pytest.fixture(scope="module")
def nested():
    spec = importlib.util.spec_from_file_location("nested_benchmark", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.statistical
def test_the_nested_rule_covers_and_one_that_ignores_nests_does_not(nested):
    situation = next(one for one in nested.SITUATIONS if one.made == "complete" and nested.FLAT in one.expect)
    hits = np.array([nested.covered(situation, run) for run in range(RUNS)])
    right, flat = hits[:, 0], hits[:, list(situation.expect).index(nested.FLAT)]
    low, high = binom.interval(1 - 1e-6, RUNS, 0.95)
    assert ((low <= right.sum(axis=0)) & (right.sum(axis=0) <= high)).all()
    assert flat[:, :2].sum() < binom.ppf(1e-6, 2 * RUNS, 0.95)
