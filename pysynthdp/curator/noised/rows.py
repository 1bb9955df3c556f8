"""Answer the questions of a noise guarantee: exact integer sums over the rows, noise, and an entry each."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np

from pysynthdp.base.arrays import AnyArray, FloatArray, IntArray
from pysynthdp.curator.noised.asked import Asked
from pysynthdp.curator.noised.integers import EXACT_ROWS, exact_gram, integer_rows
from pysynthdp.curator.table import PartTable
from pysynthdp.design.cells import cell_codes
from pysynthdp.design.encode import Layout, Scale
from pysynthdp.design.parts import Part
from pysynthdp.privacy.domain import upward
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.ledger import Entry
from pysynthdp.privacy.noise.moment_scales import COUNT_UNIT, OFF_DIAGONAL
from pysynthdp.privacy.unit import Relation

__all__ = ["Noise", "NoisedRows", "answer_all", "entry_of"]

T = TypeVar("T")  # what the questions come to
Noise = Callable[[IntArray, float], IntArray]
_Split = tuple[list[tuple[Part, list[AnyArray]]], list[tuple[Scale, AnyArray, AnyArray | None]]]
_MOST = 2**60 // OFF_DIAGONAL  # of a sum: noise takes no more, and a limit takes neighbours no further apart
_WORDS = {
    "rows": "number of rows",
    "first": "cross-products, first stage",
    "second": "cross-products, centred and whitened by the first stage",
    "only": "cross-products",
    "clipped": "number of rows with a cell clamped or replaced, or numbers clipped",
    "shape": "number of rows in ranges of each number",
}


@dataclass(slots=True, repr=False)
class _Desk:
    """Answers fresh questions; remembers the changed rows of the last cross-products.

    Parameters
    ----------
    rows : callable
        Gives the rows, once.
    noise : callable (exact answer, scale) -> noised answer
        The only way out.
    """

    rows: Callable[[], NoisedRows]
    noise: Noise
    last: Asked | None = None
    held: NoisedRows | None = None
    clipped: int | None = None

    def answer(self, asked: Asked) -> IntArray:
        """Answer one question with noise."""
        if self.held is None:
            self.held = self.rows()
        if asked.question.counts:
            exact = np.array([self._count(asked, self.held) * COUNT_UNIT], dtype=np.int64)
        elif asked.question.histograms:
            exact = self.held.histograms(asked) * COUNT_UNIT
        else:
            exact, self.clipped = self.held.sums(asked)
        return self.noise(exact, float(asked.question.scale))

    def _count(self, asked: Asked, held: NoisedRows) -> int:
        """Count all rows, or those that were changed before the last cross-products."""
        if asked.question.name == "rows":
            return held.table.n
        if self.clipped is None and self.last is not None:
            self.clipped = held.sums(self.last)[1]
        return self.clipped or 0


@dataclass(frozen=True, slots=True, repr=False)
class NoisedRows:
    """The rows while noisy questions are answered.

    Parameters
    ----------
    table : PartTable
        Their parts.
    layout : Layout
        In moment order: categorical parts, then numbers in units of their hints.
    """

    table: PartTable
    layout: Layout

    def sums(self, asked: Asked) -> tuple[IntArray, int]:
        """Exact cross-products in grid steps, and the number of changed rows; not to leave without noise.

        A row counts once, whether a cell of it was made to fit, its numbers were clipped, or both.
        """
        layout = self.layout
        gram, clipped = self.table.total(lambda piece: NoisedRows(piece, layout).products(asked))
        return asked.frame.pack(np.clip(gram, -_MOST, _MOST)), int(clipped)

    def products(self, asked: Asked) -> tuple[IntArray, IntArray]:
        """Exact cross-products of rows that lie here, and how many of these changed."""
        gram = np.zeros((asked.frame.size, asked.frame.size), dtype=np.int64)
        clipped = 0
        split = self._split()
        for rows in self._blocks():
            codes, numbers = self._block(rows, split)
            whole, longer = integer_rows(asked.frame, codes, numbers, asked.question, asked.whitening)
            gram += exact_gram(whole)
            made_to_fit = False if self.table.changed is None else self.table.changed[rows]
            clipped += int(np.count_nonzero(longer | made_to_fit))
        return gram, np.array(clipped)

    def histograms(self, asked: Asked) -> IntArray:
        """Exact numbers of rows in ranges, number after number; absent numbers are in none."""
        layout = self.layout
        return self.table.total(lambda piece: (NoisedRows(piece, layout).counted(asked),))[0]

    def counted(self, asked: Asked) -> IntArray:
        """Count the rows that lie here."""
        numeric = [part for part in self.layout.parts if part.numeric]
        return np.concatenate([self._histogram(numeric[at], edges) for at, edges in asked.ranges])

    def _histogram(self, part: Part, edges: FloatArray) -> IntArray:
        """Count the rows of one number; each row by itself is in one range at most."""
        scale, kind = self.layout.scales[part.key], self.table.kind(part)
        counts = np.zeros(len(edges) - 1, dtype=np.int64)
        for rows in self._blocks():
            values = (self.table.parts[part.key][rows] - scale.centre) / scale.width
            at = np.searchsorted(edges[1:-1], values, side="right")
            there = slice(None) if kind is None else kind[rows] == 0
            counts += np.bincount(at[there], minlength=len(counts))
        return counts

    def _blocks(self) -> Iterator[slice]:
        """Slices of the rows."""
        for start in range(0, self.table.n, EXACT_ROWS):
            yield slice(start, min(start + EXACT_ROWS, self.table.n))

    def _block(self, rows: slice, split: _Split | None = None) -> tuple[list[AnyArray], FloatArray]:
        """Level codes of parts with several levels; numbers in units of their hints, 0 where absent."""
        levels, numeric = self._split() if split is None else split
        codes = [_codes(part, [each[rows] for each in values]) for part, values in levels]
        size = rows.stop - rows.start
        numbers = np.empty((len(numeric), size))
        for number, (scale, values, kind) in zip(numbers, numeric, strict=True):
            np.subtract(values[rows], scale.centre, out=number)
            np.divide(number, scale.width, out=number)
            if kind is not None:
                number[kind[rows] != 0] = 0.0
        return codes or [np.zeros(size, dtype=np.int16)], numbers

    def _split(self) -> _Split:
        """Give the columns of parts with several levels, and of numbers what turns them into their units."""
        table, parts = self.table, self.layout.parts
        told = {own.key for part in parts for own in part.of}
        asked = [part for part in parts if len(part.levels) > 1 and part.key not in told]
        levels = [(part, [table.parts[own.key] for own in part.of or (part,)]) for part in asked]
        numeric = [part for part in parts if part.numeric]
        scales = self.layout.scales
        return levels, [(scales[part.key], table.parts[part.key], table.kind(part)) for part in numeric]


def _codes(part: Part, values: Sequence[AnyArray]) -> AnyArray:
    """Give level codes; a number's declared cell is read from it alone, that of a table from its own row."""
    if part.of:
        sizes = tuple(len(own.levels) for own in part.of)
        return np.ravel_multi_index(tuple(values), sizes).astype(np.int16)
    return cell_codes(part.edges, values[0]).astype(np.int16) if part.edges else values[0]


