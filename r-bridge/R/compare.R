#' Compare synthetic with confidential data
#'
#' For the person who holds the data: the result shows numbers of the confidential data and must not leave with the
#' copies.
#'
#' @param object Copies from [synthesise()], or a pooled analysis from [pool()].
#' @param data The confidential data frame.
#' @param x A comparison.
#' @param vars Columns to compare; all by default.
#' @param level Level of the intervals.
#' @param target What the pooled intervals are for: `"population"`, `"original"` or `"original_population"`.
#' @param row.names,optional As in [as.data.frame()].
#' @param ... Not used.
#' @return An object of class `synthetic_comparison`; `as.data.frame()` gives its table. For copies: shares of
#'   levels, and mean, standard deviation and quantiles of numbers, in the data and on average over the copies. For a
#'   pooled analysis: both estimates, their difference in confidential standard errors, the overlap of the intervals,
#'   and the ratio of the standard errors.
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   s <- synthesise(iris, m = 3, seed = 1)
#'   compare_synthetic(s, iris, vars = "Species")
#'   compare_synthetic(pool(with(s, lm(Sepal.Length ~ Species))), iris)
#' }
#' }
#' @export
compare_synthetic <- function(object, data, ...) {
  if (missing(data)) {
    refuse("bridge", "compare_synthetic() needs the confidential data", "write compare_synthetic(s, data = survey)",
           kind = "no data")
  }
  UseMethod("compare_synthetic")
}

#' @export
compare_synthetic.default <- function(object, data, ...) check_synthetic(object)

#' @rdname compare_synthetic
#' @export
compare_synthetic.synthetic <- function(object, data, vars = NULL, ...) {
  check_no_dots("compare_synthetic", ...)
  check_frame(data)
  shared <- intersect(names(data), names(copies(object)[[1L]]))
  vars <- if (is.null(vars)) shared else as_columns(vars, shared, "vars")
  known_columns(vars, shared, "vars")
  table <- do.call(rbind, lapply(vars, function(name) {
    compare_column(name, data[[name]], lapply(copies(object), `[[`, name))
  }))
  structure(list(title = "synthetic against confidential distributions", table = table, notes = character()),
            class = "synthetic_comparison")
}

compare_column <- function(name, real, synthetic) {
  statistics <- if (is_numeric_column(real)) number_facts else level_facts
  known <- level_names(c(list(real), synthetic))
  mine <- statistics(real, known)
  theirs <- vapply(synthetic, function(v) statistics(v, known), numeric(length(mine)))
  theirs <- matrix(theirs, nrow = length(mine))
  data.frame(column = name, statistic = names(mine), confidential = unname(mine), synthetic = rowMeans(theirs))
}

number_facts <- function(v, known) {
  v <- as.numeric(v)
  share <- mean(is.na(v))
  v <- v[is.finite(v)]
  c(mean = mean(v), sd = stats::sd(v), stats::quantile(v, c(0.05, 0.25, 0.5, 0.75, 0.95)), missing = share)
}

level_names <- function(values) {
  texts <- unlist(lapply(values, function(v) if (is.factor(v)) base::levels(v) else unique(as.character(v))))
  texts <- unique(texts[!is.na(texts)])
  if (any(vapply(values, anyNA, NA))) c(texts, NA) else texts
}

level_facts <- function(v, known) {
  found <- table(factor(as.character(v), known, exclude = NULL), useNA = "no")
  stats::setNames(as.vector(prop.table(found)), ifelse(is.na(known), "missing", known))
}

#' @rdname compare_synthetic
#' @export
compare_synthetic.synthetic_fits <- function(object, data, level = 0.95,
                                             target = c("population", "original", "original_population"), ...) {
  check_no_dots("compare_synthetic", ...)
  check_frame(data)
  request <- pool_request(object$analyses, object$tags, object$columns, NULL, object$expression, "auto", NULL)
  cleaned <- without_codes(data, object$declared)
  compare_request(request, object$expression, cleaned, parent.frame(), level, one_of(target, "target"))
}

#' @rdname compare_synthetic
#' @export
compare_synthetic.synthetic_pooled <- function(object, data, level = 0.95,
                                               target = c("population", "original", "original_population"), ...) {
  check_no_dots("compare_synthetic", ...)
  check_no_dots("compare_synthetic", ...)
  check_frame(data)
  cleaned <- without_codes(data, object$declared)
  compare_request(object$request, object$call, cleaned, parent.frame(), level, one_of(target, "target"))
}

compare_request <- function(request, expression, data, envir, level, target) {
  real <- fit_estimates(evaluate(expression, data, envir, "(confidential)"))
  done <- do.call(ask, c("compare", request, list(confidential = real, level = level, target = target)))
  table <- data.frame(term = done$terms, as.data.frame(done$columns))
  structure(list(title = paste("pooled against confidential fit of", deparse1(expression)), table = table,
                 pooled_limits = done$pooled.limits, confidential_limits = done$confidential.limits,
                 mean_overlap = done$mean.overlap, lack_of_fit = done$lack.of.fit, notes = done$notes),
            class = "synthetic_comparison")
}

#' @rdname compare_synthetic
#' @export
print.synthetic_comparison <- function(x, ...) {
  check_no_dots("print", ...)
  cat("INTERNAL: ", x$title, "\n\n", sep = "")
  print(x$table, row.names = FALSE, digits = 4)
  if (!is.null(x$mean_overlap)) cat("\nmean overlap of the intervals: ", format(x$mean_overlap, digits = 3), "\n", sep = "")
  print_notes(x$notes)
  invisible(x)
}

#' @rdname compare_synthetic
#' @export
as.data.frame.synthetic_comparison <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_no_dots("as.data.frame", ...)
  x$table
}

#' @rdname compare_synthetic
#' @export
plot.synthetic_comparison <- function(x, ...) {
  check_no_dots("plot", ...)
  table <- x$table
  if (is.null(x$pooled_limits)) {
    plot(table$confidential, table$synthetic, xlab = "confidential", ylab = "synthetic", main = "INTERNAL")
    graphics::abline(0, 1, lty = 2)
    return(invisible(x))
  }
  shown <- which(table$term != "(Intercept)")
  at <- rev(seq_along(shown))
  limits <- range(x$pooled_limits[shown, ], x$confidential_limits[shown, ], na.rm = TRUE)
  plot(NA, xlim = limits, ylim = c(0.5, length(shown) + 0.5), yaxt = "n", xlab = "", ylab = "", main = "INTERNAL")
  graphics::axis(2, at = at, labels = table$term[shown], las = 1)
  graphics::segments(x$pooled_limits[shown, 1L], at + 0.1, x$pooled_limits[shown, 2L], at + 0.1, lwd = 2)
  graphics::segments(x$confidential_limits[shown, 1L], at - 0.1, x$confidential_limits[shown, 2L], at - 0.1, lty = 2)
  graphics::legend("topright", c("pooled", "confidential"), lty = 1:2, bty = "n")
  invisible(x)
}
