"""A run: what it writes and where, what it refuses to resume, gates and quarantine, lock, log, limits."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
from pathlib import Path

import pytest
from job_places import COSTLY, NOISED, OPEN, contents, dying, in_child

from pysynthdp.base.errors import BudgetExceeded, PlanError, PrivacyError, ReleaseError, SchemaError
from pysynthdp.jobs.checked import check_budget, checked_job
from pysynthdp.jobs.job_file import read_job
from pysynthdp.jobs.lock import held_by, locked
from pysynthdp.jobs.purging import purged
from pysynthdp.jobs.reported import reported_job
from pysynthdp.jobs.site import Site
from pysynthdp.jobs.state import State, read_record

SEED = ("[sample]", '[sample]\nseed_file = "seed"')


def lines(place):
    return [json.loads(line) for line in place.places.log.read_text("utf-8").splitlines()]


def dead(place, monkeypatch, at=12):
    """A run that died after it had begun."""

    def work():
        with dying(monkeypatch, at):
            place.run()

    assert in_child(work) != 0
    assert State.read(place.places) is not None


def test_workers_change_no_byte_and_the_seed_does(place_of):
    made = []
    for name, seed, workers in (("a", "x" * 16, 1), ("b", "x" * 16, 2), ("c", "y" * 16, 1)):
        place = place_of(OPEN, name)
        (place.folder / "seed").write_text(seed)
        place.write(SEED, ("[sample]", f"[limits]\nworkers = {workers}\n[sample]"))
        place.run()
        made.append(contents(place.places.folder))
    assert made[0] == made[1]
    assert made[0]["synthetic_1.csv"] != made[2]["synthetic_1.csv"]
    (place.folder / "seed").write_text("short")
    place.write(("out/people", "out/other"))
    with pytest.raises(PlanError, match="can be guessed"):
        place.run()


def test_nothing_is_written_elsewhere_and_no_socket_is_opened(place_of):
    place = place_of(OPEN)
    scratch = place.folder / "scratch"
    scratch.mkdir()
    place.write(("[sample]", '[limits]\nscratch = "scratch"\n[sample]'))
    opened: list[str] = []

    def watch(event, args):
        writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT
        if event == "open" and isinstance(args[0], str) and isinstance(args[2], int) and args[2] & writes:
            opened.append(str(Path(args[0]).absolute()))
        if event in ("socket.connect", "socket.bind", "socket.getaddrinfo"):
            opened.append(event)

    def work():
        sys.addaudithook(watch)
        place.run()
        own = (str(place.folder / "out"), str(scratch), "/dev/null")
        elsewhere = [name for name in opened if not name.startswith(own)]
        assert opened
        assert not elsewhere, elsewhere

    assert in_child(work) == 0
    assert not list(scratch.iterdir())


def test_the_umask_is_kept_and_what_is_secret_is_the_owners(place_of):
    place = place_of(NOISED)
    before = os.umask(0o027)
    try:
        place.run()
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in place.places.folder.iterdir()} == {0o640}
    assert place.places.own.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in place.places.own.iterdir()} == {0o600}


def test_under_a_guarantee_the_log_tells_nothing_of_rows(place_of):
    place = place_of(NOISED)
    place.run()
    found = {line["step"]: line for line in lines(place) if line["event"] == "done"}
    for step in ("input", "read", "fit"):
        assert not {"rows", "seconds", "memory_mb"} & set(found[step])
    assert found["draw"]["rows"] == 200
    text = place.places.log.read_text("utf-8")
    assert hashlib.sha256((place.folder / "people.csv").read_bytes()).hexdigest() not in text
    for path in place.places.folder.iterdir():
        assert read_record(place.places).source.encode() not in path.read_bytes()


@pytest.mark.parametrize("what", ["input", "job", "codebook"])
def test_another_input_or_job_is_not_resumed(place_of, monkeypatch, what):
    place = place_of(NOISED)
    dead(place, monkeypatch)
    if what == "input":
        (place.folder / "people.csv").write_text("sex,age,smoke,cigarettes\nF,20,NO,-8\n")
    elif what == "job":
        place.write(("m = 2", "m = 3"))
    else:
        (place.folder / "codebook.toml").write_text((place.folder / "codebook.toml").read_text() + "\n")
    with pytest.raises(ReleaseError) as caught:
        place.run(resume=True)
    assert caught.value.kind == "job changed"
    with pytest.raises(PlanError, match="has not ended"):
        place.run()
    assert State.read(place.places) is not None
    if what == "job":
        place.write(("m = 3", "m = 2"), ("[sample]", "[limits]\nworkers = 1\n[sample]"))
        place.run(resume=True)  # limits change no result


def test_a_run_that_ended_is_not_run_again_by_resume(place_of):
    place = place_of(NOISED)
    place.run()
    place.places.folder.rename(place.folder / "moved")
    assert place.run(resume=True).before
    assert place.kinds() == ["limit", "reserved", "spent"]
    with pytest.raises(BudgetExceeded):
        place.run()
    assert not place.places.state.exists()
    assert place.run(resume=True).before  # what was refused left no trace
    place.write(("m = 2", "m = 3"))
    with pytest.raises(ReleaseError, match="changed since its last run"):
        place.run(resume=True)


def test_the_same_private_job_twice_is_two_spendings(place_of):
    place = place_of(NOISED, rho=4.5)
    place.run()
    place.places.folder.rename(place.folder / "first")
    place.run()
    assert place.kinds() == ["limit", "reserved", "spent", "reserved", "spent"]
    assert (
        contents(place.folder / "first")["synthetic_1.csv"]
        != contents(place.places.folder)["synthetic_1.csv"]
    )


def test_another_file_than_the_declared_one_is_refused(place_of):
    place = place_of(OPEN)
    place.write(('path = "people.csv"', f'path = "people.csv"\nsha256 = "{"0" * 64}"'))
    with pytest.raises(SchemaError, match=r"input\.sha256"):
        place.run()


def test_a_gate_that_fails_puts_the_copies_in_quarantine(place_of, monkeypatch):
    place = place_of(NOISED)
    place.write(("max_rho = 2.0", "max_rho = 1.0"))
    monkeypatch.setattr("pysynthdp.jobs.checked.check_price", lambda *_: None)  # as of one without a price
    for resume in (False, True):
        with pytest.raises(ReleaseError, match="quarantine") as caught:
            place.run(resume=resume)
        assert caught.value.kind == "disclosure gate"
    assert not place.places.folder.exists()
    (kept,) = place.places.quarantine.iterdir()
    assert (kept / "release.json").exists()
    assert reported_job(read_job(place.file)).status == "in quarantine"
    assert place.kinds().count("reserved") == 1
    purged(read_job(place.file), state=False, quarantine=True, everything=False)
    assert not place.places.quarantine.exists()


@pytest.mark.parametrize(
    ("text", "n", "gate"),
    [
        (NOISED, 300, "max_rho = 1.99"),
        (NOISED, 300, "max_epsilon = 9.0"),
        (COSTLY, 300, "max_epsilon = 0.1"),
        (COSTLY, None, "max_epsilon = 0.1"),
        (COSTLY, 300, "max_rho = 1.0"),
    ],
)
def test_what_costs_more_than_a_gate_lets_pass_is_refused_before_anything_is_spent(place_of, text, n, gate):
    place = place_of(text)
    place.write(
        ("[gates]", f"[gates]\n{gate}"), ("n = 300" if n is None else "[input]", "[input]" if n else "")
    )
    if "max_rho" in gate and text is NOISED:
        place.write(("max_rho = 2.0\n", ""))
    if n:  # with rows unknown, a sampling price waits for the table
        with pytest.raises(PrivacyError, match=f"gates.{gate[:7]}"):
            check_budget(checked_job(place.file, Site()))
    with pytest.raises(PrivacyError, match="nothing was spent") as caught:
        place.run()
    assert caught.value.kind == "price gate"
    assert place.kinds() == ["limit"]
    assert not place.places.state.exists()
    assert not place.places.quarantine.exists()


@pytest.mark.parametrize("m", [2, 3])
def test_a_gate_at_the_very_price_of_the_copies_lets_them_pass(place_of, m):
    place = place_of(COSTLY)
    price = checked_job(place.file, Site()).price
    place.write(("[gates]", f"[gates]\nmax_epsilon = {price.epsilon(1e-6)!r}"), ("m = 2", f"m = {m}"))
    if m == 2:
        (passed,) = place.run().outcomes
        assert passed.value == passed.limit
    else:
        with pytest.raises(PrivacyError, match="3 copies by this plan cost epsilon"):
            place.run()


def test_locks_of_the_living_hold_and_those_of_the_dead_are_broken(tmp_path):
    said, path = [], tmp_path / "lock"
    with locked(path, said.append):
        mine = json.loads(path.read_text())
        assert {"host", "boot", "pid", "started"} == set(mine)
        with pytest.raises(PlanError, match="another process"), locked(path, said.append):
            pass
    assert not said
    assert not path.exists()
    others = (
        ({**mine, "host": "elsewhere"}, False),
        ({**mine, "pid": os.getppid(), "started": "x"}, True),
        ({**mine, "boot": "before"}, True),
        ({**mine, "pid": 2**22 + 1}, True),
    )
    for holder, is_dead in others:
        path.write_text(json.dumps(holder))
        assert (held_by(path) is None) == is_dead
        if is_dead:
            with locked(path, said.append):
                pass
        else:
            with pytest.raises(PlanError, match="on elsewhere"), locked(path, said.append):
                pass
    assert len(said) == 3
    path.write_text("{half")
    with locked(path, said.append):
        pass
    assert socket.gethostname() in said[0]


def test_a_report_says_how_things_stand(place_of, monkeypatch):
    place = place_of(OPEN)
    status = lambda: reported_job(read_job(place.file)).status  # noqa: E731
    assert status() == "never run"
    dead(place, monkeypatch)
    assert status() == "unfinished"
    place.run(resume=True)
    assert status() == "released"
    assert "gate rules_failed" in str(reported_job(read_job(place.file)))
    with (place.places.folder / "README.txt").open("a") as file:
        file.write("more")
    assert status() == "changed since"


@pytest.mark.parametrize(
    ("gates", "kind"),
    [
        ("max_pmse_ratio_2way = 0.01", "quality gate"),
        ("max_repu_percent = { near = 0.01 }\nkeys = { near = ['sex', 'age', 'smoke'] }", "disclosure gate"),
        ("max_pmse_ratio_2way = 1000\nmax_repu_percent = { near = 100 }\nkeys = { near = ['sex'] }", None),
    ],
)
def test_gates_that_compare_with_the_table(place_of, gates, kind):
    place = place_of(OPEN)
    place.write(("rules_failed = 0", gates))
    if kind is None:
        assert all(each.ok for each in place.run().outcomes)
        return
    with pytest.raises(ReleaseError) as caught:
        place.run()
    assert caught.value.kind == kind
    noised = place_of(NOISED, "noised")
    noised.write(("max_rho = 2.0", gates))
    with pytest.raises(PrivacyError, match="compares copies with the confidential table"):
        noised.run()
