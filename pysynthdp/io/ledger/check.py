"""Whether a ledger is whole: what agrees in it, and what does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pysynthdp.base.display import Cell, Printable, Table
from pysynthdp.io.ledger.account import SourceAccount

__all__ = ["LedgerCheck"]


@dataclass(frozen=True, slots=True, repr=False)
class LedgerCheck(Printable):
    """What agrees in a ledger, and what does not.

    Parameters
    ----------
    accounts : tuple of SourceAccount
        Whole ones.
    faults : mapping of str to str
        What is wrong, by source.
    head_found : bool or None
        Whether the head that was asked for stands in the ledger; None where none was.
    """

    accounts: tuple[SourceAccount, ...]
    faults: Mapping[str, str]
    head_found: bool | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults and self.head_found is not False

    def to_table(self) -> Table:
        """One row a source."""
        rows: list[tuple[Cell, ...]] = [
            (each.source, len(each.events), "whole", each.head) for each in self.accounts
        ]
        rows += [(source, None, f"BROKEN: {fault}", "") for source, fault in self.faults.items()]
        notes = [f"LIMIT OVERRIDDEN {text}" for each in self.accounts for text in each.overrides]
        if self.head_found is not None:
            notes.insert(
                0,
                "The head stands in the ledger."
                if self.head_found
                else "The head is NOT in the ledger: it was changed, or restored from a backup older than "
                "that release; spend nothing before docs/ledger.md, Backup, was read.",
            )
        return Table("Ledger, checked", ("source", "entries", "chain", "head"), tuple(rows), (), tuple(notes))
