"""More units are drawn than needed, and thinned so that numbers computed in them have their distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.design.expression_cells import cells_of
from pysynthdp.draw.unit_rows import Block
from pysynthdp.plan.unit_plan import UnitPlan

__all__ = ["SPARE", "kept_units", "shares_of_copy", "thinned"]

SPARE: Final = 1.5  # units drawn for each that is kept
_ROUNDS: Final = 20


def shares_of_copy(plan: UnitPlan, rng: np.random.Generator) -> dict[str, FloatArray]:
    """Give the shares of groups that a copy has, of each column that keeps its distribution.

    Notes
    -----
    Privacy: post-processing. Where parameters are drawn for each copy, shares come from their Bayesian
    bootstrap, as those of ``sample`` (Rubin 1981, Annals of Statistics 9, 130).
    """
    counts = {own.column: np.asarray(own.counts, dtype=np.float64) for own in plan.over_units if own.edges}
    return {name: rng.dirichlet(n) if plan.proper else n / n.sum() for name, n in counts.items()}


def thinned(
    block: Block, plan: UnitPlan, shares: Mapping[str, FloatArray], n: int, rng: np.random.Generator
) -> Block:
    """Keep n units of a block.

    Parameters
    ----------
    block : Block
        Of more units.
    plan : UnitPlan
        Where groups meet.
    shares : mapping column -> array (groups,)
        Of its copy.
    n : int
        Units to keep.
    rng : Generator
        Of this block.

    Notes
    -----
    Privacy: post-processing of drawn rows by groups that the plan holds.
    """
    first = np.flatnonzero(np.r_[True, np.diff(block.unit) > 0])
    groups = []
    for own in plan.over_units:
        if own.column in shares:
            parts = {key: values[first] for key, values in block.parts.items() if key[0] == own.column}
            groups.append(np.searchsorted(own.edges, cells_of(plan.schema[own.column], parts).numbers()))
    kept = kept_units(groups, list(shares.values()), len(first), n, rng)
    rows = np.isin(block.unit, kept)
    unit = np.searchsorted(kept, block.unit[rows])
    parts = {key: values[rows] for key, values in block.parts.items()}
    return replace(block, parts=parts, unit=unit, place=block.place[rows])


def kept_units(
    groups: Sequence[IntArray], shares: Sequence[FloatArray], units: int, n: int, rng: np.random.Generator
) -> IntArray:
    """Choose n of some units so that shares of groups are as given, by each of several numbers.

    Notes
    -----
    Privacy: reads no record.
    Weights are raked to the shares (Deming and Stephan 1940), and n units drawn systematically with chances
    in proportion to them, at most 1, in the order of groups.
    """
    chance = _chances(_raked(groups, shares, units), n)
    order = np.lexsort((rng.random(units), *groups))
    ends = np.cumsum(chance[order])
    at = np.searchsorted(ends, (np.arange(n) + rng.random()) * (ends[-1] / n), side="right")
    kept = np.unique(order[np.minimum(at, units - 1)])
    others = np.setdiff1d(np.arange(units), kept)  # where too few units have a chance
    return np.sort(np.r_[kept, others[np.argsort(rng.random(len(others)))][: n - len(kept)]])


def _raked(groups: Sequence[IntArray], shares: Sequence[FloatArray], units: int) -> FloatArray:
    """Weigh units so that the shares of groups are as given; a group that nobody is in is left out."""
    weight = np.ones(units)
    for _ in range(_ROUNDS):
        for group, share in zip(groups, shares, strict=True):
            now = np.bincount(group, weight, minlength=len(share))
            weight = weight * (share / np.where(now > 0, now, 1.0))[group]
    return weight


def _chances(weight: FloatArray, n: int) -> FloatArray:
    """Give chances in proportion to weights, at most 1, which sum to n where enough units have a weight."""
    sure = np.zeros(len(weight), dtype=np.bool_)
    while True:
        total = weight[~sure].sum()
        chance = np.where(sure, 1.0, weight * ((n - sure.sum()) / total if total > 0 else 0.0))
        if not (chance[~sure] > 1.0).any():
            return chance
        sure |= chance >= 1.0
