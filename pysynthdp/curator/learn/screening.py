"""Screen terms: which products and curves a step needs beside its predictors as they are.

Rule. Of every s-th row where there are more than 20,000, the target's residuals off all features of the step
(least squares) are scored against every product of two features of different columns, every square, and
hinges and steps at quantiles of each number. A number is scored by its rank and squared rank, and by the
cells of its eighths; levels by their dummies. The 40 best are tested exactly, projected off the features and
off those taken before them, and taken one by one while their tail probability, by the usual and by the robust
variance, is at most :data:`LEVEL_TAKEN`: no more than :data:`MOST` a step, with no more parameters than a
tenth of the rows, and only up to a feature for ten rows. A candidate rests on at least ten effective records,
and a product of dummies on five. The number was chosen by a study of coverage
(``benchmarks/coverage/selection.py``), with a level of .05, the largest at which chance alone fills less
than half of the room; the level then by real tables (``benchmarks/defaults/constants.py``): .01 brings
copies nearer to rows that no model saw, in tables and in regressions, and tells less of the rows that were
fitted. What is not kept is about zero in all copies alike, which no combining rule sees, so tags say what was
tested and pooled tables flag it.

Before that the dummy of missing of a number that 5 to 95 in a hundred rows lack is multiplied by every other
feature, where these terms together have at most half as many parameters as there are rows: what goes with a
missing value is no product of what is there, so no screening finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pysynthdp.base.remarks import FEWEST, Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.curves import learned_curves
from pysynthdp.curator.encoded import EncodedRows
from pysynthdp.design.encode import Layout
from pysynthdp.design.parts import Part, parts_of
from pysynthdp.models.fits.score_tests import (
    Base,
    Scores,
    forward,
    product_evidence,
    resting,
    single_evidence,
    strongest,
)
from pysynthdp.plan import Factor, Step, SynthesisPlan, Terms
from pysynthdp.plan.factors import LEVEL, PLACES

__all__ = ["LEVEL_TAKEN", "MOST", "screened_terms"]

LEVEL_TAKEN: Final = 0.01  # tail probability up to which a candidate is taken
MOST: Final = 12  # terms taken for one step
ROWS: Final = 20_000  # of the systematic sample by which is chosen
WIDEST: Final = 120  # features of a step among which products are tested
SHORT: Final = 40  # candidates tested exactly
CELLS: Final = 8  # of a number that is scored
SCORED: Final = 12  # levels of a target that are scored, the most frequent
RECORDS: Final = 10  # for each feature of a step (Peduzzi and others 1996), and each parameter of terms
FORCED: Final = 20  # records that must lack a number, and have it
SHARE: Final = 0.05  # of the rows that must lack it, and have it
COLUMNS_A_VARIABLE: Final = 6  # features of a column that is multiplied by a dummy of missing

Name = str | Factor
Named = tuple[Name, ...]


def screened_terms(
    plan: SynthesisPlan, rows: EncodedRows, note: Callable[[str], None] | None = None
) -> tuple[tuple[Step, ...], tuple[Remark, ...]]:
    """Add terms to each step that the plan leaves to be screened.

    Parameters
    ----------
    plan : SynthesisPlan
        Whose ``to_screen`` says which.
    rows : EncodedRows
        The table, encoded by whole columns.
    note : callable, optional
        Told the column of each step, screened or not.

    Returns
    -------
    tuple of Step, tuple of Remark
        Steps with the terms that were taken; what to say of it.

    Notes
    -----
    Privacy: reads real rows, of a long table every s-th; not under a guarantee. Gives names of columns,
    levels and places that rest on ten records or more each.
    """
    if not any(_is_asked(step, plan) for step in plan.steps):
        return plan.steps, ()
    sample = _Sample.of(plan, rows)
    steps, cut = list(plan.steps), 0
    for place, step in enumerate(plan.steps):
        if _is_asked(step, plan):
            steps[place], capped = _screened(step, sample)
            cut += capped
        if note is not None:
            note(step.targets[0].column)
    return tuple(steps), (_remark(cut),) if cut else ()


def _is_asked(step: Step, plan: SynthesisPlan) -> bool:
    """Whether a step is to be screened: it has predictors, and all are whole columns."""
    plain = all(len(term) == 1 and isinstance(term[0], str) for term in step.terms)
    return step.label in plan.to_screen and len(step.targets) == 1 and bool(step.terms) and plain


def _remark(steps: int) -> Remark:
    """Say that not all products were tested."""
    what = Words(
        "of {steps} columns only the {widest} features that tell most alone were multiplied by one another",
        steps=steps,
        widest=WIDEST,
    )
    mend = Words("name products in {formulas}", formulas=Setting("formulas", [...]))
    return Remark("", "terms", what, mend)


# -- the rows ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class _Feature:
    """A column of X and how a term names it."""

    position: int
    part: Part
    name: Name


@dataclass(frozen=True, slots=True, repr=False)
class _Sample:
    """Rows by which is chosen: features of all columns, and the places of their curves."""

    plan: SynthesisPlan
    rows: EncodedRows
    every: int
    X: FloatArray
    features: dict[str, list[_Feature]]
    curves: dict[str, tuple[list[Factor], FloatArray]] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: SynthesisPlan, rows: EncodedRows) -> _Sample:
        """Gather every s-th row."""
        every = max(1, rows.table.n // ROWS)
        pieces: list[FloatArray] = []
        rows.collect(lambda block: pieces.append(block.X), every=every)
        X = pieces[0] if len(pieces) == 1 else np.asfortranarray(np.concatenate(pieces))
        return cls(plan, rows, every, X, _features(plan, rows.layout))

    def part(self, part: Part) -> AnyArray:
        """Values of a part."""
        return self.rows.table.parts[part.key][:: self.every]

    def target(self, part: Part) -> AnyArray:
        """Values of a part, as a step is fitted to it."""
        return self.rows.table.target(part)[:: self.every]

    def present(self, part: Part) -> BoolArray | None:
        """Rows where a partial value is there."""
        marks = self.rows.table.absence(part)
        return None if marks is None else np.asarray(marks[:: self.every] == 0)

    def bends(self, part: Part) -> tuple[list[Factor], FloatArray]:
        """Hinges and steps of a number, (rows, curves): those that differ."""
        if part.column not in self.curves:
            self.curves[part.column] = self._bends(part)
        return self.curves[part.column]

    def _bends(self, part: Part) -> tuple[list[Factor], FloatArray]:
        """Write them."""
        named = [Factor(part.column, form, (i, k)) for form, k in PLACES.items() for i in range(1, k + 1)]
        known = {(curve.form, curve.knots): curve for curve in learned_curves(named, self.rows.table)}
        curves = [curve for curve in known.values() if curve.width]
        out = np.empty((len(curves), len(self.X))).T
        present = self.present(part)
        for place, curve in enumerate(curves):
            absent = None if present is None else ~present
            curve.write(out[:, place : place + 1], self.part(part), absent)
        return [Factor(part.column, curve.form, curve.at) for curve in curves], out


def _features(plan: SynthesisPlan, layout: Layout) -> dict[str, list[_Feature]]:
    """Name the features of each column."""
    starts = layout.starts
    found: dict[str, list[_Feature]] = {}
    for part in layout.parts:
        own = found.setdefault(part.column, [])
        alone = layout.width(part) == 1 and len(parts_of(plan.schema[part.column])) == 1
        for offset in range(layout.width(part)):
            whole = part.numeric or alone
            name = part.column if whole else Factor(part.column, LEVEL, (_level(part, offset + 1, layout),))
            own.append(_Feature(starts[part.key] + offset, part, name))
    return found


def _level(part: Part, code: int, layout: Layout) -> str:
    """Name a level, or the first one of a group."""
    groups = layout.groups.get(part.key)
    return part.levels[code if groups is None else int(np.flatnonzero(groups == code)[0])]


# -- one step ----------------------------------------------------------------------------------------------


def _screened(step: Step, sample: _Sample) -> tuple[Step, bool]:
    """Add terms to one step; whether not all products were tested."""
    target = step.targets[0]
    features = [each for name in step.predictors for each in sample.features.get(name, [])]
    here = sample.present(target)
    n = len(sample.X) if here is None else int(here.sum())
    cells = n // 60 if target.numeric else len(np.unique(sample.target(target)))
    answers = min(max(cells, 4 if target.numeric else 2), 20) - 1
    room = min(MOST, n // (RECORDS * answers), n // RECORDS - len(features))
    if not features or room <= 0:
        return step, False
    forced = _forced(features, sample, here, n, answers)
    X = sample.X[:, [each.position for each in features]]
    beside = _products(X, features, forced)
    X, beside = (X, beside) if here is None else (X[here], beside[here])
    main, every = X, features
    base = Base.of(np.hstack([X, beside]) if forced else X)
    scores = _scores(target, sample, here, base)
    if scores is None:
        return step, False
    cut = len(features) > WIDEST
    if cut:
        kept = np.sort(strongest(_alone(X, target, sample, here), WIDEST))
        features, X = [features[place] for place in kept], X[:, kept]
    names, Z = _short_list(X, features, scores, sample, here)
    taken = forward(base, Z, scores, level=LEVEL_TAKEN, most=room) if names else []
    found = sorted((*forced, *(names[place] for place in taken)), key=lambda term: len({*term}))
    found = _resting(found, Base.of(main), sample, every, here)
    terms = tuple(dict.fromkeys((*step.terms, *found)))  # in the order in which a formula is read
    return replace(step, terms=terms, tested=() if cut else step.predictors), cut


def _alone(X: FloatArray, target: Part, sample: _Sample, here: BoolArray | None) -> FloatArray:
    """Say how much each feature tells of the target alone."""
    scores = _scores(target, sample, here, Base.of(X[:, :0]))
    return np.zeros(X.shape[1]) if scores is None else single_evidence(X, scores)


def _scores(target: Part, sample: _Sample, here: BoolArray | None, base: Base) -> Scores | None:
    """Code a target, off the features; None where nothing is left."""
    values = sample.target(target)
    values = values if here is None else values[here]
    codings = [base.off(Y) for Y in _codings(target, values) if Y.shape[1]]
    left = tuple(R for R in codings if (R * R).sum() > 1e-6 * len(values))
    return Scores(left) if left else None


def _codings(target: Part, values: AnyArray) -> Iterator[FloatArray]:
    """Code a number by rank, squared rank and cells; levels by dummies, ordered ones by rank too."""
    ranks = _mid_ranks(values)
    if target.numeric or (target.ordered and len(target.levels) > 2):
        yield np.stack([ranks, ranks**2]).T
    cells = np.floor((ranks + 0.5) * CELLS).astype(np.int64) if target.numeric else values
    codes, places, counts = np.unique(cells, return_inverse=True, return_counts=True)
    frequent = np.argsort(-counts, kind="stable")[:SCORED]
    rest = frequent[1:] if len(frequent) == len(codes) else frequent
    yield (places[:, None] == rest).astype(np.float64)


def _mid_ranks(values: AnyArray) -> FloatArray:
    """Middle ranks as shares, from -1/2 to 1/2."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray(((ends - counts / 2)[places]) / len(values) - 0.5)


