from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def drive():
    """The in-memory curator, loaded by path because test folders are not packages."""
    path = Path(__file__).with_name("driver.py")
    spec = importlib.util.spec_from_file_location("column_model_driver", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
