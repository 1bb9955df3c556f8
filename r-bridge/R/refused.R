# What people ask of pooled tables and fits by habit, and what to write instead.

no_model <- function(what, instead) {
  refuse("plan", what, instead, kind = "no model")
}

each_fit <- function(call) paste0("ask each fit, lapply(fits, ", call, "), and take from that what means something")

#' @importFrom stats update
#' @export
update.synthetic_fits <- function(object, ...) {
  no_model("fits do not hold the copies, so they cannot be fitted again", "write with(s, ...) with the new formula")
}

#' @importFrom stats update
#' @export
update.synthetic_pooled <- function(object, ...) {
  no_model("a pooled table holds no fit to change", "write pool(with(s, ...)) with the new formula")
}

#' @importFrom stats predict
#' @export
predict.synthetic_fits <- function(object, ...) {
  no_model("the fits of the copies predict each for itself",
           "for the mean of them write rowMeans(sapply(fits, predict, newdata = new))")
}

#' @importFrom stats predict
#' @export
predict.synthetic_pooled <- function(object, ...) {
  no_model("a pooled table holds no fit to predict from",
           "with fits <- with(s, ...), the mean prediction is rowMeans(sapply(fits, predict, newdata = new))")
}

#' @export
plot.synthetic_fits <- function(x, ...) {
  no_model("fits of several copies have no plot of their own", "plot(fits[[1]]) shows one, plot(pool(fits)) the pooled terms")
}

#' @export
as.data.frame.synthetic_fits <- function(x, row.names = NULL, optional = FALSE, ...) {
  no_model("fits are no table", "as.data.frame(pool(fits)) is one")
}

#' @importFrom stats confint
#' @export
confint.synthetic_fits <- function(object, parm, level = 0.95, ...) {
  no_model("intervals of one copy do not count what the synthesis adds", "write confint(pool(fits))")
}

#' @importFrom stats anova
#' @export
anova.synthetic_fits <- function(object, ...) {
  no_model("tests of one copy do not count what the synthesis adds", "compare models by the terms of pool(fits)")
}

#' @importFrom stats anova
#' @export
anova.synthetic_pooled <- function(object, ...) {
  no_model("a pooled table has no deviance", "compare models by their terms: summary() shows estimates and tests")
}

#' @importFrom stats logLik
#' @export
logLik.synthetic_fits <- function(object, ...) {
  no_model("the likelihoods of the copies do not add up to one", each_fit("logLik"))
}

#' @importFrom stats logLik
#' @export
logLik.synthetic_pooled <- function(object, ...) {
  no_model("a pooled table has no likelihood", paste("with fits <- with(s, ...),", each_fit("logLik")))
}

#' @importFrom stats residuals
#' @export
residuals.synthetic_pooled <- function(object, ...) {
  no_model("a pooled table has no residuals", paste("with fits <- with(s, ...),", each_fit("residuals")))
}

#' @importFrom stats residuals
#' @export
residuals.synthetic_fits <- function(object, ...) no_model("each copy has its own residuals", each_fit("residuals"))

#' @importFrom stats fitted
#' @export
fitted.synthetic_pooled <- function(object, ...) {
  no_model("a pooled table has no fitted values", paste("with fits <- with(s, ...),", each_fit("fitted")))
}

#' @importFrom stats fitted
#' @export
fitted.synthetic_fits <- function(object, ...) no_model("each copy has its own fitted values", each_fit("fitted"))
