"""What a fit with noise in the answers asks and costs, before a record is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import pandas as pd

from pysynthdp.base.display import Cell, Printable, Table
from pysynthdp.base.errors import PrivacyError
from pysynthdp.plan import SynthesisPlan
from pysynthdp.privacy.domain import count as whole_count
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.noise.moment_budget import MomentBudget, Question, moment_budget
from pysynthdp.protection.noise.budget import NoiseBudget
from pysynthdp.protection.noise.moments.design import bends, moment_part, moment_shape
from pysynthdp.protection.noise.tables import NoisedTable, tables_of

__all__ = [
    "NoisePrice",
    "budget_of",
    "check_worth",
    "price_noised",
]


def budget_of(table: NoisedTable, *, n: float) -> MomentBudget:
    """Give the questions about one table of one release."""
    plan = table.plan
    shape = moment_shape([moment_part(step) for step in plan.steps])
    shaped = sum(bends(step.model) for step in plan.steps)
    return moment_budget(
        len(shape.blocks),
        shape.numbers,
        rho=table.rho,
        relation=table.relation,
        n=n,
        shaped=shaped,
        counted=table.counted,
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
    about : tuple of str
        Of which table each question is, where units have two.

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
    about: tuple[str, ...] = ()

    def epsilon(self, delta: float | None = None) -> float:
        """Give the epsilon at a delta; the plan's first by default."""
        return self.guarantee.epsilon(self.deltas[0] if delta is None else delta)

    def to_frame(self) -> pd.DataFrame:
        """One row a question: name, noise in rows, integer scale, share."""
        about = [f" ({table})" if table else "" for table in self.about or [""] * len(self.questions)]
        rows = [
            (f"{each.name}{table}", each.sd, each.scale, share)
            for each, table, share in zip(self.questions, about, self.shares, strict=True)
        ]
        return pd.DataFrame(rows, columns=["question", "noise (rows)", "scale", "share"])

    def to_table(self) -> Table:
        """Build the table that people see."""
        assumed = "units assumed" if any(self.about) else "rows assumed"
        facts: list[tuple[str, Cell]] = [("rho", self.guarantee.rho), (assumed, self.n)]
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
    whole_count("n", n)
    tables = tables_of(plan, noise)
    budgets = [budget_of(table, n=n) for table in tables]
    costs = [
        each.cost(budget.relation) * table.rows**2
        for table, budget in zip(tables, budgets, strict=True)
        for each in budget.questions
    ]
    whole = sum(costs, Fraction(0))
    shares = tuple(float(cost / whole) for cost in costs)
    questions = tuple(each for budget in budgets for each in budget.questions)
    about = tuple(
        table.label for table, budget in zip(tables, budgets, strict=True) for _ in budget.questions
    )
    total = ZCDP(float(whole * noise.releases))
    return NoisePrice(total, questions, noise.releases, shares, n, noise.quoted, about)


def check_worth(tables: Sequence[NoisedTable], *, n: int) -> None:
    """Refuse a table that is too small for its budget, before anything is spent.

    Raises
    ------
    PrivacyError
        In plain words, with what to change.

    Notes
    -----
    Privacy: public constants only; called only where n is public.
    """
    for table in tables:
        sd = budget_of(table, n=n).final.sd
        if sd <= n / 2:
            continue
        records = f"{n} units" if table.label else f"{n} rows"
        where = f" of {table.label}" if table.label else ""
        raise PrivacyError(
            (
                f"with {records} and this budget the noise in every count{where} (about {sd:,.0f} rows) "
                "would swamp the table, so nothing was asked"
            ),
            kind="budget",
            remedy="raise rho, or declare fewer columns" + (", or a smaller max_size" if table.label else ""),
        )
