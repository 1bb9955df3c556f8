"""Read a CSV file by what its cells say, without a guarantee: its form and its texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv as pa_csv

from pysynthdp.base.errors import SchemaError
from pysynthdp.base.remarks import Remark, few
from pysynthdp.base.words import Setting, Words
from pysynthdp.io.csv.cells import WORDS
from pysynthdp.io.csv.form import Form, default_sep, raw_records, refuse_other_head, separators
from pysynthdp.io.csv.records import check_records, has_quotes, whole_text
from pysynthdp.io.csv.shelf import Content, Shelf

__all__ = ["Quotes", "Source", "checked_heads", "head_remarks", "read_texts"]

_SAMPLE: Final = 1 << 17  # bytes from which the form is told
_BLOCK: Final = 1 << 22  # bytes; a row must fit into one
_NUMBER: Final = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Quotes:
    """Which columns have their cells in quotes, by the first records.

    Parameters
    ----------
    quoted : collection of str
        Every cell that is there has quotes that it does not need.
    bare_numbers : bool
        Whether another column has numbers or flags without quotes: then quotes mean text.
    whole, real : collection of str
        Columns that have numbers without quotes, none of them with a point; or with one.
    """

    quoted: Collection[str]
    bare_numbers: bool
    whole: Collection[str] = ()
    real: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A file as bytes in UTF-8, with its form.

    Parameters
    ----------
    path : Path
        Of the file.
    content : bytes
        All of it.
    heads : list of str
        Names of the columns.
    form : Form
        With the separator that holds.
    quotes : Quotes
        Who has quotes.
    found : mapping
        The separator, where it was found and not declared.
    others : sequence of str
        Signs that would part the first records as well.
    shelf : Shelf
        Where its columns stand; ``content`` stands there too.
    """

    path: Path
    content: Content
    heads: list[str]
    form: Form
    quotes: Quotes
    found: Mapping[str, str] = field(default_factory=dict)
    others: Sequence[str] = ()
    shelf: Shelf = field(default_factory=Shelf)

    @classmethod
    def of(cls, path: Path, form: Form, shelf: Shelf) -> Source:
        """Read a file once and find what is not declared."""
        content = shelf.content(whole_text(path, form.encoding))
        sample, cut = bytes(content[:_SAMPLE]).decode("utf-8", "replace"), len(content) > _SAMPLE
        default = default_sep(path)
        signs = [form.sep] if form.sep else separators(sample, default, cut=cut)
        records = raw_records(sample, signs[0], cut=cut)
        if not records:
            raise SchemaError(f"{path} is empty", kind="no rows", remedy="export it anew")
        check_records(content, path, signs[0])
        if form.sep and len(records[0]) == 1 and not records[0][0].startswith('"'):
            refuse_other_head(records[0][0], form.sep, path, last="put the name into quotes")
        heads = checked_heads([_bare(name) for name in records[0]], path)
        found = {} if form.sep or signs == [default] else {"sep": signs[0]}
        quotes = _quotes(heads, records[1:], signs[0])
        return cls(path, content, heads, replace(form, sep=signs[0]), quotes, found, signs[1:], shelf)


def _sign(sep: str) -> str:
    """Name a separator."""
    return "tabs" if sep == "\t" else repr(sep)


def _bare(field: str) -> str:
    """Take the quotes off a field."""
    if not field.startswith('"'):
        return field
    inside, _, rest = field[1:].rpartition('"')
    return inside.replace('""', '"') + rest


def checked_heads(heads: list[str], path: Path) -> list[str]:
    """Refuse names that are absent or stand twice.

    Raises
    ------
    SchemaError
        Which names the column.
    """
    twice = next((name for name in heads if heads.count(name) > 1), None)
    if twice is not None:
        raise SchemaError(
            Words("{path}: two columns are called {name}; rename one", path=path, name=repr(twice)),
            column=twice, kind="name",
        )  # fmt: skip
    if "" in heads:
        raise SchemaError(
            f"{path}: column {heads.index('') + 1} has no name (a saved row number?)",
            kind="name",
            remedy="name or remove it; R leaves it out with row.names = FALSE, pandas with index=False",
        )
    return heads


def head_remarks(heads: Sequence[str]) -> list[Remark]:
    """Say that a first line with numbers in it may be a record; years and running numbers are names.

    Examples
    --------
    >>> [len(head_remarks(heads)) for heads in (["31", "2.5"], ["age", "2019", "2020"], ["0", "1", "2"])]
    [1, 0, 0]
    """
    numbers = [float(name) for name in heads if _NUMBER.fullmatch(name)]
    odd = [number for number in numbers if not (number.is_integer() and 1000 <= number < 3000)]
    if not odd or (len(odd) > 1 and all(late - early == 1 for early, late in pairwise(odd))):
        return []
    what = "the first line has numbers where names of columns stand"
    return [Remark("", "head", what, "if it is a record, write a line of names above it")]


