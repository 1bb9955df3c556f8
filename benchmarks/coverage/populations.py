"""Default methods on large real tables: the table is the population, a run draws n rows with replacement.

Run: python -m benchmarks.coverage.populations FOLDER [runs] [result.csv] [table ...]

The folder holds the tables as R writes them with ``write.csv(x, row.names = FALSE, na = "")``: ``gss.csv``
(``forcats::gss_cat``), ``flchain.csv`` (``survival``), ``diamonds.csv`` (``ggplot2``), ``slid.csv``
(``carData::SLID``). They are not ours to give away.

Written down before the first run with a new default:

- A sample of 1,000 rows (SLID: 800), five copies as long, every setting at its default but for the columns
  that are taken; the order is the file's.
- Estimands: shares of age bands and other domains, means, least squares and logits with curves, products and
  logarithms: those of a report that found the defaults of version 0.1 wrong, and the means of all numbers.
- Beside each stands the coverage of the confidential sample's own interval. An estimand is inside its bar if
  its coverage is above the sample's, or 0.95 if that is less, minus 0.02 and three Monte-Carlo errors, or if
  its pooled table carries a flag in at least half of the runs.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpWarning

HEAD = ("date", "runs", "table", "estimand", "sample", "covered", "flagged", "bias", "ratio", "bar", "inside")


@dataclass(frozen=True)
class Estimand:
    """One analysis of one table, by a formula of its columns."""

    formula: str
    family: str = "ols"
    where: str = ""

    @property
    def name(self) -> str:
        """As it stands in the result."""
        family = "" if self.family == "ols" else f"{self.family}: "
        return f"{family}{self.formula}{' where ' if self.where else ''}{self.where}"


def _gss(table: pd.DataFrame) -> pd.DataFrame:
    """Seven columns, without the levels that say nothing."""
    said_nothing = table.marital.eq("No answer") | table.partyid.isin(
        ["Don't know", "No answer", "Other party"]
    )
    columns = ["year", "marital", "age", "race", "rincome", "partyid", "tvhours"]
    return table.loc[~said_nothing, columns]


def _diamonds(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers and clarity, price last."""
    return table[["cut", "clarity", "carat", "depth", "table", "price"]]


def _flchain(table: pd.DataFrame) -> pd.DataFrame:
    """Without the chapter, which most have not, and the group, which is a function of the sum of two."""
    return table.drop(columns=["chapter", "flc.grp"])


BANDS = ((17, 29), (29, 44), (44, 59), (59, 69), (69, 99))


def _shares(level: str, column: str) -> tuple[Estimand, ...]:
    """Shares of a level in bands of age."""
    return tuple(
        Estimand(f"I(({column} == '{level}') * 1.0) ~ 1", where=f"{a} < age <= {b}") for a, b in BANDS
    )


TABLES: dict[str, tuple[int, Callable[[pd.DataFrame], pd.DataFrame], tuple[Estimand, ...]]] = {
    "gss": (
        1000,
        _gss,
        (
            *_shares("Not applicable", "rincome"),
            *_shares("$25000 or more", "rincome"),
            *_shares("Never married", "marital"),
            Estimand("age ~ 1"),
            Estimand("tvhours ~ 1"),
            Estimand("I((tvhours >= 6) * 1.0) ~ 1"),
            Estimand("tvhours ~ age + I(age ** 2) + C(race)"),
            Estimand("np.log1p(tvhours) ~ age + C(race)"),
            Estimand("age ~ tvhours + C(race)"),
            Estimand("I((marital == 'Married') * 1.0) ~ age + C(race)", "logit"),
            Estimand("I((rincome == 'Not applicable') * 1.0) ~ age * C(race)", "logit"),
        ),
    ),
    "flchain": (
        1000,
        _flchain,
        (
            *(Estimand(f"{name} ~ 1") for name in ("age", "kappa", "Q('lambda')", "creatinine", "futime")),
            Estimand("futime ~ age * death"),
            Estimand("np.log(Q('lambda')) ~ np.log(kappa) + age"),
            Estimand("np.log(creatinine) ~ age + C(sex) + np.log(kappa)"),
            Estimand("death ~ age + C(sex) + kappa", "logit"),
            Estimand("death ~ 1", where="age > 80"),
        ),
    ),
    "diamonds": (
        1000,
        _diamonds,
        (
            *(Estimand(f"{name} ~ 1") for name in ("carat", "depth", "table", "price")),
            Estimand("price ~ 1", where="carat < 0.5"),
            Estimand("I((price > 10000) * 1.0) ~ 1"),
            Estimand("np.log(price) ~ np.log(carat) + C(clarity)"),
            Estimand("price ~ carat + C(clarity)"),
            Estimand("I((price > 5000) * 1.0) ~ C(clarity)", "logit"),
            Estimand("table ~ depth"),
        ),
    ),
    "slid": (
        800,
        lambda table: table,
        (
            *(Estimand(f"{name} ~ 1") for name in ("wages", "education", "age")),
            Estimand("wages ~ education + age + C(sex)"),
            Estimand("np.log(wages) ~ education + age + I(age ** 2) + C(sex)"),
            Estimand("I((wages > 18) * 1.0) ~ education + C(sex)", "logit"),
            Estimand("I((wages.notna()) * 1.0) ~ 1", where="age >= 66"),
            Estimand("I((wages.notna()) * 1.0) ~ 1", where="age <= 25"),
        ),
    ),
}


@cache
def population(folder: Path, table: str) -> pd.DataFrame:
    """Read a table; texts of R's factors stay texts."""
    whole = pd.read_csv(folder / f"{table}.csv", keep_default_na=False, na_values=["", "NA"])
    return TABLES[table][1](whole).reset_index(drop=True)


