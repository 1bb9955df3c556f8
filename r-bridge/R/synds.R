#' To and from synthpop
#'
#' `as_synds()` makes a plain object of synthpop's class `synds`, for `compare()`, `utility.gen()`, `utility.tab()`,
#' `disclosure()`, `lm.synds()`, `write.syn()`, `sdc()` and the others. These functions know plain data frames of
#' numbers, factors, logicals and texts, so the copies are brought into that form; give the data that they compare with
#' through `as_synds()` too: `compare(as_synds(s), as_synds(data))`. `from_synds()` takes what synthpop's `syn()` or
#' `syn.strata()` returned, so that [pool()] can choose the rule that is right for it.
#'
#' @param x For `as_synds()` an object from [synthesise()], or a data frame; for `from_synds()` an object of class
#'   `synds`, or the path of an `.rds` file with one.
#' @return An object of class `synds`, or for a data frame one in the same form; or as from [synthesise()].
#' @details `as_synds()` makes data frames of tibbles, factors of haven's labelled columns whose values all have labels
#'   and numbers of the others, and numbers of dates, times, durations and 64-bit integers. Copies of a data frame
#'   without such columns stay as they are.
#'
#'   Of a `synds` object are read: the copies, `method`, `visit.sequence`, `proper`, `n`, `k` and `cont.na`. A
#'   column that was not visited, or whose method is `""`, holds real values: it is named in the statement, and the
#'   choice of the rule counts it. The object's `call` and `models`, which can hold confidential rows, are not passed
#'   on. An object that `as_synds()` made becomes what it was, with its statement and tags; if synthpop changed its copies,
#'   that is refused, and [accept_sdc()] is there for what `sdc()` did.
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   s <- synthesise(iris, m = 2, seed = 1)
#'   class(as_synds(s))
#'   identical(copies(from_synds(as_synds(s))), copies(s))
#' }
#' }
#' @export
as_synds <- function(x) {
  if (is.data.frame(x)) return(for_synthpop(list(x))[[1L]])
  check_unchanged(x)
  own <- unclass(x)[own_fields]
  made <- unclass(x)[setdiff(names(unclass(x)), own_fields)]
  plain <- for_synthpop(copies(x))
  if (!identical(plain, copies(x))) {
    own$drawn <- made[c("syn", "cont.na")]
    made$syn <- if (is.data.frame(x$syn)) plain[[1L]] else plain
    coded <- vapply(plain[[1L]], is.factor, NA)
    made$cont.na[names(coded)[coded]] <- NA # factors have levels for their codes
  }
  if (is.call(made$call)) names(made$call)[names(made$call) == "x"] <- "data" # write.syn() tells the data's name
  structure(made, class = "synds", pysynthdp = own)
}

# Copies as synthpop's functions know them; each column is treated alike in all.
for_synthpop <- function(frames) {
  columns <- lapply(seq_along(frames[[1L]]), function(i) plain_columns(lapply(frames, `[[`, i)))
  lapply(seq_along(frames), function(j) {
    held <- stats::setNames(lapply(columns, `[[`, j), names(frames[[j]]))
    structure(held, row.names = .set_row_names(nrow(frames[[j]])), class = "data.frame")
  })
}

plain_columns <- function(columns) {
  first <- columns[[1L]]
  if (inherits(first, "haven_labelled")) return(without_labels(columns))
  if (inherits(first, "integer64")) need_package("bit64")
  if (inherits(first, c("Date", "POSIXct", "difftime", "integer64"))) return(lapply(columns, as.numeric))
  if (inherits(first, "AsIs")) return(lapply(columns, function(x) structure(x, class = setdiff(class(x), "AsIs"))))
  columns
}

# A factor where every value has a label, as in haven's as_factor(); else what is labelled.
without_labels <- function(columns) {
  codes <- attr(columns[[1L]], "labels")
  bare <- lapply(columns, function(x) as.vector(unclass(x)))
  values <- unlist(bare)
  if (!length(codes) || !all(values[!is.na(values)] %in% codes)) return(bare)
  codes <- codes[!is.na(codes)]
  lapply(bare, factor, levels = as.vector(unclass(codes)), labels = make.unique(names(codes)))
}

# One copy or several as a list.
listed <- function(syn) if (is.data.frame(syn)) list(syn) else syn

