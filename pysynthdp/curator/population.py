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

from dataclasses import dataclass

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.streams import stream

__all__ = ["SampleDesign", "bootstrap_weights", "population_sample", "sample_counts"]

_POPULATION = 4  # first key of the streams of populations; 0 to 3 belong to draws
_LEAST = 1e-12  # concentration below which one unit takes all that its stratum has


@dataclass(frozen=True, slots=True, repr=False)
class SampleDesign:
    """The design of the rows of a table, as arrays.

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
