"""The whole synthesis as data, and how it is protected: printed, priced and reviewed before a record is read.

A plan holds one :class:`Protection`, and a protection judges plans: neither can be said without the other, so
they stand in one file. How is a table protected? One question and one object that answers it, whatever the
answer is: whoever needs to know something of a guarantee asks it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Literal, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
import pandas as pd

from pysynthdp.base.display import Cell, Printable, Table
from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.base.marks import KEPT_REAL, SERIAL
from pysynthdp.base.streams import RandomSource, root_sequence
from pysynthdp.base.words import Said, Words
from pysynthdp.design.parts import Part, parts_of
from pysynthdp.plan.budget import Budget, Price, largest, smallest_setting
from pysynthdp.plan.card import plan_frame, plan_table, predictor_matrix
from pysynthdp.plan.fit import Fit, FitRequest
from pysynthdp.plan.step import Step, Terms, predicting
from pysynthdp.plan.wishes import Wishes
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.schema import Schema
from pysynthdp.tags import ReleaseTags

__all__ = ["Protection", "Spends", "SynthesisPlan"]

_NOISE: Final = Said(
    "guarantee=ZCDP(rho=...)", 'guarantee = { name = "zcdp", rho = ... }', "guarantee = zcdp(rho = ...)"
)
Spends: TypeAlias = Literal["nothing", "at the fit", "at each draw"]
_COPIES = 5


@runtime_checkable
class Protection(Protocol):
    """How a table is protected: asked for by a user, held by the plan, questioned by everybody else.

    An implementation is a frozen dataclass of its own settings that inherits from this class and overrides
    what differs; the defaults here are those of a protection that learns nothing and claims nothing more than
    its statement. It is registered in ``PROTECTIONS`` under ``name``.

    Attributes
    ----------
    name : str
        Registry name; a saved fit finds the class by it.
    forms : tuple of str
        Names under which plan files and R ask for it; ``name`` alone by default.
    learns : bool
        Whether schema, bounds, levels, order, terms and warnings may be learned from the rows. Where False
        they come from declared facts, and what is said or done besides depends on the plan and on noised
        answers only.
    spends : {"nothing", "at the fit", "at each draw"}
        When the budget is spent; a fit of the last kind has one account and is neither copied nor saved.
    answers_on_file : bool
        Whether all that a fit asks may stand in a file, so that it can do without a table. Then it judges
        itself what is too little; else a table without columns is refused, and one without rows unless their
        number is confidential.

    Notes
    -----
    Privacy: ``fit`` alone reads real rows, through the curator. What ``statement`` claims is the
    implementation's own to prove; of code outside this package the statement says that nobody here did.
    """

    name: ClassVar[str]
    forms: ClassVar[tuple[str, ...]] = ()
    learns: ClassVar[bool] = False
    spends: ClassVar[Spends] = "nothing"
    answers_on_file: ClassVar[bool] = False

    # -- settings ------------------------------------------------------------------------------------------

    @classmethod
    def from_short(cls, asked: object) -> Self | None:
        """Take a short form, such as a bare guarantee, or None where it is not this protection's."""
        del asked
        return None

    @classmethod
    def from_plain(cls, given: Mapping[str, Any], at: str) -> Self:
        """Take what a plan file or R says: plain values, ``name`` among them; ``at`` names the place."""
        ...

    def to_plain(self) -> dict[str, Any]:
        """Write what :meth:`from_plain` reads."""
        ...

    @property
    def unit(self) -> PrivacyUnit:
        """Whose record is protected."""
        return PrivacyUnit()

    @property
    def outside(self) -> tuple[str, ...]:
        """Models and mechanisms of other packages that the user allows by name."""
        return ()

    @property
    def n_told(self) -> bool:
        """Whether the number of rows that the fit goes by may be told: it is public, or a noisy answer."""
        return self.unit.relation == "replace_one"

    # -- the plan, before a record is read -----------------------------------------------------------------

    def public_schema(self, schema: Schema) -> Schema:
        """Turn the schema into the one that is planned with."""
        return schema

    def check_wishes(self, schema: Schema, wishes: Wishes) -> None:
        """Refuse settings that do not apply under this protection, by name and with the way out."""

    def steps(self, schema: Schema, wishes: Wishes) -> Sequence[Step]:
        """List the steps of the plan, in drawing order."""
        ...

    def check(self, plan: SynthesisPlan) -> None:
        """Refuse a finished plan that cannot have this protection; the message names the column."""

    def given(self, plan: SynthesisPlan) -> tuple[Terms, ...]:
        """Say for each step what it is drawn from."""
        return tuple(step.terms for step in plan.steps)

    def parameters(self, plan: SynthesisPlan) -> str:
        """Say how copies get their parameters, for the plan's card."""
        return "drawn for each copy (proper)" if plan.proper else "fitted, one set"

    def task_facts(self, step: Step, plan: SynthesisPlan) -> Mapping[str, Any]:
        """Give what a step's model is told beside its target and features: fields of ``FitTask``."""
        del step, plan
        return {}

    def price(self, plan: SynthesisPlan, *, n: int, n_syn: int | None = None, m: int = 5) -> Price:
        """Price m copies of n_syn records (n by default) from public constants."""
        del plan, n, n_syn, m
        raise PrivacyError(
            f"protection {self.name!r} states no price beforehand",
            kind="guarantee",
            remedy="see the statement of a release",
        )

    def expected_precision(
        self, plan: SynthesisPlan, *, n: int, m: int = 20, n_syn: int | None = None
    ) -> Printable:
        """Say how much longer intervals get by what this protection does."""
        del plan, n, m, n_syn
        raise PrivacyError(
            f"protection {self.name!r} foresees no precision",
            kind="guarantee",
            remedy=Words("noise in the answers does: give {noise}", noise=_NOISE),
        )

    def rehearsal(self) -> Self:
        """Make the twin that may be seeded and marks everything void, for public tables."""
        raise PrivacyError(
            f"protection {self.name!r} has no rehearsal, which is for noise in the answers",
            kind="guarantee",
            remedy=Words("give {noise}", noise=_NOISE),
        )

    # -- the fit -------------------------------------------------------------------------------------------

    def check_request(self, *, answers: object, noise_seed: object) -> None:
        """Refuse arguments of ``fit`` that do not apply."""
        if answers is not None or noise_seed is not None:
            raise PlanError(
                Words("answers and noise_seed belong to noise in the answers: {noise}", noise=_NOISE),
                kind="guarantee",
            )

    def check_imputed(self) -> None:
        """Refuse to be fitted to several imputations of one table, before any is looked at."""
        raise PrivacyError(
            (
                f"several imputed tables hold the same people, so under protection {self.name!r} "
                "each would spend the budget again"
            ),
            kind="guarantee",
            remedy=(
                "give one table, whose missing cells stay missing in the copies, and impute the "
                "copies, or leave the guarantee out"
            ),
        )

    def account(self, plan: SynthesisPlan, *, n: int) -> Account:
        """Open the account that every draw is charged to; what has no price is refused here."""
        del plan, n
        return Account(unit=self.unit)

    def fit(self, plan: SynthesisPlan, request: FitRequest) -> Fit:
        """Fit every step through the curator; the rows are dropped when it returns."""
        ...

    def unsaveable(self) -> str:
        """Say why a fit cannot be written to a file; empty where it can."""
        return ""

    def holds(self, plan: SynthesisPlan, fit: Fit) -> str:
        """Say what of the confidential table the fit itself holds, for the person who keeps it."""
        del plan, fit
        return "parameters"

    # -- drawing -------------------------------------------------------------------------------------------

    def copies(self, m: int | None) -> int:
        """Give the number of copies to draw: the one asked for, or the default."""
        return _COPIES if m is None else m

    def root(self, rng: RandomSource) -> tuple[np.random.SeedSequence | None, bool]:
        """Give the root of the drawing's streams, and whether somebody knows it so that claims are void."""
        return root_sequence(rng), False

    # -- the release ---------------------------------------------------------------------------------------

    def statement(self, plan: SynthesisPlan, fit: Fit, account: Account) -> PrivacyStatement:
        """State what all draws from a fit so far protect."""
        ...

    def tags(
        self, tags: ReleaseTags, plan: SynthesisPlan, *, fit: Fit, copies: Sequence[pd.DataFrame]
    ) -> ReleaseTags:
        """Add what a combining rule must know."""
        del plan, fit, copies
        return tags

    def spent(self, plan: SynthesisPlan, fit: Fit, account: Account) -> Guarantee | None:
        """Give what an agency's ledger records as spent so far; None where nothing is promised."""
        statement = self.statement(plan, fit, account)
        return None if statement.status in ("none", "void") else statement.guarantee

    def bound(self, statement: PrivacyStatement, delta: float) -> float | None:
        """Give the advantage that an evaluation may quote as the most of any attack; None without a proof.

        Notes
        -----
        Privacy: public constants. True minus false positives of a membership attack is at most
        (e^eps - 1 + 2 delta) / (e^eps + 1) for (eps, delta) (Kairouz, Oh and Viswanath 2015, Theorem 2.1).
        """
        if statement.status in ("none", "void"):
            return None
        grown = np.expm1(min(statement.guarantee.epsilon(delta), 700.0))
        return float(min(1.0, (grown + 2 * delta) / (grown + 2)))


