"""A wide questionnaire with codes and gates: how long, and how much memory, by columns.

    python -m benchmarks.speed.questionnaire            (all sizes, stored; a quarter of an hour)
    python -m benchmarks.speed.questionnaire 842 2000   (one size, printed)

Persons are asked who they are, whether they did something, and if so how: items of two to seven levels,
scales, counts and amounts, each with codes -8 (not asked) and -9 (no answer). A gate opens a block of
follow-up questions, which hold -8 for everybody else. Columns are written as numbers, as such files are. CPU
and memory are of the fit with all defaults, and of one copy; the last column is CPU a column over that of the
narrowest file in the same run, which stays near one where nothing grows with the square of the columns.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import pysynthdp as sdp
from benchmarks.scale.memory import Peak

RESULTS = Path(__file__).parents[1] / "results" / "questionnaire.csv"
CASES = ((105, 2_000), (210, 2_000), (421, 2_000), (842, 2_000), (842, 5_000))
NOT_ASKED, NO_ANSWER = -8, -9
BLOCK = 12  # questions behind a gate


def questionnaire(columns: int, rows: int) -> pd.DataFrame:
    """Make a file of some columns: a dozen facts of the person, then blocks of a gate and what it opens."""
    rng = np.random.default_rng(842)
    latent = rng.standard_normal((rows, 6))
    made: dict[str, np.ndarray] = {
        "region": rng.integers(1, 17, rows),
        "sex": rng.integers(1, 3, rows),
        "age": np.clip(np.rint(48 + 18 * latent[:, 0]), 16, 95),
        "hsize": 1 + rng.poisson(1.4, rows),
        "income": np.round(np.exp(7.5 + 0.5 * latent[:, 1]), -1),
    }
    while len(made) < columns:
        block = len(made) // BLOCK
        gate = np.where(latent @ rng.standard_normal(6) > rng.normal(0, 1.5), 1, 2)
        made[f"b{block}_gate"] = _answered(gate, rng)
        for place in range(min(BLOCK - 1, columns - len(made))):
            own = _item(latent @ rng.standard_normal(6) + rng.standard_normal(rows), place, rng)
            made[f"b{block}_{place}"] = np.where(gate == 1, _answered(own, rng), NOT_ASKED)
    return pd.DataFrame(made).iloc[:, :columns].astype("int64")


def _item(score: np.ndarray, place: int, rng: np.random.Generator) -> np.ndarray:
    """Turn a score into an answer: two to seven levels, a scale of 0 to 10, a count, or an amount."""
    kind = place % 4
    if kind < 2:
        levels = int(rng.integers(2, 8))
        return 1 + np.digitize(score, np.sort(rng.normal(0, 1.5, levels - 1)))
    if kind == 2:
        return np.clip(np.rint(5 + 2 * score), 0, 10)
    return np.where(rng.random(len(score)) < 0.3, 0, np.round(np.exp(5 + 0.6 * score), -1))


def _answered(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Let two in a hundred give no answer."""
    return np.where(rng.random(len(values)) < 0.02, NO_ANSWER, values)


def codes_of(table: pd.DataFrame) -> dict[str, dict[int, str]]:
    """Name the codes of the columns that hold them, as a codebook would."""
    labels = {NOT_ASKED: "not asked", NO_ANSWER: "no answer"}
    found = {
        name: {code: text for code, text in labels.items() if (table[name] == code).any()} for name in table
    }
    return {name: codes for name, codes in found.items() if codes}


def of_case(columns: int, rows: int) -> dict[str, float | int | str]:
    """Fit and draw once."""
    table = questionnaire(columns, rows)
    with Peak() as memory:
        start = time.process_time()
        fitted = sdp.Synthesizer(missing=codes_of(table), workers=1, progress=False).fit(table)
        fit = time.process_time() - start
        copy = fitted.draw(m=1, rng=1)[0]
        draw = time.process_time() - start - fit
    asked = [name for name in table if name.endswith("_0") and (table[name] == NOT_ASKED).any()]
    broken = max(((copy[name] == NOT_ASKED) != (copy[f"{name[:-2]}_gate"] == 2)).mean() for name in asked)
    return {
        "date": time.strftime("%Y-%m-%d"),
        "columns": columns,
        "rows": rows,
        "fit_cpu_s": round(fit, 1),
        "draw_cpu_s": round(draw, 1),
        "fit_cpu_s_a_column": round(fit / columns, 3),
        "peak_mb_more": round(memory.grown),
        "worst_gate_broken": round(float(broken), 4),
    }


def main() -> None:
    """Run all cases and store them, or one and print it."""
    warnings.simplefilter("ignore", sdp.PysynthdpWarning)
    if len(sys.argv) == 3:
        print(pd.Series(of_case(int(sys.argv[1]), int(sys.argv[2]))).to_string())
        return
    found = pd.DataFrame([of_case(*case) for case in CASES])
    first = found["fit_cpu_s_a_column"].iloc[0]
    found["a_column_over_narrowest"] = (found["fit_cpu_s_a_column"] / first).round(2)
    print(found.to_string(index=False))
    found.to_csv(RESULTS, index=False)


if __name__ == "__main__":
    main()
