"""Names, types, labels, levels and missing kinds of tables, and where two differ in them."""

from __future__ import annotations

from pysynthdp.io.structure.diff import StructureDiff, structure_diff

__all__ = ["StructureDiff", "structure_diff"]
