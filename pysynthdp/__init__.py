"""Synthetic copies of a confidential table, true privacy statements, and intervals that cover."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pysynthdp.analysis import PooledResults, combine, compare_fits, glm, logit, ols, pool
    from pysynthdp.errors import (
        BridgeError,
        CombiningRuleError,
        FitError,
        PlanError,
        PrivacyError,
        PysynthdpError,
        PysynthdpWarning,
        ReleaseError,
        SchemaError,
    )
    from pysynthdp.overview import look
    from pysynthdp.plan import SynthesisPlan
    from pysynthdp.privacy.statement import PrivacyStatement
    from pysynthdp.release import SyntheticRelease
    from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema
    from pysynthdp.synthesizer import FittedSynthesizer, Synthesizer, synthesize

__version__ = "0.1.0"

_WHERE = {
    "analysis": ("PooledResults", "combine", "compare_fits", "glm", "logit", "ols", "pool"),
    "errors": (
        "BridgeError",
        "CombiningRuleError",
        "FitError",
        "PlanError",
        "PrivacyError",
        "PysynthdpError",
        "PysynthdpWarning",
        "ReleaseError",
        "SchemaError",
    ),
    "overview": ("look",),
    "plan": ("SynthesisPlan",),
    "privacy.statement": ("PrivacyStatement",),
    "release": ("SyntheticRelease",),
    "schema": ("CategoricalColumn", "NumericColumn", "Schema"),
    "synthesizer": ("FittedSynthesizer", "Synthesizer", "synthesize"),
}
_HOME = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "BridgeError",
    "CategoricalColumn",
    "CombiningRuleError",
    "FitError",
    "FittedSynthesizer",
    "NumericColumn",
    "PlanError",
    "PooledResults",
    "PrivacyError",
    "PrivacyStatement",
    "PysynthdpError",
    "PysynthdpWarning",
    "ReleaseError",
    "Schema",
    "SchemaError",
    "SynthesisPlan",
    "Synthesizer",
    "SyntheticRelease",
    "combine",
    "compare_fits",
    "glm",
    "logit",
    "look",
    "ols",
    "pool",
    "synthesize",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        msg = f"module 'pysynthdp' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"pysynthdp.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
