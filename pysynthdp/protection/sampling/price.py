"""What a plan costs: from public constants, before a record is read."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from pysynthdp.base.display import Cell, Printable, Table
from pysynthdp.plan import SynthesisPlan
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.domain import count
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.mechanism import PricedColumn
from pysynthdp.privacy.statements.verification import shares_of
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.protection.sampling.checks import priced_columns

__all__ = ["PlanPrice", "price_plan"]


@dataclass(frozen=True, slots=True, repr=False)
class PlanPrice(Printable):
    """The price of drawing m copies of n_syn records from a plan.

    Parameters
    ----------
    guarantee : Guarantee
        Of the whole table.
    steps : tuple of PricedColumn
        Mechanisms with their public constants.
    costs : tuple of Guarantee
        One a step.
    n, n_syn, m : int
        Rows of the confidential table, rows of a copy, copies.
    deltas : tuple of float
        Where epsilon is quoted.

    Notes
    -----
    Privacy: public constants only; no record is read.
    """

    guarantee: Guarantee
    steps: tuple[PricedColumn, ...]
    costs: tuple[Guarantee, ...]
    n: int
    n_syn: int
    m: int
    deltas: tuple[float, ...]

    def epsilon(self, delta: float | None = None) -> float:
        """Give the table's epsilon at a delta; the plan's first by default."""
        return self.guarantee.epsilon(self.deltas[0] if delta is None else delta)

    def to_frame(self) -> pd.DataFrame:
        """One row a step: column, mechanism, assumptions, guarantee, epsilon, share."""
        names = ("column", "method", "mechanism", "entry", "assumptions", "guarantee", "epsilon", "share")
        parts = shares_of(self.costs, self.deltas[0])
        rows = [self._row(*row) for row in zip(self.steps, self.costs, parts, strict=True)]
        return pd.DataFrame(rows, columns=list(names))

    def _row(self, step: PricedColumn, cost: Guarantee, share: float) -> tuple[str | float, ...]:
        """Write one step."""
        mechanism = step.mechanism
        names = (step.column, step.method, mechanism.name, mechanism.entry)
        return (*names, "; ".join(mechanism.assumptions), cost.name, cost.epsilon(self.deltas[0]), share)

    def to_table(self) -> Table:
        """Build the table that people see."""
        facts: list[tuple[str, Cell]] = [("rows of the table", self.n), ("rows of a copy", self.n_syn)]
        facts += [("copies", self.m), ("guarantee", self.guarantee.name)]
        facts += [(f"epsilon at delta = {delta:g}", self.guarantee.epsilon(delta)) for delta in self.deltas]
        frame = self.to_frame().drop(columns="assumptions")
        rows = tuple(tuple(row) for row in frame.itertuples(index=False))
        notes = dict.fromkeys(text for step in self.steps for text in step.mechanism.assumptions)
        return Table("Price of the plan", tuple(frame.columns), rows, tuple(facts), tuple(notes))


def price_plan(
    plan: SynthesisPlan,
    unit: PrivacyUnit,
    deltas: tuple[float, ...],
    *,
    exact: bool,
    n: int,
    n_syn: int | None = None,
    m: int = 5,
) -> PlanPrice:
    """Price m copies of n_syn records (n by default).

    Notes
    -----
    Privacy: public constants only.
    """
    count("n, the rows of the table,", n)
    rows = n if n_syn is None else n_syn
    steps = priced_columns(plan, exact=exact, n=n)
    account = Account(steps, unit=unit)
    total = account.charge(n_syn=rows, copies=m)
    return PlanPrice(total, steps, account.by_step(), n, rows, m, deltas)
