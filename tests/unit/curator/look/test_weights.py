"""What looks like a sampling weight is told, and what looks like replicate weights is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError
from pysynthdp.curator.look.weights import replicate_groups, weight_remarks
from pysynthdp.curator.rows import rows_of

N, M = 200, 8
RNG = np.random.default_rng(4)
PLAIN = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, N),
        "sex": np.where(RNG.random(N) < 0.5, "F", "M"),
        "pay": RNG.normal(50, 9, N),
    }
)
OWN = RNG.gamma(4.0, 50.0, N).round(1)
HALVES = {f"brr{i}": OWN * 2 * (RNG.random(N) < 0.5) for i in range(1, M + 1)}
BOOTSTRAP = {f"repwt_{i}": OWN * RNG.poisson(1.0, N) for i in range(1, M + 1)}

WEIGHTS = {
    "pw": (OWN, True),
    "WTMEC2YR": (OWN, True),
    "rb050": (OWN, True),
    "hh_weight": (OWN, True),
    "weight": (OWN / OWN.mean(), True),  # adds up to the rows
    "wt": (RNG.normal(3.2, 1.0, N).clip(1.5), False),  # of cars, in 1000 lbs
    "Weight": (RNG.normal(72, 12, N), False),  # of people
    "pw2": (OWN, False),
    "fnlwgt": (np.where(RNG.random(N) < 0.3, 0.0, OWN), False),  # too many zeros
    "perwt": (OWN - OWN.mean(), False),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_a_weight_is_known_by_its_name_and_by_what_it_holds(name):
    values, is_weight = WEIGHTS[name]
    found = weight_remarks(rows_of(PLAIN.assign(**{name: values}), full=True), [*PLAIN.columns, name])
    assert [remark.column for remark in found] == ([name] if is_weight else [])


GROUPS = {
    "half samples": (HALVES, True),
    "bootstrap": (BOOTSTRAP, True),
    "jackknife": ({f"jkw{i}": np.where(np.arange(N) % M == i, 0.0, 50.0) for i in range(M)}, True),
    "three": ({name: HALVES[name] for name in list(HALVES)[:3]}, False),
    "items": ({f"rep{i}": RNG.integers(1, 6, N) for i in range(1, M + 1)}, False),
    "other names": ({f"q{i}": HALVES[f"brr{i}"] for i in range(1, M + 1)}, False),
    "below zero": ({f"rw{i}": OWN - 300 for i in range(1, M + 1)}, False),
}


@pytest.mark.parametrize("case", GROUPS)
@pytest.mark.parametrize("weight", [None, "pw"])
def test_replicate_weights_are_known_by_their_names_and_by_the_weight(case, weight):
    columns, are_replicates = GROUPS[case]
    table = PLAIN.assign(pw=50.0 if case == "jackknife" else OWN, **columns)
    found = replicate_groups(rows_of(table, full=True), table.columns, weight)
    assert [group.columns for group in found] == ([tuple(columns)] if are_replicates else [])


def test_a_fit_refuses_replicate_weights_and_warns_of_a_weight():
    table = PLAIN.assign(pw=OWN, **HALVES)
    says = r"brr1 to brr8, 8 columns, look like replicate weights.*replicates='drop'"
    with pytest.raises(PlanError, match=says):
        sdp.Synthesizer(progress=False).fit(table)
    with pytest.warns(sdp.PysynthdpWarning, match="pw: it looks like a sampling weight.*weight='pw'"):
        sdp.Synthesizer(progress=False, drop=list(HALVES)).fit(table)


QUIET = {
    "a design": {"design": sdp.Design(weight="pw", accept=1)},
    "kept": {"keep": ["pw"]},
    "a method": {"method": {"pw": "norm"}},
    "dropped": {"drop": ["pw"]},
}


@pytest.mark.parametrize("case", QUIET)
def test_what_is_said_of_a_column_is_not_asked(case):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        sdp.Synthesizer(progress=False, **QUIET[case]).fit(PLAIN.assign(pw=OWN))
    assert not any("looks like a sampling weight" in str(one.message) for one in said)


def test_columns_with_a_method_are_no_replicate_weights():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = sdp.Synthesizer(progress=False, method=dict.fromkeys(HALVES, "norm"), terms="main").fit(
            PLAIN.assign(**HALVES)
        )
    assert set(HALVES) <= set(own.plan.methods)


def test_a_look_shows_both():
    shown = str(sdp.look(PLAIN.assign(pw=OWN, **HALVES)))
    assert "looks like a sampling weight" in shown
    assert "look like replicate weights" in shown
    assert "replicate_weights" in sdp.look(PLAIN.assign(**HALVES)).said("r")


def test_under_a_guarantee_no_row_is_asked():
    schema = sdp.Schema(
        [
            sdp.NumericColumn("age", 0, 100),
            sdp.NumericColumn("pw", 0, 1000),
            *(sdp.NumericColumn(name, 0, 3000) for name in HALVES),
        ]
    )
    table = PLAIN.assign(pw=OWN, **HALVES)[[column.name for column in schema]]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        sdp.Synthesizer(schema=schema, guarantee=sdp.ZCDP(1.0), progress=False).fit(table)
    assert not any("weight" in str(one.message) for one in said)
