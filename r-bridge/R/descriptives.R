#' Pooled descriptives
#'
#' Means, shares, quantiles and cross tables over all copies, with intervals and tests by the combining rule that is valid
#' for the copies, as [pool()] chooses it. Missing values and declared codes are left out.
#'
#' @param s Copies from [synthesise()].
#' @param column,row Names of columns.
#' @param level The level whose share is asked for.
#' @param p Between 0 and 1.
#' @param by A column of subgroups, or `NULL`.
#' @param rule A combining rule, as of [pool()].
#' @return An object of class `synthetic_pooled`, see [pool()]; of `crosstab_of()` the shares of all cells, and
#'   `independence`, a test that row and column are independent by the joint test of the rule, or the reason why there is none.
#'   The variance of
#'   a mean is s^2/n, of a share p(1 - p)/(n - 1), of a quantile by the interval of Woodruff (1952), of the cells of a table
#'   that of multinomial shares. Of copies with `units`, such as households, what each row adds to the error is summed over
#'   its unit.
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   s <- synthesise(mtcars, m = 5, seed = 1)
#'   mean_of(s, "mpg", by = "am")
#'   quantile_of(s, "mpg", 0.5)
#'   share_of(s, "am", 1)
#' }
#' }
#' @name descriptives
NULL

#' @rdname descriptives
#' @export
mean_of <- function(s, column, by = NULL, rule = "auto") {
  pooled_groups(s, column, by, rule, paste0("mean(", column, ")"), mean_values)
}

#' @rdname descriptives
#' @export
share_of <- function(s, column, level, by = NULL, rule = "auto") {
  label <- paste0("share(", column, " = ", level, ")")
  pooled_groups(s, column, by, rule, label, function(v) mean_values(as.character(v) == as.character(level)))
}

#' @rdname descriptives
#' @export
quantile_of <- function(s, column, p, by = NULL, rule = "auto") {
  if (!is.numeric(p) || length(p) != 1L || is.na(p) || p <= 0 || p >= 1) {
    refuse("fit", "p must lie between 0 and 1", "write p = 0.5 for the median", kind = "estimand")
  }
  pooled_groups(s, column, by, rule, paste0("quantile(", column, ", ", format(p), ")"), function(v) quantile_values(v, p))
}

#' @rdname descriptives
#' @export
crosstab_of <- function(s, row, column, rule = "auto") {
  check_synthetic(s)
  unit <- s$tags$unit
  frames <- described_copies(s, unique(c(row, column, unit)))
  rows <- levels_of_copies(frames, row)
  columns <- levels_of_copies(frames, column)
  fits <- lapply(frames, function(frame) cell_shares(frame, row, column, rows, columns, unit))
  pooled <- said_of_units(pool(fits, data = s, rule = rule, variables = c(row, column)), unit)
  pooled$independence <- independence(fits, s, rule, c(row, column), length(rows), length(columns))
  class(pooled) <- c("synthetic_crosstab", class(pooled))
  pooled
}

# Shares of the cells of one copy, row by row, with their covariance.
cell_shares <- function(frame, row, column, rows, columns, unit) {
  counts <- table(factor(as.character(frame[[row]]), rows), factor(as.character(frame[[column]]), columns))
  share <- as.vector(t(counts)) / sum(counts)
  names <- paste0(row, "=", rep(rows, each = length(columns)), ", ", column, "=", rep(columns, length(rows)))
  share <- stats::setNames(share, names)
  if (is.null(unit)) return(list(share, (diag(share, length(share)) - tcrossprod(share)) / sum(counts)))
  known <- which(!is.na(frame[[row]]) & !is.na(frame[[column]]))
  cells <- paste0(row, "=", as.character(frame[[row]]), ", ", column, "=", as.character(frame[[column]]))[known]
  scores <- lapply(names, function(name) ((cells == name) - share[[name]]) / length(known))
  of_units(share, scores, rep(list(frame[[unit]][known]), length(names)))
}

# A joint test of the departures p_rc - p_r p_c of all but the last row and column, linearised.
independence <- function(fits, s, rule, variables, rows, columns) {
  if (min(rows, columns) < 2L) return(list(reason = "a column has one level only"))
  apart <- lapply(fits, function(fit) {
    made <- departures(fit[[1L]], fit[[2L]], rows, columns)
    if (isTRUE(attr(fit, "of_units"))) attr(made, "of_units") <- TRUE
    made
  })
  request <- pool(apart, data = s, rule = rule, variables = variables)$request
  do.call(ask, c("pool", request, list(joint = TRUE)))$joint
}

