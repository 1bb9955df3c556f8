"""What a job's runs did, as its record and log tell: for the ticket, INTERNAL."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pysynthdp.base.display import Cell, Printable, Table
from pysynthdp.io.folder.manifest import MANIFEST, digest_of, listed_files, read_manifest
from pysynthdp.jobs.job_file import Job
from pysynthdp.jobs.lock import held_by
from pysynthdp.jobs.places import Places
from pysynthdp.jobs.state import Record, State, read_record

__all__ = ["JobReport", "reported_job"]


@dataclass(frozen=True, slots=True, repr=False)
class JobReport(Printable):
    """What was run.

    Parameters
    ----------
    job : Job
        As its file says it now.
    status : str
        ``"never run"``, ``"running"``, ``"unfinished"``, ``"released"``, ``"in quarantine"``,
        ``"changed since"``, ``"taken away since"``.
    record : Record or None
        How the last run ended.
    lines : tuple of dict
        Of the log, in order.

    Notes
    -----
    Privacy: INTERNAL: what gates saw may compare with the confidential table. Quotes no value.
    """

    job: Job
    status: str
    record: Record | None
    lines: tuple[dict[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        """Write plain values for programs."""
        return {
            "job": self.job.name,
            "digest": self.job.digest,
            "status": self.status,
            **dict(self._facts()),
            "steps": [dict(line) for line in self.lines],
        }

    def to_table(self) -> Table:
        """Build a card: how it ended, and each step of each run."""
        heads = ("time", "run", "event", "what", "rows", "seconds", "memory (MB)")
        facts: tuple[tuple[str, Cell], ...] = (
            ("status", self.status),
            ("digest", self.job.digest),
            *self._facts(),
        )
        return Table(f"Job {self.job.name}: INTERNAL", heads, tuple(self._rows()), facts)

    def _facts(self) -> Iterator[tuple[str, Cell]]:
        """Give what the record says."""
        if self.record is None:
            return
        yield from (
            ("run", self.record.run),
            ("digest that was run", self.record.digest),
            ("software", f"pysynthdp {self.record.software}"),
            ("input, keyed digest", self.record.source or "of a database: none"),
            ("release.json, SHA-256", self.record.manifest),
            ("copies", str(self.record.copies(Places(self.job.output.folder)))),
        )
        for name, value, limit, ok in self.record.gates:
            yield f"gate {name}", f"{value:g}, at most {limit:g}: {'passes' if ok else 'fails'}"

    def _rows(self) -> Iterator[tuple[Cell, ...]]:
        """Give the lines of the log that say that something was done or went wrong."""
        for line in self.lines:
            if line.get("event") in ("start", "resume", "lock", "done", "warning", "fault", "gate", "end"):
                what = line.get("step") or line.get("what") or line.get("how") or ""
                if line["event"] == "end":
                    what = f"exit code {line.get('exit_code')}"
                sizes = (line.get(name, "") for name in ("rows", "seconds", "memory_mb"))
                yield (line.get("time", ""), line.get("run", ""), line["event"], what, *sizes)


def reported_job(job: Job) -> JobReport:
    """Say what a job's runs did.

    Notes
    -----
    Privacy: reads log, record and release; no confidential record.
    """
    places = Places(job.output.folder)
    record = read_record(places)
    return JobReport(job, _status(places, record), record, tuple(_lines(places.log)))


def _status(places: Places, record: Record | None) -> str:
    """Say how things stand."""
    if held_by(places.lock) is not None:
        return "running"
    if State.read(places) is not None:
        return "unfinished"
    if record is None:
        return "never run"
    there = record.copies(places)
    if not (there / MANIFEST).is_file():
        return "taken away since"
    listed = listed_files(read_manifest(there))
    same = digest_of(there / MANIFEST) == record.manifest and all(
        (there / name).is_file() and digest_of(there / name) == facts["sha256"]
        for name, facts in listed.items()
    )
    if not same:
        return "changed since"
    return "in quarantine" if record.failed else "released"


def _lines(path: Path) -> Sequence[dict[str, Any]]:
    """Read the log; a line that a death left half written is passed over."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return []
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return [line for line in found if isinstance(line, dict)]
