# The only file that knows how requests travel. All else calls ask(verb, ...) and gets a value, a warning or an
# error. A request is a plain list in R's own serialize format, and so is the answer.

.state <- new.env(parent = emptyenv())
.protocol <- 2L

# Ask the engine; warnings and errors of the answer become conditions of R.
ask <- function(verb, ...) {
  request <- list(protocol = .protocol, verb = verb, args = list(...), debug = isTRUE(getOption("pysynthdp.debug")))
  answer <- switch(which_transport(),
    embedded = unserialize(.state$embedded(to_bytes(request))),
    reticulate = ask_in_session(request),
    worker = ask_worker(request),
    oneshot = ask_once(request)
  )
  for (told in answer$warnings) do.call(caution, told)
  if (!isTRUE(answer$ok)) {
    abort(answer$class, answer$message, answer$trace, answer[c("column", "kind", "remedy", "faults")])
  }
  answer$value
}

to_bytes <- function(x) carried(serialize(x, NULL, xdr = FALSE, version = 2L))

# Inside one process requests are raw vectors, and those of 2^31 elements or more do not cross.
carried <- function(bytes, size = length(bytes)) {
  if (size <= .Machine$integer.max) return(bytes)
  abort("pysynthdp_bridge_error", paste(
    "the data take 2^31 bytes or more, which this transport cannot carry; start R anew with",
    "options(pysynthdp.transport = \"worker\")"))
}

which_transport <- function() {
  if (!is.null(.state$embedded)) return("embedded")
  chosen <- known_transport(getOption("pysynthdp.transport", if (has_package("processx")) "worker" else "oneshot"))
  if (chosen != "oneshot") need_package(c(worker = "processx", reticulate = "reticulate")[[chosen]])
  chosen
}

known_transport <- function(chosen) {
  if (is.character(chosen) && length(chosen) == 1L && chosen %in% c("worker", "oneshot", "reticulate")) return(chosen)
  refuse("setup", "a transport is \"worker\", \"oneshot\" or \"reticulate\"",
         "write options(pysynthdp.transport = \"worker\"), or \"oneshot\" without the package processx", kind = "transport")
}

has_package <- function(name) requireNamespace(name, quietly = TRUE)

need_package <- function(name) {
  if (has_package(name)) return(invisible())
  refuse("setup", paste("this needs the R package", name), paste0("write install.packages(\"", name, "\")"),
         kind = "package")
}

# Where the engine is: an option, environment variables, what the installation recorded, then the path.
find_engine <- function() {
  recorded <- system.file("engine", package = "pysynthdp")
  venv <- Sys.getenv("VIRTUAL_ENV")
  inside <- if (.Platform$OS.type == "windows") "Scripts/python.exe" else "bin/python"
  candidates <- c(
    getOption("pysynthdp.python", ""),
    Sys.getenv("PYSYNTHDP_PYTHON"),
    if (nzchar(recorded)) readLines(recorded, n = 1L, encoding = "UTF-8", warn = FALSE),
    Sys.getenv("RETICULATE_PYTHON"),
    if (nzchar(venv)) file.path(venv, inside),
    unname(Sys.which(c("python3", "python")))
  )
  candidates <- path.expand(candidates[nzchar(candidates)])
  if (!length(candidates)) {
    abort("pysynthdp_setup_error", paste(
      "The engine was not found: there is no Python here.",
      "Install it, then: options(pysynthdp.python = \"/path/to/python\")"))
  }
  if (!file.exists(candidates[[1L]])) {
    refuse("setup", paste("The engine was not found: there is no file", candidates[[1L]]),
           "write options(pysynthdp.python = \"/path/to/python\") with the Python that has pysynthdp", kind = "engine")
  }
  candidates[[1L]]
}