def _quotes(heads: list[str], records: list[list[str]], sep: str) -> Quotes:
    """See who has quotes."""
    columns = {name: [record[at] for record in records if at < len(record)] for at, name in enumerate(heads)}
    shown = {name: [cell for cell in cells if cell not in WORDS] for name, cells in columns.items()}
    quoted = [name for name, cells in shown.items() if cells and all(_idly_quoted(c, sep) for c in cells)]
    bare = any(
        cells and all(not cell.startswith('"') and _plain(cell) for cell in cells) for cells in shown.values()
    )
    numbers = [name for name, cells in columns.items() if all(map(_NUMBER.fullmatch, filter(None, cells)))]
    whole = [name for name in numbers if all(cell.lstrip("-").isdigit() for cell in shown[name])]
    return Quotes(quoted, bare, whole, [name for name in numbers if name not in whole])


def _idly_quoted(cell: str, sep: str) -> bool:
    """Whether a cell has quotes, though nothing in it needs them."""
    return cell.startswith('"') and sep not in cell


def _plain(cell: str) -> bool:
    """Whether a cell without quotes is a number or a flag."""
    return cell.lower() in ("true", "false") or cell.replace(",", ".").strip()[-1:].isdigit()


def read_texts(
    source: Source,
    *,
    only: Collection[str] | None = None,
    absent: Collection[str] = ("",),
    open_: Collection[str] = (),
) -> dict[str, pa.ChunkedArray]:
    """Read columns as texts.

    Parameters
    ----------
    source : Source
        The file.
    only : collection of str, optional
        Columns; all by default.
    absent : collection of str
        Fields that are missing, where they stand without quotes.
    open_ : collection of str
        Columns of which the reader may make what it takes them for.

    Raises
    ------
    SchemaError
        If a row has more or fewer fields than the head.
    """
    uneven: list[int] = []

    def keep_count(row: Any) -> str:
        uneven.append(row.actual_columns)
        return "skip"

    options = _options(source, only, absent, open_)
    options["parse_options"].invalid_row_handler = keep_count
    try:
        columns = source.shelf.read(pa.BufferReader(source.content), **options)
    except pa.ArrowInvalid:  # its message holds a row
        raise SchemaError(
            f"{source.path} is not a whole csv table", kind="file", remedy="export it anew"
        ) from None
    if uneven:
        raise _uneven(source, uneven)
    if only is None and list(columns) != source.heads:
        raise SchemaError(f"{source.path} is not a whole csv table", kind="file", remedy="export it anew")
    return columns


def _options(
    source: Source, only: Collection[str] | None, absent: Collection[str], open_: Collection[str]
) -> dict[str, Any]:
    """Set the reader: every cell a text, and quotes told apart from none."""
    return {
        # one thread: a million rows of six numbers took the same processor time and memory with two (medians
        # of twelve runs each, on two busy cores), and so other processes are left theirs
        "read_options": pa_csv.ReadOptions(block_size=_BLOCK, use_threads=False),
        "parse_options": pa_csv.ParseOptions(
            delimiter=source.form.sep,
            newlines_in_values=has_quotes(source.content),
            ignore_empty_lines=len(source.heads) > 1,  # in one column such a line is a missing value
        ),
        "convert_options": pa_csv.ConvertOptions(
            column_types={name: pa.string() for name in source.heads if name not in open_},
            include_columns=list(only or ()),
            null_values=list(absent),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    }


def _uneven(source: Source, widths: list[int]) -> SchemaError:
    """Make the error of rows that are longer or shorter than the head."""
    width = len(source.heads)
    more = sum(found > width for found in widths)
    what = Words(
        "{path} has {count} rows with {kind} fields than the head has names, read with {sep} between fields",
        path=source.path, count=few(len(widths)), kind="more" if more else "fewer",
        sep=_sign(str(source.form.sep)),
    )  # fmt: skip
    if set(widths) == {width + 1}:
        mend = Words(
            "if the first field is a row name, write the file without: row.names = FALSE in R; if a comma "
            "is the decimal mark, put each number in quotes or separate fields by ';'"
        )
    else:
        mend = Words(
            "declare what stands between fields ({setting}), or put cells that hold this sign in quotes",
            setting=Setting("sep", ";"),
        )
    return SchemaError(what, kind="fields", remedy=mend if more else "write every field of each row")
