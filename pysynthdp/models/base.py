"""What a column model is: settings, and three functions of arrays."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np

from pysynthdp._registry import Registry
from pysynthdp._typing import FloatArray
from pysynthdp.errors import PlanError
from pysynthdp.queries import Answer, Query, Sampler

__all__ = ["COLUMN_MODELS", "ColumnModel", "Fit", "FitTask", "Target"]


@dataclass(frozen=True, slots=True)
class Target:
    """The public facts about what a step draws; models never see a missing value, a code or a spike.

    Parameters
    ----------
    name : str
        Name for messages, e.g. ``"income"`` or ``"income (missing or not)"``.
    kind : {"numeric", "categorical"}
        Numbers, or level codes 0 .. n_levels - 1.
    n_levels : int
        Number of levels; 0 for a numeric target.
    ordered : bool
        Whether the levels are ordered.
    decimals : int or None
        Digits after the point to which drawn numbers are rounded afterwards; None for none.
    lower, upper : float or None
        Declared bounds of a numeric target.
    """

    name: str
    kind: Literal["numeric", "categorical"]
    n_levels: int = 0
    ordered: bool = False
    decimals: int | None = None
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True, slots=True)
class FitTask:
    """What ``fit`` is told before it asks anything.

    Parameters
    ----------
    target : Target
        What is to be drawn.
    features : tuple of str
        Names of the columns of X; ``features[0]`` is the intercept, all ones. Numeric features are about
        centred and scaled (mean near 0, sd near 1), categorical ones are 0/1 dummies.
    dummies : tuple of bool
        For each feature, whether it is a 0/1 dummy (the intercept is not).
    n : int
        Rows on which the target is observed.
    targets : tuple of Target
        All targets of a joint model, whose y has shape (rows, targets); ``target`` is the first.
    proper : bool
        Whether ``redraw`` will be called: a model whose posterior is large keeps it only then.
    row_norm : float or None
        Public bound on the Euclidean norm of a row of X, real or drawn; None where X is not scaled by public
        bounds.
    exact : bool
        Whether draws must come from exact samplers.
    """

    target: Target
    features: tuple[str, ...]
    dummies: tuple[bool, ...]
    n: int
    proper: bool = False
    targets: tuple[Target, ...] = ()
    row_norm: float | None = None
    exact: bool = False


Fit: TypeAlias = Generator[Query, Answer, Any]


class ColumnModel(Protocol):
    """A parametric model of one target given features.

    Attributes
    ----------
    name : str
        Registry name, the file's name; as in synthpop where the model is the same.
    reason : str
        Why its copies carry no formal guarantee, in plain words, for the privacy statement.
    real_values : bool
        Whether drawn values may be real records' values.
    affine : bool, optional
        Whether the model may be fitted to the target in scaled units, and drawn values scaled back; it then
        reads the column that is already in X.
    bias : str, optional
        What its draws may move, for the release's tags; "none" by default.
    mechanism : callable, optional
        For a model whose draws carry a guarantee: task -> (name of the mechanism, its public constants).
    """

    name: ClassVar[str]
    reason: ClassVar[str]

    def accepts(self, target: Target) -> bool:
        """Whether the model can draw this target."""
        ...

    def fit(self, task: FitTask) -> Fit:
        """Yield queries, return parameters (a frozen dataclass of arrays and plain values)."""
        ...

    def redraw(self, params: Any, rng: np.random.Generator) -> Any:
        """Parameters drawn from their posterior: proper synthesis, once a copy."""
        ...

    def draw(self, params: Any, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One value for each row of X; level codes as floats for a categorical target."""
        ...


COLUMN_MODELS: Registry[type[ColumnModel]] = Registry("pysynthdp.models", PlanError)
