"""What copies are worth and what they risk, held against the confidential table: INTERNAL, never released."""

from pysynthdp.evaluate.fits import Comparison, LackOfFit, compare_fits
from pysynthdp.evaluate.internal import Internal
from pysynthdp.evaluate.report.report import Report
from pysynthdp.evaluate.risk import DisclosureRisk, disclosure_risk
from pysynthdp.evaluate.utility import (
    UtilityComparison,
    compare,
    halves,
    propensity_statistics,
    table_statistics,
)

__all__ = [
    "Comparison",
    "DisclosureRisk",
    "Internal",
    "LackOfFit",
    "Report",
    "UtilityComparison",
    "compare",
    "compare_fits",
    "disclosure_risk",
    "halves",
    "propensity_statistics",
    "table_statistics",
]
