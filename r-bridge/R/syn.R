#' Synthesise, with the argument names of synthpop
#'
#' For scripts that were written for synthpop's function of this name: it takes all its arguments, in its order. What
#' asks for nothing, as synthpop's own defaults do, is silent; all else is done, or refused with what to use here, so
#' that nothing is silently left undone. [synthesise()] has the same arguments with underscores and more besides.
#'
#' @param data A confidential data frame, or the path of a file of SPSS, Stata or SAS, which [read_survey()] reads.
#' @param method Models of columns, see [synthesise()]: one for all or one for each column, `""` for a column
#'   that is released as it is. `"parametric"` chooses by the type of the column, and is the default; synthpop's,
#'   `"cart"`, is there too, but pooled tables of its copies have no intervals. Where no method is given this is said
#'   once a session.
#' @param visit.sequence Columns, by name or position, in the order in which they are drawn. As in synthpop, columns
#'   that it leaves out are released as they are, with a warning, unless `drop.not.used = TRUE`. Other than in synthpop,
#'   the drawn columns are drawn from them, so that copies hold what joins drawn and real columns; zeros in
#'   `predictor.matrix` prevent it. Without it they are drawn by kind, see [synthesise()]; synthpop takes them as they
#'   stand.
#' @param predictor.matrix Matrix of 0 and 1 with a row for each target. As in synthpop, columns that are not drawn
#'   before their target cannot be used: where it names such, a warning says so.
#' @param m Number of copies. As in synthpop, `m = 0` draws nothing and gives `method`, `visit.sequence`,
#'   `predictor.matrix` and `semicont` as they would be used, to be changed and given to `syn()` again. Values that pile
#'   up are seen only where the method of their column is left to its type, so give `semicont` back with `method`.
#' @param k Rows of a copy.
#' @param proper Draw the parameters anew for each copy.
#' @param minnumlevels Numbers with no more than so many distinct values are drawn as categories, and are numbers again
#'   in the copies.
#' @param maxfaclevels A limit other than 60 stops where a factor or text has more levels; here the default is no limit.
#' @param rules,rvalues Rules in R code by column, and the value of the column in rows where its rule holds:
#'   `rules = list(marital = "age < 18")`, `rvalues = list(marital = "SINGLE")`; missing without a value. Such rows go into
#'   no model of the column, and every copy keeps the rule. No code is run: a rule is made of columns, numbers, texts,
#'   comparisons, `&`, `|`, `!`, `%in%` and `is.na()`. The columns of a rule are drawn before its own.
#' @param cont.na Codes of numbers that are not values: `list(income = c(NA, -8))`.
#' @param semicont Values of numbers with a mass of their own: `list(wage = 0)`.
#' @param smoothing `list(income = "density")`, `"spline"` or `"rmean"`: met whatever is asked, as numbers are drawn from
#'   smooth distributions and not from those of the records.
#' @param event,denom Not available: there are no models of survival or of grouped binomials.
#' @param drop.not.used Leave out columns that `visit.sequence` leaves out.
#' @param drop.pred.only Not available where columns are real: a release says what it was drawn from.
#' @param default.method Four methods that are chosen by type: of numbers, of two levels, of more, of ordered ones.
#' @param numtocat,catgroups Numbers that are drawn by the group in which they fall, and then inside it, and in how many
#'   groups of equal count; 5 by default. It is the method `cells`, which draws a number inside a group from averages of
#'   records.
#' @param models Not available: fitted models are not sent to R. [synthesis_plan()] shows them.
#' @param print.flag Show the result.
#' @param seed A number; `"sample"` and `NA` let [set.seed()] govern the draw. Never stored.
#' @param ... Further arguments of [synthesise()], such as `bounds`, `rare`, `strata` or `guarantee`, by their whole names;
#'   its names of the arguments above, `missing`, `spikes` and the like, are taken too.
#' @param drop Columns to leave out.
#' @return As [synthesise()]; with `m = 0` a list of class `synth_setup` with `method`, `visit.sequence`,
#'   `predictor.matrix` and `semicont`, and without copies.
#' @details Of synthpop's methods there are the parametric ones, `cart`, `catall` of several columns, and `nested.x`, which
#'   draws a column within the level of x. What synthpop does by `syn.strata()` is done by `strata = "region"`. `polr` takes a factor without declared
#'   order too, with the order of its levels, and says so. `constant` is for columns of one value: synthpop lets other columns stand as
#'   they really are.
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   syn(iris, method = "parametric", m = 2, seed = 1)
#'   start <- syn(iris, method = "parametric", m = 0)
#'   start$predictor.matrix["Species", "Sepal.Width"] <- 0
#'   syn(iris, method = "parametric", predictor.matrix = start$predictor.matrix, seed = 1)
#' }
#' }
#' @export
syn <- function(data, method = "parametric", visit.sequence = NULL, predictor.matrix = NULL, m = 1L, k = NULL,
                proper = FALSE, minnumlevels = 1, maxfaclevels = 60, rules = NULL, rvalues = NULL, cont.na = NULL,
                semicont = NULL, smoothing = NULL, event = NULL, denom = NULL, drop.not.used = FALSE,
                drop.pred.only = FALSE, default.method = c("cells", "logreg", "polyreg", "polr"), numtocat = NULL,
                catgroups = NULL, models = FALSE, print.flag = FALSE, seed = "sample", ..., drop = NULL) {
  call <- safe_call(match.call())
  if (is.character(data) && length(data) == 1L && is_survey(data)) data <- read_survey(data)
  check_frame(data)
  columns <- names(data)
  refuse_synthpop(list(event = event, denom = denom, models = models))
  universe <- universes_of(rules, rvalues, columns)
  more <- list(...)
  visit.sequence <- by_either_name(visit.sequence, more, "visit_sequence")
  predictor.matrix <- by_either_name(predictor.matrix, more, "predictor_matrix")
  cont.na <- by_either_name(cont.na, more, "missing")
  semicont <- by_either_name(semicont, more, "spikes")
  more <- further_settings(more[!names_of(more) %in% names(renamed)])
  more <- with_parting(more, parting_methods(method, columns))
  visited <- as_visited(visit.sequence, columns)
  chosen <- synthpop_methods(method, columns, asked = !missing(method))
  parts <- columns_in_parts(columns, visited, as_columns(drop, columns, "drop"), chosen, drop.not.used)
  settled <- !is.null(visited) || !is.null(more$guarantee) # under a guarantee they are drawn as they stand
  if (!settled && !(is.null(predictor.matrix) && missing(default.method))) {
    parts$drawn <- by_kind(data, parts, without_na(cont.na, columns, "cont.na"))
  }
  predictors <- usable_predictors(predictor.matrix, columns, parts, asked = !is.null(visited))
  chosen <- chosen[names(chosen) %in% parts$drawn]
  looked <- looked_up(data[parts$drawn], minnumlevels, maxfaclevels, default.method, more, cont.na)
  chosen <- by_looks(chosen, looked, parts, predictors)
  grouped <- as_grouped(numtocat, catgroups, data, chosen, asked = !missing(method))
  chosen[names(grouped)] <- grouped
  refuse_pred_only(drop.pred.only, parts)
  say_released(parts)
  check_smoothing(smoothing, columns, parts$released)
  settings <- c(list(
    method = if (length(chosen)) as.list(chosen), visit_sequence = if (!is.null(visited)) without_serial(parts$drawn, chosen), predictor_matrix = predictors,
    proper = proper, missing = without_na(cont.na, columns, "cont.na"),
    spikes = without_na(semicont, columns, "semicont"), keep = parts$released, drop = parts$dropped,
    universe = or_null(c(universe, as_listing(more$universe)))
  ), with_levels(more[names_of(more) != "universe"], looked$levels))
  if (is.numeric(m) && identical(as.numeric(m), 0)) return(setup_only(data, settings, k, drop.not.used, call))
  made <- do.call(synthesise, c(list(data, m = m, k = k, seed = synthpop_seed(seed)), settings))
  made <- with_call(made, call)
  if (isTRUE(print.flag)) print(made)
  made
}

