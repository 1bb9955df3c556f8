"""An audit of what is really drawn: counts of an event over many runs, and scores of every record.

Counts. A run is all that one account pays for: several draws, copies, records and columns. The event, fixed
before anything is drawn, is that a run's log-likelihood ratio is at least epsilon. With one-sided
Clopper-Pearson bounds at 1e-9 on both rates, P - e^epsilon Q bounds the true delta(epsilon) from below, or
ln(P/Q) pure epsilon; the claim is what a release with those draws states. False alarm below 4e-9 a system.
A named bug is missed with probability below 1e-6: how many standard errors its bound lies above the claim
stands in ``benchmarks/results/sampling_audit.csv``.

Scores. If the laws that the exact audit reads off the code are those of the draws, the scores of all records
are independent standard normals: over the records of a copy, its columns, the copies and the draws. Tested
are the law (Kolmogorov and Smirnov) and the spread at each place of a run (chi-square), both at 1e-10, and
that no two places of a run, or of a run and the next, correlate by more than eight standard errors (2e-10
over all places by Chernoff's bound, from 500 runs on). False alarm below 1e-9 a system. A spread off by 20 %
and a variate used twice are missed with probability below 1e-9.

Draws are unseeded, from the operating system's entropy, as under a guarantee they must be.
"""

from __future__ import annotations

import functools
import math
import os
from dataclasses import dataclass
from typing import Any

import audit_bugs
import numpy as np
import pytest
from audit_draws import log_ratio, runs_of, scores
from audit_systems import System, drawn_systems
from scipy import stats

import pysynthdp.draw.machine
from pysynthdp.base.entropy import SystemEntropy
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.noise.protective import draw_categories
from pysynthdp.protection.exact import PlainCopies
from pysynthdp.protection.sampling import by_sampling

pytestmark = pytest.mark.statistical
LEVEL = 1e-9
SCALE = int(os.environ.get("AUDIT_RUNS", "20000")) / 20000


def at_least(hits: int, runs: int) -> float:
    return float(stats.beta.ppf(LEVEL, hits, runs - hits + 1)) if hits else 0.0


def at_most(hits: int, runs: int) -> float:
    return float(stats.beta.isf(LEVEL, hits + 1, runs - hits)) if hits < runs else 1.0


def drawn(name: str) -> tuple[list[Any], list[Any]]:
    """Fits of both tables of a system, and many runs of each."""
    system = drawn_systems()[name]
    fits = system.fits()
    return fits, [runs_of(system, fitted, round(system.runs * SCALE)) for fitted in fits]


honest = functools.cache(drawn)


@dataclass(frozen=True)
class Event:
    """The log-likelihood ratio is at least epsilon: it bounds delta there, or pure epsilon."""

    epsilon: float
    pure: bool = False

    def found(self, system: System, fits: list[Any], runs: list[Any]) -> float:
        """Lower bound on the loss, in both orders."""
        near, far = (log_ratio(system, fits, each) for each in runs)
        orders = [(near, far), (-far, -near)]
        return max(self.bound(*(int((x >= self.epsilon).sum()) for x in pair), len(near)) for pair in orders)

    def bound(self, caught: int, false: int, runs: int) -> float:
        least, most = at_least(caught, runs), at_most(false, runs)
        if self.pure:
            return math.log(max(least, 1e-300) / most)
        return least - math.exp(self.epsilon) * most

    def claimed(self, claim: Guarantee) -> float:
        return float(claim.renyi(np.array([np.inf]))[0]) if self.pure else claim.delta(self.epsilon)


EVENTS = {
    "several draws": Event(0.5),
    "proper": Event(0.5),
    "exact": Event(0.5),
    "exact, proper": Event(0.5),
    "shares a copy": Event(2.4, pure=True),
    "urn": Event(2.4, pure=True),
    "several columns": Event(0.5),
}


@pytest.mark.parametrize("name", EVENTS)
def test_no_run_tells_neighbours_apart_better_than_is_claimed(name):
    system, event = drawn_systems()[name], EVENTS[name]
    found = event.found(system, *honest(name))
    claimed = event.claimed(system.claim(system.fits()[0]))
    assert claimed / 4 < found <= claimed


def urn_without_added_balls(patch):
    patch.setattr(by_sampling, "draw_urn", lambda balls, _added, size: draw_categories(balls, size))


def urn_of_doubled_balls(patch):
    real = by_sampling.draw_urn
    patch.setattr(by_sampling, "draw_urn", lambda balls, added, size: real(balls, 2 * added, size))


def narrow_normals(patch):
    real = SystemEntropy.standard_normal
    patch.setattr(SystemEntropy, "standard_normal", lambda self, size=1: real(self, size) / 1.2)


def narrow_discrete_noise(patch):
    real = by_sampling.add_discrete_gaussian
    patch.setattr(by_sampling, "add_discrete_gaussian", lambda values, scale: real(values, scale / 1.2))


def half_the_noise(patch):
    real = by_sampling.add_discrete_gaussian
    patch.setattr(by_sampling, "add_discrete_gaussian", lambda values, scale: real(values, scale / 2))


def heavy_gammas(patch):
    real = SystemEntropy.standard_gamma
    patch.setattr(
        SystemEntropy, "standard_gamma", lambda self, shape, size=None: real(self, 10 * shape, size)
    )


