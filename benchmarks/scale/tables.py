"""Made tables of any length, written piece by piece: pieces depend on their number alone.

Run: python -m benchmarks.scale.tables FILE ROWS [COLUMNS]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

PIECE = 2**18
MOST = 20
REGIONS = [f"region {number:02}" for number in range(1, 17)]


def piece(number: int, rows: int, columns: int = 15) -> pd.DataFrame:
    """Make one piece: texts, few-valued integers, counts, days, skewed amounts, gaps and a spike at zero."""
    rng = np.random.default_rng([15, number])
    trait = rng.standard_normal((rows, 2))

    def level(levels: int, slope: float) -> np.ndarray:
        score = trait[:, :1] * np.linspace(-slope, slope, levels) + rng.gumbel(size=(rows, levels))
        return score.argmax(axis=1)

    def amount(slope: float, spread: float) -> np.ndarray:
        return np.exp(7 + slope * trait[:, 0] + spread * rng.standard_normal(rows)).round(2)

    sex, region, edu = level(2, 0.5), level(16, 1.0), level(5, 1.5)
    age = np.clip(45 + 15 * trait[:, 1] + 5 * rng.standard_normal(rows), 0, 99).astype(np.int64)
    income = np.where(rng.random(rows) < 0.15, 0.0, amount(0.5, 0.4))
    made = {
        "sex": np.array(["female", "male"], dtype=object)[sex],
        "region": np.array(REGIONS, dtype=object)[region],
        "edu": np.array(["none", "school", "trade", "college", "university"], dtype=object)[edu],
        "age": age,
        "children": np.minimum(rng.poisson(0.4 + age / 60), 8),
        "income": np.where(rng.random(rows) < 0.08, np.nan, income),
        "rent": amount(0.3, 0.3),
        "born": np.datetime64("2000-01-01") - (365.25 * age + rng.integers(0, 365, rows)).astype("m8[D]"),
        "score": rng.integers(0, 4, rows),
        "smoke": np.array(["no", "yes"], dtype=object)[level(2, 1.0)],
        "visits": rng.poisson(np.exp(0.5 + 0.3 * trait[:, 1])),
        "weight": (70 + 10 * (sex == 1) + 12 * rng.standard_normal(rows)).round(1),
        "height": (165 + 12 * (sex == 1) + 7 * rng.standard_normal(rows)).round(0),
        "health": np.array(["bad", "fair", "good", "very good"], dtype=object)[level(4, 1.2)],
        "hours": np.where(rng.random(rows) < 0.3, np.nan, 38 + 6 * rng.standard_normal(rows)).round(1),
        "wealth": amount(0.9, 1.0),
        "trust": rng.integers(0, 11, rows),
        "tenure": np.array(["other", "rent", "own"], dtype=object)[level(3, 1.0)],
        "pulse": (70 - 3 * trait[:, 1] + 8 * rng.standard_normal(rows)).round(0),
        "urban": level(2, 0.8).astype(bool),
    }
    frame = pd.DataFrame(dict(list(made.items())[:columns]))
    frame["born"] = frame["born"].astype("datetime64[ms]")
    for name in {"edu"} & {*frame}:
        frame.loc[rng.random(rows) < 0.03, name] = None
    return frame


def pieces(rows: int, columns: int = 15) -> Iterator[pd.DataFrame]:
    """Make a table piece by piece."""
    for number, start in enumerate(range(0, rows, PIECE)):
        yield piece(number, min(PIECE, rows - start), columns)


def table(rows: int, columns: int = 15) -> pd.DataFrame:
    """Make a table in memory."""
    return pd.concat(pieces(rows, columns), ignore_index=True)


def write(path: Path, rows: int, columns: int = 15) -> Path:
    """Write a table as one Parquet file, a row group a piece; memory holds one."""
    schema = pa.Schema.from_pandas(piece(0, 1000, columns), preserve_index=False)
    with pq.ParquetWriter(path, schema) as writer:
        for frame in pieces(rows, columns):
            writer.write_table(pa.Table.from_pandas(frame, schema=schema, preserve_index=False))
    return path


def write_parts(folder: Path, rows: int, columns: int = 15) -> Path:
    """Write a table as a folder of Parquet files, one a piece, in order of their names."""
    folder.mkdir(parents=True)
    for number, frame in enumerate(pieces(rows, columns)):
        frame.to_parquet(folder / f"part-{number:05}.parquet", index=False)
    return folder


if __name__ == "__main__":
    print(write(Path(sys.argv[1]), int(float(sys.argv[2])), int((*sys.argv, 15)[3])))
