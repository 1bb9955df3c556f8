"""What a column model says of itself, before a row is read."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from pysynthdp.models.base import ColumnModel, Target
from pysynthdp.testing.cases import targets_tried
from pysynthdp.testing.checks import broken, demand

__all__ = ["accepts", "declares_itself", "is_frozen"]

_METHODS = ("accepts", "fit", "redraw", "draw")
_FACTS = (("name", str), ("reason", str), ("real_values", bool))


def declares_itself(model: ColumnModel) -> None:
    """Check that settings are frozen, facts are there, and methods have the parameters that callers use."""
    kind = type(model).__name__
    demand(
        is_frozen(model),
        f"{kind} is no frozen dataclass",
        why="its settings are written into plan files and saved fits, and are compared",
        mend="put @dataclass(frozen=True, slots=True) above the class and name its settings as fields",
    )
    for name, type_ in _FACTS:
        demand(
            isinstance(getattr(model, name, None), type_),
            f"{kind} has no {name} that is a {type_.__name__}",
            why="plans, statements and the registry show it",
            mend=f"write {name}: ClassVar[{type_.__name__}] = ... in the class",
        )
    demand(
        model.reason[:1].islower() and len(model.reason.split()) > 5,
        f"{kind}.reason is {model.reason!r}, which is no part of a sentence",
        why="a privacy statement ends with it: '... no formal guarantee, since <reason>'",
        mend="write in lower case what one record can do to the fit",
    )
    for name in _METHODS:
        _same_parameters(model, name)


def is_frozen(value: Any) -> bool:
    """Whether a value is a dataclass that cannot be changed."""
    return dataclasses.is_dataclass(value) and bool(value.__dataclass_params__.frozen)  # type: ignore[union-attr]


def _same_parameters(model: ColumnModel, name: str) -> None:
    """Check that a method takes what its callers give, in that order."""
    ours = list(inspect.signature(getattr(ColumnModel, name)).parameters)[1:]  # without self
    method = getattr(model, name, None)
    theirs = list(inspect.signature(method).parameters) if callable(method) else None
    demand(
        theirs == ours,
        f"{type(model).__name__}.{name} takes {theirs}, not {ours}",
        why="callers pass these by place or by name",
        mend=f"write def {name}(self, {', '.join(ours)})",
    )


def accepts(model: ColumnModel) -> None:
    """Every target gets True or False, whatever its name."""
    for label, target in targets_tried().items():
        told = {_accepted(model, label, dataclasses.replace(target, name=name)) for name in ("y", "é [x]")}
        demand(
            len(told) == 1 and isinstance(told.pop(), bool),
            f"{type(model).__name__}.accepts says different things of {label}, or neither True nor False",
            why="a plan is made by it, before a record is read",
            mend="decide by the target's kind, levels and bounds alone, and return a bool",
        )


def _accepted(model: ColumnModel, label: str, target: Target) -> object:
    """Ask whether the model draws a target."""
    try:
        return model.accepts(target)
    except Exception as problem:  # noqa: BLE001 -- a model may be anybody's code
        broken(
            f"{type(model).__name__}.accepts raised {type(problem).__name__} for {label} ({problem})",
            why="a plan asks every model about every column",
            mend="return False for what it cannot draw",
        )
