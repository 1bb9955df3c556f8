"""Gates: numbers that were fixed before the copies were seen, and whether the copies pass them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Setting, Words, meant
from pysynthdp.evaluate.report.purposes import Purpose
from pysynthdp.evaluate.risk.result import DisclosureRisk
from pysynthdp.evaluate.utility.result import UtilityComparison
from pysynthdp.release import SyntheticRelease

__all__ = ["Gate", "Limits", "gates_of", "limits_of"]

_STRONG: Final = 0.2
_ANY: Final = "any copy"  # all copies together


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where gates stand; None sets no gate.

    Parameters
    ----------
    rules_failed : int or None
        Most rows of the copies that may break a rule or universe.
    max_pmse_ratio_2way : float or None
        Highest ratio to a fresh sample of any table of two columns.
    max_relation_lost : float or None
        Largest share that the copies may lose of a strong relation of two columns, a correlation or Cramer's
        V of 0.2 or more; whatever the number of rows.
    max_repu_percent : mapping key set -> percent
        Highest share of records that are unique on a key set, and unique and the same in any copy.
    max_disco_percent : mapping key set -> percent
        Highest share of records whose target copies disclose correctly, for every target.
    """

    rules_failed: int | None = 0
    max_pmse_ratio_2way: float | None = None
    max_relation_lost: float | None = None
    max_repu_percent: Mapping[str, float] | None = None
    max_disco_percent: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate and what came to it.

    Parameters
    ----------
    name : str
        Its name.
    kind : {"quality", "disclosure"}
        A failed gate of quality ends a job with 5, one of disclosure with 6.
    value : float or None
        What was measured; None where it cannot be.
    limit : float
        The most that passes.
    why : str
        Why there is no value.
    """

    name: str
    kind: Literal["quality", "disclosure"]
    value: float | None
    limit: float
    why: str = ""

    @property
    def passed(self) -> bool:
        """Whether it is passed; what cannot be measured is not."""
        return self.value is not None and self.value <= self.limit

    @property
    def verdict(self) -> str:
        """One word."""
        return "passed" if self.passed else ("FAILED" if self.value is not None else "NOT MEASURED")


def limits_of(given: Mapping[str, Any] | Limits | None, purpose: Purpose) -> Limits:
    """Take limits as the user gives them, the others from the purpose.

    Raises
    ------
    PlanError
        For a gate that is not there, or a limit that is no number.
    """
    if isinstance(given, Limits):
        return given
    known = [item.name for item in fields(Limits)]
    for name, value in (given or {}).items():
        if name not in known:
            mend = meant(name, known, f"gates are {', '.join(known)}")
            raise PlanError(Words("there is no gate '{name}'", name=name), kind="setting", remedy=mend)
        if not _is_limit(value, by_name=name.endswith("_percent")):
            form = {"neighbour": 5.0} if name.endswith("_percent") else 10
            mend = Words("write {setting}", setting=Setting("limits", {name: form}))
            raise PlanError(Words("the limit of {name} is no number", name=name), kind="setting", remedy=mend)
    own = {"max_pmse_ratio_2way": purpose.most_two_way, "max_relation_lost": purpose.most_lost}
    return Limits(**{**own, **(given or {})})


def _is_limit(value: object, *, by_name: bool) -> bool:
    """Whether a limit is a number of at least zero, or numbers by key set."""
    if value is None:
        return True
    if by_name:
        return isinstance(value, Mapping) and all(_is_limit(one, by_name=False) for one in value.values())
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def gates_of(
    release: SyntheticRelease | None,
    utility: UtilityComparison,
    risk: DisclosureRisk | None,
    limits: Limits,
    *,
    guaranteed: bool,
) -> tuple[Gate, ...]:
    """Hold the copies against their gates.

    Parameters
    ----------
    release : SyntheticRelease or None
        The copies; None where they come from another tool.
    utility, risk
        What was measured.
    limits : Limits
        Where gates stand.
    guaranteed : bool
        Whether copies carry a formal guarantee. Then only what copies alone show is a gate: to choose by the
        records what is released would be a look at them that nobody paid for.
    """
    found = [*_of_rules(release, utility, limits)]
    if guaranteed:
        return tuple(found)
    found += [_none_copied(utility, risk), *_two_way(utility, limits), *_lost(utility, limits)]
    for measure, table, wanted in (
        ("RepU", "identity", limits.max_repu_percent),
        ("DiSCO", "attribute", limits.max_disco_percent),
    ):
        found += _by_keys(measure, table, wanted or {}, risk)
    return tuple(found)


def _of_rules(release: SyntheticRelease | None, utility: UtilityComparison, limits: Limits) -> Iterator[Gate]:
    """Count rows that break rules, in the copies."""
    if limits.rules_failed is None:
        return
    frame = utility.frames["rules"]
    broken = int(frame["copies"].sum()) if release is None else release.check_rules().broken
    yield Gate("rows of the copies that break a rule", "quality", broken, limits.rules_failed)


def _none_copied(utility: UtilityComparison, risk: DisclosureRisk | None) -> Gate:
    """Count alarms: parts of the table that stand in a copy as no synthesis lets them."""
    found = len(utility.alarms) + (len(risk.alarms) if risk is not None else 0)
    return Gate("alarms: parts of the table in a copy", "disclosure", found, 0)


def _two_way(utility: UtilityComparison, limits: Limits) -> Iterator[Gate]:
    """Take the worst table of two columns."""
    if limits.max_pmse_ratio_2way is None:
        return
    frame = utility.frames.get("two-way")
    if frame is None or frame.empty:
        return  # a single column has no relation
    ratios = frame["ratio"].dropna()
    worst = float(ratios.max()) if len(ratios) else None
    why = "" if len(ratios) else "no table of two columns can be compared"
    yield Gate(
        "worst table of two columns, over a fresh sample", "quality", worst, limits.max_pmse_ratio_2way, why
    )


def _lost(utility: UtilityComparison, limits: Limits) -> Iterator[Gate]:
    """Take the strong relation of which the copies lost most; a ratio alone grows with the number of rows."""
    if limits.max_relation_lost is None:
        return
    frame = utility.frames.get("associations")
    strong = None if frame is None else frame[frame["confidential"].abs() >= _STRONG]
    if strong is None or strong.empty:
        return  # nothing that could be lost
    left = strong["copies"] * np.sign(strong["confidential"]) / strong["confidential"].abs()
    yield Gate(
        "share lost of a relation of two columns, worst",
        "quality",
        max(0.0, float((1 - left).max())),
        limits.max_relation_lost,
    )


def _by_keys(
    measure: str, table: str, wanted: Mapping[str, float], risk: DisclosureRisk | None
) -> Iterator[Gate]:
    """Take a measure of each key set, over all copies and the worst target."""
    frame = None if risk is None else risk.found.get(table)
    for keys, limit in wanted.items():
        own = (
            []
            if frame is None
            else frame.loc[(frame["keys"] == keys) & (frame["of"] == _ANY), measure].tolist()
        )
        values = [float(one) for one in own if not pd.isna(one)]
        value = max(values, default=None)
        why = "" if values else "it was not computed: is this key set among keys, with targets?"
        yield Gate(f"{measure} by {keys}, %", "disclosure", value, limit, why)
