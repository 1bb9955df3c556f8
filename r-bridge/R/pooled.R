#' Methods for pooled analyses
#'
#' @param x,object An object from [pool()].
#' @param row.names,optional,stringsAsFactors As in [as.data.frame()]; not used.
#' @param use.fallback As in [nobs()]; not used.
#' @param parm Terms, by name or position; all by default.
#' @param level,conf.level Level of the intervals.
#' @param conf.int Show intervals.
#' @param exponentiate Show the exponentials of estimates and limits, such as odds ratios, as in broom and mice;
#'   standard errors stay those of the logarithm.
#' @param digits Digits to print.
#' @param ... No other argument is taken, but for `population.inference = TRUE` of synthpop, which asks for what is
#'   done.
#' @return `coef()` and `vcov()` as for any model; `confint()` a matrix; `summary()` a list with a coefficient
#'   table; `tidy()` a data frame with `term`, `estimate`, `std.error`, `statistic`, `df`, `p.value` (and
#'   `conf.low`, `conf.high`), one row a term, and `as.data.frame()` the same without being a tibble; `plot()` draws the
#'   intervals; `glance()` one row with `m`, `n_syn`, `n_org`, `rule`.
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   p <- pool(with(synthesise(mtcars, m = 5, seed = 1), lm(mpg ~ wt)))
#'   coef(p)
#'   confint(p, level = 0.9)
#'   if (requireNamespace("generics", quietly = TRUE)) generics::tidy(p, conf.int = TRUE)
#' }
#' }
#' @name pooled
NULL

#' @rdname pooled
#' @importFrom stats coef
#' @export
coef.synthetic_pooled <- function(object, ...) {
  check_no_dots("coef", ...)
  stats::setNames(object$pooled$estimate, object$pooled$term)
}

#' @rdname pooled
#' @importFrom stats vcov
#' @export
vcov.synthetic_pooled <- function(object, ...) {
  check_no_dots("vcov", ...)
  object$cov
}

#' @rdname pooled
#' @importFrom stats confint
#' @export
confint.synthetic_pooled <- function(object, parm, level = 0.95, ...) {
  check_no_dots("confint", ...)
  level <- is_level(level, "level")
  table <- object$pooled
  half <- stats::qt((1 + level) / 2, table$df) * table$std.error
  half[!is.finite(table$p.value)] <- NA_real_ # the rule gives no interval there
  limits <- cbind(table$estimate - half, table$estimate + half)
  dimnames(limits) <- list(table$term, paste(format(100 * c(1 - level, 1 + level) / 2, trim = TRUE), "%"))
  if (missing(parm)) limits else limits[known_terms(parm, table$term), , drop = FALSE]
}

is_level <- function(level, name) {
  if (is.numeric(level) && length(level) == 1L && is.finite(level) && level > 0 && level < 1) return(level)
  refuse("plan", paste(name, "must be one number between 0 and 1"), paste("write", name, "= 0.95"), kind = "setting")
}

known_terms <- function(parm, terms) {
  unknown <- if (is.character(parm)) setdiff(parm, terms) else setdiff(parm, c(seq_along(terms), -seq_along(terms), TRUE, FALSE))
  if (!length(unknown)) return(parm)
  refuse("plan", paste0("there is no term ", if (is.character(parm)) sQuote(unknown[[1L]], FALSE) else unknown[[1L]]),
         did_you_mean(unknown[[1L]], terms, paste("terms are", paste(terms, collapse = ", "))), kind = "term")
}

#' @rdname pooled
#' @importFrom stats nobs
#' @export
nobs.synthetic_pooled <- function(object, use.fallback = FALSE, ...) { # sigma() and the like ask with a fallback
  check_no_dots("nobs", ...)
  object$n_syn
}

#' @rdname pooled
#' @export
summary.synthetic_pooled <- function(object, ..., conf.level = 0.95, conf.int = TRUE, exponentiate = FALSE) {
  check_no_dots("summary", ...)
  limits <- confint(object, level = is_level(conf.level, "conf.level"))
  table <- cbind(as.matrix(object$pooled[c("estimate", "std.error", "statistic", "df", "p.value")]), limits)
  rownames(table) <- object$pooled$term
  colnames(table)[1:5] <- c("Estimate", "Std. Error", "t value", "df", "Pr(>|t|)")
  if (is_asked(exponentiate, "exponentiate")) {
    check_link(object)
    table[, c(1L, 6L, 7L)] <- exp(table[, c(1L, 6L, 7L)])
    colnames(table)[[1L]] <- "exp(Estimate)"
  }
  if (!is_asked(conf.int, "conf.int")) table <- table[, 1:5, drop = FALSE]
  kept <- c("call", "m", "n_syn", "n_org", "rule", "why", "notes", "flags")
  structure(c(unclass(object)[kept], list(coefficients = table)),
            class = "summary.synthetic_pooled")
}

is_asked <- function(x, name) {
  if (isTRUE(x) || isFALSE(x)) return(x)
  refuse("plan", paste(name, "must be TRUE or FALSE"), paste("write", name, "= TRUE"), kind = "setting")
}

