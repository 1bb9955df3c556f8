#' To and from synthpop
#'
#' `as_synds()` makes a plain object of synthpop's class `synds`, for `compare()`, `utility.gen()`, `utility.tab()`,
#' `disclosure()`, `lm.synds()`, `write.syn()`, `sdc()` and the others; objects from [synthesise()] are of this class
#' too and can be given to them as they are. `from_synds()` takes what synthpop's `syn()` or `syn.strata()` returned,
#' so that [pool()] can choose the rule that is right for it.
#'
#' @param x For `as_synds()` an object from [synthesise()]; for `from_synds()` an object of class `synds`, or the path
#'   of an `.rds` file with one.
#' @return An object of class `synds`, or as from [synthesise()].
#' @details Of a `synds` object are read: the copies, `method`, `visit.sequence`, `proper`, `n`, `k` and `cont.na`. A
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
  check_synthetic(x)
  fields <- setdiff(names(unclass(x)), c("privacy", "words", "tags", "schema", "provenance"))
  structure(unclass(x)[fields], class = "synds")
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
