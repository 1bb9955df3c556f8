"""What a fit with noise in the answers asks and costs, before a record is read."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from pysynthdp.base.display import Cell, Printable, Table
from pysynthdp.base.errors import PrivacyError
from pysynthdp.plan import SynthesisPlan
from pysynthdp.privacy.domain import count as whole_count
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.noise.moment_budget import MomentBudget, Question, moment_budget
from pysynthdp.protection.noise.budget import NoiseBudget
from pysynthdp.protection.noise.moments.design import bends, moment_part, moment_shape

__all__ = [
    "NoisePrice",
    "budget_of",
    "check_worth",
    "price_noised",
]


def budget_of(plan: SynthesisPlan, noise: NoiseBudget, *, n: float) -> MomentBudget:
    """Give the questions of one release."""
    shape = moment_shape([moment_part(step) for step in plan.steps])
    shaped = sum(bends(step.model) for step in plan.steps)
    return moment_budget(
        len(shape.blocks), shape.numbers, rho=noise.row_rho, relation=noise.unit.relation, n=n, shaped=shaped
    )


@dataclass(frozen=True, slots=True, repr=False)
class NoisePrice(Printable):
    """The questions that a fit asks, and what they cost together.

    Parameters
    ----------
    guarantee : ZCDP
        Of the whole fit; copies cost nothing.
    questions : tuple of Question
        Of each release.
    releases : int
        Noisy releases that share the budget.
    shares : tuple of float
        Part of the cost of a release that each question takes.
    n : int
        Rows that were assumed.
    deltas : tuple of float
        Where epsilon is quoted.

    Notes
    -----
    Privacy: public constants only; no record is read.
    """

    guarantee: ZCDP
    questions: tuple[Question, ...]
    releases: int
    shares: tuple[float, ...]
    n: int
    deltas: tuple[float, ...]

    def epsilon(self, delta: float | None = None) -> float:
        """Give the epsilon at a delta; the plan's first by default."""
        return self.guarantee.epsilon(self.deltas[0] if delta is None else delta)

    def to_frame(self) -> pd.DataFrame:
        """One row a question: name, noise in rows, integer scale, share."""
        rows = [
            (each.name, each.sd, each.scale, share)
            for each, share in zip(self.questions, self.shares, strict=True)
        ]
        return pd.DataFrame(rows, columns=["question", "noise (rows)", "scale", "share"])

    def to_table(self) -> Table:
        """Build the table that people see."""
        facts: list[tuple[str, Cell]] = [("rho", self.guarantee.rho), ("rows assumed", self.n)]
        facts += [(f"epsilon at delta = {delta:g}", self.epsilon(delta)) for delta in self.deltas]
        if self.releases > 1:
            facts.append(("releases that share it", self.releases))
        frame = self.to_frame()
        rows = tuple(tuple(row) for row in frame.itertuples(index=False))
        return Table(
            "Price of the plan",
            tuple(frame.columns),
            rows,
            tuple(facts),
            ("Copies cost nothing, any number.",),
        )


def price_noised(plan: SynthesisPlan, noise: NoiseBudget, *, n: int) -> NoisePrice:
    """Price a fit; copies are free.

    Notes
    -----
    Privacy: public constants only. Under add-or-remove n is a guess and moves the split only, not the total.
    """
    budget = budget_of(plan, noise, n=whole_count("n", n))
    costs = [each.cost(budget.relation) for each in budget.questions]
    factor = noise.releases * noise.unit.rows_per_unit**2
    shares = tuple(float(cost / budget.total) for cost in costs)
    total = ZCDP(float(budget.total * factor))
    return NoisePrice(total, budget.questions, noise.releases, shares, n, noise.quoted)


def check_worth(plan: SynthesisPlan, noise: NoiseBudget, *, n: int) -> None:
    """Refuse a table that is too small for its budget, before anything is spent.

    Raises
    ------
    PrivacyError
        In plain words, with what to change.

    Notes
    -----
    Privacy: public constants only; called only where n is public.
    """
    budget = budget_of(plan, noise, n=n)
    if budget.final.sd > n / 2:
        raise PrivacyError(
            (
                f"with {n} rows and this budget the noise in every count (about {budget.final.sd:,.0f}"
                " rows) would swamp the table, so nothing was asked"
            ),
            kind="budget",
            remedy="raise rho, or declare fewer columns",
        )
