from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


def loaded(file: str, name: str):
    """A module by path, because test folders are not packages."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(file))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def drive():
    """The in-memory curator."""
    return loaded("driver.py", "column_model_driver")


@pytest.fixture(scope="session")
def kit():
    """The same for models that carry a guarantee."""
    return loaded("guaranteed.py", "guaranteed_model_kit")
