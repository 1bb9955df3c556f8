"""The account of a fit: the one mutable object, charged before every draw."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, Self

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.composition import compose
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.guarantees.none import NoGuarantee
from pysynthdp.privacy.mechanism import PricedColumn, paid_draws, price_of
from pysynthdp.privacy.spending import Spending
from pysynthdp.privacy.statements.column import Draw
from pysynthdp.privacy.statements.ledger_mark import LedgerMark
from pysynthdp.privacy.unit import PrivacyUnit

__all__ = ["Account"]


class Account:
    """Count what has been drawn from one fit, and price all of it from public constants.

    Parameters
    ----------
    priced : sequence of PricedColumn, optional
        One a step, when the sampling itself carries the guarantee; empty when nothing is guaranteed.
    unit : PrivacyUnit, optional
        Whose record is protected; one record by default.

    Raises
    ------
    PrivacyError
        When a priced account is pickled or deep-copied: two accounts of one fit would each miss the other's
        draws. Draw in the process that fitted, or release the copies.

    Notes
    -----
    Privacy: spends the budget: every draw is appended under a lock before a record is drawn, also when the
    draw then fails. The whole list is priced again each time and converted once (J1); exact (epsilon, delta)
    pairs are never added. Copies of a fit in one process share one account.

    Examples
    --------
    >>> account = Account()
    >>> account.charge(n_syn=100, copies=5).name, account.records
    ('none', 500)
    """

    __slots__ = ("_draws", "_lock", "_marks", "_owner", "_priced", "_seeded", "_spending", "_unit")

    def __init__(self, priced: Sequence[PricedColumn] = (), *, unit: PrivacyUnit | None = None) -> None:
        self._priced = tuple(priced)
        self._unit = unit or PrivacyUnit()
        self._draws: list[Draw] = []
        self._lock = threading.Lock()
        self._seeded = False
        self._owner = os.getpid()
        self._spending: Spending | None = None
        self._marks: tuple[LedgerMark, ...] = ()

    def charge_to(self, spending: Spending | None, marks: Sequence[LedgerMark] = ()) -> Self:
        """Let every later draw that costs be reserved in an agency's ledger before it is made.

        Parameters
        ----------
        spending : Spending, optional
            Where, in this process.
        marks : sequence of LedgerMark
            Where the fit itself was reserved, in another one.

        Returns
        -------
        Account
            This one.

        Notes
        -----
        Privacy: spends nothing by itself.
        """
        self._spending, self._marks = spending, tuple(marks)
        return self

    def settle(self, digest: Callable[[], str]) -> None:
        """Say in the ledger, if there is one, that the draws that were charged are kept."""
        if self._spending is not None and self._priced:
            self._spending.settle(digest())

    @property
    def marks(self) -> tuple[LedgerMark, ...]:
        """Where the fit and its draws were reserved; empty where nobody keeps a ledger."""
        mark = None if self._spending is None else self._spending.mark
        return self._marks if mark is None else (mark,)

    @property
    def priced(self) -> tuple[PricedColumn, ...]:
        """Steps and their mechanisms."""
        return self._priced

    @property
    def unit(self) -> PrivacyUnit:
        """Whose record is protected."""
        return self._unit

    @property
    def draws(self) -> tuple[Draw, ...]:
        """Every draw charged so far, in order."""
        with self._lock:
            return tuple(self._draws)

    @property
    def copies(self) -> int:
        """Number of copies charged so far."""
        return sum(draw.copies for draw in self.draws)

    @property
    def records(self) -> int:
        """Number of records charged so far, over all copies."""
        return sum(draw.copies * draw.n_syn for draw in self.draws)

    @property
    def seeded(self) -> bool:
        """Whether any draw was seeded, which voids every claim about this fit (J5)."""
        return self._seeded

    def charge(self, *, n_syn: int, copies: int, seeded: bool = False) -> Guarantee:
        """Append a draw, before it is made, and return the guarantee of everything drawn with it.

        Parameters
        ----------
        n_syn, copies : int
            Records a copy, and copies.
        seeded : bool
            Whether the draw follows from a seed that somebody knows.

        Returns
        -------
        Guarantee
            Of the fit after this draw; ``NoGuarantee`` without priced steps.

        Raises
        ------
        PrivacyError
            For numbers below one, a draw that no mechanism can price, or a priced draw in another process
            than the fit's; nothing is charged then.

        Notes
        -----
        Privacy: spends budget.
        """
        draw = Draw(n_syn, copies)
        if self._priced and os.getpid() != self._owner:
            raise PrivacyError(
                "draw in the process that fitted: a worker's draws would miss the fit's account",
                kind="account",
            )
        with self._lock:
            total = self._price([*self._draws, draw])
            self._reserve(total, seeded)
            self._draws.append(draw)
            self._seeded = self._seeded or seeded
        return total

    def _reserve(self, total: Guarantee, seeded: bool) -> None:
        """Reserve what all draws so far cost together, if it is more than before."""
        if self._spending is None or not self._priced:
            return
        if seeded:
            raise PrivacyError(
                "a seeded draw protects nothing, so no ledger holds its price",
                kind="ledger",
                remedy="draw without a seed",
            )
        if not self._draws or total != self._price(self._draws):
            self._spending.reserve(total)

    def total(self) -> Guarantee:
        """Guarantee of everything charged so far.

        Raises
        ------
        PrivacyError
            If nothing has been drawn yet; draw first, or price a plan instead.
        """
        draws = self.draws
        if not draws:
            raise PrivacyError(
                "nothing has been drawn from this fit yet, so there is no loss to report", kind="account"
            )
        return self._price(draws)

    def by_step(self) -> tuple[Guarantee, ...]:
        """Guarantee of each priced step over everything charged so far, in order."""
        draws = self.draws
        if not draws:
            raise PrivacyError(
                "nothing has been drawn from this fit yet, so there is no loss to report", kind="account"
            )
        return tuple(self._price_step(step, draws) for step in self._priced)

    def _price(self, draws: Sequence[Draw]) -> Guarantee:
        """Compose all steps and draws, or say that there is no guarantee."""
        if not self._priced:
            return NoGuarantee()
        return compose([self._price_step(step, draws) for step in self._priced])

    def _price_step(self, step: PricedColumn, draws: Sequence[Draw]) -> Guarantee:
        """Compose one step over the draws; what was paid once at the fit does not grow with them."""
        paid = paid_draws(step.mechanism, draws)
        return compose([price_of(step.mechanism, draw, unit=self._unit) for draw in paid])

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        self._refuse_fork()
        twin = type(self)(unit=self._unit)
        memo[id(self)] = twin
        for draw in self.draws:
            twin.charge(n_syn=draw.n_syn, copies=draw.copies)
        return twin.charge_to(None, self.marks)

    def __reduce__(self) -> tuple[Any, ...]:
        self._refuse_fork()
        return _restored, (self._unit, self.draws, self.marks)

    def _refuse_fork(self) -> None:
        """Keep one account a fit where draws cost."""
        if self._priced:
            raise PrivacyError(
                (
                    "a fit whose sampling carries the guarantee cannot be pickled or deep-copied: "
                    "its account would be forked"
                ),
                kind="account",
                remedy="draw in this process and share the copies instead",
            )

    def __repr__(self) -> str:
        return f"<Account: {self.copies} copies, {self.records} records drawn>"


def _restored(unit: PrivacyUnit, draws: Sequence[Draw], marks: Sequence[LedgerMark]) -> Account:
    """Rebuild an account without priced steps after pickling."""
    account = Account(unit=unit)
    for draw in draws:
        account.charge(n_syn=draw.n_syn, copies=draw.copies)
    return account.charge_to(None, marks)
