"""The folder for scratch: chosen, tried and, where it is no disk, named, before a table is read."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

from pysynthdp.base.remarks import Remark, say
from pysynthdp.base.scratch import Scratch
from pysynthdp.base.sealed import Key
from pysynthdp.base.words import Said, Setting, Words

__all__ = ["in_memory", "opened_scratch", "usual_folder"]

_MOUNTS = Path("/proc/self/mountinfo")  # on Linux; elsewhere nothing is known
_LARGE = Path("/var/tmp")  # noqa: S108 -- for large files, and on disk where /tmp is not (FHS 3.0, section 5.15)
_NO_DISKS: Final = {"tmpfs", "ramfs"}
_CHOSEN: Final = ("TMPDIR", "TEMP", "TMP")  # what tempfile asks


def opened_scratch(folder: str | os.PathLike[str] | None, *, encrypt: bool = False) -> Scratch:
    """Choose where arrays may lie on disk; a file is opened there, and closed, to see that it can be done.

    Parameters
    ----------
    folder : path, optional
        An existing folder; by default the system's for temporary files (:func:`usual_folder`).
    encrypt : bool
        Whether files are encrypted, with a key that is made here and lies in memory alone.

    Raises
    ------
    PlanError
        If nothing can be written there, or the package ``cryptography`` is missing.

    Warns
    -----
    PysynthdpWarning
        If the folder lies in memory.

    Notes
    -----
    Privacy: touches no record.
    """
    place = usual_folder() if folder is None else Path(folder)
    scratch = Scratch(place, Key() if encrypt else None)
    scratch.tried()
    if in_memory(place):
        what = Words(
            "{setting}: {folder} lies in memory, so what is put there takes as much of it as ever",
            setting=Said("scratch", "--scratch", "scratch"),
            folder=str(place),
        )
        mend = Words("name a folder on a disk with {scratch}", scratch=Setting("scratch", ...))
        say([Remark("", "scratch", what, mend)])
    return scratch


def usual_folder() -> Path:
    """Give the folder that ``TMPDIR`` names, or the system's; ``/var/tmp`` where that lies in memory."""
    usual = Path(tempfile.gettempdir())
    asked = any(os.environ.get(name) for name in _CHOSEN)
    if not asked and in_memory(usual) and os.access(_LARGE, os.W_OK) and not in_memory(_LARGE):
        return _LARGE
    return usual


def in_memory(folder: Path) -> bool:
    """Whether a folder is known to lie in memory (tmpfs), by the list of what is mounted."""
    try:
        device = folder.stat().st_dev
        lines = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    own = f"{os.major(device)}:{os.minor(device)}"
    mounts = (line.partition(" - ") for line in lines if line.split()[2:3] == [own])
    return any(rest.split()[:1] and rest.split()[0] in _NO_DISKS for _, _, rest in mounts)
