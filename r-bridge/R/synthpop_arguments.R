# What synthpop's arguments ask for that is not here, and what to use instead.
synthpop_lacks <- c(
  event = paste(
    "there is no model of survival: draw the event as a factor and the time as a number after it, and see with",
    "compare_synthetic() what the copies keep"),
  denom = paste(
    "there is no grouped binomial: draw the count itself, method = list(x = \"poisson\"), after its denominator, or give",
    "one row for each trial"),
  numtocat = "numbers are drawn as numbers: cut() the column in the data to draw groups",
  models = "fitted models are not sent to R: synthesis_plan() shows which model draws each column",
  strata = paste(
    "visit the strata first, and let predictors depend on them: formulas = list(income ~ region * age); or synthesise",
    "each part: lapply(split(data, data$region), syn)")
)

# Whether an argument asks for nothing: absent, or what syn(m = 0) of synthpop fills in for each column.
is_idle <- function(x, nothing = "") {
  held <- unlist(x)
  is.null(held) || all(is.na(held) | as.character(held) %in% nothing)
}

refuse_synthpop <- function(given) {
  nothing <- list(event = c("", "0"), denom = c("", "0"), models = "FALSE")
  for (name in names(given)) if (!is_idle(given[[name]], c("", nothing[[name]]))) lacks(name)
}

lacks <- function(name) {
  refuse("plan", paste0("synthpop's `", name, "` is not available here"), synthpop_lacks[[name]], kind = "setting")
}

# Arguments of synthesise() that syn() passes on, by their whole names; all else is refused.
further_settings <- function(given) {
  if (!length(given)) return(given)
  known <- c("formulas", "bounds", "decimals", "levels", "joint", "schema", "guarantee", "plan", "rare",
             "max_predictors", "terms", "derive", "draws", "universe", "must_sum", "top_code", "round")
  for (name in names_of(given)) if (!name %in% known) no_argument(name, known)
  given
}

names_of <- function(x) if (is.null(names(x))) rep("", length(x)) else names(x)

# Our names of what synthpop calls otherwise. They are taken too, since warnings name them.
renamed <- c(missing = "cont.na", spikes = "semicont", visit_sequence = "visit.sequence",
             predictor_matrix = "predictor.matrix")

by_either_name <- function(theirs, given, ours) {
  if (is.null(given[[ours]])) return(theirs)
  if (is.null(theirs)) return(given[[ours]])
  refuse("plan", paste0("syn() calls `", ours, "` as synthpop does, `", renamed[[ours]], "`, and both are given"),
         "give one", kind = "setting")
}

no_argument <- function(name, known) {
  if (!nzchar(name)) refuse("plan", "syn() has 24 arguments by position", "name the others", kind = "setting")
  if (name %in% c("strata", "minstratumsize", "tab.strataobs", "tab.stratasyn")) lacks("strata")
  if (name == "keep") {
    refuse("plan", "syn() calls `keep` as synthpop does", "write method = c(column = \"\")", kind = "setting")
  }
  if (grepl("^(cart|ctree|rf|ranger|bag|survctree)\\.", name)) {
    refuse("plan", paste0("synthpop's `", name, "` is a setting of trees that is not here"), "leave it out",
           kind = "setting")
  }
  of <- sub("\\..*$", "", name)
  if (grepl(".", name, fixed = TRUE) && of %in% c(parametric_methods, names(methods_lacking))) {
    refuse("plan", paste0("synthpop's `", name, "` is not available here"), paste0(
      "leave it out: what can be set of a model is in its own list, ",
      "method = list(smokes = list(name = \"logridge\", penalty = 1))"), kind = "setting")
  }
  known <- c(setdiff(names(formals(syn)), "..."), known)
  refuse("plan", paste0("syn() has no argument `", name, "`"), did_you_mean(name, known), kind = "setting")
}

# Stops at names that are no columns.
known_columns <- function(names, columns, what) {
  unknown <- setdiff(names, columns)
  if (!length(unknown)) return(invisible())
  refuse("plan", paste0(what, " names no column of the data: ", paste(unknown, collapse = ", ")),
         did_you_mean(unknown[[1L]], columns), unknown[[1L]], "columns")
}