def _model(estimand: Estimand, table: pd.DataFrame):
    """Fit by statsmodels alone, without the rows in which something is missing."""
    some = table.query(estimand.where) if estimand.where else table
    names = [name for name in table.columns if name in estimand.formula and "notna" not in estimand.formula]
    made = getattr(smf, estimand.family)(estimand.formula, some.dropna(subset=names))
    return made.fit() if estimand.family == "ols" else made.fit(disp=0)


def _params(fit) -> pd.Series:
    """Coefficients; the intercept only where there is nothing else."""
    found = fit.params
    return found if len(found) == 1 else found.drop("Intercept")


@cache
def truth(folder: Path, table: str, estimand: Estimand) -> pd.Series:
    """Coefficients in the population."""
    return _params(_model(estimand, population(folder, table)))


def _pooled(estimand: Estimand, release: sdp.SyntheticRelease, n: int, true: pd.Series):
    """Estimates, and intervals by the rule that `pool` takes."""
    fits = [_model(estimand, copy) for copy in release]
    q = np.array([fit.params.reindex(true.index) for fit in fits])
    u = np.array([np.square(fit.bse.reindex(true.index)) for fit in fits])
    done = sdp.combine(q, u, n_syn=n, n_org=n)
    low, high = np.asarray(done.conf_int()).T
    return done.qbar, low, high, np.asarray(done.se)


def _flagged(estimand: Estimand, release: sdp.SyntheticRelease) -> bool:
    """Whether the pooled table of the same analysis carries a flag."""
    if estimand.where:
        return False  # a domain's mean has no table of its own
    try:
        return bool(getattr(sdp, estimand.family)(estimand.formula, release).flags)
    except (sdp.PysynthdpError, np.linalg.LinAlgError, ValueError):
        return True  # said by name is not silent


def one_run(folder: Path, table: str, seed: int, *, flags: bool = False) -> dict[str, tuple[float, ...]]:
    """For each term: did the sample's interval cover, did the pooled one; estimates, variances, flagged.

    The last is NaN where nobody looked.
    """
    n, _, estimands = TABLES[table]
    whole, rng = population(folder, table), np.random.default_rng([20261129, seed])
    sample = whole.iloc[rng.integers(0, len(whole), n)].reset_index(drop=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = sdp.Synthesizer(workers=1, progress=False).fit(sample).draw(m=5, rng=seed)
        found = {}
        for estimand in estimands:
            true = truth(folder, table, estimand)
            flagged = float(_flagged(estimand, release)) if flags else np.nan
            found.update(_of(estimand, sample, release, n=n, true=true, flagged=flagged))
    return found


def _of(estimand, sample, release, *, n: int, true: pd.Series, flagged: float) -> dict:
    """Analyse the sample and the copies; what fails is a miss."""
    names = [f"{estimand.name} [{term}]" for term in true.index]
    try:
        fit = _model(estimand, sample)
        own = fit.conf_int().reindex(true.index).to_numpy()
        real = fit.params.reindex(true.index).to_numpy()
        covered = (own[:, 0] <= true) & (true <= own[:, 1])
    except Exception:  # noqa: BLE001 -- a sample may lack a level
        return {}
    try:
        q, low, high, se = _pooled(estimand, release, n, true)
        hit = (low <= true) & (true <= high)
    except Exception:  # noqa: BLE001
        q, se, hit = np.full(len(true), np.nan), np.full(len(true), np.nan), np.zeros(len(true), dtype=bool)
    values = zip(covered, hit, q - true, real - true, se, strict=True)
    return {name: (*map(float, each), flagged) for name, each in zip(names, values, strict=True)}


def rows_of(table: str, runs: list[dict[str, tuple[float, ...]]]) -> list[dict[str, object]]:
    """Make a row a term: bias in the sample's standard deviations, mean T over the pooled variance."""
    names = list(dict.fromkeys(name for run in runs for name in run))
    made = []
    for name in names:
        own, hit, gap, real, se, flags = np.array([run[name] for run in runs if name in run]).T
        flagged = flags[~np.isnan(flags)]  # looked at in the first runs only
        bar = min(own.mean(), 0.95) - 0.02 - 3 * np.sqrt(0.95 * 0.05 / len(hit))
        inside = bool(hit.mean() >= bar or flagged.mean() >= 0.5)
        spread = np.nanstd(real)
        numbers = (own.mean(), hit.mean(), flagged.mean(), np.nanmean(gap) / spread)
        ratio = np.nanmean(se**2) / max(float(np.nanvar(gap)), 1e-300)
        today = datetime.now(UTC).date().isoformat()
        values = (today, len(hit), table, name, *(f"{x:.3f}" for x in (*numbers, ratio, bar)), inside)
        made.append(dict(zip(HEAD, values, strict=True)))
    return made


def main() -> None:
    """Run the tables and print, or store, a row an estimand."""
    folder, runs = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100
    rows = []
    for table in sys.argv[4:] or TABLES:
        found = [one_run(folder, table, seed, flags=seed < 10) for seed in range(runs)]
        own = rows_of(table, found)
        rows += own
        print(pd.DataFrame(own)[list(HEAD[3:])].to_string(index=False), flush=True)
        covered = np.array([[float(row["sample"]), float(row["covered"])] for row in own])
        print(table, "mean coverage: sample, copies", covered.mean(axis=0).round(3), flush=True)
    if len(sys.argv) > 3 and sys.argv[3] != "-":
        with Path(sys.argv[3]).open("w", newline="") as file:
            writer = csv.DictWriter(file, HEAD)
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    warnings.simplefilter("ignore", PysynthdpWarning)
    main()