def answer_all(
    asking: Generator[Asked, IntArray, T],
    rows: Callable[[], NoisedRows],
    noise: Noise,
    *,
    known: Sequence[IntArray] = (),
    recall: Callable[[Asked, IntArray], None] = lambda _asked, _answer: None,
    keep: Callable[[Asked, IntArray], None] = lambda _asked, _answer: None,
) -> T:
    """Run the questions to their end.

    Parameters
    ----------
    asking : generator
        The questions.
    rows : callable
        Gives the rows; called only if a question is not yet answered.
    noise : callable (exact answer, scale) -> noised answer
        The only way out.
    known : sequence of arrays
        Noised answers of an interrupted run, in order.
    recall : callable
        Told each known answer before it is used.
    keep : callable
        Told each new noised answer before it is used.

    Returns
    -------
    T
        What the questions come to.

    Notes
    -----
    Privacy: reads real rows; each new answer spends what its question says. The number of changed rows has
    sensitivity 1 for one row, added, removed or replaced: whether a row counts is read from it alone, its
    cells one by one, and its length under the public radius of the last cross-products.
    """
    desk, answers = _Desk(rows, noise), list(known)
    try:
        asked = next(asking)
        while True:
            if answers:
                answer = answers.pop(0)
                recall(asked, answer)
            else:
                answer = desk.answer(asked)
                keep(asked, answer)
            desk.last = asked if asked.question.crossed else desk.last
            asked = asking.send(answer)
    except StopIteration as stop:
        found: T = stop.value
    return found


def entry_of(asked: Asked, columns: Sequence[str], *, relation: Relation, rows: int) -> Entry:
    """Write the ledger's entry of a question, for the protected unit.

    Notes
    -----
    Privacy: public constants. A unit of k rows moves an answer by k times what a row does.
    """
    question, k = asked.question, rows
    square: Fraction = question.square(relation)
    rho = float(question.cost(relation) * k * k)
    return Entry(
        ", ".join(columns),
        _WORDS[question.name],
        ZCDP(upward(rho)),
        scale=float(question.scale),
        sensitivity=upward(k * math.sqrt(square)),
    )
