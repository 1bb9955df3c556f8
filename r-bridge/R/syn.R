#' Synthesise, with the argument names of synthpop
#'
#' For scripts that were written for synthpop's function of this name. [synthesise()] has the same arguments with
#' underscores and more besides.
#'
#' @param data A confidential data frame.
#' @param method Models of columns, see [synthesise()]: one for all or one for each column, `""` for a column
#'   that is released as it is. `"parametric"` chooses by the type of the column; so does `"cart"`, the default
#'   there, with a warning, since there are no trees here.
#' @param visit.sequence Columns, by name or position, in the order in which they are drawn. As in synthpop, columns
#'   that it leaves out are released as they are, with a warning, unless `drop.not.used = TRUE`.
#' @param predictor.matrix Matrix with a row for each target.
#' @param m Number of copies.
#' @param k Rows of a copy.
#' @param proper Draw the parameters anew for each copy.
#' @param cont.na Codes of numbers that are not values: `list(income = c(NA, -8))`.
#' @param semicont Values of numbers with a mass of their own: `list(wage = 0)`.
#' @param drop.not.used Leave out columns that `visit.sequence` leaves out.
#' @param print.flag Show the result.
#' @param seed A number; `"sample"` and `NA` let [set.seed()] govern the draw. Never stored.
#' @param ... Further arguments of [synthesise()]. Arguments of synthpop that have no equivalent, such as `rules`
#'   or `smoothing`, are an error: nothing is silently left undone.
#' @return As [synthesise()].
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   syn(iris, m = 2, seed = 1)
#' }
#' }
#' @export
syn <- function(data, method = "parametric", visit.sequence = NULL, predictor.matrix = NULL, m = 1L, k = NULL,
                proper = FALSE, cont.na = NULL, semicont = NULL, drop.not.used = FALSE, print.flag = FALSE,
                seed = "sample", ...) {
  call <- safe_call(match.call())
  check_frame(data)
  columns <- names(data)
  visited <- as_columns(visit.sequence, columns, "visit.sequence")
  real <- unvisited(visited, columns, drop.not.used)
  chosen <- synthpop_methods(method, columns)
  released <- union(real$keep, names(chosen)[chosen == ""])
  if (length(released)) {
    caution(paste0("released as they really are, as in synthpop: ", paste(released, collapse = ", ")))
  }
  apart <- c(released, real$drop)
  made <- synthesise(
    data, m = m, method = if (length(chosen)) as.list(chosen[!names(chosen) %in% apart]),
    visit_sequence = if (!is.null(visited)) setdiff(visited, released),
    predictor_matrix = without(as_predictors(predictor.matrix, columns), apart), k = k, proper = proper,
    missing = without_na(cont.na), spikes = without_na(semicont), keep = if (length(released)) released,
    drop = if (length(real$drop)) real$drop, seed = if (is.numeric(seed) && !anyNA(seed)) seed, ...
  )
  made <- with_call(made, call)
  if (isTRUE(print.flag)) print(made)
  made
}

# Columns that are not visited: kept real, or dropped.
unvisited <- function(visited, columns, drop) {
  left <- if (is.null(visited)) character() else setdiff(columns, visited)
  list(keep = if (drop) character() else left, drop = if (drop) left else character())
}

# synthpop's methods: a name for each column, or nothing where the type of the column decides.
synthpop_methods <- function(method, columns) {
  method <- by_column(method, columns, "method")
  if (is.null(names(method))) {
    if ("cart" %in% method) caution("there are no trees here; columns are drawn by parametric models")
    if (is.null(method) || method %in% c("parametric", "cart")) return(character())
    return(stats::setNames(rep(method, length(columns)), columns))
  }
  method <- unlist(method)
  if ("cart" %in% method) caution("there are no trees here; columns with method \"cart\" have parametric models")
  method[!method %in% c("cart", "parametric")]
}

# NA stands in synthpop's lists of codes for missing values, which are understood anyhow.
without_na <- function(codes) {
  if (is.null(codes)) return(NULL)
  codes <- lapply(as.list(codes), function(one) one[!is.na(one)])
  codes[lengths(codes) > 0L]
}

# Rows of targets that are not drawn say nothing.
without <- function(predictors, released) {
  if (is.null(predictors)) return(NULL)
  predictors[!rownames(predictors) %in% released, , drop = FALSE]
}
