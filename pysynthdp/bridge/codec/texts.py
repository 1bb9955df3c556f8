"""Character vectors <-> bytes, a window at a time without a loop over the texts.

Each text is a flags word, a length and its bytes. R's texts hold no zero byte, so a flags word can be found
by looking for its pattern; the headers found are trusted only if each begins where the one before ends.
"""

from __future__ import annotations

import codecs
import re
import struct
from typing import Final

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, IntArray
from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.codec import wire
from pysynthdp.bridge.codec.source import DAMAGED, Source
from pysynthdp.bridge.codec.values import UndecodedText

__all__ = ["known_encoding", "read_body", "read_many", "read_one", "write_many"]  # for the codec alone

_WINDOW: Final = 1 << 20
_FEW: Final = 32  # texts for which a loop beats numpy's fixed costs
_TEXT_BYTES: Final = 64  # a short Python str and its pointer
# Encodings of R sessions; others (zip, idna, ...) are no encodings of tables.
_ENCODING: Final = re.compile(
    r"utf-?8|us-ascii|ascii|ansi_x3\.4-1968|iso-?8859-\d+|latin-?\d|cp\d+|windows-\d+|koi8-[ru]"
    r"|gbk?|gb2312|gb18030|big5|euc-?(jp|kr|cn)|shift_?jis",
    re.IGNORECASE,
)


def known_encoding(name: str) -> str:
    """Give Python's name of the session encoding in a version 3 header; UTF-8 when it is not known."""
    if not _ENCODING.fullmatch(name):
        return "utf-8"
    try:
        found = codecs.lookup(name).name
    except LookupError:
        return "utf-8"
    return "utf-8" if found == "ascii" else found


def decode(raw: bytes, mark: int, native: str) -> str:
    """Decode one text by its mark; what cannot be decoded keeps its bytes and its mark."""
    if mark & wire.MARK_LATIN1:
        # R calls Windows' superset latin1; five bytes have no character there.
        return raw.decode("latin-1" if re.search(rb"[\x81\x8d\x8f\x90\x9d]", raw) else "cp1252")
    encoding = "utf-8" if mark & (wire.MARK_UTF8 | wire.MARK_ASCII) else native
    try:
        if not mark & wire.MARK_BYTES:
            return raw.decode(encoding)
    except UnicodeDecodeError:
        pass
    return UndecodedText(raw.decode("ascii", "surrogateescape"), mark)


def read_one(source: Source) -> str | None:
    """Read one text with its header."""
    flags = source.integer()
    if flags & 0xFF != wire.TEXT or flags & wire.HAS_ATTRIBUTES:
        raise BridgeError(DAMAGED.format("a text was expected"), kind="R data")
    return read_body(source, flags)


def read_body(source: Source, flags: int) -> str | None:
    """Read the length and the bytes of a text whose flags are known; None is NA."""
    size = source.integer()
    if size == -1:
        return None
    source.charge(_TEXT_BYTES + max(size, 0))
    return decode(bytes(source.take(size)), flags & wire.MARKS, source.native)


def read_many(source: Source, length: int) -> AnyArray:
    """Read the elements of a character vector into an object array of str and None."""
    source.need(8 * length)
    source.charge(8 * length)
    out = np.empty(length, dtype=object)
    done = 0
    while done < length:
        texts = _window(source, length - done) if length - done > _FEW else None
        if texts is None:
            texts = _one_by_one(source, length - done)
        out[done : done + len(texts)] = texts
        done += len(texts)
    return out


def _one_by_one(source: Source, wanted: int) -> list[str | None]:
    """Read the texts that begin in the next window in a loop, so that each window is searched only once."""
    stop = source.position + _WINDOW
    texts: list[str | None] = []
    while len(texts) < wanted and source.position < stop:
        texts.append(read_one(source))
    return texts


def _window(source: Source, wanted: int) -> list[str | None] | None:
    """Read as many whole texts as one window holds, at most ``wanted``; None if that is not worth it."""
    size = min(source.left, _WINDOW, max(4096, 64 * wanted))
    window = source.bytes[source.position : source.position + size]
    starts, flags, sizes = _headers(window, source.order)
    ends = starts + 8 + np.maximum(sizes, 0)
    count = min(len(starts), wanted)
    chained = count >= _FEW and starts[0] == 0 and bool((ends[: count - 1] == starts[1:count]).all())
    if not chained:
        return None
    texts = _decode_window(window[: ends[count - 1]], flags[:count], sizes[:count], source)
    source.position += int(ends[count - 1])
    return texts


def _headers(window: AnyArray, order: str) -> tuple[IntArray, IntArray, IntArray]:
    """Find the headers of the texts that lie whole in the window: positions, flags, sizes."""
    type_byte = 3 if order == ">" else 0
    found = np.flatnonzero(window == wire.TEXT) - type_byte
    found = found[(found >= 0) & (found + 8 <= len(window))]
    head = window[found[:, None] + np.arange(8)].view(f"{order}i4").astype(np.int64)
    flags, sizes = head[:, 0], head[:, 1]
    plausible = (flags & ~wire.MARKS == wire.TEXT) & (sizes >= -1)
    whole = found + 8 + np.maximum(sizes, 0) <= len(window)
    keep = plausible & whole
    return found[keep], flags[keep], sizes[keep]