# Rows are looked at for these, so a guarantee cannot have them.
looked_up <- function(drawn, minnumlevels, maxfaclevels, default, more, codes) {
  standard <- eval(formals(syn)$default.method)
  asked <- c(minnumlevels = !identical(as.numeric(minnumlevels), 1),
             maxfaclevels = !identical(as.numeric(maxfaclevels), 60), default.method = !identical(default, standard))
  if (any(asked) && !is.null(more$guarantee)) {
    abort("pysynthdp_plan_error", paste0(
      names(asked)[asked][[1L]], " looks at the rows, which a guarantee does not allow; give method by column"))
  }
  if (asked[["maxfaclevels"]]) refuse_many_levels(drawn, maxfaclevels)
  list(levels = if (asked[["minnumlevels"]]) few_numbers(drawn, minnumlevels, codes),
       methods = if (asked[["default.method"]]) methods_by_type(drawn, default, standard))
}

refuse_many_levels <- function(drawn, most) {
  many <- vapply(drawn, function(x) (is.factor(x) || is.character(x)) && length(unique(x[!is.na(x)])) > most, NA)
  if (any(many)) {
    abort("pysynthdp_plan_error", paste0(
      "more levels than maxfaclevels: ", paste(names(drawn)[many], collapse = ", "),
      "; draw it by method \"sample\", merge levels, or leave maxfaclevels out, since there is no limit here"))
  }
}

# Numbers of few values, with these as levels.
few_numbers <- function(drawn, most, codes) {
  found <- Map(function(x, name) {
    if (!is.numeric(x) || is.object(x)) return(NULL)
    sort(setdiff(unique(x[!is.na(x)]), codes[[name]]))
  }, drawn, names(drawn))
  found[lengths(found) > 0L & lengths(found) <= most]
}

# Methods by type, where synthpop's default.method names another than the usual one.
methods_by_type <- function(drawn, default, standard) {
  if (!is.character(default) || length(default) != 4L) {
    abort("pysynthdp_plan_error", "default.method must be four methods: of numbers, of two levels, of more, of ordered ones")
  }
  refuse_methods(default)
  kind <- vapply(drawn, function(x) {
    if (is.numeric(x) && !is.object(x)) return(1L)
    if (is.object(x) && !is.factor(x)) return(0L)
    size <- length(unique(x[!is.na(x)]))
    if (size < 2L) 0L else if (size == 2L) 2L else if (is.ordered(x)) 4L else 3L
  }, 1L)
  kind <- kind[kind %in% which(default != standard)]
  stats::setNames(default[kind], names(kind))
}

# Methods that come of looking: none for numbers drawn as levels, and the user's own choice always first. As in
# synthpop a column without predictors is left to "sample".
by_looks <- function(chosen, looked, parts, predictors) {
  numbers <- c("cells", "norm", "normrank", "lognorm", "sqrtnorm", "cubertnorm", "poisson", "negbin")
  chosen <- chosen[!(names(chosen) %in% names(looked$levels) & chosen %in% numbers)]
  found <- looked$methods[!names(looked$methods) %in% c(names(chosen), names(looked$levels))]
  alone <- if (length(parts$released)) character() else parts$drawn[1L]
  if (is.matrix(predictors)) alone <- c(alone, rownames(predictors)[rowSums(predictors) == 0])
  c(chosen, as.list(found[!names(found) %in% alone]))
}

with_levels <- function(more, levels) {
  if (length(levels)) more$levels <- c(as.list(more$levels), levels[!names(levels) %in% names(more$levels)])
  more
}

refuse_pred_only <- function(asked, parts) {
  if (!isTRUE(asked) || !length(parts$released)) return(invisible())
  abort("pysynthdp_plan_error", paste0(
    "drop.pred.only = TRUE is not available here: copies are drawn from ", paste(parts$released, collapse = ", "),
    ", and a release says so; let it be drawn too, or leave it out with drop.not.used = TRUE"))
}

say_smooth <- function(smoothing, columns) {
  if (is_idle(smoothing)) return(invisible())
  known_columns(names(smoothing), columns, "smoothing")
  caution("smoothing has nothing to do here: numbers are drawn from smooth distributions, not from those of the records")
}
