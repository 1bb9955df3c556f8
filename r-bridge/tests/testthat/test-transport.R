test_over_carriers("every kind of column comes back identical", {
  d <- kinds()
  expect_identical(ask("echo", x = d), d)
  expect_identical(ask("echo", x = d[0L, ]), d[0L, ])
  twice <- data.frame(a = 1:2, b = 3:4)
  names(twice) <- c("a", "a")
  expect_identical(ask("echo", x = twice), twice)
})

test_over_carriers("haven's, bit64's and tibble's columns come back identical", {
  skip_without("haven")
  skip_without("bit64")
  skip_without("tibble")
  d <- tibble::tibble(
    labelled = haven::labelled(c(1, 2, NA), c(yes = 1, no = 2), label = "Question"),
    spss = haven::labelled_spss(c(1, -8, NA), c(yes = 1, refused = -8), na_values = -8, na_range = c(-9, -1)),
    tagged = haven::labelled(c(1, haven::tagged_na("a"), NA), c(gone = haven::tagged_na("a"))),
    big = bit64::as.integer64(c("9007199254740993", NA, "-1"))
  )
  back <- ask("echo", x = d)
  expect_identical(back, d)
  expect_identical(haven::na_tag(back$tagged), c(NA, "a", NA))
})

test_over_carriers("an error of the engine is a condition with its class and text", {
  expect_error(synthesise(iris, m = 0, seed = 1), "at least 1", class = "pysynthdp_plan_error")
  expect_error(synthesise(iris, method = "nonsense", seed = 1), "nonsense", class = "pysynthdp_error")
  expect_error(ask("nothing"), class = "pysynthdp_bridge_error")
  expect_identical(ask("echo", x = 1), 1)
})

test_over_carriers("a function or an environment in a frame is refused by name", {
  d <- data.frame(x = 1:2)
  d$f <- list(function() secret, 1)
  expect_error(synthesise(d), "'f' is a list", class = "pysynthdp_bridge_error")
  d$f <- list(globalenv(), 1)
  expect_error(ask("look", data = d, settings = list(method = mean)), class = "pysynthdp_bridge_error")
})

test_over_carriers("no file with rows stays behind", {
  old <- options(pysynthdp.tempdir = tempfile("exchange"))
  on.exit(options(old))
  dir.create(getOption("pysynthdp.tempdir"))
  synthesise(iris, m = 1, seed = 1)
  try(synthesise(iris, m = 0), silent = TRUE)
  left <- list.files(getOption("pysynthdp.tempdir"))
  expect_identical(left[!grepl("errors", left)], character())
})

test_that("a worker that is killed between two calls is replaced", {
  only_by_worker()
  old <- options(pysynthdp.transport = "worker")
  on.exit(options(old))
  skip_without_engine()
  synth_engine()
  state()$process$kill()
  expect_identical(ask("echo", x = 1), 1)
})

# Does something once, when a request was sent and its answer is waited for.
while_waiting <- function(action, code) {
  suppressMessages(trace("wait_for", tracer = substitute(action), where = asNamespace("pysynthdp"), print = FALSE))
  on.exit(suppressMessages(untrace("wait_for", where = asNamespace("pysynthdp"))))
  code
}

test_that("a worker that is killed in the middle of a call is an error, and the next call works", {
  only_by_worker()
  skip_on_os("windows")
  old <- options(pysynthdp.transport = "worker")
  on.exit(options(old))
  skip_without_engine()
  synth_engine()
  call <- quote(synthesise(data.frame(x = 1:60 / 7, y = 60:1 / 3), m = 50, seed = 1))
  expect_error(while_waiting(tools::pskill(.state$process$get_pid(), tools::SIGKILL), eval(call)), "ended with status",
               class = "pysynthdp_worker_died")
  expect_identical(ask("echo", x = 1), 1)
})

