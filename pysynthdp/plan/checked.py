"""How far rows drawn from a fit are from its table: what a fit keeps of looking at its own draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import pandas as pd

from pysynthdp.base.display import Cell, Printable, Table
from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.words import Argument, Words

__all__ = ["BrokenRules", "Finding", "FitCheck", "refuse_unless_learning"]

Remedy: TypeAlias = str | Words


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing in which rows drawn from a fit differ from the table by more than chance explains.

    Parameters
    ----------
    column : str
        The column that is drawn last of those it is about.
    what : str
        ``"near-function"``, ``"mean"``, ``"shift"``, ``"share"``, ``"distribution"``, ``"missing"``,
        ``"slope"``, ``"curve"``, ``"product"`` or ``"spread"``.
    others : tuple of str
        The other columns it is about.
    size : float
        How far apart, in standard errors; of a near-function how many times as wide.
    limit : float
        The size that chance explains.
    remedy : str
        What to type.
    rows : str
        Which rows it is about, where rows belong together in units; empty for all rows.
    """

    column: str
    what: str
    others: tuple[str, ...]
    size: float
    limit: float
    remedy: Remedy
    rows: str = ""

    @property
    def strength(self) -> float:
        """Size over what chance explains."""
        return self.size / self.limit

    @property
    def label(self) -> str:
        """What it is about, in a few words."""
        said = self.what if not self.others else f"{self.what}: {', '.join(self.others)}"
        return f"{said} ({self.rows})" if self.rows else said


@dataclass(frozen=True, slots=True, repr=False)
class FitCheck(Printable):
    """What a fit saw when it compared rows drawn from itself with the table.

    Parameters
    ----------
    findings : tuple of Finding
        Beyond chance, worst first.
    rows : int
        Real rows that were compared; every s-th of a long table.
    drawn : int
        Rows drawn for it.
    comparisons : int
        How many were made; the chance of any finding at all on a table that the models fit is below 5 %.
    not_looked_at : tuple of str
        What was not compared, and why: of wide tables products, of short ones slopes on all others together.
    looked_at : tuple of str
        Where rows belong together in units: which rows were compared, each by itself, such as those at the
        second place; chance finds nothing in 95 of 100 for each of them. Empty for a table of single rows.

    Notes
    -----
    Privacy: INTERNAL. A function of the confidential table, for whoever holds it: no part of a release or a
    saved fit. No number in it rests on fewer than five records.
    """

    findings: tuple[Finding, ...]
    rows: int
    drawn: int
    comparisons: int
    not_looked_at: tuple[str, ...] = ()
    looked_at: tuple[str, ...] = ()

    def worst(self) -> tuple[Finding, ...]:
        """Give each column's worst finding."""
        first: dict[str, Finding] = {}
        for finding in self.findings:
            first.setdefault(finding.column, finding)
        return tuple(first.values())

    def to_frame(self) -> pd.DataFrame:
        """One row a finding, worst first; of units the last column says which rows it is about."""
        rows = [
            (each.column, each.what, ", ".join(each.others), each.size, each.limit, str(each.remedy))
            for each in self.findings
        ]
        found = pd.DataFrame(rows, columns=["column", "what", "with", "size", "limit", "remedy"])
        return found.assign(rows=[each.rows for each in self.findings]) if self.looked_at else found

    def to_table(self) -> Table:
        """Build the table that is printed; its title says INTERNAL."""
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (each.column, each.label, round(each.size, 1), round(each.limit, 1), each.remedy)
            for each in self.findings
        )
        facts: tuple[tuple[str, Cell], ...] = (
            ("real rows compared", self.rows),
            ("rows drawn for it", self.drawn),
            ("comparisons", self.comparisons),
            ("beyond chance", len(self.findings)),
        )
        if self.looked_at:
            facts = (("looked at, each by itself", "; ".join(self.looked_at)), *facts)
        whole = "each of these" if self.looked_at else "the whole table"
        note = (
            "Size is in standard errors of real and drawn rows together (of a near-function: times as wide); "
            f"chance explains sizes up to limit, for {whole} in 95 of 100."
        )
        title = "INTERNAL: rows drawn from the fit against the confidential table"
        unseen = tuple(f"Not looked at: {each}." for each in self.not_looked_at)
        notes = (note, *unseen) if rows else unseen
        return Table(title, ("column", "what", "size", "limit", "remedy"), rows, facts, notes)


@dataclass(frozen=True, slots=True, repr=False)
class BrokenRules(Printable):
    """How many rows of a table break the rules and universes that were asked for.

    Parameters
    ----------
    rules : tuple of (str, str)
        Each rule, a universe with its column before it, and how many rows break it; below ten that is vague.

    Notes
    -----
    Privacy: INTERNAL. Counts of records, for whoever holds the table: no part of a release or a saved fit.
    """

    rules: tuple[tuple[str, str], ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a rule."""
        return pd.DataFrame(list(self.rules), columns=["rule", "rows that break it"])

    def to_table(self) -> Table:
        """Build the table that is printed; its title says INTERNAL."""
        title = "INTERNAL: rules and universes in the confidential table"
        note = (
            "No row of a copy breaks one: rows that would are drawn again."
            if self.rules
            else "There are none."
        )
        return Table(title, ("rule", "rows that break it"), self.rules, notes=(note,))


def refuse_unless_learning(learns: bool) -> None:
    """Refuse a check under a guarantee.

    Raises
    ------
    PrivacyError
        Where a fit may not look at the records.

    Notes
    -----
    Privacy: reads settings alone.
    """
    if not learns:
        remedy = Words(
            "compare tables in the agency, or fit without {guarantee}", guarantee=Argument("guarantee")
        )
        raise PrivacyError(
            "a fit under a guarantee may not look at the records again", kind="check", remedy=remedy
        )
