#' Pool analyses of synthetic copies
#'
#' Combines the fits of the copies into one table, by the combining rule that is valid for them. The rule is
#' chosen from what the copies say of themselves: how many there are, how large, whether parameters were drawn anew,
#' which columns are real. A rule that is not valid is refused, and the message names one that is.
#'
#' @param object Fits from `with(s, ...)`; or a list of `m` fits of one model, one a copy in order, or of
#'   `list(estimates, covariance)`.
#' @param data The synthetic copies, where `object` is a plain list.
#' @param rule `"auto"`, or the name of a rule: `"partial_size_adjusted"`, `"partial_reiter2003"`,
#'   `"raab_simple"`, `"raab_proper"`, `"missing_rubin1987"` and others.
#' @param n_syn,n_org Rows (or units, where rows belong together) of a copy and of the confidential data, where the copies
#'   do not say.
#' @param variables Columns in the model; read from the fits by default.
#' @param ... For methods. Objects of other packages are handed to `mice::pool()`.
#' @return An object of class `synthetic_pooled`: a list with the data frame `pooled`, the covariance matrix
#'   `cov`, `m`, `rule`, `why`, `notes`, and `flags`: what the copies do not hold of the analysis, such as a product
#'   of columns, a curve or clusters that no model of the release was given, and rows of units that the fits took for
#'   independent. It holds numbers only, no copy and no environment.
#' @details T = f u + b / m by default, where u is the mean variance within a copy, b the variance between
#'   copies and f = n_syn / n_org (Reiter 2003; Drechsler 2018); for one copy Raab, Nowok and Dibben (2016).
#'   `mice::pool()` would use the rule for missing data, which is another one. Intervals are valid under the
#'   synthesis model: a relation that no model of the release was given is not in the copies, and the table says so
#'   where the formula asks for one.
#'
#'   Of copies with `units`, such as households, n_syn and n_org count units. A fit whose variance counts each row by
#'   itself is flagged, with a warning of class `pysynthdp_warning`, unless it names clusters: `svydesign(ids = ~hid)` of
#'   survey, `id`, `cluster` or `clusters` of other packages, `(1 | hid)` of a mixed model, or one row a unit,
#'   `subset = !duplicated(hid)`.
#'
#'   Fits of different models (formula, response, family, class), of other rows than those of their copies, and fits
#'   that are equal in all copies though these differ, are refused. A term is `NaN`, with a note, where its name does
#'   not mean the same in every copy: a copy lacks the reference level, or its columns are collinear there. What
#'   `poly()`, `ns()` or `scale()` learned from each copy anew is noted.
#' @references Reiter, J. P. (2003). Inference for partially synthetic, public use microdata sets. Survey
#'   Methodology 29, 181-188. Raab, G. M., Nowok, B. and Dibben, C. (2016). Practical data synthesis for large
#'   samples. Journal of Privacy and Confidentiality 7(3), 67-97.
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   s <- synthesise(mtcars, m = 5, seed = 1)
#'   p <- pool(with(s, lm(mpg ~ wt)))
#'   p
#'   summary(p)
#'   confint(p)
#'   p$why
#' }
#' }
#' @export
pool <- function(object, ...) UseMethod("pool")

#' @rdname pool
#' @export
pool.synthetic_fits <- function(object, ..., rule = "auto", n_org = NULL, variables = NULL) {
  check_no_dots("pool", ...)
  refuse_other_size(n_org, object$tags$n_org)
  request <- pool_request(object$analyses, object$tags, object$columns, variables, object$expression, rule, n_org,
                          object$own)
  for (i in seq_along(object$degf)) if (is.null(request$fits[[i]]$df)) request$fits[[i]]$df <- object$degf[[i]]
  alike <- alike_flag(object$tags, object$analyses, object$expression)
  each <- one_row_each(object$expression, object$tags$unit)
  part <- if (!each) object$part else
    paste0("The table speaks of units, of which the fits used one row each by ", object$tags$unit, ".")
  pooled_object(with_codes(request, object$coded, object$codes), object$expression, object$declared, part, alike)
}

#' @rdname pool
#' @export
pool.list <- function(object, data = NULL, ..., rule = "auto", n_syn = NULL, n_org = NULL, variables = NULL) {
  check_no_dots("pool", ...)
  tags <- columns <- own <- part <- NULL
  if (!is.null(data)) {
    check_unchanged(data)
    tags <- data$tags
    refuse_other_size(n_org, tags$n_org)
    columns <- names(copies(data)[[1L]])
    own <- own_rows(object, copies(data))
    part <- rows_note(object, copies(data))
  }
  request <- pool_request(object, tags, columns, variables, NULL, rule, n_org, own)
  if (!is.null(n_syn)) request$n_syn <- n_syn
  if (is.null(data) && (is.null(request$n_syn) || is.null(n_org))) refuse_bare_list()
  if (!is.null(data)) request <- with_codes(request, codes_in_fits(object, declared_codes(data$schema)), "keep")
  pooled_object(request, quote(fit), part = part, alike = alike_flag(tags, object, NULL))
}

