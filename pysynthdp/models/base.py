"""What a column model is: settings, and three functions of arrays; and what some models can do besides."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PlanError
from pysynthdp.base.registry import Registry
from pysynthdp.base.remarks import FEWEST
from pysynthdp.models.ask import Answer, Query, Sampler, StepMoments

__all__ = [
    "COLUMN_MODELS",
    "Bends",
    "Chosen",
    "ColumnModel",
    "CutsNumbers",
    "Fit",
    "FitTask",
    "FitsFromMoments",
    "HasPosterior",
    "HoldsRows",
    "NumberParams",
    "Priced",
    "SplitsLevels",
    "Target",
    "Weighed",
]


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
    groups : tuple of int
        Group of each of the column's levels, where some are put together and ``n_levels`` counts the groups.
    cells : tuple of (float, float)
        Of a number that is drawn in declared cells where answers are noised: between which ends the values of
        each cell lie, evenly; half a step of the column's grid beyond its values. ``n_levels`` counts them.
    partial : bool
        Of several targets: whether it is there only where the one before it has its first level, "value", and
        has its own first level elsewhere.
    """

    name: str
    kind: Literal["numeric", "categorical"]
    n_levels: int = 0
    ordered: bool = False
    decimals: int | None = None
    lower: float | None = None
    upper: float | None = None
    groups: tuple[int, ...] = ()
    cells: tuple[tuple[float, float], ...] = ()
    partial: bool = False


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
    exclusive : tuple of tuple of int
        Dummies of each column, by their places: of these at most one is 1 in a row, and where none is, the
        column has its first level, or a number.
    fewest : int
        Rows that rest on five records: five, and more where several rows are of one household or person.
    """

    target: Target
    features: tuple[str, ...]
    dummies: tuple[bool, ...]
    n: int
    proper: bool = False
    targets: tuple[Target, ...] = ()
    row_norm: float | None = None
    exact: bool = False
    exclusive: tuple[tuple[int, ...], ...] = ()
    fewest: int = FEWEST


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
    linear_on : str, optional
        Scale of the target on which terms are added up, for the tags: "plain", "log", "logit", ...; "any"
        where relations of every transform of the target are kept. Parameters may have it instead, where a
        fit chooses. Without it, what a release says of logarithms is on the careful side.
    finds_terms : bool, optional
        Whether the model finds products and curves by itself, so that none are screened for it; False by
        default.
    keeps_shape : bool, optional
        Whether draws have the target's own distribution, whatever its shape; False by default.
    takes_absent : bool, optional
        Of a joint model: whether it draws how values are absent as levels beside them, and is given the
        columns before it; False by default.
    counts_rows : bool, optional
        Whether counts of rows by weight tell the model what rests on few records: it is then refused where
        one record counts as several rows; False by default.
    keeps_masses : bool, optional
        Whether a number that many records have, such as zero, is drawn as often, or the model says itself
        where it is not; False by default: the fit then advises to keep such a number apart.

    Notes
    -----
    What a model can do besides is said by further protocols, looked for when the plan is made, never while
    rows are read: :class:`Priced`, :class:`FitsFromMoments` with :class:`SplitsLevels`, :class:`Bends`,
    :class:`CutsNumbers`, :class:`HoldsRows`. Parameters may be :class:`HasPosterior`.
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


@runtime_checkable
class Priced(Protocol):
    """A model whose own draw carries a guarantee: its price follows from public constants.

    ``mechanism`` is called before a record is read; the name is one of the registry of mechanisms
    (``pysynthdp.privacy.mechanisms``, entry points ``pysynthdp.mechanisms``), the mapping its public
    constants.
    """

    def mechanism(self, task: FitTask) -> tuple[str, dict[str, Any]]:
        """Name the mechanism that draws this target, and its public constants."""
        ...


class NumberParams(Protocol):
    """What :meth:`FitsFromMoments.fit_from_moments` returns for a number: a frozen dataclass with these.

    Attributes
    ----------
    beta : array (features,)
        Coefficients of its regression on the features, intercept first.
    sigma : float
        Residual standard deviation; it is raised by ``dataclasses.replace`` where noise hides a smaller one.
    df : float
        Degrees of freedom of sigma; zero where the moments left no residual variance.
    """

    @property
    def beta(self) -> FloatArray:
        """Coefficients."""
        ...

    @property
    def sigma(self) -> float:
        """Residual standard deviation."""
        ...

    @property
    def df(self) -> float:
        """Degrees of freedom of sigma."""
        ...


@runtime_checkable
class FitsFromMoments(Protocol):
    """A model that can be fitted to noisy cross-products, so that it serves where answers are noised.

    For a number it returns :class:`NumberParams`; for levels the model must be :class:`SplitsLevels` too.
    """

    def fit_from_moments(self, task: FitTask, given: StepMoments) -> Any:
        """Return parameters from the moments alone."""
        ...


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a model's fit returns in the place of its parameters where it found another model better.

    Parameters
    ----------
    model : ColumnModel
        The other one, which then draws the column, and which the fitted plan names.
    params : object
        Its parameters.
    """

    model: Any
    params: Any


