# Fits of the copies as a list of them. The object itself is a list of other things, of which none is called analyses
# and the first stops whoever takes it for a list of fits: mice's pool() drops classes and looks for $analyses.

results_of <- function(fits) unclass(fits)$results

#' @export
print.synthetic_fits <- function(x, ...) {
  check_no_dots("print", ...)
  cat("Fits of ", length(x), " synthetic copies: ", deparse1(x$expression), "\n", "pool() combines them.\n", sep = "")
  invisible(x)
}

#' @rdname fits
#' @export
length.synthetic_fits <- function(x) length(results_of(x))

#' @export
names.synthetic_fits <- function(x) NULL

#' @rdname fits
#' @export
as.list.synthetic_fits <- function(x, ...) {
  check_no_dots("as.list", ...)
  results_of(x)
}

#' @rdname fits
#' @export
`[.synthetic_fits` <- function(x, i) results_of(x)[i]

#' @rdname fits
#' @export
`[[.synthetic_fits` <- function(x, i, exact = TRUE) {
  if (is.character(i)) return(field_of_fits(x, i, exact))
  if (!is.numeric(i) || length(i) != 1L || is.na(i) || i < 1 || i > length(x)) {
    abort("pysynthdp_bridge_error", paste0("there are fits of ", length(x), " copies; ask for one of them by its number"))
  }
  results_of(x)[[i]]
}

#' @rdname fits
#' @export
`$.synthetic_fits` <- function(x, name) field_of_fits(x, name, TRUE)

field_of_fits <- function(x, name, exact) {
  if (identical(name, "analyses")) results_of(x) else unclass(x)[[name, exact = exact]]
}

#' @importFrom utils .DollarNames
#' @export
.DollarNames.synthetic_fits <- function(x, pattern = "") {
  grep(pattern, c("analyses", "call", "expression", "tags", "columns"), value = TRUE)
}

#' @importFrom utils str
#' @export
str.synthetic_fits <- function(object, max.level = 1, ...) {
  cat("Fits of ", length(object), " synthetic copies; the first:\n", sep = "")
  str(object[[1L]], max.level = max.level, ...)
}

#' @rdname fits
#' @export
summary.synthetic_fits <- function(object, ...) lapply(object, summary, ...)

#' @rdname fits
#' @export
coef.synthetic_fits <- function(object, ...) {
  check_no_dots("coef", ...)
  sapply(object, coef)
}

#' @export
vcov.synthetic_fits <- function(object, ...) {
  check_no_dots("vcov", ...)
  lapply(object, vcov)
}

# What mice finds first, whatever order packages are attached in.
stop_mice <- function(...) {
  refuse("combining_rule", paste(
    "this is not the pool() of pysynthdp: that of mice has the rule for missing data, which is wrong for synthetic",
    "copies"), paste(
    "write pysynthdp::pool(fits), or attach pysynthdp after mice; mice::as.mira(fits$analyses) is there for who wants",
    "that rule"), kind = "rule")
}

#' @exportS3Method generics::tidy
tidy.synthetic_guard <- function(x, ...) stop_mice()

#' @exportS3Method generics::glance
glance.synthetic_guard <- function(x, ...) stop_mice()

#' @export
coef.synthetic_guard <- function(object, ...) stop_mice()

#' @export
vcov.synthetic_guard <- function(object, ...) stop_mice()

#' @export
nobs.synthetic_guard <- function(object, ...) stop_mice()
