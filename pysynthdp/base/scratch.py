"""Arrays on disk: written piece by piece into a nameless file, then mapped; memory holds what is read."""

from __future__ import annotations

import mmap
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

import numpy as np

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Setting, Words

__all__ = ["Scratch", "ScratchFile"]

_MAPPABLE: Final = "biufcmM"  # kinds of dtype whose bytes are their values


@dataclass(frozen=True, slots=True)
class Scratch:
    """Where arrays of a confidential table may lie on disk while it is fitted.

    Parameters
    ----------
    folder : path, optional
        An existing folder; the system's for temporary files by default.

    Notes
    -----
    Privacy: the files hold real values. They have no name (on Linux they never had one), mode 600, and are
    freed when the last array of them is dropped or the process ends, however it ends; what they held is not
    overwritten.
    """

    folder: Path | None = None

    def file(self) -> ScratchFile:
        """Open a nameless file.

        Raises
        ------
        PlanError
            If the folder takes none.
        """
        try:
            opened = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115
        except OSError as error:
            raise _no_scratch("takes no file", error) from error
        return ScratchFile(cast("BinaryIO", opened))


def _no_scratch(what: str, error: OSError) -> PlanError:
    """Say what is wrong with the folder; whether a disk is full, the error beneath tells the exit code."""
    return PlanError(
        f"the folder for columns on disk {what}: {error.strerror or type(error).__name__}",
        kind="scratch",
        remedy=Words("name another with {scratch}", scratch=Setting("scratch", "...")),
    )


@dataclass(slots=True, repr=False, weakref_slot=True)
class ScratchFile:
    """One array under way: written from its start to its end, then mapped."""

    file: BinaryIO
    dtype: np.dtype | None = None
    size: int = 0

    def __post_init__(self) -> None:
        weakref.finalize(self, self.file.close)

    def write(self, values: AnyArray) -> None:
        """Add values behind those written before, all of one dtype.

        Raises
        ------
        PlanError
            If the disk is full.
        """
        self.dtype = self.dtype or values.dtype
        if values.dtype != self.dtype or self.dtype.kind not in _MAPPABLE:
            msg = f"an array of {values.dtype} cannot be written behind {self.dtype}"
            raise TypeError(msg)
        try:
            self.file.write(np.ascontiguousarray(values).view(np.uint8).data if values.size else b"")
        except OSError as error:
            raise _no_scratch("is full", error) from error
        self.size += values.size

    def array(self) -> AnyArray:
        """Give all values, read-only, without reading them."""
        with self.file:  # the map keeps it
            try:
                self.file.flush()
            except OSError as error:
                raise _no_scratch("is full", error) from error
            if not self.size or self.dtype is None:
                return np.zeros(0, dtype=self.dtype)
            mapped = mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ)
        return np.frombuffer(mapped, dtype=self.dtype)
