"""A curator of arrays: answers a model's queries from X and y, in blocks as the real one does."""

from __future__ import annotations

from typing import Any

import numpy as np

from pysynthdp.curator.quantiles import coarse_quantiles
from pysynthdp.models.ask import Answer, Counts, Moments, MomentSums, Note, Quantiles, RowSum, WholeRows
from pysynthdp.models.base import FitTask, Target

BLOCK = 16_384


def task(X, y, *, levels=0, name="income", dummies=None, ordered=False, proper=False) -> FitTask:
    target = Target(name, "categorical" if levels else "numeric", levels, ordered)
    features = tuple(f"x{j}" for j in range(X.shape[1]))
    if dummies is None:
        dummies = (False, *(bool(np.isin(X[:, j], (0, 1)).all()) for j in range(1, X.shape[1])))
    return FitTask(target, features, tuple(dummies), len(y), proper)


def fit(model, X, y, **settings) -> Any:
    """Run a fit to its end; ``rounds`` counts nothing here, see ``trace``."""
    return trace(model, X, y, **settings)[0]


def trace(model, X, y, **settings) -> tuple[Any, list[Any]]:
    """The parameters and every query that was asked."""
    y = np.asarray(y, dtype=float)
    job = task(X, y, **settings)
    generator = model.fit(job)
    asked = []
    try:
        query = next(generator)
        while True:
            asked.append(query)
            query = generator.send(Answer(answer(query, X, y, job.target.n_levels)))
    except StopIteration as stop:
        return stop.value, asked


def answer(query, X, y, levels) -> Any:
    match query:
        case RowSum():
            return row_sum(query, X, y)
        case Moments():
            z = y if query.transform is None else query.transform(y)
            return MomentSums(float(len(y)), X.T @ X, X.T @ z, float(z @ z))
        case Counts():
            return np.bincount(y.astype(int), minlength=levels).astype(float)
        case Quantiles():
            return quantiles(y, query)
        case WholeRows():
            return X, y
        case Note():
            return None
    raise AssertionError(query)


def row_sum(query, X, y):
    X, y = X[:: query.every], y[:: query.every]
    total = None
    for low in range(0, len(y), BLOCK):
        part = query.of(np.ascontiguousarray(X[low : low + BLOCK]), y[low : low + BLOCK])
        total = part if total is None else tuple(a + b for a, b in zip(total, part, strict=True))
    return total


def quantiles(y, query):
    return coarse_quantiles(y, knots=query.knots, smallest=query.smallest)


class Draws:
    """The numpy sampler."""

    def __init__(self, seed=0):
        self.generator = np.random.default_rng(seed)

    def normal(self, mean, sd):
        return self.generator.normal(mean, sd)

    def uniform(self, size):
        return self.generator.random(size)

    def event(self, probability):
        return self.generator.random(len(probability)) < probability

    def categorical(self, probabilities):
        edges = np.cumsum(probabilities, axis=1)
        edges[:, -1] = 1.0
        return (self.generator.random((len(edges), 1)) >= edges).sum(axis=1)

    def poisson(self, mean):
        return self.generator.poisson(mean).astype(float)

    def gamma(self, shape, scale):
        return self.generator.gamma(shape, scale)
