"""One step of a plan: a model, what it fills and what it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from pysynthdp.design.cells import cell_ends
from pysynthdp.design.parts import Part, parts_of
from pysynthdp.models.base import ColumnModel, Target
from pysynthdp.plan.factors import KIND, Terms, columns_of, formula_name, formula_text
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema

__all__ = ["Method", "Step", "predicting", "target_of", "written_formulas"]

Method: TypeAlias = str | ColumnModel


@dataclass(frozen=True, slots=True)
class Step:
    """One model and what it fills.

    Parameters
    ----------
    targets : tuple of Part
        One part; several for a joint model.
    model : ColumnModel
        Settings of the model.
    terms : tuple of tuple of str or Factor
        Column names, one tuple a term; several names are an interaction, a repeated name is a power. A factor
        is a curve of a number, or one level.
    tested : tuple of str
        Columns among which the fit tested all products of two, and every curve of a number, before it settled
        the terms; empty where it tested none.
    within : tuple of str
        Columns by whose levels the rows are parted; the model is fitted in each part by itself.
    nested : bool
        Whether the target's levels belong to those of the one column in ``within``.
    """

    targets: tuple[Part, ...]
    model: ColumnModel
    terms: Terms
    tested: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    nested: bool = False

    @property
    def predictors(self) -> tuple[str, ...]:
        """Columns that the step reads, each once."""
        return columns_of(self.terms)

    @property
    def label(self) -> str:
        """Name for messages and progress."""
        return ", ".join(part.label for part in self.targets)


def target_of(part: Part, column: Column) -> Target:
    """Tell a model the public facts about a part."""
    decimals = lower = upper = None
    if isinstance(column, NumericColumn) and part.role == "value":
        decimals, lower, upper = column.decimals, column.lower, column.upper
    kind = "categorical" if part.levels else "numeric"
    ordered = part.ordered and isinstance(column, CategoricalColumn)
    plain = Target(part.label, kind, len(part.levels), ordered, decimals, lower, upper)  # type: ignore[arg-type]
    if not (part.edges and isinstance(column, NumericColumn)):
        return plain
    return replace(plain, kind="numeric", cells=cell_ends(part.edges, column))


def predicting(schema: Schema, names: Iterable[str]) -> tuple[str, ...]:
    """Columns that have values to model: not identifiers, not columns that are missing throughout."""
    return tuple(name for name in names if any(part.role == "value" for part in parts_of(schema[name])))


def written_formulas(steps: Sequence[Step], given: Sequence[Terms]) -> tuple[str, ...]:
    """Write what steps are given as formulas; a joint model is given nothing.

    Examples
    --------
    >>> from pysynthdp.models.base import COLUMN_MODELS
    >>> step = Step((Part("my pay", "kind", ("value", "NA")),), COLUMN_MODELS["logreg"](), ())
    >>> written_formulas([step], [(("age",), ("age", "age"))])
    ('`my pay` (kind) ~ age + I(age ** 2)',)
    """
    return tuple(_written(steps, given))


def _written(steps: Sequence[Step], given: Sequence[Terms]) -> Iterator[str]:
    """Write one formula a step of one part."""
    for step, terms in zip(steps, given, strict=True):
        if len(step.targets) == 1:
            part = step.targets[0]
            left = f"{formula_name(part.column)}{KIND if part.role == 'kind' else ''}"
            yield f"{left} ~ {' + '.join(map(formula_text, terms)) or '1'}"
