#' Report on copies: for a review board, and for the public
#'
#' For the person who holds the data. The board's report is INTERNAL: it names failed gates, what fares worst and the
#' highest risks first, and leaves three fields for people. The public note is a function of the copies alone.
#'
#' @param object Copies from [synthesise()], an object of synthpop, a data frame, or a list of data frames.
#' @param data The confidential data frame.
#' @param board Folder of your own for the board's report, whose files begin with INTERNAL; none by default.
#' @param note Folder for the public note; none by default, and none for copies of another tool.
#' @param purpose What the copies are for: `"public-analysis"`, `"explore-then-validate"`, `"code-testing"` or
#'   `"system-test"`. It sets the words and where gates stand.
#' @param title Title of the file.
#' @param keys,targets What an intruder may know and wants to learn, as in [disclosure_risk()].
#' @param models Regressions to show, as texts: `"income ~ age + sex"`.
#' @param by Columns of subgroups.
#' @param rules Conditions that every row should meet, besides those of the synthesis.
#' @param holdout A data frame of people who had no part in the copies: the baseline of every attack.
#' @param refit,foreseen Settings of the synthesis, and runs in which intervals are foreseen, if the synthesis model held, as
#'   in [evaluate_synthetic()]; without a hold-out copies without a third of the rows are then the baseline of attacks.
#' @param earlier,log What was released before, and a folder for the list of evaluations, as in [disclosure_risk()].
#' @param limits Where gates stand: `list(max_pmse_ratio_2way = 10, max_repu_percent = list(neighbour = 5))`.
#' @param about Fields that are filled in already: `list(decision = "...")`.
#' @param formats Of the files: some of `"html"`, `"json"`, `"csv"`, `"docx"`.
#' @param x A result.
#' @param ... Not used.
#' @return A list of class `synthetic_report`: `text`, page one, which is printed; `gates`, a data frame; `files`, what
#'   was written.
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   s <- synthesise(iris, m = 2, seed = 1)
#'   report_synthetic(s, iris, models = "Sepal.Length ~ Species")
#' }
#' }
#' @export
report_synthetic <- function(object, data, board = NULL, note = NULL, purpose = "public-analysis",
                             title = "Synthetic file", keys = NULL, targets = NULL, models = NULL, by = NULL,
                             rules = NULL, holdout = NULL, limits = NULL, about = NULL, formats = NULL, refit = NULL,
                             foreseen = 0, earlier = NULL, log = NULL) {
  if (missing(data)) {
    refuse("bridge", "report_synthetic() needs the confidential data", "write report_synthetic(s, survey)",
           kind = "no data")
  }
  frames <- list(check_frame(as_given(data)))
  if (!is.null(holdout)) frames <- c(frames, list(check_frame(as_given(holdout))))
  if (!is.null(keys) && !is.list(keys)) keys <- list(keys = keys)
  copied <- if (inherits(object, "synds")) sendable(object) else object
  made <- ask("report", x = copied, data = frames, board = own_folder(board), note = own_folder(note), purpose = purpose,
              title = title, keys = if (!is.null(keys)) lapply(keys, as.list), targets = listed_or_null(targets),
              models = listed_or_null(models), by = listed_or_null(by), rules = listed_or_null(rules),
              limits = limits, about = about, formats = listed_or_null(formats),
              refit = settings_to_refit(refit, frames[[1L]]), foreseen = foreseen, earlier = earlier_copies(earlier),
              log = own_folder(log))
  gates <- data.frame(gate = as.character(made$gate), of = as.character(made$of),
                      verdict = as.character(made$verdict))
  structure(list(text = made$text, gates = gates, files = as.character(made$files)), class = "synthetic_report")
}

listed_or_null <- function(x) if (is.null(x)) NULL else as.list(x)

#' @rdname report_synthetic
#' @export
print.synthetic_report <- function(x, ...) {
  check_no_dots("print", ...)
  cat(x$text, "\n", sep = "")
  if (length(x$files)) cat("written: ", paste(x$files, collapse = "\n         "), "\n", sep = "")
  invisible(x)
}
