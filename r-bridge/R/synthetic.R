#' Methods for synthetic copies
#'
#' @param x,object An object from [synthesise()].
#' @param i Numbers of copies, or names of fields.
#' @param n Rows to show of each copy.
#' @param exact As in `[[`.
#' @param copy Number of the copy to summarise.
#' @param form `"list"` for a list of copies, `"long"` for one data frame with the number of the copy in `.copy`.
#' @param vars Columns to draw; all by default.
#' @param ... No other argument is taken.
#' @param row.names,optional,stringsAsFactors As in [as.data.frame()]; not used.
#' @param use.fallback As in [nobs()]; not used.
#' @return `x[[i]]` is a data frame; `copies()` and `as.list()` a list of data frames; `copies(x, "long")` and
#'   `as.data.frame()` one data frame; `length()` the number of copies; `nobs()` the rows of a copy, or its
#'   units where rows belong together; `summary()` the summary of a copy; `head()` the first rows of each.
#' @details The object is a list of copies to `length()`, `lapply()`, `sapply()`, `Map()`, `seq_along()`, `head()` and
#'   `x[[i]]`; its fields, those of synthpop's `synds` among them, are had by `x$name`. Base R's `for` asks no method and
#'   would walk over the fields: write `for (copy in copies(x))`.
#'
#'   The copies are public, and so is everything in the object, but it is one thing: what it says of the copies holds
#'   for those that were drawn. Where copies were edited, shortened or reordered, [write_release()], [pool()], `with()`,
#'   [as_synds()], [as_mids()] and [privacy_statement()] stop and say what was changed. Other columns and rows are
#'   analysed by writing them where they are used, `with(s, lm(y ~ I(x^2), subset = x > 0))`; a column to be released
#'   belongs into the data before [synthesise()]; what `sdc()` of synthpop did is taken by [accept_sdc()].
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   s <- synthesise(iris, m = 2, seed = 1)
#'   summary(s)
#'   head(s[[2]])
#'   sapply(s, nrow)
#'   nrow(copies(s, "long"))
#'   plot(s, vars = "Species")
#' }
#' }
#' @name synthetic
NULL

#' @rdname synthetic
#' @export
print.synthetic <- function(x, ...) {
  check_no_dots("print", ...)
  tags <- x$tags
  cat("Synthetic data:", tags$m, if (tags$m == 1) "copy" else "copies", "of", tags$n_syn, if (is.null(tags$unit)) "rows and" else "units and",
      length(x$obs.vars), "columns\n")
  rows <- if (is.null(tags$unit)) "rows" else "units"
  cat("from", if (is.null(tags$n_org)) paste("a number of", rows, "that is not published") else paste(tags$n_org, rows),
      "by", x$provenance$software, "\n")
  population <- identical(tags$design$how, "population")
  cat("parameters:", if (tags$parameters == "drawn") "drawn for each copy" else
    if (population) "fitted to a sample of a population for each copy" else "fitted, one set for all", "\n")
  if (population) cat("each copy is a simple random sample of a synthetic population, without weights\n")
  if (!is.null(tags$unit)) cat("rows of one", tags$unit, "belong together\n")
  if (identical(tags$draws, "even")) cat("rows: drawn evenly, so that fitted margins come out sharply\n")
  if (length(tags$kept)) cat("released REAL:", paste(unlist(tags$kept), collapse = ", "), "\n")
  changed <- if (!is.null(unclass(x)$digest)) change_of_shape(copies(x), unclass(x)$digest, if (is.null(tags$unit)) tags$n_syn)
  if (length(changed)) cat("CHANGED since they were drawn: ", changed, "\n", sep = "")
  cat("formal privacy guarantee:", x$privacy$status, "\n")
  beyond <- names(tags$column_notes)
  if (length(beyond)) {
    cat(strwrap(paste("drawn values may lie beyond the declared bounds:", paste(beyond, collapse = ", ")), exdent = 2),
        sep = "\n")
  }
  drawn <- x$method[names(x$visit.sequence)]
  cat("drawn in this order:\n")
  cat(strwrap(paste0(names(drawn), " (", drawn, ")", collapse = ", "), indent = 2, exdent = 2), sep = "\n")
  invisible(x)
}

