"""R's files: ``.rds`` holds one object, ``.RData`` several by name."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal

from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.codec.reader import DEFAULT_MAX_BYTES, loads
from pysynthdp.bridge.codec.values import RPairs, RValue
from pysynthdp.bridge.codec.writer import dumps

__all__ = ["load_rdata", "load_rds", "save_rds"]

_MAKE: Final[dict[bytes, Callable[[], Any]]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lzma.LZMADecompressor,
    b"\x5d\x00\x00": lambda: lzma.LZMADecompressor(format=lzma.FORMAT_ALONE),
}
_LEVEL: Final = 1  # of gzip: half of level 6's gain at a fifth of its time
_RDATA: Final = (b"RDX2\n", b"RDX3\n")


def load_rds(path: str | PathLike[str], *, max_bytes: int = DEFAULT_MAX_BYTES) -> RValue:
    """Read the object of an ``.rds`` file: gzip, bzip2, xz or not compressed.

    Parameters
    ----------
    path : path
        What ``saveRDS()`` wrote.
    max_bytes : int
        Bytes that the unpacked file may take, and again the decoded object.

    Returns
    -------
    RVector, RPairs, RSymbol, RS4, ROpaque or None
        None is R's NULL.

    Raises
    ------
    BridgeError
        If the file is no R object, is damaged, or is larger than ``max_bytes``.

    Notes
    -----
    Privacy: reads whatever the file holds; nothing in it is run.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from pysynthdp.bridge.codec import character
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.rds"
    >>> save_rds(character(["a"]), path)
    >>> load_rds(path).texts
    ('a',)
    """
    return loads(_unpack(Path(path).read_bytes(), max_bytes), max_bytes=max_bytes)


def load_rdata(path: str | PathLike[str], *, max_bytes: int = DEFAULT_MAX_BYTES) -> dict[str, RValue]:
    """Read the objects of an ``.RData`` file by name.

    Parameters
    ----------
    path : path
        What ``save()`` or ``save.image()`` wrote.
    max_bytes : int
        Bytes that the unpacked file may take, and again the decoded objects.

    Returns
    -------
    dict
        Objects by name, in the order of the file.

    Raises
    ------
    BridgeError
        If the file is no ``.RData``, is damaged, or is larger than ``max_bytes``.

    Notes
    -----
    Privacy: reads whatever the file holds; nothing in it is run.

    Examples
    --------
    >>> load_rdata("survey.RData")  # doctest: +SKIP
    {'survey': RVector(kind='list', s4=False)}
    """
    data = _unpack(Path(path).read_bytes(), max_bytes)
    if data[:5] not in _RDATA:
        raise BridgeError("this is no .RData file of save(); for saveRDS() files use load_rds", kind="R data")
    found = loads(data[5:], max_bytes=max_bytes)
    if found is None:
        return {}
    if not isinstance(found, RPairs):
        raise BridgeError(
            "this .RData file holds no named objects; write it again with save()", kind="R data"
        )
    return {cell.tag: cell.value for cell in found.cells if cell.tag is not None}


def save_rds(value: RValue, path: str | PathLike[str], *, compress: Literal["gzip", "none"] = "gzip") -> None:
    """Write an object to an ``.rds`` file for ``readRDS()``.

    Parameters
    ----------
    value : RVector, RPairs, RSymbol, RS4, ROpaque or None
        The object.
    path : path
        Overwritten if it exists.
    compress : {"gzip", "none"}
        ``"none"`` is faster and larger.

    Raises
    ------
    BridgeError
        If the object holds an environment or a function: drop that part.

    Notes
    -----
    Privacy: the file holds every value of the object, attributes and calls too.

    Examples
    --------
    >>> save_rds(None, "nothing.rds")  # doctest: +SKIP
    """
    data = dumps(value)
    # No time stamp: the same object gives the same file.
    packed = gzip.compress(data, _LEVEL, mtime=0) if compress == "gzip" else data
    Path(path).write_bytes(packed)


def _unpack(data: bytes, max_bytes: int) -> bytes:
    """Undo the compression that the first bytes tell, never making more than ``max_bytes``."""
    make = next((make for mark, make in _MAKE.items() if data.startswith(mark)), None)
    if make is None:
        return data
    parts: list[bytes] = []
    left = max_bytes
    while data:
        part, data = _unpack_one(make(), data, left)
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _unpack_one(unpacker: Any, data: bytes, left: int) -> tuple[bytes, bytes]:
    """Undo one compressed member; give its bytes and what follows it in the file."""
    try:
        part = unpacker.decompress(data, left + 1)
    except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError) as error:
        raise BridgeError(
            "the file's compression is damaged; write it again with saveRDS()", kind="R data"
        ) from error
    if len(part) > left:
        raise BridgeError(
            "the unpacked file is larger than agreed; raise max_bytes if you trust it", kind="R data"
        )
    if not unpacker.eof:
        raise BridgeError("the compressed file is cut off; copy or write it again", kind="R data")
    return part, unpacker.unused_data
