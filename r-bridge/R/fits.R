#' Analyse every copy
#'
#' Evaluates an expression in every copy, as in mice. The result is a list of fits for [pool()].
#'
#' `synth_lm()` and `synth_glm()` are short for `with(data, lm(...))` and `with(data, glm(...))`.
#'
#' @param data An object from [synthesise()].
#' @param expr An expression with the names of columns, such as `lm(income ~ age)`. The copy itself is `.copy`; an
#'   argument `data` that has nothing to do with it is refused.
#' @param formula,family As in [lm()] and [glm()].
#' @param ... Further arguments of [lm()] and [glm()], such as `weights`, with names of columns; `summary()` hands them
#'   to that of each fit; any other is an error.
#' @param codes `"missing"`: declared codes of the columns (`missing =` of [synthesise()]) are no values and become
#'   `NA` before anything is computed; [pool()] says how many cells those were. `"keep"` computes with them.
#' @param x,object Fits of the copies.
#' @param i Numbers of copies, or the name of a field.
#' @param name Name of a field: `analyses` is the list of fits.
#' @param exact As in `[[`.
#' @return An object of class `synthetic_fits`: `$analyses` is the list of `m` results, `x[[i]]` one of them;
#'   `length()`, `lapply()`, `sapply()`, `seq_along()` and `as.list()` go over them, but `for (fit in as.list(x))` must
#'   ask for the list. `coef()` gives their coefficients, a column a copy. Copies that were changed since they were
#'   drawn are refused.
#' @section Other packages:
#'   `pool()` of mice has the rule for missing data, which is wrong for synthetic copies, so it stops at these fits in
#'   whatever order the packages are attached; `mice::as.mira(fits$analyses)` is what to write to have it on purpose.
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   s <- synthesise(mtcars, m = 5, seed = 1)
#'   fits <- with(s, glm(am ~ wt, family = binomial))
#'   pool(fits)
#'   pool(synth_lm(mpg ~ wt + factor(cyl), s))
#' }
#' }
#' @name fits
NULL

#' @rdname fits
#' @export
with.synthetic <- function(data, expr, ..., codes = c("missing", "keep")) {
  check_no_dots("with", ...)
  if (missing(expr)) {
    refuse("plan", "with() needs what is to be fitted to each copy", "write with(s, lm(y ~ x))", kind = "call")
  }
  fit_copies(data, substitute(expr), parent.frame(), one_of(codes, "codes"))
}

#' @rdname fits
#' @export
synth_lm <- function(formula, data, ..., codes = c("missing", "keep")) {
  unknown <- setdiff(names(dots_as_written(...)), names(formals(stats::lm)))
  refuse_unknown("lm", unknown[nzchar(unknown)], names(formals(stats::lm)))
  fit_copies(data, as.call(c(list(quote(lm), formula), dots_as_written(...))), parent.frame(), one_of(codes, "codes"))
}

#' @rdname fits
#' @export
synth_glm <- function(formula, family = stats::gaussian, data, ..., codes = c("missing", "keep")) {
  expression <- as.call(c(list(quote(glm), formula, family = substitute(family)), dots_as_written(...)))
  fit_copies(data, expression, parent.frame(), one_of(codes, "codes"))
}

dots_as_written <- function(...) as.list(substitute(list(...)))[-1L]

fit_copies <- function(data, expression, envir, codes = "missing") {
  check_unchanged(data)
  declared <- declared_codes(data$schema)
  all <- copies(data)
  refuse_other_data(expression, c(names(all[[1L]]), ".copy"), envir)
  cleaned <- lapply(all, without_codes, declared)
  coded <- Reduce(`+`, lapply(cleaned, attr, "coded"))
  if (codes == "missing") all <- cleaned
  analyses <- lapply(seq_along(all), function(i) evaluate(expression, all[[i]], envir, i))
  structure(
    list(guard = structure(list(), class = "synthetic_guard"), call = safe_call(expression), results = analyses,
         expression = safe_call(expression), tags = data$tags, columns = names(all[[1L]]),
         own = own_rows(analyses, all), part = rows_note(analyses, all), coded = coded, codes = codes, declared = if (codes == "missing") declared),
    class = "synthetic_fits"
  )
}

# An argument data that has nothing to do with the copy would be analysed m times, and be called synthetic.
refuse_other_data <- function(expression, names, envir) {
  if (!is.call(expression)) return(invisible())
  called <- tryCatch(eval(expression[[1L]], envir), error = function(e) NULL)
  whole <- expression
  if (is.function(called) && !is.primitive(called)) {
    whole <- tryCatch(match.call(called, expression, expand.dots = TRUE), error = function(e) expression)
  }
  names <- c(names, made_inside(expression, names))
  outside <- all.vars(whole$data)
  if (length(outside) && !any(outside %in% names)) {
    refuse("fit", paste0("data = ", deparse1(whole$data), " is not the copy, and would be analysed instead of the copies"),
           "leave data out, or write data = .copy", kind = "data")
  }
  for (part in as.list(expression)[-1L]) if (is.call(part)) refuse_other_data(part, names, envir)
}

# What a block makes of the copy: d in {d <- transform(.copy, ...); lm(y ~ z, data = d)}
made_inside <- function(expression, names) {
  if (!identical(expression[[1L]], quote(`{`))) return(character())
  made <- character()
  for (part in as.list(expression)[-1L]) {
    assigned <- is.call(part) && as.character(part[[1L]])[[1L]] %in% c("<-", "=") && is.name(part[[2L]])
    if (assigned && any(all.vars(part[[3L]]) %in% c(names, made))) made <- c(made, as.character(part[[2L]]))
  }
  made
}

evaluate <- function(expression, copy, envir, number) {
  inside <- list2env(c(as.list(copy), list(.copy = copy)), parent = envir)
  tryCatch(
    eval(with_data_argument(expression, envir), inside),
    error = function(e) {
      slip <- misspelt(expression, names(copy), inside)
      refuse("fit", paste0("copy ", number, ": ", conditionMessage(e)), slip$remedy, slip$name, slip$kind)
    }
  )
}

# The first name in a call that is nowhere, where a column is like it.
misspelt <- function(expression, columns, envir) {
  unknown <- Filter(function(name) !exists(name, envir), all.vars(expression))
  remedies <- lapply(unknown, did_you_mean, columns)
  found <- which(lengths(remedies) > 0L)
  if (length(found)) list(name = unknown[[found[[1L]]]], remedy = remedies[[found[[1L]]]], kind = "columns")
}

# polr() and multinom() leave the covariance out unless they are asked for it.
with_covariance <- function(expression, arguments) {
  if ("Hess" %in% arguments && !"Hess" %in% names(expression)) expression$Hess <- TRUE
  expression
}

# lm(formula) finds the columns of a formula that was made elsewhere, or of y ~ ., only by its argument data.
with_data_argument <- function(expression, envir) {
  if (!is.call(expression)) return(expression)
  called <- tryCatch(eval(expression[[1L]], envir), error = function(e) NULL)
  arguments <- if (is.function(called)) names(formals(called))
  if (!identical(arguments[1L], "formula")) return(expression)
  expression <- with_covariance(expression, arguments)
  if ("data" %in% arguments && !"data" %in% names(expression)) expression$data <- quote(.copy)
  expression
}

