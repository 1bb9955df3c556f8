"""Survey files as they are: SPSS, Stata, SAS, and tables with a codebook."""

from pysynthdp.io.survey.reading import read, reads

__all__ = ["read", "reads"]
