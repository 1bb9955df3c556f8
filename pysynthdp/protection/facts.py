"""Sentences for a statement: what was declared, and what was learned from the confidential data."""

from __future__ import annotations

from pysynthdp.plan import SynthesisPlan
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn

__all__ = ["learned_facts", "public_facts"]


def public_facts(plan: SynthesisPlan, *, n_public: bool) -> list[str]:
    """Facts that the user declared; the number of rows only where neighbours share it.

    Notes
    -----
    Privacy: settings only.
    """
    rows = "of the confidential table and " if n_public else ""
    facts = [f"the number of rows {rows}of a copy, and the number of copies"]
    for column in plan.schema:
        if column.declared:
            facts.append(f"{column.name}: type, levels or bounds, and codes, as declared")
        elif declared := _declared_facts(column):
            facts.append(f"{column.name}: {' and '.join(declared)}, as declared")
    return facts


def _declared_facts(column: Column) -> list[str]:
    """Name what the user declared of a column whose schema is inferred."""
    facts = ["codes"] if column.missing else []
    if isinstance(column, NumericColumn):
        facts += ["spikes"] if column.spikes and not column.learned_spikes else []
        facts += ["bounds"] if column.lower is not None or column.upper is not None else []
    return facts


def learned_facts(plan: SynthesisPlan) -> list[str]:
    """Facts that were learned from the confidential data, beside the models' parameters.

    Notes
    -----
    Privacy: the facts themselves; for the statement of a release without a guarantee.
    """
    open_columns = [column for column in plan.schema if not column.declared]
    numeric = [column.name for column in open_columns if isinstance(column, NumericColumn)]
    absent = [column.name for column in open_columns if column.may_be_missing]
    facts = [f"types and decimals of {', '.join(numeric)}"] if numeric else []
    facts += [
        f"spikes of {c.name}: {', '.join(map(_written, c.spikes))}"
        for c in open_columns
        if isinstance(c, NumericColumn) and c.learned_spikes
    ]
    facts += [
        f"levels of {c.name}: {', '.join(map(_written, c.levels))}"
        for c in open_columns
        if isinstance(c, CategoricalColumn) and c.levels
    ]
    facts += [f"that values may be missing in {', '.join(absent)}"] if absent else []
    if any(isinstance(column, NumericColumn) for column in plan.schema):
        facts.append(
            "of every number whose records are not released: averages of five or more records, after its "
            "largest and smallest value were replaced by what the others let one expect"
        )
    return [*facts, "the parameters of every column's model"]


def _written(value: object) -> str:
    """Write a level or spike in full; whole numbers without a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
