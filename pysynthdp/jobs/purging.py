"""Deleting what a job keeps beside its release: an unfinished run, copies in quarantine, or all of it."""

from __future__ import annotations

import shutil
from pathlib import Path

from pysynthdp.base.errors import ReleaseError
from pysynthdp.jobs.job_file import Job
from pysynthdp.jobs.lock import locked
from pysynthdp.jobs.places import Places

__all__ = ["purged"]


def purged(job: Job, *, state: bool, quarantine: bool, everything: bool) -> list[Path]:
    """Delete.

    Parameters
    ----------
    job : Job
        Whose.
    state : bool
        The unfinished run: the secret of its draws, and noised answers. It cannot be resumed then; what it
        reserved in a ledger counts for ever.
    quarantine : bool
        Copies that a gate stopped.
    everything : bool
        The job's own folder with log and record; not the release.

    Returns
    -------
    list of Path
        What is gone.

    Raises
    ------
    PlanError
        If the job is run now.

    Notes
    -----
    Privacy: deletes names; a disk may keep what they named until it is written over.
    """
    places = Places(job.output.folder)
    if not places.own.exists():
        return []
    asked = {places.state: state, places.quarantine: quarantine, places.own: everything}
    with locked(places.lock, lambda _: None):
        gone = [path for path, wanted in asked.items() if wanted and path.exists()]
        for path in gone:
            _delete(path)
    return gone


def _delete(path: Path) -> None:
    """Delete a folder with all that is in it."""
    try:
        shutil.rmtree(path)
    except OSError as error:
        raise ReleaseError(
            f"{path} cannot be deleted: {error.strerror or type(error).__name__}", kind="folder"
        ) from error
