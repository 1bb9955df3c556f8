"""Column models, one file each; a new file is found by the registry.

The classes are here by name: ``from pysynthdp.models import Norm, Gaussian``.
"""

from __future__ import annotations

from typing import Any


def _classes() -> dict[str, Any]:
    """Every registered model by the name of its class."""
    from pysynthdp.models.base import COLUMN_MODELS  # base imports this package first

    return {COLUMN_MODELS[name].__name__: COLUMN_MODELS[name] for name in COLUMN_MODELS}


def __getattr__(name: str) -> Any:
    if name.startswith("_") or not name[:1].isupper() or name not in _classes():
        msg = f"module 'pysynthdp.models' has no attribute {name!r}"
        raise AttributeError(msg)
    return _classes()[name]


def __dir__() -> list[str]:
    return sorted(_classes())
