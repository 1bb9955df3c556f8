"""What a plan costs, and the largest draw or smallest setting that a budget allows: from public constants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from pysynthdp.display import Cell, Printable, Table
from pysynthdp.errors import PrivacyError
from pysynthdp.plan.guaranteed import priced_columns
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.by_sampling import BySampling
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.mechanism import PricedColumn
from pysynthdp.privacy.verification import shares_of

if TYPE_CHECKING:
    from pysynthdp.plan.synthesis_plan import SynthesisPlan

__all__ = ["PlanPrice", "price_plan", "records_for", "smallest_setting"]

_MOST = 10**9


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


def price_plan(plan: SynthesisPlan, *, n: int, n_syn: int | None = None, m: int = 5) -> PlanPrice:
    """Price m copies of n_syn records (n by default)."""
    guarantee = _asked(plan)
    rows = n if n_syn is None else n_syn
    steps = priced_columns(plan, guarantee, n=n)
    account = Account(steps, unit=guarantee.unit)
    total = account.charge(n_syn=rows, copies=m)
    return PlanPrice(total, steps, account.by_step(), n, rows, m, guarantee.deltas)


def _asked(plan: SynthesisPlan) -> BySampling:
    """Find the guarantee of a plan."""
    if plan.guarantee is None:
        raise PrivacyError("the plan asks for no guarantee, so it has no price; give guarantee=BySampling()")
    return plan.guarantee


def records_for(
    plan: SynthesisPlan, *, n: int, epsilon: float, m: int = 1, delta: float | None = None
) -> int:
    """Find the largest n_syn whose m copies stay within epsilon at delta.

    Raises
    ------
    PrivacyError
        If even one record costs more; widen the prior, floor or ridge.
    """

    def fits(rows: int) -> bool:
        return price_plan(plan, n=n, n_syn=rows, m=m).epsilon(delta) <= epsilon

    if not fits(1):
        raise PrivacyError("one record a copy already costs more than that; raise the prior, floor or ridge")
    return _largest(fits)


def _largest(fits: Callable[[int], bool]) -> int:
    """Largest whole number that fits, by doubling and bisection."""
    low = 1
    while low < _MOST and fits(2 * low):
        low *= 2
    high = 2 * low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def smallest_setting(
    plan: SynthesisPlan,
    column: str,
    setting: str,
    *,
    n: int,
    epsilon: float,
    n_syn: int | None = None,
    m: int = 1,
    delta: float | None = None,
) -> float:
    """Find the smallest prior, floor, ridge or penalty of a column's model that meets a budget.

    Raises
    ------
    PrivacyError
        If the column's model has no such setting, or no value of it is large enough.
    """

    def fits(value: float) -> bool:
        changed = _with_setting(plan, column, setting, value)
        return price_plan(changed, n=n, n_syn=n_syn, m=m).epsilon(delta) <= epsilon

    high = 1e-6
    while not _true(fits, high):
        high *= 2
        if high > 1e15:
            raise PrivacyError(
                f"{column}: no value of {setting!r} meets that budget; draw fewer records or copies"
            )
    low = high / 2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if _true(fits, middle) else (middle, high)
    return high


def _true(fits: Callable[[float], bool], value: float) -> bool:
    """Whether a setting fits; one outside its domain does not."""
    try:
        return fits(value)
    except PrivacyError:
        return False


def _with_setting(plan: SynthesisPlan, column: str, setting: str, value: float) -> SynthesisPlan:
    """Change one setting of a column's model."""
    steps = []
    found = False
    for step in plan.steps:
        mine = any(part.column == column for part in step.targets) and hasattr(step.model, setting)
        model: Any = step.model
        steps.append(replace(step, model=replace(model, **{setting: value})) if mine else step)
        found = found or mine
    if not found:
        raise PrivacyError(
            f"the model of {column!r} has no setting {setting!r}; see its class for those it has"
        )
    return replace(plan, steps=tuple(steps))
