# What synthpop's arguments ask for that is not here, and what to use instead.
synthpop_lacks <- c(
  event = paste(
    "there is no model of survival: draw the event as a factor and the time as a number after it, and see with",
    "compare_synthetic() what the copies keep"),
  denom = paste(
    "there is no grouped binomial: draw the count itself, method = list(x = \"poisson\"), after its denominator, or give",
    "one row for each trial"),
  models = "fitted models are not sent to R: synthesis_plan() shows which model draws each column",
  strata = "write strata = \"region\"; strata of too few records are fitted together, and the result is no list of tables"
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
             "max_predictors", "terms", "derive", "draws", "universe", "must_sum", "top_code", "round", "nested", "strata",
             "design")
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
  if (name %in% c("minstratumsize", "tab.strataobs", "tab.stratasyn")) lacks("strata")
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

# Numbers are drawn from smooth distributions whatever is asked, so that a known way of smoothing is met.
check_smoothing <- function(smoothing, columns, released) {
  if (is_idle(smoothing)) return(invisible())
  ways <- as.list(smoothing)
  if (is.null(names(ways))) ways <- stats::setNames(rep_len(ways, length(columns)), columns)
  known_columns(names(ways), columns, "smoothing")
  asked <- vapply(ways, function(way) if (is.character(way) && length(way) == 1L && !is.na(way)) way else "", "")
  unknown <- asked[!asked %in% c("", "spline", "density", "rmean")]
  if (length(unknown)) {
    refuse("plan", paste0("smoothing knows no ", dQuote(unknown[[1L]], FALSE)), "use \"spline\", \"density\" or \"rmean\"",
           names(unknown)[[1L]], "setting")
  }
  real <- intersect(names(asked)[nzchar(asked) & lengths(smoothing[names(asked)]) > 0L], released)
  if (length(real)) {
    refuse("plan", paste0(real[[1L]], " is released as it is, and smoothing would change it"), "give it a method",
           real[[1L]], "setting")
  }
}

# Numbers that are drawn by the group that they fall in, and then inside it: synthpop's numtocat and catgroups.
as_grouped <- function(numtocat, catgroups, data, chosen, asked) {
  if (is_idle(numtocat)) return(list())
  columns <- names(data)
  named <- as_columns(numtocat, columns, "numtocat")
  known_columns(named, columns, "numtocat")
  odd <- named[!vapply(data[named], function(x) is.numeric(x) && !is.object(x), NA)]
  if (length(odd)) {
    refuse("plan", paste0("numtocat names ", odd[[1L]], ", which holds no numbers"), "leave it out there", odd[[1L]],
           "setting")
  }
  both <- intersect(named, names(chosen)[!vapply(chosen, identical, NA, "cells")])
  if (length(both) && asked) {
    refuse("plan", paste0(both[[1L]], " has a method, and numtocat draws it by groups"), "leave one of the two out",
           both[[1L]], "method")
  }
  groups <- if (length(catgroups)) as.list(catgroups) else list(5)
  if (is.null(names(groups))) groups <- stats::setNames(rep_len(groups, length(named)), named)
  size <- vapply(named, function(name) {
    one <- groups[[name]]
    if (is.null(one)) return(5)
    if (is.numeric(one) && length(one) == 1L && isTRUE(one >= 2) && one == round(one)) as.numeric(one) else NA_real_
  }, 1)
  if (anyNA(size)) {
    refuse("plan", "catgroups must be whole numbers of at least 2", "write catgroups = 5", named[is.na(size)][[1L]],
           "setting")
  }
  lapply(stats::setNames(size, named), function(one) list(name = "cells", groups = as.integer(one)))
}

# What synthpop writes as a method and is a setting here: "nested.region", and "catall" of several columns.
parting_methods <- function(method, columns) {
  if (is.null(method)) return(list())
  method <- as.list(by_column(method, columns, "method"))
  if (identical(method, list("catall"))) return(list(together = columns))
  if (is.null(names(method))) return(list())
  text <- vapply(method, function(one) if (is.character(one) && length(one) == 1L) gsub(" ", "", one) else "", "")
  nested <- text[startsWith(text, "nested.")]
  list(nested = if (length(nested)) as.list(sub("^nested\\.", "", nested)),
       together = names(text)[text == "catall"])
}

with_parting <- function(more, parting) {
  if (length(parting$nested)) more$nested <- c(as.list(more$nested), parting$nested)
  if (length(parting$together) > 1L) {
    more$joint <- c(more$joint, list(list(columns = parting$together, method = "catall")))
  }
  more
}
