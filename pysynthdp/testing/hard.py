"""Arrays on which textbook fits fail: few rows, separation, empty cells, wild scales, constant columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.models.base import Target

__all__ = ["Arrays", "hard_data"]

_SIZES = ((1, 0), (1, 4), (2, 3), (7, 10), (30, 8), (30, 60), (400, 5))


@dataclass(frozen=True, slots=True, repr=False)
class Arrays:
    """Features, intercept first, and a target.

    Parameters
    ----------
    name : str
        What is hard about it.
    X : array (rows, features)
        Features.
    y : array (rows,)
        Numbers or level codes.
    """

    name: str
    X: FloatArray
    y: FloatArray


def hard_data(target: Target) -> tuple[Arrays, ...]:
    """Make hard tables for a target.

    Parameters
    ----------
    target : Target
        Numbers stay within its bounds, and are whole where it has no decimals; levels are its own.

    Returns
    -------
    tuple of Arrays
        The same at every call.

    Examples
    --------
    >>> [data.name for data in hard_data(Target("y", "numeric"))][-3:]
    ['tiny numbers', 'heavy tails', 'one number far from all others']
    """
    made = _numbers() if target.kind == "numeric" else _levels(target.n_levels)
    return tuple(Arrays(each.name, each.X, _within(each.y, target)) for each in made)


def _within(y: FloatArray, target: Target) -> FloatArray:
    """Keep numbers as the target declares them."""
    if target.kind == "numeric" and target.decimals is not None:
        y = np.round(y, target.decimals)
    return y if target.lower is None or target.upper is None else np.clip(y, target.lower, target.upper)


def _features(rng: np.random.Generator, n: int, numbers: int, dummies: int = 0) -> FloatArray:
    """Intercept, normal numbers and dummies."""
    parts = [np.ones(n), rng.normal(size=(n, numbers)), rng.random((n, dummies)) < 0.3]
    return np.column_stack(parts).astype(np.float64)


def _few(rng: np.random.Generator) -> Iterator[tuple[str, FloatArray]]:
    """Few rows, and more features than rows."""
    for n, size in _SIZES:
        yield f"{n} row{'s' if n > 1 else ''} and {size} predictors", _features(rng, n, size, min(size, 2))


def _wild(rng: np.random.Generator, n: int) -> FloatArray:
    """Features of wild scales, one twice, and a dummy that one row has."""
    X = _features(rng, n, 5)
    X[:, 1:4] = X[:, 1:4] * [1e-6, 1e6, 1e-9] + [5, -3e6, 1.0]
    X[:, 4] = X[:, 2]
    X[:, 5] = np.arange(n) == 17
    return X


def _numbers() -> Iterator[Arrays]:
    """Numbers that are hard to draw."""
    rng = np.random.default_rng(6)
    for name, X in _few(rng):
        yield Arrays(name, X, rng.poisson(3.0, size=len(X)).astype(np.float64))
    X, wild = _features(rng, 60, 3), _wild(rng, 500)
    normal = rng.normal(size=60)
    yield Arrays("all numbers zero", X, np.zeros(60))
    yield Arrays("all numbers alike", X, np.full(60, 5.0))
    yield Arrays("predictors of wild scales", wild, rng.poisson(3.0, size=500).astype(np.float64))
    yield Arrays("no events beside a dummy", *_no_events(rng))
    yield Arrays("a function of the predictors", X, np.rint(np.exp(X[:, 1])))
    yield Arrays("numbers far from zero", X, 1e9 + normal)
    yield Arrays("tiny numbers", X, 1e-12 * np.abs(normal))
    yield Arrays("heavy tails", X, np.exp(4.0 * normal))
    yield Arrays("one number far from all others", X, np.where(np.arange(60) == 3, 1e6, np.abs(normal)))


def _no_events(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Give counts that are zero wherever a dummy is set."""
    d = np.repeat([0.0, 1.0], [227, 3])
    y = np.where(d == 1, 0, rng.poisson(2.0, size=230))
    return np.column_stack([np.ones(230), d]), y.astype(np.float64)


def _levels(n_levels: int) -> Iterator[Arrays]:
    """Levels that are hard to draw."""
    rng = np.random.default_rng(7)
    for name, X in _few(rng):
        few = np.arange(len(X)) % n_levels
        y = few if len(X) < 10 else rng.integers(0, n_levels, len(X))
        yield Arrays(name, X, y.astype(np.float64))
    yield Arrays("predictors of wild scales", _wild(rng, 500), rng.integers(0, n_levels, 500).astype(float))
    x = np.linspace(-1.7, 1.7, 200)
    cuts = np.quantile(x, np.linspace(0, 1, n_levels + 1)[1:-1])
    X = np.column_stack([np.ones(200), x])
    yield Arrays("levels separated by a number", X, np.searchsorted(cuts, x).astype(np.float64))
    yield Arrays("one level alone", X, np.zeros(200))
    for name, level in (("first", 0), ("last", n_levels - 1)):
        yield Arrays(f"a dummy in the {name} level only", *_dummy(rng, n_levels, level))
    rare = np.where(np.arange(300) < 6, n_levels - 1, rng.integers(0, max(n_levels - 1, 1), 300))
    yield Arrays("a rare level among 25 noise predictors", _features(rng, 300, 25), rare.astype(np.float64))


def _dummy(rng: np.random.Generator, n_levels: int, level: int) -> tuple[FloatArray, FloatArray]:
    """Levels of which one alone is there wherever a dummy is set."""
    d = np.repeat([0.0, 1.0], [400, 4])
    y = np.where(d == 1, level, rng.integers(0, n_levels, 404))
    return np.column_stack([np.ones(404), d]), y.astype(np.float64)
