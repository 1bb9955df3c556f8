#' Make synthetic copies of a confidential data frame
#'
#' Fits a model to every column, given the columns before it, and draws `m` synthetic copies from the fitted
#' models. Each copy has the columns, order, types, levels, labels and codes of the data.
#'
#' @param x A confidential data frame or tibble; the path of a CSV or Parquet file, or of a folder of Parquet files, whose
#'   rows are read on disk by the engine and never travel to R; a list of data frames, or a `mids` object of mice, that are imputations
#'   of one table; or a formula, with the data frame as second argument. With
#'   `income ~ age + sex` the right side tells the predictors of one column, which is drawn after them, and all
#'   columns are drawn; with
#'   `~ age + sex + income` only these columns are drawn, in this order.
#' @param data The data frame, where `x` is a formula.
#' @param m Number of copies; 5 by default, and 20 where the answers are noised. Of imputed tables, `m` copies of each,
#'   which stand in nests, one an imputation: [pool()] takes the rule of Reiter (2004) for them.
#' @param method Models of columns: a list or vector with columns' names, one element for each column, or one
#'   for all. The names are those of synthpop: `norm`, `lognorm`, `sqrtnorm`, `cubertnorm`, `normrank`,
#'   `normspread`, `cells`, `residual`, `poisson`, `negbin`, `logreg`, `polyreg`, `polr`, `sample`, `constant`, `cart` for trees, whose copies
#'   give no intervals, and `serial` for fresh running numbers; `"parametric"` is the choice by type that is made anyhow. Settings go into a list: `list(smokes = list(name = "logridge", penalty = 1))`.
#' @param visit_sequence Columns in the order in which they are drawn. By default by kind: categories, those of few
#'   levels first, then numbers; each after the columns that a formula draws it from.
#' @param predictor_matrix Matrix with a row for each target and a column for each predictor, or a list
#'   `list(income = c("age", "sex"))`. By default all earlier columns, or of many those that tell most: see
#'   `max_predictors`.
#' @param formulas A formula, a list of formulas or a character vector: predictors with interactions and
#'   powers, `income ~ age * sex + I(age^2)`, curves `log(a)`, `bs(a, 5)`, `cr(a, 4)`, `cut(a, 4)`, `hinge(a, 2)`,
#'   `step(a, 2)`, and one level, `sex[M]`.
#' @param missing Codes that are not values: `list(income = c(refused = -8, "don't know" = -9))`. User-defined
#'   missing values of haven's labelled columns, and tagged ones with a label, are understood without it; other tags are
#'   declared as `list(income = c(refused = ".a"))`.
#' @param spikes Values with a mass of their own: `list(wage = 0)`.
#' @param bounds Declared bounds: `list(age = c(18, 99))`; `NA` for none.
#' @param decimals Digits after the point: `list(income = 0)`.
#' @param levels Declared levels: `list(sex = c("f", "m"))`. Levels of a factor that no record has are left out of
#'   the copies unless they are declared here.
#' @param keep Columns to release as they really are; they are named in every print and statement.
#' @param drop Columns to leave out.
#' @param k Rows of a copy; as many as the data by default.
#' @param proper Draw the parameters anew for each copy.
#' @param draws How the rows of a copy are drawn: `"independent"` of each other, or `"even"`: each row has its law, but
#'   random numbers are spread evenly over rows that are alike, so that counts lie near those that the models expect.
#'   Not with [by_sampling()].
#' @param joint Columns that one model draws together: `list(list(columns = c("a", "b"), method = "catall"))` draws the
#'   cells of their table, given the columns before the first of them, missing values and codes among the levels.
#'   Under [zcdp()] or [approx_dp()] the cells of the declared levels are counted with noise, at the price of one
#'   column; not with [by_sampling()].
#' @param schema Declared columns: a list of [numeric_column()] and [categorical_column()], or the path of a
#'   codebook.
#' @param guarantee A formal guarantee asked for, from [zcdp()], [approx_dp()], [by_sampling()] or [protection()]; it
#'   needs a `schema`.
#' @param plan Path of a plan file with settings; arguments given here win.
#' @param rare What becomes of levels that fewer than five records have: `"keep"` (the default) draws them as often as
#'   they occur, whatever the other columns say, and warns once; `"merge"` puts them into the level `other`, or into
#'   neighbours where levels are ordered or numbers; `"refuse"` stops. Not with a `guarantee`.
#' @param max_predictors Most predictors of a column that neither `predictor_matrix` nor `formulas` speaks of: of more
#'   that stand before it those are chosen that tell most of it beside one another. 20 by default; a number of at least
#'   the data's columns keeps all. With a `guarantee` nothing is chosen from rows: the nearest columns before it are
#'   taken, and all by default.
#' @param terms `"screened"` (the default without a `guarantee`) adds to each column of which no formula speaks the
#'   products of two predictors and the curves that the rows show to be needed; `"main"` takes predictors as they are.
#' @param derive Columns that are computed from others in every copy, by expressions:
#'   `list(bmi = "weight / (height / 100) ** 2")`. An expression has numbers, texts in quotes, names of columns (odd ones
#'   in backticks), `+ - * / **`, comparisons, `and`, `or`, `not`, `in (1, 2)`, `missing`, and the functions `log`, `exp`,
#'   `sqrt`, `abs`, `floor`, `ceil`, `round`, `min`, `max`, `where`, `cut`, `recode` and `is_missing`. One that names its
#'   own column corrects what is drawn for it.
#' @param universe In which rows a column is asked, as an expression of columns that are drawn before it, and the code
#'   that stands in all others: `list(nociga = list("smoke == 'YES'", -8))`; missing without a code. Its model is fitted
#'   to the rows inside alone, and every copy is exact.
#' @param rules What holds in every row of a copy: `"not (marital == 'MARRIED' and age < 18)"`. The last column of a row
#'   that breaks one is drawn again. Not with [by_sampling()].
#' @param must_sum Totals that are exactly the sum of their parts: `list(income = c("wage", "pension"))`.
#' @param top_code Numbers above which values are written as these: `list(age = 90)`.
#' @param round Numbers of which drawn values are multiples: `list(income = 50)`.
#' @param nested Columns whose levels belong to those of a coarser one: `list(town = "region")`. They are drawn last, within
#'   the row's level of the coarser one, and pairs that nobody has do not occur. A warning says where the data break it.
#'   Not with a `guarantee`.
#' @param strata Columns in whose levels all other models are fitted apart: `"region"`. They are drawn first; strata of few
#'   records are fitted together. Not with a `guarantee`.
#' @param units Rows that belong together, such as the members of a household or the waves of a person:
#'   `list(id = "hid", size = "hsize", order = "age desc")`. Copies have whole units with new ids, and the size, what is
#'   `shared` and what is derived for units exact. Further: `max_size`, `larger` (`"refuse"`, `"drop"`, `"truncate"`),
#'   `head`, `member`, `own_models`; `order = "wave"` takes a column's values as places. `design`, `keep` and `strata`
#'   then name columns that the rows of a unit share. With [zcdp()] or [approx_dp()] the
#'   unit is what is protected: `max_size`, `order`, `shared` and `larger = "truncate"` must be declared then.
#' @param design How the sample was drawn: `list(weight = "pw", strata = "region", psu = "town", fpc = "size")`, or with
#'   formulas, `weight = ~pw`. These columns stay as they really are, strata and sampling units under new names (not
#'   those left out of `recode = c("strata", "psu")`), and strata and the logarithm of the weight are predictors of all
#'   other columns. More than 5 % of rows that are alone with what they hold in them are refused, unless `accept` names
#'   another share. `how = "synthesise"` draws the weight last and moves it to public `totals`. Of
#'   `replicate_weights`, name them and say `replicates = "drop"`, or `"rebuild"` with `rebuild = "JKn"`, `"JK1"`,
#'   `"BRR"`, `"Fay"` or `"bootstrap"`. `how = "population"` fits samples of synthetic populations, `m` of them, and
#'   copies need no weights. Rows of odd weight are refused, or left out: `odd_weights = "drop"`.
#'   Fits take rows by their weights, unless `weighted = FALSE`.
#' @param seed A number, for tests. By default the draw follows R's own generator, and [set.seed()] governs it;
#'   with [by_sampling()] it comes from the operating system, as it must, and a seed voids every claim; the noise of
#'   [zcdp()] always does. Never stored.
#' @param ledger An agency's ledger, which what a `guarantee` costs is reserved in before noise is drawn: a file, or
#'   `"env:NAME"`, the environment variable with the URL of a PostgreSQL database. What is more than is left is refused
#'   with a condition of class `pysynthdp_budget_exceeded`, before a row is read.
#' @param source Whose account in the ledger pays: the id of the people.
#' @param answers A file for the noised answers of [zcdp()] and other noise, written before their first use. A later run
#'   of the same settings with it reads them and neither reads the data nor pays again; without it a rerun is a second
#'   spending. It is as public as the copies.
#' @param ... For methods. synthpop's spellings `visit.sequence`, `predictor.matrix`, `cont.na` and `semicont`
#'   are understood; any other argument is an error.
#' @return An object of class `c("synthetic", "synds")`: the copies are in `$syn`, and `x[[i]]` gives the i-th. It
#'   holds no confidential row but those of columns in `keep`.
#' @details Row names, the groups of a grouped tibble, contrasts of factors and comments are not passed on to the copies.
#' @section Privacy:
#' Without `guarantee` the copies carry no formal guarantee, and [privacy_statement()] says so.
#' @seealso [pool()], [privacy_statement()], [write_release()], [compare_synthetic()].
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   s <- synthesise(iris, m = 3, seed = 1)
#'   s
#'   head(s[[1]])
#'   pool(with(s, lm(Sepal.Length ~ Petal.Length + Species)))
#'   synthesise(Sepal.Length ~ Species, data = iris, m = 2, seed = 1)
#' }
#' }
#' @export
synthesise <- function(x, ...) {
  if (missing(x)) return(synthesise_data(...))
  UseMethod("synthesise")
}

