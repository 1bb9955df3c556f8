"""Whether a noisy release can carry intervals, in numbers and flags; all from what was released."""

from __future__ import annotations

from typing import Any

from pysynthdp.moments.state import MomentState

__all__ = ["FEW_COPIES", "details_of", "effective_n", "flags_of"]

FEW_COPIES = 10
DOMINATED = 0.5
CLIPPED = 0.01


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


def flags_of(state: MomentState, *, m: int | None = None) -> tuple[str, ...]:
    """Name what makes intervals doubtful; empty when nothing does.

    Notes
    -----
    Privacy: post-processing of noised answers.
    """
    answers = state.answers[0]
    flags = []
    if state.acceptance < DOMINATED:
        flags.append(
            f"noise-dominated: only {state.acceptance:.0%} of redrawn moments are those of a table; "
            "intervals are not certified"
        )
    if answers.snr < 1:
        flags.append(
            "low signal-to-noise ratio: the first stage did not learn every direction of the numbers; rules "
            "with an effective number of rows do not apply"
        )
    clipped = answers.clipped
    if clipped is not None and clipped > CLIPPED:
        flags.append(
            f"clipped: about {clipped:.1%} of the rows were cut to the public radius; "
            "spreads may be too small"
        )
    if m is not None and 1 < m < FEW_COPIES:
        flags.append(f"few copies: m = {m}; intervals need ten or more, twenty by default")
    return tuple(flags)


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
        "clipped": answers.clipped,
        "numeric_only": state.numeric,
        "noise_sd": answers.budget.final.sd,
        "flags": list(flags_of(state, m=m)),
    }
    return {name: value for name, value in details.items() if value is not None}
