"""Survey files as they are: SPSS, Stata, SAS, and tables with a codebook."""

from pysynthdp.io.survey.reading import read, read_described, reads

__all__ = ["read", "read_described", "reads"]
