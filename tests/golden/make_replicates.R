# Writes tests/golden/design/replicates.json: replicate weights of a made-up design, by R's package survey.
#
#   Rscript --vanilla tests/golden/make_replicates.R tests/golden
#
# Needs survey and jsonlite. The design is that of design/sample.csv, and its first two units of each stratum for
# halves. Replicates of halves depend on the Hadamard matrix, so only variances are kept of them.

folder <- file.path(commandArgs(trailingOnly = TRUE)[[1L]], "design")
suppressPackageStartupMessages({
  library(survey)
  library(jsonlite)
})
rows <- read.csv(file.path(folder, "sample.csv"))
rows$hours <- as.numeric(rows$hours)
rows$id <- rows$stratum * 100L + rows$unit
rows <- rows[order(rows$id), ]
two <- rows[rows$unit <= 2L, ]

said <- function(design) {
  w <- weights(design, type = "analysis")
  list(factors = unname(w / weights(design, type = "sampling")), scale = design$scale, rscales = design$rscales,
       total = c(vcov(svytotal(~hours, design))), ratio = c(vcov(svyratio(~hours, ~weight, design))))
}
clustered <- svydesign(~id, strata = ~stratum, weights = ~weight, data = rows)
finite <- svydesign(~id, strata = ~stratum, weights = ~weight, fpc = ~size, data = rows)
whole <- svydesign(~id, weights = ~weight, data = rows)
halves <- svydesign(~id, strata = ~stratum, weights = ~weight, data = two)
brr <- as.svrepdesign(halves, type = "BRR")
fay <- as.svrepdesign(halves, type = "Fay", fay.rho = 0.5)
total <- function(design) list(scale = design$scale * ncol(weights(design, type = "analysis")),
                               total = c(vcov(svytotal(~hours, design))))
write_json(list(versions = list(R = as.character(getRversion()), survey = as.character(packageVersion("survey"))),
                JKn = said(as.svrepdesign(clustered, type = "JKn")), finite = said(as.svrepdesign(finite, type = "JKn")),
                JK1 = said(as.svrepdesign(whole, type = "JK1")), BRR = total(brr), Fay = total(fay),
                bootstrap = list(scale = as.svrepdesign(clustered, type = "subbootstrap", replicates = 40)$scale)),
           file.path(folder, "replicates.json"), auto_unbox = TRUE, digits = NA)
