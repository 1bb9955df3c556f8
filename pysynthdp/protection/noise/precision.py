"""What a noise budget buys in length of intervals, before a record is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from pysynthdp.base.display import Cell, Printable, Table
from pysynthdp.base.errors import PrivacyError
from pysynthdp.plan import SynthesisPlan
from pysynthdp.privacy.domain import count as whole_count
from pysynthdp.privacy.noise.moment_budget import MomentBudget
from pysynthdp.protection.noise.budget import NoiseBudget
from pysynthdp.protection.noise.moments.design import moment_part, moment_shape
from pysynthdp.protection.noise.price import budget_of
from pysynthdp.protection.noise.tables import tables_of

__all__ = ["ExpectedPrecision", "expected_precision", "median_length"]

_DROWNED = 3.0  # noise variance over sampling variance: intervals twice as long
_BLURRED = 0.5
_MIXED_NOTE = (
    "Ratios to a non-private interval, for equally common levels and uncorrelated predictors; rare "
    "levels and correlated predictors make intervals of regressions longer."
)
_UNITS_NOTE = (
    "Of further rows one a unit is assumed. Their sums carry the noise of all rows that a unit may have, and "
    "of the columns beside them: a smaller max_size, and fewer columns, make it smaller."
)


@dataclass(frozen=True, slots=True, repr=False)
class ExpectedPrecision(Printable):
    """How much longer intervals will be than those of a non-private analysis of the same table.

    Parameters
    ----------
    lengths : tuple of (kind of estimand, ratio)
        Expected length over the non-private one, for the noise alone: many large copies.
    copies : tuple of (kind of estimand, ratio)
        The same for m copies of n_syn rows, as pooled by default.
    lost : float or None
        Privacy tax in rows, n_0: n = n_0 rows tell half of what they would without noise; None for a mixed
        table, where no single number says it.
    costly : tuple of str
        Columns with levels so rare that noise doubles the intervals of their coefficients.
    n, m, n_syn : int
        What was assumed.
    blurred : bool
        Whether the first stage learns little of spreads a half below the hints; slopes may then be less
        precise than said.
    units : bool
        Whether n counts whole units; of their further rows one a unit is assumed.

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
    blurred: bool = False
    units: bool = False

    def to_table(self) -> Table:
        """Build the table that people see."""
        rows = tuple(
            (kind, alone, both) for (kind, alone), (_, both) in zip(self.lengths, self.copies, strict=True)
        )
        what = "units" if self.units else "rows"
        facts: list[tuple[str, Cell]] = [
            (what, self.n),
            ("copies", self.m),
            (f"{what} of a copy", self.n_syn),
        ]
        if self.lost is not None:
            facts.append(("privacy tax in rows", self.lost))
        if self.costly:
            facts.append(("columns that cost most", ", ".join(self.costly)))
        heads = ("estimand", "length, noise alone", f"length, {self.m} copies")
        notes = ["Ratios to a non-private interval." if self.lost is not None else _MIXED_NOTE]
        if self.blurred:
            notes.append("The first stage is blurred: where numbers vary less than their hints, expect more.")
        if self.units:
            notes.append(_UNITS_NOTE)
        return Table("Expected precision", heads, rows, tuple(facts), tuple(notes))


def expected_precision(
    plan: SynthesisPlan, noise: NoiseBudget, *, n: int, m: int = 20, n_syn: int | None = None
) -> ExpectedPrecision:
    """Say what a budget buys, from public constants.

    Raises
    ------
    PrivacyError
        For fewer than two copies, which have no spread to count the noise by.

    Notes
    -----
    Privacy: reads no record. A table of numbers: noise acts as a loss of rows, n_eff = n/(1 + n_0/n). A mixed
    one: noise variance over sampling variance of typical estimands, see :func:`_kinds`.
    """
    n, rows = whole_count("n", n), whole_count("n_syn", n if n_syn is None else n_syn)
    if whole_count("m", m) < 2:
        raise PrivacyError(
            "expected_precision is about the default rule, which needs m of two or more", kind="guarantee"
        )
    tables = tables_of(plan, noise)
    budgets = [budget_of(table, n=n) for table in tables]
    kinds = [
        (f"{kind}, {table.label}" if table.label else kind, extra)
        for table, budget in zip(tables, budgets, strict=True)
        for kind, extra in _kinds(*_features(table.plan), budget, n)
    ]
    lengths = tuple((kind, _mean([math.sqrt(1 + each) for each in extra])) for kind, extra in kinds)
    copies = tuple(
        (kind, _mean([median_length(each, m=m, ratio=rows / n) for each in extra])) for kind, extra in kinds
    )
    lost = None if _features(plan)[0] else kinds[0][1][0] * n
    costly = [
        name for table, budget in zip(tables, budgets, strict=True) for name in _costly(table.plan, budget, n)
    ]
    blurred = any(budget.edge > _BLURRED for budget in budgets)
    whole = len(tables) > 1
    return ExpectedPrecision(
        lengths, copies, lost, tuple(dict.fromkeys(costly)), n, m, rows, blurred=blurred, units=whole
    )


