# What pooling needs of a fit: terms, estimates, their covariance, and residual degrees of freedom.

fit_estimates <- function(fit) {
  both <- if (is_pair(fit)) pair_estimates(fit) else model_estimates(fit)
  terms <- names(both$values)
  if (is.null(terms)) terms <- paste("estimate", seq_along(both$values))
  cov <- unname(as.matrix(both$cov))
  if (!is.numeric(both$values) || !is.numeric(cov) || !identical(dim(cov), rep(length(terms), 2L))) {
    refuse("fit", paste0("coef() and vcov() of a fit of class ", class(fit)[[1L]], " do not go together"),
           "give list(estimates, covariance) for each copy", kind = "fit")
  }
  gone <- terms %in% separated_terms(fit)
  values <- as.numeric(both$values)
  cov <- matrix(as.numeric(cov), length(terms))
  values[gone] <- cov[gone, ] <- cov[, gone] <- NA_real_
  list(terms = unname(terms), values = values, cov = cov, df = residual_df(fit), nobs = rows_of(fit),
       about = if (!is_pair(fit)) describe_fit(fit), separated = if (any(gone)) unname(terms)[gone])
}

# list(estimates, variances) or list(estimates, covariance)
is_pair <- function(fit) {
  is.list(fit) && !is.object(fit) && length(fit) == 2L && all(vapply(fit, is.numeric, NA))
}

pair_estimates <- function(fit) {
  cov <- if (is.matrix(fit[[2L]])) fit[[2L]] else diag(fit[[2L]], length(fit[[2L]]))
  list(values = fit[[1L]], cov = cov)
}

model_estimates <- function(fit) {
  cov <- tryCatch(as.matrix(stats::vcov(fit)), error = function(e) no_estimates(fit))
  values <- if (inherits(fit, c("merMod", "lme"))) fixed_effects(fit) else {
    tryCatch(stats::coef(fit), error = function(e) no_estimates(fit))
  }
  if (inherits(fit, "multinom")) return(equations(values, cov))
  if (inherits(fit, "polr")) values <- c(values, fit$zeta)
  known <- rownames(cov)
  if (!is.null(names(values)) && !is.null(known)) {
    # survreg and the like have more in the covariance than in the coefficients
    if (nrow(cov) > length(values) && all(names(values) %in% known)) cov <- cov[names(values), names(values)]
    # and aliased coefficients may be in the coefficients only
    if (nrow(cov) < length(values) && all(known %in% names(values))) cov <- padded(cov, names(values))
  }
  list(values = values, cov = cov)
}

no_estimates <- function(fit) {
  refuse("fit", paste0("an object of class ", class(fit)[[1L]], " has no coef() and vcov()"),
         "give a fitted model, or list(estimates, covariance) for each copy", kind = "fit")
}

# coef() of a mixed model gives the coefficients of every group; what goes with vcov() are the fixed effects.
fixed_effects <- function(fit) {
  package <- if (inherits(fit, "lme")) "nlme" else "lme4"
  need_package(package)
  getExportedValue(package, "fixef")(fit)
}

# multinom: a row of coefficients for each level; the covariance names them level:term
equations <- function(values, cov) {
  if (!is.matrix(values)) return(list(values = values, cov = cov))
  flat <- as.vector(t(values))
  names(flat) <- paste(rep(rownames(values), each = ncol(values)), rep(colnames(values), nrow(values)), sep = ":")
  list(values = flat, cov = cov[names(flat), names(flat)])
}

padded <- function(cov, terms) {
  full <- matrix(NA_real_, length(terms), length(terms), dimnames = list(terms, terms))
  full[rownames(cov), rownames(cov)] <- cov
  full
}

# Finite for models whose own tables use t; the others use the normal distribution.
residual_df <- function(fit) {
  uses_t <- inherits(fit, "svyglm") || (inherits(fit, "lm") && !inherits(fit, "glm"))
  df <- if (uses_t) tryCatch(stats::df.residual(fit), error = function(e) NULL)
  if (is.numeric(df) && length(df) == 1L && is.finite(df) && df > 0) as.numeric(df)
}

rows_of <- function(fit) {
  rows <- tryCatch(stats::nobs(fit), error = function(e) NULL, warning = function(w) NULL)
  if (is.numeric(rows) && length(rows) == 1L) as.numeric(rows)
}
