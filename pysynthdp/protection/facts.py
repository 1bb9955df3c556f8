"""Sentences for a statement: what was declared, and what was learned from the confidential data."""

from __future__ import annotations

from collections.abc import Sequence

from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.factors import columns_of
from pysynthdp.plan.fit import Fit
from pysynthdp.plan.step import predicting
from pysynthdp.plan.unit_plan import UnitPlan
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn
from pysynthdp.schema.universe import Universe

__all__ = ["few_facts", "learned_facts", "public_facts"]


def public_facts(plan: SynthesisPlan, *, n_public: bool) -> list[str]:
    """Facts that the user declared; the number of rows only where neighbours share it.

    Notes
    -----
    Privacy: settings only.
    """
    rows = "of the confidential table and " if n_public else ""
    what = "units" if isinstance(plan, UnitPlan) else "rows"
    facts = [f"the number of {what} {rows}of a copy, and the number of copies", *_unit_facts(plan)]
    for column in plan.schema:
        if column.declared:
            facts.append(f"{column.name}: type, levels or bounds, and codes, as declared")
        elif declared := _declared_facts(column):
            facts.append(f"{column.name}: {' and '.join(declared)}, as declared")
    return [*facts, *_kept_facts(plan)]


def _unit_facts(plan: SynthesisPlan) -> list[str]:
    """Say what is declared of units."""
    if not isinstance(plan, UnitPlan):
        return []
    units, most = plan.units, plan.places[-1].places[-1] + 1
    shared = ", ".join(plan.shared) or "no column"
    rows = f"units: rows of one {units.id}, at most {most}, by {units.order}; further rows take no part"
    return [f"{rows}; {shared} of the first row stands for all"]


def _kept_facts(plan: SynthesisPlan) -> list[str]:
    """Say what is exact in every copy because the user asked for it."""
    facts = []
    for column in plan.schema:
        own = column.universe
        if isinstance(own, Universe):
            code = "missing" if own.outside is None else own.outside
            facts.append(f"{column.name}: asked if {own.where}; {code} in all other rows")
        if isinstance(column, NumericColumn) and column.name in plan.recoded:
            facts += (
                [f"{column.name}: larger numbers are written as {column.upper:g}"] if column.topped else []
            )
            facts += [f"{column.name}: multiples of {column.step:g}"] if column.step is not None else []
    declared = (own for own in plan.derived if not own.found)
    facts += [f"{own.column}: computed as {own.expression}" for own in declared]
    rule = "that no row breaks the rule {}: rows that did were drawn again, given what was drawn before"
    return [*facts, *(rule.format(each.text) for each in plan.rules)]


def _declared_facts(column: Column) -> list[str]:
    """Name what the user declared of a column whose schema is inferred."""
    facts = ["codes"] if column.missing else []
    if isinstance(column, NumericColumn):
        facts += ["spikes"] if column.spikes and not column.learned_spikes else []
        facts += ["bounds"] if column.lower is not None or column.upper is not None else []
    return facts


