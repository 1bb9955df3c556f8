"""``linear_statistics``: several columns from noisy marginals, by a reweighted public sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy
from scipy.sparse import csr_array, hstack, vstack

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.checks import positive_setting, public_range
from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Setting, Words
from pysynthdp.models.ask import NoisyStatistics, Sampler
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.marginals import Marginals, midpoints, public_points

__all__ = ["LinearStatistics", "WeightedPoints", "closest_weights"]

UNIT = 2**20  # whole steps that a test function's value in [-1, 1] is rounded to, record by record
TestFunction = Callable[[FloatArray], FloatArray]
SpaceSampler = Callable[[int, np.random.Generator], IntArray]


@dataclass(frozen=True, slots=True)
class WeightedPoints:
    """The reweighted reduced space.

    Parameters
    ----------
    points : int64 array (points, columns)
        Level or bin codes of the points with positive weight.
    weights : array (points,)
        Their probabilities.
    edges : tuple of array (bins + 1,)
        Bin edges of a numeric column; empty for a categorical one.
    distance : float
        Largest difference between a noisy share and the points'.
    scale : float
        Scale of the noise on a share.
    functions : int
        Number of statistics.
    """

    points: IntArray
    weights: FloatArray
    edges: tuple[FloatArray, ...]
    distance: float
    scale: float
    functions: int


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True, kw_only=True)
class LinearStatistics:
    """Draw several columns together so that noisy marginals are met; numbers by public bins.

    Parameters
    ----------
    epsilon : float
        Pure epsilon, paid once at the fit; copies and records drawn cost nothing.
    ways : int
        Every set of this many columns is asked for its marginal table (lower ones are sums of it).
    bins : mapping column -> edges or number of bins
        Public bins of every numeric column; a number cuts the declared range evenly.
    functions : sequence of callable
        Further statistics: arrays (rows, columns) of level codes and bin midpoints to values in [-1, 1], each
        from its own row alone.
    space : int
        Most points of the reduced space; all cells of the full table where there are fewer.
    sampler : callable (size, generator) -> int64 array (size, columns), optional
        A public sampler of the reduced space; uniform by default.
    seed : int
        Public seed of the reduced space, which is chosen without the data.

    Raises
    ------
    PrivacyError
        If epsilon is not a positive finite number, or a numeric column has no declared bounds.
    PlanError
        If a numeric column has no bins, or a setting is out of range.

    Notes
    -----
    Privacy: asks once for whole-number sums with discrete Laplace noise of the operating system's entropy
    (E1); everything after is post-processing. Algorithm 1 of Boedihardjo, Strohmer and Vershynin: noise of
    scale Delta/epsilon on each sum, Delta = 2 C(p, d) + 2 functions for a replaced record and half of it for
    one added or removed; weights on the reduced space that are closest in the largest difference; bootstrap.
    Numbers are drawn uniformly inside their bin.

    Examples
    --------
    >>> LinearStatistics(epsilon=1.0, bins={"age": 5}).accepts(Target("age", "numeric", lower=0, upper=90))
    True
    """

    epsilon: float | None = None
    ways: int = 2
    bins: Mapping[str, int | Sequence[float]] = field(default_factory=dict, hash=False)
    functions: Sequence[TestFunction] = ()
    space: int = 5000
    sampler: SpaceSampler | None = None
    seed: int = 0
    name: ClassVar[str] = "linear_statistics"
    reason: ClassVar[str] = (
        "its noisy statistics are private, but no guarantee=BySampling() was asked for the whole table"
    )
    bias: ClassVar[str] = "noisy_linear_statistics"
    real_values: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "functions", tuple(self.functions))
        if self.ways < 1 or self.space < 1:
            raise PlanError("linear_statistics: ways and space must be at least 1", kind="method")

    def accepts(self, target: Target) -> bool:  # noqa: ARG002  # numbers by their bins
        """Every target."""
        return True

    def mechanism(self, task: FitTask) -> tuple[str, dict[str, Any]]:
        """Name the privacy mechanism and its public constants."""
        family = self._family(task)
        norm = self._row_norm(family)
        return "noisy_statistics", {
            "eps": positive_setting(self.name, "epsilon", self.epsilon),
            "functions": family.cells + len(self.functions),
            "row_gap": 2 * norm,
            "row_norm": norm,
        }

    def _family(self, task: FitTask) -> Marginals:
        """List all marginals of the task's columns."""
        levels = tuple(
            target.n_levels or len(edges) - 1
            for target, edges in zip(_targets(task), self._edges(task), strict=True)
        )
        return Marginals(levels, min(self.ways, len(levels)))

    @property
    def _unit(self) -> int:
        """Steps that a row adds to its cell: one, or as many as to a test function."""
        return UNIT if self.functions else 1

    def _row_norm(self, family: Marginals) -> int:
        """Sum of absolute values that one row adds: one cell a table, at most one unit a function."""
        return self._unit * (len(family.tables) + len(self.functions))

    def _edges(self, task: FitTask) -> tuple[FloatArray, ...]:
        """Bin edges of each column; empty for a categorical one."""
        return tuple(
            np.zeros(0) if target.kind == "categorical" else self._bin_edges(target)
            for target in _targets(task)
        )

    def _bin_edges(self, target: Target) -> FloatArray:
        """Edges of a numeric column, from one end of its declared range to the other."""
        lower, upper = public_range(self.name, target.name, target.lower, target.upper)
        given = self.bins.get(target.name)
        if given is None:
            raise PlanError(
                Words("{name}: this number needs public bins", name=target.name),
                column=target.name,
                kind="declaration",
                remedy=Words("declare {bins}", bins=Setting("bins", {target.name: [...]})),
            )
        edges = (
            np.linspace(lower, upper, given + 1) if isinstance(given, int) else np.array(given, dtype=float)
        )
        if edges.ndim != 1 or edges.size < 2 or not bool(np.all(np.diff(edges) > 0)):
            raise PlanError(
                f"{target.name}: bins must be at least two increasing edges, or a number of bins",
                column=target.name,
                kind="method",
            )
        if edges[0] > lower or edges[-1] < upper:
            raise PlanError(
                f"{target.name}: the bins must cover the declared range",
                column=target.name,
                kind="method",
                remedy="widen the outer edges",
            )
        return edges

    def fit(self, task: FitTask) -> Fit:
        """Ask for the noisy statistics once, return WeightedPoints."""
        family, edges = self._family(task), self._edges(task)
        norm = self._row_norm(family)
        space = self._space(family)  # and all that a user's functions may refuse, before a row is read
        matrix = self._matrix(family, space, edges)

        def of(X: FloatArray, y: FloatArray) -> IntArray:  # noqa: ARG001  # the targets alone are counted
            codes = _codes(y[:, None] if y.ndim == 1 else y, edges, family.levels)
            return self._statistics(family, codes, edges)

        epsilon = positive_setting(self.name, "epsilon", self.epsilon)
        answer = yield NoisyStatistics(of, row_gap=2 * norm, row_norm=norm, epsilon=epsilon)
        sums = answer.value.sums / self._unit
        size = answer.value.n or max(1.0, float(sums[: family.cells].sum()) / len(family.tables))
        found = closest_weights(matrix, sums / size)
        used = found.weights > 0
        return WeightedPoints(
            points=space[used],
            weights=found.weights[used],
            edges=edges,
            distance=found.distance,
            scale=answer.value.scale / self._unit / size,
            functions=family.cells + len(self.functions),
        )

    def _statistics(self, family: Marginals, codes: IntArray, edges: tuple[FloatArray, ...]) -> IntArray:
        """Sum cells and test functions over some rows, in whole steps."""
        values = _values(codes, edges)
        further = [
            np.rint(self._bounded(function, values) * UNIT).astype(np.int64).sum()
            for function in self.functions
        ]
        return np.concatenate([family.counts(codes) * self._unit, np.array(further, dtype=np.int64)])

    def _bounded(self, function: TestFunction, values: FloatArray) -> FloatArray:
        """Values of a test function in [-1, 1], whatever it returns."""
        found = np.asarray(function(values), dtype=np.float64).reshape(len(values))
        return np.clip(np.nan_to_num(found, nan=0.0), -1.0, 1.0)

    def _space(self, family: Marginals) -> IntArray:
        """Choose the reduced space without the data."""
        rng = np.random.default_rng(self.seed)
        if self.sampler is None:
            return public_points(family.levels, self.space, rng)
        points = np.asarray(self.sampler(self.space, rng), dtype=np.int64)
        shape = (self.space, len(family.levels))
        if points.shape != shape or (points < 0).any() or (points >= np.array(family.levels)).any():
            raise PlanError(
                f"linear_statistics: sampler must return codes of shape {shape} within the levels",
                kind="method",
            )
        return points

    def _matrix(self, family: Marginals, space: IntArray, edges: tuple[FloatArray, ...]) -> csr_array:
        """Value of each statistic at each point of the reduced space."""
        values = _values(space, edges)
        further = [csr_array(self._bounded(function, values)[None, :]) for function in self.functions]
        return csr_array(vstack([family.matrix(space), *further], format="csr"))

    def redraw(self, params: WeightedPoints, rng: np.random.Generator) -> WeightedPoints:  # noqa: ARG002
        """Keep the fit: its noise was drawn once, and nothing else may read the data."""
        return params

    def draw(self, params: WeightedPoints, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One point for each row of X, (rows, columns); numbers uniform inside their bin."""
        u = sampler.uniform(len(X))
        chosen = np.minimum(
            np.searchsorted(np.cumsum(params.weights), u, side="right"), len(params.weights) - 1
        )
        codes = params.points[chosen]
        drawn = [
            codes[:, j].astype(np.float64)
            if not edges.size
            else edges[codes[:, j]] + np.diff(edges)[codes[:, j]] * sampler.uniform(len(X))
            for j, edges in enumerate(params.edges)
        ]
        return drawn[0] if len(drawn) == 1 else np.stack(drawn).T


def _targets(task: FitTask) -> tuple[Target, ...]:
    """All targets of a joint step, or the only one."""
    return task.targets or (task.target,)


def _codes(y: FloatArray, edges: tuple[FloatArray, ...], levels: tuple[int, ...]) -> IntArray:
    """Level or bin code of each cell."""
    columns = [
        np.searchsorted(cut[1:-1], y[:, j], side="right") if cut.size else y[:, j].astype(np.int64)
        for j, cut in enumerate(edges)
    ]
    return np.clip(np.stack(columns).T, 0, np.array(levels) - 1).astype(np.int64)


def _values(codes: IntArray, edges: tuple[FloatArray, ...]) -> FloatArray:
    """Level codes and bin midpoints, as test functions see them."""
    columns = [midpoints(cut)[codes[:, j]] if cut.size else codes[:, j] for j, cut in enumerate(edges)]
    return np.stack(columns).T.astype(np.float64)


@dataclass(frozen=True, slots=True)
class _Weighted:
    """Weights (points,), at least zero with sum one, and the largest difference that they leave."""

    weights: FloatArray
    distance: float


def closest_weights(matrix: csr_array, wanted: FloatArray) -> _Weighted:
    """Minimise max |matrix w - wanted| over probability weights w.

    Parameters
    ----------
    matrix : sparse array (statistics, points)
        Value of each statistic at each point.
    wanted : array (statistics,)
        Values to come close to.

    Returns
    -------
    _Weighted

    Notes
    -----
    Privacy: post-processing when ``wanted`` is. Step 4 of Algorithm 1 of Boedihardjo, Strohmer and Vershynin
    as a linear program, min t with -t <= matrix w - wanted <= t, solved by HiGHS; equal weights where the
    solver gives up, so that nothing fails.

    Examples
    --------
    >>> closest_weights(csr_array(np.eye(2)), np.array([0.7, 0.5])).distance.__round__(9)
    0.1
    """
    statistics, points = matrix.shape
    slack = csr_array(np.ones((statistics, 1)))
    above: Any = vstack([hstack([matrix, -slack]), hstack([-matrix, -slack])], format="csr")
    total: Any = csr_array(np.concatenate([np.ones(points), [0.0]])[None, :])
    found = scipy.optimize.linprog(
        np.concatenate([np.zeros(points), [1.0]]),
        A_ub=above,
        b_ub=np.concatenate([wanted, -wanted]),
        A_eq=total,
        b_eq=np.ones(1),
        bounds=(0, None),
        method="highs-ipm",
    )
    raw = np.ones(points) if found.x is None else np.maximum(found.x[:points], 0.0)
    weights = raw / raw.sum() if raw.sum() > 0 else np.full(points, 1 / points)
    return _Weighted(weights, float(np.max(np.abs(matrix @ weights - wanted))))
