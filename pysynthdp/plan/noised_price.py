"""What a noise budget buys, before a record is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from pysynthdp.display import Cell, Printable, Table
from pysynthdp.errors import PrivacyError
from pysynthdp.plan.noised import bends, moment_shape
from pysynthdp.privacy.domain import count as whole_count
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.moment_budget import MomentBudget, Question, moment_budget
from pysynthdp.privacy.noise_in_answers import NoiseInAnswers

if TYPE_CHECKING:
    from pysynthdp.plan.synthesis_plan import SynthesisPlan

__all__ = [
    "ExpectedPrecision",
    "NoisePrice",
    "budget_of",
    "check_worth",
    "expected_precision",
    "price_noised",
]

_COSTLY = 0.15


def budget_of(plan: SynthesisPlan, noise: NoiseInAnswers, *, n: float) -> MomentBudget:
    """Give the questions of one release."""
    shape = moment_shape([step.targets[0] for step in plan.steps])
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


def price_noised(plan: SynthesisPlan, noise: NoiseInAnswers, *, n: int) -> NoisePrice:
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
    return NoisePrice(total, budget.questions, noise.releases, shares, n, noise.deltas)


@dataclass(frozen=True, slots=True, repr=False)
class ExpectedPrecision(Printable):
    """How much longer intervals will be than those of a non-private analysis of the same table.

    Parameters
    ----------
    lengths : tuple of (kind of estimand, ratio)
        Expected length over the non-private one, for the noise alone: many large copies.
    copies : tuple of (kind of estimand, ratio)
        The same for m copies of n_syn rows.
    lost : float or None
        Privacy tax in rows, n_0: n = n_0 rows tell half of what they would without noise; None for a mixed
        table, where no single number says it.
    costly : tuple of str
        Columns whose levels alone take a large part of the noise budget of a row.
    n, m, n_syn : int
        What was assumed.

    Notes
    -----
    Privacy: public constants only; no record is read.
    """

    lengths: tuple[tuple[str, float], ...]
    copies: tuple[tuple[str, float], ...]
    lost: float | None
    costly: tuple[str, ...]
    n: int
    m: int
    n_syn: int

    def to_table(self) -> Table:
        """Build the table that people see."""
        rows = tuple(
            (kind, alone, both) for (kind, alone), (_, both) in zip(self.lengths, self.copies, strict=True)
        )
        facts: list[tuple[str, Cell]] = [("rows", self.n), ("copies", self.m), ("rows of a copy", self.n_syn)]
        if self.lost is not None:
            facts.append(("privacy tax in rows", self.lost))
        if self.costly:
            facts.append(("columns that cost most", ", ".join(self.costly)))
        heads = ("estimand", "length, noise alone", f"length, {self.m} copies")
        note = "Ratios to a non-private interval; regressions in a mixed table depend on the data."
        return Table("Expected precision", heads, rows, tuple(facts), (note,))


def expected_precision(
    plan: SynthesisPlan, noise: NoiseInAnswers, *, n: int, m: int = 20, n_syn: int | None = None
) -> ExpectedPrecision:
    """Say what a budget buys, from public constants.

    Notes
    -----
    Privacy: reads no record. A table of numbers: noise acts as a loss of rows, n_eff = n/(1 + n_0/n). A mixed
    one: noise variance of a margin, of a two-way cell of average size and of a number's mean over their
    sampling variances, after the projection that pools every table of a part.
    """
    budget = budget_of(plan, noise, n=whole_count("n", n))
    shape = moment_shape([step.targets[0] for step in plan.steps])
    final = budget.final
    extra, lost = _extras(shape.blocks, shape.numbers, final, n)
    rows = n if n_syn is None else n_syn
    lengths = tuple((kind, math.sqrt(1 + each)) for kind, each in extra)
    copies = tuple((kind, math.sqrt((1 + 1 / m) * (1 + each) + n / rows / m)) for kind, each in extra)
    return ExpectedPrecision(lengths, copies, lost, _costly(plan, final), n, m, rows)


def _extras(
    blocks: tuple[int, ...], numbers: int, final: Question, n: int
) -> tuple[list[tuple[str, float]], float | None]:
    """Noise variance over sampling variance for each kind of estimand, and the tax in rows."""
    if not blocks:
        tax = final.sd**2 / final.alpha**4
        return [(kind, tax / n) for kind in ("means", "variances", "correlations", "slopes")], tax
    found = []
    for levels in (sum(blocks) / len(blocks),):
        share = 1 / levels
        precision = 0.5 + sum(1 / size for size in blocks) - 1 / levels
        found.append(("proportions", final.sd**2 / precision / (n * share * (1 - share))))
        cell = share / levels
        found.append(("two-way cells", final.sd**2 * (1 - share) ** 2 / (n * cell * (1 - cell))))
    if numbers:
        within = final.sd**2 / final.alpha**2
        found.append(("means", within / (sum(1 / size for size in blocks) * n)))
    return found, None


def _costly(plan: SynthesisPlan, final: Question) -> tuple[str, ...]:
    """Columns with so many levels that an average cell drowns: cells below the noise of one answer."""
    del final
    sizes: dict[str, int] = {}
    for step in plan.steps:
        part = step.targets[0]
        sizes[part.column] = sizes.get(part.column, 0) + max(len(part.levels), 1)
    total = sum(sizes.values())
    return tuple(name for name, size in sizes.items() if size > max(_COSTLY * total, 5))


def check_worth(plan: SynthesisPlan, noise: NoiseInAnswers, *, n: int) -> None:
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
            f"with {n} rows and this budget the noise in every count (about {budget.final.sd:,.0f} rows) "
            "would swamp the table, so nothing was asked; raise rho, or declare fewer columns"
        )
