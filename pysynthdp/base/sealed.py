"""Encrypted arrays: AES-256 in counter mode, its key in memory alone; decrypted where they are read."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.base.words import Setting, Words

__all__ = ["Key", "SealedArray", "Sealing"]

_STEP: Final = 2**20  # bytes in work at a time
_BLOCK: Final = 16  # bytes of AES


class Key:
    """A random key of 256 bits: never shown, pickled or written; overwritten when it is dropped.

    Raises
    ------
    PlanError
        If the package ``cryptography`` is missing.

    Notes
    -----
    Privacy: it is a secret of one process. What Python itself copied of it is beyond reach.

    Examples
    --------
    >>> Key()
    <Key>
    """

    __slots__ = ("__weakref__", "_ciphers", "_secret")

    def __init__(self) -> None:
        self._ciphers = _cryptography()
        self._secret = bytearray(os.urandom(32))
        weakref.finalize(self, _wipe, self._secret)

    def __repr__(self) -> str:
        return "<Key>"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied."""
        raise PrivacyError("the key of an encrypted scratch stays in its process", kind="scratch")

    def at(self, nonce: bytes, place: int) -> Any:
        """Make what encrypts bytes, or decrypts them, from a place that is a whole number of blocks."""
        algorithms, modes, make = self._ciphers
        counter = nonce + (place // _BLOCK).to_bytes(_BLOCK - len(nonce), "big")
        return make(algorithms.AES(self._secret), modes.CTR(counter)).encryptor()


def _wipe(secret: bytearray) -> None:
    """Overwrite a key."""
    secret[:] = bytes(len(secret))


def _cryptography() -> tuple[Any, Any, Any]:
    """Load the optional package, or say how to install it."""
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        what = Words("{asked} needs the package cryptography", asked=Setting("scratch_encrypt", True))
        mend = "install it with: pip install cryptography"
        raise PlanError(what, kind="scratch", remedy=mend) from None
    return algorithms, modes, Cipher


@dataclass(slots=True, repr=False)
class Sealing:
    """How one file is encrypted: a key, and a nonce that no other file has.

    Parameters
    ----------
    key : Key
        Of all files.
    nonce : bytes (8,)
        Random; the other half of a counter block numbers the blocks of the file.
    writing : encryptor
        Goes on from one piece to the next.

    Notes
    -----
    NIST SP 800-38A, section 6.5. That content is not changed by others is not checked.
    """

    key: Key
    nonce: bytes
    writing: Any

    @classmethod
    def by(cls, key: Key) -> Sealing:
        """Begin a file."""
        nonce = os.urandom(_BLOCK // 2)
        return cls(key, nonce, key.at(nonce, 0))

    def sealed(self, content: memoryview) -> Iterator[bytes]:
        """Encrypt a piece, by pieces of it that are never there together."""
        for start in range(0, len(content), _STEP):
            yield self.writing.update(content[start : start + _STEP])

    def opened(self, content: memoryview, start: int, stop: int) -> AnyArray:
        """Decrypt the bytes from one place in the file to another."""
        skipped = start % _BLOCK
        clear = np.empty(stop - start + skipped + _BLOCK - 1, dtype=np.uint8)
        self.key.at(self.nonce, start - skipped).update_into(content[start - skipped : stop], clear.data)
        return clear[skipped : skipped + stop - start]


class SealedArray(NDArrayOperatorsMixin):
    """A read-only array (n,) in an encrypted file: slices are decrypted when they are taken.

    Parameters
    ----------
    content : buffer
        Of the file.
    sealing : Sealing
        How it is encrypted.
    dtype : dtype
        Of the values.

    Notes
    -----
    Privacy: values lie in memory only where they were taken. Whatever asks for all (``np.asarray``,
    arithmetic, comparisons) gets an array of all; its repr shows none.
    """

    __slots__ = ("_content", "_sealing", "dtype", "size")
    ndim: Final = 1

    def __init__(self, content: Any, sealing: Sealing, dtype: np.dtype[Any]) -> None:
        self._content = memoryview(content).cast("B")
        self._sealing = sealing
        self.dtype = dtype
        self.size = self._content.nbytes // dtype.itemsize

    def __repr__(self) -> str:
        return f"<SealedArray of {self.size:,} {self.dtype}>"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled."""
        self._sealing.key.__reduce__()

    def __len__(self) -> int:
        return self.size

    @property
    def shape(self) -> tuple[int]:
        """Its length."""
        return (self.size,)

    @property
    def nbytes(self) -> int:
        """Bytes that all values would take in memory."""
        return self._content.nbytes

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        """Decrypt all."""
        del copy  # it always is one
        return np.asarray(self._between(0, self.size), dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Decrypt all, then calculate."""
        if any(isinstance(each, SealedArray) for each in kwargs.get("out", ())):
            return NotImplemented
        clear = (np.asarray(each) if isinstance(each, SealedArray) else each for each in inputs)
        return getattr(ufunc, method)(*clear, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        """Decrypt a slice, or the rows of a mask or of a list of numbers; a value by its number."""
        if isinstance(key, slice):
            return self._sliced(range(self.size)[key])
        if isinstance(key, int | np.integer):
            at = range(self.size)[int(key)]
            return self._between(at, at + 1)[0]
        wanted = np.asarray(key)
        if wanted.ndim == 1 and wanted.dtype == np.bool_ and len(wanted) == self.size:
            return self._masked(wanted)
        return self._between(0, self.size)[wanted]

    def __iter__(self) -> Iterator[Any]:
        return iter(np.asarray(self))

    def __getattr__(self, name: str) -> Any:
        """Take what else an array has from the whole of it, decrypted: ``max``, ``astype``, ``copy``."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def _between(self, start: int, stop: int) -> AnyArray:
        """Decrypt the values from one place to another."""
        width = self.dtype.itemsize
        clear = self._sealing.opened(self._content, start * width, stop * width)
        if (clear.ctypes.data % max(self.dtype.alignment, 1)) != 0:
            clear = clear.copy()
        return clear.view(self.dtype)

    def _runs(self) -> Iterator[tuple[int, int]]:
        """Places of about a megabyte each."""
        step = max(_STEP // self.dtype.itemsize, 1)
        for start in range(0, self.size, step):
            yield start, min(start + step, self.size)

    def _sliced(self, places: range) -> AnyArray:
        """Decrypt the values at evenly spaced places, of many a run at a time."""
        if places.step == 1:
            return self._between(places.start, max(places.stop, places.start))
        if places.step < 0:
            return self._sliced(places[::-1])[::-1]
        taken = np.empty(len(places), dtype=self.dtype)
        done = 0
        for start, stop in self._runs():
            if done == len(places) or places[done] >= stop:
                continue
            own = self._between(start, stop)[places[done] - start : max(places.stop - start, 0) : places.step]
            taken[done : done + len(own)] = own
            done += len(own)
        return taken

    def _masked(self, wanted: AnyArray) -> AnyArray:
        """Decrypt the values of some rows, a run at a time."""
        taken = np.empty(int(np.count_nonzero(wanted)), dtype=self.dtype)
        done = 0
        for start, stop in self._runs():
            own = self._between(start, stop)[wanted[start:stop]]
            taken[done : done + len(own)] = own
            done += len(own)
        return taken
