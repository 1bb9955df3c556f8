"""Synthetic populations of a sample with a design, and a simple random sample of each: counts of its rows.

A population is made of the sampled rows, each many times over. None is ever laid out: how often a simple
random sample of it has each row is drawn at once, in arrays as long as the table. Two stages, both of them
of them derived in ``docs/weights-population.md``:

1. a Bayesian bootstrap of the primary sampling units within strata, which weighs every unit anew: what
   another sample of the same design would have said of the population;
2. the sample of the population that these weights make, by the weighted Polya urn (Cohen 1997; Dong, Elliott
   and Raghunathan 2014) in the limit of ever more urns pooled: row i is drawn with probability w_i / sum(w).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.errors import PlanError
from pysynthdp.base.remarks import few
from pysynthdp.base.streams import stream
from pysynthdp.base.words import Words
from pysynthdp.curator.table import Key, PartTable
from pysynthdp.curator.whole_table import check_rows
from pysynthdp.design.groups import LevelGroups
from pysynthdp.design.replicates import replicates
from pysynthdp.design.rows import Rows
from pysynthdp.schema import Design
from pysynthdp.schema.survey_design import written

__all__ = [
    "SampleDesign",
    "bootstrap_weights",
    "population_sample",
    "rebuilt_weights",
    "sample_counts",
    "sample_design",
    "sampled",
    "weighed_groups",
]

MOST: Final = 0.2  # share of a population that one row may stand for
_POPULATION = 4  # first key of the streams of populations; 0 to 3 belong to draws
_MERGE: Final = Words(
    "merge strata with their neighbours, {merge}, or let such strata add nothing, {certain}",
    merge=written(how="population", lonely="merge"),
    certain=written(how="population", lonely="certainty"),
)
_LEAST = 1e-12  # concentration below which one unit takes all that its stratum has


@dataclass(frozen=True, slots=True, repr=False)
class SampleDesign:
    """The design of the rows of a table, as arrays; :func:`sample_design` reads it.

    Parameters
    ----------
    weight : array (rows,)
        How many units of the population a row stands for; 0 for a row that stands for none.
    unit : array of int (rows,)
        Primary sampling unit of each row: codes 0, 1, ..., of which no two strata share one.
    stratum : array of int (units,)
        Stratum of each primary sampling unit.
    fraction : array (strata,)
        Share of the stratum's primary sampling units that was sampled; 0 where it is not known.
    """

    weight: FloatArray
    unit: IntArray
    stratum: IntArray
    fraction: FloatArray

    @property
    def size(self) -> float:
        """Size of the population: the sum of the weights."""
        return float(self.weight.sum())

    @property
    def units(self) -> IntArray:
        """Sampled units of each stratum."""
        return np.bincount(self.stratum, minlength=len(self.fraction))


def sample_design(rows: Rows, design: Design) -> SampleDesign:
    """Read how the rows of a table were sampled.

    Parameters
    ----------
    rows : Rows
        The confidential table, without rows of odd weight.
    design : Design
        Which columns say so; without units each row is one, without strata all are in one.

    Raises
    ------
    PlanError
        For a stratum of one unit, unless the design says what becomes of it; for sizes that cannot be; and,
        of populations, for a row that stands for more than a fifth of one.

    Notes
    -----
    Privacy: reads real rows; names no stratum.
    """
    held = rows.take(design.columns)
    weight = np.ones(len(held)) if design.weight is None else held[design.weight].to_numpy(np.float64)
    if design.how == "population" and weight.max(initial=0.0) > MOST * weight.sum():
        raise PlanError(
            Words("{weight}: a row stands for more than a fifth of the population", weight=design.weight),
            column=design.weight,
            kind="design",
            remedy="trim the weights; populations made of so few rows would tell of them",
        )
    strata = np.zeros(len(held), dtype=np.int64) if design.strata is None else _codes(held[design.strata])
    own = np.arange(len(held)) if design.psu is None else _codes(held[design.psu])
    names = strata * (own.max(initial=0) + 1) + own
    _, first, unit = np.unique(names, return_index=True, return_inverse=True)
    stratum = strata[first]
    sizes = _sizes(held, design, strata, np.bincount(stratum))
    return _with_company(SampleDesign(weight, unit.astype(np.int64), stratum, sizes), design)


def _codes(cells: pd.Series[Any]) -> IntArray:
    """Give numbers in the place of names of groups, in sorted order."""
    return np.asarray(pd.factorize(cells, sort=True)[0], dtype=np.int64)


def _sizes(held: pd.DataFrame, design: Design, strata: IntArray, units: IntArray) -> FloatArray:
    """Units of each stratum of the population; infinite where nothing says how many."""
    if design.fpc is None:
        return np.full(len(units), np.inf)
    given = pd.to_numeric(held[design.fpc], errors="coerce").to_numpy(np.float64, na_value=np.nan)
    least, most = np.full(len(units), np.inf), np.full(len(units), -np.inf)
    there = ~np.isnan(given)
    np.minimum.at(least, strata[there], given[there])
    np.maximum.at(most, strata[there], given[there])
    if not there.all() or (least != most).any():
        what = "has missing sizes, or several in a stratum"
    elif (least <= 1).all() and (least > 0).all():
        return np.asarray(units / least)  # shares that were drawn
    elif (least < units).any():
        what = "is smaller than the number of sampled units in a stratum"
    else:
        return least
    raise PlanError(
        Words("{fpc} {what}", fpc=design.fpc, what=what),
        column=design.fpc,
        kind="design",
        remedy=Words(
            "give in each row how many sampling units the stratum has in the population, or leave {fpc} out",
            fpc=written(fpc=design.fpc),
        ),
    )


def _with_company(own: SampleDesign, design: Design) -> SampleDesign:
    """Take sizes to shares, and treat strata of one unit as the design says."""
    sizes, units = own.fraction, own.units
    alone = (units == 1) & (units < sizes)
    if alone.any() and design.lonely == "fail":
        count = int(alone.sum())
        raise PlanError(
            Words(
                "{strata}: {count} one sampling unit, which says nothing of how units vary",
                strata=design.strata or design.psu or design.weight,
                count="one stratum has" if count == 1 else f"{few(count)} strata have",
            ),
            column=design.strata,
            kind="design",
            remedy=_MERGE if design.how == "population" else "merge it with a neighbour before the fit",
        )
    if design.lonely == "merge" and alone.any() and len(units) > 1:
        new = _merged(units, alone)
        stratum = new[own.stratum]
        sizes, units = np.asarray(np.bincount(new, sizes), dtype=np.float64), np.bincount(stratum)
        own = replace(own, stratum=stratum)
    return replace(own, fraction=np.where(np.isinf(sizes), 0.0, units / sizes))


def _merged(units: IntArray, alone: BoolArray) -> IntArray:
    """Give strata new numbers: one of a single unit is one with the next, the last with the one before."""
    new, number, waiting = np.zeros(len(units), dtype=np.int64), 0, False
    for at, one in enumerate(alone):
        new[at] = number
        waiting = bool(one) and not waiting
        number += 0 if waiting else 1
    if waiting:
        new[new == number] = number - 1
    return new


def rebuilt_weights(rows: Rows, design: Design) -> dict[str, pd.Series[Any]]:
    """Make replicate weights of the rows anew, from what the design says of them.

    Raises
    ------
    PlanError
        Where the design has no such replicates, or another number of them than there are columns.

    Notes
    -----
    Privacy: reads real rows; what it gives is a function of columns that stay real.
    """
    if not design.rebuilt:
        return {}
    own = sample_design(rows, design)
    made = replicates(design.rebuild, own.stratum, 1.0 - own.fraction, len(design.rebuilt))
    values = own.weight[:, None] * made.factors[own.unit]
    index = rows.take([design.rebuilt[0]]).index
    return {name: pd.Series(values[:, at], index=index) for at, name in enumerate(design.rebuilt)}


def bootstrap_weights(design: SampleDesign, rng: np.random.Generator) -> FloatArray:
    """Weigh the rows anew, by one draw of a Bayesian bootstrap of the sampling units within strata.

    Parameters
    ----------
    design : SampleDesign
        Of the rows.
    rng : Generator
        Of the draw.

    Returns
    -------
    array (rows,)
        w_i n_h p_u, with p ~ Dirichlet(a_h, ..., a_h) over the n_h units of stratum h and
        n_h a_h = (n_h - 1)/(1 - f_h) - 1. The row's own weight where its stratum has one unit, or all.

    Notes
    -----
    Privacy: real weights; for the curator.
    An estimated total T has then the mean of the sample's and the variance sum_h (1 - f_h) n_h s_h^2, which
    is the unbiased estimator of the design's variance for units drawn with equal probability: var(n_h p_u) =
    (n_h - 1)/(n_h a_h + 1) and the p_u sum to one. Two units, of which both are few, are a_h = 0: one of them
    takes the place of both, as it does for Rao and Wu (1988) and McCarthy and Snowden (1985).

    Examples
    --------
    >>> design = SampleDesign(np.full(4, 5.0), np.arange(4), np.array([0, 0, 1, 1]), np.zeros(2))
    >>> bootstrap_weights(design, np.random.default_rng(1)).tolist()
    [0.0, 10.0, 10.0, 0.0]
    """
    units = design.units
    inner = 1.0 - design.fraction
    free = (units > 1) & (inner > 0)
    spread = np.where(free, (units - 1) / np.where(inner > 0, inner, 1.0) - 1, 1.0)
    each = np.maximum(spread / np.maximum(units, 1), _LEAST)[design.stratum]
    shares = _dirichlet(each, design.stratum, len(units), rng)
    times = np.where(free[design.stratum], units[design.stratum] * shares, 1.0)
    return np.asarray(design.weight * times[design.unit])


def _dirichlet(
    concentration: FloatArray, group: IntArray, groups: int, rng: np.random.Generator
) -> FloatArray:
    """Draw shares within groups; by logarithms, since a gamma of a small shape is 0 in floating point."""
    logs = np.log(rng.standard_gamma(concentration + 1.0))
    logs -= rng.standard_exponential(len(concentration)) / concentration
    most = np.full(groups, -np.inf)
    np.maximum.at(most, group, logs)
    parts = np.exp(logs - most[group])
    return np.asarray(parts / np.bincount(group, parts, groups)[group])


def sample_counts(weight: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Say how often a simple random sample of a population has each row.

    Parameters
    ----------
    weight : array (rows,)
        The population: how many of its units are like each row.
    size : int
        Rows of the sample.
    rng : Generator
        Of the draw.

    Returns
    -------
    array of int (rows,)
        Multinomial.

    Examples
    --------
    >>> sample_counts(np.array([90.0, 0.0, 10.0]), 20, np.random.default_rng(1)).tolist()
    [18, 0, 2]
    """
    return np.asarray(rng.multinomial(size, weight / weight.sum()), dtype=np.int64)


