"""What every column model must keep; a new file in ``pysynthdp/models`` is tested here by being there."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from functools import cache
from typing import Any

import numpy as np
import pytest

import pysynthdp.models
from pysynthdp.base.errors import FitError
from pysynthdp.base.streams import NumpySampler, root_sequence, stream
from pysynthdp.curator.quantiles import coarse_quantiles
from pysynthdp.models.ask import Answer, Counts, Moments, MomentSums, Note, Quantiles, RowSum, WholeRows
from pysynthdp.models.base import COLUMN_MODELS, FitTask, Target

N = 300
PLAIN = (bool, int, float, str, type(None))
TARGETS = {
    "real": Target("y", "numeric"),
    "count": Target("y", "numeric", decimals=0),
    "binary": Target("y", "categorical", n_levels=2),
    "unordered": Target("y", "categorical", n_levels=5),
    "ordered": Target("y", "categorical", n_levels=4, ordered=True),
}


def table(target: Target, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features (intercept, two numbers, one dummy) and a target that depends on them."""
    rng = np.random.default_rng(seed)
    numbers, dummy = rng.standard_normal((N, 2)), rng.integers(0, 2, N)
    X = np.column_stack([np.ones(N), numbers, dummy]).astype(float)
    latent = X @ [1.0, 0.5, -0.3, 0.4] + rng.standard_normal(N)
    if target.kind == "categorical":
        edges = np.quantile(latent, np.linspace(0, 1, target.n_levels + 1)[1:-1])
        return X, np.searchsorted(edges, latent).astype(float)
    if target.decimals == 0:
        return X, rng.poisson(np.exp(latent / 2)).astype(float)
    return X, np.exp(latent)  # positive, so that models of a logarithm or a root can draw it


def answer(query: Any, X: np.ndarray, y: np.ndarray, n_levels: int, blocks: int) -> Answer:
    """Answer a query as the curator does, the rows split into blocks."""
    match query:
        case RowSum():
            X, y = X[:: query.every], y[:: query.every]
            pieces = zip(np.array_split(X, blocks), np.array_split(y, blocks), strict=True)
            terms = [query.of(np.asfortranarray(a), b) for a, b in pieces]
            return Answer(tuple(sum(parts[1:], start=parts[0]) for parts in zip(*terms, strict=True)))
        case Moments():
            z = y if query.transform is None else query.transform(y)
            return Answer(MomentSums(float(len(y)), X.T @ X, X.T @ z, float(z @ z)))
        case Counts():
            return Answer(np.bincount(y.astype(int), minlength=n_levels).astype(float))
        case Quantiles():
            return Answer(coarse_quantiles(y, knots=query.knots, smallest=query.smallest))
        case WholeRows():
            return Answer((X, y))
        case Note():
            return Answer(None)
    raise AssertionError(query)


@cache
def fit(model: Any, target: Target, *, blocks: int = 1, proper: bool = True) -> Any:
    """Run a model's generator to its end."""
    X, y = table(target)
    job = model.fit(
        FitTask(target, ("intercept", "a", "b", "c"), (False, False, False, True), len(y), proper)
    )
    asked = next(job)
    try:
        while True:
            asked = job.send(answer(asked, X, y, target.n_levels, blocks))
    except StopIteration as end:
        return end.value


def fits(model: Any, target: Target) -> bool:
    """Whether the model draws this target; what its values do not allow is a FitError."""
    if not model.accepts(target):
        return False
    try:
        fit(model, target)
    except FitError:
        return False
    return True


# models that carry a guarantee need public settings; they have test_guaranteed_models.py
PLAIN_MODELS = [name for name in COLUMN_MODELS if not hasattr(COLUMN_MODELS[name], "mechanism")]
CASES = [
    (name, kind)
    for name in PLAIN_MODELS
    for kind, target in TARGETS.items()
    if fits(COLUMN_MODELS[name](), target)
]


@pytest.fixture(params=CASES, ids="-".join)
def case(request) -> tuple[Any, Target]:
    name, kind = request.param
    return COLUMN_MODELS[name](), TARGETS[kind]


def draws(model: Any, params: Any, target: Target, seed: int = 1) -> np.ndarray:
    """Values for the table's own rows."""
    return model.draw(params, table(target)[0], NumpySampler(stream(root_sequence(seed), 0)))