# What becomes of each column: drawn, in this order; released as it is, because it was not visited or has no method;
# or dropped.
columns_in_parts <- function(columns, visited, drop, chosen, drop_not_used) {
  known_columns(drop, columns, "drop")
  left <- setdiff(if (is.null(visited)) character() else setdiff(columns, visited), drop)
  apart <- if (isTRUE(drop_not_used)) character() else left
  bare <- setdiff(names(chosen)[vapply(chosen, identical, NA, "")], c(drop, left))
  drawn <- setdiff(if (is.null(visited)) columns else visited, c(bare, drop))
  if (!length(drawn)) {
    refuse("plan", "no column is left to draw, and the real table is no synthetic one", "visit one, or give it a method",
           kind = "order")
  }
  list(drawn = drawn, released = or_null(c(apart, bare)), unvisited = apart,
       dropped = or_null(c(drop, if (isTRUE(drop_not_used)) left)))
}

or_null <- function(x) if (length(x)) x

# Running numbers are given, not drawn, so they have no place in the order.
without_serial <- function(drawn, chosen) setdiff(drawn, names(chosen)[vapply(chosen, identical, NA, "serial")])

# The order of drawing: columns that are there, each once.
as_visited <- function(x, columns) {
  visited <- as_columns(x, columns, "visit.sequence")
  known_columns(visited, columns, "visit.sequence")
  if (anyDuplicated(visited)) {
    twice <- unique(visited[duplicated(visited)])
    refuse("plan", paste0("visit.sequence has a column more than once: ", paste(twice, collapse = ", ")),
           "name each once", twice[[1L]], "order")
  }
  visited
}

