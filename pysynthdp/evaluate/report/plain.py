"""A report as plain values for JSON, for machines that file it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from pysynthdp.base.display import Table
from pysynthdp.evaluate.report.parts import Blank, Block, Grid, Mark, Picture, Section, written

__all__ = ["to_json"]


def to_json(title: str, mark: Mark, lead: Sequence[Block], sections: Sequence[Section]) -> str:
    """Write the report as JSON; what cannot be computed is null."""
    plain = {
        "title": title,
        "classification": mark,
        "lead": [_block(block) for block in lead],
        "sections": [
            {"head": part.head, "blocks": [_block(block) for block in part.blocks]} for part in sections
        ],
    }
    return json.dumps(_plain(plain), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _block(block: Block) -> dict[str, Any]:
    """Give one block."""
    if isinstance(block, Table):
        rows = [list(row) for row in block.rows]
        facts = dict(block.facts)
        table = {"title": block.title, "columns": list(block.columns), "rows": rows}
        return {"table": {**table, "facts": facts, "notes": list(block.notes)}}
    if isinstance(block, Grid):
        frame = written(block.frame)
        records = frame.astype(object).where(frame.notna(), None).to_dict(orient="records")
        return {"frame": {"name": block.name, "title": block.title, "rows": records, "note": block.note}}
    if isinstance(block, Picture):
        return {"picture": block.title}
    if isinstance(block, Blank):
        return {"blank": block.label, "hint": block.hint, "given": block.given}
    return {"text": block}


def _plain(value: Any) -> Any:
    """Take numbers of numpy as plain ones, and numbers that are none as null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str | bool | int) or value is None:
        return value
    own = value.item() if hasattr(value, "item") else value
    if isinstance(own, float):
        return own if math.isfinite(own) else None
    return own if isinstance(own, str | bool | int) else str(own)