@dataclass(frozen=True, repr=False)
class SynthesisPlan(Printable):
    """The whole synthesis as data.

    Parameters
    ----------
    schema : Schema
        All columns of the table that are not dropped, in its order.
    visit_sequence : tuple of str
        Columns in the order in which they are drawn.
    steps : tuple of Step
        In the order in which they run.
    protection : Protection
        How the table is protected; "not at all" is an answer too.
    keep : tuple of str
        Columns released as they really are.
    serials : tuple of str
        Columns replaced by running numbers.
    drop : tuple of str
        Columns of the table that are not released.
    proper : bool
        Whether each copy draws its own parameters.
    left_open : tuple of str
        Columns whose predictors the user did not name.
    max_predictors : int, optional
        How many predictors the fit chooses for such a column.
    """

    schema: Schema
    visit_sequence: tuple[str, ...]
    steps: tuple[Step, ...]
    protection: Protection
    keep: tuple[str, ...] = ()
    serials: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    proper: bool = False
    left_open: tuple[str, ...] = ()
    max_predictors: int | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """Every modelled part: kept columns that can predict first, then in visit order."""
        names = (*predicting(self.schema, self.keep), *self.visit_sequence)
        return tuple(part for name in names for part in parts_of(self.schema[name]))

    @property
    def methods(self) -> dict[str, str]:
        """Method of each column, as a user names it."""
        drawn = {part.column: step.model.name for step in self.steps for part in step.targets}
        return {**dict.fromkeys(self.keep, KEPT_REAL), **drawn, **dict.fromkeys(self.serials, SERIAL)}

    @property
    def predictor_matrix(self) -> pd.DataFrame:
        """1 where the row's column is drawn from the column's."""
        return predictor_matrix(self.schema.names, self.steps, self.protection.given(self))

    def completed(self, fit: Fit) -> Self:
        """Take over what a fit chose where this plan leaves it open; under a guarantee nothing, from rows."""
        return replace(self, steps=fit.learned) if fit.learned else self

    def price(self, *, n: int, n_syn: int | None = None, m: int = 5) -> Price:
        """Price m copies of n_syn records (n by default) before a record is read.

        Raises
        ------
        PrivacyError
            If the plan asks for no guarantee, or a number lies outside a formula's domain.
        """
        return self.protection.price(self, n=n, n_syn=n_syn, m=m)

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
        n, n_syn, rho, epsilon, delta
            As for :meth:`records_for`; rows of a copy.

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
            return replace(self, steps=steps).price(n=n, n_syn=n_syn, m=m)

        return smallest_setting(self.steps, column, setting, budget=budget, price=price)

    def expected_precision(self, *, n: int, m: int = 20, n_syn: int | None = None) -> Printable:
        """Say how much longer intervals get by noise in the answers, before a record is read.

        Parameters
        ----------
        n : int
            Rows of the confidential table, or a guess.
        m, n_syn : int
            Copies, at least two; rows of each, as many as the table by default.

        Returns
        -------
        ExpectedPrecision
            Lengths over the non-private ones by kind of estimand, rows lost, columns that cost most.

        Raises
        ------
        PrivacyError
            If the plan asks for no such guarantee.

        Notes
        -----
        Privacy: public constants only.
        """
        return self.protection.expected_precision(self, n=n, m=m, n_syn=n_syn)

    @property
    def real_values(self) -> tuple[str, ...]:
        """Columns whose drawn values are those of real records, because ``emit_original`` asked for it."""
        emitting = [step for step in self.steps if getattr(step.model, "real_values", False)]
        return tuple(dict.fromkeys(part.column for step in emitting for part in step.targets))

    def to_table(self) -> Table:
        """One row a step; what is too long for it stands below."""
        named = (
            ("released REAL", self.keep),
            ("repeats REAL values", self.real_values),
            ("running numbers", self.serials),
            ("dropped", self.drop),
        )
        facts: list[tuple[str, Cell]] = [("columns", len(self.schema))]
        facts.append(("parameters", self.protection.parameters(self)))
        facts += [(label, ", ".join(names)) for label, names in named if names]
        if self.max_predictors is not None and len(self.schema) > self.max_predictors + 1:
            facts.append(
                ("predictors chosen at the fit", f"at most {self.max_predictors} a column left open")
            )
        first = predicting(self.schema, self.keep)
        return plan_table(self.steps, self._given(), first=first, facts=facts)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a step as a DataFrame, indexed by its number, with every predictor of it."""
        return plan_frame(self.steps, self._given())

    def _given(self) -> list[tuple[str, ...]]:
        """Terms of each step, as the protection gives them."""
        return [tuple(map(":".join, terms)) for terms in self.protection.given(self)]
