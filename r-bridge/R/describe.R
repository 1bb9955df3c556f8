# What a fit says of its model, so that the fits of the copies can be held against each other.

describe_fit <- function(fit) {
  about <- list(class = class(fit)[[1L]], family = family_of(fit), covariance = covariance_of(fit))
  terms <- tryCatch(stats::terms(fit), error = function(e) NULL)
  if (!inherits(terms, "terms")) return(about)
  formula <- stats::formula(terms)
  about$formula <- deparse1(formula)
  if (length(formula) == 3L) about$response <- deparse1(formula[[2L]])
  about$bases <- c(learned(terms), smooths(fit))
  about$entangled <- entangled(fit)
  coded <- tryCatch(codings(fit, terms), error = function(e) NULL) # a class that keeps its contrasts elsewhere
  c(about, coded)
}

family_of <- function(fit) {
  family <- if (is.list(fit)) fit$family
  if (inherits(family, "family")) paste(family$family, family$link, sep = ", ")
}

# Kinds of covariance that a fit has only where it was asked for one.
covariance_of <- function(fit) {
  kind <- if (is.list(fit)) first_of(fit$se_type, fit$cov_type)
  if (is.character(kind) && length(kind) == 1L && !kind %in% c("classical", "nonrobust")) kind
}

# R writes what poly(), ns(), scale() and their like learned from the rows into the calls that predict by them.
learned <- function(terms) {
  written <- as.list(attr(terms, "variables"))[-1L]
  filled <- as.list(attr(terms, "predvars"))[-1L]
  if (length(filled) != length(written)) return(NULL)
  changed <- !mapply(identical, written, filled)
  stats::setNames(lapply(filled[changed], function(x) as.numeric(constants(x))), vapply(written[changed], deparse1, ""))
}

constants <- function(x) {
  if (is.call(x) || is.list(x)) return(unlist(lapply(as.list(x), constants)))
  if (is.numeric(x)) as.numeric(x)
}

# The smooths of mgcv: knots, centres, the bases of thin plate splines, and the sum over the rows that is made zero.
smooths <- function(fit) {
  if (!inherits(fit, "gam") || !length(fit$smooth)) return(NULL)
  numbers <- lapply(fit$smooth, function(one) {
    as.numeric(unlist(c(one[c("xp", "knots", "shift", "Xu")], attr(one, "qrc")[c("qr", "qraux")])))
  })
  stats::setNames(numbers, vapply(fit$smooth, `[[`, "", "label"))
}

# Coefficients whose columns are mixed with a column that was left out as a sum of others.
entangled <- function(fit) {
  found <- tryCatch(design_qr(fit), error = function(e) NULL)
  if (is.null(found)) return(NULL)
  p <- ncol(found$qr)
  r <- found$rank
  if (r >= p || r == 0L) return(NULL)
  R <- qr.R(found)
  size <- sqrt(colSums(R^2))
  out <- seq(r + 1L, p)
  mix <- backsolve(R[seq_len(r), seq_len(r), drop = FALSE], R[seq_len(r), out, drop = FALSE])
  heavy <- abs(mix) * size[seq_len(r)] > 1e-7 * rep(pmax(size[out], 1e-300), each = r)
  names <- colnames(found$qr)
  mixed <- c(names[seq_len(r)][rowSums(heavy) > 0], names[out][colSums(heavy) > 0])
  if (inherits(fit, "multinom") && is.matrix(stats::coef(fit))) {
    mixed <- as.vector(outer(rownames(stats::coef(fit)), mixed, paste, sep = ":"))
  }
  if (inherits(fit, "polr") && "(Intercept)" %in% mixed) mixed <- c(mixed, names(fit$zeta))
  mixed
}

# lm() and glm() keep it. Where there is no intercept because a hazard or thresholds stand for it, it counts too.
design_qr <- function(fit) {
  if (is.list(fit) && inherits(fit$qr, "qr") && !is.null(fit$rank)) return(fit$qr)
  X <- stats::model.matrix(fit)
  if (inherits(fit, c("coxph", "polr", "clm")) && !"(Intercept)" %in% colnames(X)) X <- cbind("(Intercept)" = 1, X)
  done <- qr(X)
  colnames(done$qr) <- colnames(X)[done$pivot]
  done
}

# Contrasts of each factor in each term, and the variables that each coefficient belongs to.
codings <- function(fit, terms) {
  levels <- fit$xlevels
  factors <- attr(terms, "factors")
  if (!length(levels) || !length(factors)) return(NULL)
  used <- first_of(fit$contrasts, attr(stats::model.matrix(fit), "contrasts"))
  found <- list()
  for (term in colnames(factors)) for (name in intersect(rownames(factors)[factors[, term] > 0], names(levels))) {
    matrix <- contrast_matrix(used[[name]], levels[[name]], factors[name, term])
    found[[length(found) + 1L]] <- list(
      members = rownames(factors)[factors[, term] > 0], factor = name, levels = levels[[name]],
      columns = first_of(colnames(matrix), as.character(seq_len(ncol(matrix)))), matrix = unname(matrix))
  }
  list(codings = found, members = members(fit, factors))
}

contrast_matrix <- function(contrast, levels, how) {
  if (how == 2L) return(diag(length(levels)))
  if (is.character(contrast)) contrast <- get(contrast, mode = "function")(levels)
  matrix(as.numeric(contrast), nrow = length(levels), dimnames = list(NULL, colnames(contrast)))
}

