"""Choose predictors where a step has many: forward, by what each adds to those chosen before it.

A step of a wide table would be drawn from every earlier column. Most of what they tell is told by a few; each
of the others costs time and adds noise. Of all candidates the one is taken that tells most of the target
*beside those taken before it*, until ``max_predictors`` are there: related items, of which each is nearly as
near as the next, then do not crowd out a weaker one that stands alone.

Rule. Centre X'X, of every s-th row where there are more than 20,000; numbers beyond three widths count as
three. Make each column's features uncorrelated, and the target's. The gain of a column is the sum of its
features' squared correlations with the target's, both freed of what the columns taken before tell (a score
test of the column in a multinomial or linear model), less twice the degrees of freedom over n. The largest
gain is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.encoded import Block, EncodedRows
from pysynthdp.design.encode import Layout
from pysynthdp.design.parts import Part
from pysynthdp.models.ask import Sums
from pysynthdp.plan import Step, SynthesisPlan

__all__ = ["chosen_predictors", "forward"]

ROWS: Final = 20_000  # of the systematic sample by which is chosen
FAR: Final = 3.0  # widths, at which numbers are cut for the choice
TOLD: Final = 1e-3  # share of a feature's spread below which the chosen ones tell it


def chosen_predictors(
    plan: SynthesisPlan,
    rows: EncodedRows,
    note: Callable[[str], None] | None = None,  # noqa: ARG001 -- all are chosen by one pass
) -> tuple[tuple[Step, ...], tuple[Remark, ...]]:
    """Choose among the predictors of each step that the user left open and that has too many.

    Parameters
    ----------
    plan : SynthesisPlan
        Whose ``max_predictors`` says how many.
    rows : EncodedRows
        The table.
    note : callable, optional
        Told nothing.

    Returns
    -------
    tuple of Step, tuple of Remark
        Steps with the terms that were chosen, in the order in which they stood; what to say of it.

    Notes
    -----
    Privacy: reads real rows, as sums over all or over at least 20,000; not under a guarantee.
    """
    most = plan.max_predictors or len(plan.schema)
    wide = [place for place, step in enumerate(plan.steps) if _too_many(plan, step, most)]
    if not wide:
        return plan.steps, ()
    table = _table(rows)
    steps = list(plan.steps)
    for place in wide:
        steps[place] = _chosen(steps[place], table, rows.layout, most)
    return tuple(steps), (_remark(len(wide), most),)


def _too_many(plan: SynthesisPlan, step: Step, most: int) -> bool:
    """Whether a step has more predictors than it shall, and nobody named them."""
    named = any(part.column not in plan.left_open for part in step.targets)
    return not named and len(step.terms) > most


@dataclass(frozen=True, slots=True, repr=False)
class _Table:
    """Correlations of all columns' features, each column's own made uncorrelated.

    Parameters
    ----------
    columns : mapping column -> array of int
        Positions of its features.
    own : array (features, features)
        Correlations; rows and columns of zeros for directions that a column does not have.
    cross : array (features, features)
        Of these features with the plain ones, in the plain ones' units.
    products : array (features, features)
        Centred mean products of the plain ones.
    n : float
        Rows behind them.
    """

    columns: Mapping[str, IntArray]
    own: FloatArray
    cross: FloatArray
    products: FloatArray
    n: float


def _table(rows: EncodedRows) -> _Table:
    """Add mean products over all rows, or over a systematic sample, and make each column's uncorrelated."""
    every = max(1, rows.table.n // ROWS)

    def of_block(block: Block) -> Sums:
        X = np.clip(block.X, -FAR, FAR)
        return (np.asarray(X.T @ X),)

    (gram,) = rows.fold(of_block, every=every)
    n = float(gram[0, 0])
    S = gram / n - np.outer(gram[0], gram[0]) / n**2
    columns = _columns(rows.layout)
    cross = np.zeros_like(S)
    for own in columns.values():
        cross[own] = _halves(S[np.ix_(own, own)]).T @ S[own]
    both = np.zeros_like(S)
    for own in columns.values():
        both[:, own] = cross[:, own] @ _halves(S[np.ix_(own, own)])
    return _Table(columns, both, cross, S, n)


def _columns(layout: Layout) -> dict[str, IntArray]:
    """Positions of each column's features."""
    found: dict[str, list[int]] = {}
    for part in layout.parts:
        found.setdefault(part.column, []).extend(_positions([part], layout))
    return {name: np.array(places, dtype=np.int64) for name, places in found.items()}


def _positions(parts: Iterable[Part], layout: Layout) -> IntArray:
    """Positions of some parts' features."""
    starts = layout.starts
    places = [j for part in parts for j in range(starts[part.key], starts[part.key] + layout.width(part))]
    return np.array(places, dtype=np.int64)


def _halves(S: FloatArray) -> FloatArray:
    """Find W with W' S W = 1, but 0 for directions that S does not have: (features, features)."""
    values, vectors = np.linalg.eigh(S)
    there = values > TOLD * values.max(initial=0.0)
    return np.asarray(vectors * np.where(there, 1.0 / np.sqrt(np.where(there, values, 1.0)), 0.0))


def _chosen(step: Step, table: _Table, layout: Layout, most: int) -> Step:
    """Choose the terms of one step."""
    nothing = np.array([], dtype=np.int64)
    groups = [table.columns.get(str(name), nothing) for (name,) in step.terms]
    target = _positions(step.targets, layout)
    told = table.cross[:, target] @ _halves(table.products[np.ix_(target, target)])
    taken = forward(table.own, told, groups, most=most, n=table.n)
    return replace(step, terms=tuple(step.terms[place] for place in sorted(taken)))


def _remark(steps: int, most: int) -> Remark:
    """Say that predictors were chosen, and how to have others."""
    what = Words(
        "{steps} given the {most} columns that tell most, of more that are drawn before",
        steps="one model is" if steps == 1 else f"{steps} models are",
        most=most,
    )
    remedy = Words(
        "fitted.plan lists them; {setting} chooses more, and formulas or a predictor matrix name them",
        setting=Setting("max_predictors", 2 * most),
    )
    return Remark("", "predictors chosen", what, remedy)


def forward(
    own: FloatArray, told: FloatArray, groups: Sequence[IntArray], *, most: int, n: float
) -> list[int]:
    """Choose groups of features one after the other, each by what it adds to those before it.

    Parameters
    ----------
    own : array (features, features)
        Correlations of the candidates' features, those of a group uncorrelated.
    told : array (features, targets)
        Their correlations with the target's features, which are uncorrelated too.
    groups : sequence of arrays of int
        Positions of each candidate's features; none where a candidate has nothing to tell.
    most : int
        Groups to choose.
    n : float
        Rows behind the correlations.

    Returns
    -------
    list of int
        Places of the chosen groups, in the order in which they were chosen.

    Examples
    --------
    >>> z = np.random.default_rng(0).standard_normal((500, 3))
    >>> near = z[:, 0] + 0.2 * z[:, 1]  # tells as much as the first, and nothing beside it
    >>> y = z[:, 0] + 0.2 * z[:, 1] + 0.5 * z[:, 2]
    >>> R = np.corrcoef(np.column_stack([near, z[:, 0], z[:, 2], y]).T)
    >>> forward(R[:3, :3], R[:3, 3:], [np.array([j]) for j in range(3)], most=2, n=500)
    [0, 2]
    """
    places = np.concatenate([*groups, np.array([], dtype=np.int64)])
    ends = np.cumsum([0, *map(len, groups)])
    left, C = np.ones(len(places)), told[places]
    taken: list[int] = []
    A = np.zeros((len(places), 0))
    while len(taken) < min(most, len(groups)):
        gains = np.sum(C**2, axis=1) / np.where(left > TOLD, left, np.inf) - 2 * C.shape[1] / n
        total = np.diff(np.concatenate([[0.0], np.cumsum(gains)])[ends])
        total[taken] = -np.inf
        best = int(np.argmax(total))
        taken.append(best)
        mine = slice(ends[best], ends[best + 1])
        R = own[np.ix_(places, places[mine])] - A @ A[mine].T
        half = _halves(R[mine])
        L = R @ half
        C = C - L @ (half.T @ C[mine])
        left = left - np.sum(L**2, axis=1)
        A = np.concatenate([A, L], axis=1)
    return taken