def one_variate_for_all_records(patch):
    real = SystemEntropy.standard_normal
    patch.setattr(
        SystemEntropy, "standard_normal", lambda self, size=1: np.broadcast_to(real(self), size).copy()
    )


def parameters_drawn_once(patch):
    """All copies of all draws of a fit share the parameters of the first."""
    real, kept = PlainCopies.parameters, {}

    def parameters(self, steps, root, copy):
        return kept.setdefault(id(steps), real(self, steps, root, copy))

    patch.setattr(PlainCopies, "parameters", parameters)


def one_stream(part: str):
    """Streams that forget a part of their key, or in which call of ``draw`` they are."""

    def plant(patch):
        place = {"copy": 1, "column": 2}.get(part)
        calls = [0]

        def stream(_root, *key):
            calls[0] += key == (0, 0, 0, 0)
            left = [number for at, number in enumerate(key) if at != place]
            return np.random.default_rng([7, *left] if part == "draw" else [7, calls[0], *left])

        patch.setattr(pysynthdp.draw.machine, "stream", stream)

    plant.__name__ = f"one stream for every {part}"
    return plant


def half_the_shift_of_a_copy(patch):
    next(bug for bug in audit_bugs.BUGS if bug.name == "half the shift of one mean a copy").plant(patch)


WRONG_CLAIMS = [
    ("several draws", audit_bugs.last_draw_alone),
    ("several draws", audit_bugs.one_copy_alone),
    ("proper", half_the_shift_of_a_copy),
    ("proper", audit_bugs.last_draw_alone),
    ("exact", audit_bugs.last_draw_alone),
    ("exact", audit_bugs.half_a_step),
    ("several columns", audit_bugs.dearest_column_alone),
    ("several columns", audit_bugs.last_draw_alone),
]


def of_bugs(part: Any) -> str:
    return getattr(part, "__name__", part)


@pytest.mark.parametrize(("name", "plant"), WRONG_CLAIMS, ids=of_bugs)
def test_counts_find_planted_bug_of_a_claim(name, plant, monkeypatch):
    system, event = drawn_systems()[name], EVENTS[name]
    found = event.found(system, *honest(name))
    plant(monkeypatch)
    assert found > event.claimed(system.claim(system.fits()[0]))


WRONG_DRAWS = [
    ("proper", audit_bugs.one_mean_for_all_copies),
    ("exact", half_the_noise),
    ("urn", urn_without_added_balls),
]


@pytest.mark.parametrize(("name", "plant"), WRONG_DRAWS, ids=of_bugs)
def test_counts_find_planted_bug_of_a_draw(name, plant, monkeypatch):
    system, event = drawn_systems()[name], EVENTS[name]
    plant(monkeypatch)
    fits, runs = drawn(name)
    assert event.found(system, fits, runs) > event.claimed(system.claim(system.fits()[0]))


def alarms(system: System, fitted: Any, runs: Any) -> list[str]:
    """Which tests of the scores fail, over the runs of one table."""
    found = scores(system, fitted, runs)
    size, places = found.shape
    within = np.abs(found.T @ found / size)[np.triu_indices(places, 1)]
    between = np.abs(found[:-1].T @ found[1:] / size)
    limit = 8 / math.sqrt(size)
    failed = ["law"] if stats.kstest(found.ravel(), "norm").pvalue < 1e-10 else []
    squares = (found**2).sum(axis=0)
    tail = min(stats.chi2.cdf(squares, size).min(), stats.chi2.sf(squares, size).min())
    failed += ["spread"] if tail < 1e-10 / places else []
    failed += ["within a run"] if within.max(initial=0.0) > limit else []
    return failed + (["between runs"] if between.max() > limit else [])


@pytest.mark.parametrize("name", drawn_systems())
def test_records_have_the_law_that_is_read_off_the_code_and_no_variate_serves_twice(name):
    fits, runs = honest(name)
    assert alarms(drawn_systems()[name], fits[0], runs[0]) == []


SCORED_BUGS = [
    ("several draws", narrow_normals, "spread"),
    # one variate for all runs too: where all three are below a third in size, the spread tells it
    ("several draws", one_variate_for_all_records, ""),
    ("several draws", one_stream("copy"), "within a run"),
    ("several draws", one_stream("draw"), "within a run"),
    ("several columns", one_stream("column"), "within a run"),
    ("proper", parameters_drawn_once, ""),
    ("exact", narrow_discrete_noise, "spread"),
    ("exact, proper", half_the_noise, "spread"),
    ("long shares", heavy_gammas, "spread"),
    ("long shares", parameters_drawn_once, ""),
    ("long urn", urn_without_added_balls, "spread"),
    ("long urn", urn_of_doubled_balls, "spread"),
    ("joint", narrow_normals, "spread"),
]


@pytest.mark.parametrize(("name", "plant", "alarm"), SCORED_BUGS, ids=of_bugs)
def test_scores_find_planted_bug(name, plant, alarm, monkeypatch):
    plant(monkeypatch)
    system = drawn_systems()[name]
    fitted = system.fits()[0]
    found = alarms(system, fitted, runs_of(system, fitted, round(system.runs * SCALE)))
    assert alarm in found if alarm else found  # what some bugs betray differs by chance
