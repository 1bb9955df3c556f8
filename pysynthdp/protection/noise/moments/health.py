"""Whether a noisy release can carry intervals, in numbers and flags; all from what was released.

A *flag* says that estimates or intervals may be wrong. A *remark* says what a rule or a number of the release
can and cannot do, and moves no estimate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.protection.noise.moments.fitting import MomentStep
from pysynthdp.protection.noise.moments.state import MomentState

__all__ = [
    "FEW_COPIES",
    "all_flags",
    "clipped_share",
    "details_of",
    "effective_n",
    "flags_of",
    "least_clipped",
    "remarks_of",
]

FEW_COPIES = 10
DOMINATED = 0.5
CLIPPED = 0.01
WIDE = 0.02  # of a number's variance: a slope of ten standard errors is a fifth of one too flat
SPARSE = 10.0  # times the noise of a count: a cell of fewer rows is among a predictor's levels often empty
HIDDEN = 3.0  # times the noise of a count: a cell of fewer rows may be empty
SURE = 2.3263478740408408  # standard deviations that noise alone exceeds in one of a hundred releases


def effective_n(state: MomentState) -> float | None:
    """Rows that would tell as much without noise: n/(1 + s^2/n); None but for well-learned tables of numbers.

    Notes
    -----
    Privacy: post-processing. In whitened coordinates the noise has the covariance shape of sampling error, so
    it acts as a loss of rows; that holds where the first stage learned every direction (ratio at least one).
    """
    answers = state.answers[0]
    if not state.numeric or answers.snr < 1 or answers.budget.first is None:
        return None
    noise = answers.budget.final.sd**2 / answers.budget.final.alpha**4
    return state.n / (1 + noise / state.n)


def clipped_share(state: MomentState) -> float | None:
    """Give the noisy share of clipped or changed rows, over all noisy releases; None where none is counted.

    Notes
    -----
    Privacy: post-processing of noised answers.
    """
    shares = [each.clipped for each in state.answers]
    known = [share for share in shares if share is not None]
    return min(max(float(np.mean(known)), 0.0), 1.0) if known else None


def least_clipped(state: MomentState) -> float | None:
    """Give the share of clipped or changed rows from which it is flagged; None where nothing is counted.

    Notes
    -----
    Privacy: public constants, and n as released. One in a hundred rows; more where noise alone would exceed
    that in more than one of a hundred releases, so that a table without such rows is flagged that seldom.
    """
    answers = state.answers[0]
    asked = next((each for each in answers.budget.questions if each.name == "clipped"), None)
    if asked is None:
        return None
    return min(max(CLIPPED, SURE * asked.sd / math.sqrt(len(state.answers)) / answers.n), 1.0)


def all_flags(states: Sequence[MomentState], *, m: int | None = None) -> tuple[str, ...]:
    """Name what makes estimates doubtful in any table of a plan; of units those of further rows say so.

    Notes
    -----
    Privacy: post-processing of noised answers.
    """
    first, *others = states
    further = (f"further rows of units: {flag}" for state in others for flag in flags_of(state))
    return (*flags_of(first, m=m), *further)


def flags_of(state: MomentState, *, m: int | None = None) -> tuple[str, ...]:
    """Name what makes estimates or intervals doubtful; empty when nothing does.

    Notes
    -----
    Privacy: post-processing of noised answers.
    """
    flags = []
    if state.acceptance < DOMINATED:
        flags.append(
            f"noise-dominated: only {state.acceptance:.0%} of redrawn moments are those of a table; "
            "intervals are not certified"
        )
    clipped, least = clipped_share(state), least_clipped(state)
    if clipped is not None and least is not None and clipped > least:
        flags.append(
            f"clamped or clipped: about {clipped:.1%} of the rows have a number beyond its declared bounds "
            "or the public radius, or a cell that became its fallback or 'other'; means, quantiles, "
            f"variances, correlations{_of_levels(state)} and slopes may be biased, in which columns is not "
            "known"
        )
    flags += [*_of_cells(state), *_of_tables(state)]
    if m is not None and 1 < m < FEW_COPIES:
        flags.append(f"few copies: m = {m}; intervals need ten or more, twenty by default")
    return tuple(flags)


def _of_cells(state: MomentState) -> list[str]:
    """Name the numbers whose declared cells are too sparse for the noise, or too wide for later columns."""
    sd, found = state.answers[0].budget.final.sd, []
    for step in (step for step in state.steps if step.part.edges):
        counts, size = _counts(state, step), len(step.part.levels)
        few, name = int(np.count_nonzero(counts < SPARSE * sd)), step.part.column
        if few:
            found.append(
                f"sparse cells: {name} has about {few} of its {size} declared cells with fewer than "
                f"{SPARSE * sd:,.0f} rows, too few for this noise: it fills them where they are empty, which "
                "moves means and slopes; declare wider cells"
            )
        inside = _share_inside(np.maximum(counts, 0.0), step.task.target.cells)
        if inside > WIDE and step is not state.steps[-1]:
            found.append(
                f"wide cells: about {inside:.0%} of the variance of {name} lies inside its declared cells, "
                "which columns drawn later do not see, so that their slopes on it are that much too flat; "
                "declare narrower cells, or draw it last"
            )
    return found


def _of_tables(state: MomentState) -> list[str]:
    """Name the tables of columns that are drawn together of which many cells hide in the noise."""
    sd, found = state.answers[0].budget.final.sd, []
    for step in (step for step in state.steps if step.part.of):
        counts = _counts(state, step)
        few = int(np.count_nonzero(counts < HIDDEN * sd))
        if few:
            found.append(
                f"hidden cells: about {few} of the {len(counts)} cells of the table of {step.part.label} "
                f"have fewer than {HIDDEN * sd:,.0f} rows, and cannot be told from empty ones here: "
                "combinations that no record has may be drawn; draw fewer columns together, merge levels, or "
                "raise the budget"
            )
    return found


def _counts(state: MomentState, step: MomentStep) -> FloatArray:
    """Noisy numbers of rows at each level of a step's part."""
    first, size = state.layout.starts[step.part.key], len(step.part.levels)
    counts = state.grams[0][0, first : first + size - 1]
    return np.append(state.n - counts.sum(), counts)


