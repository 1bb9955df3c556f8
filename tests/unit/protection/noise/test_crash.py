"""A process killed between noise and use has spent once: the rerun reads its file and never the table."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pysynthdp import CategoricalColumn, NumericColumn, Schema, Synthesizer
from pysynthdp.privacy.guarantees.zcdp import ZCDP

N = 300
SCHEMA = Schema(
    [
        CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False),
        NumericColumn("age", lower=16, upper=100, may_be_missing=False, fallback=50),
    ]
)
SCRIPT = """
    import importlib, os, signal, sys
    sys.path.insert(0, {folder!r})
    import {module} as tests
    place = importlib.import_module({where!r})

    def die(*args, **settings):
        os.kill(os.getpid(), signal.SIGKILL)

    real, calls = place.{what}, []
    def counted(*args, **settings):
        calls.append(1)
        return die() if len(calls) == {at} else real(*args, **settings)
    place.{what} = counted
    tests.settings().fit(tests.table(), answers={path!r})
"""


def settings() -> Synthesizer:
    return Synthesizer(schema=SCHEMA, guarantee=ZCDP(3.0), progress=False)


def table() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame({"sex": rng.choice(["F", "M"], N), "age": rng.uniform(16, 100, N)})


class UnreadableFrame(pd.DataFrame):
    """Raises when anybody looks at a cell; names and size are public."""

    def __getattribute__(self, name: str):
        if not name.startswith("_") and name not in ("columns", "shape", "index"):
            raise AssertionError(name)
        return super().__getattribute__(name)

    def __getitem__(self, key):
        raise AssertionError("cells")


def killed(path: Path, where: str, what: str, at: int) -> None:
    """Fit in a process that is killed when it calls a function for the at-th time."""
    me = Path(__file__)
    script = SCRIPT.format(
        folder=str(me.parent), module=me.stem, where=where, what=what, at=at, path=str(path)
    )
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], check=False, capture_output=True, text=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_killed_after_the_answers_were_written_the_rerun_never_reads_the_table(tmp_path):
    path = tmp_path / "answers.json"
    killed(path, "pysynthdp.protection.noise.fitting", "moment_state", at=1)
    kept = path.read_text()
    fitted = settings().fit(UnreadableFrame(table()), answers=path)
    assert path.read_text() == kept
    ledger = fitted.ledger
    assert ledger.to_dict() == json.loads(kept)["ledger"]
    assert ledger.total().rho <= 3.0
    assert fitted.draw(m=2).privacy.verify().ok


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("answered", [0, 1, 2])
def test_killed_while_an_answer_is_written_only_whole_answers_count(tmp_path, answered):
    # killed between the draft and its place: the last answer was never used, so the rerun may ask anew
    path = tmp_path / "answers.json"
    killed(path, "os", "fsync", at=2 * answered + 1)
    kept = json.loads(path.read_text()) if answered else {"answers": [], "ledger": []}
    assert len(kept["answers"]) == len(kept["ledger"]) == answered
    fitted = settings().fit(table(), answers=path)
    done = json.loads(path.read_text())
    assert done["answers"][:answered] == kept["answers"]
    assert len(done["answers"]) == 3
    assert fitted.ledger.total().rho <= 3.0


def test_each_answer_is_flushed_with_the_name_of_its_file_before_it_is_used(tmp_path, monkeypatch):
    path, done = tmp_path / "answers.json", []
    flush, place, go_on = os.fsync, Path.replace, Synthesizer.fit

    def fsync(number):
        done.append("flush folder" if stat.S_ISDIR(os.fstat(number).st_mode) else "flush file")
        return flush(number)

    def replace(self, target):
        done.append("in place")
        return place(self, target)

    monkeypatch.setattr("pysynthdp.io.durable.os.fsync", fsync)
    monkeypatch.setattr(Path, "replace", replace)
    go_on(settings(), table(), answers=path)
    assert done == ["flush file", "in place", "flush folder"] * 3
