"""The questions about one table, in order; each may depend on the noisy answers before it, never on rows."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.curator.noised.asked import Asked
from pysynthdp.curator.noised.integers import Frame
from pysynthdp.curator.noised.whitening import Whitening
from pysynthdp.privacy.noise.moment_budget import Question, count_first, moment_budget
from pysynthdp.privacy.noise.moment_scales import COUNT_UNIT
from pysynthdp.privacy.unit import Relation
from pysynthdp.protection.noise.moments.answers import Answers
from pysynthdp.protection.noise.moments.design import MomentShape
from pysynthdp.protection.noise.moments.margins import Margin, range_edges
from pysynthdp.protection.noise.moments.projection import consistent_levels, consistent_numbers
from pysynthdp.protection.noise.moments.released import reduced_moments

__all__ = ["Asking", "ask_moments", "frame_of"]


Asking: TypeAlias = Generator[Asked, IntArray, Answers]


def frame_of(shape: MomentShape) -> Frame:
    """Place the features of a table."""
    return Frame(shape.blocks or (1,), shape.numbers)


def ask_moments(
    shape: MomentShape,
    owners: tuple[int, ...],
    *,
    rho: float,
    relation: Relation,
    n: int | None,
    counted: bool | None = None,
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
        The public number of rows; None where it is confidential.
    counted : bool, optional
        Whether it is asked for; under add-or-remove by default.

    Returns
    -------
    Answers

    Notes
    -----
    Privacy: adaptive composition; every question is a function of public facts and earlier noisy answers.
    """
    frame = frame_of(shape)
    none = Whitening.none(frame.levels, frame.numbers)
    number: list[IntArray] = []
    rows, asked = float(n or 0), relation == "add_remove" if counted is None else counted
    if asked:
        number.append((yield Asked(count_first(rho), frame, none)))
        rows = max(float(number[0][0]) / COUNT_UNIT, 1.0)
    shaped = len(shape.spans)
    budget = moment_budget(
        len(shape.blocks), shape.numbers, rho=rho, relation=relation, n=rows, shaped=shaped, counted=asked
    )
    whitening, snr, entries = none, float("inf"), list(number)
    for question in budget.questions[len(number) :]:
        if question.histograms:
            break
        answer = yield Asked(question, frame, whitening)
        entries.append(answer)
        if question.name == "first":
            gram = frame.unweighted(frame.unpack(answer), question.alpha)
            whitening, snr = _learned_whitening(frame, gram, question, n=rows, edge=budget.edge)
    answers = Answers(frame, budget, tuple(entries), whitening, rows, snr, owners)
    if shape.spans:
        answers = yield from _ask_shapes(answers, shape)
    return replace(answers, tables=shape.tables) if any(shape.tables) else answers


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


def _learned_whitening(
    frame: Frame, gram: FloatArray, question: Question, *, n: float, edge: float
) -> tuple[Whitening, float]:
    """Centre by the regression on levels, whiten by the residual covariance; both from noisy answers.

    Parameters
    ----------
    frame : Frame
        Where features lie.
    gram : array (size, size)
        Noisy cross-products of the first stage.
    question : Question
        Its noise.
    n : float
        Rows.
    edge : float
        Spectral edge of the noise in the covariance; directions below it were not learned.

    Returns
    -------
    Whitening, float
        And the signal-to-noise ratio: smallest eigenvalue over the edge.

    Notes
    -----
    Privacy: post-processing. Any square root would do, since clip and noise have no direction; a triangular
    one is quick to apply. The edge of a symmetric Gaussian matrix of off-diagonal deviation s is
    2 s sqrt(p); in the covariance of the unscaled numbers it is 2 s sqrt(p)/(alpha^2 n).
    """
    at = slice(frame.levels, None)
    levels = consistent_levels(frame, gram[: frame.levels, : frame.levels], n)
    sums = consistent_numbers(frame, gram[: frame.levels, at])
    effects = _effects(levels, sums, floor=2 * question.sd * np.sqrt(frame.levels))
    crossed = effects.T @ sums
    covariance = (gram[at, at] - crossed - crossed.T + effects.T @ levels @ effects) / n
    values, vectors = np.linalg.eigh(covariance)
    kept = np.maximum(values, min(1.0, edge))
    inverse = np.linalg.qr((vectors * np.sqrt(kept)).T).R.T  # inverse inverse' is the covariance
    root = np.tril(np.linalg.inv(inverse))
    return Whitening(effects, root, inverse), float(values[0] / edge)


def _effects(levels: FloatArray, sums: FloatArray, *, floor: float) -> FloatArray:
    """Regress on the levels; combinations of levels that the noise hides are shrunk towards no effect."""
    values, vectors = np.linalg.eigh(levels)
    strength = values / np.maximum(values, floor) ** 2
    strength[values < floor / 4] = 0.0
    return np.asarray((vectors * strength) @ (vectors.T @ sums))
