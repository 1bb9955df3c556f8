# Conditions: every error of the package inherits from "pysynthdp_error", every warning from
# "pysynthdp_warning".

#' Conditions that the package signals
#'
#' Every error inherits from `pysynthdp_error`, so that `tryCatch(..., pysynthdp_error = )` catches all of
#' them; every warning inherits from `pysynthdp_warning`. The more special classes are:
#'
#' * `pysynthdp_schema_error`: the data, or a statement about the data, do not fit together;
#' * `pysynthdp_plan_error`: a setting cannot be met;
#' * `pysynthdp_privacy_error`: a guarantee cannot be given;
#' * `pysynthdp_fit_error`: a model cannot be fitted;
#' * `pysynthdp_combining_rule_error`: a combining rule is not valid for these copies;
#' * `pysynthdp_changed_error`: copies were changed since they were drawn, so that what is said of them no longer holds;
#' * `pysynthdp_release_error`: a release cannot be read or written;
#' * `pysynthdp_bridge_error`: a value cannot be sent, for example a function in a list column;
#' * `pysynthdp_setup_error`: the engine was not found, or is not whole;
#' * `pysynthdp_worker_died`: the engine ended in the middle of a call; the next call starts a new one;
#' * `pysynthdp_internal_error`: a fault of the package. Its text quotes nothing of the data unless
#'   `options(pysynthdp.debug = TRUE)` asks for it.
#'
#' @section Fields:
#' Beside its message an error or a warning has `$column` (the column that it is about), `$kind` (what it is about, in
#' one or two words that never change, such as `"identifier"`) and `$remedy` (what to type), each `NULL` where there is
#' none. Where several things are wrong at once, `$faults` is a list with these fields for each.
#'
#' @name pysynthdp-conditions
#' @aliases pysynthdp_error pysynthdp_warning
#' @examples
#' tryCatch(synthesise(1:3), pysynthdp_error = function(e) conditionMessage(e))
#' tryCatch(synthesise(iris, bound = 1), pysynthdp_error = function(e) e$remedy)
NULL

abort <- function(class, message, places = NULL, fields = list()) {
  told <- list(message = message, call = NULL, places = places, column = NULL, kind = NULL, remedy = NULL)
  told[names(fields)] <- fields
  stop(structure(class = c(unique(c(class, "pysynthdp_error")), "error", "condition"), told))
}

# What is wrong and what to type, for the errors that R itself finds.
refuse <- function(class, what, remedy = NULL, column = NULL, kind = NULL) {
  abort(paste0("pysynthdp_", class, "_error"), paste(c(what, remedy), collapse = "; "),
        fields = list(column = column, kind = kind, remedy = remedy))
}

# Notes the class and text of what leaves an expression, for a notebook in which R runs inside the engine. An error
# goes on its way; a warning is told there instead of here, where R would show warnings as they come or at the end.
watched <- function(expression) {
  .state$error <- NULL
  .state$warnings <- list()
  withCallingHandlers(
    expression,
    error = function(e) .state$error <- as_told(e),
    warning = function(w) {
      if (!isTRUE(getOption("warn") %in% 0:1)) return()
      .state$warnings[[length(.state$warnings) + 1L]] <- as_told(w)
      invokeRestart("muffleWarning")
    }
  )
}

# The known name that somebody may have meant: one that begins so, or differs by a slip or two.
nearest <- function(name, known) {
  begins <- known[startsWith(tolower(known), tolower(name)) & nchar(name) > 2L]
  if (length(begins)) return(begins[[1L]])
  if (!length(known)) return(NULL)
  slips <- utils::adist(name, known, ignore.case = TRUE)[1L, ]
  if (min(slips) <= min(max(2, nchar(name) / 3), nchar(name) - 1L)) known[[which.min(slips)]]
}

did_you_mean <- function(name, known, otherwise = NULL) {
  near <- nearest(name, known)
  if (is.null(near)) otherwise else paste0("did you mean ", near, "?")
}

# Arguments stand behind the dots, so that R matches them by their whole names, and a slip is told.
refuse_unknown <- function(what, unknown, known, example = "write it as name = value") {
  if (!length(unknown)) return(invisible())
  name <- unknown[[1L]]
  if (name == "...") {
    refuse("plan", paste0(what, "() has an argument without a name"), example, kind = "setting")
  }
  refuse("plan", paste0(what, "() has no argument ", sQuote(name, FALSE)), did_you_mean(name, setdiff(known, "...")),
         kind = "setting")
}

as_told <- function(condition) {
  list(text = conditionMessage(condition), class = class(condition), column = condition$column, kind = condition$kind)
}

heard <- function() {
  told <- list(error = .state$error, warnings = .state$warnings)
  .state$error <- NULL
  .state$warnings <- list()
  told
}

caution <- function(message, column = NULL, kind = NULL, remedy = NULL) {
  warning(structure(
    class = c("pysynthdp_warning", "warning", "condition"),
    list(message = message, call = NULL, column = column, kind = kind, remedy = remedy)
  ))
}
