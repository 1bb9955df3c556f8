library(testthat)
library(pysynthdp)

test_check("pysynthdp")
