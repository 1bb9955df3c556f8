"""The largest draw or the smallest setting that a budget allows: from public constants."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pysynthdp.base.errors import PrivacyError
from pysynthdp.plan.step import Step
from pysynthdp.privacy.domain import positive, probability
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.zcdp import ZCDP

__all__ = ["Budget", "Budgeted", "Price", "most_advantage"]

_MOST = 10**9
_ROUNDING = 1 + 1e-12  # prices are rounded up by some 1e-15 of themselves; a budget met exactly is met
_PROTECTING = ("prior", "floor", "ridge", "penalty", "sigma")  # the larger, the cheaper


class Price(Protocol):
    """What a plan costs, from public constants; printable."""

    @property
    def guarantee(self) -> Guarantee:
        """Of everything that was priced."""
        ...

    def epsilon(self, delta: float | None = None) -> float:
        """Epsilon at a delta; the plan's first by default."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A budget in one of two ways: rho, or epsilon at a delta.

    Parameters
    ----------
    rho : float, optional
        Zero-concentrated; for plans whose columns all have one (public variances, penalties, exact grids).
    epsilon : float, optional
        At ``delta``; for every plan.
    delta : float, optional
        The plan's first by default.

    Raises
    ------
    PrivacyError
        If neither or both are given, or one is outside its domain.

    Notes
    -----
    Privacy: a setting; reads nothing.
    """

    rho: float | None = None
    epsilon: float | None = None
    delta: float | None = None

    def __post_init__(self) -> None:
        if (self.rho is None) == (self.epsilon is None):
            raise PrivacyError("give the budget in one way: as rho, or as epsilon with delta", kind="budget")
        if self.rho is not None and self.delta is not None:
            raise PrivacyError("a budget in rho needs no delta", kind="budget", remedy="leave delta out")
        positive("the budget", self.rho or 0.0 if self.epsilon is None else self.epsilon)
        if self.delta is not None:
            probability("delta", self.delta)

    def holds(self, price: Price) -> bool:
        """Whether a price stays within the budget, up to rounding."""
        if self.rho is None:
            return price.epsilon(self.delta) <= (self.epsilon or 0.0) * _ROUNDING
        if not isinstance(price.guarantee, GDP | ZCDP):
            raise PrivacyError(
                f"the table's guarantee, {price.guarantee.name!r}, has no rho",
                kind="budget",
                remedy="give epsilon and delta",
            )
        return price.guarantee.rho <= self.rho * _ROUNDING


def largest(fits: Callable[[int], bool], what: str) -> int:
    """Find the largest whole number that fits, at most 10^9, by doubling and bisection.

    Parameters
    ----------
    fits : callable number -> bool
        Whether so many stay within the budget.
    what : str
        What is counted.

    Raises
    ------
    PrivacyError
        If even one costs more; widen the prior, floor or ridge, or draw less.
    """
    if not fits(1):
        raise PrivacyError(
            f"one {what} already costs more than that",
            kind="budget",
            remedy="raise the prior, floor or ridge, or draw less",
        )
    low, high = 1, 2
    while high <= _MOST and fits(high):
        low, high = high, 2 * high
    high = min(high, _MOST + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def smallest_setting(
    steps: Sequence[Step],
    column: str,
    setting: str,
    *,
    budget: Budget,
    price: Callable[[tuple[Step, ...]], Price],
) -> float:
    """Find the smallest prior, floor, ridge, penalty or sigma of a column's model that meets a budget.

    Parameters
    ----------
    steps : sequence of Step
        Of the plan.
    column, setting : str
        Column, and setting of its model.
    budget : Budget
        To be met.
    price : callable steps -> Price
        Of the plan with other steps.

    Raises
    ------
    PrivacyError
        If the column's model has no such setting, or no value of it is large enough.
    """
    _check_setting(steps, column, setting)

    def fits(value: float) -> bool | None:
        try:
            changed = price(_with_setting(steps, column, setting, value))
        except PrivacyError:
            return None
        return budget.holds(changed)

    low, high = 0.0, _first_fit(fits, f"{column}: no value of {setting!r} meets that budget")
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


Fits = Callable[[float], bool | None]  # None: outside the domain, or without a finite price


def _first_fit(fits: Fits, refusal: str) -> float:
    """Double until a value fits; where the domain ends before, try its end."""
    last, value = 0.0, 1e-6
    while value < 1e15:
        verdict = fits(value)
        if verdict:
            return value
        if verdict is None and last:  # beyond the domain: bisect for its end
            return _end_of_domain(fits, last, value, refusal)
        last, value = (value if verdict is False else last), 2 * value
    raise PrivacyError(f"{refusal}", kind="budget", remedy="draw fewer records or copies")


def _end_of_domain(fits: Fits, low: float, high: float, refusal: str) -> float:
    """Largest value inside the domain, if it fits."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) is None else (middle, high)
    if not fits(low):
        raise PrivacyError(
            f"{refusal}: the largest that the column allows costs more", kind="budget", remedy="draw less"
        )
    return low


