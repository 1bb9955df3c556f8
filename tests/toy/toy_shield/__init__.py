"""A protection from another package, as small as can be: noisy counts of each column, without predictors.

It is for tests of the doors alone. Everything here is what an author outside the project would write; nothing
in the project names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from pysynthdp.base.errors import PlanError
from pysynthdp.models.ask import NoisyStatistics, Sampler
from pysynthdp.models.base import Fit as Asking
from pysynthdp.models.base import FitTask, Target
from pysynthdp.plan import Step, SynthesisPlan
from pysynthdp.plan.choose import all_steps
from pysynthdp.plan.declared import check_declared, public_schema
from pysynthdp.plan.fit import Fit
from pysynthdp.plan.protection import FitRequest, Price, Protection, Spends, Wishes
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.composition import compose
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.mechanism import PricedColumn
from pysynthdp.privacy.statements.sampling import state_account
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.protection.exact import PlainCopies, fit_exactly
from pysynthdp.protection.facts import public_facts
from pysynthdp.schema import Schema
from pysynthdp.tags import ReleaseTags


@dataclass(frozen=True, slots=True)
class Shares:
    """Noisy shares of the levels."""

    shares: np.ndarray


@dataclass(frozen=True, slots=True)
class ToyCounts:
    """Draw levels by noisy counts."""

    eps: float = 1.0
    name: ClassVar[str] = "toy_counts_model"
    reason: ClassVar[str] = "its counts are noisy, but no guarantee was asked for"
    real_values: ClassVar[bool] = False
    bias: ClassVar[str] = "none"

    def accepts(self, target: Target) -> bool:
        return target.kind == "categorical"

    def fit(self, task: FitTask) -> Asking:
        levels = task.target.n_levels

        def counts(X: np.ndarray, y: np.ndarray) -> np.ndarray:
            del X
            return np.bincount(y.astype(np.int64), minlength=levels)

        sums = (yield NoisyStatistics(counts, row_gap=2, row_norm=1, epsilon=self.eps)).value.sums
        positive = np.maximum(sums, 0) + 1.0
        return Shares(positive / positive.sum())

    def redraw(self, params: Shares, rng: np.random.Generator) -> Shares:
        del rng
        return params

    def draw(self, params: Shares, X: np.ndarray, sampler: Sampler) -> np.ndarray:
        return sampler.categorical(np.tile(params.shares, (len(X), 1))).astype(np.float64)


@dataclass(frozen=True, slots=True)
class ToyMechanism:
    """Pure epsilon for the counts of one column, paid once."""

    eps: float
    name: ClassVar[str] = "toy_counts"
    entry: ClassVar[str] = "toy"
    source: ClassVar[str] = "the toy's own document"
    assumptions: ClassVar[tuple[str, ...]] = ("levels are public",)
    relations: ClassVar[tuple[str, ...]] = ("replace_one", "add_remove")
    exact: ClassVar[bool] = True
    once: ClassVar[bool] = True

    def price(self, *, n_syn: int, copies: int) -> Guarantee:
        del n_syn, copies
        return PureDP(self.eps)


@dataclass(frozen=True, slots=True)
class ToyPrice:
    """What a plan costs."""

    guarantee: Guarantee

    def epsilon(self, delta: float | None = None) -> float:
        return self.guarantee.epsilon(delta or 1e-6)

    def __str__(self) -> str:
        return f"Price of the toy: epsilon {self.epsilon():g}"


@dataclass(frozen=True, slots=True)
class ByToy(Protection):
    """Noisy counts of every column, with an equal part of eps each."""

    eps: float
    unit: PrivacyUnit = field(default_factory=PrivacyUnit)
    name: ClassVar[str] = "by_toy"
    forms: ClassVar[tuple[str, ...]] = ("by_toy",)
    spends: ClassVar[Spends] = "at the fit"

    @classmethod
    def from_plain(cls, given: Mapping[str, Any], at: str) -> Self:
        if set(given) != {"name", "eps"}:
            raise PlanError(f"{at}: by_toy has the setting eps and no other")
        return cls(float(given["eps"]))

    def to_plain(self) -> dict[str, Any]:
        return {"name": self.name, "eps": self.eps}

    def public_schema(self, schema: Schema) -> Schema:
        return public_schema(schema)

    def steps(self, schema: Schema, wishes: Wishes) -> Sequence[Step]:
        check_declared(schema, wishes.order)
        part = self.eps / len(wishes.order)
        alone = Wishes(wishes.order, {}, ToyCounts(part), dict.fromkeys(wishes.order, ()))
        return all_steps(schema, alone)

    def price(self, plan: SynthesisPlan, *, n: int, n_syn: int | None = None, m: int = 5) -> Price:
        del n, n_syn, m
        return ToyPrice(compose([PureDP(step.model.eps) for step in plan.steps]))

    def account(self, plan: SynthesisPlan, *, n: int) -> Account:
        del n
        priced = [
            PricedColumn(step.label, step.model.name, ToyMechanism(step.model.eps)) for step in plan.steps
        ]
        return Account(priced, unit=self.unit)

    def fit(self, plan: SynthesisPlan, request: FitRequest) -> Fit:
        return fit_exactly(plan, request, source=PlainCopies())

    def holds(self, plan: SynthesisPlan, fit: Fit) -> str:
        del plan, fit
        return "noisy counts"

    def statement(self, plan: SynthesisPlan, fit: Fit, account: Account) -> PrivacyStatement:
        del fit
        return state_account(account, status="implemented", public=public_facts(plan, n_public=True))

    def tags(self, tags: ReleaseTags, plan: SynthesisPlan, *, fit: Fit, copies: Sequence[Any]) -> ReleaseTags:
        del plan, fit, copies
        return tags
