"""Which records a CSV file has: under a guarantee one line is one record, whatever stands in it.

Readers of CSV files join lines while a quote is open, skip blank ones and break lines at carriage returns, so
one cell may decide how many records there are; and their number is public. Here a line ends at a line feed,
nowhere else. What cannot be read by that rule is refused as a whole. Without a guarantee cells may go over
several lines, and only files are refused in which that is a guess.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

import pyarrow as pa

from pysynthdp.base.errors import PrivacyError, SchemaError
from pysynthdp.base.words import Setting, Words
from pysynthdp.io.csv.form import single_bytes
from pysynthdp.io.csv.shelf import Content, Shelf
from pysynthdp.io.unchanged import Unchanged

__all__ = ["check_records", "has_quotes", "lines_as_records", "whole_text"]

_MARK: Final = b"\xef\xbb\xbf"
_WIDE_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_RULE: Final = "under a guarantee every line of a CSV is one record"
_MEND: Final = "export it anew without line breaks inside cells and with each quote doubled, or as Parquet"
_STRAY: Final = re.compile(rb"\r(?!\n)")
_CELL_OR_STRAY: Final = re.compile(rb'"[^"]*"|\r(?!\n)')
_PIECE: Final = 1 << 20


@lru_cache
def _forms(sep: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Match a line with proper quotes, and one field with what ends it."""
    sign = re.escape(sep)
    field = rb'(?:"[^"]*(?:""[^"]*)*"|(?:[^"%b][^%b]*)?)' % (sign, sign)
    one = rb'(?:"([^"]*(?:""[^"]*)*)"([^%b]*)|([^%b]*))(%b|\Z)' % (sign, sign, sign)
    return re.compile(rb"%b(?:%b%b)*" % (field, sign, field)), re.compile(one)


def lines_as_records(
    path: Path, *, sep: str = ",", encoding: str | None = None, shelf: Shelf | None = None
) -> tuple[Content, list[str], int]:
    r"""Read a CSV file of which every line is one record.

    Parameters
    ----------
    path : path
        Of the file, packed if its name ends in ``.gz``.
    sep : str
        Between fields, as declared.
    encoding : str, optional
        As declared, UTF-8 by default; one in which no byte changes the meaning of another.
    shelf : Shelf, optional
        Where the content stands; in memory by default.

    Returns
    -------
    tuple of bytes, list of str, int
        The content in UTF-8 with its quoting closed in each line, the column names, the number of records.

    Raises
    ------
    PrivacyError
        If a quote is open at the end of a line, a table of several columns has a blank line, lines end
        otherwise, or a byte may change the meaning of others; the message tells the rule and the mend, and no
        cell.
    SchemaError
        If the file is empty.

    Notes
    -----
    Privacy: reads real rows. That a file is refused can be seen, and depends on its cells.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = path.write_bytes(b"x\n\n1\n")
    >>> lines_as_records(path)
    (b'x\n\n1\n', ['x'], 2)
    """
    lines = _Lines(path, sep.encode())
    content = (shelf or Shelf()).content(lines.closed(_content(path, encoding)))
    if len(lines.names) > 1 and lines.blank:
        raise PrivacyError(
            f"{path}: {_RULE}, and a blank line is none of {len(lines.names)} columns; remove it, or write "
            "its empty cells with the signs between them",
            kind="file",
        )
    return content, lines.names, lines.rows


