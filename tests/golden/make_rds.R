# Writes the .rds, .RData and serialize() fixtures of tests/golden/r.
#
#   Rscript --vanilla tests/golden/make_rds.R tests/golden/r
#
# Needs the packages haven, bit64 and tibble. Every value is made here: no data set is read.

out <- commandArgs(trailingOnly = TRUE)[[1L]]
stopifnot(dir.exists(out), l10n_info()[["UTF-8"]])
suppressPackageStartupMessages({
  library(haven)
  library(bit64)
  library(tibble)
})

put <- function(x, name, ...) saveRDS(x, file.path(out, paste0(name, ".rds")), ...)
put_stream <- function(x, name, xdr, version) {
  con <- file(file.path(out, name), "wb")
  on.exit(close(con))
  serialize(x, con, xdr = xdr, version = version)
}

latin <- c("caf\xe9", NA, "plain", "\x80 euro")
Encoding(latin) <- "latin1"
bytes <- c("\xff\xfe", "b", "c", NA)
Encoding(bytes) <- "bytes"
unknown <- c("\xff", "a", NA, "\xe9\xe8")

# One column of every kind, four rows. ------------------------------------------------------------------------
kinds <- data.frame(integer = c(1L, -5L, 2147483647L, 0L))
kinds$integer_na <- c(1L, NA, -2147483647L, NA)
kinds$double <- c(NA, NaN, Inf, -0.1)
kinds$logical <- c(TRUE, FALSE, FALSE, TRUE)
kinds$logical_na <- c(TRUE, NA, FALSE, NA)
kinds$logical_all_na <- NA
kinds$character <- c("a", "NA", "", "\u00fc\u4e2d\U0001F600")
kinds$character_na <- c("a", NA, "", NA)
kinds$character_all_na <- NA_character_
kinds$latin1 <- latin
kinds$factor <- factor(c("u", NA, "v", "u"), levels = c("v", "unused", "u"))
kinds$factor_na_level <- addNA(factor(c("a", NA, "b", NA)))
kinds$factor_na_both <- structure(c(1L, NA, 3L, 2L), levels = c("a", NA, "b"), class = "factor")
kinds$factor_na_first <- factor(c("a", NA, "b", "b"), levels = c(NA, "a", "b"), exclude = NULL)
kinds$ordered <- factor(c("lo", "hi", NA, "lo"), levels = c("lo", "mid", "hi"), ordered = TRUE)
kinds$factor_label <- structure(factor(c("x", "y", "x", "y")), label = "A label")
kinds$date <- as.Date(c("2020-02-29", NA, "1900-01-01", "9999-12-31"))
kinds$date_integer <- structure(c(0L, NA, -1L, 20000L), class = "Date")
kinds$date_fraction <- structure(c(0.5, NA, 1, 20000), class = "Date")
kinds$date_infinite <- structure(c(Inf, NA, NaN, 1), class = "Date")
kinds$time_utc <- as.POSIXct(c("2020-10-25 01:30:00", NA, "1969-12-31 23:59:59.5", "2020-07-01 00:00:00"), tz = "UTC")
kinds$time_zone <- as.POSIXct(c("2020-10-25 01:30:00", NA, "2020-07-01 12:00:00", "1847-01-01 00:00:00"),
                              tz = "Europe/London")
