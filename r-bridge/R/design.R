#' Analyse every copy under the survey's design
#'
#' Makes a design of the package survey for every copy, by which `with()` evaluates its estimates: `svymean()`,
#' `svytotal()`, `svyratio()`, `svyby()`, `svyglm()` and others that take `design`. [pool()] then takes the variance of the
#' design for that within a copy.
#'
#' @param x An object from [synthesise()]. Made with `design`, it knows the columns; else name them here.
#' @param ids,strata,weights,fpc Formulas, as in `survey::svydesign()`; those of the release by default. Of copies with
#'   `units` the clusters are the units, `ids = ~hid`, unless `ids` says another thing.
#' @param nest Whether sampling units of the same name in two strata are two units.
#' @param data An object from `synth_design()`.
#' @param expr A call of survey without its argument `design`: `svyglm(income ~ age)`.
#' @param ... No other argument is taken.
#' @param codes As in [with.synthetic()].
#' @return `synth_design()` gives an object of class `synthetic_design`, `with()` a list of fits for [pool()].
#' @section Replicate weights and populations:
#' Those of the confidential data are not those of the copies; survey makes them anew from the design, with
#' `with(s, svymean(~income, as.svrepdesign(svydesign(~1, weights = ~pw, data = .copy))))`.
#'
#' Copies of `design = list(..., how = "population")` are simple random samples and have no weights: `synth_design()` refuses
#' them, and `pool(with(s, lm(y ~ x)))` is what to write.
#' @seealso [synthesise()], [pool()]
#' @examples
#' \donttest{
#' if (engine_available() && requireNamespace("survey", quietly = TRUE)) {
#'   data(api, package = "survey")
#'   kept <- apistrat[c("stype", "pw", "fpc", "api00", "ell", "meals")]
#'   s <- synthesise(kept, m = 5, seed = 11, design = list(weight = ~pw, strata = ~stype, fpc = ~fpc))
#'   pool(with(synth_design(s), svyglm(api00 ~ ell + meals)))
#' }
#' }
#' @export
synth_design <- function(x, ..., ids = NULL, strata = NULL, weights = NULL, fpc = NULL, nest = TRUE) {
  check_no_dots("synth_design", ...)
  if (!inherits(x, "synthetic")) refuse("plan", "synth_design() needs synthetic copies", "write synth_design(s)", kind = "call")
  if (!requireNamespace("survey", quietly = TRUE)) {
    refuse("bridge", "synth_design() needs the package survey", "install it", kind = "package")
  }
  refuse_population(x$tags$design)
  given <- list(ids = ids, strata = strata, weights = weights, fpc = fpc)
  unit <- x$tags$unit
  told <- length(x$tags$design$columns) > 0L || is.null(unit)
  if (told && all(vapply(given, is.null, NA))) given <- told_design(x)
  if (is.null(given$ids) && !is.null(unit)) given$ids <- stats::as.formula(unit_formula(unit), globalenv())
  for (name in names(given)) check_design_formula(given[[name]], name, names(x[[1L]]))
  if (is.null(given$ids)) given$ids <- ~1
  if (is.null(given$weights) && is.null(given$fpc)) given$weights <- quote(rep(1, nrow(.copy))) # survey warns without
  given <- given[!vapply(given, is.null, NA)]
  call <- as.call(c(list(quote(survey::svydesign)), given, list(data = quote(.copy), nest = nest)))
  structure(list(release = x, call = call), class = "synthetic_design")
}

# Samples of synthetic populations: the rule takes u of a simple random sample for granted, and there are no weights.
refuse_population <- function(design) {
  if (!identical(design$how, "population")) return(invisible())
  refuse("fit", "each copy is a simple random sample of a synthetic population: it needs no design and no weights",
         "write pool(with(s, lm(y ~ x)))", kind = "design")
}

# The columns that the release says, as formulas.
told_design <- function(x) {
  columns <- x$tags$design$columns
  if (!length(columns)) {
    refuse("fit", "the release has no design", "write synth_design(s, strata = ~region, weights = ~pw)", kind = "design")
  }
  one <- function(role) if (!is.null(columns[[role]])) stats::reformulate(backticked(columns[[role]]))
  list(ids = one("psu"), strata = one("strata"), weights = one("weight"), fpc = one("fpc"))
}

check_design_formula <- function(formula, name, columns) {
  if (is.null(formula)) return(invisible())
  if (!inherits(formula, "formula") || length(formula) != 2L) {
    refuse("plan", paste(name, "must be a formula with a right side"), paste0("write ", name, " = ~column"), kind = "design")
  }
  unknown <- setdiff(all.vars(formula), columns)
  if (length(unknown)) {
    refuse("fit", paste0("the design names ", sQuote(unknown[[1L]], FALSE), ", which the copies do not have"),
           did_you_mean(unknown[[1L]], columns), unknown[[1L]], "unknown column")
  }
}

#' @rdname synth_design
#' @export
with.synthetic_design <- function(data, expr, ..., codes = c("missing", "keep")) {
  check_no_dots("with", ...)
  expression <- if (!missing(expr)) substitute(expr)
  if (!is.call(expression)) {
    refuse("plan", "with() needs a call of survey", "write with(synth_design(s), svymean(~income))", kind = "call")
  }
  if (!is.null(expression$design)) {
    refuse("plan", "the call names a design, which each copy has of its own", "leave design out", kind = "call")
  }
  expression$design <- data$call
  envir <- new.env(parent = parent.frame())
  called <- all.names(expression)[[1L]]
  if (!exists(called, envir, mode = "function")) assign(called, getExportedValue("survey", called), envir)
  fits <- fit_copies(data$release, expression, envir, one_of(codes, "codes"))
  fits$degf <- vapply(copies(data$release), degrees_of_design, 0, data$call, parent.frame())
  fits
}

# Sampling units less strata of one copy, which a mean or total of survey does not tell.
degrees_of_design <- function(copy, call, envir) survey::degf(eval(call, list(.copy = copy), envir))

#' @export
print.synthetic_design <- function(x, ...) {
  check_no_dots("print", ...)
  cat("A design for each of ", length(x$release), " synthetic copies:\n  ", deparse1(x$call), "\n", sep = "")
  invisible(x)
}
