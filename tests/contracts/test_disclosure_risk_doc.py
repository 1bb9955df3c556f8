"""``docs/disclosure-risk.md`` runs, and names the tables that there are."""

from __future__ import annotations

import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "docs" / "disclosure-risk.md").read_text("utf-8")


def test_its_code_runs_and_its_tables_are_there():
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    held = {}
    exec(compile(code, "docs/disclosure-risk.md", "exec"), held)  # noqa: S102 -- our own page
    risk = held["risk"]
    told = set(re.findall(r"^- `(\w+)`", TEXT, re.MULTILINE)) | {"growth", "bound", "trade_off"}
    known = {*risk.tables(), *dict(risk.not_computed), "trade_off"}
    assert told <= known, told - known
    assert {"identity", "attribute", "worst"} <= known
