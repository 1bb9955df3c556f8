"""The program for R."""

from __future__ import annotations

import json

from pysynthdp.io.snippets.example import Task, about, fill, listed, texts_of

__all__ = ["program"]

_CSV = 'read.csv(file, check.names = FALSE, na.strings = "", encoding = "UTF-8"'


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
        source, level = _text(example.source), _text(example.level)
        lines.append(f"  copy${example.outcome} <- as.numeric(as.character(copy[[{source}]]) == {level})")
    right = " + ".join(_name(name) for name in example.predictors) or "1"
    places = {
        "about": about(task, "# "),
        "needs": " Needs the package arrow." if task.parquet else " Needs R alone.",
        "files": ", ".join(_text(name) for name in task.copies),
        "nests": listed(task.constants["nests"]),
        "model": f"{_name(example.outcome)} ~ {right}",
        "reader": "arrow::read_parquet(file)" if task.parquet else _csv(task),
        "prepared": "\n".join(lines) or "  # set codes that are not values to NA here, if there are any",
    }
    return fill("analyse.R", task.places | places)


def _csv(task: Task) -> str:
    """Read a CSV as it was written: only an empty field is missing, and text stays text."""
    texts = ", ".join(f'{_name(name)} = "character"' for name in texts_of(task.schema))
    return f"{_CSV}, colClasses = c({texts}))" if texts else f"{_CSV})"


def _text(text: str | None) -> str:
    """Quote a text; R's escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False)


def _name(name: str) -> str:
    """Quote a name."""
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"