def population_sample(
    design: SampleDesign, size: int, root: np.random.SeedSequence | None, number: int
) -> IntArray:
    """Draw the simple random sample of one synthetic population, as counts of the table's rows.

    Parameters
    ----------
    design : SampleDesign
        Of the rows.
    size : int
        Rows of the sample.
    root : SeedSequence or None
        Of all streams; None for entropy that nobody keeps.
    number : int
        Of the population, from 0; what one holds does not hang on which others are made, or when.

    Notes
    -----
    Privacy: counts of real rows; for the curator.
    """
    weight = bootstrap_weights(design, stream(root, _POPULATION, number, 0))
    return sample_counts(weight, size, stream(root, _POPULATION, number, 1))


def sampled(table: PartTable, counts: IntArray | FloatArray | None) -> tuple[PartTable, FloatArray | None]:
    """Take the rows that a sample has, each once, and their weights; the table itself where it has all.

    The weights have mean one: sums are those of the sample, but for a factor, and a model is told as many
    rows as there are records. What rests on few records is found among rows, so that a record that the
    sample has ten times is one.

    Notes
    -----
    Privacy: real rows; for the curator.
    """
    if counts is None:
        return table, None
    there = np.flatnonzero(counts)
    if len(there) == table.n:
        return table, np.asarray(counts * (table.n / counts.sum()), dtype=np.float64)
    check_rows(len(there))
    parts = {key: values[there] for key, values in table.parts.items()}
    absent = {name: marks[there] for name, marks in table.absent.items()}
    weights = np.asarray(counts[there] * (len(there) / max(int(counts.sum()), 1)), dtype=np.float64)
    return PartTable(len(there), parts, absent=absent, scratch=table.scratch), weights


def weighed_groups(
    groups: Mapping[Key, LevelGroups], table: PartTable, weights: FloatArray | None
) -> dict[Key, LevelGroups]:
    """Split groups of levels, which are by the number of records, by what these weigh."""
    if weights is None:
        return dict(groups)
    return {
        key: replace(own, weights=np.bincount(table.parts[key], weights, len(own.codes)).astype(np.float64))
        for key, own in groups.items()
    }