#' @rdname synthetic
#' @export
summary.synthetic <- function(object, copy = 1L, ...) {
  check_no_dots("summary", ...)
  structure(list(object = object, copy = copy, table = summary(object[[copy]])), class = "summary.synthetic")
}

#' @export
print.summary.synthetic <- function(x, ...) {
  check_no_dots("print", ...)
  print(x$object)
  cat("\nCopy ", x$copy, ":\n", sep = "")
  print(x$table)
  invisible(x)
}

#' @rdname synthetic
#' @export
`[[.synthetic` <- function(x, i, exact = TRUE) {
  if (is.character(i)) return(field_of_copies(x, i, exact))
  all <- copies(x)
  if (!is.numeric(i) || length(i) != 1L || is.na(i) || i < 1 || i > length(all)) {
    no_such_copy(length(all))
  }
  all[[i]]
}

no_such_copy <- function(m) {
  refuse("bridge", if (m == 1L) "there is one copy" else paste("there are", m, "copies"), "ask for one of them by its number",
         kind = "copies")
}

# Copies stand for what was drawn: they are not assigned to. Fields are, by their names.
#' @export
`[[<-.synthetic` <- function(x, i, value) {
  if (!is.character(i)) refuse_change("a copy cannot be replaced")
  assigned(x, i, value)
}

#' @export
`$<-.synthetic` <- function(x, name, value) assigned(x, name, value)

assigned <- function(x, name, value) {
  fields <- unclass(x)
  if (!name %in% names(fields) && name %in% names(listed(fields$syn)[[1L]])) {
    refuse_change(paste0(sQuote(name, FALSE), " is a column of the copies, which cannot be replaced"))
  }
  fields[[name]] <- value
  structure(fields, class = class(x))
}

field_of_copies <- function(x, name, exact) {
  fields <- unclass(x)
  if (length(name) == 1L && !name %in% names(fields) && name %in% names(listed(fields$syn)[[1L]])) {
    refuse("bridge", paste(sQuote(name, FALSE), "is a column of the copies, and there are several"),
           paste0("write s[[1]]$", backticked(name), " for the first, or with(s, ...)"), name, "columns")
  }
  fields[[name, exact = exact]]
}

#' @rdname synthetic
#' @export
copies <- function(x, form = c("list", "long")) {
  check_synthetic(x)
  form <- one_of(form, "form")
  all <- if (is.data.frame(x$syn)) list(x$syn) else x$syn
  if (form == "list") return(all)
  numbered <- lapply(seq_along(all), function(i) cbind(.copy = i, all[[i]]))
  do.call(rbind, numbered)
}

#' @rdname synthetic
#' @export
`[.synthetic` <- function(x, i) {
  if (is.character(i)) return(unclass(x)[i])
  if (is.numeric(i) && any(abs(i) > length(x))) no_such_copy(length(x))
  copies(x)[i]
}

#' @rdname synthetic
#' @export
length.synthetic <- function(x) length(copies(x))

# Copies have none; fields are had by $.
#' @export
names.synthetic <- function(x) NULL

#' @importFrom utils .DollarNames
#' @export
.DollarNames.synthetic <- function(x, pattern = "") grep(pattern, names(unclass(x)), value = TRUE)

#' @rdname synthetic
#' @export
as.list.synthetic <- function(x, ...) {
  check_no_dots("as.list", ...)
  copies(x)
}

#' @rdname synthetic
#' @export
as.data.frame.synthetic <- function(x, row.names = NULL, optional = FALSE, ..., stringsAsFactors = FALSE) {
  check_no_dots("as.data.frame", ...)
  refuse_as_one_table(length(x))
  copies(x, "long")
}

