"""What a model can do besides, by the protocols it has, and whether it does it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.errors import PysynthdpError
from pysynthdp.models.ask import StepMoments
from pysynthdp.models.base import (
    ColumnModel,
    FitsFromMoments,
    HasPosterior,
    Priced,
    SplitsLevels,
)
from pysynthdp.privacy.mechanism import mechanism_from_dict
from pysynthdp.testing.arrays import task_for
from pysynthdp.testing.cases import Case, numbers_in
from pysynthdp.testing.checks import Check, broken, demand

__all__ = ["ability_checks"]

_NEEDED = ("beta", "sigma", "df")
# what doubling a table makes of the size of a root of X'X or of its inverse, and of these themselves
_OF_CROSS_PRODUCTS = (0.5, 0.5**0.5, 2**0.5, 2.0)


def ability_checks(model: ColumnModel, cases: Callable[[], tuple[Case, ...]]) -> tuple[Check, ...]:
    """List the checks of the protocols that a model has, on cases that are made when they are asked for."""
    has: dict[str, tuple[Any, Callable[[Case], None]]] = {
        "is_priced_from_public_constants": (Priced, _priced),
        "fits_from_moments": (FitsFromMoments, _from_moments),
        "splits_levels": (SplitsLevels, _splits),
    }
    own = {name: check for name, (protocol, check) in has.items() if isinstance(model, protocol)}
    named = {
        **own,
        "draws_the_same_without_its_posterior": _without_posterior,
        "keeps_no_posterior_that_nobody_redraws_from": _no_posterior,
    }
    return tuple(Check(name, partial(_each, check, cases)) for name, check in named.items())


def _each(check: Callable[[Case], None], cases: Callable[[], tuple[Case, ...]]) -> None:
    """Run a check on every plain table."""
    for case in cases():
        check(case)


def _priced(case: Case) -> None:
    """Check that the mechanism is known, its constants are plain, and it has a price."""
    model, n = case.model, len(case.X)
    assert isinstance(model, Priced)  # noqa: S101 -- for the type checker
    task = task_for(n, features=case.X.shape[1], together=case.together, **case.facts)
    name, constants = model.mechanism(task)
    demand(
        (name, json.dumps(constants, sort_keys=True)) == _again(model.mechanism(task)),
        case.told("mechanism says different things of one task, or constants that are not plain"),
        why="a plan is priced before a record is read, and the statement repeats it",
        mend="return the name and a dict of numbers and texts that follow from the settings and the task",
    )
    try:
        mechanism_from_dict(name, constants).price(n_syn=n, copies=1)
    except PysynthdpError as problem:
        broken(
            case.told(f"the mechanism {name!r} gives no price ({problem})"),
            why="BySampling takes no model whose draws have no price",
            mend="register the mechanism (pysynthdp.privacy.mechanisms, or the entry point "
            "pysynthdp.mechanisms) and give it all constants that it needs",
        )


def _again(said: tuple[str, dict[str, Any]]) -> tuple[str, str]:
    """Write what mechanism said."""
    return said[0], json.dumps(said[1], sort_keys=True)


def _from_moments(case: Case) -> None:
    """From exact cross-products a number gets its regression; levels get parameters, or a refusal."""
    params = _from_exact(case)
    lacking = [name for name in _NEEDED if params is not None and not hasattr(params, name)]
    demand(
        case.target.kind == "categorical" or not lacking,
        case.told(f"fit_from_moments returned {type(params).__name__} without {', '.join(lacking)}"),
        why="under ByNoise later columns take this column's moments from them",
        mend="return parameters with beta, sigma and df (NumberParams)",
    )


def _from_exact(case: Case) -> Any:
    """Fit to the moments; None for a refusal, as of a column that has several levels."""
    model = case.model
    assert isinstance(model, FitsFromMoments)  # noqa: S101 -- for the type checker
    task = task_for(len(case.X), features=case.X.shape[1], **case.facts)
    try:
        return model.fit_from_moments(task, _moments(case))
    except PysynthdpError:
        return None


def _moments(case: Case) -> StepMoments:
    """Write the exact moments of a case."""
    X, y, n = case.X, case.y, float(len(case.X))
    if case.target.kind == "categorical":
        codes = np.eye(case.target.n_levels)[y.astype(int)]
        return StepMoments(X, np.ones(len(X)), np.zeros((0, 0)), X.T @ codes, 0.0, n)
    nobody = np.zeros((0, X.shape[1]))
    return StepMoments(nobody, np.zeros(0), X.T @ X, (X.T @ y)[:, None], float(y @ y), n)


def _splits(case: Case) -> None:
    """Shares of the levels are one row each, and each sums to one."""
    model, params = case.model, _from_exact(case) if isinstance(case.model, FitsFromMoments) else None
    if case.target.kind != "categorical" or params is None:
        return
    assert isinstance(model, SplitsLevels)  # noqa: S101 -- for the type checker
    shares = np.asarray(model.level_shares(params, case.X))
    wanted = (len(case.X), case.target.n_levels)
    good = shares.shape == wanted and (shares >= 0).all() and np.allclose(shares.sum(axis=1), 1.0)
    demand(
        good,
        case.told(f"level_shares are not {wanted} with rows that sum to one"),
        why="under ByNoise later columns are fitted to rows weighted by them",
        mend="return the probability of every level for each row of X",
    )


def _without_posterior(case: Case) -> None:
    """Parameters that can do without their posterior draw the same without it."""
    params = case.done.params
    if not isinstance(params, HasPosterior):
        return
    demand(
        np.array_equal(case.draw(params.without_posterior()), case.draw(params)),
        case.told("parameters without their posterior draw other values"),
        why="a fit whose copies never redraw is saved without it",
        mend="leave out in without_posterior what redraw alone needs",
    )


def _no_posterior(case: Case) -> None:
    """Check that a fit whose copies never redraw holds no matrix that grows or shrinks as X'X does."""
    if case.priced:
        return  # its fit is confidential, whatever it holds
    twice = np.tile(np.arange(len(case.X)), 2)
    one, two = (dict(_matrices(case.fit(rows, proper=False).params)) for rows in (None, twice))
    for name in one.keys() & two.keys():
        ratio = np.linalg.norm(two[name]) / np.linalg.norm(one[name])
        demand(
            one[name].shape != two[name].shape or not np.isclose(ratio, _OF_CROSS_PRODUCTS, rtol=0.02).any(),
            case.told(f"{name} is kept with proper=False, and follows the number of rows as X'X does"),
            why="X'X, cells of one record in it, can be solved for from a root of the covariance, and such "
            "a fit is saved and shown as coefficients alone",
            mend="keep it if task.proper alone, or give the parameters without_posterior (HasPosterior)",
        )


def _matrices(params: Any) -> Iterator[tuple[str, AnyArray]]:
    """Arrays of two dimensions in the parameters as they are stored where nobody redraws."""
    stored = params.without_posterior() if isinstance(params, HasPosterior) else params
    for name, values in numbers_in(stored):
        if values.ndim == 2 and values.any():
            yield name, values