# R puts its own libraries first on LD_LIBRARY_PATH. A child must not inherit them: it would load another
# libpython of the same minor version.
child_environment <- function() {
  folders <- strsplit(Sys.getenv("LD_LIBRARY_PATH"), .Platform$path.sep, fixed = TRUE)[[1L]]
  own <- startsWith(folders, R.home()) | grepl("^/usr/lib/([^/]+-linux-gnu|jvm/)", folders) | folders == ""
  c(LD_LIBRARY_PATH = paste(folders[!own], collapse = .Platform$path.sep),
    PYTHONIOENCODING = "utf-8", PYTHONUTF8 = "1",
    PYTHONSAFEPATH = "1") # a file in the working folder must not stand for a module of the engine
}

# Files hold rows: they are made in R's own temporary folder (or in a folder that the user names, such as one in
# memory), for the user's eyes only, and deleted after each call.
exchange_files <- function(what) {
  folder <- getOption("pysynthdp.tempdir", tempdir())
  tempfile(paste0("pysynthdp-", what, "-"), tmpdir = folder)
}

write_request <- function(request, path) {
  mask <- Sys.umask("077")
  on.exit(Sys.umask(mask))
  con <- file(path, "wb")
  on.exit(close(con), add = TRUE)
  serialize(request, con, xdr = FALSE, version = 2L)
}

read_answer <- function(path) {
  con <- file(path, "rb")
  on.exit(close(con))
  unserialize(con)
}

# What to say when the process ended without an answer.
engine_ended <- function(errors, status) {
  engine <- find_engine()
  why <- setup_fault(engine, errors)
  if (!is.null(why)) abort("pysynthdp_setup_error", why)
  abort("pysynthdp_worker_died", paste0(
    "The engine (", engine, ") ended with status ", status, " before it answered; nothing was changed, and the ",
    "next call starts it again.", if (isTRUE(getOption("pysynthdp.debug"))) {
      paste0("\n", paste(utils::tail(errors, 12L), collapse = "\n"))
    }))
}

# What is wrong with the engine itself; nothing if it is whole.
setup_fault <- function(engine, errors) {
  version <- engine_version(engine)
  other <- "Name another: options(pysynthdp.python = \"/path/to/python\")"
  if (!is.na(version) && package_version(version) < "3.11") {
    return(paste0(engine, " is Python ", version, "; the engine needs 3.11 or later. ", other))
  }
  found <- regmatches(errors, regexpr("No module named '?[[:alnum:]_.]+", errors))
  if (length(found)) {
    absent <- sub("^No module named '?", "", found[[1L]])
    own <- startsWith(absent, "pysynthdp")
    return(paste0(engine, if (own) " has no pysynthdp" else paste0(" lacks ", absent, ", which pysynthdp needs"),
                  ". In a terminal, in the checkout of pysynthdp: ", engine, " -m pip install ",
                  if (!own) "--force-reinstall ", ". (or the path of its wheel)"))
  }
  if (is.na(version)) paste0(engine, " is no Python that can be run. ", other)
}

engine_version <- function(engine) {
  said <- tryCatch(suppressWarnings(system2(engine, "--version", stdout = TRUE, stderr = TRUE)), error = identity)
  if (inherits(said, "error")) return(NA_character_)
  found <- sub("^Python ", "", regmatches(said, regexpr("^Python [0-9]+\\.[0-9]+(\\.[0-9]+)?", said)))
  if (length(found)) found[[1L]] else NA_character_
}

# --- one process a call -------------------------------------------------------------------------------------

ask_once <- function(request) {
  files <- exchange_files(c("request", "answer", "errors"))
  on.exit(unlink(c(files, paste0(files[[2L]], ".part"))))
  write_request(request, files[[1L]])
  arguments <- c("-m", "pysynthdp.bridge.worker", shQuote(files[1:2]))
  status <- with_environment(child_environment(),
    suppressWarnings(system2(find_engine(), arguments, stdout = files[[3L]], stderr = files[[3L]])))
  if (status != 0L || !file.exists(files[[2L]])) engine_ended(read_lines(files[[3L]]), status)
  read_answer(files[[2L]])
}

with_environment <- function(values, code) {
  old <- Sys.getenv(names(values), NA)
  on.exit({
    Sys.unsetenv(names(old)[is.na(old)])
    if (!all(is.na(old))) do.call(Sys.setenv, as.list(old[!is.na(old)]))
  })
  do.call(Sys.setenv, as.list(values))
  force(code)
}

