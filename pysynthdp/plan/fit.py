"""What a fit of a plan is given, and what it is: steps that draw, the source of each copy's parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, Self, TypeAlias

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray, IntArray
from pysynthdp.base.errors import FitError, PysynthdpError
from pysynthdp.base.remarks import Remark
from pysynthdp.base.streams import NumpySampler
from pysynthdp.base.words import Words
from pysynthdp.design.encode import Layout, Scale, StepDesign
from pysynthdp.design.gates import Gates
from pysynthdp.design.groups import LevelGroups
from pysynthdp.design.parts import Part
from pysynthdp.design.rows import Rows
from pysynthdp.design.within import Within
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan.checked import FitCheck
from pysynthdp.plan.step import Step
from pysynthdp.privacy.ledger import Ledger
from pysynthdp.privacy.spending import Spending

__all__ = ["CopyParameters", "CopySource", "DrawnStep", "Fit", "FitRequest", "Key", "StandIns", "named"]

Key: TypeAlias = tuple[str, str]
CopyParameters: TypeAlias = Literal["drawn", "fitted"]


class StandIns(Protocol):
    """Draws rows from a fit while the real table is still there."""

    def __call__(
        self, plan: Any, fit: Fit, *, rows: int, pieces: int, workers: int
    ) -> Iterator[tuple[int, Mapping[Key, AnyArray]]]:
        """Yield the number of a piece and the parts of one block of it."""
        ...


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
    stand_ins : StandIns or None
        Draws rows from the fit, for it to look at; None for no look.
    spending : Spending or None
        Where a protection that spends at the fit reserves its price, before noise is drawn, and settles it
        when the answers are kept; None where nobody keeps a ledger.
    counts : array (rows,) or None
        How often a sample of a synthetic population has each row, to which models are fitted, or how much the
        row of a survey weighs; None where each counts once.

    Notes
    -----
    Privacy: passes the confidential table on; nobody but the curator reads it.
    """

    rows: Rows | None
    workers: int = 1
    progress: bool | None = None
    answers: Path | None = None
    noise_seed: int | None = None
    stand_ins: StandIns | None = None
    spending: Spending | None = None
    counts: IntArray | FloatArray | None = None


@dataclass(frozen=True, slots=True, repr=False)
class DrawnStep:
    """A step that can draw.

    Parameters
    ----------
    targets : tuple of Part
        What it fills.
    model : ColumnModel
        Settings.
    design : StepDesign
        Its features.
    scale : Scale
        Of the target, where the model was fitted in scaled units.
    params : object
        Fitted parameters; None when the target was there in no row.
    holds_rows : bool
        Whether the model was handed whole rows, so that its parameters may hold them.
    groups : LevelGroups, optional
        How drawn groups of levels are split, where some levels have fewer than five records.
    chosen : bool
        Whether the rows decided between this model and another.
    gates : Gates, optional
        Levels that never occur together with levels of earlier parts.
    within : Within, optional
        Which of several models a row is drawn by, where the step was fitted apart in groups of rows.
    inside : tuple of DrawnStep
        These models, one a group.
    """

    targets: tuple[Part, ...]
    model: ColumnModel
    design: StepDesign
    scale: Scale
    params: Any
    holds_rows: bool = False
    groups: LevelGroups | None = None
    chosen: bool = False
    gates: Gates | None = None
    within: Within | None = None
    inside: tuple[DrawnStep, ...] = ()

    @property
    def each(self) -> tuple[DrawnStep, ...]:
        """The step itself, or the models of its groups."""
        return self.inside or (self,)

    @property
    def label(self) -> str:
        """Name for messages."""
        return ", ".join(part.label for part in self.targets)

    def draw(self, params: Any, X: FloatArray, sampler: NumpySampler) -> FloatArray:
        """Draw one value for each row of the wide X; (rows, targets) for a joint model."""
        groups = self.groups
        if isinstance(params, _Redrawn):
            params, groups = params.params, params.groups
        values = self._values(params, X, sampler)
        return values if groups is None else groups.split(values, sampler.uniform(len(X)))

    def _values(self, params: Any, X: FloatArray, sampler: NumpySampler) -> FloatArray:
        """Draw what the model was fitted to: numbers, or groups of levels."""
        if params is None or not len(X):
            return np.full(len(X), self.scale.centre)
        with named(self.label, self.model, "draw"):
            features = self.design.take(X)
            values = self.model.draw(params, features, sampler.along(features))
        if self.scale != Scale():
            values *= self.scale.width
            values += self.scale.centre
        return values

    def redrawn(self, rng: np.random.Generator) -> Any:
        """Draw the parameters from their posterior, and with them the shares of grouped levels."""
        if self.inside:
            return tuple(inner.redrawn(rng) for inner in self.inside)
        params = self._redrawn(rng)
        return params if self.groups is None else _Redrawn(params, self.groups.redrawn(rng))

    def _redrawn(self, rng: np.random.Generator) -> Any:
        """Draw the model's parameters."""
        if self.params is None:
            return None
        with named(self.label, self.model, "redraw its parameters"):
            return self.model.redraw(self.params, rng)


