"""Rows with weights: whole weights count as so many equal rows, in every question; none changes no bit."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pysynthdp.base.errors import FitError
from pysynthdp.curator import Curator, StepFit
from pysynthdp.curator.answers import StepRows, answer_alone, answer_moments
from pysynthdp.curator.encoded import EncodedRows
from pysynthdp.curator.quantiles import coarse_quantiles
from pysynthdp.curator.rows import rows_of
from pysynthdp.curator.table import split_rows
from pysynthdp.design.encode import Layout, Scale, StepDesign
from pysynthdp.design.parts import parts_of
from pysynthdp.models import Dirichlet, Gaussian, GaussianFloor, LogRidge, Ridge
from pysynthdp.models.ask import (
    Answer,
    Counts,
    Moments,
    MomentSums,
    NoisyStatistics,
    Note,
    Quantiles,
    RowSum,
    WholeRows,
)
from pysynthdp.models.base import COLUMN_MODELS, FitTask, Target
from pysynthdp.models.fits.clamped_sum import clamped_sum
from pysynthdp.models.fits.counts import _negative_binomial_terms
from pysynthdp.models.fits.level_posterior import _part_terms
from pysynthdp.models.joint.multivariate_normal import MultivariateNormal
from pysynthdp.models.normrank import _mixture_terms
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema

N = 300
RNG = np.random.default_rng(11)
W = RNG.integers(0, 4, N).astype(float)
X = np.column_stack([np.ones(N), RNG.standard_normal((N, 2)), RNG.integers(0, 2, N)])
ETA = X @ [0.2, 0.6, -0.4, 0.5]
NOISE = RNG.standard_normal(N)
LEVELS = {n: np.searchsorted(np.quantile(ETA + NOISE, np.arange(1, n) / n), ETA + NOISE) for n in (2, 5)}
COUNTS = RNG.poisson(np.exp(ETA) * RNG.gamma(1.0, 1.0, N))
TARGETS = {
    "real": (Target("y", "numeric", lower=-9.0, upper=9.0), ETA + NOISE),
    "skewed": (Target("y", "numeric", lower=0.0, upper=9.0), np.exp(ETA + NOISE)),
    "count": (Target("y", "numeric", decimals=0, lower=0.0, upper=60.0), COUNTS.astype(float)),
    "binary": (Target("y", "categorical", n_levels=2), LEVELS[2].astype(float)),
    "unordered": (Target("y", "categorical", n_levels=5), LEVELS[5].astype(float)),
    "ordered": (Target("y", "categorical", n_levels=5, ordered=True), LEVELS[5].astype(float)),
}
PUBLIC = {
    "gaussian": Gaussian(sigma=2.0),
    "gaussian_floor": GaussianFloor(floor=0.5),
    "ridge": Ridge(penalty=1.0, sigma=1.0, row_norm=2.0),
    "logridge": LogRidge(penalty=1.0),
    "dirichlet": Dirichlet(prior=1.0),
}


def asked_by(model: Any, target: Target, y: np.ndarray) -> list[Any]:
    """All questions of a fit, answered without weights."""
    names, dummies = ("one", "a", "b", "c"), (False, False, False, True)
    job = model.fit(FitTask(target, names, dummies, N, proper=True, targets=(target,)))
    asked: list[Any] = []
    try:
        query = next(job)
        while True:
            asked.append(query)
            query = job.send(Answer(answered(query, y, target.n_levels)))
    except StopIteration:
        return asked


def answered(query: Any, y: np.ndarray, levels: int) -> Any:
    """Answer one question."""
    match query:
        case RowSum():
            return query.of(X, y)
        case Moments():
            z = y if query.transform is None else query.transform(y)
            return MomentSums(float(N), X.T @ X, X.T @ z, float(z @ z))
        case Counts():
            return np.bincount(y.astype(int), minlength=levels).astype(float)
        case Quantiles():
            return coarse_quantiles(y, knots=query.knots, smallest=query.smallest)
        case WholeRows():
            return X, y
        case Note():
            return None
    raise AssertionError(query)


def cases() -> list[tuple[str, str]]:
    """Every model that asks for sums, on every kind of target that it draws."""
    return [
        (name, kind)
        for name in COLUMN_MODELS
        for kind, (target, _) in TARGETS.items()
        if (name in PUBLIC or not hasattr(COLUMN_MODELS[name], "mechanism"))
        and COLUMN_MODELS[name]().accepts(target)
        and sums_of(name, kind)
    ]


def sums_of(name: str, kind: str) -> list[RowSum]:
    """Row sums that a model asks of a kind of target; none where the values are not for it."""
    target, y = TARGETS[kind]
    try:
        asked = asked_by(PUBLIC.get(name) or COLUMN_MODELS[name](), target, y)
    except FitError:
        return []
    return [query for query in asked if isinstance(query, RowSum)]


def check(of: Any, y: np.ndarray) -> None:
    """A block function's sums, with weights and with as many rows."""
    times = W.astype(int)
    assert "w" in inspect.signature(of).parameters, (
        "a model of this package has sums that take weights: of(X, y, w=None), with weighted and counted of "
        "pysynthdp/models/fits/weighting.py"
    )
    weighted = of(X, y, W)
    repeated = of(np.repeat(X, times, axis=0), np.repeat(y, times, axis=0))
    there = of(X[W > 0], y[W > 0])
    for place, (left, right) in enumerate(zip(weighted, repeated, strict=True)):
        if place in getattr(of, "records", ()):
            np.testing.assert_allclose(left, there[place], rtol=1e-12)
            continue
        scale = np.abs(right).max(initial=1.0)
        np.testing.assert_allclose(np.asarray(left, float), np.asarray(right, float), atol=1e-9 * scale)
    plain, none, ones = of(X, y), of(X, y, None), of(X, y, np.ones(N))
    for left, right, same in zip(plain, none, ones, strict=True):
        assert np.asarray(left).tobytes() == np.asarray(right).tobytes()
        np.testing.assert_allclose(np.asarray(same, float), np.asarray(left, float), rtol=1e-12)


