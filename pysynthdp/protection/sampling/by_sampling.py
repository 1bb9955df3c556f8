"""Ask that the draw itself carries the guarantee: nothing is noised, every record drawn costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import IntArray
from pysynthdp.base.slips import answers_slips
from pysynthdp.base.streams import NumpySampler, RandomSource, root_sequence
from pysynthdp.design.values import to_numbers
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.choose import all_steps
from pysynthdp.plan.curves import public_curves
from pysynthdp.plan.declared import check_declared, public_schema
from pysynthdp.plan.fit import Fit
from pysynthdp.plan.plain import common_settings, plain_unit, refuse_unknown_settings
from pysynthdp.plan.protection import (
    PROTECTIONS,
    UNAUDITED,
    FitRequest,
    Price,
    Protection,
    Spends,
    Wishes,
)
from pysynthdp.plan.step import Step
from pysynthdp.plan.task import row_norm
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.domain import checked_deltas
from pysynthdp.privacy.mechanism import price_of
from pysynthdp.privacy.noise.protective import add_discrete_gaussian, draw_categories, draw_urn
from pysynthdp.privacy.statements.column import Draw
from pysynthdp.privacy.statements.sampling import state_account
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.unit import PrivacyUnit, checked_unit
from pysynthdp.protection.exact import PlainCopies, fit_exactly
from pysynthdp.protection.facts import public_facts
from pysynthdp.protection.refusals import (
    checked_flag,
    checked_outside,
    outside_names,
    refuse_real_rows,
)
from pysynthdp.protection.sampling.checks import check_models, priced_columns
from pysynthdp.protection.sampling.price import price_plan
from pysynthdp.schema import NumericColumn, Schema
from pysynthdp.tags import ReleaseTags

__all__ = ["BySampling", "ExactSampler"]

_CLAMPED = 0.01
_UNCOUNTED = "how many cells were clamped to their bounds is unknown (counting would cost)"
_MOVED = (
    f"Bias by the declared facts: {_UNCOUNTED}, nor how many became 'other' or the fallback; means, shares, "
    "variances, correlations and slopes may be biased without a sign."
)
_REASON = "every column is drawn by a mechanism whose randomness protects; it covers this fit only"


@dataclass(frozen=True, slots=True)
class ExactCopies(PlainCopies):
    """Copies of which the part that carries the claim is drawn in whole numbers, from fresh entropy."""

    def sampler(self, source: np.random.Generator) -> NumpySampler:
        """Draw exactly."""
        return ExactSampler(source)


@PROTECTIONS.register
@answers_slips
@dataclass(frozen=True, slots=True)
class BySampling(Protection):
    """A guarantee from the sampling randomness alone.

    Parameters
    ----------
    unit : PrivacyUnit
        Whose record is protected, and what neighbours are.
    deltas : tuple of float
        Where the statement quotes (epsilon, delta).
    exact : bool
        Draw from exact samplers with the operating system's entropy, so that the guarantee is the implemented
        one; otherwise it is about real arithmetic and the statement says ``idealised``.
    outside : tuple of str
        Models and mechanisms of other packages that are allowed by name; nobody here audited their price, and
        the statement says so.

    Raises
    ------
    PrivacyError
        For a delta outside (0, 1), or a setting of another type; write for example
        ``BySampling(unit=PrivacyUnit(name="person"), deltas=(1e-6,))``.

    Notes
    -----
    Privacy: a setting. Every column's model must carry a price, and everything it uses must be declared.

    Examples
    --------
    >>> BySampling(deltas=(1e-6,)).exact
    False
    """

    unit: PrivacyUnit = field(default_factory=PrivacyUnit)
    deltas: tuple[float, ...] = (1e-6,)
    exact: bool = False
    outside: tuple[str, ...] = ()
    name: ClassVar[str] = "by_sampling"
    forms: ClassVar[tuple[str, ...]] = ("by_sampling",)
    spends: ClassVar[Spends] = "at each draw"

    def __post_init__(self) -> None:
        checked_unit(self.unit)
        checked_flag("exact", self.exact)
        object.__setattr__(self, "deltas", checked_deltas(self.deltas))
        object.__setattr__(self, "outside", checked_outside(self.outside))

    @property
    def quoted(self) -> tuple[float, ...]:
        """Where (epsilon, delta) is quoted."""
        return self.deltas

    @classmethod
    def from_plain(cls, given: Mapping[str, Any], at: str) -> Self:
        """``{name = "by_sampling", exact = ..., deltas = [...], unit = {...}}``."""
        refuse_unknown_settings(given, ("name", "unit", "deltas", "exact", "outside"), at)
        own = {"exact": given["exact"]} if "exact" in given else {}
        return cls(**common_settings(given, at), **own)

    def to_plain(self) -> dict[str, Any]:
        """Write what :meth:`from_plain` reads."""
        plain = {"name": self.name, "unit": plain_unit(self.unit), "deltas": list(self.deltas)}
        return {**plain, "exact": self.exact, **({"outside": list(self.outside)} if self.outside else {})}

    def public_schema(self, schema: Schema) -> Schema:
        """Draw the missing values of a categorical column as levels."""
        return public_schema(schema)

    def check_wishes(self, schema: Schema, wishes: Wishes) -> None:
        """Refuse real rows and values."""
        del schema
        refuse_real_rows(wishes)

    def steps(self, schema: Schema, wishes: Wishes) -> Sequence[Step]:
        """List the steps in visit order, of declared columns only."""
        found = all_steps(schema, wishes)
        check_declared(schema, wishes.order)
        return found

    def check(self, plan: SynthesisPlan) -> None:
        """Refuse a column whose model has no price."""
        check_models(plan)
        public_curves(plan)  # refuses those that declared bounds do not place

    def task_facts(self, step: Step, plan: SynthesisPlan) -> Mapping[str, Any]:
        """Bound the rows of X, which are scaled by declared bounds, and say whether draws are exact."""
        return {"row_norm": row_norm(step, plan), "exact": self.exact}

    def price(self, plan: SynthesisPlan, *, n: int, n_syn: int | None = None, m: int = 5) -> Price:
        """Price m copies of n_syn records."""
        return price_plan(plan, self.unit, self.deltas, exact=self.exact, n=n, n_syn=n_syn, m=m)

    def account(self, plan: SynthesisPlan, *, n: int) -> Account:
        """Price every step before a record is read."""
        priced = priced_columns(plan, exact=self.exact, n=n)
        for step in priced:  # refuses what is not proved for this unit
            price_of(step.mechanism, Draw(1, 1), unit=self.unit)
        return Account(priced, unit=self.unit)

    def fit(self, plan: SynthesisPlan, request: FitRequest) -> Fit:
        """Fit every step to exact answers, which must stay inside."""
        source = ExactCopies(plan.proper) if self.exact else PlainCopies(plan.proper)
        return fit_exactly(plan, request, source=source)

    def unsaveable(self) -> str:
        """Every draw costs, so there must be one account."""
        return (
            "every draw from this fit costs, and a saved fit would have a second account; "
            "release copies instead of saving it"
        )

    def holds(self, plan: SynthesisPlan, fit: Fit) -> str:
        """Exact statistics, which no guarantee covers."""
        del plan, fit
        return "EXACT statistics of the confidential rows: only the copies are protected, never the fit"

    def root(self, rng: RandomSource) -> tuple[np.random.SeedSequence | None, bool]:
        """Fresh entropy that nobody keeps; a seed is taken for tests, and voids every claim."""
        return (None, False) if rng is None else (root_sequence(rng), True)

    def statement(self, plan: SynthesisPlan, fit: Fit, account: Account) -> PrivacyStatement:
        """State what the draws from a fit guarantee together, from the account."""
        del fit
        outside = outside_names([step.model for step in plan.steps] + [p.mechanism for p in account.priced])
        extra = f"; {', '.join(outside)}: {UNAUDITED}" if outside else ""
        stated = state_account(
            account,
            status="void" if account.seeded else "implemented" if self.exact else "idealised",
            public=public_facts(plan, n_public=self.n_told),
            deltas=self.deltas,
            reason=f"{_REASON}{extra}",
        )
        return replace(stated, not_covered=(*stated.not_covered, _MOVED))

    def tags(
        self, tags: ReleaseTags, plan: SynthesisPlan, *, fit: Fit, copies: Sequence[pd.DataFrame]
    ) -> ReleaseTags:
        """Say that clamping may have moved estimates where many draws lie on a bound; yes where not known."""
        del fit
        watch = self.watch(plan)
        for number, copy in enumerate(copies):
            watch.see(number, copy)
        return watch.tags(tags)

    def watch(self, plan: SynthesisPlan) -> BoundWatch:
        """Count the draws that lie on a bound."""
        numeric = (column for column in plan.schema if isinstance(column, NumericColumn))
        drawn = tuple(column for column in numeric if column.name not in plan.serials)
        return BoundWatch(drawn, {"remarks": _remarks(self.unit)})


@dataclass(frozen=True, slots=True)
class BoundWatch:
    """Counts, in each copy, how many drawn numbers of a column lie on a declared bound.

    Parameters
    ----------
    drawn : tuple of NumericColumn
        Columns of numbers, without those that only count the rows.
    details : mapping
        What is true of every release.
    """

    drawn: tuple[NumericColumn, ...]
    details: Mapping[str, Any]
    _counts: dict[tuple[int, str], IntArray] = field(default_factory=dict)

    def see(self, number: int, piece: pd.DataFrame) -> None:
        """Count in a piece of a copy."""
        for column in self.drawn:
            key = (number, column.name)
            self._counts[key] = self._counts.get(key, 0) + _on_bounds(piece, column)

    def tags(self, tags: ReleaseTags) -> ReleaseTags:
        """Say that clamping may have moved estimates where many draws lie on a bound; yes where not known."""
        known = bool(self._counts) or not self.drawn
        on_bounds = not known or any(hit > _CLAMPED * rows for hit, rows in self._counts.values())
        clamped = tags.bias == "none" and on_bounds
        bias = "clamped" if clamped else tags.bias
        return replace(tags, bias=bias, details={**tags.details, **self.details})


def _remarks(unit: PrivacyUnit) -> list[str]:
    """Say what a guarantee by sampling does not count."""
    if unit.key is None:
        return [_UNCOUNTED]
    became = "became the public row" if unit.relation == "replace_one" else "were left out"
    return [_UNCOUNTED, f"how many rows beyond the limit of their {unit.name} {became} is unknown"]


def _on_bounds(piece: pd.DataFrame, column: NumericColumn) -> IntArray:
    """Count a column's drawn numbers that lie on a declared bound, and all its rows."""
    bounds = [bound for bound in (column.lower, column.upper) if bound is not None]
    return np.array([np.isin(to_numbers(piece[column.name], column), bounds).sum(), len(piece)])


@dataclass(frozen=True, slots=True)
class ExactSampler(NumpySampler):
    """Draw whole numbers exactly; other variates, for post-processing alone, as the numpy sampler does.

    Notes
    -----
    Privacy: the methods here are mechanisms (H1; F3, F5, G2 and G3 without floating point); they take the
    operating system's entropy, whatever the stream beside them was seeded with.

    Examples
    --------
    >>> sampler = ExactSampler(np.random.default_rng(0))
    >>> sampler.exact, sampler.integer_weights(np.array([0, 7]), 3).tolist()
    (True, [1, 1, 1])
    """

    exact: ClassVar[bool] = True

    def discrete_gaussian(self, centre: int, scale: float, size: int) -> IntArray:
        """Whole numbers around a centre with discrete Gaussian noise of a scale in steps."""
        return add_discrete_gaussian(np.full(size, centre, dtype=np.int64), scale)

    def integer_weights(self, weights: IntArray, size: int) -> IntArray:
        """Cell numbers with probabilities in exact proportion to whole weights."""
        return draw_categories(weights, size)

    def urn(self, weights: IntArray, added: int, size: int) -> IntArray:
        """Cell numbers drawn one after the other, each adding balls of its own cell."""
        return draw_urn(weights, added, size)
