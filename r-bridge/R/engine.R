#' Find, describe or choose the engine
#'
#' Models are fitted and copies drawn by the pysynthdp engine, a Python package that runs in a process of its
#' own. The first of these that is set says where it is: the option `pysynthdp.python`, the environment variable
#' `PYSYNTHDP_PYTHON`, what the installation of this package recorded, `RETICULATE_PYTHON`, an active virtual
#' environment, and `python3` on the path.
#'
#' @param python Path of the Python executable in which pysynthdp is installed; `NULL` leaves it as it is.
#' @param transport How requests travel: `"worker"` (a process that stays; the default where the package
#'   processx is installed), `"oneshot"` (a process for each call), or `"reticulate"` (inside this R session).
#' @return A list of class `synth_engine`: version, where it is, and how it is reached.
#' @details Requests hold rows of the data. They are written to files in R's own temporary folder, which only
#'   the user can read, and deleted after each call; `options(pysynthdp.tempdir = "/dev/shm")` keeps them in
#'   memory on Linux. No socket is opened.
#' @examples
#' \donttest{
#' if (engine_available()) synth_engine()
#' }
#' @export
synth_engine <- function(python = NULL, transport = NULL) {
  if (!is.null(python)) options(pysynthdp.python = path.expand(python))
  if (!is.null(transport)) {
    options(pysynthdp.transport = known_transport(transport))
  }
  structure(c(ask("ping"), transport = which_transport()), class = "synth_engine")
}

#' @rdname synth_engine
#' @export
engine_available <- function() !inherits(try(synth_engine(), silent = TRUE), "try-error")

#' @export
print.synth_engine <- function(x, ...) {
  check_no_dots("print", ...)
  cat("pysynthdp ", x$version, ", reached by ", x$transport, "\n", x$executable, "\n", sep = "")
  invisible(x)
}
