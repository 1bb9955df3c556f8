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


CODEBOOK = """
[columns.age]
kind = "numeric"
lower = 16
upper = 100
may_be_missing = false
fallback = 50
"""
GUARANTEED = """
codebook = "codebook.toml"
guarantee = {name = "zcdp", rho = 0.5, unit = {name = "person"}}
"""
MEAN = """
codebook = "codebook.toml"
unit = {name = "person"}
[[parameters]]
column = "age"
how = "laplace"
epsilon = 1.0
"""


@pytest.fixture
def files(tmp_path):
    for name, text in {"codebook": CODEBOOK, "plan": GUARANTEED, "mean": MEAN}.items():
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    ages = "\n".join(str(16 + 7 * row % 80) for row in range(300))
    (tmp_path / "people.csv").write_text(f"age\n{ages}\n", encoding="utf-8")
    return tmp_path


def synth(files, out, path, *more, table="people.csv"):
    pays = () if path is None else ("--ledger", path, "--source", "REG")
    words = ("synth", files / table, "--plan", files / "plan.toml", "--out", files / out, *pays, *more)
    return CliRunner().invoke(app, [*map(str, words)])


def test_a_release_is_charged_and_its_folder_says_where(path, files):
    assert synth(files, "one", path).exit_code == 0
    assert run("verify", path, "--release", files / "one").exit_code == 0
    entries = SpendingLedger(path).account("REG").events
    assert [event.kind for event in entries] == ["limit", "reserved", "spent"]
    assert len(entries[1].body["file"]) == 64
    before = path.read_bytes()
    refused = synth(files, "two", path, table="no such table.csv")  # refused before it is looked for
    assert (refused.exit_code, "rho = 0.2500 is left" in " ".join(refused.output.split())) == (4, True)
    assert not (files / "two").exists()
    assert path.read_bytes() == before
    assert synth(files, "two", path, "--override", "Ann Lee").exit_code == 2
    leave = ("--override", "Ann Lee", "--second", "Bo Ek", "--reason", "census order 7")
    assert synth(files, "two", path, *leave).exit_code == 0
    told = (files / "two" / "README.txt").read_text(encoding="utf-8")
    assert "overridden by Ann Lee and Bo Ek" in " ".join(told.split())
    assert run("verify", path, "--release", files / "two").exit_code == 0
    path.write_bytes(before)  # a backup from before the second release
    assert run("verify", path).exit_code == 0
    assert run("verify", path, "--release", files / "two").exit_code == 13
    assert synth(files, "three", path.with_name("none.db")).exit_code == 4


def test_parameters_are_charged(path, files):
    def parameter(table="people.csv"):
        plan = ("--plan", files / "mean.toml", "--ledger", path, "--source", "REG")
        words = ("parameter", files / table, *plan)
        return CliRunner().invoke(app, [*map(str, words)])

    assert parameter().exit_code == 0
    assert SpendingLedger(path).remaining("REG") == pytest.approx(0.75 - 0.46211716)
    head = SpendingLedger(path).account("REG").head
    assert parameter("no such table.csv").exit_code == 4  # refused before it is looked for
    assert SpendingLedger(path).account("REG").head == head


def test_without_a_guarantee_nothing_is_charged(path, files):
    words = ("synth", files / "people.csv", "--out", files / "one", "--ledger", path, "--source", "REG")
    assert CliRunner().invoke(app, [*map(str, words)]).exit_code == 2
    assert synth(files, "one", None, "--source", "REG").exit_code == 2


@pytest.mark.parametrize("odd", ["", "x", "1e300", "-5", "NA"])
def test_nothing_of_a_record_decides_what_is_charged_or_refused(odd, path, files):
    """Neighbours differ in one record: the same codes, entries and statement, but for what is drawn anew."""
    usual = (files / "people.csv").read_text(encoding="utf-8").splitlines()
    usual[17] = odd

    def seen(source):
        open_it = ("--source", source, "--unit", "person", "--rho", "0.75", "--approval", "x")
        assert run("init", path, *open_it).exit_code == 0
        pays = ("--ledger", path, "--source", source)
        codes = [synth(files, f"{source} {time}", None, *pays).exit_code for time in (1, 2)]
        entries = SpendingLedger(path).account(source).events
        drawn = ("attempt", "digest", "file")
        bodies = [{**entry.body, **dict.fromkeys(drawn)} for entry in entries[1:]]
        plain = json.loads((files / f"{source} 1" / "privacy.json").read_text(encoding="utf-8"))
        (mark,) = plain.pop("ledger")
        return codes, bodies, plain["guarantee"], plain["public"], mark["entry"], mark["overrides"]

    before = seen("ONE")
    assert before[0] == [0, 4]
    (files / "people.csv").write_text("\n".join(usual) + "\n", encoding="utf-8")
    assert seen("TWO") == before
