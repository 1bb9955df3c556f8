"""How is a table protected? One question and one object that answers it, whatever the answer is.

A plan holds one :class:`Protection`. This room declares what it is and knows no implementation: those stand
in ``pysynthdp/protection/``, above curator and drawing, or in any installed package that announces one by an
entry point of the group ``pysynthdp.protections``. Whoever needs to know something of a guarantee asks it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
import pandas as pd

from pysynthdp.base.display import Printable
from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.base.registry import Registry
from pysynthdp.base.streams import RandomSource, root_sequence
from pysynthdp.base.words import GUARANTEE, Said, Words, meant
from pysynthdp.design.rows import Rows
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan.fit import Fit
from pysynthdp.plan.step import Method, Step, Terms
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.schema import Schema
from pysynthdp.tags import ReleaseTags

if TYPE_CHECKING:  # a plan holds its protection, and a protection judges plans
    from pysynthdp.plan.synthesis_plan import SynthesisPlan

__all__ = [
    "PROTECTIONS",
    "UNAUDITED",
    "FitRequest",
    "Price",
    "Protection",
    "Spends",
    "Wishes",
    "protection_named",
    "protection_of",
]

_NOISE: Final = Said(
    "guarantee=ZCDP(rho=...)", 'guarantee = { name = "zcdp", rho = ... }', "guarantee = zcdp(rho = ...)"
)
Spends: TypeAlias = Literal["nothing", "at the fit", "at each draw"]
UNAUDITED = "priced by outside code, unaudited"
_COPIES = 5


class Price(Protocol):
    """What a plan costs, from public constants; printable."""

    @property
    def guarantee(self) -> Guarantee:
        """Of everything that was priced."""
        ...

    def epsilon(self, delta: float | None = None) -> float:
        """Epsilon at a delta; the plan's first by default."""
        ...


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a user asks of the steps, as far as it is known before a record is read.

    Parameters
    ----------
    order : tuple of str
        Columns to draw, in visit order.
    methods : mapping column -> method
        Asked for by name of the column.
    everywhere : method, optional
        Asked for all columns.
    terms : mapping column -> terms
        Of each column in ``order``.
    groups : mapping columns -> model
        Columns drawn together.
    keep : tuple of str
        Columns released as they really are.
    proper : bool
        Draw parameters from their posterior for each copy.
    emit_original : bool
        Re-emit real values.

    Notes
    -----
    Privacy: settings only.
    """

    order: tuple[str, ...]
    methods: Mapping[str, Method]
    everywhere: Method | None
    terms: Mapping[str, Terms]
    groups: Mapping[tuple[str, ...], ColumnModel] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    proper: bool = False
    emit_original: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class FitRequest:
    """What a fit is given beside the plan.

    Parameters
    ----------
    rows : Rows or None
        The confidential table; None only where a protection can do without.
    workers : int
        Threads.
    progress : bool or None
        Whether to show a bar; None where a person looks.
    answers : path or None
        File of noised answers.
    noise_seed : int or None
        Of noise, for testing.

    Notes
    -----
    Privacy: passes the confidential table on; nobody but the curator reads it.
    """

    rows: Rows | None
    workers: int = 1
    progress: bool | None = None
    answers: Path | None = None
    noise_seed: int | None = None


@runtime_checkable
class Protection(Protocol):
    """How a table is protected: asked for by a user, held by the plan, questioned by everybody else.

    An implementation is a frozen dataclass of its own settings that inherits from this class and overrides
    what differs; the defaults here are those of a protection that learns nothing and claims nothing more than
    its statement. It is registered in :data:`PROTECTIONS` under ``name``.

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


PROTECTIONS: Registry[type[Protection]] = Registry(
    "pysynthdp.protection", PlanError, group="pysynthdp.protections"
)


def protection_of(asked: object) -> Protection:
    """Turn what a user gives as ``guarantee=`` into a protection: itself, or by its short form.

    Raises
    ------
    PlanError
        If no protection knows what was given.

    Notes
    -----
    Privacy: a setting; reads nothing.
    """
    if isinstance(asked, Protection) and not isinstance(asked, type):
        return asked
    for name in PROTECTIONS:
        found = PROTECTIONS[name].from_short(asked)
        if found is not None:
            return found
    raise PlanError(
        Words("guarantee cannot be a {type}", type=type(asked).__name__),
        kind="guarantee",
        remedy=Words("give {guarantee}, or leave it out", guarantee=GUARANTEE),
    )


def protection_named(given: Mapping[str, Any], at: str) -> Protection:
    """Take what a plan file or R asks for, by the form that it names.

    Raises
    ------
    PlanError
        For an unknown name; the message lists those there are.
    """
    forms = {form: kind for kind in map(PROTECTIONS.__getitem__, PROTECTIONS) for form in kind.forms}
    name = given.get("name")
    if name not in forms:
        known = ", ".join(f'"{form}"' for form in sorted(forms))
        mend = meant(str(name), forms, "name one of them")
        raise PlanError(f"{at}.name must be one of {known}", kind="guarantee", remedy=mend)
    return forms[name].from_plain(given, at)
