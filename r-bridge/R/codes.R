# Declared codes are no values: they become NA before anything is computed, and are counted.

# The codes of the columns that have some, by name.
declared_codes <- function(schema) {
  columns <- Filter(function(column) length(column$missing) > 0L, schema$columns)
  found <- lapply(columns, function(column) {
    list(codes = unlist(lapply(column$missing, `[[`, "code")), unit = column$unit)
  })
  stats::setNames(found, vapply(columns, `[[`, "", "name"))
}

# A frame without codes; how many cells there were is its attribute "coded".
without_codes <- function(frame, declared) {
  declared <- declared[intersect(names(declared), names(frame))]
  counts <- vapply(names(declared), function(name) sum(is_code(frame[[name]], declared[[name]])), 0)
  for (name in names(declared)) frame[[name]] <- blank(frame[[name]], declared[[name]])
  attr(frame, "coded") <- counts
  frame
}

blank <- function(x, declared) {
  hit <- is_code(x, declared)
  if (any(hit)) x[hit] <- NA
  if (is.factor(x)) x <- factor(x, setdiff(levels(x), as.character(declared$codes)), ordered = is.ordered(x))
  x
}

is_code <- function(x, declared) {
  if (is.factor(x) || is.character(x)) return(as.character(x) %in% as.character(declared$codes))
  if (!is.numeric(declared$codes) || !(is.numeric(x) || is.numeric(unclass(x)))) return(rep(FALSE, length(x)))
  as_counted(x, declared$unit) %in% declared$codes
}

# Times as the schema counts them, numbers as they are.
as_counted <- function(x, unit) {
  seconds <- c(day = 86400, hour = 3600, minute = 60, second = 1)
  if (inherits(x, "POSIXct") && identical(unit, "day")) {
    zone <- attr(x, "tzone")
    return(as.numeric(as.Date(x, tz = if (is.null(zone)) "" else zone[[1L]])))
  }
  if (inherits(x, "POSIXct")) return(as.numeric(x) / seconds[[unit]])
  if (inherits(x, "difftime")) return(as.numeric(x, units = "secs") / seconds[[unit]])
  as.numeric(unclass(x))
}

# Cells with codes in the rows that entered fits made by hand, where a fit holds its own frame.
codes_in_fits <- function(fits, declared) {
  if (!length(declared)) return(NULL)
  frames <- lapply(fits, function(fit) tryCatch(stats::model.frame(fit), error = function(e) NULL))
  counts <- vapply(names(declared), function(name) {
    sum(vapply(frames, function(frame) sum(is_code(frame[[name]], declared[[name]])), 0))
  }, 0)
  counts[counts > 0]
}
