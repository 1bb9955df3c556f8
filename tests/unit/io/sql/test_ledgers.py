"""Many processes on one ledger, and some of them killed: nothing overspent, nothing lost, all traced."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from pysynthdp.base.errors import BudgetExceeded, PlanError, PrivacyError, SchemaError
from pysynthdp.io.ledger import SpendingLedger
from pysynthdp.privacy import ZCDP, PrivacyUnit, SourceLimit

PROCESSES, KILLED, LIMIT = 16, 6, 1.0
SPENDERS = """
import os, sys, time
from pathlib import Path
from pysynthdp.base.errors import BudgetExceeded
from pysynthdp.io.ledger import SpendingLedger
from pysynthdp.privacy import PrivacyUnit, ZCDP

if sys.argv[1].startswith("env:"):
    import psycopg, sqlalchemy.dialects.postgresql.psycopg  # once, and not by every child

where, folder, many, each = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])

def spend(me):
    ledger, unit = SpendingLedger(where, by=me), PrivacyUnit(name="person")
    for turn in range(1000):
        attempt = ledger.attempt("REG", unit, job=f"{me} {turn}")
        try:
            attempt.reserve(ZCDP(each))
        except BudgetExceeded:
            return
        with (folder / me).open("a") as noise:  # the noise: drawn only behind a reservation
            noise.write(attempt.attempt + "\\n")
        attempt.settle(f"{me} {turn}")
        time.sleep(0.005)  # others have their turn too

children = []
for number in range(many):
    child = os.fork()
    if not child:
        try:
            spend(f"p{number}")
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    children.append(child)
print(*children, flush=True)
sys.stdin.readline()  # until then those that ended keep their numbers
print(*(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children), flush=True)
"""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="forks and kills as Unix does")


def killed_at_random(children, seed):
    """Kill some of them, one after the other; the numbers of those that ended are still theirs."""
    rng = random.Random(seed)  # noqa: S311 -- no secret
    for child in rng.sample(children, KILLED):
        time.sleep(rng.random() / 10)
        os.kill(
            child, signal.SIGKILL
        )  # a child that ended waits to be reaped, so the number is still its own


def check(account, folder, reservations):
    drawn = {line for file in folder.iterdir() for line in file.read_text(encoding="utf-8").split()}
    assert account.used <= LIMIT * (1 + 1e-9)
    assert drawn <= account.reservations.keys()  # whoever drew had reserved
    assert {name for name, each in account.reservations.items() if each.state == "spent"} <= drawn
    assert len(account.reservations) == reservations  # to the last part, and not one more
    assert len({event.body["by"] for event in account.events}) > 3  # several, whoever came first


def run(where, folder, reservations):
    folder.mkdir()
    ledger = SpendingLedger(where)
    ledger.init("REG", SourceLimit(rho=LIMIT, unit="person"), approval="x")
    code = [sys.executable, "-c", SPENDERS, where, folder, PROCESSES, LIMIT / reservations]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([*map(str, code)], text=True, **pipes) as parent:
        children = [int(number) for number in parent.stdout.readline().split()]
        started = time.monotonic()
        while len(ledger.account("REG").events) < PROCESSES and time.monotonic() - started < 60:
            time.sleep(0.02)
        killed_at_random(children, 7)
        out, faults = parent.communicate("reap\n")
    assert not faults
    ended = [int(code) for code in out.split()]
    assert set(ended) == {0, -signal.SIGKILL}
    check(ledger.account("REG"), folder, reservations)  # of which every entry follows from those before it


def test_in_a_file(tmp_path):
    run(str(tmp_path / "people.db"), tmp_path / "drawn", 120)


@pytest.fixture
def base(server, postgres, monkeypatch):
    pytest.importorskip("psycopg")
    monkeypatch.setenv("LEDGER_URL", server)
    return postgres


@pytest.mark.usefixtures("base")
def test_in_postgres(tmp_path):
    run("env:LEDGER_URL", tmp_path / "drawn", 60)


def test_in_postgres_entries_are_added_only_and_a_ledger_moves_there(base, tmp_path):
    old, new = SpendingLedger(tmp_path / "old.db"), SpendingLedger("env:LEDGER_URL", by="cron")
    with pytest.raises(PrivacyError, match="no ledger in the database that LEDGER_URL names"):
        new.account("REG")
    old.init("REG", SourceLimit(rho=LIMIT, unit="person"), approval="x")
    attempt = old.attempt("REG", PrivacyUnit(name="person"), job="j")
    attempt.reserve(ZCDP(0.5))
    old.copy_to(new)
    assert new.verify(head=attempt.mark.head).ok
    again = new.attempt("REG", PrivacyUnit(name="person"), job="j")
    again.resume(attempt.attempt)
    again.settle("d")
    with pytest.raises(BudgetExceeded):
        new.attempt("REG", PrivacyUnit(name="person"), job="k").reserve(ZCDP(0.51))
    new.init("SECOND", SourceLimit(rho=1.0), approval="y")
    assert new.sources() == ("REG", "SECOND")
    assert "REG" in str(new)
    for change in (
        "UPDATE pysynthdp_ledger SET at = ''",
        "DELETE FROM pysynthdp_ledger",
        "TRUNCATE pysynthdp_ledger",
    ):
        with pytest.raises(Exception, match="added only"):
            base(change)


def test_a_database_that_is_away_is_said_without_its_password(monkeypatch):
    monkeypatch.setenv("LEDGER_URL", "postgresql://me:secret@127.0.0.1:1/base")
    with pytest.raises(SchemaError, match="LEDGER_URL names could not be reached") as error:
        SpendingLedger("env:LEDGER_URL").account("REG")
    assert "secret" not in str(error.value)
    monkeypatch.setenv("LEDGER_URL", "sqlite:///x.db")
    with pytest.raises(PlanError, match="names no PostgreSQL"):
        SpendingLedger("env:LEDGER_URL")