kinds$time_session <- structure(c(0, NA, 1e9, 1.5e9 + 0.123456), class = c("POSIXct", "POSIXt"), tzone = "")
kinds$time_no_tzone <- structure(c(0, NA, 1e9, 1.5e9), class = c("POSIXct", "POSIXt"))
kinds$time_integer <- structure(c(0L, NA, 1L, 2000000000L), class = c("POSIXct", "POSIXt"), tzone = "UTC")
kinds$time_fine <- structure(c(1.5e9 + 1 / 3, NA, 0, -1e9 - 2 / 3), class = c("POSIXct", "POSIXt"), tzone = "UTC")
kinds$time_finer <- structure(c(1e-12, NA, pi, 1), class = c("POSIXct", "POSIXt"), tzone = "UTC")
kinds$time_three_zones <- structure(c(0, 1, 2, NA), class = c("POSIXct", "POSIXt"), tzone = c("CET", "CET", "CEST"))
kinds$time_unknown_zone <- structure(c(0, 1, 2, NA), class = c("POSIXct", "POSIXt"), tzone = "Mars/Olympus")
kinds$days <- as.difftime(c(1, NA, 2.5, 1 / 3), units = "days")
kinds$weeks <- as.difftime(c(1, NA, -2, 0.1), units = "weeks")
kinds$seconds_integer <- structure(c(1L, NA, 3L, -4L), class = "difftime", units = "secs")
kinds$hms <- structure(c(3600, NA, 1.25, 0), class = c("hms", "difftime"), units = "secs")
kinds$duration_fine <- as.difftime(c(pi * 1e-9, NA, 1, 2), units = "mins")
kinds$labelled <- labelled(c(1, 2, NA, 9), c(Yes = 1, No = 2, Refused = 9), label = "Own car?")
kinds$labelled_integer <- labelled(c(1L, NA, 2L, 1L), c(a = 1L, b = 2L))
kinds$labelled_character <- labelled(c("m", "f", NA, "m"), c(Male = "m", Female = "f"))
kinds$labelled_user_na <- labelled_spss(c(1, 2, 99, NA), c(Yes = 1, No = 2, Refused = 99), na_values = 99,
                                        na_range = c(98, Inf), label = "Income")
kinds$labelled_tagged_na <- labelled(c(1, tagged_na("a"), tagged_na("z"), NA), c(Refused = tagged_na("a")))
kinds$label <- structure(c(1.5, 2, NA, 3), label = "Income", units = "EUR")
kinds$label_integer <- structure(c(1L, NA, 3L, 4L), label = "Count")
kinds$label_text <- structure(c("a", NA, "c", "d"), label = "Text", note = list(1L, "x", NULL))
kinds$integer64 <- as.integer64(c("9007199254740993", NA, "-1", "0"))
kinds$integer64_full <- as.integer64(1:4)
kinds$complex <- complex(real = c(1, NA, NaN, 0), imaginary = c(2, 3, NaN, -1))
kinds$raw <- as.raw(c(0, 1, 127, 255))
kinds$list <- list(1:2, "a", NULL, list(x = 1, y = list(TRUE, NA)))
kinds$list_asis <- I(list(c(a = 1), NA_character_, factor("q"), c(NA, 1L)))
kinds$asis_character <- I(c("a", "b", NA, "d"))
kinds$asis_double <- I(c(1, 2, NA, 4))
kinds$two_classes <- structure(c(1, 2, NA, 4), class = c("mine", "numeric"))

put(kinds, "kinds", compress = "gzip")
put(kinds[0, ], "kinds_no_rows", compress = "bzip2")
put(kinds[c(4L, 2L), ], "kinds_row_numbers", compress = "xz")
put(kinds[rep(1:4, 40), ], "kinds_many_rows", compress = "xz")
put(as_tibble(kinds), "kinds_tibble", version = 2, compress = FALSE)

# Frames of unusual shape. -----------------------------------------------------------------------------------
undecoded <- data.frame(bytes = bytes, unknown = unknown)
shapes <- list(
  row_texts = data.frame(x = 1:3, row.names = c("r1", "\u00e9", "r3")),
  row_numbers = data.frame(x = 1:3, row.names = c(3L, 10L, 1L)),
  names_twice = structure(list(1:2, c("a", "b"), c(NA, TRUE)), names = c("x", "x", ""), row.names = 1:2,
                          class = "data.frame"),
  names_odd = structure(list(1:2, 3:4), names = c("\u00fc b", "a b"), row.names = c(NA, -2L), class = "data.frame"),
  no_columns = data.frame(matrix(nrow = 3, ncol = 0)),
  nothing = data.frame(),
  frame_attributes = structure(data.frame(x = 1:2), label = "A table", made = as.Date("2020-01-01")),
  sequences = data.frame(a = 1:100000, b = rev(1:100000), c = as.numeric(1:100000)),
  undecoded = undecoded
)
put(shapes, "shapes", compress = "xz")

