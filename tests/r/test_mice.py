"""mice's ``pool.syn`` in R beside our rule for synthetic copies; CI fails where R or mice is missing.

mice has T_p for copies of the confidential size, so n_syn = n_org here.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from pysynthdp.analysis import ReleaseTags, combine, fit_copies, logit, ols, pool

pytestmark = pytest.mark.r_packages("mice")
N, M = 120, 5
POOL = """
suppressMessages(library(mice))
f <- commandArgs(TRUE)
read <- function(i) read.csv(file.path(f[1], paste0(i, ".csv")), stringsAsFactors = TRUE)
d <- lapply(seq_len(as.integer(f[2])), read)
# glm's covariance is that of the last but one step, so a second fit starts from the first
fits <- lapply(d, function(one) {
  first <- eval(parse(text = f[3]))
  if (inherits(first, "glm")) eval(update(first, start = coef(first), evaluate = FALSE)) else first
})
p <- pool.syn(as.mira(fits), rule = "reiter2003")$pooled
options(digits = 17)
s <- summary(pool.syn(as.mira(fits), rule = "reiter2003"), conf.int = TRUE)
write.csv(data.frame(term = p$term, b = p$b, ubar = p$ubar, T = p$t, s[, -1]), stdout(), row.names = FALSE)
"""


@dataclass(frozen=True)
class Copies:
    copies: tuple[pd.DataFrame, ...]
    tags: ReleaseTags


def _r(code: str, *arguments: str) -> str:
    done = subprocess.run(
        ["Rscript", "--vanilla", "-e", code, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def release():
    frames = []
    for seed in range(M):
        rng = np.random.default_rng(seed)
        x, g = rng.normal(size=N), rng.choice(["a", "b", "c"], N)
        y = 1 + x + (g == "b") + rng.normal(size=N)
        frames.append(pd.DataFrame({"x": x, "g": g, "y": y, "yes": (y > 1) * 1.0, "n": rng.poisson(2, N)}))
    tags = ReleaseTags(kind="complete", m=M, n_syn=N, n_org=N, synthesised=frozenset(frames[0].columns))
    return Copies(tuple(frames), tags)


CASES = {
    "linear": ("lm(y ~ x + g, data = one)", lambda r: ols("y ~ x + g", r)),
    "logistic": (
        "glm(yes ~ x, family = binomial, data = one, epsilon = 1e-14)",
        lambda r: logit("yes ~ x", r, method="newton", fit_options={"tol": 1e-14}),
    ),
    "poisson": (
        "glm(n ~ x, family = poisson, data = one, epsilon = 1e-14)",
        lambda r: fit_copies("n ~ x", r, smf.poisson, method="newton", fit_options={"tol": 1e-14}),
    ),
}


@pytest.mark.parametrize("rule", ["partial_reiter2003", "partial_size_adjusted"])
@pytest.mark.parametrize("name", list(CASES))
def test_fits_pool_as_in_mice(name, rule, release, tmp_path):
    for number, frame in enumerate(release.copies, start=1):
        frame.to_csv(tmp_path / f"{number}.csv", index=False, float_format="%.17g")
    model, ours = CASES[name]
    (tmp_path / "out.csv").write_text(_r(POOL, str(tmp_path), str(M), model))
    theirs = pd.read_csv(tmp_path / "out.csv")
    theirs["term"] = theirs["term"].replace({"(Intercept)": "Intercept", "gb": "g[T.b]", "gc": "g[T.c]"})
    theirs, got = theirs.set_index("term"), pool(ours(release).fits, release=release, rule=rule)
    assert set(theirs.index) == set(got.terms)
    theirs = theirs.loc[list(got.terms)]
    for column, mine in {
        "estimate": got.params,
        "b": got.b,
        "ubar": got.ubar,
        "T": got.T,
        "std.error": got.bse,
        "statistic": got.tvalues,
        "df": got.df,
        "X2.5..": got.conf_int()[0],
        "X97.5..": got.conf_int()[1],
    }.items():
        np.testing.assert_allclose(theirs[column], mine, rtol=1e-10, err_msg=column)
    np.testing.assert_allclose(theirs["p.value"], got.pvalues, rtol=1e-8)


def test_numbers_pool_as_in_mice():
    q, u = np.array([0.41, 0.55, 0.40, 0.47]), np.array([0.0018, 0.0017, 0.0019, 0.002])
    listed = [f"c({','.join(map(repr, values.tolist()))})" for values in (q, u)]
    code = (
        f"p <- mice::pool.scalar.syn({listed[0]}, {listed[1]}); cat(sprintf('%.17g', c(p$qbar, p$t, p$df)))"
    )
    qbar, T, df = map(float, _r(code).split())
    for rule in ("partial_reiter2003", "partial_size_adjusted"):
        got = combine(q, u, n_syn=N, n_org=N, rule=rule)
        assert (float(got.qbar), float(got.T), float(got.df)) == pytest.approx((qbar, T, df), rel=1e-12)