@pytest.mark.parametrize(("name", "kind"), cases())
def test_row_sums_of_every_model(name, kind):
    for query in sums_of(name, kind):
        check(query.of, TARGETS[kind][1])


def test_row_sums_that_only_wide_or_long_fits_ask():
    _, y = TARGETS["unordered"]
    check(_part_terms(RNG.standard_normal((5, 4)), np.arange(4)), y)
    check(_mixture_terms(np.array([0.1, 0.5, 0.2, 0.3]), 0.8, np.linspace(-3.0, 3.0, 9)), y)
    for curvature in (False, True):
        check(_negative_binomial_terms(np.array([0.1, 0.2, 0.0, 0.1, 3.0]), curvature), TARGETS["count"][1])


def test_row_sums_of_columns_together():
    targets = tuple(Target(name, "numeric", lower=-9.0, upper=9.0) for name in "ab")
    y = np.column_stack([ETA, NOISE])
    job = MultivariateNormal(ridge=1.0).fit(FitTask(targets[0], ("one",), (False,), N, targets=targets))
    check(next(job).of, y)


def test_exact_sums_take_whole_weights_only():
    with pytest.raises(FitError, match="a weight is no whole number") as caught:
        clamped_sum(0.0, 1.0)(X, X[:, 1], W + 0.5)
    assert caught.value.kind == "weights"


# -- the curator ---------------------------------------------------------------------------------------

SCHEMA = Schema(
    [
        NumericColumn("a", may_be_missing=False),
        CategoricalColumn("g", ["x", "y", "z"], may_be_missing=False),
        NumericColumn("b", may_be_missing=True),
    ]
)


def frame() -> pd.DataFrame:
    gaps = np.where(np.arange(N) % 7 == 0, np.nan, X[:, 2])
    return pd.DataFrame({"a": X[:, 1], "g": np.array(["x", "y", "z"])[LEVELS[5] % 3], "b": gaps})


