"""Models with a canonical link: the steps that statsmodels takes, from sums over blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from statsmodels.genmod import families

from pysynthdp.analysis.separation import FEW, NEAR, spans
from pysynthdp.analysis.sums.design import Block, Design
from pysynthdp.analysis.sums.request import Request
from pysynthdp.analysis.sums.sandwich import clusters_of, robust_covariance
from pysynthdp.analysis.sums.summed import Lacking, Summed
from pysynthdp.analysis.sums.triangle import Shift, Solved, by_products, by_rotations, solved
from pysynthdp.base.arrays import BoolArray, FloatArray

__all__ = ["generalised", "logistic"]

_ROUNDS: Final = 100
_STOP: Final = 1e-8
_NEWTON: Final = 35
_RIDGE: Final = 1e-10  # which statsmodels adds to the mean information of discrete models
_UNIT: Final = (families.Binomial, families.Poisson)  # families of a known dispersion


def generalised(design: Design, asked: Request) -> Summed | Lacking | None:
    """Fit a GLM by iteratively reweighted least squares; None where statsmodels has to.

    Parameters
    ----------
    design : Design
        The copy, read by blocks.
    asked : Request
        Family, offset, weights, covariance.

    Notes
    -----
    Privacy: post-processing of synthetic copies. Start, steps and stop are those of statsmodels: means
    halfway to the grand mean, and a deviance that moves by less than 1e-8.
    """
    model = _Rows(design, asked)
    refused = model.look()
    if refused is not None or not model.n:
        return refused
    at = _step(model, None)
    for _ in range(_ROUNDS):
        if at is None or at.solved is None:
            return None
        beta = at.solved.beta
        then = _step(model, beta)
        if then is not None:
            then.by = at.scale
            if np.isclose(at.deviance / at.by, then.deviance / then.by, rtol=0, atol=_STOP):
                return _finished(model, at.solved, beta, then, then.scale)
        at = then
    return None


def logistic(design: Design, asked: Request) -> Summed | Lacking | None:
    """Fit a logistic regression by Newton's method; None where statsmodels has to.

    Parameters
    ----------
    design : Design
        The copy, read by blocks.
    asked : Request
        Covariance.

    Notes
    -----
    Privacy: post-processing of synthetic copies. Steps as in statsmodels: from zero, until no coefficient
    moves by more than 1e-8.
    """
    model = _Rows(design, asked)
    refused = model.look()
    if refused is not None or not model.n:
        return refused
    beta = np.zeros(len(design.names))
    for _ in range(_NEWTON - 1):
        state = _step(model, model.shift.forth(beta))
        if state is None or state.solved is None or _ridged(model, state.solved):
            return None
        moved = model.shift.back(state.solved.beta)
        if np.all(np.abs(moved - beta) <= _STOP):
            at = model.shift.forth(moved)
            last = _step(model, at)
            if last is None or last.solved is None:
                return None
            return _finished(model, last.solved, at, last, 1.0)
        beta = moved
    return None


@dataclass(slots=True)
class _State:
    """What a pass at some coefficients says: the next step, and the fit so far."""

    solved: Solved | None
    deviance: float
    scale: float
    bound: bool
    by: float  # what statsmodels divides the deviance by: the scale of the step before


class _Rows:
    """Rows of a model with a link."""

    def __init__(self, design: Design, asked: Request) -> None:
        self.design, self.asked = design, asked
        self.family = asked.family or families.Binomial()
        self.shift, self.n, self.mean = Shift(np.zeros(len(design.names)), 0.0, None), 0, 0.0

    def look(self) -> Lacking | None:
        """Read all rows once: their number, the mean response, columns that are zero, and rank.

        Afterwards ``n`` is zero where statsmodels has to fit.
        """
        triangle, squares = by_products(self._plain(), sharp=False)
        zero = (squares[:-1] == 0) & (self.shift.of_columns == 0) if self.n else np.zeros(0)
        if np.any(zero):
            names = zip(self.design.names, zero, strict=True)
            return Lacking(tuple(name for name, gone in names if gone))
        if self.n and np.isfinite(squares).all():
            triangle = triangle or by_rotations(self._plain())
        if triangle is None or solved(triangle, self.shift, self.n) is None:
            self.n = 0
        return None

    def _plain(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Give shifted columns and responses; count and add up on the way."""
        seen, total = 0, 0.0
        for block in self.design.blocks():
            if block.y.size and not seen:
                self.shift = Shift.by(block.X, block.y, self.design.constant)
            seen += block.y.size
            total += float(block.y.sum())
            yield self.shift.moved(block.X), block.y
        self.n, self.mean = seen, total / max(seen, 1)

    def blocks(self) -> Iterator[tuple[Block, FloatArray, FloatArray]]:
        """Give blocks with their shifted columns and offsets."""
        beside = self.asked.beside
        for block in self.design.blocks():
            offset = np.zeros(block.y.size)
            if "offset" in beside:
                offset = offset + np.asarray(block.own[beside["offset"]], dtype=np.float64)
            if "exposure" in beside:
                offset = offset + np.log(np.asarray(block.own[beside["exposure"]], dtype=np.float64))
            yield block, self.shift.moved(block.X), offset

    def weights(self, block: Block) -> Any:
        """Weights of the rows of a block."""
        name = self.asked.beside.get("var_weights")
        return 1.0 if name is None else np.asarray(block.own[name], dtype=np.float64)

    def dispersion(self, squares: float) -> float:
        """Scale, from the sum of squared residuals over variances."""
        return 1.0 if isinstance(self.family, _UNIT) else squares / (self.n - len(self.design.names))

    def start(self, y: FloatArray) -> FloatArray:
        """Means to start from."""
        return (y + (0.5 if isinstance(self.family, families.Binomial) else self.mean)) / 2.0


