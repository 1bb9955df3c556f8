"""An exact audit of guarantees by sampling: worst neighbours through the public fit, laws read off the code.

What two neighbouring tables make the code draw is known exactly (``audit_laws``), so their divergence is
computed, not estimated, and set against the Renyi curve that the release states after all of its draws. It
may nowhere be larger (beyond rounding, 1e-9), and on the worst neighbours it comes as near as ``least`` says.
There is no sampling error: a planted bug is found always or never.

Each planted bug is found by a test that names it.
"""

from __future__ import annotations

import csv
from pathlib import Path

import audit_parameters
import numpy as np
import pandas as pd
import pytest
from audit_bugs import BUGS
from audit_laws import normal_law
from audit_systems import number, predicted, systems
from scipy.stats import norm

import pysynthdp as sdp
from pysynthdp.models.ridge import Ridge
from pysynthdp.privacy.mechanism import MECHANISMS
from pysynthdp.privacy.prices.multivariate_normal import ridge_leverage
from pysynthdp.privacy.prices.regression import ridge_shift
from pysynthdp.protection.sampling.by_sampling import BySampling

pytestmark = pytest.mark.statistical
BENCHMARKS = Path(__file__).parents[2] / "benchmarks" / "results"
ROUNDING = 1e-9
ELSEWHERE = {
    "noisy_moments",  # test_noised_audit.py
    "noisy_statistics",  # test_statistics_audit.py
}


def test_every_mechanism_is_audited():
    audited = {name for system in systems().values() for name in system.mechanisms}
    audited |= audit_parameters.mechanisms()  # test_parameters_audit.py
    assert audited | ELSEWHERE == set(MECHANISMS)


@pytest.mark.parametrize("name", systems())
def test_worst_neighbours_lose_no_more_than_is_claimed_and_nearly_as_much(name):
    system = systems()[name]
    spent = system.spent()
    assert spent.max() <= 1 + ROUNDING
    assert spent.max() >= system.least


@pytest.mark.parametrize(
    ("bug", "name"),
    [pytest.param(bug, name, id=f"{bug.name}-{name}") for bug in BUGS for name in bug.systems],
)
def test_audit_finds_planted_bug(bug, name, monkeypatch):
    bug.plant(monkeypatch)
    assert systems()[name].spent().max() > 1.01


def test_stored_search_found_no_loss_above_a_claim_and_every_planted_bug():
    """Of ``benchmarks/attacks/sampling_audit.py``; 1e-6 is how often a bug may be missed."""
    with (BENCHMARKS / "sampling_audit.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    honest = [row for row in rows if not row["bug"]]
    assert max(float(row["share"]) for row in honest) <= 1
    assert {row["audit"] for row in honest} == {"exact", "searched", "counted"}
    planted = [row for row in rows if row["bug"]]
    assert min(float(row["margin"]) for row in planted) > norm.isf(1e-6)


def test_a_record_in_the_far_corner_has_all_of_the_leverage_that_a_ridge_allows():
    """D6's step q = 4d/lambda alone: the others leave their covariance nothing but the ridge."""
    system = systems()["joint"]
    _, ((law,),) = (system.laws(fitted) for fitted in system.fits())
    away = np.array([2.0, 2.0])  # from the corner of the others to the opposite one
    leverage = away @ np.linalg.solve(law.covariance, away)
    assert leverage == pytest.approx(ridge_leverage(2, 0.05), rel=1e-9)


def test_a_record_in_or_out_moves_a_ridge_by_most_of_half_the_bound():
    """H2's step: the two halves of a replacement are each nearly attained, if not both at once."""
    n, penalty, steering = 1001, 20.0, 8
    names = "pqrstuvw"[:steering]
    side = np.where(np.arange(n - 1) % 2, 1.0, -1.0)
    size = (penalty / 3 / (n - 1) / steering) ** 0.5
    others = pd.DataFrame(dict.fromkeys(names, size * side) | {"y": side})
    odd = pd.DataFrame(dict.fromkeys(names, 1.0) | {"y": -1.0}, index=[0])
    settings = predicted(number("y"), Ridge(penalty=penalty, sigma=1.0), names)
    synthesizer = sdp.Synthesizer(**settings, guarantee=BySampling(), progress=False)
    row = np.ones((1, 1 + steering))
    steps = [
        synthesizer.fit(table)._machine.fit.steps[-1]
        for table in (others, pd.concat([odd, others], ignore_index=True))
    ]
    without, with_it = (normal_law(step.model, step.params, row).mean[0] for step in steps)
    half = ridge_shift(n, row_norm=(1 + steering) ** 0.5, response=1, ridge=penalty) / 2
    assert 0.7 * half < abs(with_it - without) <= half
