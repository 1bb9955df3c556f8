"""What a reading shares, and the readings of things that have no value outside R.

Closures, environments, pointers and compiled code are read over and dropped; only the numbers by which later
bytes refer to them are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.codec import texts, wire
from pysynthdp.bridge.codec.source import DAMAGED, ITEM_BYTES, Source
from pysynthdp.bridge.codec.values import ROpaque, RSymbol, RValue

__all__ = ["ATTRIBUTED", "PAIRS", "READ_OVER", "Reading", "Stream"]

Reading: TypeAlias = Generator["Reading | None", RValue, RValue]
"""Yields None to be sent the next item of the stream, or a Reading to be sent its result."""

PAIRS: Final = frozenset(
    {wire.PAIRLIST, wire.LANGUAGE, wire.DOTS, wire.ATTRIBUTED_PAIRLIST, wire.ATTRIBUTED_LANGUAGE}
)
ATTRIBUTED: Final = (wire.ATTRIBUTED_PAIRLIST, wire.ATTRIBUTED_LANGUAGE)
_CODE_PAIRS: Final = PAIRS | {wire.CODE_DEFINITION}


@dataclass(slots=True)
class Stream:
    """A source with the table of objects that later bytes refer to."""

    source: Source
    references: list[RSymbol | ROpaque] = field(default_factory=list)

    def refer(self, what: str) -> ROpaque:
        """Make something without contents and number it for later references."""
        found = ROpaque(what)
        self.references.append(found)
        return found


def text(stream: Stream, flags: int) -> Reading | RValue:
    """Read over a text that is no element of a vector."""
    texts.read_body(stream.source, flags)
    return ROpaque("text")


def environment(stream: Stream, flags: int) -> Reading:
    """Read over an environment: lock, enclosure, frame, hash table, attributes."""
    del flags
    found = stream.refer("environment")
    stream.source.integer()
    for _ in range(4):
        yield None
    return found


def closure(stream: Stream, flags: int) -> Reading:
    """Read over a closure or promise, stored like one cell of a pairlist."""
    del stream
    parts = 2 + bool(flags & wire.HAS_ATTRIBUTES) + bool(flags & wire.HAS_TAG)
    for _ in range(parts):
        yield None
    return ROpaque("function" if flags & 0xFF == wire.CLOSURE else "promise")


def builtin(stream: Stream, flags: int) -> Reading | RValue:
    """Read over the name of a function inside R."""
    del flags
    stream.source.take(stream.source.integer())
    return ROpaque("function")


def pointer(stream: Stream, flags: int) -> Reading:
    """Read over an external pointer or a weak reference."""
    is_pointer = flags & 0xFF == wire.POINTER
    found = stream.refer("external pointer" if is_pointer else "weak reference")
    for _ in range(2 * is_pointer + bool(flags & wire.HAS_ATTRIBUTES)):
        yield None
    return found


def named_environment(stream: Stream, flags: int) -> Reading | RValue:
    """Read over the texts that name a namespace, a package or a persistent object."""
    if stream.source.integer() != 0:
        raise BridgeError(DAMAGED.format("names of an environment have names"), kind="R data")
    for _ in range(stream.source.integer()):
        texts.read_one(stream.source)
    return stream.refer("namespace" if flags & 0xFF == wire.NAMESPACE else "package")


def bytecode(stream: Stream, flags: int) -> Reading:
    """Read over compiled code; its constants may be referred to from outside."""
    stream.source.integer()
    yield _code(stream)
    if flags & wire.HAS_ATTRIBUTES:
        yield None
    return ROpaque("bytecode")


def _code(stream: Stream) -> Reading:
    """Read over instructions and constants."""
    yield None
    for _ in range(stream.source.integer()):
        code = stream.source.integer()
        if code == wire.BYTECODE:
            yield _code(stream)
        elif code in _CODE_PAIRS or code == wire.CODE_REFERENCE:
            yield _code_pairs(stream, code)
        else:
            yield None
    return None


def _code_pairs(stream: Stream, code: int) -> Reading:
    """Read over a call inside compiled code, along its tail."""
    while code in _CODE_PAIRS:
        stream.source.charge(ITEM_BYTES)
        if code == wire.CODE_DEFINITION:
            stream.source.integer()
            code = stream.source.integer()
        if code in ATTRIBUTED:
            yield None
        yield None  # the tag
        yield _code_pairs(stream, stream.source.integer())
        code = stream.source.integer()
    if code == wire.CODE_REFERENCE:
        stream.source.integer()
    else:
        yield None
    return None


READ_OVER: Final[dict[int, Callable[[Stream, int], Reading | RValue]]] = {
    wire.TEXT: text,
    wire.ENVIRONMENT: environment,
    wire.CLOSURE: closure,
    wire.PROMISE: closure,
    wire.SPECIAL: builtin,
    wire.BUILTIN: builtin,
    wire.POINTER: pointer,
    wire.WEAK_REFERENCE: pointer,
    wire.NAMESPACE: named_environment,
    wire.PACKAGE: named_environment,
    wire.PERSISTENT: named_environment,
    wire.BYTECODE: bytecode,
}
