# The pictures of pictures.R with ggplot2, which is only asked for when one is drawn: R registers the methods when
# ggplot2 is loaded.

.data <- NULL # of ggplot2, inside aes()

#' @rdname evaluate_synthetic
#' @exportS3Method ggplot2::autoplot
autoplot.synthetic_evaluation <- function(object, kind = c("columns", "tables", "regressions", "propensity"), most = 9L,
                                          ...) {
  check_no_dots("autoplot", ...)
  most <- is_most(most)
  switch(one_of(kind, "kind"),
    columns = gg_columns(object, most),
    tables = gg_tables(object, most),
    regressions = gg_regressions(object, most),
    propensity = gg_propensity(object)
  )
}

gg_columns <- function(x, most) {
  shown <- utils::head(x$tables[["one-way"]][["column 1"]], most)
  if (!length(shown)) nothing_to_draw("columns")
  cells <- x$tables$distributions[x$tables$distributions$column %in% shown, ]
  cells$column <- factor(cells$column, shown)
  keys <- paste(cells$column, cells$kind, cells$cell, sep = "\r")
  cells$place <- factor(keys, unique(keys)) # the same cell of two columns is two places
  ggplot2::ggplot(cells, ggplot2::aes(x = .data$place)) +
    ggplot2::geom_col(ggplot2::aes(y = .data$confidential, fill = "confidential"), width = 0.9) +
    ggplot2::geom_col(ggplot2::aes(y = .data$copies, colour = "copies"), fill = NA, width = 0.9) +
    ggplot2::facet_wrap(ggplot2::vars(.data$column), scales = "free") +
    ggplot2::scale_x_discrete(labels = function(key) short_label(sub(".*\r", "", key))) +
    ggplot2::scale_fill_manual(NULL, values = c(confidential = "grey72")) +
    ggplot2::scale_colour_manual(NULL, values = c(copies = "grey10")) +
    ggplot2::labs(title = .internal, x = NULL, y = "share of the rows") + gg_look(turned = TRUE)
}

gg_tables <- function(x, most) {
  shown <- utils::head(unique(x$pictures$residuals$table), most)
  if (!length(shown)) nothing_to_draw("tables")
  cells <- x$pictures$residuals[x$pictures$residuals$table %in% shown, ]
  cells$table <- factor(cells$table, shown)
  for (side in c("row", "column")) {
    keys <- paste(cells$table, cells[[side]], sep = "\r")
    cells[[side]] <- factor(keys, if (side == "row") rev(unique(keys)) else unique(keys))
  }
  told <- cells[is.finite(cells$z) & abs(cells$z) >= 2, ]
  most_far <- max(6, abs(cells$z), na.rm = TRUE)
  told$ink <- ifelse(abs(told$z) > most_far / 2, "white", "black")
  bare <- function(key) short_label(sub(".*\r", "", key))
  ggplot2::ggplot(cells, ggplot2::aes(x = .data$column, y = .data$row)) +
    ggplot2::geom_tile(ggplot2::aes(fill = abs(.data$z))) +
    ggplot2::geom_text(ggplot2::aes(label = sprintf("%+.0f", .data$z)), told, colour = told$ink, size = 2.5) +
    ggplot2::facet_wrap(ggplot2::vars(.data$table), scales = "free") +
    ggplot2::scale_x_discrete(labels = bare) + ggplot2::scale_y_discrete(labels = bare) +
    ggplot2::scale_fill_gradient("standard errors", low = "white", high = "grey10", limits = c(0, most_far)) +
    ggplot2::labs(title = .internal, x = NULL, y = NULL) + gg_look(turned = TRUE)
}

gg_regressions <- function(x, most) {
  shown <- utils::head(unique(x$pictures$intervals$model), most)
  if (!length(shown)) nothing_to_draw("regressions")
  rows <- slopes_of(x$pictures$intervals[x$pictures$intervals$model %in% shown, ])
  rows$model <- factor(rows$model, shown)
  rows$term <- factor(rows$term, rev(unique(rows$term)))
  real <- rows$side == "confidential"
  layer <- function(geom, own, up) geom(data = rows[own, ], position = ggplot2::position_nudge(y = up))
  looks <- ggplot2::aes(x = .data$value, y = .data$term, xmin = .data$low, xmax = .data$high, shape = .data$side,
                        linetype = .data$side, colour = .data$side)
  ggplot2::ggplot(rows, looks) +
    ggplot2::geom_vline(xintercept = 0, colour = "grey70") +
    layer(ggplot2::geom_linerange, real, 0.14) + layer(ggplot2::geom_point, real, 0.14) +
    layer(ggplot2::geom_linerange, !real, -0.14) + layer(ggplot2::geom_point, !real, -0.14) +
    ggplot2::facet_wrap(ggplot2::vars(.data$model), scales = "free") +
    ggplot2::scale_colour_manual(NULL, values = c(confidential = "grey10", pooled = "grey50")) +
    ggplot2::scale_shape_manual(NULL, values = c(confidential = 19, pooled = 15)) +
    ggplot2::scale_linetype_manual(NULL, values = c(confidential = 1, pooled = 2)) +
    ggplot2::labs(title = "INTERNAL: pooled against confidential", x = NULL, y = NULL) + gg_look()
}