# synthesise(data = survey) is understood too
synthesise_data <- function(data, ...) {
  if (missing(data)) refuse("bridge", "synthesise() needs the data", "write synthesise(survey, m = 5)", kind = "no data")
  synthesise(data, ...)
}

#' @rdname synthesise
#' @export
synthesise.default <- function(x, ...) check_frame(x)

#' @rdname synthesise
#' @export
synthesise.character <- function(x, ...) {
  call <- safe_call(match.call())
  given <- as_given(x)
  check_frame(given)
  with_call(synthesise(given, ...), call)
}

#' @rdname synthesise
#' @export
synthesise.list <- function(x, ...) {
  call <- safe_call(match.call())
  frames <- vapply(x, is.data.frame, NA)
  if (!length(x) || !all(frames)) check_frame(x)
  if (length(x) < 2L) {
    refuse("schema", "the list holds one table, and what imputation leaves unknown shows only between two or more",
           "impute m = 5 times, or give the data frame itself", kind = "imputed tables")
  }
  with_call(synthesise(structure(x[[1L]], pysynthdp_imputed = unname(unclass(x))), ...), call)
}

#' @rdname synthesise
#' @export
synthesise.mids <- function(x, ...) {
  call <- safe_call(match.call())
  if (!requireNamespace("mice", quietly = TRUE)) {
    refuse("bridge", "a mids object needs the package mice", "install it, or give complete(x, \"all\")",
           kind = "package")
  }
  with_call(synthesise(mice::complete(x, "all"), ...), call)
}

