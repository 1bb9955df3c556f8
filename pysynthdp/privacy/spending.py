"""What a fit asks of a ledger: to reserve before noise is drawn, and to settle when it is kept."""

from __future__ import annotations

from typing import Protocol

from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.statements.ledger_mark import LedgerMark

__all__ = ["Spending"]


class Spending(Protocol):
    """One attempt of one job to spend from a source.

    Notes
    -----
    Privacy: spends budget. What is reserved counts for ever, whether it was used or not.
    """

    @property
    def attempt(self) -> str:
        """Name of the attempt, which a file of answers keeps."""
        ...

    @property
    def mark(self) -> LedgerMark | None:
        """Where the reservation stands in the ledger; None before there is one."""
        ...

    def resume(self, attempt: str, *, begun: bool = True) -> None:
        """Go on with an earlier attempt of the same job; one that has no answer may not be reserved yet.

        Raises
        ------
        PrivacyError
            If the ledger knows no such attempt, or it is another job's.
        """
        ...

    def check(self, guarantee: Guarantee | None) -> None:
        """Refuse what could not be reserved now, or any price where it is not known yet; reserves nothing.

        Raises
        ------
        BudgetExceeded
            If it is more than is left.
        """
        ...

    def reserve(self, guarantee: Guarantee) -> None:
        """Reserve what this attempt costs so far, for ever, before noise is drawn.

        Raises
        ------
        BudgetExceeded
            If it is more than is left; nothing is reserved then.
        """
        ...

    def settle(self, digest: str) -> None:
        """Say that what was reserved is spent, by the digest of what came out."""
        ...