gg_propensity <- function(x) {
  scores <- x$pictures$scores
  if (!sum(scores$confidential) > 0) nothing_to_draw("propensity")
  scores$middle <- (scores$low + scores$high) / 2
  width <- scores$high[[1L]] - scores$low[[1L]]
  ggplot2::ggplot(scores, ggplot2::aes(x = .data$middle)) +
    ggplot2::geom_col(ggplot2::aes(y = .data$confidential, fill = "confidential"), width = width) +
    ggplot2::geom_col(ggplot2::aes(y = .data$copies, colour = "copies"), fill = NA, width = width) +
    ggplot2::scale_fill_manual(NULL, values = c(confidential = "grey72")) +
    ggplot2::scale_colour_manual(NULL, values = c(copies = "grey10")) +
    ggplot2::labs(title = .internal, x = "chance to be a row of a copy", y = "share") + gg_look()
}

#' @rdname disclosure_risk
#' @exportS3Method ggplot2::autoplot
autoplot.disclosure_risk <- function(object, kind = c("keys", "trade-off"), ...) {
  check_no_dots("autoplot", ...)
  if (one_of(kind, "kind") == "keys") gg_risk_by_keys(object) else gg_trade_off(object)
}

gg_risk_by_keys <- function(x) {
  worst <- x$tables$worst
  label <- risk_label(worst)
  worst$label <- factor(label, rev(unique(label)))
  ggplot2::ggplot(worst, ggplot2::aes(y = .data$label)) +
    ggplot2::geom_segment(ggplot2::aes(x = .data$baseline, xend = .data$value, yend = .data$label), colour = "grey75",
                          na.rm = TRUE) +
    ggplot2::geom_point(ggplot2::aes(x = .data$baseline, shape = "baseline"), size = 4, na.rm = TRUE) +
    ggplot2::geom_point(ggplot2::aes(x = .data$value, shape = "all copies together"), size = 2, na.rm = TRUE) +
    ggplot2::scale_shape_manual(NULL, values = c(baseline = 124, `all copies together` = 19)) +
    ggplot2::expand_limits(x = 0) +
    ggplot2::labs(title = "INTERNAL: disclosure risk", x = "per cent", y = NULL) + gg_look()
}

gg_trade_off <- function(x) {
  found <- trade_off_frames(x)
  curve <- function(frame, name, what) {
    if (is.null(frame)) return(NULL)
    data.frame(false = frame$false_positives, true = frame[[name]], what = what)
  }
  lines <- rbind(curve(found$bound, "most_true_positives", "no attack lies above (guarantee)"),
                 curve(found$measured, "true_positives", "attack by shadow fits"))
  ggplot2::ggplot(lines, ggplot2::aes(x = .data$false, y = .data$true, linetype = .data$what)) +
    ggplot2::geom_abline(slope = 1, intercept = 0, colour = "grey60", linetype = 3) +
    ggplot2::geom_step(data = lines[lines$what == "attack by shadow fits", ]) +
    ggplot2::geom_line(data = lines[lines$what != "attack by shadow fits", ]) +
    ggplot2::scale_linetype_manual(NULL, values = c(`no attack lies above (guarantee)` = 2, `attack by shadow fits` = 1)) +
    ggplot2::coord_equal(xlim = 0:1, ylim = 0:1) +
    ggplot2::labs(title = found$title, x = "false positives", y = "true positives") + gg_look()
}

gg_look <- function(turned = FALSE) {
  own <- ggplot2::theme(legend.position = "bottom", panel.grid.minor = ggplot2::element_blank())
  if (turned) own <- own + ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 60, hjust = 1, size = 6))
  ggplot2::theme_bw() + own
}
