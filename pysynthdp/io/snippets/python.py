"""The program for Python."""

from __future__ import annotations

import json

from pysynthdp.io.snippets.example import Task, about, fill

__all__ = ["program"]

_NOTHING = "    # set codes that are not values to missing here, if there are any"


def program(task: Task) -> str:
    """Write ``analyse.py``, which needs pandas, scipy and statsmodels."""
    example = task.example
    lines = []
    for name, codes in example.codes:
        at = f"copy[{json.dumps(name)}]"
        lines.append(f"    {at} = {at}.where(~{at}.isin({list(codes)}))  # codes that are not values")
    if example.level is not None:
        source, level = json.dumps(example.source), json.dumps(example.level)
        lines.append(f'    copy["{example.outcome}"] = (copy[{source}].astype(str) == {level}) * 1.0')
    right = " + ".join(f"Q({json.dumps(name)})" for name in example.predictors) or "1"
    places = {
        "about": about(task, "").replace("\\", "\\\\"),
        "files": json.dumps(list(task.copies)),
        "nests": list(task.constants["nests"]),
        "model": repr(f"Q({json.dumps(example.outcome)}) ~ {right}"),
        "reader": "read_parquet(file)" if task.parquet else "read_csv(file)",
        "prepared": "\n".join(lines) or _NOTHING,
    }
    return fill("analyse.py", task.places | places)
