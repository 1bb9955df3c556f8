"""Fit one model to every synthetic copy and combine the fits. Needs pandas, scipy and statsmodels.

Run it in this folder: python analyse.py. Change MODEL and fit() to your own analysis; leave the rest.

Rule partial_size_adjusted: T = f ubar + b/m.
f ubar is the sampling variance of the confidential file and b/m what the synthesis adds, which
holds for partial and complete synthesis, fitted and drawn parameters, and any size of copy.
"""

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from scipy import stats

FILES = ["synthetic_1.parquet", "synthetic_2.parquet"]
NEST = [1, 2]  # copies of one nest share what was done first; without nests each is its own
WITHIN, BETWEEN, NESTED, FLOOR = 1.0, 0.5, 0.0, 0.0

MODEL = 'Q("age") ~ 1'


def read(file):
    """Read one copy; levels become plain text, so that formulas see those that occur."""
    copy = pd.read_parquet(file)
    named = copy.select_dtypes("category").columns
    copy = copy.astype(dict.fromkeys(named, object))
    # set codes that are not values to missing here, if there are any
    return copy


def fit(copy):
    """Analyse one copy: estimates and variances, by term."""
    done = smf.ols(MODEL, copy).fit()
    return pd.DataFrame({"q": done.params, "u": done.bse**2})


def combine(fits):
    """Combine: T = max(WITHIN ubar + BETWEEN B + NESTED W, FLOOR ubar), t on matched degrees of freedom."""
    if any(list(one.index) != list(fits[0].index) for one in fits):
        raise SystemExit("the copies differ in their terms: a level is absent in one; merge rare levels")
    every = pd.concat([one.assign(nest=nest) for one, nest in zip(fits, NEST)], keys=range(len(fits)))
    every.index = every.index.droplevel(0).set_names("term")
    nests = every.groupby(["term", "nest"], sort=False).agg(q=("q", "mean"), u=("u", "mean"), w=("q", "var"))
    m, r = len(set(NEST)), len(NEST) // len(set(NEST))
    over = nests.fillna({"w": 0.0}).groupby("term", sort=False).agg(
        q=("q", "mean"), u=("u", "mean"), b=("q", "var"), w=("w", "mean")
    )
    b, w = BETWEEN * over.b.fillna(0.0), NESTED * over.w
    T = np.maximum(WITHIN * over.u + b + w, FLOOR * over.u)
    with np.errstate(divide="ignore"):
        df = T**2 / (b**2 / max(m - 1, 1) + w**2 / max(m * (r - 1), 1))
    se = np.sqrt(T.where(T > 0))  # no interval where T is not positive: more copies are needed
    half = stats.t.ppf(0.975, df) * se
    table = {"estimate": over.q, "std.error": se, "df": df, "p.value": 2 * stats.t.sf(abs(over.q) / se, df)}
    return pd.DataFrame({**table, "conf.low": over.q - half, "conf.high": over.q + half})


if __name__ == "__main__":
    print(combine([fit(read(file)) for file in FILES]).to_string())