def _check_setting(steps: Sequence[Step], column: str, setting: str) -> None:
    """Refuse a setting that does not protect, or that the column's model does not have."""
    if setting not in _PROTECTING:
        raise PrivacyError(
            f"{setting!r} is not among the settings that protect: {', '.join(_PROTECTING)}", kind="budget"
        )
    models = [step.model for step in steps if any(part.column == column for part in step.targets)]
    if not any(hasattr(model, setting) for model in models):
        raise PrivacyError(
            f"the model of {column!r} has no setting {setting!r}",
            kind="budget",
            remedy="see its class for those it has",
        )


def _with_setting(steps: Sequence[Step], column: str, setting: str, value: float) -> tuple[Step, ...]:
    """Change one setting of a column's model."""
    changed = []
    for step in steps:
        mine = any(part.column == column for part in step.targets) and hasattr(step.model, setting)
        model: Any = step.model
        changed.append(replace(step, model=replace(model, **{setting: value})) if mine else step)
    return tuple(changed)


class Budgeted:
    """What a plan that states its price can be asked: how much a budget allows."""

    steps: tuple[Step, ...]

    @abstractmethod
    def price(self, *, n: int, n_syn: int | None = None, m: int = 5) -> Price:
        """Price m copies of n_syn records (n by default)."""

    def records_for(
        self,
        *,
        n: int,
        rho: float | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        m: int = 1,
    ) -> int:
        """Find the largest n_syn whose m copies stay within a budget, before a record is read.

        Parameters
        ----------
        n : int
            Rows of the confidential table.
        rho : float, optional
            Budget in zCDP, where every column has one.
        epsilon, delta : float, optional
            Budget as epsilon at a delta (the plan's first by default).
        m : int
            Number of copies.

        Returns
        -------
        int
            At most 10^9, which stands for no limit.

        Raises
        ------
        PrivacyError
            If one record already costs more, or the plan asks for no guarantee.

        Notes
        -----
        Privacy: public constants only.
        """
        budget = Budget(rho=rho, epsilon=epsilon, delta=delta)
        return largest(lambda rows: budget.holds(self.price(n=n, n_syn=rows, m=m)), "record a copy")

    def copies_for(
        self,
        *,
        n: int,
        rho: float | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        n_syn: int | None = None,
    ) -> int:
        """Find the largest m of copies of n_syn records (n by default) within a budget.

        Parameters
        ----------
        n, n_syn : int
            Rows of the confidential table, and of a copy.
        rho, epsilon, delta : float, optional
            As for :meth:`records_for`.

        Returns
        -------
        int
            At most 10^9, which stands for no limit.

        Raises
        ------
        PrivacyError
            If one copy already costs more, or the plan asks for no guarantee.

        Notes
        -----
        Privacy: public constants only.
        """
        budget = Budget(rho=rho, epsilon=epsilon, delta=delta)
        return largest(lambda copies: budget.holds(self.price(n=n, n_syn=n_syn, m=copies)), "copy")

    def smallest_setting(
        self,
        column: str,
        setting: str,
        *,
        n: int,
        rho: float | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        n_syn: int | None = None,
        m: int = 1,
    ) -> float:
        """Find the smallest prior, floor, ridge, penalty or sigma of a column that meets a budget.

        Parameters
        ----------
        column, setting : str
            Column, and setting of its model.
        n, n_syn, m : int
            Rows of the confidential table, rows of a copy (n by default), copies.
        rho, epsilon, delta : float, optional
            As for :meth:`records_for`.

        Returns
        -------
        float
            In the unit of the setting.

        Raises
        ------
        PrivacyError
            If the model has no such setting, or no value of it is large enough.

        Notes
        -----
        Privacy: public constants only.
        """
        budget = Budget(rho=rho, epsilon=epsilon, delta=delta)

        def price(steps: tuple[Step, ...]) -> Price:
            return replace(self, steps=steps).price(n=n, n_syn=n_syn, m=m)  # type: ignore[type-var]  # a plan

        return smallest_setting(self.steps, column, setting, budget=budget, price=price)


def most_advantage(epsilon: float, delta: float) -> float:
    """Bound true minus false positives of any attack on an (epsilon, delta) release.

    Notes
    -----
    (e^eps - 1 + 2 delta) / (e^eps + 1) (Kairouz, Oh and Viswanath 2015, Theorem 2.1).

    Examples
    --------
    >>> round(most_advantage(1.0, 0.0), 3)
    0.462
    """
    grown = math.expm1(min(epsilon, 700.0))
    return min(1.0, (grown + 2 * delta) / (grown + 2))