def learned_facts(
    plan: SynthesisPlan,
    *,
    rare: Sequence[str] = (),
    merged: Sequence[str] = (),
    chosen: Sequence[str] = (),
) -> list[str]:
    """Facts that were learned from the confidential data, beside the models' parameters.

    Parameters
    ----------
    plan : SynthesisPlan
        What was fitted.
    rare, merged : sequence of str
        Columns with levels that fewer than five records have, and columns whose such levels were merged.
    chosen : sequence of str
        Columns whose model the rows decided.

    Notes
    -----
    Privacy: the facts themselves; for the statement of a release without a guarantee.
    """
    open_columns = [column for column in plan.schema if not column.declared]
    numeric = [column.name for column in open_columns if isinstance(column, NumericColumn)]
    absent = [column.name for column in open_columns if column.may_be_missing]
    facts = [f"types, decimals and steps of {', '.join(numeric)}"] if numeric else []
    facts += [
        f"spikes of {c.name} ({len(c.spikes)}): {', '.join(map(_written, c.spikes))}"
        for c in open_columns
        if isinstance(c, NumericColumn) and c.learned_spikes
    ]
    facts += [
        f"levels of {c.name} ({len(c.levels)}): {', '.join(map(_written, c.levels))}"
        for c in open_columns
        if isinstance(c, CategoricalColumn) and c.levels
    ]
    forms = [c.name for c in open_columns if isinstance(c, CategoricalColumn) and c.form is not None]
    facts += [f"how the identifiers in {', '.join(forms)} are written"] if forms else []
    facts += [f"that values may be missing in {', '.join(absent)}"] if absent else []
    limited = [c.name for c in open_columns if isinstance(c.universe, Universe) and _only_outside(c.universe)]
    facts += [f"that none is missing where it is asked in {', '.join(limited)}"] if limited else []
    facts += [f"that {own.column} is best drawn as {own.origin} and a distance" for own in plan.counted]
    facts += _chosen(plan)
    facts += _rare([name for name in plan.schema.names if name in rare], merged)
    if any(isinstance(column, NumericColumn) for column in plan.schema):
        facts.append(
            "of every number whose records are not released: averages of five or more records, after its "
            "largest and smallest value were replaced by what the others let one expect"
        )
    screened = [step.label for step in plan.steps if step.label in plan.to_screen and step.terms]
    facts += [f"which products and curves the models of {', '.join(screened)} hold"] if screened else []
    if chosen:
        names = [name for name in plan.schema.names if name in chosen]
        facts.append(f"which of two models draws {', '.join(names)}")
    facts += _parted(plan)
    return [*facts, *_functions(plan), "the parameters of every column's model"]


def _parted(plan: SynthesisPlan) -> list[str]:
    """Say what was learned of groups of rows that models were fitted to apart."""
    facts = [
        f"in which level of {step.within[0]} each level of {step.label} lies"
        for step in plan.steps
        if step.nested
    ]
    if plan.strata:
        facts.append(f"which strata of {', '.join(plan.strata)} have enough records for models of their own")
    return facts


def _rare(rare: Sequence[str], merged: Sequence[str]) -> list[str]:
    """Name the columns with levels of fewer than five records, and those whose such levels were merged."""
    facts = []
    if rare:
        facts.append(
            f"that levels in {', '.join(rare)} have fewer than five records each; copies show that such "
            "records exist and about how many, and of what else these hold only averages over five or more"
        )
    if merged:
        facts.append(f"which levels in {', '.join(merged)} have fewer than five records and were merged")
    return facts


def _functions(plan: SynthesisPlan) -> list[str]:
    """Name the functions of columns that hold in every row, and of which columns others are nearly ones."""
    found = (own for own in plan.derived if own.found)
    facts = [f"of {own.column}, which is computed, that it is {own.expression}" for own in found]
    near = (step for step in plan.steps if step.model.name == "residual")
    of = ((step.label, ", ".join(columns_of(step.terms))) for step in near)
    return facts + [f"of {name}, that it is nearly a function of {others}" for name, others in of]


def _chosen(plan: SynthesisPlan) -> list[str]:
    """Name the columns for which a fit chose predictors, of more that stand before them."""
    before = len(predicting(plan.schema, plan.keep))
    there = {name: before + place for place, name in enumerate(plan.visit_sequence)}
    most = plan.max_predictors or len(plan.schema)
    found = [
        part.column
        for step in plan.steps
        for part in step.targets
        if part.column in plan.left_open and len(step.predictors) == most < there[part.column]
    ]
    names = ", ".join(dict.fromkeys(found))
    return [f"which columns tell most of {names}"] if names else []


def few_facts(plan: SynthesisPlan, fit: Fit) -> list[str]:
    """Name the columns of which no copy has a value, because fewer than five records have one.

    Notes
    -----
    Privacy: read off the fit, which has no parameters for these values.
    """
    names = [part.column for step in fit.steps if step.params is None for part in step.targets]
    columns = [plan.schema[name] for name in names]
    return [
        f"that fewer than five records have a value of {column.name}{_besides(column)}: no copy has one"
        for column in columns
    ]


def _besides(column: Column) -> str:
    """Say which values are not meant."""
    return " besides its spikes" if isinstance(column, NumericColumn) and column.spikes else ""


def _written(value: object) -> str:
    """Write a level or spike in full; whole numbers without a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _only_outside(universe: Universe) -> bool:
    """Whether missing values stand outside a universe alone, which the rows said."""
    return universe.alone and universe.outside is None