departures <- function(share, cov, rows, columns) {
  table <- matrix(share, rows, columns, byrow = TRUE)
  p <- rowSums(table)
  q <- colSums(table)
  kept <- expand.grid(column = seq_len(columns - 1L), row = seq_len(rows - 1L))
  slopes <- vapply(seq_len(nrow(kept)), function(at) {
    slope <- matrix(0, rows, columns)
    slope[kept$row[[at]], kept$column[[at]]] <- 1
    slope[kept$row[[at]], ] <- slope[kept$row[[at]], ] - q[[kept$column[[at]]]]
    slope[, kept$column[[at]]] <- slope[, kept$column[[at]]] - p[[kept$row[[at]]]]
    as.vector(t(slope))
  }, numeric(rows * columns))
  values <- t(table - outer(p, q))[cbind(kept$column, kept$row)]
  names(values) <- paste0("departure ", kept$row, ", ", kept$column)
  list(values, crossprod(slopes, cov %*% slopes))
}

#' @rdname descriptives
#' @param x A cross table.
#' @param digits Digits that are shown.
#' @param ... Not used.
#' @export
print.synthetic_crosstab <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  check_no_dots("print", ...)
  NextMethod(digits = digits)
  test <- x$independence
  if (!is.null(test$reason)) {
    cat("\nno test of independence: ", test$reason, "\n", sep = "")
  } else {
    cat("\nindependence: F = ", format(test$statistic, digits = digits), ", df = ", format(test$df1), ", ",
        format(test$df2, digits = 4L), ", p = ", format.pval(test$p.value, digits = 3L, eps = 0.001), "\n", sep = "")
  }
  invisible(x)
}

# The copies with codes as missing, once the columns are known.
described_copies <- function(s, columns) {
  check_synthetic(s)
  known_columns(columns, names(copies(s)[[1L]]), "columns")
  declared <- declared_codes(s$schema)
  lapply(copies(s), function(frame) without_codes(frame[columns], declared))
}

levels_of_copies <- function(frames, name) {
  found <- level_names(lapply(frames, `[[`, name))
  found[!is.na(found)]
}

pooled_groups <- function(s, column, by, rule, label, estimate) {
  check_synthetic(s)
  unit <- s$tags$unit
  frames <- described_copies(s, unique(c(column, by, unit)))
  groups <- if (is.null(by)) NULL else levels_of_copies(frames, by)
  names <- if (is.null(by)) label else paste0(label, "[", by, "=", groups, "]")
  fits <- lapply(frames, function(frame) {
    known <- !is.na(frame[[column]])
    parts <- if (is.null(by)) list(which(known)) else lapply(groups, function(g) which(known & as.character(frame[[by]]) %in% g))
    found <- lapply(parts, function(at) if (length(at) < 2L) unknown(length(at)) else estimate(frame[[column]][at]))
    values <- stats::setNames(vapply(found, `[[`, 0, "value"), names)
    if (is.null(unit)) return(list(values, diag(vapply(found, `[[`, 0, "variance"), length(found))))
    of_units(values, lapply(found, `[[`, "scores"), lapply(parts, function(at) frame[[unit]][at]))
  })
  said_of_units(pool(fits, data = s, rule = rule, variables = c(column, by)), unit)
}

unknown <- function(n) list(value = NaN, variance = NaN, scores = rep(NaN, n))

# Estimates with their covariance from what each row adds to them, summed over the rows of a unit.
of_units <- function(values, scores, units) {
  every <- unique(unlist(units))
  sums <- vapply(seq_along(scores), function(j) {
    own <- rowsum(scores[[j]], match(units[[j]], every))
    replace(numeric(length(every)), as.integer(rownames(own)), own)
  }, numeric(length(every)))
  sums <- matrix(sums, ncol = length(scores))
  structure(list(values, crossprod(sums) * length(every) / max(length(every) - 1, 1)), of_units = TRUE)
}

said_of_units <- function(pooled, unit) {
  if (is.null(unit)) return(pooled)
  said <- paste0("standard errors are of clusters: rows of one ", unit, " are alike, and f counts units")
  pooled$notes <- c(pooled$notes, said)
  pooled
}

mean_values <- function(v) {
  v <- as.numeric(v)
  list(value = mean(v), variance = stats::var(v) / length(v), scores = (v - mean(v)) / length(v))
}

quantile_values <- function(v, p) {
  v <- as.numeric(v)
  z <- stats::qnorm(0.975)
  spread <- z * sqrt(p * (1 - p) / length(v))
  limits <- stats::quantile(v, pmin(pmax(c(p - spread, p + spread), 0), 1), names = FALSE)
  value <- stats::quantile(v, p, names = FALSE)
  error <- diff(limits) / (2 * z)
  list(value = value, variance = error^2, scores = ((v <= value) - p) * error / sqrt(p * (1 - p) * length(v)))
}
