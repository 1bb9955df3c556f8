"""Wide tables: what choosing predictors saves, and what it costs in correlations.

    python -m benchmarks.speed.wide

A questionnaire of items of five levels that hang on three latent numbers, 2,000 rows. CPU of a fit by number
of predictors, over that of one X'X of the encoded table in the same run, and the mean absolute error of all
pairwise correlations of a copy. ``max_predictors`` is 20 by default: the least multiple of five whose error
is below .03 in every copy. The last line keeps all predictors, of fewer columns: 300 would take minutes.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import pysynthdp as sdp

RESULTS = Path(__file__).parents[1] / "results" / "wide.csv"
ROWS, COPIES = 2_000, 3
CASES = ((300, 10), (300, 15), (300, 20), (300, 30), (60, 20), (60, 60))


def items(columns: int) -> pd.DataFrame:
    """Items of five levels."""
    rng = np.random.default_rng(0)
    latent = rng.standard_normal((ROWS, 3)) @ rng.standard_normal((3, columns))
    cut = np.digitize(latent + rng.standard_normal((ROWS, columns)), [-2, -0.7, 0.7, 2])
    return pd.DataFrame(cut).add_prefix("q")


def of_case(columns: int, most: int) -> dict[str, float | int | str]:
    """Fit and draw once."""
    table = items(columns)
    start = time.process_time()
    X = pd.get_dummies(table.astype("category"), dtype=float).to_numpy()
    X.T @ X
    one = time.process_time() - start
    start = time.process_time()
    fitted = sdp.Synthesizer(workers=1, progress=False, max_predictors=most).fit(table)
    took = time.process_time() - start
    real, upper = table.corr().to_numpy(), np.triu_indices(columns, 1)
    errors = [np.abs(copy.corr().to_numpy() - real)[upper].mean() for copy in fitted.draw(m=COPIES, rng=1)]
    return {
        "date": time.strftime("%Y-%m-%d"),
        "columns": columns,
        "max_predictors": most,
        "fit_cpu_s": round(took, 1),
        "fit_over_products": round(took / one),
        "worst_mean_correlation_error": round(float(max(errors)), 4),
    }


def main() -> None:
    """Run all cases and store them."""
    warnings.simplefilter("ignore", sdp.PysynthdpWarning)
    found = pd.DataFrame([of_case(*case) for case in CASES])
    print(found.to_string(index=False))
    found.to_csv(RESULTS, index=False)


if __name__ == "__main__":
    main()