read_lines <- function(path) if (file.exists(path)) readLines(path, warn = FALSE) else character()

# --- a worker that stays --------------------------------------------------------------------------------------

ask_worker <- function(request) {
  if (!worker_is_mine()) start_worker()
  files <- exchange_files(c("request", "answer"))
  on.exit(unlink(c(files, paste0(files[[2L]], ".part"))))
  write_request(request, files[[1L]])
  answered <- FALSE
  # interrupted or broken: a worker that is in the middle of something is never used again
  on.exit(if (!answered) stop_worker(), add = TRUE)
  line <- charToRaw(enc2utf8(paste0(files[[1L]], "\t", files[[2L]], "\n")))
  while (length(line)) line <- write_to_worker(line)
  wait_for("done")
  answered <- TRUE
  read_answer(files[[2L]])
}

# a fork of R (mclapply) must not talk to its parent's worker
worker_is_mine <- function() {
  !is.null(.state$process) && identical(.state$owner, Sys.getpid()) && .state$process$is_alive() &&
    identical(.state$engine, find_engine())
}

start_worker <- function() {
  if (identical(.state$owner, Sys.getpid())) stop_worker() else .state$process <- NULL
  engine <- find_engine()
  .state$errors <- exchange_files("errors")
  .state$process <- tryCatch(
    processx::process$new(engine, c("-m", "pysynthdp.bridge.worker"), stdin = "|", stdout = "|",
                          stderr = .state$errors, env = c("current", child_environment()),
                          cleanup = TRUE, cleanup_tree = TRUE),
    error = function(e) abort("pysynthdp_setup_error", paste0(
      "The engine ", engine, " could not be started; is it a Python that can be run?"))
  )
  .state$engine <- engine
  .state$owner <- Sys.getpid()
  wait_for("ready")
}

write_to_worker <- function(bytes) {
  tryCatch(.state$process$write_input(bytes), error = function(e) worker_ended())
}

wait_for <- function(word) {
  repeat {
    .state$process$poll_io(200L) # comes back to R five times a second, so that an interrupt is heard
    lines <- .state$process$read_output_lines(1L)
    if (length(lines) && identical(lines, word)) return(invisible())
    if (!length(lines) && !.state$process$is_alive() && !.state$process$is_incomplete_output()) worker_ended()
  }
}

worker_ended <- function() {
  .state$process$wait(1000L)
  status <- .state$process$get_exit_status()
  errors <- read_lines(.state$errors)
  stop_worker()
  engine_ended(errors, status)
}

stop_worker <- function() {
  if (!is.null(.state$process)) try(.state$process$kill(), silent = TRUE)
  if (!is.null(.state$errors)) unlink(.state$errors)
  .state$process <- NULL
  .state$errors <- NULL
  invisible()
}

# --- inside this process ----------------------------------------------------------------------------------------

# Only raw vectors cross: they are the one thing that every version of reticulate moves unchanged.
ask_in_session <- function(request) {
  if (is.null(.state$session)) {
    if (!reticulate::py_available()) reticulate::use_python(find_engine(), required = TRUE)
    .state$session <- tryCatch({
      reticulate::py_run_string(paste(
        "from pysynthdp.bridge.dispatch import handle as _pysynthdp_handle",
        "def _pysynthdp_answer(request): return bytearray(_pysynthdp_handle(bytes(request), largest=2**31 - 1))", sep = "\n"))
      reticulate::py_eval("_pysynthdp_answer")
    }, error = function(e) abort("pysynthdp_setup_error", paste0(
      "The Python of this session has no pysynthdp (", conditionMessage(e), "). Start R anew with ",
      "RETICULATE_PYTHON set, or use options(pysynthdp.transport = \"worker\")")))
  }
  unserialize(.state$session(to_bytes(request)))
}

# Called where R itself runs inside the engine, in a notebook: from then on requests are answered in place.
set_embedded <- function(answer) {
  .state$embedded <- answer
  invisible()
}
