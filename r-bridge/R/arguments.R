# What users write, brought into one form before it is sent.

check_frame <- function(data) {
  if (!is.data.frame(data)) {
    refuse("bridge", paste0("data must be a data frame, not an object of class ", class(data)[[1L]]),
           to_frame(data), kind = "no data")
  }
  if (anyNA(names(data)) || any(!nzchar(names(data)))) {
    at <- which(is.na(names(data)) | !nzchar(names(data)))[[1L]]
    refuse("schema", paste("column", at, "of the data has no name"), paste0("write names(data)[", at, "] <- \"name\""),
           kind = "no name")
  }
  if (anyDuplicated(names(data))) {
    twice <- names(data)[anyDuplicated(names(data))]
    refuse("schema", paste0("two columns of the data have the same name, ", sQuote(twice, FALSE)), "rename one", twice,
           "duplicated name")
  }
  invisible(data)
}

# How what somebody has becomes a data frame, where there is one way.
to_frame <- function(data) {
  if (is.matrix(data)) return("write as.data.frame(data)")
  if (is.character(data) && length(data) == 1L) {
    return(paste0("read the file first, read_survey(\"", basename(data), "\") or read.csv(), or give its name to ",
                  "synthesise(), which reads CSV and Parquet too"))
  }
  if (inherits(data, c("synthetic", "synds"))) return("give the confidential data, of which the copies were drawn")
  if (is.atomic(data)) return("write data.frame(x = data), or give the whole table")
}

# A table that is named and not given: a file, or a folder of Parquet files. Its path travels, never its rows; what R
# does not know of it are its columns.
as_given <- function(data) {
  if (!is.character(data) || is.object(data) || length(data) != 1L || is.na(data)) return(data)
  if (is_survey(data)) return(read_survey(data))
  path <- if (startsWith(data, "sql:")) data else normalizePath(path.expand(data), mustWork = FALSE)
  structure(data.frame(), pysynthdp_file = path)
}

sent_of <- function(data, drop) {
  file <- attr(data, "pysynthdp_file")
  if (is.null(file)) blank_dropped(data, drop) else file
}

# Columns that are dropped may be of any class: what cannot be sent is not needed.
blank_dropped <- function(data, drop) {
  if (is.null(data) || !length(drop)) return(data)
  odd <- vapply(data, function(x) !is.atomic(x) || length(dim(x)) > 0L || isS4(x), NA)
  data[names(data) %in% drop & odd] <- list(NA)
  data
}

# The columns of a file are not known in R.
refuse_positions <- function(what) {
  refuse("plan", paste(what, "must name its columns: those of a file are not known in R"), "write their names",
         kind = "columns")
}

# A name for each column: from names, or by position as in synthpop.
by_column <- function(x, columns, what) {
  if (is.null(x) || !is.null(names(x)) || (is.character(x) && length(x) == 1L)) return(x)
  if (!length(columns)) refuse_positions(what)
  if (length(x) != length(columns)) {
    refuse("plan", paste0(what, " has neither names nor one element for each of the ", length(columns), " columns"),
           paste0("write ", what, " = list(", backticked(columns[[1L]]), " = ...)"), kind = "setting")
  }
  stats::setNames(x, columns)
}

# Positions become names; a vector that is one may stay one.
as_columns <- function(x, columns, what) {
  if (is.null(x) || is.character(x)) return(x)
  if (!length(columns)) refuse_positions(what)
  if (!is.numeric(x) || anyNA(x) || any(x < 1 | x > length(columns) | x != round(x))) {
    refuse("plan", paste0(what, " must name columns, or give their positions: whole numbers from 1 to ", length(columns)),
           paste0("write ", what, " = c(", dQuote(columns[[1L]], FALSE), ", ...)"), kind = "columns")
  }
  unname(columns[x])
}

# The columns of a design, by name or as the formulas of survey::svydesign(): ~pw.
as_design <- function(x, columns) {
  if (is.null(x)) return(x)
  if (!is.list(x) || is.null(names(x))) {
    refuse("plan", "design must be a list with names", "write list(weight = \"pw\", strata = \"region\")", kind = "design")
  }
  lapply(x, function(one) {
    if (!inherits(one, "formula")) return(if (is.list(one)) lapply(one, as_listing) else one)
    if (length(one) != 2L) refuse("plan", "a formula of design has a left side", "write weight = ~pw", kind = "design")
    all.vars(one)
  })
}

# The columns of units, by name or as formulas as those of a design: ~hid.
as_units <- function(x) {
  if (!is.list(x)) return(x)
  lapply(x, function(one) if (inherits(one, "formula") && length(one) == 2L) all.vars(one) else one)
}

# A matrix with a row for each target; a square one without names is in the order of the columns.
as_predictors <- function(x, columns, what = "predictor_matrix") {
  if (is.null(x) || (is.list(x) && !is.data.frame(x))) return(x)
  x <- as.matrix(x)
  if (is.null(rownames(x)) || is.null(colnames(x))) {
    if (!length(columns)) refuse_positions(what)
    if (!identical(dim(x), rep(length(columns), 2L))) {
      refuse("plan", paste(what, "needs names on both sides, or a row and a column for each column of the data"),
             "give it dimnames: targets for the rows, predictors for the columns", kind = "predictors")
    }
    dimnames(x) <- list(columns, columns)
  }
  if (!is.numeric(x) && !is.logical(x)) {
    refuse("plan", paste(what, "must be a matrix of 0 and 1"), "write 1 for a predictor", kind = "predictors")
  }
  storage.mode(x) <- "double"
  x
}

