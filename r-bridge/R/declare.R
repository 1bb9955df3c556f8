#' Declare columns from public documents
#'
#' A formal guarantee takes nothing from the data: what a column is must be declared, from the questionnaire or the
#' codebook.
#'
#' @param lower,upper Public bounds. Under noise in the answers, numbers drawn by `norm` may lie outside their declared
#'   bounds: clamping them again would bias means and regressions.
#' @param decimals Digits after the point; `NULL` leaves drawn values unrounded.
#' @param missing Codes that are not values, with names as labels.
#' @param spikes Values with a mass of their own.
#' @param may_be_missing Whether a value may be missing without a code.
#' @param fallback What a cell without a readable value becomes under a guarantee.
#' @param ... No other argument is taken.
#' @param unit In what a column of dates, times or durations is counted from 1970-01-01, with all that is declared of
#'   it: `"day"`, `"hour"`, `"minute"` or `"second"`. A `Date`, a `POSIXct` and a `difftime` are converted to it, and a
#'   number is that many. With `"number"` a column under a guarantee is what [as.numeric()] gives: days of a `Date`,
#'   seconds of a `POSIXct`, the units of a `difftime`. Copies of a column in days are of class `Date` under a
#'   guarantee, those in the other units of class `POSIXct`.
#' @param levels All levels in order.
#' @param ordered Whether the order means something.
#' @param other Level for values that are not listed.
#' @return A list that [synthesise()] takes in `schema`.
#' @examples
#' schema <- list(
#'   age = numeric_column(18, 99, decimals = 0),
#'   born = numeric_column(as.Date("1900-01-01"), as.Date("2020-12-31"), decimals = 0, unit = "day"),
#'   sex = categorical_column(c("f", "m"), other = "f")
#' )
#' @export
numeric_column <- function(lower = NULL, upper = NULL, ..., decimals = NULL, missing = NULL, spikes = NULL,
                           may_be_missing = FALSE, fallback = NULL,
                           unit = c("number", "day", "hour", "minute", "second")) {
  check_no_dots("numeric_column", ...)
  unit <- one_of(unit, "unit")
  list(kind = "numeric", lower = counted(lower, unit), upper = counted(upper, unit), decimals = decimals,
       missing = missing, spikes = spikes, may_be_missing = may_be_missing, fallback = counted(fallback, unit),
       unit = unit)
}

# A Date or a POSIXct as a number of the declared unit; a plain number is one already.
counted <- function(x, unit) {
  if (!inherits(x, c("Date", "POSIXct"))) return(x)
  if (unit == "number") {
    abort("pysynthdp_schema_error", "a bound or fallback is a date or a time; say what is counted: unit = \"day\"")
  }
  seconds <- as.numeric(x) * if (inherits(x, "Date")) 86400 else 1
  seconds / c(day = 86400, hour = 3600, minute = 60, second = 1)[[unit]]
}

#' @rdname numeric_column
#' @export
categorical_column <- function(levels, ..., ordered = FALSE, missing = NULL, may_be_missing = FALSE, other = NULL) {
  check_no_dots("categorical_column", ...)
  if (inherits(levels, c("factor", "Date", "POSIXct"))) levels <- as.character(levels)
  list(kind = "categorical", levels = as.list(levels), ordered = ordered, missing = missing,
       may_be_missing = may_be_missing, other = other)
}

