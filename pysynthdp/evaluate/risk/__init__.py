"""What copies give away of the records: measures and attacks beside people never used; measure.py."""

from pysynthdp.evaluate.risk.measure import disclosure_risk
from pysynthdp.evaluate.risk.result import DisclosureRisk

__all__ = ["DisclosureRisk", "disclosure_risk"]
