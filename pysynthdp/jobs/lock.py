"""Who runs a job: one process, named by its computer, that computer's start, and its own number and start."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from pysynthdp.base.errors import PlanError
from pysynthdp.io.file_lock import Taken, alone_with
from pysynthdp.jobs.uninterrupted import uninterrupted

__all__ = ["held_by", "locked"]

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


@contextmanager
def locked(path: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of a job.

    Parameters
    ----------
    path : Path
        Lock file, on whatever disk.
    say : function of a text
        Is told of a lock that a dead process left, which is broken.

    Raises
    ------
    PlanError
        If another process, or one of another computer, holds it.

    Notes
    -----
    Privacy: touches no record. The operating system's lock beside it sees to it that two processes of one
    computer never break a lock at once; the file says to other computers that somebody is there.
    """
    try:
        with alone_with(path):
            _take(path, say)
            try:
                yield
            finally:
                with suppress(OSError):
                    path.unlink()
    except Taken:
        raise _busy(path, "another process of this computer") from None


def held_by(path: Path) -> str | None:
    """Say who holds a lock; None if nobody does, or a process that is dead."""
    holder = _read(path)
    return None if holder is None or _dead(holder) else _shown(holder)


def _take(path: Path, say: Callable[[str], None]) -> None:
    """Write the lock, over one of a dead process."""
    holder = _read(path)
    if holder is not None:
        if not _dead(holder):
            raise _busy(path, _shown(holder))
        say(f"broke the lock of {_shown(holder)}, which is dead")
        path.unlink(missing_ok=True)
    with uninterrupted():
        try:
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise _busy(path, "a process that came first") from None
        with os.fdopen(number, "w", encoding="utf-8") as file:
            json.dump(_myself(), file)


def _read(path: Path) -> dict[str, Any] | None:
    """Read who holds a lock; one that is not whole was being written when its process died."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        found = {}
    return found if isinstance(found, dict) else {}


def _myself() -> dict[str, Any]:
    """Name this process."""
    return {
        "host": socket.gethostname(),
        "boot": _boot(),
        "pid": os.getpid(),
        "started": _started(os.getpid()),
    }


def _dead(holder: Mapping[str, Any]) -> bool:
    """Whether a process is known to be dead; of another computer nothing is known."""
    if not holder:
        return True
    if holder.get("host") != socket.gethostname():
        return False
    if holder.get("boot") != _boot():
        return True
    pid = holder.get("pid")
    if not isinstance(pid, int) or pid == os.getpid():
        return True  # this process holds no lock, so the number was another's
    return not _lives(pid) or _started(pid) != holder.get("started")


def _lives(pid: int) -> bool:
    """Whether there is a process of that number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _boot() -> str:
    """Name the start of this computer; where it has no name, nothing."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _started(pid: int) -> str:
    """When a process was started, by the clock of the system, as numbers of processes come again."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _shown(holder: Mapping[str, Any]) -> str:
    """Name a process."""
    return f"process {holder.get('pid', '?')} on {holder.get('host', '?')}"


def _busy(path: Path, who: str) -> PlanError:
    """Say that the job is run."""
    return PlanError(
        f"this job is run by {who}",
        kind="lock",
        remedy=f"wait for it; if you know that it is dead, delete {path}",
    )
