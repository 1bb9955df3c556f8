#' What synthetic copies are worth
#'
#' Holds copies against the confidential data, by the analyses that people will run: all tables of one to three columns,
#' subgroups, means, quantiles, associations, missing kinds, rules, regressions and propensity scores, worst first, each
#' beside what a fresh sample of the same population has. There is no overall score. Records of the data that are in a
#' copy raise an alarm.
#'
#' @param data The confidential data frame.
#' @param models Regressions, as formulas or texts; some are proposed by default, none are fitted for `FALSE`.
#' @param by Columns by which shares and means are told.
#' @param rules Conditions that every row should meet, as texts.
#' @param refit A list with settings of [synthesise()] by which the copies were made, for `foreseen`; `list()` for none.
#' @param foreseen Runs of a parametric bootstrap of the copies, some 50: which intervals analysts of the copies get, and
#'   how often these hold the truth, *if the synthesis model held*. It reads no real row, and proves nothing.
#' @param object Copies from [synthesise()]; or a data frame, or a list of data frames, of another tool. Of `autoplot()`
#'   an evaluation.
#' @param x An evaluation.
#' @param table Which table `as.data.frame()` gives: `"worst"`, `"one-way"`, `"two-way"`, `"three-way"`, `"propensity"`,
#'   `"moments"`, `"indicators"`, `"subgroups"`, `"associations"`, `"missing"`, `"rules"`, `"structure"`,
#'   `"regressions"`, `"distributions"` or, where intervals were foreseen, `"foreseen"`.
#' @param kind What is drawn: `"columns"`, their distributions, worst first; `"tables"`, where the worst tables of two
#'   columns differ; `"regressions"`, intervals of both sides; `"propensity"`, how well rows of copies are told.
#' @param most Panels that are drawn.
#' @param row.names,optional As in [as.data.frame()].
#' @param ... Not used.
#' @return An object of class `synthetic_evaluation`, INTERNAL: its numbers are of real records, whatever guarantee the
#'   copies carry. `as.data.frame()` gives its tables, `alarms` what no synthesis does, `missing` what was not computed and
#'   why. `plot()` draws; `autoplot()` draws the same with ggplot2, if that is installed.
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   s <- synthesise(iris, m = 3, seed = 1)
#'   found <- evaluate_synthetic(s, iris)
#'   found
#'   head(as.data.frame(found, table = "two-way"))
#' }
#' }
#' @export
evaluate_synthetic <- function(object, data, models = NULL, by = NULL, rules = NULL, refit = NULL, foreseen = 0) {
  if (missing(data)) {
    refuse("bridge", "evaluate_synthetic() needs the confidential data", "write evaluate_synthetic(s, data = survey)",
           kind = "no data")
  }
  check_frame(data)
  request <- list(data = data, models = formulas_asked(models), by = by, rules = rules,
                  refit = settings_to_refit(refit, data), foreseen = foreseen)
  ours <- inherits(object, c("synthetic", "synds"))
  if (!ours) object <- other_copies(object)
  made <- do.call(ask, c("evaluate", request, if (ours) list(x = sendable(object)) else list(others = object)))
  frames <- function(parts) lapply(parts, as.data.frame, check.names = FALSE, stringsAsFactors = FALSE)
  structure(list(text = made$text, tables = frames(c(list(worst = made$worst), made$tables)), alarms = made$alarms,
                 missing = made$missing, pictures = frames(made$pictures)), class = "synthetic_evaluation")
}

# Settings of synthesise() by which copies were made, checked as these are.
settings_to_refit <- function(refit, data) {
  if (is.null(refit)) return(NULL)
  if (!is.list(refit)) {
    refuse("plan", "refit must be a list of settings of synthesise()", 'write refit = list(method = list(age = "norm"))',
           kind = "setting")
  }
  do.call(declared, c(list(data), refit))
}

# Formulas as texts; FALSE for none.
formulas_asked <- function(models) {
  if (isFALSE(models)) return(list())
  if (inherits(models, "formula")) models <- list(models)
  if (is.list(models)) models <- vapply(models, function(one) paste(deparse(one), collapse = " "), "")
  models
}

other_copies <- function(object) {
  copies <- if (is.data.frame(object)) list(object) else object
  if (!is.list(copies) || !length(copies) || !all(vapply(copies, is.data.frame, NA))) check_synthetic(object)
  lapply(copies, check_frame)
}

#' @rdname evaluate_synthetic
#' @export
print.synthetic_evaluation <- function(x, ...) {
  check_no_dots("print", ...)
  cat(x$text, "\n", sep = "")
  invisible(x)
}

#' @rdname evaluate_synthetic
#' @export
as.data.frame.synthetic_evaluation <- function(x, row.names = NULL, optional = FALSE, table = "worst", ...) {
  check_no_dots("as.data.frame", ...)
  if (!is.character(table) || length(table) != 1L || !table %in% names(x$tables)) {
    refuse("plan", "there is no such table", paste("tables are", paste(names(x$tables), collapse = ", ")), kind = "setting")
  }
  x$tables[[table]]
}

#' @rdname evaluate_synthetic
#' @export
plot.synthetic_evaluation <- function(x, kind = c("columns", "tables", "regressions", "propensity"), most = 9L, ...) {
  check_no_dots("plot", ...)
  draw <- list(columns = draw_columns, tables = draw_tables, regressions = draw_regressions, propensity = draw_propensity)
  draw[[one_of(kind, "kind")]](x, is_most(most))
  invisible(x)
}
