"""Who pays for a fit: the account of a source in an agency's ledger, asked before a row is read."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.base.words import Argument, Words
from pysynthdp.io.ledger import Attempt, SpendingLedger
from pysynthdp.plan import Protection, SynthesisPlan
from pysynthdp.plan.unit_plan import UnitPlan
from pysynthdp.privacy.account import Account
from pysynthdp.schema import plain as schema_file

__all__ = ["Charging", "attempt_of", "check_charged"]


@dataclass(frozen=True, slots=True)
class Charging:
    """The account that a fit and its draws are charged to.

    Parameters
    ----------
    ledger : SpendingLedger
        Where.
    source : str
        Whose account.
    file : path or None
        The confidential table, where it is a file.
    """

    ledger: SpendingLedger
    source: str
    file: str | os.PathLike[str] | None

    @classmethod
    def of(
        cls, ledger: Any, source: str | None, protection: Protection, *, table: Any, answers: Path | None
    ) -> Self | None:
        """Take what was asked for, and refuse what could not be paid before the table is opened.

        Raises
        ------
        PlanError
            If one of both is given without the other.
        BudgetExceeded
            If the fit costs more than is left.
        PrivacyError
            If nothing is guaranteed, or the ledger knows no such source.

        Notes
        -----
        Privacy: settings only. Answers that are on file were reserved: they are looked at when they are read.
        """
        if ledger is None and source is None:
            return None
        if ledger is None or source is None:
            lacking = "ledger" if ledger is None else "source"
            what = Words("a ledger and a source go together; {lacking} is not given", lacking=lacking)
            raise PlanError(what, kind="ledger")
        if protection.spends == "nothing":
            raise PrivacyError(
                "without a guarantee there is no price that a ledger could hold",
                kind="ledger",
                remedy=Words("leave {ledger} out, or ask for a guarantee", ledger=Argument("ledger")),
            )
        file = table if isinstance(table, str | os.PathLike) else None
        found = cls(SpendingLedger.of(ledger), source, file)
        price = protection.price_of_fit()
        on_file = answers is not None and answers.exists()
        found.begin(protection, "").check(None if on_file else price)
        return found

    def begin(self, protection: Protection, job: str) -> Attempt:
        """Begin an attempt."""
        return self.ledger.attempt(self.source, protection.unit, job=job, file=self.file)


def attempt_of(paying: Charging | None, plan: SynthesisPlan, account: Account) -> Attempt | None:
    """Begin an attempt of the job that a plan is, and let every draw that costs be charged to it."""
    attempt = None if paying is None else paying.begin(plan.protection, job_of(plan))
    account.charge_to(attempt)
    return attempt


def check_charged(protection: Protection, attempt: Attempt | None) -> None:
    """Refuse a fit whose protection named a price and reserved none, as one of another package may do.

    Raises
    ------
    PrivacyError
        If so.
    """
    if attempt is not None and attempt.mark is None and protection.price_of_fit() is not None:
        raise PrivacyError(
            f"protection {protection.name!r} named a price and reserved none in the ledger",
            kind="ledger",
        )


def job_of(plan: SynthesisPlan) -> str:
    """Digest what is fitted and how it is protected, from public facts."""
    first, *others = [_steps(own) for own in plan.tables]
    plain = {"schema": schema_file.to_plain(plan.schema), "steps": first, "protection": repr(plan.protection)}
    plain |= {"further": others} if others else {}
    plain |= {"units": plan.told_units} if isinstance(plan, UnitPlan) else {}
    return hashlib.sha256(json.dumps(plain, sort_keys=True, default=str).encode()).hexdigest()


def _steps(plan: SynthesisPlan) -> list[Any]:
    """Write what is drawn by which model."""
    return [(step.label, step.model.name, step.terms) for step in plan.steps]
