"""Being alone with a file: a lock of the operating system, which ends with its process, however that ends."""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pysynthdp.base.errors import ReleaseError

__all__ = ["Taken", "alone_with"]

_BUSY = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_held: set[Path] = set()  # in this process; some file systems lock processes and not threads
_guard = threading.Lock()


class Taken(Exception):  # noqa: N818 -- no error to a user: the caller says what to do
    """Another thread or process holds the lock."""


@contextmanager
def alone_with(path: Path) -> Iterator[None]:
    """Hold a lock on a file that may not be there yet, by a lock file beside it.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    Taken
        If another thread or process holds it; nothing is waited for.
    ReleaseError
        If the folder cannot be written to, or its file system has no locks.

    Notes
    -----
    Privacy: touches no record. The lock lies in the operating system and not in the lock file's being there,
    so one that a killed process left behind locks nothing.
    """
    real = path.resolve()
    lock = real.with_name(f".{real.name}.lock")
    with _guard:
        if lock in _held:
            raise Taken
        _held.add(lock)
    try:
        number = _locked(lock)
        try:
            yield
        finally:
            with suppress(OSError):  # Windows keeps open files
                lock.unlink()
            os.close(number)
    finally:
        with _guard:
            _held.discard(lock)


def _locked(lock: Path) -> int:
    """Open and lock the lock file; again if its last holder took it away in between."""
    while True:
        try:
            number = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ReleaseError(
                f"{lock.parent} cannot be written: {error.strerror or type(error).__name__}", kind="lock"
            ) from error
        try:
            _lock(number)
            if _same(number, lock):
                return number
        except OSError as error:
            os.close(number)
            if error.errno in _BUSY:
                raise Taken from None
            raise ReleaseError(
                f"{lock.parent} lies on a file system without locks ({error.strerror}); give a path on "
                "a disk of this computer",
                kind="lock",
            ) from error
        os.close(number)


def _same(number: int, lock: Path) -> bool:
    """Whether an open file is still the one of that name."""
    try:
        return os.path.samestat(os.fstat(number), lock.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _lock(number: int) -> None:
        """Lock the first byte, or fail at once."""
        msvcrt.locking(number, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(number: int) -> None:
        """Lock the open file, or fail at once."""
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
