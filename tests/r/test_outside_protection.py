"""A protection of another package, asked for from R: planned, fitted, drawn, written and checked."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from outside import installed_toy

CODE = """
schema <- list(sex = categorical_column(c("F", "M"), other = "F", may_be_missing = FALSE),
               area = categorical_column(c("a", "b", "c"), other = "a", may_be_missing = FALSE))
data <- data.frame(sex = rep(c("F", "M", "M"), 100), area = rep(c("a", "b"), 150))
asked <- protection("by_toy", eps = 4)
print(synthesis_plan(data, schema = schema, guarantee = asked))
s <- synthesise(data, m = 2, schema = schema, guarantee = asked, seed = 1)
again <- synthesise(data, m = 2, schema = schema, guarantee = asked, seed = 1)
stopifnot(identical(names(s[[1]]), c("sex", "area")), nrow(s[[2]]) == 300)
folder <- file.path(getwd(), "out")
write_release(s, folder)
cat(verify_release(folder)$exit_code, privacy_statement(s)$guarantee$name, "\\n")
cat(privacy_statement(s)$reason, "\\n")
cat(tryCatch(synthesise(data, schema = schema, guarantee = protection("by_toy", rho = 1)),
             pysynthdp_plan_error = function(e) conditionMessage(e)), "\\n")
"""


def test_r_asks_for_it_by_name(run_r, tmp_path):
    out = run_r(CODE, PYTHONPATH=installed_toy(tmp_path)["PYTHONPATH"])
    assert "Price of the toy: epsilon 4" in out
    assert "0 pure" in out
    assert "protection 'by_toy' of toy_shield: priced by outside code, unaudited" in out
    assert "by_toy has the setting eps and no other" in out
