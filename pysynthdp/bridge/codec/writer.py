"""R values -> bytes of R's serialize format, version 3, big-endian (XDR)."""

from __future__ import annotations

import struct
from collections.abc import Generator, Mapping
from typing import Final, TypeAlias

import numpy as np

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.codec import texts, wire
from pysynthdp.bridge.codec.values import RS4, RCell, ROpaque, RPairs, RSymbol, RValue, RVector

__all__ = ["dumps"]

_ORDER: Final = ">"
_FIRST_R_OF_VERSION_3: Final = 0x00030500
_HEADER: Final = b"X\n" + struct.pack(">iiii", 3, _FIRST_R_OF_VERSION_3, _FIRST_R_OF_VERSION_3, 5) + b"UTF-8"
_CODE_OF_SINGLETON: Final = {name: code for code, name in wire.SINGLETON.items()}
_DONE: Final = object()

Writing: TypeAlias = Generator[RValue, None, None]
"""Yields each part that must be written before it goes on."""


def dumps(value: RValue) -> bytes:
    """Write one R object as bytes that ``unserialize()`` reads in R 3.5 or later.

    Parameters
    ----------
    value : RVector, RPairs, RSymbol, RS4, ROpaque or None
        The object; :func:`~pysynthdp.bridge.frames.frame_to_r` makes one from a data frame.

    Returns
    -------
    bytes
        Version 3, XDR, not compressed.

    Raises
    ------
    BridgeError
        If the object holds an environment, a function or a pointer: drop that part.

    Notes
    -----
    Privacy: the bytes hold every value of the object, attributes and calls too. Environments and functions
    are refused because in R they carry along the data that they were made near.
    Format: "R Internals", section 1.8.

    Examples
    --------
    >>> from pysynthdp.bridge.codec import character, loads
    >>> loads(dumps(character(["a", None]))).texts
    ('a', None)
    """
    writer = _Writer()
    stack = [writer.item(value)]
    while stack:
        child = next(stack[-1], _DONE)
        if child is _DONE:
            stack.pop()
        else:
            stack.append(writer.item(child))  # type: ignore[arg-type]  # anything but the mark is an R value
    return b"".join(writer.parts)


class _Writer:
    """The parts written so far, with the numbers of the names that were."""

    def __init__(self) -> None:
        self.parts: list[bytes | memoryview] = [_HEADER]
        self.symbols: dict[str, int] = {}

    def item(self, value: RValue) -> Writing:
        """Write any value."""
        if value is None:
            self._integers(wire.NIL)
        elif isinstance(value, RVector):
            yield from self._vector(value)
        elif isinstance(value, RPairs):
            yield from self._pairs(value)
        elif isinstance(value, RSymbol):
            self._symbol(value.name)
        elif isinstance(value, RS4):
            self._integers(wire.S4 | wire.IS_OBJECT | wire.S4_BIT | _has(value.attributes))
            yield from self._attributes(value.attributes)
        else:
            self._opaque(value)

    def _integers(self, *values: int) -> None:
        """Write 32-bit words."""
        self.parts.append(struct.pack(f"{_ORDER}{len(values)}i", *values))

    def _vector(self, vector: RVector) -> Writing:
        """Write a vector: flags, length, elements, attributes."""
        flags = wire.CODE_OF_KIND[vector.kind] | _has(vector.attributes) | (wire.S4_BIT if vector.s4 else 0)
        self._integers(flags)
        self._length(len(vector))
        if isinstance(vector.values, tuple):
            yield from vector.values
        elif vector.kind == "character":
            self.parts.append(texts.write_many(vector.values, _ORDER))
        else:
            self.parts.append(_elements(vector.values, wire.ELEMENT[vector.kind]))
        yield from self._attributes(vector.attributes)

    def _length(self, length: int) -> None:
        """Write a length; beyond 32 bits as a mark and two words."""
        if length <= wire.MAX_INT:
            self._integers(length)
        else:
            self.parts.append(struct.pack(f"{_ORDER}iII", -1, length >> 32, length & 0xFFFFFFFF))

    def _attributes(self, attributes: Mapping[str, RValue]) -> Writing:
        """Write attributes as a pairlist; nothing at all when there are none."""
        if attributes:
            yield RPairs(tuple(RCell(value, name) for name, value in attributes.items()))

    def _pairs(self, pairs: RPairs) -> Writing:
        """Write a pairlist or call cell by cell."""
        code = wire.LANGUAGE if pairs.language else wire.PAIRLIST
        extra = _has(pairs.attributes)
        for cell in pairs.cells:
            self._integers(code | extra | (wire.HAS_TAG if cell.tag is not None else 0))
            if extra:
                yield from self._attributes(pairs.attributes)
            if cell.tag is not None:
                self._symbol(cell.tag)
            yield cell.value
            code, extra = wire.PAIRLIST, 0
        self._integers(wire.NIL)

    def _symbol(self, name: str) -> None:
        """Write a name once, then by its number."""
        number = self.symbols.get(name)
        if number is not None:
            packed = number <= wire.MAX_PACKED
            self._integers(*([(number << 8) | wire.REFERENCE] if packed else [wire.REFERENCE, number]))
            return
        self.symbols[name] = len(self.symbols) + 1
        self._integers(wire.SYMBOL)
        one = np.array([name], dtype=object)
        self.parts.append(texts.write_many(one, _ORDER))

    def _opaque(self, value: ROpaque) -> None:
        """Write one of the environments that every session has; refuse all else."""
        code = _CODE_OF_SINGLETON.get(value.what)
        if code is None:
            raise BridgeError(
                f"an R {value.what} cannot be sent; drop it, or send the values that it holds", kind="R data"
            )
        self._integers(code)


def _has(attributes: Mapping[str, RValue]) -> int:
    """Give the flag bits that attributes set."""
    if not attributes:
        return 0
    return wire.HAS_ATTRIBUTES | (wire.IS_OBJECT if "class" in attributes else 0)


def _elements(values: AnyArray, element: np.dtype[np.generic]) -> bytes:
    """Give the elements in the byte order of the stream, each NaN with its payload."""
    if values.dtype != element or values.ndim != 1:
        raise BridgeError(
            f"R vectors of this kind need a flat array of {element}, not of {values.dtype}", kind="R data"
        )
    word = np.dtype(np.uint64) if element.kind == "c" else np.dtype(f"u{element.itemsize}")
    return np.ascontiguousarray(values).view(word).astype(word.newbyteorder(_ORDER)).tobytes()