# What an object of this package has beside those of synthpop.
own_fields <- c("privacy", "words", "tags", "schema", "provenance", "digest")

# An object that as_synds() made is ours again: it carries the fields that synthpop does not know.
restored <- function(x) {
  own <- attr(x, "pysynthdp")
  if (inherits(x, "synthetic") || is.null(own)) return(x)
  fields <- unclass(x)
  attr(fields, "pysynthdp") <- NULL
  drawn <- own$drawn
  own$drawn <- NULL
  if (!is.null(drawn) && identical(listed(fields$syn), for_synthpop(listed(drawn$syn)))) fields[names(drawn)] <- drawn
  structure(c(fields, own), class = c("synthetic", "synds"))
}

#' @rdname as_synds
#' @export
from_synds <- function(x) {
  if (is.character(x)) {
    check_path(x)
    x <- tryCatch(suppressWarnings(readRDS(x)), error = function(e) {
      refuse("release", "the file cannot be read", "give the path of one that saveRDS() wrote", kind = "file")
    })
  }
  x <- restored(x)
  if (inherits(x, "synthetic")) return(check_unchanged(x))
  if (!inherits(x, "synds")) {
    refuse("bridge", paste0("x must be of class synds, not ", class(x)[[1L]]), "give what synthpop's syn() made",
           kind = "no copies")
  }
  with_call(ask("from_synds", x = readable(x)), quote(from_synds()))
}

# The fields of synthpop's object that are read.
readable <- function(x) {
  needed <- c("m", "syn", "method", "visit.sequence", "proper", "n", "k", "cont.na")
  structure(unclass(x)[intersect(needed, names(unclass(x)))], class = "synds")
}

#' Take what sdc() of synthpop did to the copies
#'
#' `sdc()` of synthpop changes copies after they were drawn: it removes rows that repeat unique records of the
#' confidential data, recodes extreme values and adds a label. What is said of the copies no longer holds then, and they
#' are refused everywhere. `accept_sdc()` corrects what is said: no formal guarantee is left, since the confidential
#' records decide which rows go; the statement and every pooled table say what was done; the codebook is that of the
#' changed copies. Copies that became shorter are cut to the length of the shortest, by leaving out rows at random (as
#' [set.seed()] governs), since combining rules are for copies of one size.
#'
#' @param x What `sdc()` returned for an object from [synthesise()], or for one of `syn()` of synthpop.
#' @return An object as from [synthesise()]. Whatever the object holds is taken on your word that `sdc()` did it: do not
#'   give it columns that were changed otherwise.
#' @details Removing rows and recoding values move estimates a little, which no combining rule counts; where many rows go
#'   or tails matter, release the copies as they were drawn. A column is taken as a label where every row of every copy has
#'   the same text; any other new column is refused.
#' @seealso [from_synds()].
#' @examples
#' \donttest{
#' if (engine_available()) {
#'   s <- synthesise(iris, m = 2, seed = 1)
#'   s$syn <- lapply(s$syn, function(d) cbind(d[-1, ], flag = "synthetic data")) # as sdc() does
#'   accept_sdc(s)
#' }
#' }
#' @export
accept_sdc <- function(x) {
  if (!inherits(x, "synds")) abort("pysynthdp_bridge_error", paste0("x must be of class synds, not ", class(x)[[1L]]))
  x <- restored(x)
  call <- first_of(unclass(x)$call, quote(sdc()))
  all <- copies_of_synds(x)
  done <- done_by_sdc(all, unclass(x), all_drawn(x))
  all <- of_one_length(all)
  x <- if (inherits(x, "synthetic")) sendable(x) else with_labels(readable(x), done$labels)
  x$syn <- if (length(all) == 1L) all[[1L]] else all
  with_call(do.call(ask, c("accept_sdc", list(x = x), done)), safe_call(call))
}

copies_of_synds <- function(x) {
  syn <- unclass(x)$syn
  if (is.data.frame(syn)) list(syn) else syn
}

# What was drawn: m copies of k rows, and their columns.
all_drawn <- function(x) {
  if (inherits(x, "synthetic")) return(list(m = x$tags$m, k = x$tags$n_syn, columns = names(unclass(x)$digest[[1L]])))
  x <- unclass(x)
  list(m = x$m, k = sum(x$k), columns = if (is.null(dim(x$method))) names(x$method) else colnames(x$method))
}