# Values that are no frames. ---------------------------------------------------------------------------------
track <- setClass("pysynthdp_track", slots = c(x = "numeric", y = "character"))
level <- setClass("pysynthdp_level", contains = "numeric", slots = c(unit = "character"))
values <- list(
  null = NULL, call = quote(f(x, y = 2, ...)), formula_global = y ~ x + I(x^2), symbol = quote(a),
  pairlist = pairlist(a = 1, 2, b = "c"), expression = expression(a + b, c), matrix = matrix(1:6, 2),
  array = array(1:8, c(2, 2, 2), dimnames = list(NULL, c("a", "b"), NULL)), named = c(a = 1, b = NA),
  nested = list(list(list(list(1)))), s4 = track(x = 1, y = "a"), s4_data = level(1:3 + 0.5, unit = "m"),
  empty = list(integer(), character(), double(), logical(), list(), raw(), complex()),
  global = globalenv(), base = baseenv(), empty_environment = emptyenv(), missing = quote(expr = ),
  long_text = strrep("x", 300000), nine = rep(c("123456789", "\ttab", strrep("y", 32), NA, ""), 50),
  mixed_utf8 = rep(c("a", "\u00e9", "\u4e2d\u6587", NA, "", "\U0001F600"), 50)
)
environment(values$formula_global) <- globalenv()
put(values, "values", compress = "xz")

# What is read over, and vectors that R stores by a recipe. ---------------------------------------------------
f <- compiler::cmpfun(function(x, y = 2) { g <- function(z) z + y; if (x > 1) g(x) else for (i in 1:3) g(i) })
e <- new.env()
assign("inside", 1, envir = e)
numbers <- c(1e5, 123456, 1.5, 1e-5, 0.1 + 0.2, 1e15, 123456789012345678, NA, NaN, Inf, -Inf, 0, -1.234e-05, 100,
             1e-300, pi, 1 / 3, 2e5, 1234567.1, 1e22, -7)
recipes <- list(
  up = 1:1000, down = 1000:1, real = as.numeric(1:1000), texts = as.character(c(5L, NA, -3L)),
  texts_double = as.character(numbers), wrapped = .Internal(wrap_meta(c(3.5, 1, 2), TRUE, FALSE))
)
opaque <- list(before = "b", closure = f, interpreted = function(a) a, environment = e, again = e,
               builtin = sum, special = `if`, namespace = asNamespace("stats"), base_namespace = .BaseNamespaceEnv,
               promise_environment = local({ delayedAssign("p", stop("never")); environment() }),
               model = lm(dist ~ speed, data.frame(speed = 1:5, dist = c(2, 4, 5, 4, 5))), after = "a")
put(recipes, "recipes", compress = "xz")
put(lapply(recipes, function(x) { x[1L] <- x[1L]; x }), "recipes_expanded", compress = "xz")
put(opaque, "opaque", compress = "xz")

save(kinds, numbers, file = file.path(out, "two_objects.RData"), compress = "xz")
save(kinds, numbers, file = file.path(out, "two_objects_v2.RData"), version = 2, compress = "gzip")
for (version in 2:3) for (xdr in c(TRUE, FALSE)) {
  put_stream(kinds, sprintf("kinds_v%d_%s.bin", version, if (xdr) "xdr" else "little"), xdr, version)
}
writeLines(c(R.version.string, paste(c("haven", "bit64", "tibble"), c(
  packageDescription("haven")$Version, packageDescription("bit64")$Version, packageDescription("tibble")$Version))),
  file.path(out, "VERSIONS"))
