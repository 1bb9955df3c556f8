"""Statistics of tables and propensity scores against those that synthpop 1.9-2 gave of the same files."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.evaluate import propensity_statistics, table_statistics

GOLDEN = Path(__file__).parents[2] / "golden" / "synthpop"
TYPES = json.loads((GOLDEN / "schema.json").read_text("utf-8"))
S_JSD = 1 / (2 * np.log(2) ** 2)  # by which synthpop's expectation of JSD is wrong


@cache
def read(name: str) -> list[pd.DataFrame]:
    frame = pd.read_csv(GOLDEN / f"{name}.csv", keep_default_na=False, na_values=["", "NA"])
    for column, what in TYPES[name.split("_", maxsplit=1)[0]].items():
        if column in frame and what["type"] in ("factor", "ordered"):
            frame[column] = pd.Categorical(frame[column], categories=what["levels"])
    if ".syn" not in frame:
        return [frame]
    return [part.drop(columns=".syn").reset_index(drop=True) for _, part in frame.groupby(".syn")]


def load(name: str) -> dict:
    return json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))


def records(name: str) -> dict:
    return {key: each for key, each in load(name).items() if isinstance(each, dict) and "call" in each}


def named(call: str) -> list[str] | None:
    found = re.search(r"vars = (c\(.*?\)|\".*?\")", call)
    return re.findall(r"\"(\w+)\"", found[1]) if found else None


TABLES = [
    (synthesis, name)
    for synthesis in ("survey_np_m1", "survey_k400_m3")
    for name, each in records(f"utility_tab_{synthesis}").items()
    if "k.syn" not in each["call"]
]


@pytest.mark.parametrize(("synthesis", "name"), TABLES)
def test_statistics_of_tables_are_synthpops(synthesis, name):
    want = records(f"utility_tab_{synthesis}")[name]
    groups = re.search(r"ngroups = (\d+)", want["call"])
    got = table_statistics(
        read("survey")[0],
        read(synthesis),
        named(want["call"]),
        groups=int(groups[1]) if groups else 5,
        missing="useNA = FALSE" not in want["call"],
    )
    assert got.attrs == {"classification": "INTERNAL"}
    for statistic in got.columns:
        value = np.atleast_1d(want[statistic])
        if statistic == "S_JSD" and "useNA" in want["call"]:
            continue  # the same, but for sizes that the file does not say
        if statistic == "S_JSD":
            sizes = len(read(synthesis)[0]), 600
            value = value / S_JSD * 2 * sizes[0] / sum(sizes)  # theirs has N/2 where n2 belongs
        assert got[statistic].to_numpy() == pytest.approx(value, rel=1e-10, abs=1e-10), statistic


SCORES = [
    (synthesis, name)
    for synthesis in ("survey_np_m5", "survey_k400_m3", "anes96_np_m5")
    for name, each in load("utility_gen")[synthesis].items()
    if not any(word in name for word in ("pairs", "ksyn", "ngroups"))
]


@pytest.mark.parametrize(("synthesis", "name"), SCORES)
def test_statistics_of_scores_are_synthpops(synthesis, name):
    want = load("utility_gen")[synthesis][name]
    method = "cart" if "cart" in name else "logit"
    order = int("order1" in name)
    table = read(synthesis.split("_")[0])[0]
    got = propensity_statistics(table, read(synthesis), named(want["call"]), method=method, order=order)
    if method == "cart":
        assert got["pMSE"].mean() == pytest.approx(np.mean(want["pMSE"]), rel=0.15)
        assert got["pMSE"].to_numpy() == pytest.approx(np.atleast_1d(want["pMSE"]), rel=0.25)
        return
    # R stops a little before the maximum
    assert got["pMSE"].to_numpy() == pytest.approx(np.atleast_1d(want["pMSE"]), abs=1e-9)
    assert got["S_pMSE"].to_numpy() == pytest.approx(np.atleast_1d(want["S_pMSE"]), rel=1e-6)
    for statistic in ("SPECKS", "PO50", "U"):
        assert got[statistic].to_numpy() == pytest.approx(np.atleast_1d(want[statistic]), rel=1e-10), (
            statistic
        )


@pytest.mark.statistical
def test_the_expectation_of_jsd_is_ours():
    """Over 400 draws the mean of S_JSD is 1 within four standard errors."""
    rng = np.random.default_rng(1)
    fixed = pd.DataFrame({"a": np.repeat(list("abcdefghij"), 500)})
    copies = [pd.DataFrame({"a": rng.choice(list("abcdefghij"), 5000)}) for _ in range(400)]
    got = table_statistics(fixed, copies, ["a"])["S_JSD"]
    assert abs(got.mean() - 1) < 4 * got.std() / 20
    assert abs(got.mean() - 1) < 0.1


def test_slips_are_answered():
    with pytest.raises(sdp.PlanError, match="did you mean 'sex'"):
        table_statistics(read("survey")[0], read("survey_np_m1"), ["sx"])
