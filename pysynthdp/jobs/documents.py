"""Reports of a job, for its board (INTERNAL) and the public; written before the copies take their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from pysynthdp.base.errors import PrivacyError
from pysynthdp.evaluate import Report
from pysynthdp.io.durable import appearing_file
from pysynthdp.jobs.job_file import Job

__all__ = ["check_documents", "written_reports"]

_REPORTS: Final = ("board", "note")
_GATES: Final = ("rules_failed", "max_pmse_ratio_2way", "max_repu_percent")


def check_documents(job: Job, *, learns: bool) -> None:
    """Refuse a report of the records under a guarantee, before a row is read.

    Raises
    ------
    PrivacyError
        If so: whether and when it is written would tell of records.
    """
    if "board" in job.output.documents and not learns:
        raise PrivacyError(
            "output.documents asks for board, which holds copies against the confidential table; a "
            "guarantee does not allow that in the run",
            kind="documents",
            remedy="leave it out; who holds the table runs 'pysynthdp report' apart, and keeps what it says",
        )


def written_reports(job: Job, release: Path, table: Callable[[], Any], home: Path) -> Iterator[Path]:
    """Write the reports that a job asks for into its own folder.

    Parameters
    ----------
    job : Job
        Its purpose, gates and sets of keys.
    release : Path
        The copies, where they lie now.
    table : function without argument
        Gives the confidential table; not called for the note.
    home : Path
        The job's own folder.

    Yields
    ------
    Path
        Of each file: ``INTERNAL_board.html``, ``INTERNAL_board.json``, ``quality_note.html``.

    Notes
    -----
    Privacy: the board's report reads real rows; the note is a function of the copies alone.
    """
    for name in _REPORTS:
        if name in job.output.documents:
            yield from _written(name, job, release, table, home)


def _written(name: str, job: Job, release: Path, table: Callable[[], Any], home: Path) -> Iterator[Path]:
    """Write one report."""
    asked = {gate: getattr(job.gates, gate) for gate in _GATES}
    report = Report(
        table() if name == "board" else None,
        release,
        purpose=job.purpose or "public-analysis",  # type: ignore[arg-type]  # a job's purposes are a report's
        title=job.name,
        keys=job.gates.keys or {},
        limits={gate: limit for gate, limit in asked.items() if limit is not None},
    )
    document = report.board() if name == "board" else report.public()
    texts = {".html": document.to_html()} | ({".json": document.to_json()} if name == "board" else {})
    for suffix, text in texts.items():
        path = home / (f"INTERNAL_board{suffix}" if name == "board" else f"{document.name}{suffix}")
        with appearing_file(path) as file:
            file.write(text)
        yield path
