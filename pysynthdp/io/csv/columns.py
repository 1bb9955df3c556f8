"""What the columns of a CSV file are: numbers, flags, dates or texts; and what was chosen, in a word each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from pysynthdp.base.arrays import IntArray
from pysynthdp.base.remarks import Remark, few
from pysynthdp.base.words import Setting, Words
from pysynthdp.io.csv.cells import Cells, Numbers, numbers_of
from pysynthdp.io.csv.dates import Dates, dates_of
from pysynthdp.io.csv.form import Form
from pysynthdp.io.csv.learned import Source, head_remarks, read_texts
from pysynthdp.io.csv.wishes import Declared, Wish
from pysynthdp.io.csv.words import listed, settled_texts

__all__ = ["typed_columns"]

_SILENT: Final = frozenset(["", "NA", "NaN", "nan", "-NaN", "-nan"])  # what R and numpy write, in numbers
_STEP: Final = 1 << 19
_ZERO: Final = ord("0")
_NEVER: Final = np.datetime64("NaT")


def typed_columns(source: Source, declared: Declared) -> tuple[pd.DataFrame, list[Remark]]:
    """Read a file into columns of their types.

    Parameters
    ----------
    source : Source
        The file.
    declared : Declared
        What is known of the columns.

    Returns
    -------
    tuple of DataFrame, list of Remark
        The table, and what was found and not declared.

    Notes
    -----
    Privacy: reads real rows; a type depends on all cells of its column, so there is no guarantee.
    """
    reading = _Reading(source, {name: declared.wish(name) for name in source.heads}, source.form)
    for step in reading.steps():
        step()
    columns = {name: reading.done[name] for name in source.heads}
    return pd.DataFrame(columns, columns=source.heads, copy=False), [
        *head_remarks(source.heads),
        *reading.of_file(),
        *reading.remarks,
    ]


@dataclass(slots=True)
class _Reading:
    """Columns that are settled one kind after the other."""

    source: Source
    wishes: Mapping[str, Wish]
    form: Form
    texts: dict[str, pa.ChunkedArray] = field(default_factory=dict)
    done: dict[str, pd.Series[Any]] = field(default_factory=dict)
    cells: dict[str, Cells] = field(default_factory=dict)
    real: list[str] = field(default_factory=list)  # columns with numbers that may have points
    codes: set[str] = field(default_factory=set)  # columns of digits that are texts
    remarks: list[Remark] = field(default_factory=list)
    folds_na: bool = False
    empty: bool = False  # whether any field is empty
    commas: bool = False  # whether decimal commas were found

    def steps(self) -> tuple[Callable[[], None], ...]:
        """List what settles columns, in order."""
        numbers = (self.plain_numbers, self.other_numbers, self.with_commas)
        return (*numbers, self.flags_and_dates, self.texts_left)

    def of_file(self) -> list[Remark]:
        """Say in one remark what was found of the file as a whole."""
        found, others = dict(self.source.found), self.source.others
        if self.commas:
            found["decimal"] = ","
        if not found:
            return []
        places = {"sep": "between fields", "decimal": "in numbers"}
        shown = " and ".join(f"{_sign(sign)} {places[name]}" for name, sign in found.items())
        what = Words("read with {shown}", shown=shown)
        if others:
            what = Words("{what}, though {other} would part them as well", what=what, other=_sign(others[0]))
        parts = {name: Setting(name, "tab" if sign == "\t" else sign) for name, sign in found.items()}
        joined = " and ".join(f"{{{name}}}" for name in parts)
        declare = f"{joined} {'declares' if len(parts) == 1 else 'declare'} it"
        return [Remark("", "file form", what, Words(declare, **parts))]

    def say(self, column: str, kind: str, what: str, remedy: str) -> None:
        """Note something for the user."""
        self.remarks.append(Remark(column, kind, what, remedy))

    def plain_numbers(self) -> None:
        """Settle columns that the first records show as plain numbers, in the reader's own pass."""
        quotes = self.source.quotes
        points = self.form.decimal != ","
        quick = [*quotes.whole, *(quotes.real if points else ())]
        quick = [name for name in quick if self.wishes[name].kind != "text"]
        quick = quick if self.source.shelf.scratch is None else []  # texts on disk are read once
        zeros = bool(quick) and _zero_before_digit(bytes(self.source.content), str(self.form.sep))
        found = read_texts(self.source, open_=() if zeros else quick)
        self.empty = any(column.null_count for column in found.values())
        for name in self.source.heads:
            values = found.pop(name)
            if pa.types.is_integer(values.type) or (
                pa.types.is_floating(values.type) and name in quotes.real
            ):
                self.take(name, Numbers(values, "", folded=False))
            elif pa.types.is_string(values.type):
                self.texts[name] = values
        again = [name for name in self.source.heads if name not in self.texts and name not in self.done]
        self.texts |= read_texts(self.source, only=again) if again else {}
        self.texts = {name: self.texts[name] for name in self.source.heads if name in self.texts}

    def other_numbers(self) -> None:
        """Settle numbers as they are written by the declared mark, or with points."""
        for name, texts in self.texts.items():
            if self.wishes[name].kind == "text":
                continue
            self.take(name, numbers_of(texts, self.source.shelf, commas=self.form.decimal == ","))

    def take(self, name: str, numbers: Numbers | None) -> None:
        """Take a column as numbers, unless they would not keep what the texts say."""
        if numbers is None:
            return
        if not self.fits(name, numbers):
            self.codes.add(name)
            return
        self.done[name] = numbers.series(self.source.shelf)
        if pa.types.is_floating(numbers.column.type):
            self.real.append(name)
        if numbers.folded:
            self.say_folded(name, Cells(self.texts[name]))

    def fits(self, name: str, numbers: Numbers) -> bool:
        """Whether a column of numbers is one: no codes with leading zeros, none in quotes, none too long."""
        if self.wishes[name].kind == "number":
            return True
        asked = Setting("bounds", {name: (None, None)})
        if numbers.odd == "leading zeros":
            what = "its numbers have leading zeros; read as text"
            self.say(name, "leading zeros", what, Words("{bounds} reads numbers", bounds=asked))
        elif numbers.odd == "long":
            what = "its whole numbers are longer than 64 bits; read as text"
            self.say(name, "long numbers", what, Words("{drop} leaves it out", drop=Setting("drop", [name])))
        elif self.means_text(name) and numbers.column.null_count < len(numbers.column):
            what = "its numbers stand in quotes and those of other columns do not; read as text"
            self.say(name, "quoted numbers", what, Words("{bounds} reads numbers", bounds=asked))
        else:
            return True
        return False

    def means_text(self, name: str) -> bool:
        """Whether quotes say that a column is text."""
        wish, quotes = self.wishes[name], self.source.quotes
        return wish.kind == "open" and not wish.absent and quotes.bare_numbers and name in quotes.quoted

    def with_commas(self) -> None:
        """Settle numbers with decimal commas, where a column shows that these are none between thousands."""
        settled = {*self.done, *self.codes}
        left = [name for name in self.texts if name not in settled and self.wishes[name].kind != "text"]
        self.cells = {name: Cells(self.texts[name]) for name in left}
        written = {name: cells.written_as() for name, cells in self.cells.items()}
        found = self.form.decimal is None and "commas" in written.values()
        if found:
            self.commas = True
            for name in self.real:
                self.withdraw(name)
        for name, form in written.items():
            if found and form in ("commas", "unclear"):
                self.take(name, numbers_of(self.texts[name], self.source.shelf, commas=True))
            if name not in self.done and form:
                self.say_unread(name, form)

    def withdraw(self, name: str) -> None:
        """Take back numbers with points: in a file with decimal commas a point may part thousands."""
        texts = self.texts[name] if name in self.texts else read_texts(self.source, only=[name])[name]
        if not pc.any(pc.match_substring(texts, ".")).as_py() or self.wishes[name].kind == "number":
            return
        self.texts[name] = texts
        del self.done[name]
        self.cells[name] = Cells(texts)
        what = "it has points in its numbers, and other columns have decimal commas; read as text"
        self.say(name, "decimal mark", what, "write all columns with one mark")

    def say_unread(self, name: str, form: str) -> None:
        """Say that a column looks like numbers and is none."""
        if form in ("unclear", "commas"):
            what = "its commas may be decimal marks or part thousands; read as text"
            self.say(name, "decimal mark", what, Words(
                "{setting} reads them as decimal marks", setting=Setting("decimal", ",")
            ))  # fmt: skip
            return
        sign = "signs between thousands" if form == "groups" else "percent signs"
        what = Words("its numbers have {sign}; read as text", sign=sign)
        self.say(name, "numbers as text", what, "write them without")

    def flags_and_dates(self) -> None:
        """Settle TRUE and FALSE, and dates."""
        for name, cells in self.cells.items():
            flags = None if name in self.done else cells.flags(self.source.shelf)
            if flags is not None and self.means_text(name):
                what = "its TRUE and FALSE stand in quotes and numbers of other columns do not; read as text"
                self.say(name, "quoted flags", what, Words(
                    "{levels} reads them as yes and no", levels=Setting("levels", {name: [True, False]})
                ))  # fmt: skip
            elif flags is not None:
                self.done[name] = flags
                self.say_folded(name, cells)
        open_ = [name for name in self.cells if name not in self.done]
        found = {name: dates_of(self.cells[name].others, day_first=self.form.day_first) for name in open_}
        orders = {dates.form for dates in found.values() if dates is not None} & {"day first", "month first"}
        for name, dates in found.items():
            if dates is not None:
                self.take_dates(name, dates, orders)

    def take_dates(self, name: str, dates: Dates, orders: set[str]) -> None:
        """Take a column as dates; one that does not say its order takes that of the others."""
        known: Dates | None = dates
        if dates.form == "either" and len(orders) == 1:
            known = dates_of(self.cells[name].others, day_first=orders == {"day first"})
        if known is None or known.form == "either":
            what = "day and month of its dates cannot be told apart; read as text"
            self.say(name, "date order", what, Words(
                "{day} or {month} settles it",
                day=Setting("day_first", True), month=Setting("day_first", False),
            ))  # fmt: skip
            return
        self.done[name] = self.times(name, known)
        self.say_folded(name, self.cells[name])
        if self.form.day_first is None and known.form in ("day first", "month first"):
            first, second = ("day", "month") if known.form == "day first" else ("month", "day")
            what = Words("read as {first}, {second}, year", first=first, second=second)
            self.say(name, "date order", what, _declares("day_first", first == "day"))

    def times(self, name: str, dates: Dates) -> pd.Series[Any]:
        """Make a column of times."""
        kind = np.dtype(f"M8[{dates.unit}]")
        read = self.cells[name].looked_up(lambda texts: dates.times(texts).asi8.view(kind), _NEVER)
        times = pd.Series(self.source.shelf.array(kind, read), copy=False)
        if dates.form != "zoned":
            return times
        zone = pd.DatetimeTZDtype(dates.unit, tz="UTC")  # a view, while tz_localize makes a copy
        return pd.Series(times.array.view(zone), copy=False)

    def say_folded(self, name: str, cells: Cells) -> None:
        """Say which words were taken for missing among numbers, flags or dates."""
        counts = cells.words()
        self.folds_na = self.folds_na or "NA" in counts
        words = [word for word in counts if word.strip() not in _SILENT]
        if words:
            what = Words(
                "{count} cells hold {words}; read as missing",
                count=few(sum(counts[word] for word in words)),
                words=listed(words),
            )
            self.say(name, "missing", what, Words("{text} keeps all cells", text=Setting("text", [name])))

    def texts_left(self) -> None:
        """Settle what is left as texts."""
        left = {name: texts for name, texts in self.texts.items() if name not in self.done}
        writes_na = self.folds_na and not self.empty
        columns, remarks = settled_texts(self.source, left, self.wishes, writes_na=writes_na)
        self.done |= columns
        self.remarks += remarks


