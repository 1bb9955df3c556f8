"""The ledger from a shell: accounts opened, shown, checked, given up; what a scheduler sees of it."""

from __future__ import annotations

import json
import sqlite3

import pytest
from typer.testing import CliRunner

from pysynthdp.cli.app import app
from pysynthdp.io.ledger import SpendingLedger
from pysynthdp.privacy import ZCDP, PrivacyUnit

OPEN = ("--source", "REG", "--unit", "person", "--rho", "0.75", "--approval", "DRB-2026-014")


def run(*words):
    return CliRunner().invoke(app, ["ledger", *map(str, words)])


@pytest.fixture
def path(tmp_path):
    where = tmp_path / "people.db"
    assert run("init", where, *OPEN, "--other", "record=2").exit_code == 0
    return where


def reserved(path, rho=0.25):
    attempt = SpendingLedger(path).attempt("REG", PrivacyUnit(name="person"), job="j")
    attempt.reserve(ZCDP(rho))
    return attempt


def test_an_account_is_opened_and_shown(path):
    reserved(path)
    shown = run("show", path, "--source", "REG")
    assert shown.exit_code == 0
    assert "rho = 0.5000" in shown.output  # left
    plain = json.loads(run("show", path, "--json").output)["sources"][0]
    assert (plain["used"], plain["left"]) == pytest.approx((0.25, 0.5))
    assert plain["limit"]["others"] == {"record": 2}
    assert [entry["event"] for entry in plain["entries"]] == ["limit", "reserved"]
    assert "REG" in run("show", path).output


def test_what_is_not_there_or_not_approved_is_refused_with_four(path):
    for words in (
        ("show", path, "--source", "X"),
        ("show", path.with_name("none.db")),
        ("init", path, *OPEN),
    ):
        assert run(*words).exit_code == 4
    assert run("init", path, *OPEN, "--second", "Bo Ek").exit_code == 0


def test_slips_are_told(path):
    for words in (("--other", "record"), ("--other", "record=0"), ("--epsilon", "1"), ("--relation", "x")):
        assert run("init", path.with_name("b.db"), *OPEN, *words).exit_code == 2
    assert not path.with_name("b.db").exists()


def test_a_changed_ledger_leaves_with_thirteen(path):
    head = reserved(path).mark.head
    assert run("verify", path).exit_code == 0
    assert run("verify", path, "--head", head).exit_code == 0
    assert run("verify", path, "--head", "0" * 64).exit_code == 13
    with sqlite3.connect(path) as base:
        base.execute("DROP TRIGGER pysynthdp_ledger_no_update")
        base.execute("UPDATE pysynthdp_ledger SET body = replace(body, '0.25', '0.01') WHERE seq = 2")
    found = run("verify", path, "--json")
    assert found.exit_code == 13
    assert "does not follow" in json.loads(found.output)["faults"]["REG"]
    assert run("show", path, "--source", "REG").exit_code == 13


def test_an_attempt_is_given_up_and_counts(path):
    attempt = reserved(path).attempt
    own = ("--source", "REG", "--attempt", attempt)
    assert run("abandon", path, *own).exit_code == 2  # says why, or not at all
    done = run("abandon", path, *own, "--reason", "disk lost", "--json")
    assert done.exit_code == 0
    assert json.loads(done.output)["left"] == pytest.approx(0.5)
    assert run("abandon", path, *own, "--reason", "again").exit_code == 2
