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
#' @return An object of class `synthetic_pooled`, see [pool()]; of `crosstab_of()` the shares of all cells. The variance of
#'   a mean is s^2/n, of a share p(1 - p)/(n - 1), of a quantile by the interval of Woodruff (1952), of the cells of a table
#'   that of multinomial shares.
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
  pooled_groups(s, column, by, rule, paste0("mean(", column, ")"), mean_pair)
}

#' @rdname descriptives
#' @export
share_of <- function(s, column, level, by = NULL, rule = "auto") {
  label <- paste0("share(", column, " = ", level, ")")
  pooled_groups(s, column, by, rule, label, function(v) mean_pair(as.character(v) == as.character(level)))
}

#' @rdname descriptives
#' @export
quantile_of <- function(s, column, p, by = NULL, rule = "auto") {
  if (!is.numeric(p) || length(p) != 1L || is.na(p) || p <= 0 || p >= 1) {
    refuse("fit", "p must lie between 0 and 1", "write p = 0.5 for the median", kind = "estimand")
  }
  pooled_groups(s, column, by, rule, paste0("quantile(", column, ", ", format(p), ")"), function(v) quantile_pair(v, p))
}

#' @rdname descriptives
#' @export
crosstab_of <- function(s, row, column, rule = "auto") {
  frames <- described_copies(s, c(row, column))
  rows <- levels_of_copies(frames, row)
  columns <- levels_of_copies(frames, column)
  fits <- lapply(frames, function(frame) {
    counts <- table(factor(as.character(frame[[row]]), rows), factor(as.character(frame[[column]]), columns))
    share <- as.vector(t(counts)) / sum(counts)
    names <- paste0(row, "=", rep(rows, each = length(columns)), ", ", column, "=", rep(columns, length(rows)))
    list(stats::setNames(share, names), (diag(share, length(share)) - tcrossprod(share)) / sum(counts))
  })
  pool(fits, data = s, rule = rule, variables = c(row, column))
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
  frames <- described_copies(s, c(column, by))
  groups <- if (is.null(by)) NULL else levels_of_copies(frames, by)
  fits <- lapply(frames, function(frame) {
    value <- frame[[column]]
    parts <- if (is.null(by)) list(value) else lapply(groups, function(g) value[as.character(frame[[by]]) %in% g])
    pairs <- vapply(parts, function(v) {
      v <- v[!is.na(v)]
      if (length(v) < 2L) c(NaN, NaN) else estimate(v)
    }, numeric(2L))
    names <- if (is.null(by)) label else paste0(label, "[", by, "=", groups, "]")
    list(stats::setNames(pairs[1L, ], names), diag(pairs[2L, ], ncol(pairs)))
  })
  pool(fits, data = s, rule = rule, variables = c(column, by))
}

mean_pair <- function(v) {
  v <- as.numeric(v)
  c(mean(v), stats::var(v) / length(v))
}

quantile_pair <- function(v, p) {
  v <- as.numeric(v)
  z <- stats::qnorm(0.975)
  spread <- z * sqrt(p * (1 - p) / length(v))
  limits <- stats::quantile(v, pmin(pmax(c(p - spread, p + spread), 0), 1), names = FALSE)
  c(stats::quantile(v, p, names = FALSE), (diff(limits) / (2 * z))^2)
}
