#' Measure what copies give away of confidential data
#'
#' For the person who holds the data: the result shows numbers of the confidential records and must not leave with the
#' copies. Measures are those of synthpop's `disclosure()`, over all copies together and for each, with attacks beside
#' people who were never used.
#'
#' @param object Copies from [synthesise()], an object of synthpop, a data frame, or a list of data frames. Of `autoplot()` a
#'   result.
#' @param data The confidential data frame.
#' @param keys What an intruder may know of a person: a named list of sets of columns,
#'   `list(neighbour = c("sex", "age", "region"))`, or the columns of one set.
#' @param targets Columns that an intruder wants to learn.
#' @param known_by_all A named list: levels of targets that everybody knows, `list(alcabuse = "NO")`.
#' @param holdout A data frame of people who had no part in the copies: the control of every attack.
#' @param refit A list with settings of [synthesise()] by which the copies were made; copies without a third of the rows
#'   each are then the control. `list()` for none.
#' @param ngroups Numbers that are cut into so many groups: `c(age = 10)`.
#' @param without_missing Columns whose missing values tell an intruder nothing.
#' @param denom_lim Leave out cells of more records than this.
#' @param attacks Attempts of each attack by guessing.
#' @param shadow_fits Fits with and without the most exposed records, to tell members; needs `refit`.
#' @param earlier What was released before from the same source: copies, data frames, release folders, or a list of these.
#' @param log A folder of your own with the list of evaluations of each table, to which this one is added.
#' @param kind What is drawn: `"keys"`, every risk beside its baseline; or `"trade-off"`, true against false positives of
#'   the membership attack, and what a guarantee allows.
#' @param x A result.
#' @param row.names,optional As in [as.data.frame()].
#' @param table The table that is wanted: `"worst"`, `"identity"`, `"attribute"`, `"matches"` and so on.
#' @param ... Not used.
#' @return A list of class `disclosure_risk`: `text`, which is printed; `alarms`, what a safe release would not show;
#'   `tables`, data frames. `as.data.frame()` gives one of them, in per cent. `plot()` draws;
#'   `autoplot()` draws the same with ggplot2, if that is installed.
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   s <- synthesise(iris, m = 2, seed = 1)
#'   disclosure_risk(s, iris, keys = c("Sepal.Length", "Sepal.Width"), targets = "Species")
#' }
#' }
#' @export
disclosure_risk <- function(object, data, keys, targets = NULL, known_by_all = NULL, holdout = NULL, refit = NULL,
                            ngroups = NULL, without_missing = NULL, denom_lim = NULL, attacks = 500, shadow_fits = 0,
                            earlier = NULL, log = NULL) {
  if (missing(data)) {
    refuse("bridge", "disclosure_risk() needs the confidential data", "write disclosure_risk(s, survey, keys = ...)",
           kind = "no data")
  }
  if (missing(keys)) {
    refuse("plan", "disclosure_risk() needs what an intruder knows",
           'write keys = list(neighbour = c("sex", "age", "region"))', kind = "setting")
  }
  frames <- list(check_frame(as_given(data)))
  if (!is.null(holdout)) frames <- c(frames, list(check_frame(as_given(holdout))))
  copied <- if (inherits(object, "synds")) sendable(object) else object
  made <- ask("disclosure_risk", x = copied, data = frames, refit = settings_to_refit(refit, frames[[1L]]),
              keys = if (is.list(keys)) lapply(keys, as.list) else as.list(keys), targets = as.list(targets),
              known_by_all = lapply(known_by_all, as.list), ngroups = if (!is.null(ngroups)) as.list(ngroups),
              without_missing = as.list(without_missing), denom_lim = denom_lim, attacks = attacks,
              shadow_fits = shadow_fits, earlier = earlier_copies(earlier), log = own_folder(log))
  tables <- lapply(made$tables, function(columns) as.data.frame(columns, check.names = FALSE))
  structure(list(text = made$text, alarms = as.character(made$alarms), tables = tables), class = "disclosure_risk")
}

# What was released before, each as the engine takes copies; a text is a folder or a file.
earlier_copies <- function(earlier) {
  if (is.null(earlier)) return(NULL)
  single <- is.data.frame(earlier) || is.character(earlier) || inherits(earlier, c("synthetic", "synds"))
  lapply(if (single) as.list(if (is.character(earlier)) earlier else list(earlier)) else earlier, function(one) {
    if (is.character(one)) return(normalizePath(one, mustWork = FALSE))
    if (inherits(one, c("synthetic", "synds"))) sendable(one) else if (is.data.frame(one)) check_frame(one) else other_copies(one)
  })
}

own_folder <- function(folder) if (is.null(folder)) NULL else normalizePath(folder, mustWork = FALSE)

#' @rdname disclosure_risk
#' @export
print.disclosure_risk <- function(x, ...) {
  check_no_dots("print", ...)
  cat(x$text, "\n", sep = "")
  invisible(x)
}

#' @rdname disclosure_risk
#' @export
as.data.frame.disclosure_risk <- function(x, row.names = NULL, optional = FALSE, table = "worst", ...) {
  check_no_dots("as.data.frame", ...)
  if (!table %in% names(x$tables)) {
    refuse("plan", paste0("there is no table ", table), paste("name one of", paste(names(x$tables), collapse = ", ")),
           kind = "setting")
  }
  x$tables[[table]]
}

#' @rdname disclosure_risk
#' @export
plot.disclosure_risk <- function(x, kind = c("keys", "trade-off"), ...) {
  check_no_dots("plot", ...)
  if (one_of(kind, "kind") == "keys") draw_risk_by_keys(x) else draw_trade_off(x)
  invisible(x)
}