def _short_list(
    X: FloatArray,
    features: Sequence[_Feature],
    scores: Scores,
    sample: _Sample,
    here: BoolArray | None,
) -> tuple[list[Named], FloatArray]:
    """List the candidates that look best, and write them."""
    centred = np.asfortranarray(X - X.mean(axis=0))
    products = product_evidence(centred, scores)
    first, second = np.triu_indices(len(features))
    pairs = products[first, second]
    pairs[~_allowed(X, features, first, second)] = -np.inf
    bends = [sample.bends(each.part) for each in features if each.part.numeric]
    curves = [own if here is None else own[here] for _, own in bends]
    alone = [single_evidence(own, scores) for own in curves]
    best = strongest(np.concatenate([pairs, *alone]), SHORT)
    named: list[Named] = []
    columns: list[FloatArray] = []
    every = [factor for factors, _ in bends for factor in factors]
    written = np.hstack(curves) if curves else X[:, :0]
    for place in best:
        if place < len(pairs):
            a, b = int(first[place]), int(second[place])
            named.append((features[a].name, features[b].name))
            columns.append(centred[:, a] * centred[:, b])
        else:
            named.append((every[place - len(pairs)],))
            columns.append(written[:, place - len(pairs)])
    return named, np.stack(columns).T if columns else X[:, :0]