def _decode_window(window: AnyArray, flags: IntArray, sizes: IntArray, source: Source) -> list[str | None]:
    """Decode chained texts at once if they are all valid UTF-8, else one by one."""
    source.charge(_TEXT_BYTES * len(sizes) + len(window))
    held = np.maximum(sizes, 0)
    ends = np.cumsum(held)
    body = np.delete(window, _header_bytes(ends - held))
    plain = source.native == "utf-8" and not (flags & (wire.MARK_LATIN1 | wire.MARK_BYTES)).any()
    texts = _split_utf8(body, ends - held, ends) if plain else None
    if texts is None:
        whole = body.tobytes()
        marks = (flags & wire.MARKS).tolist()
        spans = zip(marks, (ends - held).tolist(), ends.tolist(), strict=True)
        texts = [decode(whole[start:end], mark, source.native) for mark, start, end in spans]
    for missing in np.flatnonzero(sizes == -1).tolist():
        texts[missing] = None
    return texts


def _header_bytes(offsets: IntArray) -> IntArray:
    """Give the positions of the 8 header bytes before each text, given where its body starts among bodies."""
    heads = offsets + 8 * np.arange(len(offsets))
    return np.asarray((heads[:, None] + np.arange(8)).ravel())


def _split_utf8(body: AnyArray, starts: IntArray, ends: IntArray) -> list[str | None] | None:
    """Cut texts out of their joined bytes; None if one of them is not UTF-8 by itself."""
    try:
        joined = body.tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return None
    if len(joined) != len(body):
        first = (body & 0xC0) != 0x80
        inside = starts[ends > starts]
        if not first[inside].all():
            return None  # a character reaches over the border of two texts
        before = np.concatenate(([0], np.cumsum(first)))
        starts, ends = before[starts], before[ends]
    return [joined[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]


def write_many(values: AnyArray, order: str) -> bytes:
    """Write the elements of a character vector, headers and all."""
    texts = values.tolist()
    missing = np.fromiter((text is None for text in texts), dtype=np.bool_, count=len(texts))
    present = [text for text in texts if text is not None] if missing.any() else texts
    try:
        joined = "".join(present)
    except TypeError as error:
        raise BridgeError("a character vector may hold only str and None", kind="R data") from error
    if "\0" in joined:
        raise BridgeError("an R text cannot hold a zero character; remove it", kind="R data")
    try:
        body = np.frombuffer(joined.encode("utf-8"), dtype=np.uint8)
    except UnicodeEncodeError:
        return b"".join(_write_one(text, order) for text in texts)
    counts = np.fromiter(map(len, present), dtype=np.int64, count=len(present))
    return _assemble(body, counts, missing, order)


def _assemble(body: AnyArray, counts: IntArray, missing: BoolArray, order: str) -> bytes:
    """Put headers between texts, given their joined UTF-8 bytes and their lengths in characters."""
    begins = np.append(np.flatnonzero((body & 0xC0) != 0x80), len(body))
    sizes = np.diff(begins[np.append(0, np.cumsum(counts))])
    _check_size(int(sizes.max(initial=0)))
    head = np.empty((len(missing), 2), dtype=f"{order}i4")
    head[missing] = (wire.TEXT, -1)
    head[~missing, 0] = wire.TEXT | np.where(sizes == counts, wire.MARK_ASCII, wire.MARK_UTF8)
    head[~missing, 1] = sizes
    held = np.zeros(len(missing), dtype=np.int64)
    held[~missing] = sizes
    positions = _header_bytes(np.cumsum(held) - held)
    out = np.empty(len(body) + positions.size, dtype=np.uint8)
    is_body = np.ones(out.size, dtype=np.bool_)
    is_body[positions] = False
    out[positions] = head.view(np.uint8).ravel()
    out[is_body] = body
    return out.tobytes()


def _check_size(size: int) -> None:
    """Refuse a text whose length has no place in its header."""
    if size > wire.MAX_TEXT:
        raise BridgeError("an R text holds at most 2^31 - 1 bytes; shorten it", kind="R data")


def _write_one(text: str | None, order: str) -> bytes:
    """Write one text that may hold undecodable bytes."""
    pack = struct.Struct(f"{order}ii").pack
    if text is None:
        return pack(wire.TEXT, -1)
    try:
        raw, mark = text.encode("utf-8"), wire.MARK_UTF8
    except UnicodeEncodeError:
        raw, mark = _escaped(text), getattr(text, "mark", 0)
    _check_size(len(raw))
    return pack(wire.TEXT | (wire.MARK_ASCII if raw.isascii() else mark), len(raw)) + raw


def _escaped(text: str) -> bytes:
    """Give the bytes behind lone surrogates; refuse surrogates that stand for no byte."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise BridgeError(
            "a text holds half a surrogate pair, which is no character; remove it", kind="R data"
        ) from None  # which holds the text
