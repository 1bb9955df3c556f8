"""What copies are worth and what they risk, held against the confidential table: INTERNAL, never released."""

from pysynthdp.evaluate.fits import Comparison, LackOfFit, compare_fits
from pysynthdp.evaluate.internal import Internal

__all__ = ["Comparison", "Internal", "LackOfFit", "compare_fits"]