def _allowed(X: FloatArray, features: Sequence[_Feature], first: IntArray, second: IntArray) -> BoolArray:
    """Whether a product may be a term: of two columns, with five records, or a square."""
    columns = np.unique([each.part.column for each in features], return_inverse=True)[1]
    numeric = np.array([each.part.numeric for each in features])
    both = ~numeric[first] & ~numeric[second]
    counts = (X.T @ X)[first, second]
    square = (first == second) & numeric[first]
    return np.asarray(((columns[first] != columns[second]) & (~both | (counts >= FEWEST))) | square)


def _resting(
    terms: Sequence[Named],
    base: Base,
    sample: _Sample,
    features: Sequence[_Feature],
    here: BoolArray | None,
) -> list[Named]:
    """Leave out terms of which a column differs from what others tell by few records only.

    A term of whole columns has more columns than the one that was tested: dummies of absence.
    """
    groups = [_written(term, sample, features) for term in terms]
    return [terms[place] for place in resting(base, groups if here is None else [g[here] for g in groups])]


def _written(term: Named, sample: _Sample, features: Sequence[_Feature]) -> FloatArray:
    """Write all columns of a term; a dummy times itself is itself, and left out."""
    if isinstance(term[0], Factor) and term[0].form != LEVEL:
        part = next(
            each.part for each in features if each.part.numeric and each.part.column == term[0].column
        )
        factors, columns = sample.bends(part)
        return columns[:, [factors.index(term[0])]]
    first, second = ([each for each in features if name in (each.name, each.part.column)] for name in term)
    pairs = {
        tuple(sorted((one.position, other.position)))
        for one in first
        for other in second
        if one.part.numeric or one.position != other.position
    }
    return np.stack([sample.X[:, i] * sample.X[:, j] for i, j in sorted(pairs)]).T