def _step(model: _Rows, beta: FloatArray | None) -> _State | None:
    """Pass over all rows at some shifted coefficients (p,), the start for None; None if it is not finite."""
    sums = np.zeros(3)

    def pairs() -> Iterator[tuple[FloatArray, FloatArray]]:
        sums[:] = 0.0
        for block, X, offset in model.blocks():
            y, given = block.y, model.weights(block)
            eta, mu = _at(model, beta, X, y, offset)
            weights = given * model.family.weights(mu)
            target = eta + model.family.link.deriv(mu) * (y - mu) - offset
            sums[0] += model.family.deviance(y, mu, given)
            sums[1] += np.sum((y - mu) ** 2 * given / model.family.variance(mu))
            sums[2] += np.count_nonzero(_near(model, y, mu))
            root = np.sqrt(weights)
            yield X * root, target * root

    with np.errstate(all="ignore"):
        triangle, squares = by_products(pairs(), sharp=False)
        if triangle is None and np.isfinite(squares).all() and np.all(squares[:-1] > 0):
            triangle = by_rotations(pairs())
    if triangle is None or not np.isfinite(sums).all():
        return None
    found, scale = solved(triangle, model.shift, model.n), model.dispersion(sums[1])
    return _State(found, sums[0], scale, bool(sums[2]), scale)


def _at(
    model: _Rows, beta: FloatArray | None, X: FloatArray, y: FloatArray, offset: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Linear predictor and mean of some rows."""
    if beta is None:
        mu = model.start(y)
        return np.asarray(model.family.predict(mu)), mu
    eta = beta @ X + offset
    return eta, np.asarray(model.family.fitted(eta))


def _near(model: _Rows, y: FloatArray, mu: FloatArray) -> BoolArray:
    """Mark rows whose mean is near its bound, as where the outcome is separated."""
    if isinstance(model.family, families.Binomial):
        return np.asarray(((y == 0) | (y == 1)) & (np.abs(y - mu) < NEAR))
    if isinstance(model.family, families.Poisson):
        return np.asarray((y == 0) & (mu < NEAR))
    return np.zeros(y.size, dtype=np.bool_)


def _ridged(model: _Rows, found: Solved) -> bool:
    """Whether what statsmodels adds to the information could be seen in the coefficients."""
    largest = float(np.linalg.norm(model.shift.spread(found.inverse), 2))
    return _RIDGE * largest * model.n > 1e-6


def _finished(model: _Rows, found: Solved, beta: FloatArray, at: _State, scale: float) -> Summed | None:
    """Bind a fit; None where the outcome may be separated, or the covariance cannot be had."""
    if at.bound and not spans(_inside(model, beta)):
        return None
    cov = scale * found.inverse
    if model.asked.robust is not None:
        clusters = clusters_of(model.design, model.asked.robust)
        if clusters is None or at.solved is None:
            return None
        rows = _scores(model, beta, model.asked.robust.groups)
        cov = robust_covariance(
            model.asked.robust, rows, at.solved.inverse, clusters, linear=False, n=model.n
        )
    return Summed(model.shift.back(beta), model.shift.spread(cov), scale, model.n)


def _scores(
    model: _Rows, beta: FloatArray, groups: str | None
) -> Iterator[tuple[FloatArray, FloatArray, object]]:
    """Give columns, score factors and cells of the clusters' column."""
    for block, X, offset in model.blocks():
        _, mu = _at(model, beta, X, block.y, offset)
        spread = model.family.link.deriv(mu) * model.family.variance(mu)
        yield X, model.weights(block) * (block.y - mu) / spread, groups and block.own[groups]


def _inside(model: _Rows, beta: FloatArray) -> FloatArray:
    """Give the first rows (k, p) whose mean is not near its bound."""
    rows: list[FloatArray] = []
    for block, X, offset in model.blocks():
        _, mu = _at(model, beta, X, block.y, offset)
        inside = X[:, ~_near(model, block.y, mu)]
        if model.shift.constant is not None:
            inside = inside + model.shift.of_columns[:, None]
        rows.append(inside.T)
        if sum(map(len, rows)) >= FEW:
            break
    return np.concatenate(rows)[:FEW]