test_that("an interrupt comes through at once, and the worker that it stopped is not used again", {
  only_by_worker()
  skip_on_os("windows")
  old <- options(pysynthdp.transport = "worker")
  on.exit(options(old))
  skip_without_engine()
  synth_engine()
  first <- state()$process$get_pid()
  call <- quote(synthesise(data.frame(x = 1:60 / 7, y = 60:1 / 3), m = 50, seed = 1))
  heard <- tryCatch(while_waiting(tools::pskill(Sys.getpid(), tools::SIGINT), eval(call)),
                    interrupt = function(i) "interrupted")
  expect_identical(heard, "interrupted")
  expect_identical(ask("echo", x = 1), 1)
  expect_false(identical(state()$process$get_pid(), first))
})

test_that("a Python that is not there, or without pysynthdp, or that is no Python, is said so", {
  only_by_worker()
  skip_on_os("windows")
  skip_without_engine()
  for (carrier in c("worker", "oneshot")) {
    old <- options(pysynthdp.transport = carrier, pysynthdp.python = "/nowhere/python")
    expect_error(synth_engine(), "no file /nowhere/python", class = "pysynthdp_setup_error")
    options(pysynthdp.python = unname(Sys.which("false")))
    expect_error(synth_engine(), "no Python that can be run", class = "pysynthdp_setup_error")
    bare <- tempfile("bare")
    writeLines(c("#!/bin/sh", "echo \"ModuleNotFoundError: No module named 'pysynthdp'\" >&2", "exit 1"), bare)
    Sys.chmod(bare, "700")
    options(pysynthdp.python = bare)
    expect_error(synth_engine(), "-m pip install \\. ", class = "pysynthdp_setup_error")
    partial <- tempfile("partial")
    writeLines(c("#!/bin/sh", "if [ \"$1\" = --version ]; then echo Python 3.11.2; exit 0; fi",
                 "echo \"ModuleNotFoundError: No module named 'numpy'\" >&2", "exit 1"), partial)
    Sys.chmod(partial, "700")
    options(pysynthdp.python = partial)
    expect_error(synth_engine(), "lacks numpy.*--force-reinstall \\. ", class = "pysynthdp_setup_error")
    aged <- tempfile("aged")
    writeLines(c("#!/bin/sh", "if [ \"$1\" = --version ]; then echo Python 3.8.1; else exit 1; fi"), aged)
    Sys.chmod(aged, "700")
    options(pysynthdp.python = aged)
    expect_error(synth_engine(), "3.11 or later", class = "pysynthdp_setup_error")
    options(old)
  }
  expect_identical(ask("echo", x = 1), 1)
})

test_that("files in the working folder do not stand for modules", {
  only_by_worker()
  old <- options(pysynthdp.transport = "worker", pysynthdp.python = getOption("pysynthdp.python"))
  on.exit(options(old))
  skip_without_engine()
  folder <- tempfile("here")
  dir.create(folder)
  writeLines("raise SystemExit(3)", file.path(folder, "numpy.py"))
  here <- setwd(folder)
  on.exit(setwd(here), add = TRUE)
  pysynthdp:::stop_worker()
  expect_identical(ask("echo", x = 1), 1)
  options(pysynthdp.transport = "oneshot")
  expect_identical(ask("echo", x = 1), 1)
})

test_that("an unknown carrier is refused", {
  old <- options(pysynthdp.transport = "pigeon")
  on.exit(options(old))
  if (!is.null(state()$embedded)) skip("R runs inside the engine")
  expect_error(ask("ping"), class = "pysynthdp_setup_error")
})

test_that("later calls take milliseconds", {
  only_by_worker()
  old <- options(pysynthdp.transport = "worker")
  on.exit(options(old))
  skip_without_engine()
  ask("ping")
  times <- replicate(20, system.time(ask("echo", x = 1))[["elapsed"]])
  expect_lt(min(times), 0.05)
})

test_that("what a raw vector of R's cannot carry is refused before it is sent", {
  carried <- pysynthdp:::carried
  expect_identical(carried(as.raw(1:3), 2^31 - 1), as.raw(1:3))
  expect_error(carried(raw(), 2^31), "2\\^31 bytes or more.*worker", class = "pysynthdp_bridge_error")
})

test_that("more rows than R counts are refused", {
  skip_without_engine()
  expect_error(synthesise(iris, m = 1, k = 2^31), "2\\^31 - 1 rows", class = "pysynthdp_plan_error")
})
