#' What synthetic copies are worth
#'
#' Holds copies against the confidential data, by the analyses that people will run: all tables of one to three columns,
#' subgroups, means, quantiles, associations, missing kinds, rules, regressions and propensity scores, worst first, each
#' beside what a fresh sample of the same population has. There is no overall score. Records of the data that are in a
#' copy raise an alarm.
#'
#' @param object Copies from [synthesise()]; or a data frame, or a list of data frames, of another tool.
#' @param data The confidential data frame.
#' @param models Regressions, as formulas or texts; some are proposed by default, none are fitted for `FALSE`.
#' @param by Columns by which shares and means are told.
#' @param rules Conditions that every row should meet, as texts.
#' @param x An evaluation.
#' @param table Which table `as.data.frame()` gives: `"worst"`, `"one-way"`, `"two-way"`, `"three-way"`, `"propensity"`,
#'   `"moments"`, `"indicators"`, `"subgroups"`, `"associations"`, `"missing"`, `"rules"`, `"structure"`,
#'   `"regressions"` or `"distributions"`.
#' @param most Columns that are drawn.
#' @param row.names,optional As in [as.data.frame()].
#' @param ... Not used.
#' @return An object of class `synthetic_evaluation`, INTERNAL: its numbers are of real records, whatever guarantee the
#'   copies carry. `as.data.frame()` gives its tables, `alarms` what no synthesis does, `missing` what was not computed and
#'   why. `plot()` draws the worst columns.
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
evaluate_synthetic <- function(object, data, models = NULL, by = NULL, rules = NULL) {
  if (missing(data)) {
    refuse("bridge", "evaluate_synthetic() needs the confidential data", "write evaluate_synthetic(s, data = survey)",
           kind = "no data")
  }
  check_frame(data)
  request <- list(data = data, models = formulas_asked(models), by = by, rules = rules)
  ours <- inherits(object, c("synthetic", "synds"))
  if (!ours) object <- other_copies(object)
  made <- do.call(ask, c("evaluate", request, if (ours) list(x = sendable(object)) else list(others = object)))
  tables <- lapply(c(list(worst = made$worst), made$tables), function(columns) {
    as.data.frame(columns, check.names = FALSE, stringsAsFactors = FALSE)
  })
  structure(list(text = made$text, tables = tables, alarms = made$alarms, missing = made$missing),
            class = "synthetic_evaluation")
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
plot.synthetic_evaluation <- function(x, most = 9L, ...) {
  check_no_dots("plot", ...)
  shown <- utils::head(x$tables[["one-way"]][["column 1"]], most)
  old <- graphics::par(mfrow = grDevices::n2mfrow(length(shown)), mar = c(5, 3, 2, 1), oma = c(0, 0, 2, 0))
  on.exit(graphics::par(old))
  for (name in shown) {
    part <- x$tables$distributions[x$tables$distributions$column == name, ]
    graphics::barplot(rbind(part$confidential, part$copies), beside = TRUE, names.arg = part$cell, las = 2, main = name,
                      col = c("grey70", "white"), cex.names = 0.6)
  }
  graphics::mtext("INTERNAL: confidential (grey), copies (white)", outer = TRUE)
  invisible(x)
}
