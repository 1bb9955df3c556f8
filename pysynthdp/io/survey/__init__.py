"""Survey files as they are: SPSS, Stata, SAS, and tables with a codebook."""

from pysynthdp.io.survey.labelled_files import column_names
from pysynthdp.io.survey.reading import read, read_described, reads

__all__ = ["column_names", "read", "read_described", "reads"]
