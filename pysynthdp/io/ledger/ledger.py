"""The ledger of an agency: one account a source, reserved from before noise is drawn, and never overspent."""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass, field
from pathlib import Path  # noqa: F401 -- in an example
from typing import Any, Final

from pysynthdp.base.display import Printable, Table
from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpError, ReleaseError
from pysynthdp.base.slips import answers_slips
from pysynthdp.io.ledger.account import SourceAccount
from pysynthdp.io.ledger.attempt import Attempt, Override, added, checked_line, reservation_of
from pysynthdp.io.ledger.check import LedgerCheck
from pysynthdp.io.ledger.storage import (
    PostgresStorage,
    SQLiteStorage,
    Storage,
    add_event,
    add_source,
    key_of,
    read_events,
    sources_in,
    take_key,
)
from pysynthdp.io.sql.address import Address
from pysynthdp.privacy.limit import SourceLimit
from pysynthdp.privacy.unit import PrivacyUnit

__all__ = ["SpendingLedger"]

_FROM_ENVIRONMENT: Final = "env:"
_LEAST_HEAD: Final = 16  # digits by which a head is looked for


@answers_slips
@dataclass(frozen=True, slots=True, repr=False)
class SpendingLedger(Printable):
    """What was spent from each source, in a file or a database, across programs, people and crashes.

    Parameters
    ----------
    where : path or str
        A SQLite file, or ``"env:NAME"``: the environment variable with the URL of a PostgreSQL database.
    job : str, optional
        Digest of an approved job, which every reservation through this object names; by default that of the
        plan or of what is released.
    override : Override, optional
        Leave to spend more than the limit.
    file : path, optional
        The confidential file, recorded by a keyed digest where the table is given as a data frame.
    by : str, optional
        Who spends; the account of the operating system by default.

    Raises
    ------
    PrivacyError
        When something is asked of a ledger or a source that is not there.

    Notes
    -----
    Privacy: spends budget. What is reserved counts for ever. The ledger holds settings, prices and digests of
    files under a key that lies in it, so it belongs where the confidential tables are.

    Examples
    --------
    >>> import tempfile
    >>> from pysynthdp import SourceLimit, ZCDP
    >>> ledger = SpendingLedger(Path(tempfile.mkdtemp()) / "people.db")
    >>> opened = ledger.init("REG-2026", SourceLimit(rho=0.75, unit="person"), approval="DRB-2026-014")
    >>> attempt = ledger.attempt("REG-2026", PrivacyUnit(name="person"), job="an example")
    >>> attempt.reserve(ZCDP(0.5))
    >>> round(ledger.remaining("REG-2026"), 9)
    0.25
    """

    where: str | os.PathLike[str]
    job: str | None = None
    override: Override | None = None
    file: str | os.PathLike[str] | None = None
    by: str | None = None
    _storage: Storage = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_storage", _storage_at(self.where))

    @classmethod
    def of(cls, given: Any) -> SpendingLedger:
        """Take a ledger, or where one is."""
        return given if isinstance(given, cls) else cls(given)

    @property
    def who(self) -> str:
        """Who spends."""
        return checked_line("by", self.by) if self.by is not None else _user()

    def init(
        self, source: str, limit: SourceLimit, *, approval: str, second: str | None = None
    ) -> SourceAccount:
        """Open the account of a source, or set another limit for it.

        Parameters
        ----------
        source : str
            Its id: the people, whichever files they are in.
        limit : SourceLimit
            Of the same unit and relation as before, where there was one; other units count again by the new
            one.
        approval : str
            Reference of the approval.
        second : str, optional
            A second name; needed to set another limit for a source that is there.

        Returns
        -------
        SourceAccount
            The account with this limit.

        Raises
        ------
        PrivacyError
            For a source that is there without a second name, or another unit than before.
        """
        source, approval = checked_line("source", source), checked_line("approval", approval)
        self._storage.create()
        with self._storage.writing(source) as tables:
            add_source(tables, source)
        with self._storage.writing(source) as tables:
            events = read_events(tables, source)
            body: dict[str, Any] = {"limit": limit.to_plain(), "approval": approval, "by": self.who}
            if events:
                body["second"] = self._checked_change(SourceAccount.of(source, events), limit, second)
            added(tables, events, source, "limit", body)
            return SourceAccount.of(source, events)

    def _checked_change(self, account: SourceAccount, limit: SourceLimit, second: str | None) -> str:
        """Refuse another limit that one person sets alone, or that is about other units."""
        if second is None:
            raise PrivacyError(
                f"the ledger has source {account.source!r} already",
                kind="ledger approval",
                remedy="another limit for it is set by two people: give a second name",
            )
        if (limit.unit, limit.relation) != (account.limit.unit, account.limit.relation):
            raise PrivacyError(
                f"source {account.source!r} counts what one {account.limit.unit} ({account.limit.relation}) "
                "loses, and another limit must do so too",
                kind="ledger unit",
            )
        return Override(self.who, second, "another limit").second

    def __repr__(self) -> str:
        return f"<SpendingLedger: {self._storage.name}>"

    def sources(self) -> tuple[str, ...]:
        """Name all sources."""
        with self._storage.reading() as tables:
            return tuple(sources_in(tables))

    def account(self, source: str) -> SourceAccount:
        """Give the account of a source, every entry checked.

        Raises
        ------
        PrivacyError
            For an unknown source.
        ReleaseError
            If an entry does not follow from those before it.
        """
        with self._storage.reading() as tables:
            return SourceAccount.of(source, read_events(tables, source))

    def remaining(self, source: str) -> float:
        """Give what is left of a source's limit, in its measure."""
        return self.account(source).left

    def attempt(
        self, source: str, unit: PrivacyUnit, *, job: str, file: str | os.PathLike[str] | None = None
    ) -> Attempt:
        """Begin an attempt to spend; nothing is reserved yet.

        Parameters
        ----------
        source : str
            Whose account.
        unit : PrivacyUnit
            Whose record the release protects.
        job : str
            Digest of what is done; that of this ledger's own ``job`` stands before it.
        file : path, optional
            The confidential file, whose keyed digest is recorded at the reservation.
        """
        account = (self._storage, checked_line("source", source))
        return Attempt(
            *account, unit, self.job or job, file=file or self.file, by=self.who, override=self.override
        )

    def abandon(self, source: str, attempt: str, *, reason: str) -> SourceAccount:
        """Say that an attempt which was reserved and never finished will not be resumed; it counts for ever.

        Raises
        ------
        PrivacyError
            If there is no such attempt, or it was spent.
        """
        reason = checked_line("reason", reason)
        with self._storage.writing(source) as tables:
            events = read_events(tables, source)
            found = reservation_of(SourceAccount.of(source, events), attempt)
            if found.state != "reserved":
                raise PrivacyError(f"attempt {attempt} is {found.state} already", kind="ledger")
            body = {"attempt": attempt, "job": found.job, "reason": reason, "by": self.who}
            added(tables, events, source, "abandoned", body)
            return SourceAccount.of(source, events)

    def copy_to(self, other: SpendingLedger) -> tuple[str, ...]:
        """Copy all accounts, entry by entry, into a new ledger, such as from a file into a database.

        Returns
        -------
        tuple of str
            The sources.

        Raises
        ------
        ReleaseError
            If the other ledger has entries already, or an account here is broken.

        Notes
        -----
        Privacy: spends nothing. Whoever moves a ledger takes the old one away: two would each miss what is
        spent from the other. The key of digests of files goes along.
        """
        other._storage.create()
        sources = self.sources()
        if other.sources():
            raise ReleaseError(f"{other._storage.name} has accounts already", kind="ledger")
        with self._storage.reading() as tables:
            key = key_of(tables)
        with other._storage.writing("") as tables:
            take_key(tables, key)
        for source in sources:
            account = self.account(source)
            with other._storage.writing(source) as tables:
                add_source(tables, source)
                for event in account.events:
                    add_event(tables, event)
        return sources

    def verify(self, source: str | None = None, *, head: str | None = None) -> LedgerCheck:
        """Check every entry against those before it, and that a head which a statement quotes is among them.

        Parameters
        ----------
        source : str, optional
            One source; all by default.
        head : str, optional
            Head of a statement, whole or its first sixteen digits: a ledger that lacks it was changed, or
            restored from a backup older than that release.

        Returns
        -------
        LedgerCheck
            What agrees, and what does not.
        """
        if head is not None and len(head) < _LEAST_HEAD:
            raise PlanError(f"a head is given by {_LEAST_HEAD} digits at least", kind="ledger")
        names = self.sources() if source is None else (source,)
        faults: dict[str, str] = {}
        accounts: list[SourceAccount] = []
        for name in names:
            try:
                accounts.append(self.account(name))
            except (KeyError, TypeError) as error:
                faults[name] = f"an entry lacks what it must say ({type(error).__name__})"
            except PysynthdpError as error:
                if source is not None and isinstance(error, PrivacyError):
                    raise
                faults[name] = error.what
        found = None if head is None else any(each.head_at(head) for each in accounts)
        return LedgerCheck(tuple(accounts), faults, found)

    def to_table(self) -> Table:
        """One row a source."""
        rows = []
        for source in self.sources():
            one = self.account(source)
            limit = one.limit
            told = (limit.measure, limit.most, one.used, one.left, len(one.reservations), len(one.overrides))
            rows.append((source, f"one {limit.unit}", *told))
        heads = ("source", "unit", "measure", "limit", "used", "left", "attempts", "overrides")
        return Table("Ledger", heads, tuple(rows), (("Where", self._storage.name),), ())


def _storage_at(where: Any) -> Storage:
    """Take a file, or the name of a variable that holds a URL."""
    if isinstance(where, str) and where.startswith(_FROM_ENVIRONMENT):
        address = Address(where.removeprefix(_FROM_ENVIRONMENT))
        if not address.is_postgres:
            raise PlanError(
                f"{address.url_env} names no PostgreSQL database",
                kind="ledger",
                remedy="a SQLite ledger is given by its path",
            )
        return PostgresStorage(address)
    if not isinstance(where, str | os.PathLike) or not os.fspath(where) or "://" in os.fspath(where):
        raise PlanError(
            "a ledger is a file, or env:NAME, the environment variable that holds the URL of its database",
            kind="ledger",
        )
    return SQLiteStorage(where)


def _user() -> str:
    """Name the account of the operating system."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "unknown"