# Whether rows went, which columns have other cells than were drawn (where that can be told), and which are labels.
done_by_sdc <- function(all, x, drawn) {
  if (length(all) != drawn$m) refuse_change("copies were added, or taken away")
  rows <- any(vapply(all, nrow, 0L) != drawn$k)
  labels <- setdiff(names(all[[1L]]), drawn$columns)
  gone <- setdiff(drawn$columns, names(all[[1L]]))
  if (length(gone)) refuse_change(paste0("the copies lack ", sQuote(gone[[1L]], FALSE), ", which sdc() does not remove"))
  no_label <- Filter(function(name) !is_label(lapply(all, `[[`, name)), labels)
  if (length(no_label)) refuse_change(paste0("the copies have the new column ", sQuote(no_label[[1L]], FALSE), ", which is no label"))
  untold <- rows || is.null(x$digest)
  recoded <- if (untold) character() else recoded_columns(all, x$digest)
  if (!untold && !length(labels) && !length(recoded)) abort("pysynthdp_plan_error", "the copies are as they were drawn")
  list(rows = rows, untold = untold, recoded = as.list(recoded), labels = as.list(labels))
}

# synthpop's object does not know of the label; without a method it would count as a real column.
with_labels <- function(x, labels) {
  for (name in unlist(labels)) {
    x$visit.sequence[[name]] <- length(x$visit.sequence) + 1L
    x$method <- if (is.null(dim(x$method))) c(x$method, stats::setNames("constant", name)) else
      cbind(x$method, matrix("constant", nrow(x$method), 1L, dimnames = list(NULL, name)))
  }
  x
}

is_label <- function(columns) {
  values <- unique(unlist(lapply(columns, as.character)))
  length(values) == 1L && !is.na(values)
}

recoded_columns <- function(all, before) {
  now <- digests_of(all)
  different <- Map(function(now, before) names(before)[now[names(before)] != before], now, before)
  unique(unlist(different))
}

of_one_length <- function(all) {
  rows <- min(vapply(all, nrow, 0L))
  if (!rows) abort("pysynthdp_schema_error", "a copy has no row left")
  lapply(all, function(copy) {
    if (nrow(copy) == rows) return(copy)
    copy <- copy[sort(sample.int(nrow(copy), rows)), , drop = FALSE]
    row.names(copy) <- NULL
    copy
  })
}

#' To mice
#'
#' Makes an object of mice's class `mids` from synthetic copies, for `complete()`, `stripplot()`, `bwplot()` and
#' `xyplot()`. It never carries the confidential data: `$data` is blank. mice's `plot()` draws the chains of an
#' imputation, of which synthetic copies have none.
#'
#' @param x An object from [synthesise()].
#' @return An object of class `mids`.
#' @section Warning:
#' `mice::pool()` combines by the rule for missing data, whose standard errors are wrong for synthetic copies. Use
#' [pool()] on `with(x, ...)`, where `x` is the object from [synthesise()].
#' @examples
#' \donttest{
#' if (engine_available() && requireNamespace("mice", quietly = TRUE)) {
#'   imp <- suppressWarnings(as_mids(synthesise(iris, m = 2, seed = 1)))
#'   dim(mice::complete(imp, 1))
#' }
#' }
#' @export
as_mids <- function(x) {
  check_unchanged(x)
  need_package("mice")
  caution("mice::pool() combines by the rule for missing data, which is wrong here; use pool(with(x, ...)) of pysynthdp")
  all <- lapply(copies(x), as.data.frame)
  # mice wants a data set that the copies complete; the first copy stands for it, and is blanked at once
  numbered <- Map(function(copy, i) cbind(.imp = i, .id = seq_len(nrow(copy)), copy), c(all[1L], all), c(0L, seq_along(all)))
  everywhere <- matrix(TRUE, nrow(all[[1L]]), ncol(all[[1L]]), dimnames = list(NULL, names(all[[1L]])))
  made <- suppressWarnings(mice::as.mids(do.call(rbind, numbered), where = everywhere))
  made$call <- made_for_mice # so that pool() knows what was fitted
  made$data[] <- lapply(made$data, function(column) {
    column[] <- NA
    column
  })
  made
}