#' @rdname synthesise
#' @export
synthesise.data.frame <- function(x, m = NULL, ..., method = NULL, visit_sequence = NULL, predictor_matrix = NULL,
                                  formulas = NULL, missing = NULL, spikes = NULL, bounds = NULL, decimals = NULL,
                                  levels = NULL, keep = NULL, drop = NULL, k = NULL, proper = NULL, joint = NULL,
                                  draws = NULL, schema = NULL, guarantee = NULL, plan = NULL, seed = NULL,
                                  rare = NULL, max_predictors = NULL, terms = NULL, derive = NULL,
                                  universe = NULL, rules = NULL, must_sum = NULL, top_code = NULL, round = NULL,
                                  nested = NULL, strata = NULL, units = NULL, design = NULL, ledger = NULL, source = NULL,
                                  answers = NULL) {
  call <- safe_call(match.call())
  check_frame(x)
  refuse_na(list(m = m, k = k))
  settings <- settings_of(
    x, method = method, visit_sequence = visit_sequence, predictor_matrix = predictor_matrix,
    formulas = formulas, missing = missing, spikes = spikes, bounds = bounds, decimals = decimals,
    levels = levels, keep = keep, drop = drop, proper = proper, draws = draws, joint = joint, schema = schema,
    guarantee = guarantee, plan = plan, rare = rare, max_predictors = max_predictors, terms = terms,
    derive = derive, universe = universe, rules = rules, must_sum = must_sum, top_code = top_code, round = round,
    nested = nested, strata = strata, units = units, design = design, ...
  )
  imputed <- attr(x, "pysynthdp_imputed") # the tables of a list, of which x is the first
  sent <- if (is.null(imputed)) sent_of(x, settings$drop) else lapply(imputed, blank_dropped, settings$drop)
  made <- ask("synthesise", data = sent, settings = settings, m = m, k = k, seed = check_seed(seed),
              ambient = if (is.null(seed)) ambient_seed(), ledger = ledger_place(ledger), source = source,
              answers = answers_place(answers))
  with_call(made, call)
}

