"""Which records a CSV file has: under a guarantee one line is one record, whatever stands in it.

Readers of CSV files join lines while a quote is open, skip blank ones and break lines at carriage returns, so
one cell may decide how many records there are; and their number is public. Here a line ends at a line feed,
nowhere else. What cannot be read by that rule is refused as a whole. Without a guarantee cells may go over
several lines, and only files are refused in which that is a guess.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from pathlib import Path
from typing import Final

from pysynthdp.errors import PrivacyError, SchemaError

__all__ = ["check_records", "lines_as_records"]

_MARK: Final = b"\xef\xbb\xbf"
_RULE: Final = "under a guarantee every line of a CSV is one record"
_MEND: Final = "export it anew without line breaks inside cells and with each quote doubled, or as Parquet"
_QUOTED: Final = rb'"[^"]*(?:""[^"]*)*"'
_WELL: Final = re.compile(rb"(?:%b|(?:[^\",][^,]*)?)(?:,(?:%b|(?:[^\",][^,]*)?))*" % (_QUOTED, _QUOTED))
_CELL: Final = re.compile(rb'"[^"]*"')
_FIELD: Final = re.compile(rb'(?:"([^"]*(?:""[^"]*)*)"([^,]*)|([^,]*))(,|\Z)')


def lines_as_records(path: Path) -> tuple[bytes, list[str], int]:
    r"""Read a CSV file of which every line is one record.

    Parameters
    ----------
    path : path
        ``.csv`` or ``.csv.gz``.

    Returns
    -------
    tuple of bytes, list of str, int
        The content with its quoting closed in each line, the column names, and the number of records.

    Raises
    ------
    PrivacyError
        If a quote is open at the end of a line, a table of several columns has a blank line, or lines end
        otherwise; the message tells the rule and the mend, and no cell.
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
    content = _content(path)
    head, _, body = content.partition(b"\n")
    if b"\r" in head:
        raise PrivacyError(f"{path}: {_RULE} and ends with a line feed, which the head does not; {_MEND}")
    if not head:
        raise SchemaError(f"{path} is not a whole csv table; export it anew")
    if b'"' in content:
        head = _closed(head, path)
        body = b"\n".join(_closed(line, path) if b'"' in line else line for line in body.split(b"\n"))
    names = [name.decode("utf-8", "replace") for name in _fields(head)]
    if len(names) > 1 and (body.startswith(b"\n") or b"\n\n" in body):
        raise PrivacyError(
            f"{path}: {_RULE}, and a blank line is none of {len(names)} columns; remove it, or write its "
            "empty cells with their commas"
        )
    rows = body.count(b"\n") + (not body.endswith(b"\n") and body != b"")
    return head + b"\n" + body, names, rows


def check_records(path: Path) -> None:
    """Refuse a file in which a stray quote or carriage return may join or part records unseen.

    Raises
    ------
    SchemaError
        If lines end in two ways, or a quoted cell does not end where a cell may.

    Notes
    -----
    Privacy: reads real rows; quotes none.
    """
    content = _content(path)
    if b"\r" in content and b"\n" in content and b"\r" in _CELL.sub(b"", content):
        raise SchemaError(f"{path} has lines that end in two ways; end all with a line feed, or use Parquet")
    if b'"' not in content:
        return
    longest = csv.field_size_limit(len(content) + 1)
    try:
        for _ in csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True):
            pass
    except csv.Error as error:
        raise SchemaError(
            f"{path}: a quoted cell does not end at a comma or line end; double each quote inside a cell"
        ) from error
    finally:
        csv.field_size_limit(longest)


def _content(path: Path) -> bytes:
    """Read the bytes; a carriage return before a line feed belongs to the line's end, any other to a cell."""
    content = gzip.decompress(path.read_bytes()) if path.name.lower().endswith(".gz") else path.read_bytes()
    return content.removeprefix(_MARK).replace(b"\r\n", b"\n")


def _closed(line: bytes, path: Path) -> bytes:
    """Write a line such that no reader finds a quote open at its end; refuse one where it may go on."""
    if line.count(b'"') % 2:
        raise PrivacyError(f"{path}: {_RULE}, but at the end of one a quote is open; {_MEND}")
    if _WELL.fullmatch(line):
        return line
    return b",".join(b'"' + field.replace(b'"', b'""') + b'"' for field in _fields(line))


def _fields(line: bytes) -> list[bytes]:
    """Split one line at its commas: what stands behind a closing quote is added to its field."""
    found, at, more = [], 0, True
    while more:
        match = _FIELD.match(line, at)
        if match is None:  # every text is a field
            break
        quoted, rest, plain, end = match.groups()
        found.append(plain if quoted is None else quoted.replace(b'""', b'"') + rest)
        at, more = match.end(), end == b","
    return found
