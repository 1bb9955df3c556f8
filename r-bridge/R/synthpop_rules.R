# synthpop's rules are R code: where one holds, a column has a value that is no model's. Here that is a universe:
# the column is asked in all other rows.
universes_of <- function(rules, rvalues, columns) {
  if (is_idle(rules)) {
    if (!is_idle(rvalues)) {
      refuse("plan", "`rvalues` says what stands where a rule holds, and there is no rule", "give `rules` too",
             kind = "setting")
    }
    return(NULL)
  }
  rules <- asked_rules(rules, columns, "rules")
  rvalues <- as.list(rvalues)
  known_columns(setdiff(names(rvalues), ""), columns, "rvalues")
  stats::setNames(lapply(names(rules), function(name) universe_of(name, rules[[name]], rvalues[[name]], columns)),
                  names(rules))
}

asked_rules <- function(rules, columns, what) {
  rules <- as.list(rules)
  if (is.null(names(rules)) || any(!nzchar(names(rules)))) {
    refuse("plan", paste(what, "has no names of columns"), paste0("write ", what, " = list(marital = \"age < 18\")"),
           kind = "setting")
  }
  known_columns(names(rules), columns, what)
  rules[!vapply(rules, is_idle, NA)]
}

# As in synthpop a rule that is missing does not hold, and of several the later one wins: of one value they hold together.
universe_of <- function(name, rules, values, columns) {
  values <- if (is.null(values)) NA else values
  if (is.factor(values)) values <- as.character(values)
  if (length(unique(unlist(values))) > 1L) {
    refuse("plan", paste0("`rvalues` gives several values for ", name), paste0(
      "give one rule, and write the others as derive = list(", name, " = \"where(..., ..., ", name, ")\")"), name,
      "rules")
  }
  holds <- vapply(rules, as_expression, "", name = name, columns = columns)
  holds <- paste0("(", holds, ")", collapse = " or ")
  where <- paste0("not (", holds, ") or is_missing(", holds, ")")
  value <- unlist(values)[[1L]]
  if (is.na(value)) where else list(where, value)
}

r_signs <- c("&" = "and", "&&" = "and", "|" = "or", "||" = "or", "==" = "==", "!=" = "!=", "<" = "<", "<=" = "<=",
             ">" = ">", ">=" = ">=", "+" = "+", "-" = "-", "*" = "*", "/" = "/", "^" = "**")

# A rule in R code as one of our expressions; what is not among them is refused, as no code is run.
as_expression <- function(rule, name, columns) {
  code <- tryCatch(str2lang(as.character(rule)), error = function(e) NULL)
  if (is.null(code)) no_rule(name, rule, "cannot be read")
  written_rule(code, function(what) no_rule(name, rule, what), columns)
}

no_rule <- function(name, rule, what) {
  refuse("plan", paste0("the rule of ", name, ", ", rule, ", ", what), paste(
    "write it with columns, numbers, texts, comparisons, &, |, !, %in% and is.na(), or as",
    "universe = list(column = list(\"condition\", value))"), name, "rules")
}

written_rule <- function(code, fault, columns) {
  if (is.name(code)) return(written_name(as.character(code), fault, columns))
  if (is.character(code) && length(code) == 1L) return(quoted_text(code))
  if (is.numeric(code) && length(code) == 1L) return(format(code, digits = 15L, scientific = FALSE))
  if (!is.call(code)) fault("holds what no expression can")
  sign <- as.character(code[[1L]])
  of <- function(at) written_rule(code[[at]], fault, columns)
  if (length(sign) != 1L) fault("calls what no expression can")
  if (sign == "(") return(paste0("(", of(2L), ")"))
  if (sign == "!") return(paste0("not (", of(2L), ")"))
  if (sign == "is.na") return(paste0("is_missing(", of(2L), ")"))
  if (sign == "-" && length(code) == 2L) return(paste0("-", of(2L)))
  if (sign == "%in%") return(paste0(of(2L), " in (", listed_constants(code[[3L]], fault, columns), ")"))
  if (sign %in% names(r_signs) && length(code) == 3L) return(paste0("(", of(2L), " ", r_signs[[sign]], " ", of(3L), ")"))
  fault(paste0("has ", sign, "(), which no expression has"))
}

written_name <- function(name, fault, columns) {
  if (!name %in% columns) fault(paste0("names ", name, ", which is no column of the data"))
  paste0("`", name, "`")
}

quoted_text <- function(x) {
  paste0("'", gsub("'", "\\'", gsub("\\", "\\\\", x, fixed = TRUE), fixed = TRUE), "'")
}

listed_constants <- function(code, fault, columns) {
  items <- if (is.call(code) && identical(code[[1L]], as.name("c"))) as.list(code)[-1L] else list(code)
  plain <- vapply(items, function(one) is.character(one) || is.numeric(one) || (is.call(one) && length(one) == 2L), NA)
  if (!all(plain)) fault("has a list of more than numbers and texts")
  paste(vapply(items, written_rule, "", fault = fault, columns = columns), collapse = ", ")
}
