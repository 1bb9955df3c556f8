"""The whole synthesis as data, and how it is protected: printed, priced and reviewed before a record is read.

A plan holds one :class:`Protection`, and a protection judges plans: neither can be said without the other, so
they stand in one file. How is a table protected? One question and one object that answers it, whatever the
answer is: whoever needs to know something of a guarantee asks it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
import pandas as pd

from pysynthdp.base.display import Cell, Printable, Table
from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.base.even import Evenness
from pysynthdp.base.marks import DERIVED, KEPT_REAL, SERIAL
from pysynthdp.base.streams import RandomSource, root_sequence
from pysynthdp.base.words import Setting, Words
from pysynthdp.design.parts import Part, parts_of
from pysynthdp.plan.budget import Budgeted, Price, most_advantage
from pysynthdp.plan.card import exact_facts, plan_frame, plan_table, predictor_matrix
from pysynthdp.plan.counted import Counted
from pysynthdp.plan.derived import Derived, placed, without_silent
from pysynthdp.plan.designed import design_facts
from pysynthdp.plan.factors import Terms, shown_terms, term_text
from pysynthdp.plan.fit import Fit, FitRequest
from pysynthdp.plan.no_units import NOISE, no_units
from pysynthdp.plan.rules import Rule
from pysynthdp.plan.step import Step, predicting, written_formulas
from pysynthdp.plan.wishes import Wishes
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.schema import Design, Schema, Units
from pysynthdp.tags import ReleaseTags

__all__ = ["Protection", "Spends", "SynthesisPlan", "Watch"]

Spends: TypeAlias = Literal["nothing", "at the fit", "at each draw"]
_COPIES = 5


class Watch(Protocol):
    """Looks at pieces of copies while they are drawn, where no copy is ever whole."""

    def see(self, number: int, piece: pd.DataFrame) -> None:
        """Look at consecutive rows of a copy, numbered from 0."""
        ...

    def tags(self, tags: ReleaseTags) -> ReleaseTags:
        """Add what a combining rule must know of all that was seen."""
        ...


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
    draws : {"even", "independent"} or None
        How rows are drawn where the user does not say; None where copies of one shared fit are drawn evenly
        and others independently.
    redraws : bool
        Whether rows that break a rule may be drawn again, and rows outside a universe left out of its model:
        not where the price is that of single draws from models of all rows.
    draws_evenly : bool
        Whether rows may be drawn evenly: not where the price of a draw is that of independent rows. The
        protection's ``fit`` then does what the plan says.
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
    draws: ClassVar[Evenness | None] = "independent"
    redraws: ClassVar[bool] = False
    draws_evenly: ClassVar[bool] = False
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

    def of_units(self, units: Units, most: int) -> Self:
        """Protect whole units of at most so many rows; refused where no price is proved."""
        del units, most
        raise no_units(self.name)

    @property
    def outside(self) -> tuple[str, ...]:
        """Models and mechanisms of other packages that the user allows by name."""
        return ()

    @property
    def n_told(self) -> bool:
        """Whether the number of rows that the fit goes by may be told: it is public, or a noisy answer."""
        return self.unit.relation == "replace_one"

    @property
    def quoted(self) -> tuple[float, ...]:
        """Deltas at which the statement quotes epsilon, where settings say them."""
        return ()

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
        text = f"protection {self.name!r} states no price beforehand"
        raise PrivacyError(text, kind="guarantee", remedy="see the statement of a release")

    def expected_precision(
        self, plan: SynthesisPlan, *, n: int, m: int = 20, n_syn: int | None = None
    ) -> Printable:
        """Say how much longer intervals get by what this protection does."""
        del plan, n, m, n_syn
        mend = Words("noise in the answers does: give {noise}", noise=NOISE)
        text = f"protection {self.name!r} foresees no precision"
        raise PrivacyError(text, kind="guarantee", remedy=mend)

    def rehearsal(self) -> Self:
        """Make the twin that may be seeded and marks everything void, for public tables."""
        raise PrivacyError(
            f"protection {self.name!r} has no rehearsal, which is for noise in the answers",
            kind="guarantee",
            remedy=Words("give {noise}", noise=NOISE),
        )

    # -- the fit -------------------------------------------------------------------------------------------

    def check_request(self, *, answers: object, noise_seed: object) -> None:
        """Refuse arguments of ``fit`` that do not apply."""
        if answers is not None or noise_seed is not None:
            raise PlanError(
                Words("answers and noise_seed belong to noise in the answers: {noise}", noise=NOISE),
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

    def price_of_fit(self) -> Guarantee | None:
        """Give what a fit itself costs, from settings alone; None where it costs nothing.

        One that names a price reserves it from ``request.spending`` before it draws noise, and settles it.
        """
        if self.spends == "at the fit":
            raise PrivacyError(
                f"protection {self.name!r} states no price beforehand, which a ledger needs", kind="ledger"
            )
        return None

    def account(self, plan: SynthesisPlan, *, n: int) -> Account:
        """Open the account that every draw is charged to; what has no price is refused here."""
        del plan, n
        return Account(unit=self.unit)

    def fit(self, plan: SynthesisPlan, request: FitRequest) -> Fit:
        """Fit every step through the curator; the rows are dropped when it returns."""
        ...

    def fit_units(self, plan: SynthesisPlan, request: FitRequest) -> tuple[Fit, ...]:
        """Fit a plan of whole units: what stands for all of it, then each of its tables."""
        del plan, request
        raise no_units(self.name)

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

    def watch(self, plan: SynthesisPlan) -> Watch | None:
        """Give what looks at copies that are drawn piece by piece and then adds to their tags what it saw.

        For protections whose :meth:`tags` reads the copies; of the others nothing need be watched.
        """
        del plan
        return None

    def spent(self, plan: SynthesisPlan, fit: Fit, account: Account) -> Guarantee | None:
        """Give what an agency's ledger records as spent so far; None where nothing is promised."""
        statement = self.statement(plan, fit, account)
        return None if statement.status in ("none", "void") else statement.guarantee

    def bound(self, statement: PrivacyStatement, delta: float) -> float | None:
        """Give the advantage that an evaluation may quote as the most of any attack; None without a proof.

        Notes
        -----
        Privacy: public constants; true minus false positives of a membership attack.
        """
        if statement.status in ("none", "void"):
            return None
        return most_advantage(statement.guarantee.epsilon(delta), delta)


