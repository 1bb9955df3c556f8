"""How often pooled tables of default releases are flagged on real tables, and how far off those are.

``python -m benchmarks.defaults.flags_on_tables`` takes eight tables of statsmodels, at most 3,000 rows and 14
columns of each, synthesises them by default (m = 5) and fits, for each number y in the table's order: y
on up to three earlier columns (``forward``), on up to three later ones (``reverse``), the product of the
last two earlier ones (``product``), the square of the last earlier number (``square``), and log y on the
earlier ones (``log``). ``z`` is |pooled - confidential| of the last term over its confidential standard
error, the median over the analyses; ``far`` is the share above three.

Rule: no ``forward`` is flagged but one whose y was drawn on another scale, or before a predictor; every
``product`` and ``square`` is, but those that screening kept, of which a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf

from pysynthdp import PysynthdpError, Synthesizer, ols

TABLES = ("anes96", "ccard", "fair", "heart", "modechoice", "randhie", "star98", "statecrime")
RESULTS = Path(__file__).parents[1] / "results" / "flags_on_tables.csv"


def analyses(table: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Give kinds and formulas."""
    names = list(table.columns)
    numbers = [name for name in names if table[name].nunique() > 12]
    for y in numbers:
        place = names.index(y)
        early, late = names[max(0, place - 3) : place], names[place + 1 : place + 4]
        curved = [name for name in early if name in numbers]
        if early:
            yield "forward", f"{y} ~ {' + '.join(early)}"
        if late:
            yield "reverse", f"{y} ~ {' + '.join(late)}"
        if len(early) > 1:
            yield "product", f"{y} ~ {early[-1]} * {early[-2]}"
        if curved:
            yield "square", f"{y} ~ {curved[-1]} + I({curved[-1]} ** 2)"
        if early and table[y].min() > 0:
            yield "log", f"np.log({y}) ~ {' + '.join(early)}"


def study(name: str) -> Iterator[dict[str, object]]:
    """Fit all analyses of one table to the copies and to the table."""
    table = getattr(sm.datasets, name).load_pandas().data
    table = table.loc[:, table.std(numeric_only=True).gt(0).reindex(table.columns, fill_value=False)].iloc[
        :, :14
    ]
    table = table.sample(min(len(table), 3_000), random_state=1).reset_index(drop=True)
    table.columns = [f"v{place}" for place in range(table.shape[1])]
    release = Synthesizer(progress=False).fit(table).draw(m=5, rng=1)
    for kind, formula in analyses(table):
        try:
            mine = ols(formula, release)
        except PysynthdpError:  # collinear in a copy
            continue
        theirs = smf.ols(formula, data=table).fit()
        term = theirs.params.index[-1]
        z = abs(mine.params[term] - theirs.params[term]) / theirs.bse[term]
        yield {"table": name, "kind": kind, "flagged": bool(mine.flags), "z": z}


def main() -> None:
    """Write the table of results."""
    found = pd.DataFrame([row for name in TABLES for row in study(name)])
    kinds = found.groupby(["kind", "flagged"])["z"]
    made = kinds.agg(analyses="size", z="median", far=lambda z: float(np.mean(z > 3))).round(2).reset_index()
    made.insert(0, "date", datetime.now(tz=UTC).date().isoformat())
    made.to_csv(RESULTS, index=False)
    print(made.to_string(index=False))


if __name__ == "__main__":
    main()
