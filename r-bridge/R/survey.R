#' Read a survey file with labels
#'
#' Files of SPSS, Stata and SAS, and CSV or Parquet with a codebook, as haven's `read_sav(user_na = TRUE)`, `read_dta()`
#' and `read_sas()` give them, without needing haven: codes with labels, codes that mean missing (`na_values`,
#' `na_range`), tagged missing values, dates. [synthesise()], [syn()], [synthesis_plan()] and [look()] take the name of
#' such a file too, and read it so.
#'
#' @param path Path of a file that ends in `.sav`, `.zsav`, `.por`, `.dta`, `.sas7bdat` or `.xpt`, or in `.csv` or
#'   `.parquet`.
#' @param codebook Path of a codebook (CSV or TOML), which counts before what the file says; of a `.sas7bdat` also the
#'   catalog with its labels, `.sas7bcat`. `NULL` for none.
#' @param encoding Encoding of the texts, where the file does not say it or says it wrongly; `NULL` leaves it to the file.
#' @return A data frame. It holds the records: keep it as the file. Whole numbers and codes are doubles, as in haven.
#' @examples
#' \dontrun{
#' survey <- read_survey("survey.sav")
#' synthesise(survey, m = 5)
#' }
#' @export
read_survey <- function(path, codebook = NULL, encoding = NULL) {
  check_path(path)
  if (!is.null(codebook)) check_path(codebook)
  ask("read_survey", path = normalizePath(path.expand(path), mustWork = FALSE),
      codebook = if (!is.null(codebook)) normalizePath(path.expand(codebook), mustWork = FALSE), encoding = encoding)
}

# Whether a name is that of a file with labels.
is_survey <- function(path) grepl("[.](sav|zsav|por|dta|sas7bdat|xpt)$", path, ignore.case = TRUE)
