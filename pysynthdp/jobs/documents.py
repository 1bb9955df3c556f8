"""Reports of a job, for its board (INTERNAL) and the public; written before the copies take their place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pysynthdp.base.errors import PrivacyError
from pysynthdp.io.durable import appearing_file
from pysynthdp.jobs.evaluated import Evaluated
from pysynthdp.jobs.job_file import Job

__all__ = ["check_documents", "written_reports"]

_REPORTS: Final = ("board", "note")


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


def written_reports(seen: Evaluated, home: Path) -> Iterator[Path]:
    """Write the reports that a job asks for into its own folder.

    Parameters
    ----------
    seen : Evaluated
        The job, its copies, and what was measured of them so far.
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
        if name in seen.job.output.documents:
            yield from _written(name, seen, home)


def _written(name: str, seen: Evaluated, home: Path) -> Iterator[Path]:
    """Write one report."""
    document = seen.report.board() if name == "board" else seen.report.public()
    texts = {".html": document.to_html()} | ({".json": document.to_json()} if name == "board" else {})
    for suffix, text in texts.items():
        path = home / (f"INTERNAL_board{suffix}" if name == "board" else f"{document.name}{suffix}")
        with appearing_file(path) as file:
            file.write(text)
        yield path
