#' Write and read a release folder
#'
#' A folder with the copies (Parquet or CSV), codebook, privacy statement and a read-me; it appears whole or not at
#' all, and can be read without this package.
#'
#' @param object An object from [synthesise()].
#' @param folder Path; must not exist yet.
#' @param format `"parquet"` or `"csv"`.
#' @param formats Several formats at once, among `"parquet"`, `"csv"`, `"sav"`, `"dta"` and `"xpt"`: each copy in every
#'   one. The last three, for SPSS, Stata and SAS, have labels and missing kinds as far as each can hold them, those of
#'   haven's labelled columns too, and need the Python package pyreadstat. Parquet is added where neither it nor CSV is named.
#' @param watermark Whether the last column of every file, `_synthetic`, holds the number of the copy; `read_release()`
#'   takes it off.
#' @param sign Path of a PEM file with an Ed25519 private key, or `NULL`. The folder then holds a signature, which
#'   [verify_release()] checks with the public key.
#' @param factors What becomes of columns whose codes all have labels, in copies that were not drawn in R: `FALSE` codes
#'   with their labels, as haven reads such files, `TRUE` factors of the labels. `NULL` is `FALSE`, with a warning that
#'   names the columns, since models take codes for numbers.
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
write_release <- function(object, folder, format = c("parquet", "csv"), sign = NULL, formats = NULL, watermark = TRUE) {
  check_unchanged(object)
  check_path(folder)
  invisible(ask("write_release", x = sendable(object), folder = normalizePath(folder, mustWork = FALSE),
                format = one_of(format, "format"), sign = key_path(sign), formats = formats, watermark = watermark))
}

#' @rdname write_release
#' @export
read_release <- function(folder, factors = NULL) {
  check_path(folder)
  made <- ask("read_release", folder = normalizePath(folder, mustWork = FALSE), factors = factors)
  with_call(made, quote(read_release()))
}

#' Check a release folder
#'
#' Compares the files of a folder with the checksums of its list and with one another, and recomputes the numbers of its
#' privacy statement from the constants beside them. That says nothing about who made the folder, or whether the copies
#' were drawn as the statement says: only a signature tells the maker.
#'
#' @param folder Path of a folder that [write_release()] or `pysynthdp synth` wrote.
#' @param key Path of a PEM file with the Ed25519 public key of who is said to have made it, or `NULL`.
#' @param x A verification.
#' @param ... Not used.
#' @return A list of class `release_verification`: `status` (`"right"`, `"none"`, `"void"`, `"broken"` or `"changed"`),
#'   `ok` (`TRUE` where a guarantee is stated, its arithmetic is right and all files agree), `exit_code` (0, 10, 11, 12
#'   or 13, as of `pysynthdp verify`), `signed`, `verdict`, and `checks`, a data frame with a row for each check.
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   folder <- file.path(tempdir(), "release")
#'   write_release(synthesise(iris, m = 2, seed = 1), folder)
#'   verify_release(folder)$status
#'   unlink(folder, recursive = TRUE)
#' }
#' }
#' @export
verify_release <- function(folder, key = NULL) {
  check_path(folder)
  found <- ask("verify_release", folder = normalizePath(folder, mustWork = FALSE), key = key_path(key))
  checks <- data.frame(what = as.character(unlist(found$what)), result = as.character(unlist(found$result)),
                       detail = as.character(unlist(found$detail)))
  structure(c(found[c("status", "ok", "exit_code", "signed", "verdict")], list(checks = checks, text = found$text)),
            class = "release_verification")
}

#' @rdname verify_release
#' @export
print.release_verification <- function(x, ...) {
  check_no_dots("print", ...)
  cat(x$text, "\n", sep = "")
  invisible(x)
}

key_path <- function(path) {
  if (is.null(path)) return(NULL)
  check_path(path)
  normalizePath(path, mustWork = FALSE)
}

check_path <- function(path) {
  if (is.character(path) && length(path) == 1L && !is.na(path) && nzchar(path)) return(invisible())
  refuse("release", "the path must be one text", "write \"folder\"", kind = "path")
}

# What the engine needs of an object: no call, no fitted models.
sendable <- function(object) {
  object <- unclass_keep(object)
  object["call"] <- list(NULL)
  object["models"] <- list(NULL)
  object
}

unclass_keep <- function(object) structure(unclass(object), class = class(object))
