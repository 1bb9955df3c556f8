"""How many of the regressions that copies get wrong a fit announced, and how often it warns where none is.

``python -m benchmarks.defaults.announced FOLDER [SEEDS [NULLS]]`` takes a folder with tables (CSV) and their
``score.py``, whose rule chooses regressions that the fit does not know. Each table (half of one with 600 rows
or more) is fitted by default and five copies are drawn, for each seed; a term is off where their mean is more
than three confidential standard errors from the table's. It was announced where a column of its regression is
in ``fitted.check()`` (``drift``), or where the regression does not exist in the copies, since a level of few
records that it has a dummy for is in none, and the fit says of that column that values of few records are
left out (``kind`` in ``BY_FEW``); elsewhere such a remark counts for nothing. ``own`` counts terms of which
target or the term's own predictor is in the check. For the other error, NULLS copies of each fit are fitted
by default in turn: tables that were drawn from a fitted model. Faults that a refit makes anew count there
against us.

Rule: at least nine tenths of the terms announced, at most one table in twenty of those drawn warned of.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp import FittedSynthesizer, Synthesizer

FAR = 3.0
BY_FEW = ("few records", "rare levels", "terms left out")


def scoring(folder: Path) -> ModuleType:
    """Load the folder's own rule of what to regress on what."""
    spec = importlib.util.spec_from_file_location("score", folder / "score.py")
    if spec is None or spec.loader is None:
        raise SystemExit(f"{folder} has no score.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def predictors_of(score: Any, table: pd.DataFrame, kinds: dict[str, str], names: list[str]) -> list[str]:
    """Name each term's own predictor; of the intercept none."""
    own = [""]
    for name in names:
        levels = [level for level in score.norm(table[name]).value_counts().index if level != "NA"]
        own += [name] * (1 if kinds[name] == "num" else max(len(levels[:5]) - 1, 0))
    return own


def far_terms(
    score: Any, name: str, table: pd.DataFrame, copies: list[pd.DataFrame]
) -> Iterator[tuple[str, str, list[str], bool]]:
    """Give target, own predictor, all predictors of each term that is off, and if the regression is lost."""
    kinds = score.kinds(table)
    for target, names, kind in score.regs(table, kinds, name):
        try:
            real, error = score.fit(table, table, kinds, target, names, kind)
        except Exception:  # noqa: BLE001 -- a regression that does not exist is none
            error = np.full(1, np.inf)
        if not np.isfinite(error).all() or error.max() > 20:
            continue
        try:
            drawn = [score.fit(copy, table, kinds, target, names, kind)[0] for copy in copies]
            z, lost = np.abs(np.mean(drawn, axis=0) - real) / error, False
        except Exception:  # noqa: BLE001 -- one that copies have not is off
            z, lost = np.full(len(real), 20.0), True
        own = predictors_of(score, table, kinds, names)
        yield from ((target, own[at], names, lost) for at in np.flatnonzero(z > FAR))


def null(fitted: FittedSynthesizer, copies: int) -> int:
    """Count the copies of a fit that are warned of when they are fitted in turn."""
    warned = 0
    for copy in fitted.draw(m=copies, rng=505) if copies else ():
        again = Synthesizer(progress=False, workers=1).fit(copy)
        warned += bool(again.check().findings)
    return warned


def study(score: Any, seeds: list[int], copies: int) -> pd.DataFrame:
    """Measure every table."""
    rows = []
    for name, table, _ in score.tables():
        fitted = Synthesizer(progress=False, workers=1).fit(table)
        told = {finding.column for finding in fitted.check().findings}
        far = [
            term for seed in seeds for term in far_terms(score, name, table, list(fitted.draw(m=5, rng=seed)))
        ]
        few = {remark.column for remark in fitted.remarks if remark.kind in BY_FEW}
        own = sum(bool(told & {target, mine}) for target, mine, *_ in far)
        drift = sum(bool(told & {target, *names}) for target, _, names, _ in far)
        left_out = sum(
            lost and not told & {target, *names} and bool(few & {target, *names})
            for target, _, names, lost in far
        )
        announced = drift + left_out
        counts = (len(far), announced, drift, own, len(told), table.shape[1], null(fitted, copies))
        rows.append((name, len(table), *counts))
        print(*rows[-1], flush=True)
    heads = ["table", "rows", "far", "announced", "drift", "own", "columns_told", "columns", "drawn_told"]
    return pd.DataFrame(rows, columns=heads)


def main() -> None:
    """Print the measurements and their sums."""
    warnings.simplefilter("ignore")
    score = scoring(Path(sys.argv[1]))
    seeds = [int(seed) for seed in (sys.argv[2] if len(sys.argv) > 2 else "1").split(",")]
    copies = int(sys.argv[3]) if len(sys.argv) > 3 else 4
    found = study(score, seeds, copies)
    far, tables = int(found["far"].sum()), copies * len(found)
    print(f"terms off {far}:", found[["announced", "drift", "own"]].sum().to_dict())
    print(f"tables drawn from a fit {tables}, warned of {found['drawn_told'].sum()}")


if __name__ == "__main__":
    main()
