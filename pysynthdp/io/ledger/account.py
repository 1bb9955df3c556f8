"""The account of one source, as its entries say: its limit, what was reserved, and what is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from pysynthdp.base.display import Cell, Printable, Table
from pysynthdp.base.errors import BudgetExceeded, PrivacyError, ReleaseError
from pysynthdp.io.ledger.events import Event, broken_at
from pysynthdp.privacy.composition import compose
from pysynthdp.privacy.guarantee import Guarantee, guarantee_from_dict
from pysynthdp.privacy.limit import SourceLimit
from pysynthdp.privacy.unit import PrivacyUnit

__all__ = ["Reservation", "SourceAccount"]

_SHORT = 12  # digits of a digest that people are shown


@dataclass(frozen=True, slots=True)
class Reservation:
    """What one attempt of one job has reserved.

    Parameters
    ----------
    attempt, job : str
        Which attempt, and the digest of what was to be done.
    guarantee : Guarantee
        Exactly what was asked for, for ``unit``.
    unit : PrivacyUnit
        Whose record it protects.
    charged : Guarantee
        The same for the source's unit, relation and measure.
    event : Event
        The entry that reserved it, the last one of a fit that was drawn from several times.
    digest : str
        Of what came out; empty until it was spent.
    abandoned : bool
        Whether it was given up. It counts all the same.
    """

    attempt: str
    job: str
    guarantee: Guarantee
    unit: PrivacyUnit
    charged: Guarantee
    event: Event
    digest: str = ""
    abandoned: bool = False

    @property
    def state(self) -> str:
        """Spent, abandoned, or reserved: a job that runs, or that ended before it said so."""
        return "spent" if self.digest else "abandoned" if self.abandoned else "reserved"


@dataclass(frozen=True, slots=True, repr=False)
class SourceAccount(Printable):
    """What the ledger says of one source.

    Parameters
    ----------
    source : str
        Its id.
    limit : SourceLimit
        The last one that was set.
    events : tuple of Event
        All entries, in order.
    reservations : mapping of str to Reservation
        By attempt, in order.
    overrides : tuple of str
        By whom the limit was overridden, in words.

    Notes
    -----
    Privacy: settings, prices and keyed digests. Prices are added as J1 says, by the arithmetic by which an
    account in memory adds them.
    """

    source: str
    limit: SourceLimit
    events: tuple[Event, ...]
    reservations: Mapping[str, Reservation]
    overrides: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: str, events: Sequence[Event]) -> Self:
        """Add up the entries of a source.

        Raises
        ------
        ReleaseError
            If an entry does not follow from those before it: the ledger was changed.
        PrivacyError
            If there is no such source.
        """
        if not events:
            raise PrivacyError(
                f"the ledger has no source {source!r}",
                kind="ledger approval",
                remedy="whoever approves spending opens it: pysynthdp ledger init",
            )
        place = broken_at(events)
        if place is not None or events[0].kind != "limit":
            raise ReleaseError(
                f"source {source!r}: entry {place or 1} of the ledger does not follow from those before it",
                kind="ledger chain",
                remedy="nothing is spent from a ledger that was changed; see docs/ledger.md, A broken chain",
            )
        limits = [event for event in events if event.kind == "limit"]
        limit = SourceLimit.from_plain(limits[-1].body["limit"])
        known: dict[str, Reservation] = {}
        for event in events:
            _take(event, known, limit)
        overrides = tuple(_overridden(event) for event in events if event.kind == "override")
        return cls(source, limit, tuple(events), known, overrides)

    @property
    def head(self) -> str:
        """Digest of all entries."""
        return self.events[-1].digest

    @property
    def charged(self) -> list[Guarantee]:
        """What each attempt costs one unit of the source."""
        return [each.charged for each in self.reservations.values()]

    @property
    def used(self) -> float:
        """How much of the limit's measure is used."""
        return self.limit.used(self.charged)

    @property
    def left(self) -> float:
        """How much of it is left."""
        return self.limit.left(self.charged)

    def total(self) -> Guarantee:
        """Compose what all attempts cost; refused where there is none yet."""
        return compose(self.charged)

    def with_attempt(self, attempt: str, charged: Guarantee) -> list[Guarantee]:
        """Give what each attempt would cost, were this one to cost so much in all."""
        others = [each.charged for name, each in self.reservations.items() if name != attempt]
        return [*others, charged]

    def refuse_beyond(self, attempt: str, charged: Guarantee) -> None:
        """Refuse what is more than is left.

        Raises
        ------
        BudgetExceeded
            With what is used, what is asked, and the limit.
        """
        limit, after = self.limit, self.with_attempt(attempt, charged)
        if limit.holds(after):
            return
        whole = limit.said(limit.used(after))
        before = [each.charged for name, each in self.reservations.items() if name != attempt]
        asked, left = limit.said(limit.used([charged])), limit.said(limit.left(before))
        raise BudgetExceeded(
            f"source {self.source!r}: {asked} is asked, and {left} is left of {limit.said(limit.most)}: "
            f"together it would be {whole}",
            kind="budget",
            remedy="ask for less, or have the limit overridden by two people (docs/ledger.md)",
        )

    def head_at(self, head: str) -> Event | None:
        """Find the entry of a head, whole or its first sixteen digits."""
        return next((each for each in self.events if head and each.digest.startswith(head)), None)

    def to_table(self) -> Table:
        """One row an attempt."""
        limit = self.limit
        facts: list[tuple[str, Cell]] = [
            ("Protected unit", f"one {limit.unit}"),
            ("Neighbours", PrivacyUnit(limit.relation, name=limit.unit).neighbours),
            ("Limit", limit.said(limit.most)),
            ("Used", limit.said(self.used)),
            ("Left", limit.said(self.left)),
            ("Entries", len(self.events)),
            ("Head", self.head),
        ]
        heads = ("entry", "at", "job", "attempt", "guarantee", "charged", "state", "by")
        rows = tuple(self._row(each) for each in self.reservations.values())
        notes = [f"LIMIT OVERRIDDEN {each}" for each in self.overrides]
        notes += [
            f"Entry {each.seq}: the clock {each.body['clock']}"
            for each in self.events
            if "clock" in each.body
        ]
        return Table(f"Ledger, source {self.source}", heads, rows, tuple(facts), tuple(notes))

    def _row(self, each: Reservation) -> tuple[Cell, ...]:
        """Describe one attempt."""
        event, cost = each.event, self.limit.used([each.charged])
        by = str(event.body["by"])
        return (
            event.seq,
            event.at,
            each.job[:_SHORT],
            each.attempt,
            each.guarantee.name,
            cost,
            each.state,
            by,
        )

    def to_dict(self) -> dict[str, Any]:
        """Write plain values for programs."""
        entries = [
            {"entry": each.seq, "event": each.kind, "at": each.at, **each.body, "digest": each.digest}
            for each in self.events
        ]
        return {
            "source": self.source,
            "limit": self.limit.to_plain(),
            "measure": self.limit.measure,
            "used": self.used,
            "left": self.left,
            "head": self.head,
            "overrides": list(self.overrides),
            "entries": entries,
        }


def _take(event: Event, known: dict[str, Reservation], limit: SourceLimit) -> None:
    """Take one entry in."""
    body = event.body
    attempt = body.get("attempt", "")
    if event.kind == "reserved":
        guarantee, unit = guarantee_from_dict(body["guarantee"]), PrivacyUnit(**body["unit"])
        charged = limit.charged(guarantee, unit)
        known[attempt] = Reservation(attempt, body["job"], guarantee, unit, charged, event)
    elif event.kind == "spent":
        known[attempt] = replace(known[attempt], digest=body["digest"])
    elif event.kind == "abandoned":
        known[attempt] = replace(known[attempt], abandoned=True)


def _overridden(event: Event) -> str:
    """Say who overrode a limit."""
    body = event.body
    return f"by {body['by']} and {body['second']} (entry {event.seq}, {event.at}): {body['reason']}"
