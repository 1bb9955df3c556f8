"""One step of a plan: a model, what it fills and what it reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from pysynthdp.design.parts import Part, parts_of
from pysynthdp.models.base import ColumnModel, Target
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema

__all__ = ["Method", "Step", "Terms", "predicting", "target_of"]

Terms: TypeAlias = tuple[tuple[str, ...], ...]
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
    terms : tuple of tuple of str
        Column names, one tuple a term; several names are an interaction, a repeated name is a power.
    """

    targets: tuple[Part, ...]
    model: ColumnModel
    terms: Terms

    @property
    def predictors(self) -> tuple[str, ...]:
        """Columns that the step reads, each once."""
        return tuple(dict.fromkeys(name for term in self.terms for name in term))

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
    return Target(part.label, kind, len(part.levels), ordered, decimals, lower, upper)  # type: ignore[arg-type]


def predicting(schema: Schema, names: Iterable[str]) -> tuple[str, ...]:
    """Columns that have values to model: not identifiers, not columns that are missing throughout."""
    return tuple(name for name in names if any(part.role == "value" for part in parts_of(schema[name])))
