# Digests of the copies: what was changed since the object was made. The engine computes the same numbers
# (pysynthdp/bridge/digests.py says how a value is written).

digested_attributes <- c("names", "class", "levels", "tzone", "units", "labels", "na_values", "na_range")

# One named vector a copy.
digests_of <- function(copies) lapply(copies, copy_digest)

copy_digest <- function(copy) {
  folder <- exchange_files("digest")
  dir.create(folder, mode = "0700")
  on.exit(unlink(folder, recursive = TRUE))
  files <- file.path(folder, seq_along(copy))
  for (j in seq_along(copy)) write_value_to(.subset2(copy, j), files[[j]])
  stats::setNames(unname(tools::md5sum(files)), names(copy))
}

write_value_to <- function(value, path) {
  con <- file(path, "wb")
  on.exit(close(con))
  write_value(value, con)
}

write_value <- function(value, con) {
  known <- c("double", "integer", "logical", "complex", "raw", "character", "list")
  if (!typeof(value) %in% known) return(put_line("other 0", con))
  put_line(paste(typeof(value), length(unclass(value))), con)
  bare <- unclass(value)
  attributes(bare) <- NULL
  if (is.list(bare)) {
    for (item in bare) write_value(item, con)
  } else if (is.character(bare)) {
    different <- unique(bare[!is.na(bare)])
    writeBin(match(bare, different), con, endian = "little")
    writeBin(enc2utf8(different), con)
  } else {
    writeBin(bare, con, endian = "little")
  }
  own <- attributes(value)
  for (name in intersect(digested_attributes, names(own))) {
    put_line(paste0("@", name), con)
    write_value(own[[name]], con)
  }
}

put_line <- function(text, con) writeBin(charToRaw(paste0(text, "\n")), con)

# The copies are those that were drawn, or this stops: what is claimed of them holds for those alone.
check_unchanged <- function(x) {
  check_synthetic(x)
  before <- unclass(x)$digest
  if (is.null(before)) {
    refuse("changed", "the object was made by an earlier version, and does not say what its copies were",
           "draw the copies anew with this version; saved by it, an object says so", kind = "version")
  }
  all <- copies(x)
  what <- change_of_shape(all, before, if (is.null(x$tags$unit)) x$tags$n_syn)
  if (!length(what)) what <- change_of_cells(all, before)
  if (length(what)) refuse_change(what)
  invisible(x)
}

# Names and sizes cost nothing to see.
change_of_shape <- function(all, before, rows) {
  if (length(all) != length(before)) return(paste("there are", length(all), "copies, and", length(before), "were drawn"))
  for (i in seq_along(all)) {
    named <- change_of_names(names(all[[i]]), names(before[[i]]), i)
    if (length(named)) return(named)
  }
  for (i in seq_along(all)) {
    if (!is.null(rows) && nrow(all[[i]]) != rows) return(paste("copy", i, "has", nrow(all[[i]]), "rows, and", rows, "were drawn"))
  }
}

change_of_cells <- function(all, before) {
  now <- digests_of(all)
  for (i in seq_along(all)) {
    different <- names(now[[i]])[now[[i]] != before[[i]]]
    if (length(different)) return(said_of_cells(different, i, now, before))
  }
}

change_of_names <- function(now, before, number) {
  if (identical(now, before)) return(NULL)
  if (setequal(now, before)) return(paste0("the columns of copy ", number, " stand in another order"))
  quoted <- function(names) paste(sQuote(names, FALSE), collapse = ", ")
  gone <- setdiff(before, now)
  new <- setdiff(now, before)
  if (length(gone) && length(new)) return(paste0("copy ", number, " has ", quoted(new), " where ", quoted(gone), " was"))
  paste0("copy ", number, if (length(new)) paste0(" has the new column ", quoted(new)) else paste0(" lacks ", quoted(gone)))
}

said_of_cells <- function(different, number, now, before) {
  if (any(vapply(before[-number], identical, NA, now[[number]]))) return("the copies stand in another order")
  if (length(different) == length(now[[number]]) && length(different) > 1L) {
    return(paste0("all columns of copy ", number, ", or its rows, were changed"))
  }
  paste0("values, levels or type of ", paste(sQuote(different, FALSE), collapse = ", "), " were changed in copy ", number)
}

refuse_change <- function(what) {
  refuse("changed", paste0(what, ". What is said of the copies holds for those that were drawn"), paste0(
    "to analyse other columns or rows, write them where they are used: with(s, lm(y ~ I(x^2))), ",
    "with(s, lm(y ~ x, subset = x > 0)) or with(s, {d <- transform(.copy, z = x^2); lm(y ~ z, data = d)}). A column ",
    "that is to be released belongs into the data before synthesise(); changes by sdc() of synthpop are taken by ",
    "accept_sdc()"), kind = "changed")
}
