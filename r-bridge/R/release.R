#' Write and read a release folder
#'
#' A folder with the copies (Parquet or CSV), codebook, privacy statement and a read-me; it appears whole or not at
#' all, and can be read without this package.
#'
#' @param object An object from [synthesise()].
#' @param folder Path; must not exist yet.
#' @param format `"parquet"` or `"csv"`.
#' @return `write_release()`: the path, invisibly. `read_release()`: an object as from [synthesise()].
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   folder <- file.path(tempdir(), "release")
#'   write_release(synthesise(iris, m = 2, seed = 1), folder, format = "csv")
#'   list.files(folder)
#'   read_release(folder)
#'   unlink(folder, recursive = TRUE)
#' }
#' }
#' @export
write_release <- function(object, folder, format = c("parquet", "csv")) {
  check_synthetic(object)
  check_path(folder)
  invisible(ask("write_release", x = sendable(object), folder = normalizePath(folder, mustWork = FALSE),
                format = match.arg(format)))
}

#' @rdname write_release
#' @export
read_release <- function(folder) {
  check_path(folder)
  made <- ask("read_release", folder = normalizePath(folder, mustWork = FALSE))
  with_call(made, quote(read_release()))
}

check_path <- function(path) {
  if (is.character(path) && length(path) == 1L && !is.na(path) && nzchar(path)) return(invisible())
  abort("pysynthdp_release_error", "the path must be one text")
}

# What the engine needs of an object: no call, no fitted models.
sendable <- function(object) {
  object <- unclass_keep(object)
  object["call"] <- list(NULL)
  object["models"] <- list(NULL)
  object
}

unclass_keep <- function(object) structure(unclass(object), class = class(object))