@runtime_checkable
class Weighed(Protocol):
    """A model that says what its fit makes of the rows, so that models of one kind can be compared."""

    def weigh(self, params: Any, task: FitTask) -> Generator[Query, Answer, float]:
        """Ask for the log likelihood of all rows over that of the margin, less a price of each coefficient.

        Infinite for a relation so tight that no other model could keep it.
        """
        ...


@runtime_checkable
class SplitsLevels(Protocol):
    """A model of levels that says how likely each is: later columns need the features' distribution."""

    def level_shares(self, params: Any, X: FloatArray) -> FloatArray:
        """Shares (rows, levels) given X (rows, features); each row sums to one."""
        ...


@runtime_checkable
class CutsNumbers(Protocol):
    """A model of numbers that draws them in cells, which may be declared: then noisy counts of these serve.

    Where answers are noised such a number is a categorical part of the one noisy matrix, its cells being the
    levels, and ``task.target.cells`` says between which ends the values of each lie.

    Attributes
    ----------
    edges : tuple of float or None
        Where cells meet, as a user declared them; None where the rows would have to tell.
    """

    @property
    def edges(self) -> tuple[float, ...] | None:
        """Declared edges."""
        ...

    def cells_from_moments(self, task: FitTask, given: StepMoments) -> Any:
        """Return parameters whose draws are numbers."""
        ...

    def cell_shares(self, params: Any, X: FloatArray) -> FloatArray:
        """Shares (rows, cells) given X (rows, features); each row sums to one."""
        ...


@runtime_checkable
class Bends(FitsFromMoments, Protocol):
    """A model of numbers that takes a noisy histogram besides, and bends its draws to that margin."""

    def bent(self, fit: Any, X: FloatArray, knots: FloatArray, start: Any) -> Any:
        """Return parameters whose draws have the margin ``knots`` and keep the fit's regression."""
        ...


@runtime_checkable
class HasPosterior(Protocol):
    """Parameters of a model that keep a root of their covariance for ``redraw``, and can do without."""

    def without_posterior(self) -> Any:
        """Leave out what redraws alone need: X'X can be solved for from it, cell by cell."""
        ...


@runtime_checkable
class HoldsRows(Protocol):
    """A model that can be told to keep records' own values, as synthpop does, by ``emit_original``.

    The curator watches who asks for whole rows, so a model without this protocol is found out: its fit is
    marked as holding rows all the same.
    """

    @property
    def emit_original(self) -> bool:
        """Whether it was told so."""
        ...


COLUMN_MODELS: Registry[type[ColumnModel]] = Registry("pysynthdp.models", PlanError)
