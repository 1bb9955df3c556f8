"""The part of a survey's design in a plan: who is a predictor of every column, and what the card says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from pysynthdp.base.display import Cell
from pysynthdp.plan.factors import Factor, Terms, column_of
from pysynthdp.plan.formulas import Formulas
from pysynthdp.plan.step import Step
from pysynthdp.schema import CategoricalColumn, Design, Schema

__all__ = [
    "MOST_UNITS",
    "design_details",
    "design_facts",
    "design_terms",
    "silent",
    "stand_ins",
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


def design_details(design: Design | None) -> dict[str, Any]:
    """Say in the tags of a release which columns hold the design, and what became of it.

    Notes
    -----
    Privacy: settings only.
    """
    if design is None:
        return {}
    return {"design": {"how": design.how, "columns": dict(design.told), "new names": [*design.renamed]}}


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