@dataclass(slots=True)
class _Lines:
    """Lines as they pass by: the names in the first, how many there are, and whether one is blank."""

    path: Path
    sign: bytes
    names: list[str] = field(default_factory=list)
    rows: int = -1  # the head is none
    blank: bool = False

    def closed(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Give whole lines with their quoting closed, the head first."""
        for piece in _whole_lines(pieces):
            lines = piece.replace(b"\r\n", b"\n")
            if self.rows < 0:
                head, _, lines = lines.partition(b"\n")
                yield self._head(head) + b"\n"
            if b'"' in lines:
                lines = b"\n".join(map(self._closed, lines.split(b"\n")))
            self.blank = self.blank or lines.startswith(b"\n") or b"\n\n" in lines
            self.rows += lines.count(b"\n") + (lines != b"" and not lines.endswith(b"\n"))
            yield lines
        if self.rows < 0:
            self._head(b"")

    def _head(self, head: bytes) -> bytes:
        """Read the names."""
        if b"\r" in head:
            raise PrivacyError(
                f"{self.path}: {_RULE} and ends with a line feed, which the head does not; {_MEND}",
                kind="file",
            )
        if not head:
            raise SchemaError(f"{self.path} is not a whole csv table", kind="file", remedy="export it anew")
        self.rows, closed = 0, self._closed(head)
        self.names = [name.decode("utf-8", "replace") for name in _fields(closed, self.sign)]
        return closed

    def _closed(self, line: bytes) -> bytes:
        """Close one line."""
        return _closed(line, self.path, self.sign) if b'"' in line else line


def _whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Cut pieces where lines end."""
    rest: list[bytes] = []
    for piece in pieces:
        ended, feed, begun = piece.rpartition(b"\n")
        if feed:
            yield b"".join(rest) + ended + feed
            rest = []
        rest.append(begun)
    last = b"".join(rest)
    if last:
        yield last


def whole_text(path: Path, encoding: str | None) -> Iterator[bytes]:
    """Read a whole file as UTF-8 in pieces, without a guarantee.

    Parameters
    ----------
    path : path
        Of the file, packed if its name ends in ``.gz``.
    encoding : str, optional
        As declared; else UTF-8, or UTF-16 where the file begins with its mark.

    Raises
    ------
    SchemaError
        If the file is in another encoding, with the option to declare it.

    Notes
    -----
    Privacy: reads real rows; quotes none.
    """
    pieces = _pieces(path)
    first = next(pieces, b"")
    named = encoding or ("utf-16" if first.startswith(_WIDE_MARKS) else "utf-8")
    text = _decoded(itertools.chain((first,), pieces), named)
    try:
        yield next(text).removeprefix(_MARK)
        yield from text
    except UnicodeError:  # names the byte, so it goes nowhere
        raise _not_in(path, named, declared=encoding is not None) from None


def _decoded(pieces: Iterable[bytes], named: str) -> Iterator[bytes]:
    """Turn pieces into UTF-8; what is UTF-8 already is seen to be it."""
    decoder = codecs.getincrementaldecoder(named)()
    for piece in pieces:
        text = decoder.decode(piece)
        yield piece if named == "utf-8" else text.encode()
    yield decoder.decode(b"", final=True).encode()


def _not_in(path: Path, named: str, *, declared: bool) -> SchemaError:
    """Make the error of an encoding that does not fit; which one does cannot be known from the bytes."""
    return SchemaError(
        Words("{path} is not in {named}", path=path, named="UTF-8" if named == "utf-8" else named),
        kind="encoding",
        remedy=Words(
            "declare {another}: files of Windows and of older programs in western Europe are mostly "
            "{windows} (with latin-1 in it), in central Europe {central}",
            another="another encoding" if declared else "its encoding",
            windows=Setting("encoding", "cp1252"), central=Setting("encoding", "cp1250"),
        ),
    )  # fmt: skip


def has_quotes(content: Content) -> bool:
    """Whether there is a quote anywhere."""
    return re.search(b'"', content) is not None


def check_records(content: Content, path: Path, sep: str) -> None:
    """Refuse a file in which a stray quote or carriage return may join or part records unseen.

    Raises
    ------
    SchemaError
        If lines end in two ways, or a quoted cell does not end where a cell may.

    Notes
    -----
    Privacy: reads real rows; quotes none.
    """
    if _STRAY.search(content) and re.search(b"\n", content) and _stray_outside(content):
        raise SchemaError(
            f"{path} has lines that end in two ways",
            kind="file",
            remedy="end all with a line feed, or use Parquet",
        )
    if not has_quotes(content):
        return
    longest = csv.field_size_limit(len(content) + 1)
    try:
        text = io.TextIOWrapper(pa.BufferReader(content), "utf-8", newline="")
        for _ in csv.reader(text, delimiter=sep, strict=True):
            pass
    except csv.Error:  # its message may hold a cell
        raise SchemaError(
            Words(
                "{path}: a quoted cell does not end where a field ends; double each quote inside a cell",
                path=path,
            ),
            kind="quotes",
        ) from None
    finally:
        csv.field_size_limit(longest)


def _stray_outside(content: Content) -> bool:
    """Whether a carriage return that ends no line stands outside of quotes."""
    return any(found[0] == b"\r" for found in _CELL_OR_STRAY.finditer(content))


def _content(path: Path, encoding: str | None) -> Iterator[bytes]:
    """Read the bytes as UTF-8, in pieces."""
    if encoding not in (None, "utf-8"):
        if not single_bytes(str(encoding)):
            raise PrivacyError(
                f"{path}: {_RULE}, and in {encoding} a byte may change what follows it",
                kind="file",
                remedy="convert it to UTF-8",
            )
        for piece in _pieces(path):
            yield piece.decode(str(encoding), "replace").encode()
        return
    for number, piece in enumerate(_pieces(path)):
        if number == 0 and piece.startswith(_WIDE_MARKS):
            raise PrivacyError(
                f"{path}: {_RULE} in UTF-8, and this file begins as UTF-16",
                kind="file",
                remedy="convert it to UTF-8",
            )
        yield piece if number else piece.removeprefix(_MARK)


def _pieces(path: Path) -> Iterator[bytes]:
    """Read a file, unpacked, once; it must stay as it is."""
    before = Unchanged.of(path)
    with gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece
    before.check()


def _closed(line: bytes, path: Path, sep: bytes) -> bytes:
    """Write a line such that no reader finds a quote open at its end; refuse one where it may go on."""
    if line.count(b'"') % 2:
        raise PrivacyError(f"{path}: {_RULE}, but at the end of one a quote is open; {_MEND}", kind="file")
    if _forms(sep)[0].fullmatch(line):
        return line
    return sep.join(b'"' + field.replace(b'"', b'""') + b'"' for field in _fields(line, sep))


def _fields(line: bytes, sep: bytes) -> list[bytes]:
    """Split one line at its separators: what stands behind a closing quote is added to its field."""
    found, at, more = [], 0, True
    while more:
        match = _forms(sep)[1].match(line, at)
        if match is None:  # every text is a field
            break
        quoted, rest, plain, end = match.groups()
        found.append(plain if quoted is None else quoted.replace(b'""', b'"') + rest)
        at, more = match.end(), end == sep
    return found
