# What an analysis asks of the copies: response and terms of its formula as trees of plain lists, which the engine
# compares with what each column was drawn from. R's own terms() parses; nothing is evaluated.

asked_of <- function(fit, expression) {
  formula <- tryCatch(stats::formula(fit), error = function(e) NULL)
  asked <- if (inherits(formula, "formula")) asked_terms(formula, fit) else list()
  asked$functions <- as.list(unique(all.names(expression)))
  asked$groups <- as.list(unique(c(asked$groups, all.vars(argument(expression, c("random", "id", "cluster", "clusters"))))))
  subset <- argument(expression, "subset")
  if (!is.null(subset)) asked$subset <- plain_factor(subset)
  asked
}

argument <- function(expression, names) {
  if (!is.call(expression)) return(NULL)
  found <- intersect(names, names(expression))
  if (length(found)) expression[[found[[1L]]]]
}

asked_terms <- function(formula, fit) {
  parsed <- tryCatch(stats::terms(formula), error = function(e) tryCatch(stats::terms(fit), error = function(e) NULL))
  if (is.null(parsed)) return(list())
  variables <- as.list(attr(parsed, "variables"))[-1L]
  table <- attr(parsed, "factors")
  terms <- if (length(table)) lapply(seq_len(ncol(table)), function(j) variables[table[, j] > 0]) else list()
  bars <- vapply(terms, function(term) any(vapply(term, is_bar, NA)), NA)
  list(response = if (attr(parsed, "response")) plain_factor(variables[[attr(parsed, "response")]]),
       terms = lapply(terms[!bars], function(term) lapply(term, plain_factor)),
       groups = unlist(lapply(terms[bars], function(term) all.vars(term[[1L]][[3L]]))))
}

# (1 | school) of lme4
is_bar <- function(e) is.call(e) && as.character(e[[1L]])[[1L]] %in% c("|", "||")

plain_factor <- function(e) list(text = paste(deparse(e), collapse = " "), tree = plain_tree(e))

plain_tree <- function(e) {
  if (is.symbol(e)) return(list(name = as.character(e)))
  if (is.call(e)) return(list(call = called(e[[1L]]), arguments = lapply(unname(as.list(e)[-1L]), plain_tree)))
  if (is.numeric(e) && length(e) == 1L && is.finite(e)) return(as.numeric(e))
  paste(deparse(e), collapse = " ")
}

# splines::ns is ns
called <- function(head) {
  text <- if (is.call(head)) as.character(head[[length(head)]]) else as.character(head)
  text[[length(text)]]
}
