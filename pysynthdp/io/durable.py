"""Files that survive a loss of power or never were: written aside, flushed, renamed, and flushed again."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["appearing_file", "flush_tree", "moved"]


@contextmanager
def appearing_file(path: Path, *, private: bool = True) -> Iterator[IO[str]]:
    """Open a file to write text to, which takes its name when all is on disk, or vanishes with the error.

    Parameters
    ----------
    path : Path
        What it will be called; one of that name is replaced.
    private : bool
        Whether only its owner may read it; else as the umask says.

    Notes
    -----
    Privacy: writes what it is given.
    """
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        _flush(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def flush_tree(folder: Path) -> None:
    """Flush every file below a folder and every folder, itself too."""
    for place, _, names in os.walk(folder, topdown=False):
        for name in names:
            _flush(Path(place, name))
        _flush(Path(place))


def moved(here: Path, there: Path) -> Path:
    """Give a file or folder, flushed before, another name on the same disk, and flush the name."""
    here.rename(there)
    for folder in {here.parent, there.parent}:
        _flush(folder)
    return there


def _flush(path: Path) -> None:
    """Flush a file, or the names in a folder, which Windows does by itself."""
    if os.name == "nt":
        return
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
