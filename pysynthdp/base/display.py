"""Tables for people: the only maker of printed numbers.

A result builds one :class:`Table` in ``to_table()``; :class:`Printable` gives ``print``, ``_repr_html_``
and a one-line ``repr``.
"""

from __future__ import annotations

import html
import math
import textwrap
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, TypeAlias, TypeVar

from pysynthdp.base.words import Dialect, said

__all__ = ["Cell", "PValue", "Printable", "Table", "number"]

_WIDTH = 110
_SHORT = 40  # characters of a fact that a one-line repr still shows
_FEW = 4  # facts in it
_SMALLEST: Final = 0.001  # a p-value below it says no more than that
_WIDE = "max-width:60em; white-space:normal"  # long facts and notes break; they do not widen a table
Cell: TypeAlias = str | int | float | bool | None
_Text = TypeVar("_Text", bound=Cell)


class PValue(float):
    """A number that is written as p-values are: three decimals, and ``<0.001`` for all below.

    Examples
    --------
    >>> number(PValue(0.04999)), number(PValue(3.618e-35)), number(PValue("nan"))
    ('0.050', '<0.001', '.')
    """

    __slots__ = ()

    def written(self) -> str:
        """Write it for people."""
        if math.isnan(self):
            return "."
        return f"<{_SMALLEST:g}" if self < _SMALLEST else f"{self:.3f}"


def number(value: Cell, digits: int = 4) -> str:
    """Write one cell: text as it is, whole numbers in full, others to ``digits`` significant digits.

    Examples
    --------
    >>> number(0.0123456), number(1234567), number(None), number(float("nan"))
    ('0.01235', '1,234,567', '', '.')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, PValue):
        return value.written()
    return _real(float(value), digits)


def _real(value: float, digits: int) -> str:
    """Write a float with ``digits`` significant digits, without an exponent where that is readable."""
    if math.isnan(value):
        return "."
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        places = max(0, digits - 1 - (math.floor(math.log10(abs(value))) if value else 0))
        rounded = float(f"{value:.{digits - 1}e}")  # 9.99996 has one digit more before the point
        places = max(0, places - int(abs(rounded) >= 10 ** (digits - places)))
        return f"{value:,.{places}f}"
    return f"{value:.{digits - 1}e}"


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table with facts above and notes below it.

    Parameters
    ----------
    title : str
        First line.
    columns : tuple of str
        Column heads; may be empty when there are only facts. Heads over no row are not shown.
    rows : tuple of tuples
        Cells; numbers are formatted here and right-aligned.
    facts : tuple of (label, value)
        Shown between the title and the table.
    notes : tuple of str
        Shown below.
    folded : tuple of (label, text)
        What only few readers want: closed in HTML until somebody opens it, and not in plain text.
    """

    title: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    facts: tuple[tuple[str, Cell], ...] = ()
    notes: tuple[str, ...] = field(default=())
    folded: tuple[tuple[str, str], ...] = ()

    def said(self, dialect: Dialect) -> Table:
        """Word its texts for somebody who writes Python, types commands, or writes R."""
        return replace(
            self,
            title=_said(self.title, dialect),
            columns=tuple(_said(head, dialect) for head in self.columns),
            rows=tuple(tuple(_said(cell, dialect) for cell in row) for row in self.rows),
            facts=tuple((_said(label, dialect), _said(value, dialect)) for label, value in self.facts),
            notes=tuple(_said(note, dialect) for note in self.notes),
            folded=tuple((_said(head, dialect), _said(text, dialect)) for head, text in self.folded),
        )

    def to_text(self) -> str:
        """Write plain text, at most as wide as its content."""
        parts = [self.title, "=" * len(self.title), *self._fact_lines()]
        if self.rows:
            parts += ["", *self._grid()] if self.facts else self._grid()
        parts += [_wrapped(note, "* ") for note in self.notes]
        return "\n".join(parts)

    def _fact_lines(self) -> list[str]:
        """One aligned line a fact."""
        width = max((len(label) for label, _ in self.facts), default=0)
        return [
            _wrapped(number(value), f"{label + ':':<{width + 1}} ").rstrip() for label, value in self.facts
        ]

    def _grid(self) -> list[str]:
        """Head, rule and rows; numbers to the right."""
        cells = [[number(cell) for cell in row] for row in self.rows]
        widths = [max([len(head), *(len(row[i]) for row in cells)]) for i, head in enumerate(self.columns)]
        right = self._numeric()

        def line(texts: list[str] | tuple[str, ...]) -> str:
            pairs = zip(texts, widths, right, strict=True)
            return "  ".join(t.rjust(w) if r else t.ljust(w) for t, w, r in pairs).rstrip()

        return [line(self.columns), "  ".join("-" * w for w in widths), *(line(row) for row in cells)]

    def _numeric(self) -> list[bool]:
        """Whether each column holds numbers only; those stand to the right, heads too."""
        return [_all_numbers([row[i] for row in self.rows]) for i in range(len(self.columns))]

    def to_html(self) -> str:
        """Write static HTML without scripts, styles in line."""
        parts = [f"<div><p><strong>{html.escape(self.title)}</strong></p>"]
        if self.facts:
            rows = "".join(f"<tr>{_th(label)}{_td(value)}</tr>" for label, value in self.facts)
            parts.append(f"<table><tbody>{rows}</tbody></table>")
        parts += [self._html_grid()] if self.rows else []
        if self.notes:
            notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
            parts.append(f'<ul style="{_WIDE}">{notes}</ul>')
        return "".join([*parts, *(_details(*each) for each in self.folded)]) + "</div>"

    def _html_grid(self) -> str:
        """One HTML table, every head over its column."""
        right = self._numeric()
        head = "".join(_th(name, right=at) for name, at in zip(self.columns, right, strict=True))
        rows = [
            "".join(_td(cell, right=at) for cell, at in zip(row, right, strict=True)) for row in self.rows
        ]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _all_numbers(cells: Sequence[Cell]) -> bool:
    """Whether there are numbers, and nothing else but gaps."""
    known = [cell for cell in cells if cell is not None]
    return bool(known) and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in known)