def encoded(df: pd.DataFrame, weights: np.ndarray | None = None) -> tuple[EncodedRows, dict[str, StepRows]]:
    """The table, and steps: on all rows, by the wide X, on its own rows, of levels."""
    table = split_rows(rows_of(df), SCHEMA)
    parts = tuple(part for column in SCHEMA for part in parts_of(column))
    layout = Layout(parts, dict.fromkeys((part.key for part in parts if part.numeric), Scale(0.1, 2.0)), {})
    key = {(part.column, part.role): part for part in parts}
    width = layout.n_features
    one = tuple((j,) for j in range(layout.starts["b", "kind"]))
    steps = {
        "all rows": StepRows((key["a", "value"],), StepDesign(((0,),)), Scale()),
        "in X": StepRows((key["a", "value"],), StepDesign(((0,),)), Scale(0.1, 2.0), 1),
        "own rows": StepRows((key["b", "value"],), StepDesign(one), Scale()),
        "levels": StepRows((key["g", "value"],), StepDesign(((0,), (1,))), Scale()),
    }
    assert width >= len(one)
    return EncodedRows(table, layout, weights=weights), steps


def both() -> tuple[Any, Any]:
    times = W.astype(int)
    repeated = frame().loc[np.repeat(np.arange(N), times)].reset_index(drop=True)
    return encoded(frame(), W), encoded(repeated)


def test_moments_are_weighted():
    (rows, steps), (more, others) = both()
    for transform in (None, np.cbrt):
        queries = [Moments(transform)] * 3
        names = ("all rows", "in X", "own rows")
        left = answer_moments([steps[name] for name in names], queries, rows)
        right = answer_moments([others[name] for name in names], queries, more)
        for one, other in zip(left, right, strict=True):
            for field in ("n", "gram", "cross", "square"):
                np.testing.assert_allclose(getattr(one.value, field), getattr(other.value, field), rtol=1e-9)


def test_counts_and_row_sums_are_weighted():
    (rows, steps), (more, others) = both()
    left, right = (
        answer_alone(Counts(), given["levels"], where, keep=False).value
        for given, where in ((steps, rows), (others, more))
    )
    assert left.tolist() == right.tolist()
    query = RowSum(lambda X, y, w=None: (X.T @ (y if w is None else y * w),))
    for name in steps:
        left, right = (
            answer_alone(query, given[name], where, keep=False).value[0]
            for given, where in ((steps, rows), (others, more))
        )
        np.testing.assert_allclose(left, right, rtol=1e-9)


@pytest.mark.parametrize(
    "query",
    [
        WholeRows(),
        NoisyStatistics(lambda X, y: np.zeros(1, dtype=np.int64), 1, 1, 1.0),  # noqa: ARG005
        RowSum(lambda X, y: (X.T @ y,)),
    ],
    ids=lambda query: type(query).__name__,
)
def test_what_has_no_weighted_answer_is_refused_by_name(query):
    rows, steps = encoded(frame(), W)
    with pytest.raises(FitError, match="takes no weights") as caught:
        answer_alone(query, steps["all rows"], rows, keep=False)
    assert caught.value.kind == "weights"
    rows, steps = encoded(frame())
    answer_alone(query, steps["all rows"], rows, keep=False)


def test_quantiles_are_weighted():
    rows, steps = encoded(frame(), W + 1)
    found = answer_alone(Quantiles(), steps["own rows"], rows, keep=False).value
    there = frame()["b"].notna().to_numpy()
    np.testing.assert_allclose(found[0].sum(), 1.0)
    mean = (found[0] * (found[1] + 2 * found[2] + found[3]) / 4).sum()
    np.testing.assert_allclose(mean, np.average(X[there, 2], weights=(W + 1)[there]), rtol=1e-9)


@pytest.mark.parametrize("cap", [0, 2**28], ids=["together", "one by one"])
def test_whole_fits_are_those_of_repeated_rows(cap):
    found = []
    for rows, steps in both():
        rows.cap = cap
        fits = [
            started("norm", steps["own rows"], Target("y", "numeric")),
            started("polyreg", steps["levels"], Target("y", "categorical", n_levels=3)),
        ]
        Curator(rows).fit_all(fits)
        found.append([fit.params.beta for fit in fits])
    for left, right in zip(*found, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-6, atol=1e-9)


def started(name: str, step: StepRows, target: Target) -> StepFit:
    """A fit of a model to a step of the table."""
    size = len(step.design.features)
    task = FitTask(target, ("x",) * size, (False,) * size, int(W.sum()), targets=(target,))
    return StepFit(COLUMN_MODELS[name](), task, step)
