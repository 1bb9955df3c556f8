"""What must hold of copies before they leave; under a guarantee copies and statement alone are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pysynthdp.base.display import number
from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.jobs.evaluated import Evaluated
from pysynthdp.jobs.job_file import Gates, Job
from pysynthdp.privacy.guarantee import Guarantee

__all__ = ["GATES", "Gate", "Outcome", "check_gates", "looked_at", "said_epsilons", "said_rho"]

Kind = Literal["quality gate", "disclosure gate"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a gate saw.

    Parameters
    ----------
    gate : str
        Its key, and the set of keys or the delta where it has several.
    kind : {"quality gate", "disclosure gate"}
        What it is about.
    value, limit : float
        What was measured, and the most that is allowed.
    """

    gate: str
    kind: Kind
    value: float
    limit: float

    @property
    def ok(self) -> bool:
        """Whether it lets the copies pass; what cannot be measured does not."""
        return self.value <= self.limit

    @property
    def said(self) -> str:
        """One line."""
        how = "passes" if self.ok else "fails"
        return f"gate {self.gate} {how}: {number(self.value)}, at most {number(self.limit)}"


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate.

    Parameters
    ----------
    key : str
        In ``[gates]``.
    kind : {"quality gate", "disclosure gate"}
        What it is about.
    look : function of what is measured of the copies, and what is asked
        Yields names, values and limits.
    needs : {"copies", "statement", "table"}
        What it looks at beside the copies.
    """

    key: str
    kind: Kind
    look: Callable[[Evaluated, Gates], Iterator[tuple[str, float, float]]]
    needs: Literal["copies", "statement", "table"] = "copies"


def _rules(seen: Evaluated, asked: Gates) -> Iterator[tuple[str, float, float]]:
    """Count rows that break a rule."""
    yield "rules_failed", float(seen.release.check_rules().broken), float(asked.rules_failed or 0)


def _two_way(seen: Evaluated, asked: Gates) -> Iterator[tuple[str, float, float]]:
    """Take the worst two-way table; one that cannot be compared does not pass."""
    yield "max_pmse_ratio_2way", seen.two_way(), float(asked.max_pmse_ratio_2way or 0)


def _unique(seen: Evaluated, asked: Gates) -> Iterator[tuple[str, float, float]]:
    """Count records that are unique by a set of keys in the table and in any of the copies."""
    for name, most in (asked.max_repu_percent or {}).items():
        yield f"max_repu_percent.{name}", seen.replicated(name), float(most)


def said_rho(guarantee: Any) -> float:
    """Give the rho of a guarantee; one that has none does not pass."""
    return float(getattr(guarantee, "rho", float("inf")))


def said_epsilons(guarantee: Guarantee, deltas: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Give the deltas that are quoted, with their epsilon."""
    return tuple((delta, float(guarantee.epsilon(delta))) for delta in deltas)


def _rho(seen: Evaluated, asked: Gates) -> Iterator[tuple[str, float, float]]:
    """Read rho in the statement."""
    yield "max_rho", said_rho(seen.release.privacy.guarantee), float(asked.max_rho or 0)


def _epsilon(seen: Evaluated, asked: Gates) -> Iterator[tuple[str, float, float]]:
    """Read epsilon in the statement, at each delta."""
    for delta, epsilon in seen.release.privacy.points or ((0.0, float("inf")),):
        yield f"max_epsilon at delta = {delta:g}", float(epsilon), float(asked.max_epsilon or 0)


GATES: Final = (
    Gate("rules_failed", "quality gate", _rules),
    Gate("max_pmse_ratio_2way", "quality gate", _two_way, "table"),
    Gate("max_repu_percent", "disclosure gate", _unique, "table"),
    Gate("max_rho", "disclosure gate", _rho, "statement"),
    Gate("max_epsilon", "disclosure gate", _epsilon, "statement"),
)


def check_gates(job: Job, *, learns: bool) -> None:
    """Refuse gates that a job cannot have, before a row is read.

    Parameters
    ----------
    job : Job
        Which.
    learns : bool
        Whether anything may be learned from rows.

    Raises
    ------
    PrivacyError
        For one that compares with the table, under a guarantee.
    PlanError
        For one that reads the statement, without a guarantee.
    """
    for gate in _asked(job):
        if gate.needs == "table" and not learns:
            raise PrivacyError(
                f"gates.{gate.key} compares copies with the confidential table, which a guarantee does not "
                "allow: whether it passes would tell of records",
                kind="gates",
                remedy="under a guarantee gates look at copies and statement alone",
            )
        if gate.needs == "statement" and learns:
            raise PlanError(
                f"gates.{gate.key} reads a number of the statement, and without a guarantee there is none",
                kind="gates",
                remedy="leave it out",
            )


def looked_at(seen: Evaluated) -> tuple[Outcome, ...]:
    """Look at the copies.

    Parameters
    ----------
    seen : Evaluated
        The job with its gates, its release folder, and the table, which is not read under a guarantee.

    Notes
    -----
    Privacy: post-processing of copies and statement; without a guarantee some gates read real rows, and what
    they saw is for those who hold the table.
    """
    return tuple(
        Outcome(name, gate.kind, value, limit)
        for gate in _asked(seen.job)
        for name, value, limit in gate.look(seen, seen.job.gates)
    )


def _asked(job: Job) -> Iterator[Gate]:
    """Yield the gates that a job has."""
    for gate in GATES:
        if getattr(job.gates, gate.key) is not None:
            yield gate
