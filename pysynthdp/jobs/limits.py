"""What a run may take of the machine: memory, and how much it gives way to others."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pysynthdp.base.errors import PlanError
from pysynthdp.jobs.job_file import Limits

if sys.platform != "win32":
    import resource

__all__ = ["check_limits", "keeping"]

_GB = 10**9
_NICE = 19


def check_limits(limits: Limits) -> None:
    """Refuse limits that cannot be kept, before a row is read.

    Raises
    ------
    PlanError
        If this system knows no such limit, or there is no folder for scratch.
    """
    if limits.memory_gb is not None and sys.platform == "win32":
        raise PlanError(
            "limits.memory_gb cannot be kept on this system", kind="limits", remedy="leave it out"
        )
    if limits.nice is not None and limits.nice > _NICE:
        raise PlanError(f"limits.nice is at most {_NICE}", kind="limits")
    if limits.scratch is not None and not limits.scratch.is_dir():
        raise PlanError(f"limits.scratch: there is no folder {limits.scratch}", kind="limits")


@contextmanager
def keeping(limits: Limits) -> Iterator[None]:
    """Bound what this process can take until the end; how much it gives way to others stays.

    Notes
    -----
    Privacy: touches no record. Memory is that of data (RLIMIT_DATA): files that are mapped for reading, such
    as columns in scratch, do not count, as the system takes them back when it needs the room.
    """
    if sys.platform == "win32":
        yield
        return
    if limits.nice is not None:
        os.nice(limits.nice)
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if limits.memory_gb is not None:
        most = int(limits.memory_gb * _GB)
        bounded = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (bounded, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
