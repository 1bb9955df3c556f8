"""No formal guarantee: everything may be learned from the rows, and the statement says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.base.even import Evenness
from pysynthdp.base.marks import DERIVED, KEPT_REAL, SERIAL
from pysynthdp.base.words import GUARANTEE, Words
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.choose import all_steps
from pysynthdp.plan.fit import Fit
from pysynthdp.plan.protection import PROTECTIONS, FitRequest, Price, Protection, Wishes
from pysynthdp.plan.step import Step
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.statements.column import ColumnStatement
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.protection.exact import PlainCopies, fit_exactly
from pysynthdp.protection.facts import few_facts, learned_facts, public_facts
from pysynthdp.schema import Schema

__all__ = ["Unprotected"]

_KEPT = "its real values are released as they are, because 'keep' asked for it"
_REBUILT = "replicate weights made anew from the columns of the design, which are released as they are"
_SERIAL = "running numbers that do not depend on any record"
_DERIVED = "computed from other columns of the copy, by the expression in the plan"
_EMITTED = "its copies repeat values of real records, because emit_original asked for it"
_EVEN = "; rows are drawn evenly, which reproduces fitted margins sharply"
_HELD = "its model was handed whole rows and may repeat them"


@PROTECTIONS.register
@dataclass(frozen=True, slots=True)
class Unprotected(Protection):
    """Nothing formal is promised; what ``guarantee=None`` means.

    Notes
    -----
    Privacy: reads real rows; the release's statement says ``none`` and why.
    """

    name: ClassVar[str] = "none"
    forms: ClassVar[tuple[str, ...]] = ("none",)
    learns: ClassVar[bool] = True
    draws: ClassVar[Evenness | None] = "even"
    draws_evenly: ClassVar[bool] = True
    redraws: ClassVar[bool] = True

    @classmethod
    def from_short(cls, asked: object) -> Self | None:
        """Nothing asked for."""
        return cls() if asked is None else None

    @classmethod
    def from_plain(cls, given: Mapping[str, Any], at: str) -> Self:
        """``{name = "none"}``."""
        if set(given) != {"name"}:
            raise PlanError(
                f'{at}: name = "none" has no settings',
                kind="guarantee",
                remedy="leave them out, or ask for a guarantee",
            )
        return cls()

    def to_plain(self) -> dict[str, Any]:
        """Write what :meth:`from_plain` reads."""
        return {"name": self.name}

    def steps(self, schema: Schema, wishes: Wishes) -> Sequence[Step]:
        """List the steps in visit order."""
        return all_steps(schema, wishes, learns=True)

    def price(self, plan: SynthesisPlan, *, n: int, n_syn: int | None = None, m: int = 5) -> Price:
        """Refuse: nothing is claimed that could have a price."""
        del plan, n, n_syn, m
        raise PrivacyError(
            "the plan asks for no guarantee, so it has no price",
            kind="guarantee",
            remedy=Words("give {guarantee}", guarantee=GUARANTEE),
        )

    def check_imputed(self) -> None:
        """Nothing is promised, so nothing is spent twice."""

    def fit(self, plan: SynthesisPlan, request: FitRequest) -> Fit:
        """Fit every step to exact answers."""
        return fit_exactly(plan, request, source=PlainCopies(plan.proper, plan.draws == "even"))

    def holds(self, plan: SynthesisPlan, fit: Fit) -> str:
        """Parameters, or real values."""
        real = dict.fromkeys((*plan.keep, *plan.real_values, *fit.rows_held))
        if real:
            return f"REAL values of {', '.join(real)}: keep the fit as the table itself"
        return (
            "parameters without any protection, which can tell of single records: as confidential as a table "
            "of estimates"
        )

    def statement(self, plan: SynthesisPlan, fit: Fit, account: Account) -> PrivacyStatement:
        """State that there is no guarantee, and why, column by column."""
        why = _first_reason(plan, fit)
        even = _EVEN if plan.draws == "even" else ""
        return PrivacyStatement.none(
            [_column_statement(column.name, plan, fit) for column in plan.schema],
            reason=f"the column models are fitted to the confidential data without noise; {why}{even}",
            public=public_facts(plan, n_public=True),
            learned=[
                *learned_facts(plan, rare=fit.rare, merged=fit.merged, chosen=fit.chosen),
                *few_facts(plan, fit),
            ],
            draws=[(draw.n_syn, draw.copies) for draw in account.draws],
        )


def _column_statement(name: str, plan: SynthesisPlan, fit: Fit) -> ColumnStatement:
    """Give one column's method and reason."""
    if name in plan.keep:
        return ColumnStatement(name, KEPT_REAL, "none", _REBUILT if name in _rebuilt(plan) else _KEPT)
    if name in plan.serials:
        return ColumnStatement(name, SERIAL, "none", _SERIAL)
    if plan.methods.get(name) == DERIVED:
        return ColumnStatement(name, DERIVED, "none", _DERIVED)
    steps = [step for step in plan.steps if any(part.column == name for part in step.targets)]
    reasons = dict.fromkeys(step.model.reason for step in reversed(steps))
    if name in plan.real_values:
        reasons[_EMITTED] = None
    elif name in fit.rows_held:
        reasons[_HELD] = None
    return ColumnStatement(name, plan.methods.get(name, "constant"), "none", "; ".join(reasons))


def _rebuilt(plan: SynthesisPlan) -> tuple[str, ...]:
    """Name the replicate weights that are made anew."""
    return () if plan.design is None else plan.design.rebuilt


def _first_reason(plan: SynthesisPlan, fit: Fit) -> str:
    """Name what is released real; else give the reason of the first column for an example."""
    kept = [name for name in plan.keep if name not in _rebuilt(plan)]
    loud = [f"REAL values of {', '.join(kept)} are released, record by record"] if kept else []
    if plan.real_values:
        loud.append(f"copies repeat values of real records in {', '.join(plan.real_values)} (emit_original)")
    held = [name for name in fit.rows_held if name not in plan.real_values]
    if held:
        loud.append(f"the models of {', '.join(held)} were handed whole rows and may repeat them")
    if loud:
        return "; ".join(loud)
    first = plan.steps[0] if plan.steps else None
    return "nothing is modelled" if first is None else f"for example, in {first.label} {first.model.reason}"
