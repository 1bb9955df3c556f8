"""Columns that look like sampling weights or replicate weights: by their names, and by what they hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.spread.pieces import SpreadRows
from pysynthdp.design.rows import Rows
from pysynthdp.schema.survey_design import written

__all__ = ["Replicates", "replicate_groups", "replicate_remark", "weight_remarks"]

_OWN: Final = re.compile(
    r"(?:pw|pwgtp?|pweights?|wgtp|fnlwgt|final_?w(?:t|gt|eight)|(?:samp|sampling|survey|design|person|pers|hh|"
    r"household|base|cal|calib|post)[_.]?w(?:t|ts|gt|eight|eights)|dweight|pspwght|anweight|perwt|hhwt|asecwt|"
    r"wtss(?:all|nr|ps)?|wt(?:mec|int|saf|dr)\w*yr|rb05\d|rb06\d|db090|pb04\d|dw)",
    re.IGNORECASE,
)
_ANY: Final = re.compile(r"(?:.*[_.])?(?:w|wt|wts|wgt|wght|weight|weights)", re.IGNORECASE)
_REPLICATE: Final = re.compile(
    r"((?:rep|rep_?w|rep_?wt|rep_?wgt|rep_?weight|rw|rwt|rwgt|wtrep|wrep|brr|brr_?w|brr_?wt|jk|jk_?w|jk_?wt|bs|bsw|"
    r"bsrw|boot|boot_?w|boot_?wt|pwgtp|wgtp|fay|fay_?w|fwt)[_.]?)(\d+)",
    re.IGNORECASE,
)
FEWEST_REPLICATES: Final = 4
ZEROS: Final = 0.05  # share of zeros up to which numbers may be weights
NEAR_ONE: Final = 0.02  # of the mean of weights that add up to the rows
NEAR: Final = 0.5  # of the weight's mean, in which the means of replicate weights lie
ALIKE: Final = 0.2  # correlation of a replicate weight with the weight, or with the mean of the others
FEW_VALUES: Final = 12  # distinct values, and the largest, of what is an item rather than a weight


@dataclass(frozen=True, slots=True)
class Replicates:
    """Columns that look like replicate weights, and the weight that they go with, where one is known."""

    columns: tuple[str, ...]
    weight: str | None


def weight_remarks(rows: Rows, names: Iterable[str]) -> tuple[Remark, ...]:
    """Say which columns look like sampling weights.

    Parameters
    ----------
    rows : Rows
        The confidential table.
    names : iterable of str
        Columns of which nobody said what they are.

    Notes
    -----
    Privacy: reads real rows, of columns with such names alone; not under a guarantee.
    """
    return tuple(_weight_remark(name) for name in _weights(rows, list(names)))


def _weight_remark(name: str) -> Remark:
    """Say it of one column."""
    return Remark(
        name,
        "sampling weight",
        "it looks like a sampling weight, and is drawn like any number, so that it tells nothing of how rows "
        "were sampled",
        Words(
            "say {design} if it is one, and {drop} or a method for it if it is not",
            design=written(weight=name),
            drop=Setting("drop", [name]),
        ),
    )


def _weights(rows: Rows, names: Sequence[str]) -> list[str]:
    """Name the columns whose name and numbers are those of weights."""
    if isinstance(rows, SpreadRows):
        return []
    found = []
    for name in names:
        own = _OWN.fullmatch(name) is not None
        if (own or _ANY.fullmatch(name)) and _are_weights(_numbers(rows, name), by_name=own):
            found.append(name)
    return found


def _numbers(rows: Rows, name: str) -> FloatArray | None:
    """Read a column as numbers; None of one that holds none."""
    held = rows.take([name])[name]
    if not pd.api.types.is_numeric_dtype(held.dtype) or pd.api.types.is_bool_dtype(held.dtype):
        return None
    return np.asarray(held.to_numpy(dtype=np.float64, na_value=np.nan))


def _are_weights(values: FloatArray | None, *, by_name: bool) -> bool:
    """Whether numbers may be weights: few zeros, none below, not all alike; by a common name, a mean of 1."""
    if values is None:
        return False
    known = values[np.isfinite(values)]
    if len(known) < 2 or known.min() < 0 or known.min() == known.max() or np.mean(known == 0) > ZEROS:
        return False
    return by_name or abs(float(known.mean()) - 1) <= NEAR_ONE


def replicate_groups(rows: Rows, names: Iterable[str], weight: str | None = None) -> tuple[Replicates, ...]:
    """Find groups of columns that look like replicate weights.

    Parameters
    ----------
    rows : Rows
        The confidential table.
    names : iterable of str
        Columns of which nobody said what they are.
    weight : str, optional
        The weight of the design, if it is known.

    Notes
    -----
    Privacy: reads real rows, of columns with such names alone; not under a guarantee.
    """
    if isinstance(rows, SpreadRows):
        return ()
    groups: dict[str, list[str]] = {}
    for name in names:
        match = _REPLICATE.fullmatch(name)
        if match is not None:
            groups.setdefault(match[1].lower(), []).append(name)
    large = [tuple(own) for own in groups.values() if len(own) >= FEWEST_REPLICATES]
    return tuple(Replicates(own, weight) for own in large if _are_replicates(rows, own, weight))


def _are_replicates(rows: Rows, names: Sequence[str], weight: str | None) -> bool:
    """Whether columns are numbers from 0 on, and go with the weight or with one another."""
    found = [_numbers(rows, name) for name in names]
    if any(one is None or not len(one) or not np.nanmin(one) >= 0 for one in found):
        return False
    values = np.nan_to_num(np.column_stack([one for one in found if one is not None]))
    if values.max() <= FEW_VALUES and len(np.unique(values)) <= FEW_VALUES:
        return False
    own = None if weight is None else _numbers(rows, weight)
    others = (values.sum(axis=1)[:, None] - values) / (values.shape[1] - 1)
    other = others if own is None else np.nan_to_num(own)[:, None]
    near = abs(values.mean(axis=0) - other.mean()) <= NEAR * other.mean()
    alike = float(np.median(_correlations(values, other))) >= ALIKE
    return bool(near.all()) and (alike or _halved(values, other))


def _correlations(values: FloatArray, other: FloatArray) -> FloatArray:
    """Correlate each column with another number, or with its own; 0 where one of them never varies."""
    apart, away = values - values.mean(axis=0), other - other.mean(axis=0)
    scale = np.sqrt((apart**2).sum(axis=0) * (away**2).sum(axis=0))
    return np.asarray(np.where(scale > 0, (apart * away).sum(axis=0) / np.where(scale > 0, scale, 1.0), 0.0))


def _halved(values: FloatArray, other: FloatArray) -> bool:
    """Whether most cells are zero or a multiple of the weight, as in half samples and jackknives."""
    share = values / np.where(other > 0, other, 1.0)
    usual = np.median(share[share > 0]) if (share > 0).any() else 0.0
    return bool(np.mean((share == 0) | (np.abs(share - usual) <= 0.05 * usual)) >= 0.9)


def replicate_remark(group: Replicates) -> Remark:
    """Say what a group looks like, and what to do with it."""
    first, last = group.columns[0], group.columns[-1]
    weight = {} if group.weight is None else {"weight": group.weight}
    return Remark(
        first,
        "replicate weights",
        Words(
            "{first} to {last}, {count} columns, look like replicate weights, which are noise where they are "
            "drawn as ordinary columns",
            first=first,
            last=last,
            count=len(group.columns),
        ),
        Words(
            "leave them out, {design} with all their names; or give each a method if they are none",
            design=written(**weight, replicate_weights=[first, ...], replicates="drop"),
        ),
    )
