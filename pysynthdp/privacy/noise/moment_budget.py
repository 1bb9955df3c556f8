"""How a budget is divided over the questions about one table: a function of public counts alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from scipy.special import gammaincinv

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.noise.moment_scales import (
    COUNT_UNIT,
    OFF_DIAGONAL,
    cost_of,
    count_square,
    gram_square,
    histogram_square,
)
from pysynthdp.privacy.noise.moment_scales import scale_for as _scale_for
from pysynthdp.privacy.unit import Relation

__all__ = ["BITS", "MomentBudget", "Question", "count_first", "moment_budget"]

BITS = 12  # of the fixed point; values are rounded to nearest, so what it adds is below a thousandth of s
CLIP_SHARE = 0.02
COUNT_SHARE = 0.01
SHAPE_SHARE = 0.1
BLUR_OF_SHAPE = 0.04  # noise of all ranges together over the rows, which sets the number of ranges
RANGES = (8, 48)
_WIDEST = 2**55  # of a scale: noise stays far inside 64 bits, where it would stick at the ends
COVERED = 0.999
BLURRED = 0.3


@dataclass(frozen=True, slots=True)
class _Tuning:
    """How the two stages share the budget, and how far and how heavily numbers count in a row.

    ``reach`` multiplies the 99.9 % point of chi-square: the squared radius. A row's one-hot blocks count 1
    each, its numbers ``weight``. The first stage only learns the whitening, so its numbers weigh more, and in
    a mixed table it may cut more rows. Chosen on simulated normal tables, SD2011 and Fair's survey.
    """

    share: float
    first_reach: float
    reach: float


_NUMERIC = _Tuning(share=0.2, first_reach=1.5, reach=1.1)
_MIXED = _Tuning(share=0.12, first_reach=1.0, reach=1.0)
_ALONE_REACH = 1.5  # of the only stage: without whitening numbers lie further out


@dataclass(frozen=True, slots=True)
class Question:
    """One noisy question.

    Parameters
    ----------
    name : {"rows", "first", "second", "only", "clipped", "shape"}
        Number of rows; cross-products of the first, second or only stage; number of rows that were clipped or
        have a cell that was made to fit; histograms.
    weight : float
        Largest squared length of the numeric block in a row, where a one-hot block has length 1.
    radius : float
        Largest length of the numeric block before that weight is given.
    row_bound : int
        Squared length of a row in squared grid steps; 0 for a count.
    scale : int
        Of the discrete Gaussian noise, in grid steps of what is released.
    histograms : int
        Numbers whose histograms are asked for; 0 for any other question.
    ranges : int
        Ranges of each.
    """

    name: Literal["rows", "first", "second", "only", "clipped", "shape"]
    weight: float
    radius: float
    row_bound: int
    scale: int
    histograms: int = 0
    ranges: int = 0

    @property
    def crossed(self) -> bool:
        """Whether it asks for cross-products."""
        return self.row_bound > 0

    @property
    def counts(self) -> bool:
        """Whether it asks for one number of rows."""
        return not self.crossed and not self.histograms

    @property
    def alpha(self) -> float:
        """Factor from the clipped numeric block to its place in the row."""
        return math.sqrt(self.weight) / self.radius if self.radius else 0.0

    def square(self, relation: Relation) -> Fraction:
        """Squared sensitivity of what is released, in grid steps."""
        if self.histograms:
            return histogram_square(self.histograms, relation)
        return gram_square(self.row_bound, relation) if self.crossed else count_square()

    def cost(self, relation: Relation) -> Fraction:
        """Exact zCDP cost for one row."""
        return cost_of(self.square(relation), self.scale)

    @property
    def sd(self) -> float:
        """Noise of a count, or of an off-diagonal cross-product of the unscaled features."""
        return self.scale / (OFF_DIAGONAL * 4.0**BITS if self.crossed else COUNT_UNIT)


@dataclass(frozen=True, slots=True)
class MomentBudget:
    """All questions about a table, in the order in which they are asked.

    Parameters
    ----------
    questions : tuple of Question
        In order.
    relation : {"replace_one", "add_remove"}
        Which tables are neighbours.
    edge : float
        Spectral edge of the first stage's noise in units of a standardised variance; 0 with one stage.
    """

    questions: tuple[Question, ...]
    relation: Relation
    edge: float

    @property
    def final(self) -> Question:
        """The question whose cross-products the models are fitted to."""
        return next(each for each in reversed(self.questions) if each.crossed)

    @property
    def first(self) -> Question | None:
        """The question that teaches the whitening; None with one stage."""
        return next((each for each in self.questions if each.name == "first"), None)

    @property
    def total(self) -> Fraction:
        """Exact zCDP cost for one row."""
        return sum((each.cost(self.relation) for each in self.questions), Fraction(0))


def count_first(rho: float) -> Question:
    """Make the question for the number of rows, which add-or-remove neighbours must pay for.

    Notes
    -----
    Privacy: a public constant; one per cent of rho.

    Examples
    --------
    >>> round(count_first(0.1).sd, 1)
    22.4
    """
    return Question("rows", 0.0, 0.0, 0, _scale_for(count_square(), COUNT_SHARE * rho))


def moment_budget(
    blocks: int,
    numbers: int,
    *,
    rho: float,
    relation: Relation,
    n: float,
    shaped: int = 0,
    counted: bool | None = None,
) -> MomentBudget:
    """Divide rho over the questions.

    Parameters
    ----------
    blocks : int
        Categorical parts with two levels or more.
    numbers : int
        Numeric parts.
    rho : float
        Budget of one row.
    relation : {"replace_one", "add_remove"}
        Which tables are neighbours.
    n : float
        Rows: the public number, or the noisy one that was paid for.
    shaped : int
        Numbers whose histograms are asked for too.
    counted : bool, optional
        Whether the number of rows is asked for: under add-or-remove, and where replaced units may have more
        or fewer rows than before.

    Returns
    -------
    MomentBudget

    Raises
    ------
    PrivacyError
        For a rho whose noise does not fit into 64 bits; raise it.

    Notes
    -----
    Privacy: public constants and, under add-or-remove, a released count. A fifth of rho (an eighth in a mixed
    table) goes to the first stage, from which the numeric block is centred and whitened for the second; two
    per cent to the number of clipped or changed rows; a tenth to the histograms, where any are asked for. A
    mixed table whose first stage would be blurred, with spectral edge 2 s sqrt(p)/(alpha^2 n) above 0.3, is
    asked once.

    Examples
    --------
    >>> [each.name for each in moment_budget(0, 10, rho=0.1, relation="replace_one", n=10_000).questions]
    ['first', 'second', 'clipped']
    >>> [each.name for each in moment_budget(5, 3, rho=0.01, relation="replace_one", n=5_000).questions]
    ['only', 'clipped']
    """
    asked = relation == "add_remove" if counted is None else counted
    rows = (count_first(rho),) if asked else ()
    left = rho * (1 - (COUNT_SHARE if rows else 0.0))
    if not numbers:
        only = _gram_question("only", blocks, weight=0.0, reach=0.0, rho=left, relation=relation)
        return MomentBudget((*rows, only), relation, 0.0)
    shape = (_shape_question(shaped, rho, relation, n),) if shaped else ()
    left -= (CLIP_SHARE + (SHAPE_SHARE if shape else 0.0)) * rho
    clipped = Question("clipped", 0.0, 0.0, 0, _scale_for(count_square(), CLIP_SHARE * rho))
    stages, edge = _stages(blocks, numbers, left, relation, n)
    return MomentBudget((*rows, *stages, clipped, *shape), relation, edge)


def _shape_question(shaped: int, rho: float, relation: Relation, n: float) -> Question:
    """Ask for histograms with as many ranges as keep their noise small beside the rows."""
    scale = _scale_for(histogram_square(shaped, relation), SHAPE_SHARE * rho)
    least, most = RANGES
    ranges = min(max(int(BLUR_OF_SHAPE * n * COUNT_UNIT / scale), least), most)
    return Question("shape", 0.0, 0.0, 0, scale, shaped, ranges)


def _stages(
    blocks: int, numbers: int, rho: float, relation: Relation, n: float
) -> tuple[tuple[Question, ...], float]:
    """Two stages, or one where the first would teach nothing."""
    tuning, point = _MIXED if blocks else _NUMERIC, 2 * float(gammaincinv(numbers / 2, COVERED))
    early, late = tuning.first_reach * point, tuning.reach * point

    def ask(name: Literal["first", "second", "only"], weight: float, reach: float, share: float) -> Question:
        return _gram_question(name, blocks, weight=weight, reach=reach, rho=share * rho, relation=relation)

    first = ask("first", 2 * (numbers + 1.0) if blocks else 8.0, early, tuning.share)
    edge = 2 * first.sd * math.sqrt(numbers) / (first.alpha**2 * max(n, 1.0))
    if blocks and edge > BLURRED:
        return (ask("only", numbers + 1.0, _ALONE_REACH * point, 1.0),), 0.0
    return (first, ask("second", numbers + 0.5 if blocks else late, late, 1 - tuning.share)), edge


def _gram_question(
    name: Literal["first", "second", "only"],
    blocks: int,
    *,
    weight: float,
    reach: float,
    rho: float,
    relation: Relation,
) -> Question:
    """One question for cross-products: q one-hot blocks (or the intercept) and the numeric block."""
    row_bound = math.floor((max(blocks, 1) + weight) * 4**BITS)
    scale = _scale_for(gram_square(row_bound, relation), rho)
    if scale > _WIDEST:
        raise PrivacyError(
            "rho is so small that its noise leaves the range of whole numbers",
            kind="domain",
            remedy="raise it",
        )
    return Question(name, weight, math.sqrt(reach), row_bound, scale)
