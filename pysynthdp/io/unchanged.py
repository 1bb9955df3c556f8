"""Whether a file is still the one that was opened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pysynthdp.base.errors import SchemaError

__all__ = ["Unchanged"]

_Facts = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Unchanged:
    """What the system said of a file before it was read: which one it is, how long, and when it was changed.

    Parameters
    ----------
    path : Path
        Of the file.
    facts : tuple of int
        Device, inode, size, and the times of the last change of its content and of anything about it, which
        no program can set back.

    Notes
    -----
    Privacy: reads no content.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = path.write_text("x")
    >>> before = Unchanged.of(path)
    >>> before.check()
    >>> _ = path.write_text("xy")
    >>> before.check()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    SchemaError: ... changed while it was read
    """

    path: Path
    facts: _Facts

    @classmethod
    def of(cls, path: Path) -> Unchanged:
        """Look at a file before its first byte is read."""
        return cls(path, _facts(path))

    def check(self) -> None:
        """Look again after its last byte was read.

        Raises
        ------
        SchemaError
            If it was written to, replaced or taken away.
        """
        try:
            same = _facts(self.path) == self.facts
        except OSError:
            same = False
        if not same:
            raise SchemaError(
                f"{self.path} changed while it was read", kind="file", remedy="wait until it is whole"
            )


def _facts(path: Path) -> _Facts:
    """Ask the system."""
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
