"""Fits that start together with one file of answers: one asks the data, the others are refused before."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp

N = 300
SCHEMA = sdp.Schema(
    [
        sdp.CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False),
        sdp.NumericColumn("age", lower=16, upper=100, may_be_missing=False, fallback=50),
    ]
)
SCRIPT = """
    import os, signal, sys
    sys.path.insert(0, {folder!r})
    import test_together as tests
    import pysynthdp as sdp
    import pysynthdp.protection.noise.fitting as fitting

    asked, real = [], fitting.add_discrete_gaussian
    def slow(values, scale):
        asked.append(1)
        if len(asked) == {killed}:
            os.kill(os.getpid(), signal.SIGKILL)
        if len(asked) == 1:
            sys.stdin.readline()  # until the others have ended
        return real(values, scale)
    fitting.add_discrete_gaussian = slow
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        tests.settings(**{settings!r}).fit(tests.table(), answers={path!r})
        print("won", len(asked))
    except sdp.PrivacyError as error:
        print("refused", len(asked), error)
"""


def settings(**more) -> sdp.Synthesizer:
    return sdp.Synthesizer(schema=SCHEMA, guarantee=sdp.ByNoise(sdp.ZCDP(6.0), **more), progress=False)


def table() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame({"sex": rng.choice(["F", "M"], N), "age": rng.uniform(16, 100, N)})


def started(path: Path, *, killed: int = 0, **more) -> subprocess.Popen[str]:
    """Start a process that fits when it is told to, and waits for a word before its first noise."""
    me = Path(__file__)
    script = SCRIPT.format(folder=str(me.parent), path=str(path), killed=killed, settings=more)
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def together(processes: list[subprocess.Popen[str]], *, winners: int = 1) -> list[str]:
    """Let processes go at once, and the winners on when all others have ended; give what each says."""
    for process in processes:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
    for process in processes:
        tell(process)
    while sum(process.poll() is None for process in processes) > winners:
        time.sleep(0.05)
    for process in processes:
        tell(process)
    return [process.communicate()[0].strip() for process in processes]


def tell(process: subprocess.Popen[str]) -> None:
    """Say a word to a process, if it still listens."""
    with suppress(BrokenPipeError):
        process.stdin.write("\n")
        process.stdin.flush()


@pytest.mark.parametrize("more", [{}, {"fresh": 2}], ids=["one", "fresh"])
def test_of_three_processes_one_asks_and_two_are_refused_before_they_ask(more, tmp_path):
    path = tmp_path / "answers.json"
    said = sorted(together([started(path, **more) for _ in range(3)]))
    kept = json.loads(path.read_text())["answers"]
    assert said[2] == f"won {len(kept)}"
    for loser in said[:2]:
        assert loser.startswith("refused 0 another fit is writing its answers to")
        assert "run again, which reads them and spends nothing" in loser
    again = settings(**more).fit(None, answers=path)
    assert len(again.ledger.entries) == len(kept)
    assert [item.name for item in tmp_path.iterdir()] == ["answers.json"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("killed", [1, 3], ids=["before the first answer", "after two"])
def test_after_a_kill_of_the_winner_a_rerun_of_the_same_job_goes_on(killed, tmp_path):
    path = tmp_path / "answers.json"
    winner = started(path, killed=killed)
    together([winner])
    assert winner.returncode == -signal.SIGKILL
    before = json.loads(path.read_text())["answers"] if path.exists() else []
    assert len(before) == killed - 1
    assert (tmp_path / ".answers.json.lock").exists()
    (said,) = together([started(path)])
    after = json.loads(path.read_text())["answers"]
    assert said == f"won {len(after) - len(before)}"
    assert after[: len(before)] == before


def test_of_many_threads_one_asks_and_the_others_are_refused(tmp_path, monkeypatch):
    from pysynthdp.protection.noise import fitting

    path, gate = tmp_path / "answers.json", threading.Barrier(6)
    asked, said, real = [], [], fitting.add_discrete_gaussian

    def slow(values, scale):
        asked.append(threading.get_ident())
        while len(said) + len(set(asked)) < len(threads):  # until each has been refused, or asks too
            time.sleep(0.01)
        return real(values, scale)

    def fit():
        gate.wait()
        try:
            settings().fit(table(), answers=path)
            said.append("won")
        except sdp.PrivacyError as error:
            said.append(str(error))

    monkeypatch.setattr(fitting, "add_discrete_gaussian", slow)
    threads = [threading.Thread(target=fit) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said.count("won") == 1
    assert len(set(asked)) == 1
    assert len(asked) == len(json.loads(path.read_text())["answers"])
    assert all("another fit" in words for words in said if words != "won")


def test_what_another_fit_wrote_between_the_look_and_the_lock_is_not_asked_again(tmp_path, monkeypatch):
    from pysynthdp.protection.noise import fitting

    path, real, asked = tmp_path / "answers.json", fitting._record, []

    def record_then_another_fit(*args):
        made = real(*args)
        monkeypatch.setattr(fitting, "_record", real)
        settings().fit(table(), answers=path)
        monkeypatch.setattr(fitting, "add_discrete_gaussian", lambda *_: asked.append(1))
        return made

    monkeypatch.setattr(fitting, "_record", record_then_another_fit)
    with pytest.raises(sdp.PrivacyError, match="was written by another fit just now; run again"):
        settings().fit(table(), answers=path)
    assert asked == []


def test_whole_answers_serve_many_readers_at_once(tmp_path):
    """A file that holds everything is only read: no lock, so parallel jobs do not refuse each other."""
    from pysynthdp.io.file_lock import alone_with

    path = tmp_path / "answers.json"
    settings().fit(table(), answers=path)
    with alone_with(path):
        assert settings().fit(None, answers=path).draw(m=2).m == 2


def test_other_files_do_not_wait_for_each_other(tmp_path):
    said = together([started(tmp_path / name) for name in ("a.json", "b.json")], winners=2)
    assert [words.split()[0] for words in said] == ["won", "won"]