def arrays(value: Any) -> list[np.ndarray]:
    """All numbers in parameters, and nothing else than plain things may be there."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        assert value.__dataclass_params__.frozen, f"{type(value).__name__} must be frozen"
        return [a for field in dataclasses.fields(value) for a in arrays(getattr(value, field.name))]
    if isinstance(value, tuple):
        return [a for part in value for a in arrays(part)]
    assert isinstance(value, (np.ndarray, *PLAIN)), f"{type(value).__name__} cannot be written to a file"
    numeric = isinstance(value, np.ndarray | int | float)
    return [np.asarray(value, dtype=float)] if numeric else []


def rebuilt(value: Any) -> Any:
    """Parameters as they come back from a file: their fields, written plain and read again."""
    if dataclasses.is_dataclass(value):
        fields = {f.name: rebuilt(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init}
        return type(value)(**fields)
    if isinstance(value, tuple):
        return tuple(rebuilt(part) for part in value)
    return (
        np.array(value.tolist(), dtype=value.dtype).reshape(value.shape)
        if isinstance(value, np.ndarray)
        else value
    )


def test_every_file_registers_the_model_of_its_name():
    found = pkgutil.walk_packages(pysynthdp.models.__path__, "pysynthdp.models.")
    names = {module.name for module in found if not module.ispkg and ".fits." not in module.name}
    assert set(COLUMN_MODELS) == {name.rpartition(".")[2] for name in names} - {"ask", "base"}


@pytest.mark.parametrize("name", list(COLUMN_MODELS))
def test_a_model_is_frozen_settings_with_a_name_a_reason_and_a_docstring(name):
    model = COLUMN_MODELS[name]()
    assert type(model).__module__ in {f"pysynthdp.models.{name}", f"pysynthdp.models.joint.{name}"}
    assert type(model).__name__.lower() == name.replace("_", "")
    assert type(model).__dataclass_params__.frozen
    assert len(model.reason.split()) > 5
    assert model.reason[0].islower()
    assert isinstance(model.real_values, bool)
    assert "Privacy:" in type(model).__doc__
    assert name in importlib.import_module(type(model).__module__).__doc__


@pytest.mark.parametrize("name", PLAIN_MODELS)
def test_a_model_is_tested_on_some_target(name):
    assert name in {case[0] for case in CASES} | {"constant"}  # constant has a test of its own below


def test_draws_stay_in_the_target_s_domain(case):
    model, target = case
    values = np.asarray(draws(model, fit(model, target), target))
    assert values.shape == (N,)
    assert np.isfinite(values).all()
    if target.kind == "categorical":
        assert set(np.unique(values)) <= set(range(target.n_levels))
        assert len(np.unique(values)) == target.n_levels


def test_draws_depend_on_the_sampler_alone(case):
    model, target = case
    params = fit(model, target)
    np.testing.assert_array_equal(draws(model, params, target), draws(model, params, target))
    assert (draws(model, params, target, 1) != draws(model, params, target, 2)).any()


def test_parameters_are_frozen_plain_finite_and_hold_no_record(case):
    model, target = case
    for values in arrays(fit(model, target)):
        assert np.isfinite(values).all()
        assert N not in values.shape


def test_parameters_survive_being_written_and_read(case):
    model, target = case
    params = fit(model, target)
    np.testing.assert_array_equal(draws(model, rebuilt(params), target), draws(model, params, target))


def test_a_fit_is_the_same_over_any_split_of_the_rows(case):
    model, target = case
    whole, split = arrays(fit(model, target)), arrays(fit(model, target, blocks=7))
    for one, other in zip(whole, split, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-8)


def test_redrawn_parameters_differ_have_the_same_form_and_can_draw(case):
    model, target = case
    params = fit(model, target)
    new = model.redraw(params, np.random.default_rng(1))
    assert type(new) is type(params)
    assert [a.shape for a in arrays(new)] == [a.shape for a in arrays(params)]
    assert any((a != b).any() for a, b in zip(arrays(new), arrays(params), strict=True))
    assert np.isfinite(draws(model, new, target)).all()


def test_redrawing_leaves_the_fitted_parameters_alone(case):
    model, target = case
    params = fit(model, target)
    before = [values.copy() for values in arrays(params)]
    model.redraw(params, np.random.default_rng(1))
    for then, now in zip(before, arrays(params), strict=True):
        np.testing.assert_array_equal(now, then)


def test_constant_repeats_the_one_value():
    model = COLUMN_MODELS["constant"]()
    target = Target("y", "numeric")
    X, y = table(target)
    job = model.fit(FitTask(target, ("intercept", "a", "b", "c"), (False, False, False, True), N))
    with pytest.raises(StopIteration) as end:
        job.send(answer(next(job), X, np.full_like(y, 42.0), 0, 1))
    values = model.draw(end.value.value, X, NumpySampler(stream(root_sequence(0), 0)))
    np.testing.assert_array_equal(values, np.full(N, 42.0))
