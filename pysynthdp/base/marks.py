"""What stands where a method would, in plans, tags and statements, of a column that no model draws."""

from __future__ import annotations

from typing import Final

__all__ = ["DERIVED", "KEPT_REAL", "SERIAL"]

DERIVED: Final = "derived"  # computed from other columns by an expression
KEPT_REAL: Final = "kept real"  # its values are released as they are
SERIAL: Final = "serial"  # fresh running numbers in place of an identifier, so its levels are withheld
