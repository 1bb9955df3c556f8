"""Pooled analyses of synthetic copies."""

from __future__ import annotations

from pysynthdp.analysis.combine import Combined, combine
from pysynthdp.analysis.tags import AnalysableRelease, ReleaseTags

__all__ = ["AnalysableRelease", "Combined", "ReleaseTags", "combine"]
