"""The program for R."""

from __future__ import annotations

import json

from pysynthdp.io.csv.reading_lines import is_flag, r_call
from pysynthdp.io.snippets.example import Task, about, fill, listed

__all__ = ["program"]


def program(task: Task) -> str:
    """Write ``analyse.R``, which needs R alone for CSV and arrow for Parquet."""
    example = task.example
    lines = []
    for coded in example.codes:
        at = f"copy[[{_text(coded.name)}]]"
        seen = f"as.character(as.Date({at}))" if coded.kind == "day" else at
        numbers = coded.kind == "number"
        codes = listed(coded.codes) if numbers else ", ".join(_text(str(code)) for code in coded.codes)
        lines.append(f"  {at}[{seen} %in% c({codes})] <- NA # codes that are not values")
    if example.level is not None:
        flag = is_flag(task.schema[str(example.source)])  # which R writes in capitals
        source, level = _text(example.source), _text(example.level.upper() if flag else example.level)
        lines.append(f"  copy${example.outcome} <- as.numeric(as.character(copy[[{source}]]) == {level})")
    right = " + ".join(_name(name) for name in example.predictors) or "1"
    places = {
        "about": about(task, "# "),
        "needs": " Needs the package arrow." if task.parquet else " Needs R alone.",
        "files": ", ".join(_text(name) for name in task.copies),
        "nests": listed(task.constants["nests"]),
        "model": f"{_name(example.outcome)} ~ {right}",
        "reader": "arrow::read_parquet(file)" if task.parquet else r_call("file", task.schema, dates=False),
        "prepared": "\n".join(lines) or "  # set codes that are not values to NA here, if there are any",
    }
    return fill("analyse.R", task.places | places)


def _text(text: str | None) -> str:
    """Quote a text; R's escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False)


def _name(name: str) -> str:
    """Quote a name."""
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"
