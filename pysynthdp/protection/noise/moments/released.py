"""From the noisy answers, or from noise alone, to the reduced cross-products that models are fitted to."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.linalg import block_diag

from pysynthdp.base.arrays import FloatArray
from pysynthdp.curator.noised.integers import Frame
from pysynthdp.privacy.noise.moment_scales import COUNT_UNIT, DIAGONAL, OFF_DIAGONAL
from pysynthdp.protection.noise.moments.answers import Answers
from pysynthdp.protection.noise.moments.design import level_features
from pysynthdp.protection.noise.moments.projection import (
    consistent_levels,
    consistent_numbers,
    total_rows,
    weights_of,
)

__all__ = ["fresh_counts", "fresh_moments", "reduced_moments"]


def reduced_moments(answers: Answers) -> FloatArray:
    """Project the noised answers and write them in the features of the models.

    Parameters
    ----------
    answers : Answers
        What was released.

    Returns
    -------
    array (features, features)
        Cross-products of the intercept, the dummies of levels but the first, and the numbers; symmetric,
        the number of rows in the corner. Behind the cells of a table stand the dummies of its columns.

    Notes
    -----
    Privacy: post-processing. A linear function of the answers, so that :func:`fresh_moments` passes noise
    through the same one.
    """
    grams: dict[str, FloatArray] = {
        question.name: answers.frame.unweighted(answers.frame.unpack(entries), question.alpha)
        for question, entries in zip(answers.budget.questions, answers.entries, strict=False)
        if question.crossed
    }
    entries = answers.of("rows")
    count = None if entries is None else float(entries[0]) / COUNT_UNIT
    return _reduce(answers, grams, rows=answers.n, count=count)


def fresh_moments(answers: Answers, rng: np.random.Generator) -> FloatArray:
    """Draw noise of the law of the answers and pass it through the same projection.

    Parameters
    ----------
    answers : Answers
        Whose law.
    rng : Generator
        Of the drawing: this is simulation after the release, not protection.

    Returns
    -------
    array (features, features)

    Notes
    -----
    Privacy: post-processing; touches no record and spends nothing.
    """
    frame = answers.frame
    grams: dict[str, FloatArray] = {
        question.name: frame.unweighted(_symmetric_noise(frame, question.sd, rng), question.alpha)
        for question in answers.budget.questions
        if question.crossed
    }
    counted = [question for question in answers.budget.questions if question.name == "rows"]
    count = float(rng.standard_normal() * counted[0].sd) if counted else None
    return _reduce(answers, grams, rows=0.0, count=count)


def fresh_counts(answers: Answers, number: int, rng: np.random.Generator) -> FloatArray:
    """Draw noise of the law of one number's noisy counts.

    Notes
    -----
    Privacy: post-processing; touches no record and spends nothing.
    """
    question = next(each for each in answers.budget.questions if each.histograms)
    return np.asarray(question.sd * rng.standard_normal(len(answers.margins[number].counts)))


def _symmetric_noise(frame: Frame, sd: float, rng: np.random.Generator) -> FloatArray:
    """Noise on the released entries only, the diagonal 99/70 times as strong."""
    row, column = frame.released
    values = rng.standard_normal(row.size) * np.where(row == column, sd * OFF_DIAGONAL / DIAGONAL, sd)
    noise = np.zeros((frame.size, frame.size))
    noise[row, column] = values
    noise[column, row] = values
    return noise


def _reduce(
    answers: Answers, grams: Mapping[str, FloatArray], *, rows: float, count: float | None
) -> FloatArray:
    """Pool the stages, make everything agree, undo the whitening, drop the first level of each part."""
    frame, final = answers.frame, answers.budget.final
    asked = [question for question in answers.budget.questions if question.crossed]
    shares = weights_of([question.sd**2 for question in asked])
    table = sum(
        share * grams[question.name][: frame.levels, : frame.levels]
        for share, question in zip(shares, asked, strict=True)
    )
    pooled = np.asarray(table)
    n = rows
    if count is not None:
        variance = 1 / sum(question.sd**-2 for question in asked)
        sd = next(question.sd for question in answers.budget.questions if question.name == "rows")
        n = total_rows(frame, pooled, count, variance / sd**2)
    levels = consistent_levels(frame, pooled, n)
    gram = grams[final.name]
    at = slice(frame.levels, None)
    sums = consistent_numbers(frame, gram[: frame.levels, at])
    found = _features(answers, levels, *_coloured(answers, levels, sums, gram[at, at]), n)
    if not answers.tables:
        return found
    told = _told(answers)
    return np.asarray(told @ found @ told.T)


def _coloured(
    answers: Answers, levels: FloatArray, sums: FloatArray, squares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Undo x -> root (x - effects): sums within levels and cross-products of the numbers themselves.

    A number stands at zero where it is absent, so its sums there are zero, and its sum where it is present is
    its total: known, and put right after the noise of the other entries was undone.
    """
    effects, inverse = answers.whitening.effects, answers.whitening.inverse
    white = sums @ inverse.T
    within = white + levels @ effects
    crossed = effects.T @ white
    products = inverse @ squares @ inverse.T + crossed + crossed.T + effects.T @ levels @ effects
    frame = answers.frame
    for number, block in enumerate(answers.blocks_of_numbers):
        if block >= 0:
            rows = slice(frame.starts[block], frame.starts[block] + frame.blocks[block])
            total = within[: frame.blocks[0], number].sum()
            within[rows, number] = 0.0
            within[rows.start, number] = total
    return within, products


def _features(
    answers: Answers, levels: FloatArray, sums: FloatArray, products: FloatArray, n: float
) -> FloatArray:
    """Intercept, dummies of all levels but each part's first, numbers."""
    frame = answers.frame
    first = set(frame.starts)
    kept = [level for level in range(frame.levels) if level not in first]
    size = 1 + len(kept) + frame.numbers
    result = np.empty((size, size))
    block = slice(0, frame.blocks[0])
    margin, dummies, at = levels.diagonal()[kept], slice(1, 1 + len(kept)), slice(1 + len(kept), None)
    result[0, 0] = n
    result[0, dummies] = result[dummies, 0] = margin
    result[0, at] = result[at, 0] = sums[block].sum(axis=0)
    result[dummies, dummies] = levels[np.ix_(kept, kept)]
    result[dummies, at], result[at, dummies] = sums[kept], sums[kept].T
    result[at, at] = products
    return result


def _told(answers: Answers) -> FloatArray:
    """Write every feature as a sum of those that were asked for: a column's level is that of some cells."""
    own = [np.eye(1)]
    for size, columns in zip(answers.frame.blocks, answers.tables, strict=True):
        cells = np.eye(size - 1)
        own.append(np.vstack([cells, level_features(columns)[1:].T]) if columns else cells)
    return np.asarray(block_diag(*own, np.eye(answers.frame.numbers)))
