"""Rows of one copy as a sample: weights, strata, sampling units, and the variance of a sum of influences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.errors import FitError
from pysynthdp.base.words import Words, meant
from pysynthdp.schema.survey_design import lonely_word

__all__ = ["Lonely", "Sample", "checked_lonely", "sample_of", "variance"]

Lonely: TypeAlias = Literal["fail", "certainty", "adjust", "average"]
"""What a stratum with one sampling unit adds to a variance: an error, nothing, its distance from the mean of
all, or the average of the other strata."""
_NOTHING_LEFT: Final = 1e-7  # share of a stratum's units that are not in the sample, below which all are


@dataclass(frozen=True, slots=True, repr=False)
class Sample:
    """A sample of n rows in J sampling units of H strata.

    Parameters
    ----------
    w : array (n,)
        Weights.
    unit : array (n,)
        Number of each row's sampling unit.
    stratum : array (J,)
        Number of each unit's stratum.
    left : array (H,)
        Share of each stratum's units that are not in the sample: 1 without a finite population.
    """

    w: FloatArray
    unit: IntArray
    stratum: IntArray
    left: FloatArray

    @property
    def units(self) -> IntArray:
        """Sampling units in each stratum."""
        return np.bincount(self.stratum, minlength=len(self.left))

    @property
    def df(self) -> float:
        """Degrees of freedom: units less strata."""
        return float(len(self.stratum) - len(self.left))


def checked_lonely(lonely: object) -> Lonely:
    """Take one of the words.

    Raises
    ------
    FitError
        For another; names the nearest.
    """
    lonely = lonely_word(lonely)
    if lonely not in get_args(Lonely):
        known = ", ".join(map(repr, get_args(Lonely)))
        remedy = meant(str(lonely), get_args(Lonely), "leave it out to be told of such strata")
        raise FitError(f"lonely must be one of {known}", kind="setting", remedy=remedy)
    return lonely  # type: ignore[return-value]  # one of them


def sample_of(frame: pd.DataFrame, roles: Mapping[str, str]) -> Sample:
    """Read the design of a sample from its rows.

    Parameters
    ----------
    frame : DataFrame
        One copy.
    roles : mapping role -> column
        ``weight``, ``strata``, ``psu``, ``fpc``; each may be absent. Units of the same name in two strata are
        two units.

    Raises
    ------
    FitError
        For an absent column, a weight that is none, rows without a stratum, and a finite population that is
        smaller than the sample, or of two sizes in one stratum.
    """
    _check_columns(frame, roles)
    n = len(frame)
    strata = _codes(frame, roles.get("strata"))
    own = np.arange(n) if "psu" not in roles else _codes(frame, roles["psu"])
    _, unit = np.unique(np.column_stack([strata, own]), axis=0, return_inverse=True)
    unit = np.asarray(unit).reshape(-1)
    stratum = np.zeros(int(unit.max()) + 1, dtype=np.int64)
    stratum[unit] = strata
    return Sample(_weights(frame, roles), unit, stratum, _left(frame, roles, strata, stratum))


def _check_columns(frame: pd.DataFrame, roles: Mapping[str, str]) -> None:
    """Refuse columns that the copies do not have, and copies without rows."""
    absent = [name for name in roles.values() if name not in frame.columns]
    if absent:
        what = f"the design names {', '.join(absent)}, which the copies do not have"
        remedy = meant(absent[0], map(str, frame.columns), "give names of columns")
        raise FitError(what, column=absent[0], kind="unknown column", remedy=remedy)
    if not len(frame):
        raise FitError("there are no rows", kind="rows")


def _codes(frame: pd.DataFrame, name: str | None) -> IntArray:
    """Give each level of a column a number from 0; one level without a column."""
    if name is None:
        return np.zeros(len(frame), dtype=np.int64)
    codes, _ = pd.factorize(frame[name], sort=True)
    if (codes < 0).any():
        what = Words("{name}: some rows have no stratum or sampling unit", name=name)
        raise FitError(what, column=name, kind="design", remedy="leave these rows out")
    return np.asarray(codes, dtype=np.int64)


def _weights(frame: pd.DataFrame, roles: Mapping[str, str]) -> FloatArray:
    """Read the weights; all 1 without a column."""
    if "weight" not in roles:
        return np.ones(len(frame))
    name = roles["weight"]
    w = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    if not (np.isfinite(w) & (w >= 0)).all() or not w.any():
        what = Words("{name}: some weights are missing, negative or infinite, or all are zero", name=name)
        raise FitError(what, column=name, kind="design", remedy="correct them, or leave these rows out")
    return np.asarray(w)


def _left(frame: pd.DataFrame, roles: Mapping[str, str], strata: IntArray, stratum: IntArray) -> FloatArray:
    """Share of units that are not in the sample, by stratum."""
    n_strata = int(strata.max()) + 1
    if "fpc" not in roles:
        return np.ones(n_strata)
    name = roles["fpc"]
    given = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
    first = np.full(n_strata, np.nan)
    first[strata] = given
    if not np.isfinite(given).all() or not np.array_equal(first[strata], given) or not (given > 0).all():
        what = Words("{name}: a finite population must be one positive size in each stratum", name=name)
        mend = "give the number of sampling units in the stratum, or the share that was drawn"
        raise FitError(what, column=name, kind="design", remedy=mend)
    units = np.bincount(stratum, minlength=n_strata)
    drawn = first if (first <= 1).all() else units / first
    if (drawn > 1 + 1e-12).any():
        what = Words("{name}: a stratum has more sampling units in the sample than there are", name=name)
        raise FitError(what, column=name, kind="design", remedy="give sizes in sampling units")
    return np.maximum(1.0 - drawn, 0.0)


def variance(z: FloatArray, sample: Sample, lonely: Lonely = "fail") -> FloatArray:
    """Variance of a sum of weighted influences, by the spread of sampling units in their strata.

    Parameters
    ----------
    z : array (n, p)
        Weighted influence of each row on each estimate.
    sample : Sample
        Strata and units.
    lonely : {"fail", "certainty", "adjust", "average"}
        What a stratum with one unit adds.

    Returns
    -------
    array (p, p)
        sum over strata of (1 - f) n/(n - 1) times the sum of squares of the units' totals about their mean.

    Raises
    ------
    FitError
        For a stratum with one unit, where nobody says what it adds.

    Notes
    -----
    Privacy: post-processing. Linearisation (Binder 1983); units are taken as drawn with replacement, but for
    the share of a finite population.

    Examples
    --------
    >>> sample = sample_of(pd.DataFrame({"w": [2.0, 2, 2, 2]}), {"weight": "w"})
    >>> variance(sample.w[:, None] * np.array([[1.0], [2], [3], [4]]), sample)
    array([[26.66666667]])
    """
    totals = np.zeros((len(sample.stratum), z.shape[1]))
    np.add.at(totals, sample.unit, z)
    units = sample.units
    means = np.zeros((len(units), z.shape[1]))
    np.add.at(means, sample.stratum, totals)
    means /= units[:, None]
    alone = (units == 1) & (sample.left > _NOTHING_LEFT)
    if alone.any() and lonely == "fail":
        raise _alone(int(alone.sum()))
    means[alone] = 0.0 if lonely == "adjust" else means[alone]
    scale = sample.left * np.where(units > 1, units / np.maximum(units - 1, 1), 1.0)
    apart = (totals - means[sample.stratum]) * np.sqrt(scale)[sample.stratum, None]
    V = np.asarray(apart.T @ apart)
    if lonely == "average" and alone.any():
        V = V * len(units) / max(len(units) - int(alone.sum()), 1)
    return V


def _alone(count: int) -> FitError:
    """Say that strata have one unit."""
    have = "a stratum has" if count == 1 else f"{count:,} strata have"
    return FitError(
        f"{have} one sampling unit, which gives no variance",
        kind="design",
        remedy="say what it adds: lonely='adjust', 'average' or 'certainty' (as survey.lonely.psu in R)",
    )
