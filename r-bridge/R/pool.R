#' Pool analyses of synthetic copies
#'
#' Combines the fits of the copies into one table, by the combining rule that is valid for them. The rule is
#' chosen from what the copies say of themselves: how many there are, how large, whether parameters were drawn anew,
#' which columns are real. A rule that is not valid is refused, and the message names one that is.
#'
#' @param object Fits from `with(s, ...)`; or a list of `m` fits, or of `list(estimates, covariance)`.
#' @param data The synthetic copies, where `object` is a plain list.
#' @param rule `"auto"`, or the name of a rule: `"partial_size_adjusted"`, `"partial_reiter2003"`,
#'   `"raab_simple"`, `"raab_proper"`, `"missing_rubin1987"` and others.
#' @param n_syn,n_org Rows of a copy and of the confidential data, where the copies do not say.
#' @param variables Columns in the model; read from the fits by default.
#' @param ... For methods. Objects of other packages are handed to `mice::pool()`.
#' @return An object of class `synthetic_pooled`: a list with the data frame `pooled`, the covariance matrix
#'   `cov`, `m`, `rule`, `why`, `notes`, and `flags`: what the copies do not hold of the analysis, such as a product
#'   of columns, a curve or clusters that no model of the release was given. It holds numbers only, no copy and no environment.
#' @details T = f u + b / m by default, where u is the mean variance within a copy, b the variance between
#'   copies and f = n_syn / n_org (Reiter 2003; Drechsler 2018); for one copy Raab, Nowok and Dibben (2016).
#'   `mice::pool()` would use the rule for missing data, which is another one. Intervals are valid under the
#'   synthesis model: a relation that no model of the release was given is not in the copies, and the table says so
#'   where the formula asks for one.
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
pool.synthetic_fits <- function(object, rule = "auto", n_org = NULL, variables = NULL, ...) {
  check_no_dots(...)
  request <- pool_request(object$analyses, object$tags, object$columns, variables, object$expression, rule, n_org)
  pooled_object(request, object$expression)
}

#' @rdname pool
#' @export
pool.list <- function(object, data = NULL, rule = "auto", n_syn = NULL, n_org = NULL, variables = NULL, ...) {
  check_no_dots(...)
  tags <- columns <- NULL
  if (!is.null(data)) {
    check_synthetic(data)
    tags <- data$tags
    columns <- names(copies(data)[[1L]])
  }
  request <- pool_request(object, tags, columns, variables, NULL, rule, n_org)
  if (!is.null(n_syn)) request$n_syn <- n_syn
  pooled_object(request, quote(fit))
}

#' @rdname pool
#' @export
pool.default <- function(object, ...) {
  need_package("mice")
  mice::pool(object, ...)
}

pool_request <- function(analyses, tags, columns, variables, expression, rule, n_org) {
  fits <- lapply(seq_along(analyses), function(i) {
    tryCatch(fit_estimates(analyses[[i]]), pysynthdp_fit_error = function(e) {
      abort("pysynthdp_fit_error", paste0("copy ", i, ": ", conditionMessage(e)))
    })
  })
  if (is.null(variables)) variables <- used_columns(analyses, expression, columns)
  rows <- if (length(fits)) fits[[1L]]$nobs
  list(fits = fits, tags = tags, columns = columns, variables = variables, rule = rule, n_org = n_org,
       asked = if (!is.null(tags) && length(analyses)) asked_of(analyses[[1L]], expression),
       n_syn = if (is.null(tags)) rows, model = if (length(analyses)) class(analyses[[1L]])[[1L]])
}

# Columns in the model: those in the formula of the fit and those in the expression; nothing means all of them.
used_columns <- function(analyses, expression, columns) {
  formula <- tryCatch(stats::formula(analyses[[1L]]), error = function(e) NULL)
  names <- c(if (inherits(formula, "formula")) all.vars(formula), all.vars(expression))
  if (!inherits(formula, "formula") || "." %in% names) return(NULL)
  intersect(names, columns)
}

check_no_dots <- function(...) {
  unknown <- names_of_dots(...)
  if (length(unknown)) {
    abort("pysynthdp_plan_error", paste0("pool() has no argument ", sQuote(unknown[[1L]], FALSE)))
  }
}

# The object keeps what was sent, which is numbers, so that it can be compared later; no fit and no environment.
pooled_object <- function(request, expression) {
  done <- do.call(ask, c("pool", request))
  columns <- c("term", "estimate", "std.error", "statistic", "df", "p.value", "ubar", "b", "total")
  pooled <- as.data.frame(unclass(done)[columns])
  dimnames(done$cov) <- list(pooled$term, pooled$term)
  structure(
    list(call = expression, pooled = pooled, cov = done$cov, m = done$m, n_syn = done$n_syn, n_org = done$n_org,
         rule = done$rule, why = done$why, notes = done$notes, flags = done$flags, request = request),
    class = "synthetic_pooled"
  )
}