#' @rdname pool
#' @export
pool.default <- function(object, ...) {
  if (!inherits(object, c("mira", "mids", "mild", "mipo"))) refuse_one(object)
  if (identical(object$call1, made_for_mice)) refuse_mids()
  need_package("mice")
  mice::pool(object, ...)
}

# The release says of how many rows its copies were drawn; another number would be left aside in silence.
refuse_other_size <- function(asked, known) {
  if (is.null(asked) || is.null(known) || isTRUE(asked == known)) return(invisible())
  refuse("combining_rule", paste0("n_org is ", known, " by what the copies say of themselves"), "leave n_org out",
         kind = "setting")
}

# A list of fits says nothing of the copies.
refuse_bare_list <- function() {
  refuse("combining_rule", "a list of fits does not say what the copies are, and the rule depends on it", paste(
    "give them too, pool(fits, data = s), or n_syn and n_org, the rows of a copy and of the confidential data"),
    kind = "no copies")
}

# as_mids() writes this call into its object, and with() of mice into what it fits.
made_for_mice <- quote(pysynthdp::as_mids(x))

refuse_mids <- function() {
  refuse("combining_rule", paste(
    "these are fits of what as_mids() made, and mice would pool them by the rule for missing data, which is wrong for",
    "synthetic copies"), "write pool(with(s, ...)), where s is the object from synthesise()", kind = "rule")
}

refuse_one <- function(object) {
  kind <- if (is.data.frame(object)) "a data frame" else if (inherits(object, c("synthetic", "synds"))) "the copies themselves" else
    if (inherits(object, "synthetic_pooled")) "what is pooled already" else
      paste("one object of class", class(object)[[1L]])
  refuse("fit", paste0("pool() takes the fits of all copies, not ", kind),
         "give pool(with(s, lm(y ~ x))), or a list of one fit a copy", kind = "fit")
}

pool_request <- function(analyses, tags, columns, variables, expression, rule, n_org, own = NULL) {
  fits <- lapply(seq_along(analyses), function(i) {
    tryCatch(fit_estimates(analyses[[i]]), pysynthdp_fit_error = function(e) {
      abort("pysynthdp_fit_error", paste0("copy ", i, ": ", conditionMessage(e)), fields = e[c("column", "kind", "remedy")])
    })
  })
  for (i in seq_along(own)) if (!is.null(fits[[i]]$about)) fits[[i]]$about$own <- isTRUE(own[[i]])
  if (is.null(variables)) variables <- used_columns(analyses, expression, columns)
  rows <- if (length(fits)) fits[[1L]]$nobs
  asked <- if (!is.null(tags) && length(analyses)) asked_of(analyses[[1L]], expression)
  if (one_row_each(expression, tags$unit)) asked$subset <- NULL
  list(fits = fits, tags = tags, columns = columns, variables = variables, rule = rule, n_org = n_org,
       asked = asked,
       n_syn = if (is.null(tags)) rows, model = if (length(analyses)) class(analyses[[1L]])[[1L]])
}

# What the notes say of declared codes: the cells in the columns of the model.
with_codes <- function(request, coded, codes) {
  if (!is.null(request$variables)) coded <- coded[intersect(names(coded), request$variables)]
  coded <- coded[coded > 0]
  if (length(coded)) request <- c(request, list(coded = as.list(coded), codes = codes))
  request
}

# Columns in the model: those in the formula of the fit and those in the expression; nothing means all of them.
used_columns <- function(analyses, expression, columns) {
  formula <- tryCatch(stats::formula(analyses[[1L]]), error = function(e) NULL)
  names <- c(if (inherits(formula, "formula")) all.vars(formula), all.vars(expression))
  if (!inherits(formula, "formula") || "." %in% names) return(NULL)
  intersect(names, columns)
}

# synthpop's population.inference = TRUE is what is done; without it a summary there speaks of the confidential
# estimate, which is not given here.
check_no_dots <- function(what, ...) {
  given <- list(...)
  if (isTRUE(given$population.inference)) given$population.inference <- NULL
  unknown <- do.call(names_of_dots, given)
  known <- names(formals(sys.function(sys.parent())))
  if (!length(unknown)) return(invisible())
  if (unknown[[1L]] == "population.inference") {
    refuse("plan", paste0(
      "population.inference = FALSE asks for intervals of the confidential estimate; those here are for the population"),
      "leave it out, or see compare_synthetic(p, data, target = \"original\")", kind = "setting")
  }
  refuse_unknown(what, unknown, known)
}

# The object keeps what was sent, which is numbers, so that it can be compared later; no fit and no environment.
pooled_object <- function(request, expression, declared = NULL, part = NULL, alike = character()) {
  done <- do.call(ask, c("pool", request))
  columns <- c("term", "estimate", "std.error", "statistic", "df", "p.value", "ubar", "b", "total")
  pooled <- as.data.frame(unclass(done)[columns])
  dimnames(done$cov) <- list(pooled$term, pooled$term)
  structure(
    list(call = expression, pooled = pooled, cov = done$cov, m = done$m, n_syn = done$n_syn, n_org = done$n_org,
         rule = done$rule, why = done$why, notes = c(done$notes, part), flags = c(done$flags, alike), request = request,
         declared = declared),
    class = "synthetic_pooled"
  )
}
