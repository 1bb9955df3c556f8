"""One attempt to spend: reserved before noise is drawn, settled when what came out is kept."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from pysynthdp.base.errors import BudgetExceeded, PrivacyError, ReleaseError
from pysynthdp.base.slips import answers_slips
from pysynthdp.io.ledger.account import Reservation, SourceAccount
from pysynthdp.io.ledger.events import Event, EventKind
from pysynthdp.io.ledger.storage import Storage, Tables, add_event, key_of, read_events
from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.guarantee import Guarantee, guarantee_to_dict
from pysynthdp.privacy.statements.ledger_mark import LedgerMark
from pysynthdp.privacy.unit import PrivacyUnit, unit_to_dict

__all__ = ["Attempt", "Override", "added", "checked_line", "reservation_of"]

_BLOCK: Final = 2**20  # bytes of a file that are digested at a time
_ROUNDING: Final = 1 - 1e-9


@answers_slips
@dataclass(frozen=True, slots=True)
class Override:
    """Leave to spend more than a limit, given by two people; the ledger and every later statement tell it.

    Parameters
    ----------
    by, second : str
        Two names, of two people.
    reason : str
        Why, in one line.

    Raises
    ------
    PrivacyError
        If a name or the reason is missing, or both names are one.
    """

    by: str
    second: str
    reason: str

    def __post_init__(self) -> None:
        for name in ("by", "second", "reason"):
            checked_line(f"override: {name}", getattr(self, name))
        if self.by.split() == self.second.split() or self.by.casefold() == self.second.casefold():
            raise PrivacyError(
                "override: a limit is overridden by two people, and both names are the same", kind="override"
            )


class Attempt:
    """One attempt of one job to spend from a source: reserve, draw, settle.

    Parameters
    ----------
    storage : Storage
        Where the ledger lies.
    source : str
        Whose account.
    unit : PrivacyUnit
        Whose record the release protects.
    job : str
        Digest of what is done.
    file : path, optional
        The confidential file; a table of a database has no digest.
    by : str
        Who spends.
    override : Override, optional
        Leave to spend more than the limit.

    Notes
    -----
    Privacy: spends budget; a :class:`pysynthdp.privacy.spending.Spending`.
    """

    def __init__(
        self,
        storage: Storage,
        source: str,
        unit: PrivacyUnit,
        job: str,
        *,
        file: str | os.PathLike[str] | None = None,
        by: str = "unknown",
        override: Override | None = None,
    ) -> None:
        self.source, self.unit, self.job = source, unit, job
        self.attempt = os.urandom(8).hex()
        self._storage, self._file, self._by, self._override = storage, file, by, override
        self._mark: LedgerMark | None = None

    @property
    def mark(self) -> LedgerMark | None:
        """Where the reservation stands; None before there is one."""
        return self._mark

    def resume(self, attempt: str, *, begun: bool = True) -> None:
        """Go on with an earlier attempt of the same job.

        Parameters
        ----------
        attempt : str
            Which one.
        begun : bool
            Whether noise was drawn by it; if not, it may have ended before it was reserved.

        Raises
        ------
        PrivacyError
            If the ledger knows no such attempt, it is another job's, or it was abandoned.
        """
        if begun:
            _check_job(reservation_of(self._account(), attempt), self)
        self.attempt = attempt

    def check(self, guarantee: Guarantee | None) -> None:
        """Refuse what could not be reserved now, or any price where it is not known yet; reserves nothing.

        Raises
        ------
        BudgetExceeded
            If it is more than is left.
        """
        account = self._account()
        if guarantee is None:
            account.limit.steps(self.unit)
            return
        charged = account.limit.charged(guarantee, self.unit)
        if self._override is None:
            account.refuse_beyond(self.attempt, charged)

    def reserve(self, guarantee: Guarantee) -> None:
        """Reserve what this attempt costs so far, for ever: checked and written in one transaction.

        Raises
        ------
        BudgetExceeded
            If it is more than is left; nothing is written then.
        """
        file = None if self._file is None else Path(self._file)
        digest = _digest_of_file(file, self._key()) if file is not None and file.is_file() else ""
        with self._storage.writing(self.source) as tables:
            events = read_events(tables, self.source)
            account = SourceAccount.of(self.source, events)
            known = account.reservations.get(self.attempt)
            if known is None or not _goes_on(known, self, guarantee, digest):
                self._add_reservation(tables, account, events, guarantee, digest)
                account = SourceAccount.of(self.source, events)
            self._mark = _mark(account, account.reservations[self.attempt].event)

    def _add_reservation(
        self, tables: Tables, account: SourceAccount, events: list[Event], guarantee: Guarantee, digest: str
    ) -> None:
        """Write the reservation, behind its override where it needs one."""
        charged = account.limit.charged(guarantee, self.unit)
        own = {"job": self.job, "attempt": self.attempt, "by": self._by}
        asked = {"guarantee": guarantee_to_dict(guarantee), "unit": unit_to_dict(self.unit)}
        try:
            account.refuse_beyond(self.attempt, charged)
        except BudgetExceeded:
            if self._override is None:
                raise
            added(tables, events, self.source, "override", {**own, **asked, **asdict(self._override)})
        body = {**own, **asked, **({"file": digest} if digest else {})}
        added(tables, events, self.source, "reserved", body)

    def settle(self, digest: str) -> None:
        """Say that what was reserved is spent, by the digest of what came out.

        Raises
        ------
        PrivacyError
            If it was never reserved, or spent on something else.
        """
        with self._storage.writing(self.source) as tables:
            events = read_events(tables, self.source)
            account = SourceAccount.of(self.source, events)
            known = reservation_of(account, self.attempt)
            _check_job(known, self)
            if known.digest and known.digest != digest:
                raise PrivacyError(
                    f"attempt {self.attempt} was spent on other answers than these",
                    kind="ledger",
                    remedy="take the file of answers that was written then",
                )
            if not known.digest:
                own = {"job": self.job, "attempt": self.attempt, "by": self._by}
                added(tables, events, self.source, "spent", {**own, "digest": digest})
            self._mark = _mark(account, known.event)

    def _account(self) -> SourceAccount:
        """Read the account."""
        with self._storage.reading() as tables:
            return SourceAccount.of(self.source, read_events(tables, self.source))

    def _key(self) -> bytes:
        """Give the key of digests of files."""
        with self._storage.reading() as tables:
            return key_of(tables)


def added(
    tables: Tables, events: list[Event], source: str, kind: EventKind, body: Mapping[str, Any]
) -> Event:
    """Write the next entry, and take it into the list."""
    event = Event.after(events[-1] if events else None, source, kind, body)
    add_event(tables, event)
    events.append(event)
    return event


def reservation_of(account: SourceAccount, attempt: str) -> Reservation:
    """Find an attempt."""
    found = account.reservations.get(attempt)
    if found is None:
        raise PrivacyError(
            f"the ledger knows no attempt {attempt!r} for source {account.source!r}"
            if attempt
            else f"these answers were never reserved in the ledger of source {account.source!r}",
            kind="ledger",
            remedy="only what was reserved before its noise was drawn goes on; give another path for answers",
        )
    return found


def _check_job(known: Reservation, attempt: Attempt) -> None:
    """Let only the same job go on, unless it was given up."""
    if known.job != attempt.job or known.unit != attempt.unit:
        raise PrivacyError(
            f"attempt {known.attempt} was reserved for another job", kind="ledger", remedy="run that one"
        )
    if known.abandoned:
        raise PrivacyError(
            f"attempt {known.attempt} was abandoned, which cannot be taken back",
            kind="ledger",
            remedy="give another path for answers, which spends anew",
        )


def _goes_on(known: Reservation, attempt: Attempt, guarantee: Guarantee, digest: str) -> bool:
    """Whether an attempt asks for what it reserved, not for more; one that was spent draws no noise."""
    _check_job(known, attempt)
    before = known.event.body.get("file", "")
    if digest and before and digest != before:
        raise PrivacyError(
            f"attempt {known.attempt} was reserved for another table than this file",
            kind="ledger",
            remedy="give the file as it was, or another path for answers, which spends anew",
        )
    if known.guarantee != guarantee:
        if bool(np.any(guarantee.renyi(ORDERS) < known.guarantee.renyi(ORDERS) * _ROUNDING)):
            raise PrivacyError(
                f"attempt {known.attempt} has reserved more than it asks for now", kind="ledger"
            )
        return False
    if known.digest:
        raise PrivacyError(
            f"attempt {known.attempt} is spent: its answers were complete",
            kind="ledger",
            remedy="take the file of answers that was written then, or give another path, which spends anew",
        )
    return True


def _mark(account: SourceAccount, event: Event) -> LedgerMark:
    """Say where a reservation stands; overrides of the source are told ever after."""
    return LedgerMark(account.source, event.seq, event.digest, account.overrides)


def _digest_of_file(path: Path, key: bytes) -> str:
    """Digest a confidential file under the ledger's key, without which nobody can tell which file it was."""
    digest = hmac.new(key, digestmod=hashlib.sha256)
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise ReleaseError(
            f"{path} cannot be read: {error.strerror or type(error).__name__}", kind="file"
        ) from error
    return digest.hexdigest()


def checked_line(what: str, text: Any) -> str:
    """Take one line of text."""
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        raise PrivacyError(f"{what} must be one line of text", kind="ledger")
    return text.strip()