members <- function(fit, factors) {
  X <- stats::model.matrix(fit)
  of <- lapply(attr(X, "assign"), function(i) if (i) rownames(factors)[factors[, i] > 0] else character())
  names <- colnames(X)
  if (inherits(fit, "multinom") && is.matrix(stats::coef(fit))) {
    equations <- rownames(stats::coef(fit))
    of <- rep(of, length(equations))
    names <- paste(rep(equations, each = length(names)), names, sep = ":")
  }
  if (inherits(fit, "polr")) {
    of <- c(of, rep(list(character()), length(fit$zeta))) # thresholds stand where the intercept would
    names <- c(names, names(fit$zeta))
  }
  at <- seq_len(min(length(names), length(of))) # smooths have columns that belong to no term
  list(names = names[at], of = of[at])
}

# Was each fit made from its own copy? TRUE where its rows say so, NA where they do not say; other rows are refused.
own_rows <- function(analyses, copies) {
  if (length(analyses) != length(copies)) return(rep(NA, length(analyses)))
  check_sizes(analyses, copies)
  vapply(seq_along(analyses), function(i) own_row(analyses[[i]], i, copies), NA)
}

# One fit that used far fewer of its copy's complete rows than the others is of other rows than they are.
check_sizes <- function(analyses, copies) {
  found <- shares_used(analyses, copies)
  if (is.null(found)) return(invisible())
  middle <- stats::median(found$share)
  odd <- which(abs(found$share - middle) > pmax(0.1, 8 * sqrt(middle * (1 - middle) / found$complete)))
  if (length(odd)) {
    abort("pysynthdp_fit_error", paste0(
      "the fit of copy ", odd[[1L]], " used ", found$rows[[odd[[1L]]]], " of ", found$complete[[odd[[1L]]]],
      " complete rows, and those of the other copies another share; fit the same rows of every copy"))
  }
}

# Rows that the fits left out, though nothing is missing in them.
rows_note <- function(analyses, copies) {
  found <- if (length(analyses) == length(copies)) shares_used(analyses, copies)
  if (is.null(found) || all(found$share >= 1)) return(character())
  ends <- unique(format(100 * range(found$share), digits = 2, trim = TRUE))
  paste0("The fits used ", paste(ends, collapse = " to "), " % of the copies' complete rows: the table speaks of those.")
}

# Which share of the complete rows of its copy each fit used.
shares_used <- function(analyses, copies) {
  formula <- tryCatch(stats::formula(analyses[[1L]]), error = function(e) NULL)
  used <- if (inherits(formula, "formula")) intersect(all.vars(formula), names(copies[[1L]]))
  rows <- vapply(analyses, function(fit) first_of(rows_of(fit), NA_real_), 0)
  if (!length(used) || anyNA(rows)) return(NULL)
  complete <- pmax(vapply(copies, function(copy) sum(stats::complete.cases(copy[used])), 0), 1)
  list(rows = rows, complete = complete, share = pmin(rows / complete, 1))
}

own_row <- function(fit, number, copies) {
  rows <- if (is.list(fit) && is.data.frame(fit$model)) fit$model
  if (is.null(rows)) return(NA)
  own <- copies[[number]]
  following <- copies[[number %% length(copies) + 1L]]
  elsewhere <- setdiff(seq_along(copies), number)
  foreign <- FALSE
  for (name in telling_first(rows, own)) {
    if (is.numeric(rows[[name]]) != is.numeric(own[[name]])) next # recoded by the user
    if (aligned(rows[name], own)) {
      if (length(copies) == 1L || !identical(own[[name]], following[[name]])) return(TRUE)
    } else if (contained(rows[[name]], own[[name]])) {
      elsewhere_too <- foreign && length(elsewhere)
      if (!elsewhere_too && !contained(rows[[name]], following[[name]])) return(TRUE)
    } else {
      foreign <- TRUE
      elsewhere <- Filter(function(i) {
        aligned(rows[name], copies[[i]]) || contained(rows[[name]], copies[[i]][[name]])
      }, elsewhere)
    }
  }
  if (foreign) refuse_rows(number, elsewhere)
  used <- intersect(all.vars(stats::formula(fit)), names(own))
  alike <- vapply(copies, function(copy) identical(unclass(copy)[used], unclass(own)[used]), NA)
  if (length(used) && all(alike)) TRUE else NA
}

# The columns of both, those of most values first: those of few are as often in other copies too.
telling_first <- function(rows, own) {
  shared <- intersect(names(rows), names(own))
  shared[order(-vapply(own[shared], function(column) length(unique(plain_values(column))), 0L))]
}

# The column's values are those of the copy at the same labels.
aligned <- function(column, copy) {
  if (identical(attr(column, "row.names"), attr(copy, "row.names"))) {
    return(identical(plain_values(column[[1L]]), plain_values(copy[[names(column)]])))
  }
  at <- match(row.names(column), row.names(copy))
  !anyNA(at) && identical(plain_values(column[[1L]]), plain_values(copy[[names(column)]][at]))
}

# Every value is in the copy as often, wherever.
contained <- function(ours, theirs) {
  if (length(ours) > length(theirs)) return(FALSE)
  ours <- plain_values(ours)
  known <- unique(ours)
  counts <- tabulate(match(plain_values(theirs), known), length(known))
  all(tabulate(match(ours, known), length(known)) <= counts)
}

plain_values <- function(x) if (is.numeric(x) && !is.factor(x)) as.numeric(x) else as.character(x)

refuse_rows <- function(number, elsewhere) {
  abort("pysynthdp_fit_error", if (length(elsewhere)) paste0(
    "the fit of copy ", number, " was made from copy ", paste(elsewhere, collapse = ", "),
    "; give one fit a copy, in the order of the copies"
  ) else paste0(
    "the fit of copy ", number, " was made from rows that no copy has, or from columns recoded under their own ",
    "names; fit the copies in order, and give a recoded column another name"))
}