# Formulas as text, expanded by R, so that a dot and crossings mean what they mean in R. Neither the formula nor its
# environment is sent.
as_formulas <- function(x, data) {
  if (is.null(x) || is.character(x)) return(x)
  vapply(if (inherits(x, "formula")) list(x) else x, formula_text, "", data = data)
}

formula_text <- function(formula, data) {
  if (!inherits(formula, "formula") || length(formula) != 3L) {
    refuse("plan", "formulas must have a left side", "write income ~ age + sex", kind = "formula")
  }
  if (!is.null(attr(data, "pysynthdp_file")) && "." %in% all.vars(formula)) refuse_positions("a formula")
  parts <- attr(stats::terms(formula, data = data), "term.labels")
  right <- if (length(parts)) paste(gsub("^", "**", parts, fixed = TRUE), collapse = " + ") else "1"
  paste(deparse1(formula[[2L]]), "~", right)
}

# Codes and the like come as a list with names; a vector with names is one too.
as_listing <- function(x) if (is.null(x)) NULL else as.list(x)

# With no seed given, four numbers of R's own generator: set.seed() governs the draw. (Where every draw costs, the
# engine leaves them aside and draws from the operating system.)
check_seed <- function(seed) {
  if (!is.null(seed) && (!is.numeric(seed) || anyNA(seed) || !length(seed))) {
    refuse("plan", "seed must be a number", "leave it out to let set.seed() govern the draw", kind = "setting")
  }
  seed
}

# The engine may run in another folder.
ledger_place <- function(ledger) {
  if (!is.character(ledger) || length(ledger) != 1L || is.na(ledger) || startsWith(ledger, "env:")) return(ledger)
  normalizePath(ledger, mustWork = FALSE)
}

answers_place <- function(answers) {
  if (is.null(answers)) return(NULL)
  if (!is.character(answers) || length(answers) != 1L || is.na(answers)) {
    refuse("plan", "answers must name one file", 'write answers = "answers.json"', kind = "setting")
  }
  normalizePath(answers, mustWork = FALSE)
}

ambient_seed <- function() sample.int(.Machine$integer.max, 4L)

# A call for the record: names and short constants stay. What else is in it, a whole data frame after do.call() for
# one, is replaced by its class, so that no confidential row rides along.
safe_call <- function(call) {
  if (is.call(call)) return(as.call(lapply(as.list(call), safe_call)))
  short <- is.atomic(call) && is.null(dim(call)) && length(call) <= 10L && !is.object(call)
  if (is.symbol(call) || is.null(call) || short) return(call)
  as.name(paste0("<", class(call)[[1L]], ">"))
}

# Everything that is sent as settings, in the form in which it is sent.
settings_of <- function(data, ..., method, visit_sequence, predictor_matrix, formulas, missing, spikes, bounds,
                        decimals, levels, keep, drop, proper, draws, joint, schema, guarantee, plan, rare = NULL,
                        max_predictors = NULL, terms = NULL, derive = NULL, universe = NULL, rules = NULL,
                        must_sum = NULL, top_code = NULL, round = NULL, nested = NULL, strata = NULL, units = NULL, design = NULL,
                        visit.sequence = NULL,
                        predictor.matrix = NULL, cont.na = NULL, semicont = NULL) {
  refuse_unknown("synthesise", names_of_dots(...), names(formals(synthesise.data.frame)),
                 "write synthesise(data, m = 5, method = \"norm\")")
  columns <- names(data)
  settings <- list(
    method = as_method(by_column(method, columns, "method")),
    visit_sequence = as_columns(first_of(visit_sequence, visit.sequence), columns, "visit_sequence"),
    predictor_matrix = as_predictors(first_of(predictor_matrix, predictor.matrix), columns),
    formulas = as_formulas(formulas, data),
    missing = as_listing(first_of(missing, cont.na)), spikes = as_listing(first_of(spikes, semicont)),
    bounds = as_listing(bounds), decimals = as_listing(decimals), levels = as_listing(levels),
    keep = as_columns(keep, columns, "keep"), drop = as_columns(drop, columns, "drop"),
    proper = proper, draws = draws, joint = joint, schema = schema, guarantee = guarantee, plan = plan,
    rare = rare, max_predictors = max_predictors, terms = terms,
    derive = if (identical(derive, "no")) derive else as_listing(derive),
    universe = as_listing(universe), rules = rules, must_sum = as_listing(must_sum),
    top_code = as_listing(top_code), round = as_listing(round),
    nested = as_listing(nested), strata = as_columns(strata, columns, "strata"),
    units = as_units(units), design = as_design(design, columns)
  )
  refuse_na(settings)
  settings
}

# NA would go for "not given", and what was asked for would be left out in silence.
refuse_na <- function(settings) {
  alone <- vapply(settings, function(one) is.atomic(one) && length(one) == 1L && is.na(one), NA)
  if (any(alone)) {
    refuse("plan", paste(names(settings)[alone][[1L]], "is NA"), "give a value, or leave it out", kind = "setting")
  }
}

first_of <- function(x, y) if (is.null(x)) y else x

names_of_dots <- function(...) {
  given <- list(...)
  named <- names(given)
  if (is.null(named)) rep("...", length(given)) else ifelse(nzchar(named), named, "...")
}

# A character vector with names is a list of methods; "parametric" is the choice by type, which is made anyhow.
as_method <- function(method) {
  refuse_methods(method)
  chosen <- !vapply(as.list(method), identical, NA, "parametric")
  if (!any(chosen)) return(NULL)
  if (is.null(names(method))) method else as.list(method)[chosen]
}
