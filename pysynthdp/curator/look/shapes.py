"""Whether a normal model that the user names can hold a value that many records share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from scipy.special import ndtr

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Setting, Words

__all__ = ["JUDGED", "mass_remarks"]

_LOST = 0.05  # of the records: share of a value that the law leaves out, ...
_CERTAIN = 4.0  # ... and so many standard errors
_SCALES: Mapping[str, tuple[Callable[[FloatArray], FloatArray], bool]] = {  # scale; whether all below 0 is 0
    "norm": (lambda values: values, False),
    "sqrtnorm": (lambda values: np.sqrt(np.maximum(values, 0.0)), True),
    "cubertnorm": (np.cbrt, False),
}
JUDGED = ("normrank", "sample", "poisson", "negbin", *_SCALES)
"""Methods that keep a mass of one value, or of which it is said that they do not."""


def mass_remarks(
    name: str, method: str, distinct: FloatArray, counts: IntArray, grain: float
) -> Iterator[Remark]:
    """Say that a normal law leaves out most of a value's records.

    Parameters
    ----------
    name, method : str
        Column, and the model that draws it.
    distinct, counts : arrays (values,)
        Present values, and how many records have each.
    grain : float
        Of which drawn values are multiples; 0 for any number.

    Notes
    -----
    Privacy: reads counts of real values; tells a rough share, and of values only whether it is zero.
    """
    if method not in _SCALES or len(distinct) < 2:
        return
    value, share = float(distinct[np.argmax(counts)]), float(counts.max() / counts.sum())
    drawn = _drawn_share(value, distinct, counts, grain, method)
    error = np.sqrt(drawn * (1 - drawn) / counts.sum())
    if share - drawn > max(_LOST, _CERTAIN * error):
        which = "0" if value == 0 else "one value"
        what = Words(
            "{share} of the values are {which}, and '{method}' draws that in {drawn} of the rows or so",
            share=f"{100 * share:.0f} %",
            which=which,
            method=method,
            drawn=f"{100 * drawn:.0f} %",
        )
        spikes = Setting("spikes", {name: [0] if value == 0 else [...]})
        other = Setting("method", {name: "normrank"})
        remedy = Words("{spikes} draws it apart, {other} keeps its share", spikes=spikes, other=other)
        yield Remark(name, "shape", what, remedy)


def _drawn_share(value: float, distinct: FloatArray, counts: IntArray, grain: float, method: str) -> float:
    """Share of a value under the normal law of the same mean and spread on the model's scale."""
    scale, floor = _SCALES[method]
    on = scale(distinct)
    mean = float(np.average(on, weights=counts))
    spread = float(np.sqrt(np.average((on - mean) ** 2, weights=counts)))
    low, high = scale(np.array([value - grain / 2, value + grain / 2]))
    if floor and value == 0:
        low = -np.inf
    return float(ndtr((high - mean) / spread) - ndtr((low - mean) / spread))
