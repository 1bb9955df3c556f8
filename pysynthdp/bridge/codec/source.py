"""A cursor over the bytes of a stream that never reads past the end nor grants more memory than agreed."""

from __future__ import annotations

import struct
from typing import Final, Literal

import numpy as np

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.errors import BridgeError

__all__ = ["DAMAGED", "ITEM_BYTES", "Source"]

ITEM_BYTES: Final = 400  # what one small R value costs as a Python object, rounded up
DAMAGED: Final = "the R stream is damaged or cut off ({}); write it again with saveRDS() or save()"


class Source:
    """Bytes, a position and a budget.

    Parameters
    ----------
    data : bytes or memoryview
        A whole serialized object with its two-byte format mark.
    budget : int
        Bytes of memory that the decoded object may take.
    """

    __slots__ = ("_int", "budget", "bytes", "native", "order", "position", "view")

    def __init__(self, data: bytes | memoryview, budget: int) -> None:
        self.view = memoryview(data)
        self.bytes = np.frombuffer(data, dtype=np.uint8)
        self.position = 0
        self.budget = budget
        self.order = self._byte_order()
        self._int = struct.Struct(self.order + "i")
        self.native = "utf-8"

    def _byte_order(self) -> Literal["<", ">"]:
        """Read the format mark: "X" is big-endian (XDR), "B" little-endian."""
        mark = bytes(self.take(2))
        if mark == b"A\n":
            raise BridgeError(
                "the R stream is in the ascii format; write it with ascii = FALSE", kind="R data"
            )
        if mark not in (b"X\n", b"B\n"):
            raise BridgeError(
                "these bytes are not an R object; give what saveRDS(), save() or serialize() wrote",
                kind="R data",
            )
        return ">" if mark == b"X\n" else "<"

    @property
    def left(self) -> int:
        """Bytes that are still to be read."""
        return len(self.view) - self.position

    def charge(self, size: int) -> None:
        """Take ``size`` bytes of memory from the budget."""
        self.budget -= size
        if self.budget < 0:
            raise BridgeError(
                "the R object needs more memory than agreed; raise max_bytes if you trust it", kind="R data"
            )

    def need(self, size: int) -> None:
        """Refuse a length that the remaining bytes cannot hold."""
        if size < 0 or size > self.left:
            raise BridgeError(DAMAGED.format("a length exceeds what follows"), kind="R data")

    def take(self, size: int) -> memoryview:
        """Read ``size`` bytes."""
        self.need(size)
        start = self.position
        self.position += size
        return self.view[start : self.position]

    def integer(self) -> int:
        """Read a 32-bit integer."""
        value: int = self._int.unpack(self.take(4))[0]
        return value

    def length(self) -> int:
        """Read the length of a vector; -1 announces a 64-bit one in two words."""
        size = self.integer()
        if size == -1:
            high, low = self.integer(), self.integer()
            size = (high << 32) + (low & 0xFFFFFFFF)
        if size < 0:
            raise BridgeError(DAMAGED.format("a negative length"), kind="R data")
        return size

    def array(self, element: np.dtype[np.generic], length: int) -> AnyArray:
        """Read ``length`` elements into an own, aligned array of the machine's byte order."""
        size = length * element.itemsize
        self.need(size)  # first: more memory would not mend a stream that is cut off
        self.charge(size)
        raw = np.frombuffer(self.take(size), dtype=np.uint8).copy()
        # Swapped as integers: a NaN must keep its payload, which tells NA from NaN.
        word = np.dtype(np.uint64) if element.kind == "c" else np.dtype(f"u{element.itemsize}")
        words = raw.view(word.newbyteorder(self.order))
        return words.astype(word, copy=False).view(element)
