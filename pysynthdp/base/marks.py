"""Marks: what stands in place of a method where no model draws a column, and what files say of copies."""

from __future__ import annotations

from typing import Final

__all__ = ["DERIVED", "KEPT_REAL", "SERIAL", "WATERMARK", "WATERMARK_LABEL", "WATERMARK_SPSS"]

DERIVED: Final = "derived"  # computed from other columns by an expression
KEPT_REAL: Final = "kept real"  # its values are released as they are
SERIAL: Final = "serial"  # fresh running numbers in place of an identifier, so its levels are withheld

WATERMARK: Final = "_synthetic"
"""Last column of every file of copies: the number of the copy."""
WATERMARK_SPSS: Final = "synthetic_"  # no name in SPSS begins with an underscore
WATERMARK_LABEL: Final = "Synthetic data: number of the copy"