#' Ask for a formal guarantee
#'
#' `zcdp()` and `approx_dp()` ask for noise in what is computed from the data: it is paid for once, and any number of
#' copies may be drawn. `by_sampling()` asks that the draw itself protects: nothing is noised, and every record that is
#' drawn costs. All need a declared `schema`; [privacy_statement()] says what was given.
#'
#' Under noise in the answers, numbers drawn by `norm` may lie outside their declared bounds: clamping them again would
#' bias means and regressions.
#'
#' @param rho Budget of zero-concentrated differential privacy.
#' @param epsilon,delta Budget as a pair.
#' @param deltas Where the statement quotes epsilon.
#' @param hints Public guesses of mean and standard deviation: `list(age = c(45, 20))`.
#' @param fresh_noise Number of copies that each get noise of their own, with an equal part of the budget; 0 for one
#'   noisy release that all copies come from.
#' @param exact Draw from exact samplers, so that the guarantee is about the code and not about real numbers.
#' @param relation What neighbouring tables are: `"replace_one"` or `"add_remove"`.
#' @param rows_per_unit The most rows that one unit can have; without `unit_key` this is assumed, and the statement says
#'   so.
#' @param unit What the unit is called.
#' @param unit_key Name of the column that says whose a row is: rows beyond the first `rows_per_unit` of their unit, and
#'   rows without a key, take no part. It is read for that alone, never drawn, and not named in `schema`.
#' @param name Name of a protection, for those that another Python package brings.
#' @param ... For `protection()` its settings, by name; any other argument is an error. Arguments behind it are written
#'   by their whole names.
#' @return A list that [synthesise()] takes in `guarantee`.
#' @examples
#' zcdp(rho = 0.5, unit = "person")
#' by_sampling(deltas = 1e-6, unit = "person")
#' protection("zcdp", rho = 0.5)
#' @export
zcdp <- function(rho, ..., deltas = 1e-6, hints = NULL, fresh_noise = 0L, relation = c("replace_one", "add_remove"),
                 rows_per_unit = 1L, unit = "record", unit_key = NULL) {
  check_no_dots("zcdp", ...)
  if (base::missing(rho)) refuse("plan", "zcdp() needs a budget", "write zcdp(rho = 0.5)", kind = "setting")
  given(name = "zcdp", rho = rho, deltas = deltas, hints = hints, fresh_noise = fresh_noise,
        relation = one_of(relation, "relation"), rows_per_unit = rows_per_unit, unit = unit, unit_key = unit_key)
}

#' @rdname zcdp
#' @export
approx_dp <- function(epsilon, delta, ..., hints = NULL, fresh_noise = 0L,
                      relation = c("replace_one", "add_remove"), rows_per_unit = 1L, unit = "record", unit_key = NULL) {
  check_no_dots("approx_dp", ...)
  if (base::missing(epsilon) || base::missing(delta)) {
    refuse("plan", "approx_dp() needs a budget", "write approx_dp(epsilon = 1, delta = 1e-6)", kind = "setting")
  }
  given(name = "approx_dp", epsilon = epsilon, delta = delta, deltas = delta, hints = hints,
        fresh_noise = fresh_noise, relation = one_of(relation, "relation"), rows_per_unit = rows_per_unit, unit = unit,
        unit_key = unit_key)
}

#' @rdname zcdp
#' @export
by_sampling <- function(deltas = 1e-6, ..., exact = FALSE, relation = c("replace_one", "add_remove"),
                        rows_per_unit = 1L, unit = "record", unit_key = NULL) {
  check_no_dots("by_sampling", ...)
  given(name = "by_sampling", deltas = deltas, exact = exact, relation = one_of(relation, "relation"),
        rows_per_unit = rows_per_unit, unit = unit, unit_key = unit_key)
}

#' @rdname zcdp
#' @export
protection <- function(name, ...) {
  settings <- list(...)
  if (length(settings) && (is.null(names(settings)) || any(names(settings) == ""))) {
    abort("pysynthdp_plan_error", "settings of a protection have names: protection(\"zcdp\", rho = 0.5)")
  }
  do.call(given, c(list(name = name), settings))
}

# One of the words that an argument offers, which stand first to last in its default.
one_of <- function(given, what) {
  known <- eval(formals(sys.function(sys.parent()))[[what]])
  if (identical(given, known)) return(known[[1L]])
  if (is.character(given) && length(given) == 1L && given %in% known) return(given)
  refuse("plan", paste0(what, " must be one of ", paste(dQuote(known, FALSE), collapse = ", ")),
         if (is.character(given) && length(given) == 1L) did_you_mean(given, known), kind = "setting")
}

# The settings of a protection: NULL is not given. NA would mean the same beyond R, so it is refused: where a number of
# rows or a key came out as NA, the default would protect less than was asked.
given <- function(...) {
  settings <- list(...)
  refuse_na(settings)
  settings[!vapply(settings, is.null, NA)]
}

#' Look at data and plans before anything is fitted
#'
#' `look()` shows how every column is understood, with hints; it is for the person who holds the data.
#' `synthesis_plan()` shows who is drawn from whom and by what, and what a guarantee would cost.
#' `check_synthesis()` fits, and shows where rows drawn from the fit differ from the data by more than chance: it warns as
#' [synthesise()] does, and lists all of it, worst first. It is INTERNAL: a function of the confidential data.
#'
#' @param data A confidential data frame, or the path of a file as of [synthesise()]; for a plan `NULL` if there is a
#'   `schema`.
#' @param m Number of copies, for the price.
#' @param n Rows of the data, for the price without data.
#' @param ... Settings of [synthesise()].
#' @return A list of class `synth_text`, which prints; that of a plan has `method`, `visit.sequence`,
#'   `predictor.matrix` and `semicont` too, as in synthpop; that of a check has `table`, a data frame with a row for each
#'   finding.
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   look(iris)
#'   synthesis_plan(iris, method = c(Petal.Width = "norm"))
#'   check_synthesis(iris)$table
#' }
#' }
#' @export
look <- function(data, ...) {
  data <- check_frame(as_given(data))
  settings <- declared(data, ...)
  structure(ask("look", data = sent_of(data, settings$drop), settings = settings), class = "synth_text")
}