# lm(y ~ x, data = s) asks for a data frame, and would take m copies for m times the people.
refuse_as_one_table <- function(m) {
  asking <- lapply(seq_len(sys.nframe()), sys.function)
  if (!any(vapply(asking, identical, NA, stats::model.frame.default))) return(invisible())
  refuse("fit", paste0("data = is an object of ", if (m == 1L) "one copy" else paste(m, "copies, which are not one table")),
         "write pool(with(s, lm(y ~ x))), where data is left out", kind = "data")
}

#' @rdname synthetic
#' @importFrom utils head
#' @export
head.synthetic <- function(x, n = 6L, ...) {
  check_no_dots("head", ...)
  lapply(x, head, n = n)
}

#' @importFrom utils tail
#' @export
tail.synthetic <- function(x, n = 6L, ...) {
  check_no_dots("tail", ...)
  lapply(x, tail, n = n)
}

#' @importFrom utils str
#' @export
str.synthetic <- function(object, ...) {
  cat("Synthetic data, ", length(object), if (length(object) == 1L) " copy" else " copies", "; the first:\n", sep = "")
  str(object[[1L]], ...)
}

#' @rdname synthetic
#' @importFrom stats nobs
#' @export
nobs.synthetic <- function(object, use.fallback = FALSE, ...) {
  check_no_dots("nobs", ...)
  object$tags$n_syn
}

#' @rdname synthetic
#' @export
plot.synthetic <- function(x, vars = NULL, ...) {
  check_no_dots("plot", ...)
  columns <- names(copies(x)[[1L]])
  vars <- if (is.null(vars)) columns else as_columns(vars, columns, "vars")
  known_columns(vars, columns, "vars")
  shape <- grDevices::n2mfrow(length(vars))
  old <- graphics::par(mfrow = shape, mar = c(4, 4, 2, 1))
  on.exit(graphics::par(old))
  for (name in vars) plot_column(name, lapply(copies(x), `[[`, name))
  invisible(x)
}

plot_column <- function(name, values) {
  if (is_numeric_column(values[[1L]])) {
    curves <- lapply(values, function(v) stats::density(as.numeric(v)[is.finite(as.numeric(v))]))
    limits <- list(range(sapply(curves, `[[`, "x")), range(sapply(curves, `[[`, "y")))
    plot(NA, xlim = limits[[1L]], ylim = limits[[2L]], main = name, xlab = "", ylab = "density")
    for (curve in curves) graphics::lines(curve)
  } else {
    texts <- lapply(values, function(v) ifelse(is.na(v), "NA", as.character(v)))
    known <- if (is.factor(values[[1L]])) base::levels(values[[1L]]) else sort(unique(unlist(texts)))
    known <- union(known, unlist(texts))
    shares <- vapply(texts, function(v) as.vector(prop.table(table(factor(v, known)))), numeric(length(known)))
    shares <- matrix(shares, nrow = length(known), dimnames = list(known, NULL))
    graphics::matplot(shares, type = "b", pch = 1, lty = 1, col = 1, main = name, xlab = "", ylab = "share",
                      xaxt = "n")
    graphics::axis(1, at = seq_len(nrow(shares)), labels = rownames(shares))
  }
}

is_numeric_column <- function(v) {
  (is.numeric(v) || inherits(v, c("Date", "POSIXct"))) && !is.factor(v) && sum(is.finite(as.numeric(v))) > 1L
}

check_synthetic <- function(x) {
  if (inherits(x, "synthetic")) return(invisible(x))
  refuse("bridge", paste0("this needs an object from synthesise(), not one of class ", class(x)[[1L]]),
         if (inherits(x, "synds")) "use from_synds() first" else if (is.data.frame(x)) "write s <- synthesise(data) first",
         kind = "no copies")
}
