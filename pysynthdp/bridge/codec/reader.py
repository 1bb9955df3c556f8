"""Bytes -> R values.

Nothing is evaluated. Every nested read is a generator on an explicit stack, so that no depth of nesting can
exhaust Python's own; what a closure or an environment holds is read over and dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Final

from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.codec import altrep, texts, wire
from pysynthdp.bridge.codec.readover import ATTRIBUTED, PAIRS, READ_OVER, Reading, Stream
from pysynthdp.bridge.codec.source import DAMAGED, ITEM_BYTES, Source
from pysynthdp.bridge.codec.values import RS4, RCell, ROpaque, RPairs, RSymbol, RValue, RVector

__all__ = ["DEFAULT_MAX_BYTES", "loads"]

DEFAULT_MAX_BYTES: Final = 4 * 2**30
_MAX_DEPTH: Final = 100_000  # far above what R's own recursion can write
_CALLS: Final = (wire.LANGUAGE, wire.ATTRIBUTED_LANGUAGE)


def loads(data: bytes | memoryview, *, max_bytes: int = DEFAULT_MAX_BYTES) -> RValue:
    """Read one R object from bytes of R's serialize format, versions 2 and 3, XDR or little-endian.

    Parameters
    ----------
    data : bytes or memoryview
        What ``serialize(x, NULL)`` gives in R; not compressed. The decoded object has memory of its own.
    max_bytes : int
        Bytes of memory that the decoded object may take.

    Returns
    -------
    RVector, RPairs, RSymbol, RS4, ROpaque or None
        None is R's NULL.

    Raises
    ------
    BridgeError
        If the bytes are no R object, are damaged, or need more memory than ``max_bytes``.

    Notes
    -----
    Privacy: whatever the bytes hold is returned; nothing is evaluated, logged or kept.
    Format: "R Internals", section 1.8.

    Examples
    --------
    >>> loads(bytes.fromhex("580a000000020003060000020300" "0000000d" "00000001" "0000002a")).values
    array([42], dtype=int32)
    """
    source = Source(data, max_bytes)
    version = _header(source)
    if version not in (2, 3):
        raise BridgeError(f"serialize version {version} is not known; write with version = 3", kind="R data")
    return _run(Stream(source))


def _header(source: Source) -> int:
    """Read the versions and, in version 3, the encoding of the session that wrote."""
    version, _, _ = source.integer(), source.integer(), source.integer()
    if version == 3:
        source.native = texts.known_encoding(bytes(source.take(source.integer())).decode("latin-1"))
    return version


def _run(stream: Stream) -> RValue:
    """Run the stack of readings until the outermost is done."""
    current = _item(stream, stream.source.integer())
    if not isinstance(current, Generator):
        return current
    stack: list[Reading] = [current]
    value: RValue = None
    while stack:
        try:
            request = stack[-1].send(value)
        except StopIteration as done:
            stack.pop()
            value = done.value
            continue
        child = _item(stream, stream.source.integer()) if request is None else request
        if isinstance(child, Generator):
            _push(stack, child)
            value = None
        else:
            value = child
    return value


def _push(stack: list[Reading], child: Reading) -> None:
    """Go one level deeper."""
    if len(stack) >= _MAX_DEPTH:
        raise BridgeError(DAMAGED.format("it is nested too deeply"), kind="R data")
    stack.append(child)


def _item(stream: Stream, flags: int) -> Reading | RValue:
    """Read the item that the flags announce; what has parts comes as a Reading."""
    stream.source.charge(ITEM_BYTES)
    code = flags & 0xFF
    if code == wire.NIL:
        return None
    if code in wire.KIND_OF_CODE:
        return _vector(stream, flags)
    if code in PAIRS:
        return _pairs(stream, flags)
    if code in wire.SINGLETON:
        return ROpaque(wire.SINGLETON[code])
    special = _SPECIAL.get(code)
    if special is None:
        raise BridgeError(DAMAGED.format(f"type {code} is not known"), kind="R data")
    return special(stream, flags)


def _vector(stream: Stream, flags: int) -> Reading | RValue:
    """Read a vector; only lists and attributes need a Reading."""
    kind = wire.KIND_OF_CODE[flags & 0xFF]
    length = stream.source.length()
    if kind in ("list", "expression"):
        return _list(stream, kind, length, flags)
    read = texts.read_many(stream.source, length) if kind == "character" else None
    values = read if read is not None else stream.source.array(wire.ELEMENT[kind], length)
    values.flags.writeable = False
    if flags & wire.HAS_ATTRIBUTES:
        return _attributed(kind, values, flags)
    return RVector(kind, values)


def _attributed(kind: wire.Kind, values: object, flags: int) -> Reading:
    """Read the attributes that follow the elements of a vector."""
    attributes = _as_attributes((yield None)) if flags & wire.HAS_ATTRIBUTES else {}
    return RVector(kind, values, attributes, bool(flags & wire.S4_BIT))  # type: ignore[arg-type]  # one of both


def _list(stream: Stream, kind: wire.Kind, length: int, flags: int) -> Reading:
    """Read the elements of a list, then its attributes."""
    stream.source.need(4 * length)
    items: list[RValue] = []
    for _ in range(length):
        items.append((yield None))  # noqa: PERF401  # a comprehension cannot yield
    return (yield _attributed(kind, tuple(items), flags))


def _pairs(stream: Stream, flags: int) -> Reading:
    """Read a pairlist or call along its tail."""
    language = flags & 0xFF in _CALLS
    attributes: Mapping[str, RValue] = {}
    cells: list[RCell] = []
    while flags & 0xFF in PAIRS:
        stream.source.charge(ITEM_BYTES)
        if flags & wire.HAS_ATTRIBUTES or flags & 0xFF in ATTRIBUTED:
            own = _as_attributes((yield None))
            attributes = attributes if cells else own
        tag = (yield None) if flags & wire.HAS_TAG else None
        cells.append(RCell((yield None), tag.name if isinstance(tag, RSymbol) else None))
        flags = stream.source.integer()
    if flags & 0xFF != wire.NIL:
        # Only the state of a recipe has something other than a pairlist as its tail.
        tail = _item(stream, flags)
        cells.append(RCell((yield tail) if isinstance(tail, Generator) else tail))
    return RPairs(tuple(cells), language, attributes)


def _symbol(stream: Stream, flags: int) -> Reading | RValue:
    """Read a name and number it for later references."""
    del flags
    symbol = RSymbol(texts.read_one(stream.source) or "NA")
    stream.references.append(symbol)
    return symbol


def _reference(stream: Stream, flags: int) -> Reading | RValue:
    """Look up a name or environment that came before."""
    index = (flags >> 8) or stream.source.integer()
    if not 1 <= index <= len(stream.references):
        raise BridgeError(DAMAGED.format("it refers to something that did not come before"), kind="R data")
    return stream.references[index - 1]


def _s4(stream: Stream, flags: int) -> Reading:
    """Read the slots of an S4 object."""
    del stream
    return RS4(_as_attributes((yield None)) if flags & wire.HAS_ATTRIBUTES else {})


def _altrep(stream: Stream, flags: int) -> Reading:
    """Expand a vector that R stores by its recipe."""
    recipe = yield None
    state = yield None
    attributes = _as_attributes((yield None))
    vector = altrep.expand(recipe, state, stream.source.charge)
    s4 = bool(flags & wire.S4_BIT)
    return RVector(vector.kind, vector.values, attributes, s4 or vector.s4)


_SPECIAL: Final[dict[int, Callable[[Stream, int], Reading | RValue]]] = {
    wire.SYMBOL: _symbol,
    wire.REFERENCE: _reference,
    wire.S4: _s4,
    wire.ALTREP: _altrep,
    **READ_OVER,
}


def _as_attributes(value: RValue) -> dict[str, RValue]:
    """Turn the pairlist of an object's attributes into a dict."""
    if value is None:
        return {}
    if not isinstance(value, RPairs) or any(cell.tag is None for cell in value.cells):
        raise BridgeError(DAMAGED.format("attributes have no names"), kind="R data")
    return {cell.tag: cell.value for cell in value.cells if cell.tag is not None}
