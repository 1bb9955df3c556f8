"""R's package survey analyses copies that keep a design: its numbers are ours, pooled by the same rule."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp

pytestmark = pytest.mark.r_packages("survey", "jsonlite")
RUN = r"""
suppressMessages(library(survey)); data(api, package = "survey")
kept <- apistrat[c("stype", "pw", "fpc", "api00", "ell", "meals")]
s <- synthesise(kept, m = 5, seed = 11, design = list(weight = ~pw, strata = ~stype, fpc = ~fpc))
write_release(s, file.path("FOLDER", "out"), format = "csv")
write.csv(kept, file.path("FOLDER", "real.csv"), row.names = FALSE)
fits <- with(synth_design(s), svyglm(api00 ~ ell + meals))
by_name <- quote(svydesign(~1, strata = ~stype, weights = ~pw, fpc = ~fpc, data = .copy))
own <- eval(bquote(with(s, svyglm(api00 ~ ell + meals, .(by_name)))))
done <- pool(fits)
means <- pool(with(synth_design(s), svymean(~api00)))
q <- sapply(as.list(fits), coef); u <- sapply(as.list(fits), function(fit) diag(vcov(fit)))
by_hand <- sqrt(rowMeans(u) + apply(q, 1, var) / 5)
wrong <- c(
  tryCatch(with(synth_design(s), svymean(~apo00)), error = conditionMessage),
  tryCatch(synth_design(s, weights = ~pww), error = conditionMessage),
  tryCatch(synth_design(synthesise(kept, m = 2, seed = 1)), error = conditionMessage),
  tryCatch(with(synth_design(s), svymean(~api00, design = 3)), error = conditionMessage)
)
cat(jsonlite::toJSON(list(
  estimate = coef(done), error = sqrt(diag(vcov(done))), by_hand = by_hand,
  same = all.equal(coef(done), coef(pool(own))),
  mean = c(coef(means), sqrt(diag(vcov(means)))), rule = c(done$rule, means$rule),
  ends = confint(done), mean_ends = confint(means), wrong = wrong), digits = NA, auto_unbox = TRUE))
"""


def test_survey_says_what_we_say_and_pools_by_the_same_rule(run_r: Callable[..., str], tmp_path):
    out = json.loads(run_r(RUN.replace("FOLDER", str(tmp_path))).strip().splitlines()[-1])
    release = sdp.SyntheticRelease.load(tmp_path / "out")
    ours = sdp.svyglm("api00 ~ ell + meals", release)
    np.testing.assert_allclose(ours.params, out["estimate"], rtol=1e-8)
    np.testing.assert_allclose(ours.bse, out["error"], rtol=1e-8)
    np.testing.assert_allclose(out["error"], out["by_hand"], rtol=1e-10)
    assert out["same"] is True
    mean = sdp.svymean("api00", release)
    np.testing.assert_allclose([*mean.params, *mean.bse], out["mean"], rtol=1e-8)
    assert out["rule"] == [ours.rule, mean.rule] == ["partial_design"] * 2
    np.testing.assert_allclose(out["ends"], ours.conf_int(), rtol=1e-8)  # by the design's degrees of freedom
    np.testing.assert_allclose(out["mean_ends"], mean.conf_int(), rtol=1e-8)
    real = pd.read_csv(tmp_path / "real.csv")
    for copy in release:  # the design is the table's, row by row
        assert np.allclose(copy["pw"], real["pw"])
        assert np.array_equal(copy["fpc"], real["fpc"])
        assert len(pd.DataFrame({"old": real["stype"], "new": copy["stype"]}).drop_duplicates()) == 3
    slip, column, none, twice = out["wrong"]
    assert "did you mean api00" in slip
    assert "did you mean pw" in column
    assert "the release has no design" in none
    assert "leave design out" in twice


POPULATION = r"""
data(api, package = "survey")
kept <- apistrat[c("stype", "pw", "fpc", "api00", "meals")]
drawn_by <- list(weight = ~pw, strata = ~stype, fpc = ~fpc, how = "population")
s <- synthesise(kept, m = 4, seed = 11, design = drawn_by)
write_release(s, file.path("FOLDER", "out"))
b <- read_release(file.path("FOLDER", "out"))
refused <- function(call) tryCatch(call, pysynthdp_fit_error = function(e) e[c("message", "remedy", "kind")])
refused <- list(refused(synth_design(s)), refused(synth_design(b, weights = ~pw)),
  refused(synth_design(s, strata = ~stype)))
p <- pool(with(b, lm(api00 ~ meals)))
said <- list(refused = refused, rule = p$rule, names = names(b[[1]]), print = capture.output(print(s)))
cat("\n", jsonlite::toJSON(said, auto_unbox = TRUE), sep = "")
"""


def test_copies_of_a_population_have_no_design(run_r: Callable[..., str], tmp_path):
    out = json.loads(run_r(POPULATION.replace("FOLDER", str(tmp_path))).strip().splitlines()[-1])
    for one in out["refused"]:
        assert one["message"] == (
            "each copy is a simple random sample of a synthetic population: it needs no design and no "
            "weights; write pool(with(s, lm(y ~ x)))"
        )
        assert one["kind"] == "design"
    assert out["names"] == ["stype", "api00", "meals"]
    assert out["rule"] == "pseudo_population_single"
    assert "parameters: fitted to a sample of a population for each copy" in map(str.strip, out["print"])
