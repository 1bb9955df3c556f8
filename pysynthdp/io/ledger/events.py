"""Events of a ledger: entries that are added and never changed, each with the digest of all before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Self, TypeAlias

__all__ = ["Event", "EventKind", "broken_at", "now"]

EventKind: TypeAlias = Literal["limit", "reserved", "spent", "override", "abandoned"]
_FORMAT = "pysynthdp ledger 1"


def now() -> str:
    """Give the time that the clock of this computer shows, in UTC; nothing rests on it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Event:
    """One entry in the account of a source.

    Parameters
    ----------
    source : str
        Whose account.
    seq : int
        Its place there, from 1; it says what came before what.
    kind : {"limit", "reserved", "spent", "override", "abandoned"}
        What happened.
    at : str
        What the clock showed.
    body : mapping
        Plain values.
    previous, digest : str
        Digest of the entry before it, empty for the first, and of this one.

    Notes
    -----
    Privacy: settings, prices, and keyed digests of files; no value of a record.
    """

    source: str
    seq: int
    kind: EventKind
    at: str
    body: Mapping[str, Any]
    previous: str
    digest: str

    @classmethod
    def after(cls, last: Event | None, source: str, kind: EventKind, body: Mapping[str, Any]) -> Self:
        """Make the next entry; a clock that ran back since the last one is noted in it."""
        at, seq, previous = now(), 1 if last is None else last.seq + 1, "" if last is None else last.digest
        if last is not None and at < last.at:
            body = {**body, "clock": f"ran back: the entry before this one says {last.at}"}
        return cls(source, seq, kind, at, body, previous, _digest(source, seq, kind, at, body, previous))

    @property
    def right(self) -> bool:
        """Whether the digest is that of the entry."""
        made = _digest(self.source, self.seq, self.kind, self.at, self.body, self.previous)
        return made == self.digest

    def written(self) -> dict[str, Any]:
        """Give a row of a table, the body as text."""
        text = json.dumps(self.body, sort_keys=True, allow_nan=False)
        names = ("source", "seq", "kind", "at", "previous", "digest")
        return {**{name: getattr(self, name) for name in names}, "body": text}

    @classmethod
    def read(cls, row: Sequence[Any]) -> Self:
        """Read such a row; a body that is no text of ours is kept as one that no digest fits."""
        source, seq, kind, at, body, previous, digest = row
        try:
            plain = json.loads(body)
        except ValueError:
            plain = None
        return cls(source, seq, kind, at, plain if isinstance(plain, dict) else {}, previous, digest)


def _digest(source: str, seq: int, kind: str, at: str, body: Mapping[str, Any], previous: str) -> str:
    """Digest an entry and, by the one before it, the whole account so far."""
    plain = [_FORMAT, source, seq, kind, at, body, previous]
    return hashlib.sha256(json.dumps(plain, sort_keys=True, allow_nan=False).encode()).hexdigest()


def broken_at(events: Sequence[Event]) -> int | None:
    """Find the number of the first entry that does not follow from those before it; None where all do."""
    previous = ""
    for place, event in enumerate(events, start=1):
        if event.seq != place or event.previous != previous or not event.right:
            return place
        previous = event.digest
    return None
