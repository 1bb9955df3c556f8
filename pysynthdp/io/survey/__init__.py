"""Files of SPSS, Stata and SAS, with labels and missing kinds: one file a format."""
