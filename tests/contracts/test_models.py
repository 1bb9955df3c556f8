"""What every column model must keep; a new file in ``pysynthdp/models`` is tested here by being there."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np
import pytest

import pysynthdp.models
from pysynthdp.models import Dirichlet, Gaussian, GaussianFloor, LogRidge, MultivariateNormal, Ridge
from pysynthdp.models.base import COLUMN_MODELS
from pysynthdp.testing import Check, column_model_checks, fitted, sampler

# models that carry a guarantee need public settings; their prices have test_guaranteed_models.py
SETTINGS: dict[str, Any] = {
    "dirichlet": Dirichlet(prior=20.0),
    "gaussian": Gaussian(sigma=5.0),
    "gaussian_floor": GaussianFloor(floor=2.0),
    "logridge": LogRidge(penalty=20.0),
    "multivariate_normal": MultivariateNormal(ridge=0.3),
    "ridge": Ridge(penalty=400.0, sigma=5.0),
}
JOINT = {"multivariate_normal": 2}
# its answers carry fresh noise, so that no two fits agree: tests/unit/models/test_linear_statistics.py
NOISY = {"linear_statistics"}


def checks() -> list[Any]:
    """Every check of every model, with a name to ask for."""
    found: list[tuple[str, Check]] = []
    for name in COLUMN_MODELS:
        if name not in NOISY:
            model = SETTINGS.get(name, COLUMN_MODELS[name])
            found += [(name, check) for check in column_model_checks(model, together=JOINT.get(name, 1))]
    return [pytest.param(check, id=f"{name}-{check}") for name, check in found]


@pytest.mark.parametrize("check", checks())
def test_every_model_keeps_the_contract(check):
    check()


def test_every_file_registers_the_model_of_its_name():
    found = pkgutil.walk_packages(pysynthdp.models.__path__, "pysynthdp.models.")
    names = {module.name for module in found if not module.ispkg and ".fits." not in module.name}
    assert set(COLUMN_MODELS) == {name.rpartition(".")[2] for name in names} - {"ask", "base"}


@pytest.mark.parametrize("name", list(COLUMN_MODELS))
def test_a_model_is_called_as_its_file_and_documented(name):
    model = COLUMN_MODELS[name]
    assert model.__module__ in {f"pysynthdp.models.{name}", f"pysynthdp.models.joint.{name}"}
    assert model.__name__.lower() == name.replace("_", "")
    assert "Privacy:" in model.__doc__
    assert name in importlib.import_module(model.__module__).__doc__


def test_constant_repeats_the_one_value():
    model, X = COLUMN_MODELS["constant"](), np.ones((300, 1))
    values = model.draw(fitted(model, X, np.full(300, 42.0)).params, X, sampler())
    np.testing.assert_array_equal(values, np.full(300, 42.0))