@dataclass(frozen=True, slots=True, repr=False)
class _Redrawn:
    """Drawn parameters of a model of groups, with the drawn shares of their levels."""

    params: Any
    groups: LevelGroups


class named:  # noqa: N801 -- reads as a clause: with named(...)
    """Give what a model raises the name of its column; the original text may quote data and stays out.

    Parameters
    ----------
    label : str
        The step's.
    model : ColumnModel
        At work.
    what : str
        What it could not do.
    """

    __slots__ = ("_label", "_model", "_what")

    def __init__(self, label: str, model: ColumnModel, what: str) -> None:
        self._label, self._model, self._what = label, model, what

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: object
    ) -> None:
        if not isinstance(problem, Exception) or isinstance(problem, PysynthdpError):
            return
        text = "{label}: the '{method}' model could not {what} ({problem})"
        problem_type = type(problem).__name__
        raise FitError(
            Words(text, label=self._label, method=self._model.name, what=self._what, problem=problem_type),
            column=self._label,
            kind="method",
            remedy="choose another method for it",
        ) from None


class CopySource(Protocol):
    """Where each copy gets its parameters and its random numbers."""

    def parameters(
        self, steps: Sequence[DrawnStep], root: np.random.SeedSequence | None, copy: int
    ) -> Sequence[Any]:
        """Give the parameters of one copy, one a step."""
        ...

    def sampler(self, source: np.random.Generator) -> NumpySampler:
        """Make the sampler of one block of one step on its stream."""
        ...

    def keeps_bounds(self, model: ColumnModel) -> bool:
        """Whether drawn numbers are cut to their declared bounds."""
        ...

    def sharing(self, parameters: CopyParameters | None) -> Self:
        """Draw parameters for each copy, or share the fitted ones; None leaves it as it is."""
        ...

    @property
    def ledger(self) -> Ledger:
        """Every noisy answer that the fit asked; empty where none was."""
        ...


@dataclass(frozen=True, slots=True, repr=False)
class Fit:
    """A fitted plan: everything that drawing needs, and no record but those asked for by name.

    Parameters
    ----------
    layout : Layout
        Where features lie.
    steps : tuple of DrawnStep
        In drawing order.
    source : CopySource
        Of each copy's parameters and random numbers.
    n : int
        Rows of the confidential table, as far as they may be known.
    kept : mapping key -> array (n,)
        Parts of the columns that are released real.
    kept_columns : mapping column -> Series
        Those columns themselves, in the rows' order.
    remarks : tuple of Remark
        What the fit has to say of columns, to whoever holds the data; never any under a guarantee.
    merged : tuple of str
        Columns whose rare levels were merged before the fit.
    learned : tuple of Step
        The plan's steps as the fit completed them: predictors and terms that it chose where the plan leaves
        them open. Empty where it chose none.
    check : FitCheck or None
        What the fit saw when it looked at rows drawn from itself; never any under a guarantee, and stored
        nowhere.
    strata : tuple of str
        The strata that were fitted by themselves; all others were fitted together.
    """

    layout: Layout
    steps: tuple[DrawnStep, ...]
    source: CopySource
    n: int
    kept: Mapping[Key, AnyArray] = field(default_factory=dict)
    kept_columns: Mapping[str, pd.Series[Any]] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    merged: tuple[str, ...] = ()
    learned: tuple[Step, ...] = ()
    check: FitCheck | None = None
    strata: tuple[str, ...] = ()

    @property
    def rare(self) -> tuple[str, ...]:
        """Columns with levels that fewer than five records have."""
        parts = (part for step in self.steps if step.groups is not None for part in step.targets)
        return tuple(dict.fromkeys(part.column for part in parts if part.role == "value"))

    @property
    def chosen(self) -> tuple[str, ...]:
        """Columns whose model the rows decided."""
        parts = (part for step in self.steps if step.chosen for part in step.targets)
        return tuple(dict.fromkeys(part.column for part in parts))

    @property
    def rows_held(self) -> tuple[str, ...]:
        """Columns whose models were handed whole rows."""
        holding = (part.column for step in self.steps if step.holds_rows for part in step.targets)
        return tuple(dict.fromkeys(holding))
