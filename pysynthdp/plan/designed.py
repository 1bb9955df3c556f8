"""The part of a survey's design in a plan: who is a predictor of every column, and what the card says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pysynthdp.base.display import Cell
from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Setting, Words
from pysynthdp.plan.factors import Factor, Terms, column_of
from pysynthdp.plan.formulas import Formulas
from pysynthdp.plan.order import Behind
from pysynthdp.plan.step import Step
from pysynthdp.plan.terms import check_known
from pysynthdp.schema import CategoricalColumn, Column, Design, NumericColumn, Schema
from pysynthdp.schema.survey_design import by_level

__all__ = [
    "MOST_UNITS",
    "check_weight",
    "design_details",
    "design_facts",
    "design_terms",
    "design_words",
    "last_of_all",
    "released_schema",
    "silent",
    "stand_ins",
    "stays_real",
    "with_design_terms",
    "without_stand_ins",
]

MOST_UNITS: Final = 200  # sampling units up to which each has a feature of its own in every model


def design_terms(design: Design | None, schema: Schema) -> Terms:
    """Terms that every model has whatever its formula: strata, sampling units, the logarithm of the weight.

    Parameters
    ----------
    design : Design, optional
        Of which real columns are predictors.
    schema : Schema
        Whose levels say how many sampling units there are.
    """
    if design is None or design.how != "keep":
        return ()
    terms: list[tuple[str | Factor, ...]] = []
    if design.strata is not None and _has_levels(schema, design.strata):
        terms.append((design.strata,))
    if design.psu is not None and _has_levels(schema, design.psu, most=MOST_UNITS):
        terms.append((design.psu,))
    if design.weight is not None:
        terms.append((Factor(design.weight, "log"),))
    return tuple(terms)


def _has_levels(schema: Schema, name: str, *, most: float = float("inf")) -> bool:
    """Whether a column has two levels or more, and no more than some number."""
    column = schema[name]
    return isinstance(column, CategoricalColumn) and 2 <= len(column.levels) <= most


def silent(design: Design | None, schema: Schema) -> frozenset[str]:
    """Columns of a design that predict nothing by themselves: a size, a weight, too many sampling units."""
    if design is None:
        return frozenset()
    told = {term[0] for term in design_terms(design, schema)}
    return frozenset(name for name in design.real if name not in told)


def with_design_terms(asked: Formulas, always: Terms) -> Formulas:
    """Put the terms of a design before those of every column and of every kind."""
    if not always:
        return asked
    columns = {name: _put_first(terms, always) for name, terms in asked.columns.items()}
    kinds = {name: _put_first(terms, always) for name, terms in asked.kinds.items()}
    return replace(asked, columns=columns, kinds=kinds)


def _put_first(terms: Terms, always: Terms) -> Terms:
    """Put terms first, each once."""
    return tuple(dict.fromkeys((*always, *terms)))


def stays_real(design: Design | None) -> bool:
    """Whether copies have a survey's design as it really is, so that variances rest on their residuals."""
    return design is not None and design.how == "keep"


def stand_ins(steps: Sequence[Step], always: Terms) -> tuple[Step, ...]:
    """Let whole columns stand for the terms of a design, where more terms are looked for."""
    if not always:
        return tuple(steps)
    return tuple(replace(step, terms=_plain(step.terms, always)) for step in steps)


def _plain(terms: Terms, always: Terms) -> Terms:
    """Write curves of a design as their columns."""
    curved = {term for term in always if isinstance(term[0], Factor)}
    return tuple(dict.fromkeys((column_of(term[0]),) if term in curved else term for term in terms))


def without_stand_ins(steps: Sequence[Step], always: Terms) -> tuple[Step, ...]:
    """Put the terms of a design back in the place of the columns that stood for them."""
    if not always:
        return tuple(steps)
    gone = {(column_of(term[0]),) for term in always if isinstance(term[0], Factor)}
    return tuple(
        replace(step, terms=_put_first(tuple(term for term in step.terms if term not in gone), always))
        if step.terms
        else step
        for step in steps
    )


