# Methods of synthpop that are not here, each with what to use.
no_trees <- paste(
  "use \"cart\", one tree a column, which has no intervals; or \"parametric\", and where the relation is no straight",
  "one formulas with interactions and powers: formulas = list(income ~ age * sex + I(age^2))")
methods_lacking <- c(
  ctree = no_trees, rf = no_trees, ranger = no_trees, bag = no_trees,
  survctree = "there is no model of survival; draw the event by \"logreg\" and the time, a number, after it",
  pmm = "use \"normrank\", whose draws have the column's own distribution and are no records' values",
  ipf = "use \"polyreg\" with the interactions that the tables need: formulas = list(c ~ a * b)",
  satcat = "use \"polyreg\" with all interactions of its predictors: formulas = list(c ~ a * b)",
  nested = "name the coarser column: nested = list(town = \"region\")",
  collinear = "leave the column out with drop, and compute it where it is needed: with(s, lm(y ~ I(2 * x)))",
  passive = paste(
    "sums of other columns stay sums by themselves; leave other derived columns out with drop, and compute them where",
    "they are needed: with(s, lm(y ~ I(weight / height^2)))")
)
parametric_methods <- c("norm", "lognorm", "sqrtnorm", "cubertnorm", "normrank", "normspread", "cells", "poisson", "negbin", "logreg",
                        "polyreg", "polr", "sample", "constant", "serial", "cart")

# Stops at a method of synthpop's that is not here, with what to use.
refuse_methods <- function(method) {
  names <- vapply(as.list(method), function(one) if (is.character(one) && length(one) == 1L) one else "", "")
  for (one in unique(names)) {
    name <- if (startsWith(one, "~")) "passive" else sub("^nested\\..*$", "nested", one)
    if (name %in% names(methods_lacking)) {
      tree <- identical(methods_lacking[[name]], no_trees)
      refuse("plan", paste0("synthpop's method ", dQuote(one, FALSE), " is not here", if (tree) ": of trees there is \"cart\""),
             methods_lacking[[name]], method_column(method, one), "method")
    }
  }
  invisible()
}

# The first column that asks for a method, where there are names.
method_column <- function(method, one) {
  names(method)[vapply(as.list(method), identical, NA, one)][1L]
}

# synthpop's methods: a name for each column, or nothing where the type of the column decides.
synthpop_methods <- function(method, columns, asked) {
  if (!asked) {
    say_once("parametric", paste(
      "synthpop's default method is \"cart\"; here columns are drawn by parametric models, as with",
      "method = \"parametric\", since trees have no intervals; method = \"cart\" asks for them (said once a session)"))
  }
  method <- as.list(by_column(method, columns, "method"))
  known_columns(names(method), columns, "method")
  method <- lapply(method, function(one) if (is.character(one)) gsub(" ", "", one, fixed = TRUE) else one)
  if (identical(method, list("catall"))) return(list()) # of all columns together
  if (!is.null(names(method))) method <- method[!vapply(method, is_parting, NA)]
  refuse_methods(method)
  if (is.null(names(method))) method <- stats::setNames(rep(method, length(columns)), columns)
  method[!vapply(method, identical, NA, "parametric")]
}

# Whether a method says how rows or columns are parted, and leaves the model to the type.
is_parting <- function(method) {
  is.character(method) && length(method) == 1L && (startsWith(method, "nested.") || method == "catall")
}

say_once <- function(what, message) {
  if (isTRUE(.state$said[[what]])) return(invisible())
  .state$said[[what]] <- TRUE
  caution(message, kind = "method", remedy = "method = \"parametric\"")
}