# The order in which columns are drawn where nobody asked for one.
by_kind <- function(data, parts, codes) {
  if (length(parts$drawn) < 2L) return(parts$drawn)
  asked <- synthesis_plan(data[c(parts$released, parts$drawn)], missing = codes[names(codes) %in% parts$drawn],
                          keep = parts$released)
  shown <- asked$visit.sequence
  c(shown[shown %in% parts$drawn], setdiff(parts$drawn, shown))
}

# Whether some order has every predictor before its target.
has_order <- function(x) {
  left <- rownames(x)
  x <- x[, colnames(x) %in% left, drop = FALSE] == 1
  while (length(left)) {
    ready <- left[rowSums(x[left, colnames(x) %in% left, drop = FALSE]) == 0]
    if (!length(ready)) return(FALSE)
    left <- setdiff(left, ready)
  }
  TRUE
}

# Predictors that are there when their target is drawn; others are said once and not used. Without an order asked for,
# the predictors may ask for one.
usable_predictors <- function(x, columns, parts, asked) {
  if (is.null(x) || (is.list(x) && !is.data.frame(x))) return(x)
  x <- as_predictors(x, columns, "predictor.matrix")
  known_columns(c(rownames(x), colnames(x)), columns, "predictor.matrix")
  if (!all(x %in% c(0, 1))) {
    refuse("plan", "predictor.matrix holds other marks than 0 and 1", "write 1 for a predictor, also where mice has 2",
           kind = "predictors")
  }
  x <- x[rownames(x) %in% parts$drawn, , drop = FALSE]
  there <- t(vapply(rownames(x), function(target) {
    colnames(x) %in% c(parts$released, parts$drawn[seq_len(match(target, parts$drawn) - 1L)])
  }, logical(ncol(x))))
  apart <- outer(rownames(x), colnames(x), `!=`)
  if (!asked && has_order(x * apart)) return(x * apart)
  late <- sum(x == 1 & !there & apart)
  if (late) {
    caution(paste0(
      late, if (late == 1) " entry" else " entries", " of predictor.matrix not used, as in synthpop: the column is not ",
      "drawn before its target; visit.sequence changes the order"),
      kind = "predictors", remedy = "visit.sequence changes the order")
  }
  x[!there] <- 0
  x
}

say_released <- function(parts) {
  if (!length(parts$released)) return(invisible())
  caution(paste0(
    "released as they really are, as in synthpop: ", paste(parts$released, collapse = ", "),
    if (length(parts$unvisited)) paste(
      "; other than there, the drawn columns are drawn from them, unless predictor.matrix has 0;",
      "drop.not.used = TRUE leaves out what is not visited")),
    kind = "kept", remedy = if (length(parts$unvisited)) "drop.not.used = TRUE leaves out what is not visited")
}

# NA stands in synthpop's lists of codes for missing values, which are understood anyhow.
without_na <- function(codes, columns, what) {
  if (is.null(codes)) return(NULL)
  codes <- as.list(codes)
  if (length(codes) && is.null(names(codes))) {
    refuse("plan", paste(what, "has no names of columns"), paste0("write ", what, " = list(income = -8)"),
           kind = "setting")
  }
  known_columns(names(codes), columns, what)
  codes <- lapply(codes, function(one) one[!is.na(one)])
  codes <- codes[lengths(codes) > 0L]
  if (length(codes)) codes
}

synthpop_seed <- function(seed) {
  if (is.numeric(seed) && !anyNA(seed)) return(seed)
  if (is.null(seed) || identical(seed, "sample") || (length(seed) == 1L && is.na(seed))) return(NULL)
  refuse("plan", "seed must be a number, \"sample\" or NA", "leave it out to let set.seed() govern the draw",
         kind = "setting")
}
