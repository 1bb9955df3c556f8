"""A run that is killed anywhere and resumed gives the same bytes, and spends the budget once."""

from __future__ import annotations

import os
import shutil
import signal
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from job_places import COSTLY, NOISED, OPEN, contents, dying, in_child

import pysynthdp as sdp
from pysynthdp.io.answers_file import load_answers
from pysynthdp.jobs.state import State

pytestmark = pytest.mark.skipif(os.name == "nt", reason="forks and kills as Unix does")
SEED = ("[sample]", '[sample]\nseed_file = "seed"')


def run_and_die(place, monkeypatch, at):
    """Begin a run in a child that dies at a place; whether it did."""

    def work():
        with dying(monkeypatch, at):
            place.run()

    ended = in_child(work)
    assert ended in (0, -signal.SIGKILL)
    return ended != 0


def test_killed_anywhere_the_same_bytes(place_of, monkeypatch):
    def fresh(name):
        place = place_of(OPEN, name)
        (place.folder / "seed").write_text("a secret of enough bytes")
        place.write(SEED)
        return place

    whole = fresh("whole")
    whole.run()
    expected = contents(whole.places.folder)
    died = 0
    for at in range(1, 200):
        place = fresh(str(at))
        if not run_and_die(place, monkeypatch, at):
            break
        died += 1
        place.run(resume=True)
        assert contents(place.places.folder) == expected
        assert sorted(path.name for path in place.places.own.iterdir()) == ["key", "log.jsonl", "record.json"]
        assert sorted(path.name for path in place.places.folder.parent.iterdir()) == ["people", "people.job"]
    assert died > 25


def test_killed_the_same_values_in_files_of_statistical_packages(place_of, monkeypatch):
    pyreadstat = pytest.importorskip("pyreadstat")
    readers = {".sav": pyreadstat.read_sav, ".dta": pyreadstat.read_dta, ".xpt": pyreadstat.read_xport}

    def fresh(name):
        place = place_of(OPEN, name)
        (place.folder / "seed").write_text("a secret of enough bytes")
        place.write(SEED, ('formats = ["csv", "parquet"]', 'formats = ["sav", "dta", "xpt"]'))
        return place

    def values(place):
        """Every copy in every format, with its labels; the files themselves hold the time they were made."""
        files = sorted(path for path in place.places.folder.iterdir() if path.suffix in readers)
        assert len(files) == 2 * len(readers)
        read = {path.name: readers[path.suffix](path) for path in files}
        return {name: (frame, meta.variable_value_labels) for name, (frame, meta) in read.items()}

    whole = fresh("whole")
    whole.run()
    expected = values(whole)
    for at in (12, 24, 36):
        place = fresh(str(at))
        assert run_and_die(place, monkeypatch, at)
        place.run(resume=True)
        found = values(place)
        assert found.keys() == expected.keys()
        for name, (frame, labels) in expected.items():
            pd.testing.assert_frame_equal(found[name][0], frame)
            assert found[name][1] == labels


def test_killed_anywhere_noise_is_drawn_once(place_of, monkeypatch):
    seen, reserved, same = [], [], []
    for at in range(1, 200):
        place = place_of(NOISED, str(at))
        if not run_and_die(place, monkeypatch, at):
            break
        kept = load_answers(place.places.answers) if place.places.state.exists() else None
        state = State.read(place.places)
        twin = twin_of(place, state)
        reserved.append("reserved" in place.kinds())
        place.run(resume=True)
        assert place.kinds() == ["limit", "reserved", "spent"]  # rho is 2.5, so a second one would be refused
        account = place.ledger().account("REG")
        assert account.used == pytest.approx(2.0, rel=1e-4)
        (mark,) = sdp.SyntheticRelease.load(place.places.folder).privacy.ledger
        assert mark.head == account.events[1].digest
        if kept is not None and len(kept.answers) and state is not None:
            seen.append(at)
        if twin is not None and len(same) < 2:
            twin.run(resume=True)
            same.append(contents(twin.places.folder) == contents(place.places.folder))
    assert len(seen) > 8
    assert {*reserved} == {True, False}
    assert same == [True, True]


def twin_of(place, state):
    """Copy a dead run whose answers are complete, so that its copy reads the table again."""
    if state is None or not state.fitted:
        return None
    folder = place.folder.with_name(f"{place.folder.name}-twin")
    shutil.copytree(place.folder, folder)
    twin = type(place)(folder, place.text)
    replace(state, fitted=False).write(twin.places)
    return twin


def test_copies_that_were_begun_stay_charged_where_draws_cost(place_of, monkeypatch):
    died, most = [], 1
    for at in range(1, 200, 4):
        place = place_of(COSTLY, str(at))
        if not run_and_die(place, monkeypatch, at):
            break
        before = place.kinds().count("reserved")
        drawn = place.places.draft.exists()
        place.run(resume=True)
        after = place.kinds().count("reserved")
        assert after == (before if drawn else before + 1) or place.places.record.exists()
        assert after in (1, 2)
        most = max(most, after)
        died.append(at)
    assert len(died) > 5
    assert most == 2


@pytest.mark.parametrize("text", [OPEN, NOISED], ids=["open", "noised"])
def test_killed_at_random(place_of, text):
    """Twenty times, twice a run."""
    waits = np.random.default_rng(11).random((5, 2)) * 1.2
    for number, two in enumerate(waits):
        place = place_of(text, f"r{number}")
        for wait in two:
            child = os.fork()
            if not child:
                try:
                    place.run(resume=True)
                finally:
                    os._exit(0)
            time.sleep(wait)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        place.run(resume=True)
        assert sdp.verify(place.places.folder).exit_code in (0, 10)
        if text is NOISED:
            assert place.kinds() == ["limit", "reserved", "spent"]
