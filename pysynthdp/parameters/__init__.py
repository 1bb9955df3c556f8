"""Release a parameter itself instead of records: posterior draws of a mean or of shares, or with noise."""

from pysynthdp.parameters.mean import release_mean
from pysynthdp.parameters.released import ParameterRelease
from pysynthdp.parameters.shares import release_shares

__all__ = ["ParameterRelease", "release_mean", "release_shares"]
