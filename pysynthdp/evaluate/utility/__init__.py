"""What copies are worth: tables, numbers, subgroups, regressions and propensity scores, worst first."""

from pysynthdp.evaluate.utility.compare import compare
from pysynthdp.evaluate.utility.heldout import halves
from pysynthdp.evaluate.utility.result import UtilityComparison
from pysynthdp.evaluate.utility.synthpop_statistics import propensity_statistics, table_statistics

__all__ = ["UtilityComparison", "compare", "halves", "propensity_statistics", "table_statistics"]
