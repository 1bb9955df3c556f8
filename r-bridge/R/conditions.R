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
#' @name pysynthdp-conditions
#' @aliases pysynthdp_error pysynthdp_warning
#' @examples
#' tryCatch(synthesise(1:3), pysynthdp_error = function(e) conditionMessage(e))
NULL

abort <- function(class, message, places = NULL) {
  stop(structure(
    class = c(unique(c(class, "pysynthdp_error")), "error", "condition"),
    list(message = message, call = NULL, places = places)
  ))
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

as_told <- function(condition) list(text = conditionMessage(condition), class = class(condition))

heard <- function() {
  told <- list(error = .state$error, warnings = .state$warnings)
  .state$error <- NULL
  .state$warnings <- list()
  told
}

caution <- function(message) {
  warning(structure(
    class = c("pysynthdp_warning", "warning", "condition"),
    list(message = message, call = NULL)
  ))
}