@dataclass(frozen=True, repr=False)
class SynthesisPlan(Budgeted, Printable):
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
    to_screen : tuple of str
        Labels of the steps for which a fit that learns looks for products and curves.
    max_predictors : int, optional
        Predictors that the fit chooses for such a column, if more columns stand before it.
    order : str
        What the visit sequence is by, in words.
    draws : {"even", "independent"} or None
        How rows are drawn; None where that depends on how copies get their parameters.
    derived : tuple of Derived
        Columns that are computed from others by an expression, each after those that it needs.
    rules : tuple of Rule
        Conditions that every row of a copy keeps; what breaks one is drawn again.
    recoded : tuple of str
        Columns with a rounding or a top code that were asked for.
    counted : tuple of Counted
        Columns that are drawn as another one and the distance from it, because a rule puts them behind it.
    design : Design, optional
        Weights, strata and clusters of the sample.
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
    to_screen: tuple[str, ...] = ()
    max_predictors: int | None = None
    order: str = "as asked"
    draws: Evenness | None = "independent"
    derived: tuple[Derived, ...] = ()
    rules: tuple[Rule, ...] = ()
    recoded: tuple[str, ...] = ()
    counted: tuple[Counted, ...] = ()
    design: Design | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """Every modelled part: kept columns that can predict first, then in visit order.

        Of what is derived, those that later columns are drawn from.
        """
        visited = without_silent(self.visit_sequence, self.derived)
        names = (*predicting(self.schema, self.keep), *visited)
        return tuple(part for name in names for part in parts_of(self.schema[name]))

    @property
    def tables(self) -> tuple[SynthesisPlan, ...]:
        """Plans of the tables that are fitted: this one alone, where rows do not belong together."""
        return (self,)

    @property
    def methods(self) -> dict[str, str]:
        """Method of each column, as a user names it."""
        drawn = {part.column: step.model.name for step in self.steps for part in step.targets}
        made = [own.column for own in self.derived if not own.corrects]
        apart = {**dict.fromkeys(self.serials, SERIAL), **dict.fromkeys(made, DERIVED)}
        return {**dict.fromkeys(self.keep, KEPT_REAL), **drawn, **apart}

    @property
    def predictor_matrix(self) -> pd.DataFrame:
        """1 where the row's column is drawn from the column's."""
        return predictor_matrix(self.schema.names, self.steps, self.protection.given(self), self.derived)

    @property
    def formulas(self) -> tuple[str, ...]:
        """One formula a step: given back as ``formulas=``, they make a plan with these very terms."""
        return written_formulas(self.steps, self.protection.given(self))

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
        facts: list[tuple[str, Cell]] = [("columns", len(self.schema)), ("order", self.order)]
        facts.append(("parameters", self.protection.parameters(self)))
        facts += design_facts(self.design)
        facts += [("rows", "drawn evenly")] if self.draws == "even" else []
        main = Setting("terms", "main")
        facts += [("terms", Words("screened at the fit ({main}: not)", main=main))] if self.to_screen else []
        facts += [(label, ", ".join(names)) for label, names in named if names]
        facts += [("nested", each) for each in self._nested()]
        facts += [("fitted apart in", ", ".join(self.strata))] if self.strata else []
        made = placed(self.derived, self.visit_sequence)
        facts += exact_facts(self.schema, self.recoded, self.counted, self.rules)
        if self.max_predictors is not None and len(self.schema) > self.max_predictors + 1:
            facts.append(("predictors left open", f"at most {self.max_predictors} a column, chosen"))
        first = predicting(self.schema, self.keep)
        return plan_table(self.steps, self._shown(), first=first, facts=facts, derived=made)

    @property
    def strata(self) -> tuple[str, ...]:
        """Columns in whose levels models are fitted apart."""
        return next((step.within for step in self.steps if step.within and not step.nested), ())

    def _nested(self) -> tuple[str, ...]:
        """Say which columns are nested in which."""
        pairs = ((step.label, step.within[0]) for step in self.steps if step.nested)
        return tuple(f"{fine} within {coarse}" for fine, coarse in pairs)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a step as a DataFrame, indexed by its number, with every predictor of it."""
        return plan_frame(self.steps, self._given(), self.derived)

    def _given(self) -> list[tuple[str, ...]]:
        """Terms of each step, as the protection gives them."""
        return [tuple(map(term_text, terms)) for terms in self.protection.given(self)]

    def _shown(self) -> list[tuple[str, ...]]:
        """Terms of each step as the card says them: found ones without the names of levels."""
        pairs = zip(self.steps, self.protection.given(self), strict=True)
        found = self.to_screen
        return [
            shown_terms(terms) if step.label in found else tuple(map(term_text, terms))
            for step, terms in pairs
        ]