#' @rdname synthesise
#' @export
synthesise.formula <- function(x, data, ...) {
  call <- safe_call(match.call())
  if (base::missing(data)) {
    refuse("plan", "a formula needs the data too", "write synthesise(income ~ age + sex, data = survey)", kind = "call")
  }
  check_frame(data)
  if (length(x) == 3L) {
    refuse_transformed(x)
    return(with_call(synthesise(data, ..., formulas = x), call))
  }
  columns <- all.vars(x)
  if ("." %in% columns) columns <- unique(unlist(lapply(columns, function(name) if (name == ".") names(data) else name)))
  unknown <- setdiff(columns, names(data))
  if (length(unknown)) {
    refuse("plan", paste0("the formula names ", sQuote(unknown[[1L]], FALSE), ", which is no column"),
           did_you_mean(unknown[[1L]], names(data)), unknown[[1L]], "unknown column")
  }
  chosen <- data[names(data)[names(data) %in% columns]]
  with_call(synthesise(chosen, visit_sequence = columns, ...), call)
}

# What is drawn is a column; how it is drawn is said by its method.
refuse_transformed <- function(formula) {
  left <- formula[[2L]]
  if (is.symbol(left)) return(invisible())
  name <- if (length(all.vars(left))) all.vars(left)[[1L]] else "income"
  refuse("plan", paste0("the left side of the formula, ", deparse1(left), ", is no column"),
         paste0("write ", name, " ~ ..., and on another scale method = list(", backticked(name), " = \"lognorm\")"), name,
         "formula")
}

backticked <- function(name) deparse1(as.symbol(name), backtick = TRUE)

#' @rdname synthesise
#' @export
synthesize <- synthesise

# The call goes first, as in synthpop's objects.
with_call <- function(made, call) {
  made["call"] <- list(call)
  made
}
