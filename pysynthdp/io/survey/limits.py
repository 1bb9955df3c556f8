"""What the formats of SPSS, Stata and SAS cannot hold, found by trial of pyreadstat."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pysynthdp.base.errors import ReleaseError
from pysynthdp.io.survey.coding import Coding
from pysynthdp.io.survey.names import SAS, SPSS, STATA, NameRule
from pysynthdp.io.survey.planned import refusal
from pysynthdp.io.survey.seen import Seen

__all__ = ["LIMITS", "Limits", "faults"]

_EXACT: Final = 2.0**53
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 -- times have no zone in these files


@dataclass(frozen=True, slots=True)
class Limits:
    """What a format holds.

    Parameters
    ----------
    ending : str
        Of its files.
    names : NameRule
        Which names it takes.
    label, value_label : int
        Bytes (of Stata's variable labels: characters) of the longest label of a variable, and of a value.
    text : int
        Bytes of the longest text.
    blanks : bool
        Whether blanks at the end of a text stay.
    largest, smallest : float
        Sizes of numbers.
    earliest : datetime
        First day of its calendar.
    """

    ending: str
    names: NameRule
    label: int
    value_label: int
    text: int
    blanks: bool
    largest: float
    smallest: float
    earliest: datetime


LIMITS: Final = {
    "sav": Limits("sav", SPSS, 256, 120, 32_767, False, 1.797e308, 0.0, datetime(1582, 10, 15)),  # noqa: DTZ001
    "dta": Limits("dta", STATA, 80, 32_000, 2_000_000, True, 8.988e307, 0.0, datetime(100, 1, 1)),  # noqa: DTZ001
    "xpt": Limits("xpt", SAS, 256, 32_767, 32_767, False, 7.237e75, 5.398e-79, datetime(1582, 1, 1)),  # noqa: DTZ001
}


def faults(coding: Coding, seen: Seen, limits: Limits) -> Iterator[ReleaseError]:
    """Say which values a format would change."""
    if coding.texts:
        yield from _of_texts(coding.name, seen, limits)
    elif coding.form in ("day", "time"):
        if seen.low < (limits.earliest - _EPOCH).total_seconds():
            what = f"it has days before {limits.earliest:%Y-%m-%d}"
            yield refusal(
                coding.name, what, limits.ending, "declare a later lower bound, or write Parquet or CSV"
            )
    else:
        yield from _of_numbers(coding, seen, limits)


def _of_texts(name: str, seen: Seen, limits: Limits) -> Iterator[ReleaseError]:
    """Say which texts would be changed."""
    if seen.longest > limits.text:
        what = f"it has texts longer than {limits.text:,} bytes"
        yield refusal(name, what, limits.ending, "leave the column out of the fit, or write Parquet or CSV")
    if seen.blanks and not limits.blanks:
        what = "it has texts that end in blanks, which are lost there"
        yield refusal(name, what, limits.ending, "take them off before the fit, or write Parquet, CSV or dta")
    if seen.zeros:
        what = "it has texts with a zero byte"
        yield refusal(name, what, limits.ending, "take it out before the fit, or write Parquet")
    if seen.empty and seen.gaps:
        what = "it has empty texts and missing ones, which are one there"
        yield refusal(name, what, limits.ending, "make the empty texts missing, or name them, before the fit")


def _of_numbers(coding: Coding, seen: Seen, limits: Limits) -> Iterator[ReleaseError]:
    """Say which numbers would be changed."""
    size = max((abs(end) for end in (seen.low, seen.high) if not math.isnan(end)), default=0.0)
    mend = "make it a text before the fit, or write Parquet or CSV"
    if math.isinf(size):
        yield refusal(
            coding.name, "it has infinite numbers", limits.ending, "make them missing before the fit"
        )
    elif size > limits.largest or seen.smallest < limits.smallest:
        what = f"it has numbers beyond {limits.largest:g}, or nearer to zero than {limits.smallest:g}"
        yield refusal(coding.name, what, limits.ending, mend)
    elif coding.decimals == 0 and size >= _EXACT:
        yield refusal(coding.name, "it has whole numbers of more than 53 bits", limits.ending, mend)
