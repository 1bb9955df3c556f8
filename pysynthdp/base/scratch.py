"""Arrays on disk: written piece by piece into a nameless file, then mapped; memory holds what is read."""

from __future__ import annotations

import errno
import mmap
import tempfile
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import numpy as np
import pyarrow as pa

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.errors import PlanError
from pysynthdp.base.sealed import Key, SealedArray, Sealing
from pysynthdp.base.words import Said, Setting, Words

__all__ = ["Scratch", "ScratchFile", "is_stored", "scratch_error", "stored", "stored_pieces"]

_MAPPABLE: Final = "biufcmM"  # kinds of dtype whose bytes are their values
_OPEN_FILES = Path("/dev/fd")  # where a system lists a process's open files by number, if it does
_LARGER: Final = Words(
    "name a folder on a larger disk with {scratch}, or make room", scratch=Setting("scratch", ...)
)
_OTHER: Final = Words("name another with {scratch}", scratch=Setting("scratch", ...))
_FAULTS: Final = {
    errno.ENOENT: ("{folder} is not there", _OTHER),
    errno.ENOTDIR: ("{folder} is no folder", _OTHER),
    errno.EACCES: ("nothing may be written into {folder}", _OTHER),
    errno.EPERM: ("nothing may be written into {folder}", _OTHER),
    errno.EROFS: ("nothing may be written into {folder}, which is read-only", _OTHER),
    errno.ENOSPC: ("the disk of {folder} is full", _LARGER),
    errno.EDQUOT: ("the quota of the disk of {folder} is used up", _LARGER),
    errno.EFBIG: ("no file in {folder} may become that large", "raise the limit (ulimit -f)"),
    errno.EMFILE: ("as many files are open as may be", "raise the limit (ulimit -n)"),
}


@dataclass(frozen=True, slots=True)
class Scratch:
    """Where arrays of a confidential table may lie on disk while it is fitted.

    Parameters
    ----------
    folder : path, optional
        An existing folder; the system's for temporary files by default.
    key : Key, optional
        With it, files hold what it encrypts.

    Notes
    -----
    Privacy: the files hold real values. They have no name (on Linux they never had one), mode 600, and are
    freed when the last array of them is dropped or the process ends, however it ends; what they held is not
    overwritten.
    """

    folder: Path | None = None
    key: Key | None = None

    def file(self) -> ScratchFile:
        """Open a nameless file.

        Raises
        ------
        PlanError
            If none can be opened there.
        """
        try:
            file = tempfile.TemporaryFile(dir=self.folder, buffering=0)  # noqa: SIM115 -- ScratchFile closes it
        except OSError as error:
            raise scratch_error(error, self.folder) from error
        sealing = None if self.key is None else Sealing.by(self.key)
        return ScratchFile(cast("BinaryIO", file), self.folder, sealing)

    def tried(self) -> None:
        """Write a byte and forget it.

        Raises
        ------
        PlanError
            If that cannot be done.
        """
        file = self.file()
        file.write(np.zeros(1, dtype=np.uint8))
        file.array()


@dataclass(slots=True, repr=False, weakref_slot=True)
class ScratchFile:
    """One array under way: written from its start to its end, then mapped.

    Parameters
    ----------
    file : binary file
        Without a buffer: pieces are large.
    folder : path, optional
        For what is said where it is full.
    sealing : Sealing, optional
        What encrypts it.
    """

    file: BinaryIO
    folder: Path | None = None
    sealing: Sealing | None = None
    dtype: np.dtype[Any] | None = None
    size: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        weakref.finalize(self, self.file.close)

    def write(self, values: AnyArray) -> None:
        """Add values behind those written before, all of one dtype.

        Raises
        ------
        PlanError
            If the disk is full; the error of the system stands behind it.
        """
        self.dtype = self.dtype or values.dtype
        if values.dtype != self.dtype or self.dtype.kind not in _MAPPABLE:
            msg = f"an array of {values.dtype} cannot be written behind {self.dtype}"
            raise TypeError(msg)
        if values.size:
            content = memoryview(np.ascontiguousarray(values).view(np.uint8).data)
            try:
                for piece in [content] if self.sealing is None else self.sealing.sealed(content):
                    _write_all(self.file, piece)
            except OSError as error:
                self.file.close()
                raise scratch_error(error, self.folder) from error
        self.size += values.size

    def array(self) -> AnyArray:
        """Give all values, read-only, without reading them; the file is closed and its array keeps it.

        Returns
        -------
        array (size,)
            Of one dimension; decrypted where it is read (:class:`~pysynthdp.base.sealed.SealedArray`).

        Raises
        ------
        PlanError
            If the system tells only now that the disk is full.
        """
        if not self.size or self.dtype is None:
            self.file.close()
            return np.zeros(0, dtype=self.dtype)
        try:
            with self.file:
                held = _mapped(self.file)
        except OSError as error:
            raise scratch_error(error, self.folder) from error
        if self.sealing is None:
            return np.frombuffer(held, dtype=self.dtype)
        return cast("AnyArray", SealedArray(held, self.sealing, self.dtype))


def stored(values: AnyArray, scratch: Scratch | None) -> AnyArray:
    """Put an array where the others lie; without a scratch it stays in memory.

    Examples
    --------
    >>> stored(np.arange(3), None)
    array([0, 1, 2])
    >>> on_disk = stored(np.arange(3), Scratch())
    >>> on_disk, on_disk.flags.writeable
    (array([0, 1, 2]), False)
    """
    if scratch is None or is_stored(values):
        return values
    file = scratch.file()
    file.write(values)
    return file.array()


def stored_pieces(pieces: Iterable[AnyArray], scratch: Scratch | None) -> AnyArray:
    """Put pieces of one dtype, one at least, behind one another where the others lie.

    Examples
    --------
    >>> stored_pieces([np.arange(2), np.arange(3)], Scratch())
    array([0, 1, 0, 1, 2])
    """
    if scratch is None:
        return np.concatenate(list(pieces))
    file = scratch.file()
    for piece in pieces:
        file.write(piece)
    return file.array()


def is_stored(values: Any) -> bool:
    """Whether an array lies on disk already, encrypted or mapped.

    Examples
    --------
    >>> is_stored(np.arange(3)), is_stored(stored(np.arange(3), Scratch())[1:])
    (False, True)
    """
    while isinstance(values, np.ndarray):
        values = values.base
    return isinstance(values, SealedArray | pa.Buffer | mmap.mmap | memoryview)


def scratch_error(error: OSError, folder: Path | None) -> PlanError:
    """Say what is wrong with the folder, and what to do."""
    place = folder or Path(tempfile.gettempdir())
    plain = error.strerror or type(error).__name__
    number = errno.EACCES if error.errno == errno.ENOENT and place.exists() else error.errno
    what, remedy = _FAULTS.get(number or 0, (f"{{folder}} cannot be used ({plain})", _OTHER))
    setting = Said("scratch", "--scratch", "scratch")
    text = Words("{setting}: " + what, setting=setting, folder=str(place))
    return PlanError(text, kind="scratch", remedy=remedy)


def _write_all(file: BinaryIO, content: memoryview | bytes) -> None:
    """Write all bytes, of which a system may take a part at a time."""
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]


def _mapped(file: BinaryIO) -> Any:
    """Map a file read-only: by its number where there is such a place, since Python's maps keep it open."""
    by_number = _OPEN_FILES / str(file.fileno())
    if not by_number.exists():
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    with pa.memory_map(str(by_number)) as source:
        return source.read_buffer()
