#' @description [synthesise()] makes copies, `with()` and [pool()] analyse them, [privacy_statement()] says what is
#'   claimed. See `vignette("pysynthdp")`.
#' @keywords internal
"_PACKAGE"
