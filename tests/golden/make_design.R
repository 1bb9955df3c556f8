# Writes tests/golden/design/: a made-up sample, and what R's package survey says of it.
#
#   Rscript --vanilla tests/golden/make_design.R tests/golden
#
# Needs survey and jsonlite. Compare with the file in place: `git diff` shows the last digits only where R or its BLAS
# differs.

folder <- file.path(commandArgs(trailingOnly = TRUE)[[1L]], "design")
suppressPackageStartupMessages({
  library(survey)
  library(jsonlite)
})
options(survey.adjust.domain.lonely = FALSE)

tight <- list(epsilon = 1e-14, maxit = 100)
set.seed(61)
strata <- 6L
units <- c(4L, 3L, 5L, 2L, 4L, 3L)
size <- c(40, 30, 55, 12, 38, 25) # sampling units there are
rows <- do.call(rbind, lapply(seq_len(strata), function(h) {
  do.call(rbind, lapply(seq_len(units[[h]]), function(i) {
    n <- sample(4:9, 1L)
    centre <- rnorm(1L, h / 2, 0.6)
    data.frame(stratum = h, unit = i, size = size[[h]], weight = round(size[[h]] / units[[h]] * runif(1L, 0.8, 1.6), 3),
               income = round(exp(rnorm(n, centre / 4 + 2, 0.5)), 2), hours = sample(10:45, n, TRUE),
               region = sample(c("north", "south", "west"), n, TRUE), work = sample(c("no", "yes"), n, TRUE))
  }))
}))
rows$income[c(3L, 40L, 77L)] <- NA
alone <- rows
alone$stratum[alone$stratum == 4L & alone$unit == 2L] <- 7L # two strata of one unit
write.csv(rows, file.path(folder, "sample.csv"), row.names = FALSE, na = "")
write.csv(alone, file.path(folder, "alone.csv"), row.names = FALSE, na = "")

plain <- function(x) list(values = unname(c(coef(x))), cov = unname(as.matrix(vcov(x))))
designs <- list(
  clustered = svydesign(~unit, strata = ~stratum, weights = ~weight, data = rows, nest = TRUE),
  finite = svydesign(~unit, strata = ~stratum, weights = ~weight, fpc = ~size, data = rows, nest = TRUE),
  rows = svydesign(~1, strata = ~stratum, weights = ~weight, data = rows),
  weighted = svydesign(~1, weights = ~weight, data = rows)
)
said <- lapply(designs, function(design) {
  by <- svyby(~hours, ~region, design, svymean, covmat = TRUE)
  linear <- svyglm(income ~ hours + region, design, control = tight)
  logistic <- svyglm(I(work == "yes") ~ hours + region, design, family = quasibinomial(), control = tight)
  list(
    df = degf(design),
    mean = plain(svymean(~income, design, na.rm = TRUE)),
    means = plain(svymean(~income + hours, design, na.rm = TRUE)),
    total = plain(svytotal(~hours, design)),
    shares = plain(svymean(~region, design)),
    counts = plain(svytotal(~region, design)),
    ratio = list(values = unname(coef(svyratio(~income, ~hours, design, na.rm = TRUE))),
                 cov = unname(as.matrix(vcov(svyratio(~income, ~hours, design, na.rm = TRUE))))),
    by = plain(by),
    linear = c(plain(linear), df = linear$df.residual),
    logistic = c(plain(logistic), df = logistic$df.residual)
  )
})
lonely <- lapply(c(certainty = "certainty", adjust = "adjust", average = "average"), function(word) {
  options(survey.lonely.psu = word)
  plain(svytotal(~hours, svydesign(~unit, strata = ~stratum, weights = ~weight, data = alone, nest = TRUE)))
})
write_json(list(versions = list(R = as.character(getRversion()), survey = as.character(packageVersion("survey"))),
                designs = said, lonely = lonely),
           file.path(folder, "survey.json"), auto_unbox = TRUE, digits = NA, pretty = TRUE)