# As broom does: exponentials of coefficients that are no logarithms are seldom meant.
check_link <- function(object) {
  about <- object$request$fits[[1L]]$about
  known <- !is.null(about$family) || identical(about$class, "lm")
  if (known && !isTRUE(grepl("(log|logit|cloglog)$", about$family))) {
    caution("exponentiate = TRUE, but the model has no log or logit link")
  }
}

#' @rdname pooled
#' @export
print.synthetic_pooled <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  check_no_dots("print", ...)
  cat("Pooled over ", x$m, if (x$m == 1) " copy" else " copies", " by ", x$rule, ": ", deparse1(x$call), "\n\n",
      sep = "")
  table <- as.matrix(x$pooled[c("estimate", "std.error", "statistic", "df", "p.value")])
  rownames(table) <- x$pooled$term
  print_coefficients(table, digits)
  print_flags(x$flags)
  print_notes(x$notes)
  invisible(x)
}

# each column with digits of its own, and a p-value below .001 as no more than that
print_coefficients <- function(table, digits) {
  shown <- vapply(colnames(table), function(name) {
    if (name %in% c("p.value", "Pr(>|t|)")) format.pval(table[, name], digits = 3L, eps = 0.001)
    else format(table[, name], digits = digits)
  }, character(nrow(table)))
  shown <- matrix(shown, nrow(table), dimnames = dimnames(table))
  print(shown, quote = FALSE, right = TRUE)
}

print_flags <- function(flags) {
  cat("\nvalid under the synthesis model\n")
  if (length(flags)) cat(strwrap(paste("flag:", flags), exdent = 2), sep = "\n")
}

print_notes <- function(notes) {
  if (length(notes)) cat("", strwrap(paste("*", notes), exdent = 2), sep = "\n")
}

#' @export
print.summary.synthetic_pooled <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  check_no_dots("print", ...)
  cat("Pooled over ", x$m, if (x$m == 1) " copy" else " copies", ": ", deparse1(x$call), "\n\n", sep = "")
  print_coefficients(x$coefficients, digits)
  cat("\nRule: ", x$rule, "\n", sep = "")
  cat(strwrap(x$why), sep = "\n")
  print_flags(x$flags)
  print_notes(x$notes)
  invisible(x)
}

#' @rdname pooled
#' @exportS3Method generics::tidy
tidy.synthetic_pooled <- function(x, ..., conf.int = FALSE, conf.level = 0.95, exponentiate = FALSE) {
  check_no_dots("tidy", ...)
  as_tibble_if(tidied(x, conf.int, conf.level, exponentiate))
}

#' @rdname pooled
#' @export
as.data.frame.synthetic_pooled <- function(x, row.names = NULL, optional = FALSE, ..., conf.int = FALSE,
                                           conf.level = 0.95, exponentiate = FALSE, stringsAsFactors = FALSE) {
  check_no_dots("as.data.frame", ...)
  tidied(x, conf.int, conf.level, exponentiate)
}

tidied <- function(x, conf.int, conf.level, exponentiate) {
  table <- x$pooled[c("term", "estimate", "std.error", "statistic", "df", "p.value")]
  if (is_asked(exponentiate, "exponentiate")) {
    check_link(x)
    table$estimate <- exp(table$estimate)
  }
  if (is_asked(conf.int, "conf.int")) {
    limits <- confint(x, level = is_level(conf.level, "conf.level"))
    if (exponentiate) limits <- exp(limits)
    table$conf.low <- unname(limits[, 1L])
    table$conf.high <- unname(limits[, 2L])
  }
  table
}

#' @rdname pooled
#' @export
plot.synthetic_pooled <- function(x, ..., conf.level = 0.95) {
  check_no_dots("plot", ...)
  table <- tidied(x, TRUE, conf.level, FALSE)
  if (any(table$term != "(Intercept)")) table <- table[table$term != "(Intercept)", ]
  at <- rev(seq_len(nrow(table)))
  known <- is.finite(table$conf.low)
  limits <- range(0, table$estimate, table$conf.low, table$conf.high, finite = TRUE)
  plot(table$estimate, at, xlim = limits, ylim = c(0.5, nrow(table) + 0.5), yaxt = "n", xlab = "estimate", ylab = "",
       main = deparse1(x$call), pch = 19)
  graphics::axis(2, at = at, labels = table$term, las = 1)
  graphics::segments(table$conf.low[known], at[known], table$conf.high[known], at[known])
  graphics::abline(v = 0, lty = 2)
  invisible(x)
}

#' @rdname pooled
#' @exportS3Method generics::glance
glance.synthetic_pooled <- function(x, ...) {
  check_no_dots("glance", ...)
  as_tibble_if(data.frame(m = as.integer(x$m), n_syn = or_na(x$n_syn), n_org = or_na(x$n_org), rule = x$rule))
}

or_na <- function(x) if (is.null(x)) NA_real_ else as.numeric(x)

# broom's tables are tibbles where there are tibbles
as_tibble_if <- function(table) if (has_package("tibble")) tibble::as_tibble(table) else table
