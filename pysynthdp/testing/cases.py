"""The tables that every model is tried on, and what a fit to one of them gave."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pysynthdp.base.arrays import AnyArray, FloatArray
from pysynthdp.base.errors import FitError, PlanError, PrivacyError
from pysynthdp.models.base import ColumnModel, Priced, Target
from pysynthdp.testing.arrays import Fitted, fitted, sampler
from pysynthdp.testing.checks import broken
from pysynthdp.testing.hard import Arrays

__all__ = ["Case", "N", "cases_of", "numbers_in", "targets_tried"]

N = 307  # prime, so that no array of parameters has as many entries by accident


def targets_tried() -> dict[str, Target]:
    """Every kind of target that a plan may hand to a model."""
    return {
        "a number": Target("y", "numeric"),
        "a number with bounds": Target("y", "numeric", lower=0.0, upper=20.0),
        "a count": Target("y", "numeric", decimals=0),
        "two levels": Target("y", "categorical", 2),
        "five levels": Target("y", "categorical", 5),
        "four ordered levels": Target("y", "categorical", 4, ordered=True),
    }


@dataclass(frozen=True)
class Case:
    """A model, a target that it draws, and a table.

    Parameters
    ----------
    label : str
        What the target is, for messages.
    model : ColumnModel
        The model.
    target : Target
        What it draws.
    data : Arrays
        Features and target.
    together : int
        How many columns it fills at once, all alike here.
    """

    label: str
    model: ColumnModel
    target: Target
    data: Arrays
    together: int = 1

    @property
    def X(self) -> FloatArray:  # noqa: N802 -- the name of the thing
        """Features, which nobody can write into."""
        X = np.asfortranarray(self.data.X)
        X.flags.writeable = False
        return X

    @property
    def y(self) -> FloatArray:
        """The target, or as many alike, turned a little, as the model fills."""
        y = self.data.y
        return y if self.together == 1 else np.stack([np.roll(y, k) for k in range(self.together)], axis=1)

    @property
    def priced(self) -> bool:
        """Whether the model's own draw carries a guarantee."""
        return isinstance(self.model, Priced)

    @property
    def facts(self) -> dict[str, Any]:
        """What the model is told."""
        target = self.target
        known = {"levels": target.n_levels, "ordered": target.ordered, "proper": True}
        bounds = {"lower": target.lower, "upper": target.upper, "decimals": target.decimals}
        norm = float(np.linalg.norm(self.data.X, axis=1).max()) if self.priced else None
        return {**known, **bounds, "row_norm": norm}

    def fit(self, rows: AnyArray | None = None, **more: Any) -> Fitted:
        """Fit, to all rows or some in another order; ``more`` says how they are read."""
        order = slice(None) if rows is None else rows
        settings = {"guarded": self.priced, **self.facts, **more}
        return fitted(self.model, self.X[order], self.y[order], **settings)

    @cached_property
    def done(self) -> Fitted:
        """The fit to the whole table at once."""
        return self.fit()

    def draw(self, params: Any, seed: int = 1) -> FloatArray:
        """Draw a value for every row."""
        return self.model.draw(params, self.X, sampler(seed))

    def told(self, what: str) -> str:
        """Say it of the model, the target and the table."""
        return f"{type(self.model).__name__}, for {self.label} (table: {self.data.name}): {what}"


def cases_of(model: ColumnModel, together: int) -> tuple[Case, ...]:
    """Every plain table that the model does not refuse.

    Raises
    ------
    AssertionError
        If it refuses them all, so that nothing would be checked.
    """
    tried = [
        Case(label, model, target, plain_table(target), together)
        for label, target in targets_tried().items()
        if model.accepts(target)
    ]
    alike = [dataclasses.replace(case, data=_constant(case)) for case in tried]
    found = tuple(filter(_not_refused, tried)) or tuple(filter(_not_refused, alike))
    if not found:
        broken(
            f"{type(model).__name__} draws none of {', '.join(targets_tried())}: nothing was checked",
            why="a contract that is tried on nothing says nothing",
            mend="return True from accepts for what it can draw, give the model the settings that it needs "
            "(an object in the place of the class), or say by together= how many columns it fills at once",
        )
    return found


def plain_table(target: Target) -> Arrays:
    """Features (intercept, two numbers, a dummy) and a target that depends on them."""
    rng = np.random.default_rng(0)
    numbers, dummy = rng.standard_normal((N, 2)), rng.integers(0, 2, N)
    X = np.column_stack([np.ones(N), numbers, dummy]).astype(np.float64)
    latent = X @ [1.0, 0.5, -0.3, 0.4] + rng.standard_normal(N)
    return Arrays("plain", X, _target(target, latent, rng))


def _target(target: Target, latent: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Levels by quantiles, counts, or numbers above zero, so that models of a logarithm draw them too."""
    if target.kind == "categorical":
        edges = np.quantile(latent, np.linspace(0, 1, target.n_levels + 1)[1:-1])
        return np.searchsorted(edges, latent).astype(np.float64)
    if target.decimals == 0:
        return rng.poisson(np.exp(latent / 2)).astype(np.float64)
    return np.minimum(np.exp(latent), target.upper or np.inf)


def _constant(case: Case) -> Arrays:
    """Give the same table with one value, for a model that draws nothing else."""
    return Arrays("one value alone", case.data.X, np.full_like(case.data.y, 1.0))


def _not_refused(case: Case) -> bool:
    """Whether the fit is no refusal; what breaks otherwise is a check's to tell."""
    try:
        case.done  # noqa: B018 -- the fit is the test
    except (FitError, PlanError, PrivacyError):
        return False
    except Exception:  # noqa: BLE001 -- a model may be anybody's code
        return True
    return True


def numbers_in(value: Any, path: str = "") -> Iterator[tuple[str, AnyArray]]:
    """All numbers in parameters, with their place."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for item in dataclasses.fields(value):
            yield from numbers_in(getattr(value, item.name), f"{path}.{item.name}")
    elif isinstance(value, tuple):
        for index, part in enumerate(value):
            yield from numbers_in(part, f"{path}[{index}]")
    elif isinstance(value, np.ndarray | int | float | np.number):
        yield path.lstrip("."), np.asarray(value, dtype=np.float64)
