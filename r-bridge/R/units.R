# Rows that belong together, such as the members of a household: whether the fits of the copies count that.

# What the pooled table says, and a warning, where sizes are those of units and variances may be those of single rows.
alike_flag <- function(tags, analyses, expression) {
  unit <- tags$unit
  if (is.null(unit) || !length(analyses) || counts_units(analyses[[1L]], expression, tags)) return(character())
  remedy <- paste0(
    "write pool(with(synth_design(s, ids = ", unit_formula(unit), "), svyglm(y ~ x))), which needs the package survey, or fit ",
    "ols() or glm() of pysynthdp in Python, where units are clusters")
  what <- paste0(
    unit, ": rows of one are alike, and u, the variance within a copy, ",
    if (is_pair(analyses[[1L]])) "counts units only where the variances that were given do" else "counts rows and not units",
    ", so that intervals are too short")
  caution(paste(what, remedy, sep = "; "), unit, "units", remedy)
  paste(what, remedy, sep = "; ")
}

unit_formula <- function(unit) deparse1(stats::reformulate(backticked(unit)))

# subset = !duplicated(hid): one row a unit, and no subgroup
one_row_each <- function(expression, unit) {
  subset <- argument(expression, "subset")
  !is.null(unit) && identical(subset, call("!", call("duplicated", as.name(unit))))
}

# By what was written, or by the design that a fit of survey carries.
counts_units <- function(fit, expression, tags) {
  if (isTRUE(attr(fit, "of_units"))) return(TRUE) # those of mean_of() and its like
  formula <- tryCatch(stats::formula(fit), error = function(e) NULL)
  whole <- unique(c(tags$unit, unlist(tags$unit_columns))) # a cluster of these holds units as a whole
  clusters <- if (is.list(fit) && !is.null(fit$survey.design)) colnames(fit$survey.design$cluster)
  any(clusters %in% whole) || names_units(expression, tags$unit, whole) || names_units(formula, tags$unit, whole)
}

# Clusters, groups of a mixed model, one row a unit: each names the column of the units.
names_units <- function(e, unit, whole) {
  if (!is.call(e)) return(FALSE)
  parts <- as.list(e)[-1L]
  name <- called(e[[1L]])
  own <- if (name %in% c("|", "||")) is_grouping(parts[[length(parts)]], unit) else
    any(unlist(lapply(clusters_of(e, name), all.vars)) %in% whole)
  own || any(vapply(parts, names_units, NA, unit, whole))
}

# The part of a call that names clusters.
clusters_of <- function(e, name) {
  parts <- as.list(e)[-1L]
  if (name %in% c("vcovCL", "vcovBS", "cluster", "duplicated")) return(parts)
  named <- parts[names(parts) %in% c("id", "ids", "cluster", "clusters", "groups")]
  first <- name == "svydesign" && !length(named) && (is.null(names(parts)) || !nzchar(names(parts)[[1L]]))
  if (first) parts[1L] else named
}

# (1 | hid), and not a condition with the column in it
is_grouping <- function(e, unit) unit %in% all.vars(e) && all(all.names(e) %in% c(all.vars(e), "/", ":", "+", "("))
