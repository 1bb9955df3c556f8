"""Checks that a safe release passes: each fails with a stated probability, and says what was found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import Final

import numpy as np
import pandas as pd

from pysynthdp.evaluate.risk.intervals import above, binomial_tail, excess_tail, wilson
from pysynthdp.evaluate.risk.records import Matched, Matches, Shared

__all__ = [
    "attack_alarms",
    "column_alarms",
    "key_alarms",
    "match_alarms",
    "membership_alarms",
    "rank_alarms",
    "shared_alarms",
    "value_alarms",
]

ALPHA: Final = 1e-3  # of one kind of check, over all its columns, copies and key sets
_LEAST: Final = 0.01  # share of rows, so that what is true and harmless raises no alarm
_WHOLE: Final = 99.0  # per cent from which on a file is the table
_ALMOST: Final = 0.9
_TWICE: Final = 2.0  # times what a blind guess finds


def _singles(found: Matched) -> list[Matches]:
    """Single copies."""
    return [each for each in found.matches if each.of != "any copy"]


def _listed(names: Iterable[str]) -> str:
    """Join names."""
    return ", ".join(names)


def match_alarms(found: Matched, n: int) -> Iterator[str]:
    """Hold the rows that equal unique records against those of a fresh sample.

    Parameters
    ----------
    found : Matched
        Exact matches.
    n : int
        Rows of the table.

    Yields
    ------
    str
        A sentence, if there are more than one row in a hundred beyond chance.
    """
    singles = _singles(found)
    whole = [each.of for each in singles if each.real >= _WHOLE]
    if whole and len(found.columns) > 1:
        yield (
            f"{_listed(whole)} holds the records of the table themselves "
            f"({max(each.real for each in singles):.0f} % of its rows, on {len(found.columns)} columns)"
        )
        return
    bad = [each for each in singles if _too_many(each, found.twice, n, len(singles))]
    if bad:
        worst = max(bad, key=lambda each: each.rows / each.of_rows)
        yield (
            f"{_listed(each.of for each in bad)}: {100 * worst.rows / worst.of_rows:.1f} % of the rows equal "
            f"a record that is alone in the table, and {100 * found.expected:.1f} % would by chance"
        )


def _too_many(each: Matches, twice: int, n: int, copies: int) -> bool:
    """Whether a copy has more unique records than a fresh sample, and by more than one row in a hundred."""
    times = 2 * each.of_rows / n
    low = wilson(each.rows, each.of_rows, 1 - 2 * ALPHA / copies)[0]
    return low - 2 * twice / n > _LEAST and excess_tail(each.rows, twice, times) < ALPHA / copies


def rank_alarms(found: Matched, chance: float) -> Iterator[str]:
    """Hold the rows that have the ranks of a record against those of two halves of the table.

    Parameters
    ----------
    found : Matched
        Matches by ranks.
    chance : float
        Share of rows by chance.

    Yields
    ------
    str
        A sentence.
    """
    singles = _singles(found)
    bad = [
        each
        for each in singles
        if wilson(each.rows, each.of_rows, 1 - 2 * ALPHA / len(singles))[0] - chance > _LEAST
        and binomial_tail(each.rows, each.of_rows, chance) < ALPHA / len(singles)
    ]
    if bad:
        worst = max(bad, key=lambda each: each.rows / each.of_rows)
        yield (
            f"{_listed(each.of for each in bad)}: {100 * worst.rows / worst.of_rows:.1f} % of the rows are "
            "records of the table whose numbers were shifted or stretched column by column: who knows how "
            f"gets them back ({100 * chance:.1f} % by chance)"
        )


def shared_alarms(shared: Sequence[Shared], n: int) -> Iterator[str]:
    """Look for rows that tell more of one record than chance, and than any two people of the table share.

    Parameters
    ----------
    shared : sequence of Shared
        The table against itself first, then the copies, then fresh people.
    n : int
        Rows of the table.

    Yields
    ------
    str
        A sentence.

    Notes
    -----
    Privacy: reads counts. A pair of row and record that agrees in columns with shares f1, f2, ... is expected
    rows n f1 f2 ... times if columns are independent; as they are not, a pair must also tell more than the
    best pair of people, by the logarithm of how many more rows there are, and of one in ALPHA.
    """
    copies = [each for each in shared if each.of.startswith("copy")]
    people = [each for each in shared if not each.of.startswith("copy")]
    rows = sum(each.of_rows for each in copies)
    least = math.log(rows) + math.log(n / ALPHA)
    for each in people:
        if each.told.size:
            least = max(least, float(each.told[0]) + math.log(rows / each.of_rows / ALPHA))
    bad = [each for each in copies if each.told.size and each.told[0] > least]
    if bad:
        many = max(int((each.told > least).sum()) for each in bad)
        records = "one record" if many == 1 else f"{many} records"
        yield (
            f"{_listed(each.of for each in bad)}: rows repeat {records} of the table, rare values together, "
            "as no two people do"
        )


def value_alarms(values: pd.DataFrame, copies: int) -> Iterator[str]:
    """Name columns in which a value of few people is a spike, or the extreme values are repeated.

    Parameters
    ----------
    values : DataFrame
        As ``rare_values`` gives it.
    copies : int
        Number of copies.

    Yields
    ------
    str
        A sentence for each kind.
    """
    limit = ALPHA / max(len(values) * copies, 1)
    spikes = values.loc[values["spike_p"] < limit, "column"]
    if len(spikes):
        yield f"a value of fewer than five records is a spike in the copies: {_listed(spikes)}"
    ends = values.loc[values["ends_p"] < limit, "column"]
    if len(ends):
        yield f"the copies repeat the largest or smallest values of few records: {_listed(ends)}"


def column_alarms(columns: pd.DataFrame, kept: Sequence[str]) -> Iterator[str]:
    """Name columns that agree with the table row by row and are not said to be kept real.

    Parameters
    ----------
    columns : DataFrame
        As ``row_by_row`` gives it.
    kept : sequence of str
        Columns kept real.

    Yields
    ------
    str
        A sentence.
    """
    real = (columns["agree"] >= _WHOLE) & (columns["chance"] < 100 * _ALMOST) & ~columns["sorted"]
    names = [name for name in columns.loc[real, "column"] if name not in kept]
    if names:
        yield f"columns agree with the table row by row, and are not said to be kept real: {_listed(names)}"


def key_alarms(
    identity: pd.DataFrame,
    attribute: pd.DataFrame,
    n: int,
    people: int,
    *,
    kept: Sequence[str],
    keys: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    """Hold RepU and DiSCO against their controls, and against what the table itself would give away.

    Parameters
    ----------
    identity, attribute : DataFrame
        As ``identity_table`` and ``attribute_table`` give them.
    n, people : int
        Rows of the table, and fresh people.
    kept : sequence of str
        Columns kept real.
    keys : dict
        Key sets.

    Yields
    ------
    str
        Sentences.
    """
    targets = attribute[["keys", "target"]].drop_duplicates() if len(attribute) else ()
    tests = max(len(keys) + len(targets), 1)
    cases = ((identity, "RepU", "RepU", "UiO"), (attribute, "DiSCO", "DiSDiO", "Dorig"))[
        : 1 + bool(len(attribute))
    ]
    for frame, measure, same, whole in cases:
        real = {name for name, columns in keys.items() if {*columns} <= {*kept}}
        synthetic = frame[~frame["keys"].isin(real)]
        single = synthetic[synthetic["of"].str.startswith("copy")]
        all_of_it = single[(single[whole] >= 1) & (single[same] >= _ALMOST * single[whole])]
        if len(all_of_it):
            named = _listed(dict.fromkeys(_named(all_of_it)))
            yield f"{same} is nearly {whole}, so copies tell what the table would: {named}"
        most = synthetic[synthetic["of"] == "any copy"]
        bad = most[
            [
                _beyond(value, control, n, people, tests)
                for value, control in zip(most[measure], most["control"], strict=True)
            ]
        ]
        if len(bad):
            worst = float(bad["above"].max())
            named = _listed(_named(bad))
            yield (
                f"{measure} lies above that of people never used, by up to {worst:.1f} percentage points: "
                f"{named}"
            )


def _named(rows: pd.DataFrame) -> Iterator[str]:
    """Name rows by key set and target."""
    for _, row in rows.iterrows():
        yield f"{row['target']} by {row['keys']}" if "target" in rows else str(row["keys"])


def _beyond(value: float, control: float, n: int, people: int, tests: int) -> bool:
    """Whether a share lies above its control by more than one point, however many are looked at."""
    if np.isnan(control) or np.isnan(value) or not people:
        return False
    found = above(value * n / 100, n, control * people / 100, people, 1 - 2 * ALPHA / tests)
    return found.low > _LEAST


def attack_alarms(inference: pd.DataFrame | None, singling: pd.DataFrame) -> Iterator[str]:
    """Name attacks that succeed more often on people of the table than on people never used.

    Parameters
    ----------
    inference : DataFrame or None
        As ``inference_table`` gives it.
    singling : DataFrame
        As ``singling_out_table`` gives it.

    Yields
    ------
    str
        A sentence for each kind of attack.
    """
    tests = len(singling) + (0 if inference is None else len(inference))
    for frame, what in ((inference, "attribute inference"), (singling, "singling out")):
        if frame is None or frame.empty:
            continue
        bad = frame[
            [_reaches(risk, low, tests) for risk, low in zip(frame["risk"], frame["low"], strict=True)]
        ]
        if len(bad):
            yield (
                f"{what} succeeds more often on people of the table than on others, by up to "
                f"{float(bad['risk'].max()):.1f} % of what is possible: {_listed(_named(bad))}"
            )


def _reaches(risk: float, low: float, tests: int) -> bool:
    """Whether a risk stays above zero at the level of these checks; its limit is at 95 %."""
    wide = NormalDist().inv_cdf(1 - ALPHA / tests) / NormalDist().inv_cdf(0.975)
    return bool(risk - wide * (risk - low) > 0)  # not where they are NaN


def membership_alarms(found: pd.DataFrame) -> Iterator[str]:
    """Say when the attack finds members at 1 % of false positives, or more than a guarantee allows.

    Parameters
    ----------
    found : DataFrame
        As ``Membership.to_frame`` gives it, perhaps with ``at_most``.

    Yields
    ------
    str
        A sentence.
    """
    rates = found[found["low"].notna()]
    first = rates.iloc[0]
    if first["low"] > _TWICE * first["blind"]:
        yield (
            f"shadow fits find {first['value']:.1f} % of the most exposed records that took part, at "
            f"{first['blind']:g} % of false positives"
        )
    if "at_most" in rates and bool((rates["low"] > rates["at_most"]).any()):
        yield (
            "shadow fits find more members than the guarantee allows: the settings are not those of the "
            "release, or the guarantee is broken"
        )