#' @rdname look
#' @export
synthesis_plan <- function(data = NULL, m = 5L, n = NULL, ...) {
  if (!is.null(data)) data <- check_frame(as_given(data))
  refuse_na(list(m = m, n = n))
  settings <- declared(data, ...)
  as_plan(ask("plan", data = sent_of(data, settings$drop), settings = settings, m = m, n = n))
}

#' @rdname look
#' @export
check_synthesis <- function(data, ...) {
  data <- check_frame(as_given(data))
  settings <- declared(data, ...)
  made <- ask("check", data = sent_of(data, settings$drop), settings = settings)
  structure(list(text = made$text, table = as.data.frame(made$columns)), class = "synth_text")
}

#' Count rows that break rules
#'
#' Of copies: rows that break a rule or universe of [synthesise()], which are none unless somebody changed them, and the
#' share of rows that met it when they were first drawn; the others were drawn again, which moves margins. Of a
#' confidential table: rows that break the `rules` and `universe` that are asked for, before anything is fitted. That is
#' INTERNAL, counts below ten stay vague, and a `guarantee` refuses it.
#'
#' @param x Copies from [synthesise()], a confidential data frame, or the path of a file as of [synthesise()].
#' @param ... For data, settings of [synthesise()], `rules` and `universe` among them.
#' @return A list of class `synth_text`, which prints, with `table`, a data frame with a row for each rule. Of copies it
#'   has the columns `rule`, `met` (`NA` where no row was drawn again) and `copy_1`, `copy_2`, ...; of data `rule` and
#'   `broken`, a text.
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   long <- "Petal.Length < Sepal.Length"
#'   check_rules(iris, rules = long)
#'   check_rules(synthesise(iris, m = 2, rules = long, seed = 1))$table
#' }
#' }
#' @export
check_rules <- function(x, ...) {
  if (inherits(x, "synds")) {
    check_no_dots("check_rules", ...)
    return(as_rules(ask("rules_of_copies", x = sendable(x))))
  }
  data <- check_frame(as_given(x))
  settings <- declared(data, ...)
  as_rules(ask("broken_rules", data = sent_of(data, settings$drop), settings = settings))
}

as_rules <- function(made) structure(list(text = made$text, table = as.data.frame(made$columns)), class = "synth_text")

# Beside the text what can be computed with, under synthpop's names.
as_plan <- function(made) {
  names <- made$columns
  structure(list(
    text = made$text, method = stats::setNames(made$method, names), visit.sequence = made$visit.sequence,
    predictor.matrix = matrix(made$predictor.matrix, length(names), dimnames = list(names, names)),
    semicont = made$semicont
  ), class = "synth_text")
}

declared <- function(data, ..., method = NULL, visit_sequence = NULL, predictor_matrix = NULL, formulas = NULL,
                     missing = NULL, spikes = NULL, bounds = NULL, decimals = NULL, levels = NULL, keep = NULL,
                     drop = NULL, proper = NULL, draws = NULL, joint = NULL, schema = NULL, guarantee = NULL,
                     plan = NULL, rare = NULL, max_predictors = NULL, terms = NULL,
                     derive = NULL, universe = NULL, rules = NULL, must_sum = NULL, top_code = NULL, round = NULL,
                     nested = NULL, strata = NULL, design = NULL) {
  settings_of(
    if (is.null(data) && is.list(schema)) schema else data, method = method, visit_sequence = visit_sequence,
    predictor_matrix = predictor_matrix, formulas = formulas, missing = missing, spikes = spikes,
    bounds = bounds, decimals = decimals, levels = levels, keep = keep, drop = drop, proper = proper,
    draws = draws, joint = joint, schema = schema, guarantee = guarantee, plan = plan, rare = rare,
    max_predictors = max_predictors, terms = terms, derive = derive, universe = universe, rules = rules,
    must_sum = must_sum, top_code = top_code, round = round, nested = nested, strata = strata,
    design = design, ...
  )
}

#' @export
print.synth_text <- function(x, ...) {
  check_no_dots("print", ...)
  cat(x$text, "\n", sep = "")
  invisible(x)
}