def _sign(sign: str) -> str:
    """Name a separator or decimal mark."""
    return "tabs" if sign == "\t" else repr(sign)


def _declares(name: str, value: Any) -> Words:
    """Say how a choice is declared."""
    return Words("{setting} declares it", setting=Setting(name, value))


def _zero_before_digit(content: bytes, sep: str) -> bool:
    r"""Whether a field begins with a zero and another digit, or ``x``, anywhere in a file.

    Parameters
    ----------
    content : bytes
        The file.
    sep : str
        Between fields.

    Examples
    --------
    >>> _zero_before_digit(b"a,b\n1,02\n", ","), _zero_before_digit(b"a,b\n10,0.2\n", ",")
    (True, False)
    """
    whole = np.frombuffer(content, np.uint8)
    starts = [ord(sign) for sign in (sep, "\n", "\r", '"') if sign.encode() in content]
    for start in range(0, len(content), _STEP):
        for offset in (start, start + 1):
            count = (min(_STEP + 1, len(content) - start) - (offset - start)) // 2
            pairs = np.frombuffer(content, "<u2", count=count, offset=offset) if count > 0 else whole[:0]
            for sign in starts:
                places = np.flatnonzero(pairs == sign + 256 * _ZERO)
                if len(places) and _before_digit(whole, offset + 2 * places + 2):
                    return True
    return False


def _before_digit(whole: np.ndarray[tuple[int], np.dtype[np.uint8]], places: IntArray) -> bool:
    """Whether one of some bytes is a digit or an x."""
    found = whole[places[places < len(whole)]]
    return bool(((found >= _ZERO) & (found <= ord("9")) | ((found | 32) == ord("x"))).any())
