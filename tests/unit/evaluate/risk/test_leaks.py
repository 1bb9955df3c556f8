"""Planted leaks are found, and safe copies raise no alarm, as docs/disclosure-risk.md says."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp

pytestmark = pytest.mark.statistical

N, RUNS = 300, 8
KEYS = {"neighbour": ["sex", "age", "region"], "work": ["sex", "edu", "region"]}


def people(n, rng):
    age = rng.integers(18, 90, n)
    edu = np.clip((age / 30 + rng.normal(0, 1, n)).round(), 0, 4).astype(int)
    income = np.exp(7 + 0.3 * edu + 0.01 * (age - 50) + rng.normal(0, 0.6, n)).round()
    return pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "age": age,
            "region": rng.choice(list("ABCDE"), n, p=[0.4, 0.2, 0.2, 0.1, 0.1]),
            "edu": edu.astype(str),
            "income": np.where(rng.random(n) < 0.4, (income / 100).round() * 100, income),
            "bmi": (25 + 0.05 * (age - 50) + rng.normal(0, 4, n)).round(1),
            "tax": (income * 0.2 + rng.normal(0, 50, n)).round(),
            "smoke": rng.choice(["no", "yes"], n, p=[0.7, 0.3]),
        }
    )


@cache
def safe(seed):
    """A table, people never used, and safe copies."""
    rng = np.random.default_rng(seed)
    both = people(2 * N, rng)
    table, fresh = both.iloc[:N].reset_index(drop=True), both.iloc[N:].reset_index(drop=True)
    copies = sdp.synthesize(table, m=2, rng=seed, terms="main").copies
    for copy in copies:
        copy.attrs = {}
    return table, fresh, copies


def copied(table, copies, rng):
    """One record in twenty of each copy is a real one."""
    out = [copy.copy() for copy in copies]
    for copy in out:
        copy.iloc[rng.permutation(N)[: N // 20]] = table.iloc[rng.permutation(N)[: N // 20]].to_numpy()
    return out


def memorised(table, copies, rng):
    """One row of one copy is the richest person."""
    out = [copy.copy() for copy in copies]
    out[rng.integers(len(out))].iloc[rng.integers(N)] = table.iloc[int(table["income"].argmax())].to_numpy()
    return out


def averaged(table, copies, rng):
    """All of a group of forty rows have the average of a cell, in which one person is."""
    own = float(rng.choice(table["bmi"].drop_duplicates(keep=False)))
    out = [copy.copy() for copy in copies]
    for copy in out:
        copy.loc[copy.index[:40], "bmi"] = own
    return out


def shifted(table, copies, rng):
    """The table itself, in another order, one added to every number."""
    numbers = ["age", "income", "bmi", "tax"]
    moved = table.assign(**{name: table[name] + 1 for name in numbers})
    return [moved.iloc[rng.permutation(N)].reset_index(drop=True) for _ in copies]


def risk(table, copies, **more):
    asked = {"keys": KEYS, "targets": ["income", "smoke"], "ngroups": {"income": 8}, "attacks": 60}
    return sdp.disclosure_risk(table, list(copies), **asked, **more)


@pytest.mark.parametrize(
    ("leak", "said"),
    [
        (copied, "records of the table, rare values together"),
        (memorised, "repeat one record"),
        (averaged, "spike in the copies: bmi"),
        (shifted, "shifted or stretched"),
    ],
)
def test_planted_leaks_are_found(leak, said):
    """All of 8, as the power that is stated is above 0.99; at a power of a half, 0.004."""
    for seed in range(8):
        table, _, copies = safe(seed)
        found = risk(table, leak(table, copies, np.random.default_rng(seed)))
        assert any(said in each for each in found.alarms), (seed, found.alarms)


def test_safe_copies_raise_no_alarm():
    """One alarm in 16 at most: more is of probability 0.01 at one in a hundred, 0.95 at one in four."""
    raised = 0
    for seed in range(RUNS):
        table, fresh, copies = safe(seed)
        raised += bool(risk(table, copies).alarms) + bool(risk(table, copies, holdout=fresh).alarms)
    assert raised <= 1


def test_a_release_that_is_the_table_fails_on_page_one():
    table, _, _ = safe(0)
    found = risk(table, [table])
    whole = found.tables()["identity"].query("of == 'any copy'")
    assert (whole["RepU"] == whole["UiO"]).all()
    attributes = found.tables()["attribute"].query("of == 'any copy'")
    assert (attributes["DiSCO"] == attributes["Dorig"]).all()
    matches = found.tables()["matches"].set_index("of").loc["any copy"]
    assert matches["found_share"] == 100
    assert matches["table"] == 100
    assert "FAILS" in str(found)
    assert "holds the records of the table themselves" in str(found)


def test_the_table_in_another_order_without_a_key_is_found_too():
    table, _, _ = safe(1)
    mixed = table.sample(frac=1, random_state=1).reset_index(drop=True)
    assert any("records of the table themselves" in each for each in risk(table, [mixed]).alarms)


def test_shifted_records_are_flagged_and_distances_are_no_default_measure():
    rng = np.random.default_rng(2)
    both = pd.DataFrame(rng.normal(0, 3, (2 * N, 3)).round(), columns=list("abc"))
    table, fresh = both.iloc[:N].reset_index(drop=True), both.iloc[N:].reset_index(drop=True)
    moved = (table + 1).sample(frac=1, random_state=2).reset_index(drop=True)
    found = sdp.disclosure_risk(table, moved, keys=["a", "b"], attacks=20)
    assert any("shifted or stretched" in each for each in found.alarms)
    assert "distances" not in found.tables()
    asked = sdp.disclosure_risk(table, moved, keys=["a", "b"], attacks=20, holdout=fresh, distances=True)
    assert asked.tables()["distances"]["nearer"].between(45, 58).all(), "they pass what gives all away"
    assert "prove nothing" in str(asked)


def test_independent_columns_still_show_what_they_replicate():
    table, _, _ = safe(3)
    loose = sdp.synthesize(table, m=2, rng=3, method="sample")
    found = risk(table, loose)
    shown = found.table("RepU").query("of == 'any copy'")
    assert shown["RepU"].notna().all()
    assert shown["RepU"].max() > 0


def test_a_question_that_only_some_are_asked_is_no_leak():
    table, _, copies = safe(5)
    asked = [frame.assign(births=frame["age"].where(frame["sex"] == "F") // 20) for frame in (table, *copies)]
    found = sdp.disclosure_risk(asked[0], asked[1:], keys=["sex", "smoke"], targets=["births"], attacks=20)
    assert found.table("attribute")["DiSDiO"].min() > 20
    assert not found.alarms


def test_one_real_column_among_synthetic_ones_is_found():
    table, _, copies = safe(4)
    mixed = [copy.assign(income=table["income"]) for copy in copies]
    (said,) = [each for each in risk(table, mixed).alarms if "row by row" in each]
    assert said.endswith("kept real: income")


def test_columns_of_few_values_have_the_ranks_of_the_table_and_raise_no_alarm():
    rng = np.random.default_rng(3)
    whole = pd.DataFrame({name: rng.integers(0, 9, 6_000) for name in "abcd"})
    whole["sex"] = rng.choice(["F", "M"], 6_000)
    table, fresh = whole.iloc[:3_000], whole.iloc[3_000:]
    found = sdp.disclosure_risk(table, fresh, keys=["a", "b"], attacks=5)
    assert not found.alarms
    ranks = found.table("rank_matches")
    assert ranks["rows"].iloc[0] > 4
    assert ranks["expected"].iloc[0] == pytest.approx(found.table("matches")["expected"].iloc[0])
    moved = table.assign(**{name: table[name] * 3.5 + 1 for name in "abcd"}).sample(frac=1, random_state=1)
    assert any(
        "shifted or stretched" in each for each in sdp.disclosure_risk(table, moved, keys=["sex"]).alarms
    )


def test_copies_of_another_tool_are_read_as_the_table_is_and_what_is_not_read_is_counted(tmp_path):
    rng = np.random.default_rng(4)
    kinds = pd.CategoricalDtype(["low", "middle", "high"])
    table = pd.DataFrame({"age": rng.integers(20, 60, 200), "edu": rng.choice(list(kinds.categories), 200)})
    table["edu"] = table["edu"].astype(kinds)
    copy = table.sample(frac=1, replace=True, random_state=1).astype({"age": object, "edu": str})
    copy.loc[copy.index[:7], "age"] = "unknown"
    copy.to_csv(tmp_path / "copy.csv", index=False)
    found = sdp.disclosure_risk(table, tmp_path / "copy.csv", keys=["age", "edu"], attacks=5)
    told = found.table("differences").set_index(["column", "what"])["copies"]
    assert int(told["age", "cells that are no finite number"]) >= 7
    plain = sdp.disclosure_risk(
        table, copy.assign(age=pd.to_numeric(copy["age"], errors="coerce")), keys=["age", "edu"]
    )
    pd.testing.assert_frame_equal(found.table("identity"), plain.table("identity"))


def test_copies_in_a_file_with_labels_are_taken(tmp_path):
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"age": rng.integers(20, 60, 200) * 1.0, "sex": rng.choice(["F", "M"], 200)})
    table.to_stata(tmp_path / "copy.dta", write_index=False)
    for given in (tmp_path / "copy.dta", [tmp_path / "copy.dta"]):
        assert sdp.disclosure_risk(table, given, keys=["age", "sex"], attacks=5).alarms
