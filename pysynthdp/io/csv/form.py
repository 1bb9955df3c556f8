"""How a CSV file is written: what is declared, and else what its first lines show."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from pysynthdp.base.errors import PlanError, SchemaError
from pysynthdp.base.words import Setting, Words

__all__ = [
    "CANDIDATES",
    "READING",
    "Form",
    "default_sep",
    "raw_records",
    "refuse_other_head",
    "separators",
    "single_bytes",
]

NAMES: Final = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|", "space": " "}
CANDIDATES: Final = (",", ";", "\t", "|")
ALLOWED: Final = (*CANDIDATES, ":", " ")
TAB_ENDINGS: Final = (".tsv", ".tsv.gz", ".tab", ".tab.gz")
SAMPLE_RECORDS: Final = 200


@dataclass(frozen=True, slots=True)
class Form:
    r"""What is declared of a file; None is open.

    Parameters
    ----------
    sep : str, optional
        One sign between fields, or its name: ``tab``, ``semicolon``, ``bar``, ``space``.
    decimal : {".", ","}, optional
        Decimal mark.
    encoding : str, optional
        As Python names it.
    text : sequence of str
        Columns that stay texts.
    day_first : bool, optional
        Whether 01/02/2020 is in February.

    Raises
    ------
    PlanError
        If a value is none of these.

    Examples
    --------
    >>> Form(sep="tab").sep
    '\t'
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    text: Sequence[str] = ()
    day_first: bool | None = None

    def __post_init__(self) -> None:
        """Take names of signs for the signs, and check each value."""
        if self.sep is not None:
            object.__setattr__(self, "sep", _sign(self.sep))
        if self.decimal not in (None, ".", ","):
            raise PlanError(f"decimal must be '.' or ',', not {self.decimal!r}", kind="setting")
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))
        if isinstance(self.text, str):
            raise PlanError(
                Words("text must be a list of columns; write {text}", text=Setting("text", [self.text])),
                kind="setting",
            )
        object.__setattr__(self, "text", tuple(self.text))


READING: Final = tuple(field.name for field in fields(Form))
"""The keys by which a plan file says how its table is read; the same as the settings of ``read_table``."""


def _sign(sep: Any) -> str:
    """Take a separator by sign or name."""
    sign = NAMES.get(sep, sep)
    if sign not in ALLOWED:
        raise PlanError(f"sep must be one of , ; | : or tab, space; not {sep!r}", kind="setting")
    return str(sign)


def _encoding(name: Any) -> str:
    """Take an encoding of texts by any of its names."""
    try:
        found = codecs.lookup(name)
        "a".encode(found.name)  # LookupError for what encodes no text, such as base64
    except (LookupError, TypeError, ValueError) as error:
        raise PlanError(
            f"there is no encoding {name!r}",
            kind="setting",
            remedy="the usual ones are utf-8, cp1252 (Windows), latin-1, utf-16",
        ) from error
    return "utf-8" if found.name in ("ascii", "utf-8-sig") else found.name


def single_bytes(encoding: str) -> bool:
    """Whether a byte is a character whatever stands around it, and ASCII is itself.

    Examples
    --------
    >>> single_bytes("cp1252"), single_bytes("shift_jis"), single_bytes("utf-16")
    (True, False, False)
    """
    plain = bytes(range(128))
    try:
        table = import_module(f"encodings.{encoding.replace('-', '_')}")
        return hasattr(table, "decoding_table") and plain.decode(encoding) == plain.decode("ascii")
    except (ImportError, UnicodeDecodeError):
        return False


def default_sep(path: Path) -> str:
    """Give the separator that a file's name promises."""
    return "\t" if path.name.lower().endswith(TAB_ENDINGS) else ","


@lru_cache
def _field(sep: str) -> re.Pattern[str]:
    """Match one field as it is written, and what ends it."""
    sign = re.escape(sep)
    return re.compile(rf'("[^"]*(?:""[^"]*)*"[^{sign}\r\n]*|[^{sign}\r\n]*)({sign}|\r\n|\n|\r|\Z)')


def raw_records(sample: str, sep: str, *, cut: bool) -> list[list[str]]:
    r"""Split the beginning of a file into records of fields with their quotes; blank lines are left out.

    Parameters
    ----------
    sample : str
        The beginning.
    sep : str
        Between fields.
    cut : bool
        Whether the file goes on; the last record is then left out.

    Examples
    --------
    >>> raw_records('x;"y"\n1,5;"a;b"\n', ";", cut=False)
    [['x', '"y"'], ['1,5', '"a;b"']]
    """
    found: list[list[str]] = []
    record: list[str] = []
    at = 0
    while at < len(sample) and len(found) <= SAMPLE_RECORDS:
        match = _field(sep).match(sample, at)
        if match is None:
            break
        record.append(match[1])
        at = match.end()
        if match[2] != sep:
            found.append(record)
            record = []
    if cut and at >= len(sample):
        found = found[:-1]
    return [fields_ for fields_ in found if fields_ != [""]]


def separators(sample: str, default: str, *, cut: bool) -> list[str]:
    r"""Find by which signs the first records fall into equally many fields; the likeliest first.

    Returns
    -------
    list of str
        Never empty: the default where no sign parts the head.

    Examples
    --------
    >>> separators("a;b\n1,5;2\n", ",", cut=False)
    [';']
    """
    widths = {sep: [len(record) for record in raw_records(sample, sep, cut=cut)] for sep in CANDIDATES}
    order = [default, *(sep for sep in CANDIDATES if sep != default)]
    parting = [sep for sep in order if widths[sep] and widths[sep][0] > 1]
    whole = [sep for sep in parting if len(set(widths[sep])) == 1]
    if not whole:
        return [default] if default in parting or not parting else parting[:1]
    return sorted(whole, key=lambda sep: -widths[sep][0])


def refuse_other_head(head: str, sep: str, path: Path, *, last: str = "") -> None:
    """Refuse a head that another sign would part, where nothing is found from the rows.

    Parameters
    ----------
    head, sep, path
        First line, the sign that does not part it, and the file.
    last : str
        What to do if the head is one name; by default declare the sign.

    Raises
    ------
    SchemaError
        With the separator to declare.
    """
    other = next((sign for sign in CANDIDATES if sign != sep and sign in head), None)
    if sep in head or other is None:
        return
    name = next((name for name, sign in NAMES.items() if sign == other and len(name) > 2), other)
    raise SchemaError(
        Words("{path}: the head is one name with {other} in it", path=path, other=repr(other)),
        kind="separator",
        remedy=Words(
            "{found} declares what stands between fields, or {own} if it is one column",
            found=Setting("sep", name if other == "\t" else other), own=last or Setting("sep", sep),
        ),
    )  # fmt: skip
