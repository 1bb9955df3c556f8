"""Survey files as they are: SPSS, Stata, SAS, and tables with a codebook, with all that they say."""

from pysynthdp.io.survey.reading import read, reads

__all__ = ["read", "reads"]