# -- missing values ----------------------------------------------------------------------------------------


def _forced(
    features: Sequence[_Feature], sample: _Sample, here: BoolArray | None, n: int, answers: int
) -> Terms:
    """Multiply the dummy of missing of each number by every other column; nothing where that is too much."""
    kinds = [each for each in features if each.part.role == "kind" and _often(each, sample, here, n)]
    numbers = {each.part.column for each in features if each.part.numeric}
    widths: dict[str, int] = {}
    for each in features:
        widths[each.part.column] = widths.get(each.part.column, 0) + 1
    terms = {
        (kind.name, column): width
        for kind in kinds
        if kind.part.column in numbers
        for column, width in widths.items()
        if column != kind.part.column and width <= COLUMNS_A_VARIABLE
    }
    many = sum(terms.values())
    return tuple(terms) if many * answers <= n // 2 and many + len(features) <= n // RECORDS else ()


def _often(kind: _Feature, sample: _Sample, here: BoolArray | None, n: int) -> bool:
    """Whether enough records lack a number in one way, and enough do not."""
    lacking = sample.X[:, kind.position]
    count = float(lacking.sum() if here is None else lacking[here].sum())
    return min(count, n - count) >= max(FORCED, SHARE * n)


def _products(X: FloatArray, features: Sequence[_Feature], terms: Iterable[Named]) -> FloatArray:
    """Write forced products."""
    places = {each.name: place for place, each in enumerate(features) if not each.part.numeric}
    own: dict[str, list[int]] = {}
    for place, each in enumerate(features):
        own.setdefault(each.part.column, []).append(place)
    columns = [X[:, places[kind]] * X[:, j] for kind, column in terms for j in own[str(column)]]
    return np.stack(columns).T if columns else X[:, :0]