def _features(plan: SynthesisPlan) -> tuple[tuple[int, ...], int]:
    """Levels of each categorical part of a table, and its numbers."""
    shape = moment_shape([moment_part(step) for step in plan.steps])
    return shape.blocks, shape.numbers


def _mean(values: Sequence[float]) -> float:
    """Average over estimands of one kind."""
    return math.fsum(values) / len(values)


def _variances(budget: MomentBudget) -> tuple[float, float]:
    """Noise variance of a count, pooled over the stages, and of the sum of a whitened number in a level."""
    crossed = [question for question in budget.questions if question.crossed]
    final = budget.final
    return 1 / sum(each.sd**-2 for each in crossed), (final.sd / final.alpha) ** 2 if final.alpha else 0.0


def _kinds(
    blocks: tuple[int, ...], numbers: int, budget: MomentBudget, n: int
) -> list[tuple[str, list[float]]]:
    """Noise variance over sampling variance, for each estimand of each kind.

    With L levels of n/L rows, c the noise variance of a count and v that of a number's sum in a level:
    coefficients of levels c L/(n p (1 - p)) in a logistic and v L/n in a linear regression, of numbers
    v/(n p (1 - p)) and the squared noise of a product over n. Margins pool the sums of all two-way tables.
    """
    if not blocks:
        final = budget.final
        tax = [(final.sd / final.alpha**2) ** 2 / n]
        return [(kind, tax) for kind in ("means", "variances", "correlations", "slopes")]
    c, v = _variances(budget)
    every = sum(1 / size for size in blocks)
    found = [("proportions", [_margin(size, every, c, n) for size in blocks for _ in range(size)])]
    cells = [_cell(a, b, c, n) for a, b in combinations(blocks, 2) for _ in range(a * b)]
    found += [("two-way cells", cells)] if cells else []
    found += [("means", [v / (every * n)])] if numbers else []
    slopes = [v * size / n for size in blocks for _ in range(size - 1)] if numbers else []
    slopes += [(budget.final.sd / budget.final.alpha**2) ** 2 / n] * max(numbers - 1, 0) if numbers else []
    found += [("linear slopes", slopes)] if slopes else []
    logits = _logits(blocks, numbers, c, v, n)
    return found + ([("logistic slopes", logits)] if logits else [])


def _margin(size: int, every: float, c: float, n: int) -> float:
    """Compare a share: seen by its own count, of twice the noise, and by sums over all other parts."""
    share = 1 / size
    return c / (0.5 + every - share) / (n * share * (1 - share))


def _cell(a: int, b: int, c: float, n: int) -> float:
    """Compare a cell of a two-way table whose margins are known far better than itself."""
    share = 1 / (a * b)
    return c * (1 - 1 / a) * (1 - 1 / b) / (n * share * (1 - share))


def _logits(blocks: tuple[int, ...], numbers: int, c: float, v: float, n: int) -> list[float]:
    """Compare coefficients in a regression of the part with the fewest levels on everything else."""
    target = blocks.index(min(blocks))
    information = n / blocks[target] * (1 - 1 / blocks[target])
    others = [size for place, size in enumerate(blocks) if place != target]
    return [c * size / information for size in others for _ in range(size - 1)] + [v / information] * numbers


def _costly(plan: SynthesisPlan, budget: MomentBudget, n: int) -> tuple[str, ...]:
    """Columns whose levels are so rare that noise drowns their coefficients."""
    c, v = _variances(budget)
    parts = [moment_part(step) for step in plan.steps]
    return tuple(
        dict.fromkeys(
            own.column
            for part in parts
            if max(v, 4 * c) * len(part.levels) / n > _DROWNED
            for own in part.of or (part,)
        )
    )


def median_length(extra: float, *, m: int, ratio: float) -> float:
    """Median length of an interval from m copies around one noisy release, over the plain interval's length.

    Parameters
    ----------
    extra : float
        Variance that the noise adds, over the sampling variance.
    m : int
        Copies, at least two.
    ratio : float
        Rows of a copy over rows of the table.

    Returns
    -------
    float

    Notes
    -----
    Privacy: arithmetic on public constants. With the sampling variance as unit, ubar = 1/ratio and
    E b = 1 + extra + ubar; the median of b is E b times that of chi-square over its degrees of freedom;
    T = max((1 + 1/m) b - ubar, 1 + (1 + ubar)/m) grows with b, so its median is T at the median of b. The t
    quantile has nu = (m - 1)(T/((1 + 1/m) b))^2 degrees of freedom.

    Examples
    --------
    >>> round(median_length(0.7177, m=20, ratio=5), 2)
    1.43
    """
    from scipy import stats  # slow to import: only where it is used

    within = 1 / ratio
    between = (1 + extra + within) * float(stats.chi2.median(m - 1)) / (m - 1)
    total = max((1 + 1 / m) * between - within, 1 + (1 + within) / m)
    df = (m - 1) * (total / ((1 + 1 / m) * between)) ** 2
    return math.sqrt(total) * float(stats.t.ppf(0.975, df) / stats.norm.ppf(0.975))