def _said(cell: _Text, dialect: Dialect) -> _Text:
    """Word a cell, if it is a text."""
    return said(cell, dialect) if isinstance(cell, str) else cell  # type: ignore[return-value]  # a text stays one


def _wrapped(text: str, head: str) -> str:
    """Break a long text into lines that stand below its beginning."""
    lines = textwrap.wrap(text, _WIDTH - len(head), break_long_words=False, break_on_hyphens=False) or [""]
    return head + ("\n" + " " * len(head)).join(lines)


def _th(name: str, *, right: bool = False) -> str:
    """Write a head, over or beside what it names."""
    style = f"text-align:{'right' if right else 'left'}; vertical-align:top"
    return f'<th style="{style}">{html.escape(name)}</th>'


def _td(cell: Cell, *, right: bool = False) -> str:
    """Write a cell; only columns of numbers stand to the right."""
    style = "text-align:right" if right else f"text-align:left; {_WIDE}"
    return f'<td style="{style}">{html.escape(number(cell))}</td>'


def _details(label: str, text: str) -> str:
    """Write what is closed until somebody opens it."""
    inside = html.escape(text).replace("\n", "<br>")
    return f'<details style="{_WIDE}"><summary>{html.escape(label)}</summary><p>{inside}</p></details>'


class Printable:
    """Text, HTML and a one-line repr from ``to_table()``."""

    __slots__ = ()

    @abstractmethod
    def to_table(self) -> Table:
        """Build the table that people see."""

    def __str__(self) -> str:
        return self.to_table().to_text()

    def said(self, dialect: Dialect) -> str:
        """Write it as text for somebody who writes Python, types commands, or writes R.

        Parameters
        ----------
        dialect : {"python", "shell", "r"}
            Who reads.

        Returns
        -------
        str
            As ``print`` shows it, with settings as this reader types them.
        """
        return self.to_table().said(dialect).to_text()

    def __repr__(self) -> str:
        table = self.to_table()
        short = (f"{label}: {number(value)}" for label, value in table.facts if len(number(value)) < _SHORT)
        return f"<{type(self).__name__}: {'; '.join([table.title, *islice(short, _FEW)])}>"

    def _repr_html_(self) -> str:
        return self.to_table().to_html()
