"""The program for Python."""

from __future__ import annotations

import json

from pysynthdp.io.csv.reading_lines import pandas_call
from pysynthdp.io.snippets.example import Task, about, fill

__all__ = ["program"]

_NOTHING = "    # set codes that are not values to missing here, if there are any"


def program(task: Task) -> str:
    """Write ``analyse.py``, which needs pandas, scipy and statsmodels."""
    example = task.example
    lines = []
    for coded in example.codes:
        at = f"copy[{json.dumps(coded.name)}]"
        seen = f"pd.to_datetime({at}).dt.strftime('%Y-%m-%d')" if coded.kind == "day" else at
        lines.append(f"    {at} = {at}.where(~{seen}.isin({list(coded.codes)}))  # codes that are not values")
    if example.level is not None:
        source, level = json.dumps(example.source), json.dumps(example.level)
        hit = f"(copy[{source}].astype(str) == {level})"
        lines.append(f'    copy["{example.outcome}"] = ({hit} * 1.0).where(copy[{source}].notna())')
    right = " + ".join(f"Q({json.dumps(name)})" for name in example.predictors) or "1"
    places = {
        "about": about(task, "").replace("\\", "\\\\"),
        "files": json.dumps(list(task.copies)),
        "nests": list(task.constants["nests"]),
        "model": repr(f"Q({json.dumps(example.outcome)}) ~ {right}"),
        "reader": "read_parquet(file)" if task.parquet else pandas_call("file", task.schema, dates=False),
        "prepared": "\n".join(lines) or _NOTHING,
    }
    return fill("analyse.py", task.places | places)