def _share_inside(counts: FloatArray, ends: Sequence[tuple[float, float]]) -> float:
    """Share of a number's variance that lies inside cells, by a uniform law in each."""
    low, high = np.array(ends).T
    shares, middle = counts / max(counts.sum(), 1.0), (low + high) / 2
    inside = float(shares @ (high - low) ** 2) / 12
    between = float(shares @ middle**2 - (shares @ middle) ** 2)
    return inside / (inside + between) if inside > 0 else 0.0


def _of_levels(state: MomentState) -> str:
    """Name shares where there are columns of levels."""
    return "" if state.answers[0].frame.blocks == (1,) else ", shares"


def remarks_of(state: MomentState) -> tuple[str, ...]:
    """Say which rules do not apply, and what the count of clipped and changed rows cannot see.

    Notes
    -----
    Privacy: post-processing of noised answers.
    """
    answers = state.answers[0]
    remarks = []
    if answers.snr < 1:
        remarks.append(
            "low signal-to-noise ratio: the first stage did not learn every direction of the numbers; rules "
            "with an effective number of rows do not apply"
        )
    least = least_clipped(state)
    remarks.append(
        "how many cells became 'other' is unknown: a table without numbers but in declared cells asks "
        "for no such count"
        if least is None
        else f"clamped or clipped rows are flagged from {least:.1%} on; their noisy number tells neither "
        "which columns they moved nor how far, and no cell that is missing where missing values are declared"
    )
    return tuple(remarks)


def details_of(state: MomentState, *, m: int) -> dict[str, Any]:
    """Numbers for the tags of a release, as plain values.

    Notes
    -----
    Privacy: post-processing of noised answers.
    """
    answers = state.answers[0]
    details: dict[str, Any] = {
        "fit": "noisy cross-products" + (" and histograms" if answers.margins else ""),
        "stages": 2 if answers.budget.first is not None else 1,
        "n_eff": effective_n(state),
        "snr": answers.snr if answers.budget.first is not None else None,
        "acceptance": state.acceptance,
        "clipped": clipped_share(state),
        "numeric_only": state.numeric,
        "noise_sd": answers.budget.final.sd,
        "flags": list(flags_of(state, m=m)),
        "remarks": list(remarks_of(state)),
    }
    return {name: value for name, value in details.items() if value is not None}
