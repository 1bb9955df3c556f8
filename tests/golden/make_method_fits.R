# Writes tests/golden/method_fits.json: the fits of synthpop's parametric methods, from their definitions.
#
#   Rscript --vanilla tests/golden/make_method_fits.R tests/golden
#
# Needs MASS, nnet and jsonlite, not synthpop. Reads method_fits_survey.csv, a made-up table. Compare with the
# file in place: `git diff` shows the last digits only where R or its BLAS differs.

folder <- commandArgs(trailingOnly = TRUE)[[1L]]
suppressPackageStartupMessages({
  library(MASS)
  library(nnet)
  library(jsonlite)
})

survey <- read.csv(file.path(folder, "method_fits_survey.csv"))
predictors <- cbind(age = survey$age, visits = survey$visits, sexM = as.numeric(survey$sex == "M"))

# Least squares shrunken by 1e-5 of the diagonal of X'X, one degree of freedom less than n - p
shrunken <- function(y) {
  x <- cbind(1, predictors)
  gram <- crossprod(x)
  beta <- drop(solve(gram + 1e-5 * diag(diag(gram)), crossprod(x, y)))
  df <- length(y) - ncol(x) - 1
  list(beta = unname(beta), sigma = sqrt(sum((y - x %*% beta)^2) / df))
}
scores <- qnorm(rank(survey$bmi) / (nrow(survey) + 1))
shift <- 0.5 * min(survey$income[survey$income > 0])

# Per predictor and level two rows, half a standard deviation from the means, within the range
# (White, Daniel and Royston 2010, Computational Statistics & Data Analysis 54, 2267), with a total weight of one row
# a coefficient
augmented <- function(x, y) {
  middle <- colMeans(x)
  spread <- apply(x, 2, sd)
  rows <- NULL
  codes <- integer()
  for (j in seq_len(ncol(x))) {
    for (level in seq_along(levels(y))) {
      for (sign in c(0.5, -0.5)) {
        row <- middle
        row[j] <- min(max(row[j] + sign * spread[j], min(x[, j])), max(x[, j]))
        rows <- rbind(rows, row)
        codes <- c(codes, level)
      }
    }
  }
  extra <- factor(levels(y)[codes], levels(y), ordered = is.ordered(y))
  list(
    x = rbind(x, rows),
    y = factor(c(as.character(y), as.character(extra)), levels(y), ordered = is.ordered(y)),
    w = c(rep(1, nrow(x)), rep((ncol(x) + 1) / nrow(rows), nrow(rows)))
  )
}

logistic <- function() {
  data <- augmented(scale(predictors, scale = FALSE), factor(survey$smoke))
  y <- as.numeric(data$y == "yes")
  fit <- glm.fit(cbind(1, data$x), y, data$w, family = quasibinomial(), control = list(epsilon = 1e-14, maxit = 100))
  list(coefficients = list(rows = c("", colnames(predictors)), values = matrix(unname(fit$coefficients))))
}

multinomial <- function() {
  data <- augmented(predictors, factor(survey$region))
  for (j in which(apply(data$x, 2, function(v) any(v < 0 | v > 1)))) {
    data$x[, j] <- (data$x[, j] - min(data$x[, j])) / diff(range(data$x[, j]))
  }
  fit <- multinom(y ~ x, data, weights = w, maxit = 5000, trace = FALSE, reltol = 1e-16, abstol = 1e-16)
  values <- coef(fit)
  list(coefficients_tight = list(rows = rownames(values), values = unname(values)), deviance_tight = fit$deviance)
}

proportional <- function() {
  order <- c("primary", "lower", "upper", "college", "graduate")
  data <- augmented(predictors, factor(survey$edu, order, ordered = TRUE))
  fit <- suppressWarnings(polr(y ~ x, data, weights = w)) # its start is a glm, which wants whole weights
  values <- c(fit$coefficients, fit$zeta)
  list(coefficients = list(rows = c(colnames(predictors), names(fit$zeta)), values = matrix(unname(values))),
       deviance = fit$deviance)
}

version <- function(name) as.character(packageVersion(name))
result <- list(
  meta = list(
    R = R.version.string, nnet = version("nnet"), MASS = version("MASS"),
    made_by = "tests/golden/make_method_fits.R"
  ),
  direct = list(
    predictors = "intercept, age, visits, sexM (1 if sex is M)",
    norm_bmi = shrunken(survey$bmi),
    normrank_bmi = shrunken(scores),
    lognorm_income = shrunken(log(survey$income + shift)),
    sqrtnorm_income = shrunken(sqrt(survey$income)),
    cubertnorm_income = shrunken(sign(survey$income) * abs(survey$income)^(1 / 3)),
    logreg_smoke = logistic(),
    polyreg_region = multinomial(),
    polr_edu = proportional()
  )
)
write(toJSON(result, auto_unbox = TRUE, digits = 17, pretty = 1), file.path(folder, "method_fits.json"))
