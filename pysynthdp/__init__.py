"""Synthetic copies of a confidential table, true privacy statements, and intervals that cover."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pysynthdp.base.moved import MOVED, keep_old_paths

if TYPE_CHECKING:
    from pysynthdp.analysis import (
        PooledResults,
        combine,
        crosstab_of,
        glm,
        logit,
        mean_of,
        ols,
        pool,
        quantile_of,
        share_of,
        svyglm,
        svymean,
        svyratio,
        svytotal,
    )
    from pysynthdp.base.errors import (
        BridgeError,
        BudgetExceeded,
        CombiningRuleError,
        FitError,
        PlanError,
        PrivacyError,
        PysynthdpError,
        PysynthdpWarning,
        ReleaseError,
        SchemaError,
    )
    from pysynthdp.design.survey_table import SurveyTable
    from pysynthdp.design.tagged import missing_kinds
    from pysynthdp.evaluate import (
        DisclosureRisk,
        Report,
        UtilityComparison,
        compare,
        compare_fits,
        disclosure_risk,
    )
    from pysynthdp.io.folder.verifying import ReleaseVerification, verify
    from pysynthdp.io.ledger import Override, SpendingLedger
    from pysynthdp.io.sql.reading import SQLTable
    from pysynthdp.io.structure import StructureDiff, structure_diff
    from pysynthdp.io.survey import read
    from pysynthdp.io.tables import read_table
    from pysynthdp.parameters import ParameterRelease, release_mean, release_shares
    from pysynthdp.plan import SynthesisPlan
    from pysynthdp.privacy.guarantees.approx import ApproxDP
    from pysynthdp.privacy.guarantees.gdp import GDP
    from pysynthdp.privacy.guarantees.pure import PureDP
    from pysynthdp.privacy.guarantees.rdp import RDP
    from pysynthdp.privacy.guarantees.zcdp import ZCDP
    from pysynthdp.privacy.limit import SourceLimit
    from pysynthdp.privacy.shared_account import PrivacyAccount
    from pysynthdp.privacy.statements.statement import PrivacyStatement
    from pysynthdp.privacy.unit import PrivacyUnit
    from pysynthdp.protection.noise.by_noise import ByNoise
    from pysynthdp.protection.sampling.by_sampling import BySampling
    from pysynthdp.release import SyntheticRelease
    from pysynthdp.schema import CategoricalColumn, Design, Kind, Labels, NumericColumn, Schema
    from pysynthdp.synthesizer import FittedSynthesizer, Synthesizer, look, synthesize

__version__ = "0.2.0"

_WHERE = {
    "analysis": (
        "PooledResults",
        "combine",
        "crosstab_of",
        "glm",
        "logit",
        "mean_of",
        "ols",
        "pool",
        "quantile_of",
        "share_of",
        "svyglm",
        "svymean",
        "svyratio",
        "svytotal",
    ),
    "base.errors": (
        "BridgeError",
        "BudgetExceeded",
        "CombiningRuleError",
        "FitError",
        "PlanError",
        "PrivacyError",
        "PysynthdpError",
        "PysynthdpWarning",
        "ReleaseError",
        "SchemaError",
    ),
    "evaluate": (
        "DisclosureRisk",
        "Report",
        "UtilityComparison",
        "compare",
        "compare_fits",
        "disclosure_risk",
    ),
    "io.ledger": ("Override", "SpendingLedger"),
    "io.sql.reading": ("SQLTable",),
    "design.survey_table": ("SurveyTable",),
    "design.tagged": ("missing_kinds",),
    "io.survey": ("read",),
    "io.tables": ("read_table",),
    "io.folder.verifying": ("ReleaseVerification", "verify"),
    "io.structure": ("StructureDiff", "structure_diff"),
    "parameters": ("ParameterRelease", "release_mean", "release_shares"),
    "plan": ("SynthesisPlan",),
    "privacy.guarantees.approx": ("ApproxDP",),
    "privacy.guarantees.gdp": ("GDP",),
    "privacy.guarantees.pure": ("PureDP",),
    "privacy.guarantees.rdp": ("RDP",),
    "privacy.guarantees.zcdp": ("ZCDP",),
    "privacy.limit": ("SourceLimit",),
    "privacy.shared_account": ("PrivacyAccount",),
    "privacy.statements.statement": ("PrivacyStatement",),
    "privacy.unit": ("PrivacyUnit",),
    "protection.noise.by_noise": ("ByNoise",),
    "protection.sampling.by_sampling": ("BySampling",),
    "release": ("SyntheticRelease",),
    "schema": ("CategoricalColumn", "Design", "Kind", "Labels", "NumericColumn", "Schema"),
    "synthesizer": ("FittedSynthesizer", "Synthesizer", "look", "synthesize"),
}
_ROOMS = ("models", "privacy")  # packages whose own names are public too
_HOME = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "GDP",
    "RDP",
    "ZCDP",
    "ApproxDP",
    "BridgeError",
    "BudgetExceeded",
    "ByNoise",
    "BySampling",
    "CategoricalColumn",
    "CombiningRuleError",
    "Design",
    "DisclosureRisk",
    "FitError",
    "FittedSynthesizer",
    "Kind",
    "Labels",
    "NumericColumn",
    "Override",
    "ParameterRelease",
    "PlanError",
    "PooledResults",
    "PrivacyAccount",
    "PrivacyError",
    "PrivacyStatement",
    "PrivacyUnit",
    "PureDP",
    "PysynthdpError",
    "PysynthdpWarning",
    "ReleaseError",
    "ReleaseVerification",
    "Report",
    "SQLTable",
    "Schema",
    "SchemaError",
    "SourceLimit",
    "SpendingLedger",
    "StructureDiff",
    "SurveyTable",
    "SynthesisPlan",
    "Synthesizer",
    "SyntheticRelease",
    "UtilityComparison",
    "combine",
    "compare",
    "compare_fits",
    "crosstab_of",
    "disclosure_risk",
    "glm",
    "logit",
    "look",
    "mean_of",
    "missing_kinds",
    "ols",
    "pool",
    "quantile_of",
    "read",
    "read_table",
    "release_mean",
    "release_shares",
    "share_of",
    "structure_diff",
    "svyglm",
    "svymean",
    "svyratio",
    "svytotal",
    "synthesize",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS or name in MOVED:
        return import_module(f"pysynthdp.{name}")
    if name not in _HOME:
        msg = f"module 'pysynthdp' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"pysynthdp.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


keep_old_paths()
