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
#'   on.
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
  check_synthetic(x)
  made <- unclass(x)[setdiff(names(unclass(x)), c("privacy", "words", "tags", "schema", "provenance"))]
  plain <- for_synthpop(copies(x))
  made$syn <- if (is.data.frame(x$syn)) plain[[1L]] else plain
  coded <- vapply(plain[[1L]], is.factor, NA)
  made$cont.na[names(coded)[coded]] <- NA # factors have levels for their codes
  if (is.call(made$call)) names(made$call)[names(made$call) == "x"] <- "data" # write.syn() tells the data's name
  structure(made, class = "synds")
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

#' @rdname as_synds
#' @export
from_synds <- function(x) {
  if (is.character(x)) {
    check_path(x)
    x <- tryCatch(suppressWarnings(readRDS(x)), error = function(e) {
      abort("pysynthdp_release_error", "the file cannot be read; is it one that saveRDS() wrote?")
    })
  }
  if (!inherits(x, "synds")) {
    abort("pysynthdp_bridge_error", paste0("x must be of class synds, not ", class(x)[[1L]]))
  }
  needed <- c("m", "syn", "method", "visit.sequence", "proper", "n", "k", "cont.na")
  fields <- unclass(x)[intersect(needed, names(unclass(x)))]
  with_call(ask("from_synds", x = structure(fields, class = "synds")), quote(from_synds()))
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
  check_synthetic(x)
  need_package("mice")
  caution("mice::pool() combines by the rule for missing data, which is wrong here; use pool(with(x, ...)) of pysynthdp")
  all <- lapply(copies(x), as.data.frame)
  # mice wants a data set that the copies complete; the first copy stands for it, and is blanked at once
  numbered <- Map(function(copy, i) cbind(.imp = i, .id = seq_len(nrow(copy)), copy), c(all[1L], all), c(0L, seq_along(all)))
  everywhere <- matrix(TRUE, nrow(all[[1L]]), ncol(all[[1L]]), dimnames = list(NULL, names(all[[1L]])))
  made <- suppressWarnings(mice::as.mids(do.call(rbind, numbered), where = everywhere))
  made$data[] <- lapply(made$data, function(column) {
    column[] <- NA
    column
  })
  made
}
