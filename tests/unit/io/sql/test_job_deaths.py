"""A job that dies around any commit of a ledger in PostgreSQL is resumed, and spends the budget once."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import pysynthdp as sdp
from pysynthdp.io.ledger.storage import PostgresStorage

pytestmark = pytest.mark.skipif(os.name == "nt", reason="forks and kills as Unix does")
WRITINGS, PLACES = 2, 3  # reserve and settle; before a transaction, before its commit, behind it
PEOPLE = "sex,age,smoke,cigarettes\n" + "F,20,NO,-8\nM,30,YES,5\nF,41,YES,10\n" * 100


@pytest.fixture(scope="module")
def jobs():
    """The jobs that tests of jobs share."""
    spec = importlib.util.spec_from_file_location("job_places", Path(__file__).parents[3] / "job_places.py")
    sys.modules[spec.name] = found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def dying(patch, at):
    """Let this process be killed at the at-th place around a transaction that writes."""
    ticks, writing = [0], PostgresStorage.writing

    def tick():
        ticks[0] += 1
        if ticks[0] == at:
            os.kill(os.getpid(), signal.SIGKILL)

    @contextmanager
    def watched(self, source):
        tick()
        with writing(self, source) as tables:
            yield tables
            tick()
        tick()

    patch.setattr(PostgresStorage, "writing", watched)


def test_killed_around_a_commit_noise_is_paid_once(postgres, server, jobs, tmp_path, monkeypatch):
    pytest.importorskip("psycopg")
    monkeypatch.setenv("LEDGER_URL", server)
    ledger, reserved = sdp.SpendingLedger("env:LEDGER_URL"), []
    for at in range(1, WRITINGS * PLACES + 2):
        postgres("DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
        ledger.init("REG", sdp.SourceLimit(rho=2.5, unit="person"), approval="x")
        place = jobs.Place(tmp_path / str(at), jobs.NOISED)
        place.folder.mkdir()
        (place.folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
        (place.folder / "codebook.toml").write_text(jobs.CODEBOOK, encoding="utf-8")
        place.write(("people.db", "env:LEDGER_URL"))

        def work(place=place, at=at):
            dying(monkeypatch, at)
            place.run()

        kinds = lambda: [event.kind for event in ledger.account("REG").events]  # noqa: E731
        assert jobs.in_child(work) == (-signal.SIGKILL if at <= WRITINGS * PLACES else 0)
        reserved.append(kinds())
        place.run(resume=True)
        account = ledger.account("REG")
        assert kinds() == ["limit", "reserved", "spent"]  # of rho 2.5, so a second one would be refused
        assert account.used == pytest.approx(2.0, rel=1e-4)
        (mark,) = sdp.SyntheticRelease.load(place.places.folder).privacy.ledger
        assert mark.head == account.events[1].digest
    assert [len(found) for found in reserved] == [1, 1, 2, 2, 2, 3, 3]  # what was not committed never was
