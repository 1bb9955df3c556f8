# What syn(m = 0) gives: how columns would be drawn, to be changed and given to syn() again.
setup_only <- function(data, settings, k, drop_not_used, call) {
  shown <- do.call(synthesis_plan, c(list(data), settings))
  columns <- names(shown$method)
  structure(list(
    call = call, m = 0, syn = NULL, method = shown$method,
    visit.sequence = stats::setNames(match(shown$visit.sequence, names(data)), shown$visit.sequence),
    predictor.matrix = shown$predictor.matrix, proper = isTRUE(settings$proper), n = nrow(data),
    k = if (is.null(k)) nrow(data) else k, cont.na = settings$missing, semicont = shown$semicont,
    drop.not.used = isTRUE(drop_not_used), obs.vars = columns
  ), class = "synth_setup")
}

#' @export
print.synth_setup <- function(x, ...) {
  cat("Nothing is drawn yet (m = 0). To be changed, and given to syn() again:\n")
  cat("\n$method\n")
  print(x$method)
  cat("\n$visit.sequence\n")
  print(x$visit.sequence)
  cat("\n$predictor.matrix\n")
  print(x$predictor.matrix)
  if (length(x$semicont)) {
    cat("\n$semicont\n")
    utils::str(x$semicont, no.list = TRUE, comp.str = "", give.attr = FALSE)
  }
  invisible(x)
}
