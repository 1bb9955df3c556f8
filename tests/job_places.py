"""Small jobs for tests: one without a guarantee, one under noise with a ledger, one whose draws cost."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import pysynthdp as sdp
from pysynthdp.io.ledger.storage import SQLiteStorage
from pysynthdp.jobs.checked import checked_job
from pysynthdp.jobs.job_file import read_job
from pysynthdp.jobs.log import JobLog
from pysynthdp.jobs.places import Places
from pysynthdp.jobs.running import run_job
from pysynthdp.jobs.site import Site

OPEN = """
version = 1
job = "people-2025"
purpose = "public-analysis"
[input]
path = "people.csv"
[plan]
missing = { cigarettes = { "-8" = "does not smoke" } }
universe = { cigarettes = ["smoke == 'YES'", -8] }
rules = ["age >= 16"]
[sample]
m = 2
[gates]
rules_failed = 0
[output]
folder = "out/people"
formats = ["csv", "parquet"]
"""
CODEBOOK = """
[columns.sex]
levels = ["F", "M"]
other = "F"
may_be_missing = false
[columns.age]
lower = 16
upper = 100
decimals = 0
may_be_missing = false
fallback = 50
"""
NOISED = """
version = 1
job = "people-dp"
[input]
path = "people.csv"
n = 300
[plan]
codebook = "codebook.toml"
drop = ["smoke", "cigarettes"]
[plan.guarantee]
name = "zcdp"
rho = 2.0
unit = { name = "person" }
[sample]
m = 2
k = 200
[budget]
ledger = "people.db"
source = "REG"
[gates]
max_rho = 2.0
[output]
folder = "out/people"
formats = ["csv", "parquet"]
"""
COSTLY = (
    NOISED.replace('name = "zcdp"\nrho = 2.0', 'name = "by_sampling"')
    .replace("max_rho = 2.0", "")
    .replace('drop = ["', 'method = { sex = { name = "dirichlet", prior = 50.0 } }\ndrop = ["age", "')
)


@dataclass
class Place:
    """A folder with a job."""

    folder: Path
    text: str

    @property
    def file(self) -> Path:
        return self.folder / "job.toml"

    @property
    def places(self) -> Places:
        return Places(read_job(self.file).output.folder)

    def write(self, *changes: tuple[str, str]) -> Path:
        text = self.text
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        self.text = text
        self.file.write_text(text, encoding="utf-8")
        return self.file

    def run(self, say: Callable[[str], None] = lambda _: None, **options: Any) -> Any:
        self.places.make()
        log = JobLog(self.places.log, "people", os.urandom(4).hex(), say)
        checked = checked_job(self.file, Site())
        return run_job(checked, log, **options)

    def ledger(self) -> sdp.SpendingLedger:
        return sdp.SpendingLedger(self.folder / "people.db")

    def kinds(self) -> list[str]:
        return [event.kind for event in self.ledger().account("REG").events]


@contextmanager
def dying(patch: pytest.MonkeyPatch, at: int) -> Iterator[None]:
    """Kill this process at the at-th place where something gets on disk."""
    ticks = [0]

    def tick() -> None:
        ticks[0] += 1
        if ticks[0] == at:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(real: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **options: Any) -> Any:
            tick()
            return real(*args, **options)

        return run

    writing = SQLiteStorage.writing

    @contextmanager
    def alone(self: Any, source: str) -> Iterator[Any]:
        tick()
        with writing(self, source) as tables:
            yield tables
            tick()

    for name in ("fsync", "rename", "replace", "unlink"):
        patch.setattr(os, name, around(getattr(os, name)))
    for name in ("rename", "replace"):
        patch.setattr(Path, name, around(getattr(Path, name)))
    patch.setattr(SQLiteStorage, "writing", alone)
    yield


def in_child(work: Callable[[], None]) -> int:
    """Do something in a child; how it ended, by signal or by code."""
    child = os.fork()
    if not child:
        try:
            work()
        except BaseException:  # noqa: BLE001 -- a child tells by its code
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a release."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