def check_weight(design: Design | None, schema: Schema, order: Sequence[str]) -> None:
    """Refuse a drawn weight that is no number or not the last column, and totals of what has no such levels.

    Raises
    ------
    PlanError
        Names the column.
    """
    if design is None or design.how != "synthesise" or design.weight is None:
        return
    weight = design.weight
    check_known(design.columns, set(schema.names), "design")
    if not isinstance(schema[weight], NumericColumn):
        what = Words("{name} is the weight of the design, and is declared as levels", name=weight)
        raise PlanError(what, column=weight, kind="design", remedy="declare it as a number")
    if order and order[-1] != weight:
        what = Words("{name} is a weight, which is drawn last, given all others", name=weight)
        last = Setting("visit_sequence", [..., weight])
        mend = Words("put it last in {order}, or leave that out", order=last)
        raise PlanError(what, column=weight, kind="design", remedy=mend)
    for name, totals in design.totals.items() if isinstance(design.totals, Mapping) else ():
        check_known([name], set(schema.names), "totals of design")
        _check_totals(schema[name], totals)


def _check_totals(column: Column, totals: Mapping[Any, float]) -> None:
    """Refuse totals that are not those of a column's levels."""
    levels = column.levels if isinstance(column, CategoricalColumn) else ()
    if not levels or len(by_level(totals, levels)) != len(totals) or len(totals) != len(levels):
        what = Words("totals of {name} are not one for each of its levels", name=column.name)
        mend = "declare one a level, and none of what is no level of a column of levels"
        raise PlanError(what, column=column.name, kind="design", remedy=mend)


def last_of_all(behind: Behind, design: Design | None, names: Iterable[str]) -> Behind:
    """Have a weight that is drawn stand behind all others."""
    if design is None or design.how != "synthesise" or design.weight is None:
        return behind
    return replace(behind, somewhere={**behind.somewhere, design.weight: tuple(names)})


def released_schema(schema: Schema, design: Design | None) -> Schema:
    """Give the schema of copies: weights that were moved to totals have no bounds and no decimals."""
    if design is None or design.how != "synthesise" or design.weight is None:
        return schema
    column = schema[design.weight]
    whole = column.dtype is not None and getattr(column.dtype, "kind", "f") in "iu"
    dtype = {"dtype": "float64"} if whole else {}
    return schema.amend(design.weight, lower=None, upper=None, decimals=None, **dtype)


def design_details(design: Design | None) -> dict[str, Any]:
    """Say in the tags of a release which columns hold the design, and what became of it.

    Notes
    -----
    Privacy: settings only.
    """
    if design is None:
        return {}
    there = {role: name for role, name in design.told if name not in design.absent}
    columns = {} if design.how == "population" else there
    told: dict[str, Any] = {"how": design.how, "columns": columns, "new names": [*design.renamed]}
    if design.rebuilt:
        told["replicates"] = {"kind": design.rebuild, "columns": [*design.rebuilt]}
    return {"design": told}


def design_words(design: Design) -> str:
    """Say in a statement what became of a design; empty where the columns that stay real say it."""
    if design.how == "synthesise":
        return (
            f"the weight {design.weight} is drawn and moved to declared public totals, so that the variance "
            "within a copy is not that of the survey's design"
        )
    if design.how == "population":
        return (
            f"the models are fitted to simple random samples of {design.populations} synthetic populations, "
            "which are made of the records by their weights; no row of a population is released"
        )
    if design.rebuilt:
        return (
            f"the replicate weights {', '.join(design.rebuilt)} are made anew of the design that stays real"
        )
    if design.renamed:
        return f"the names in {', '.join(design.renamed)} are new ones, the groups are the real ones"
    return ""


def design_facts(design: Design | None) -> tuple[tuple[str, Cell], ...]:
    """Say what a plan does with a design."""
    if design is None:
        return ()
    roles = ", ".join(f"{role} {name}" for role, name in design.told)
    ways = {
        "keep": "kept real; strata and the logarithm of the weight are predictors of every column",
        "synthesise": "the weight is drawn last, and moved to the declared totals",
        "population": "models are fitted to samples of synthetic populations",
    }
    return (("design", roles), ("what becomes of it", ways[design.how]))
