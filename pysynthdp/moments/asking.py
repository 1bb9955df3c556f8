"""The questions about one table, in order; each may depend on the noisy answers before it, never on rows."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from pysynthdp._typing import FloatArray, IntArray
from pysynthdp.moments.answers import Answers
from pysynthdp.moments.asked import Asked
from pysynthdp.moments.design import MomentShape
from pysynthdp.moments.integers import Frame
from pysynthdp.moments.learning import learned_whitening
from pysynthdp.moments.margins import Margin, range_edges
from pysynthdp.moments.released import reduced_moments
from pysynthdp.moments.whitening import Whitening
from pysynthdp.privacy.moment_budget import count_first, moment_budget
from pysynthdp.privacy.moment_scales import COUNT_UNIT
from pysynthdp.privacy.unit import Relation

__all__ = ["Asking", "ask_moments", "frame_of"]


Asking: TypeAlias = Generator[Asked, IntArray, Answers]


def frame_of(shape: MomentShape) -> Frame:
    """Place the features of a table."""
    return Frame(shape.blocks or (1,), shape.numbers)


def ask_moments(
    shape: MomentShape, owners: tuple[int, ...], *, rho: float, relation: Relation, n: int | None
) -> Asking:
    """Ask for the rows where they are confidential, both stages, the clipped or changed rows, and histograms.

    Parameters
    ----------
    shape : MomentShape
        The features.
    owners : tuple of int
        For each number its own block of kinds, whose first level says that there is a value; -1 for none.
    rho : float
        Budget of one row.
    relation : {"replace_one", "add_remove"}
        Which tables are neighbours.
    n : int or None
        The public number of rows; None under add-or-remove.

    Returns
    -------
    Answers

    Notes
    -----
    Privacy: adaptive composition; every question is a function of public facts and earlier noisy answers.
    """
    frame = frame_of(shape)
    none = Whitening.none(frame.levels, frame.numbers)
    counted: list[IntArray] = []
    rows = float(n or 0)
    if relation == "add_remove":
        counted.append((yield Asked(count_first(rho), frame, none)))
        rows = max(float(counted[0][0]) / COUNT_UNIT, 1.0)
    budget = moment_budget(
        len(shape.blocks), shape.numbers, rho=rho, relation=relation, n=rows, shaped=len(shape.spans)
    )
    whitening, snr, entries = none, float("inf"), list(counted)
    for question in budget.questions[len(counted) :]:
        if question.histograms:
            break
        answer = yield Asked(question, frame, whitening)
        entries.append(answer)
        if question.name == "first":
            gram = frame.unweighted(frame.unpack(answer), question.alpha)
            whitening, snr = learned_whitening(frame, gram, question, n=rows, edge=budget.edge)
    answers = Answers(frame, budget, tuple(entries), whitening, rows, snr, owners)
    return answers if not shape.spans else (yield from _ask_shapes(answers, shape))


def _ask_shapes(answers: Answers, shape: MomentShape) -> Asking:
    """Ask for histograms over ranges that the noisy cross-products lay out."""
    question = answers.budget.questions[-1]
    gram = reduced_moments(answers)
    laid = [
        range_edges(span, *_mean_and_sd(answers, gram, span.number), question.ranges) for span in shape.spans
    ]
    ranges = tuple((span.number, edges) for span, (edges, _, _) in zip(shape.spans, laid, strict=True))
    answer = yield Asked(question, answers.frame, answers.whitening, ranges)
    counts = answer.reshape(len(laid), -1) / float(COUNT_UNIT)
    margins = {
        span.number: Margin(edges, each, mean, sd)
        for span, (edges, mean, sd), each in zip(shape.spans, laid, counts, strict=True)
    }
    return replace(answers, entries=(*answers.entries, answer), margins=margins)


def _mean_and_sd(answers: Answers, gram: FloatArray, number: int) -> tuple[float, float]:
    """Noisy mean and spread of a number over the rows where it is there."""
    frame, block = answers.frame, answers.blocks_of_numbers[number]
    at = len(gram) - frame.numbers + number
    there = gram[0, 0]
    if block >= 0:  # its kinds' dummies without the first, which says that there is a value
        first = 1 + frame.starts[block] - block
        there = there - gram[0, first : first + frame.blocks[block] - 1].sum()
    there = max(float(there), 1.0)
    mean = float(gram[0, at]) / there
    return mean, float(np.sqrt(max(float(gram[at, at]) / there - mean**2, 0.0)))
