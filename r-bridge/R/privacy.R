#' The privacy statement of synthetic copies
#'
#' What is claimed, for whom, on which assumptions, column by column; or that nothing is claimed, and why.
#'
#' @param object An object from [synthesise()] or [read_release()].
#' @param x A statement.
#' @param style `"card"`, or `"paragraph"` for plain language that an ethics board can read.
#' @param row.names,optional As in [as.data.frame()].
#' @param ... Not used.
#' @return A list of class `privacy_statement`, with `status`, `reason`, `guarantee`, `unit`, `columns`, `public`,
#'   `learned`, `draws` and `not_covered`. As a data frame: one row a column, with its method and reason.
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   p <- privacy_statement(synthesise(iris, m = 1, seed = 1))
#'   p
#'   p$status
#'   cat(format(p, "paragraph"))
#'   as.data.frame(p)
#' }
#' }
#' @export
privacy_statement <- function(object) {
  check_unchanged(object)
  structure(c(object$privacy, list(words = object$words)), class = "privacy_statement")
}

#' @rdname privacy_statement
#' @export
print.privacy_statement <- function(x, ...) {
  check_no_dots("print", ...)
  cat(x$words$card, "\n", sep = "")
  invisible(x)
}

#' @rdname privacy_statement
#' @export
format.privacy_statement <- function(x, style = c("card", "paragraph"), ...) {
  check_no_dots("format", ...)
  x$words[[one_of(style, "style")]]
}

#' @rdname privacy_statement
#' @export
as.data.frame.privacy_statement <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_no_dots("as.data.frame", ...)
  text <- function(name) vapply(x$columns, function(one) as.character(first_of(one[[name]], NA)), "")
  data.frame(column = text("column"), method = text("method"), guarantee = text("guarantee"),
             reason = text("reason"), row.names = row.names)
}
