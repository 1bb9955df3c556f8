"""Cells of list columns: R values <-> arrays, lists and dicts that say exactly what R value they are."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.codec import (
    NA_INTEGER,
    RS4,
    ROpaque,
    RPairs,
    RSymbol,
    RValue,
    RVector,
    character,
    named_list,
)

__all__ = ["cell_from_r", "cell_to_r"]

_DEEP: Final = 50
_INTEGERS: Final = np.iinfo(np.int32)


def cell_from_r(value: RValue, depth: int = 0) -> Any:
    """Give an R value as the Python value that means just it; what has none stays an R value."""
    if not isinstance(value, RVector) or value.s4 or depth > _DEEP:
        return value
    if value.kind == "list":
        return _list_from_r(value, depth)
    if value.attributes or value.kind == "expression":
        return value
    if value.kind in ("logical", "integer") and (value.array == NA_INTEGER).any():
        return value
    return value.array != 0 if value.kind == "logical" else value.array.copy()


def _list_from_r(value: RVector, depth: int) -> Any:
    """Give a list as a list, a list with unlike names as a dict."""
    names = value.names
    has_names_only = tuple(value.attributes) == ("names",) and len(set(names)) == len(value)
    if value.attributes and not (has_names_only and len(value) and all(names)):
        return value
    cells = [cell_from_r(item, depth + 1) for item in value.items]
    return dict(zip(names, cells, strict=True)) if value.attributes else cells


def cell_to_r(cell: Any, name: str, depth: int = 0) -> RValue:
    """Give the R value that a cell of the column ``name`` means."""
    if depth > 2 * _DEEP:
        raise BridgeError(
            f"column {name!r} holds lists that are nested too deeply for R; flatten them", kind="type"
        )
    if isinstance(cell, ROpaque) and not cell.is_single:
        raise BridgeError(
            f"column {name!r} holds an R {cell.what}, which cannot be sent; drop it", kind="type"
        )
    if cell is None or isinstance(cell, RVector | RPairs | RSymbol | RS4 | ROpaque):
        return cell
    if isinstance(cell, np.ndarray):
        return _array_to_r(cell, name)
    if isinstance(cell, dict):
        return named_list({str(key): cell_to_r(item, name, depth + 1) for key, item in cell.items()})
    if isinstance(cell, list | tuple):
        return RVector("list", tuple(cell_to_r(item, name, depth + 1) for item in cell))
    if isinstance(cell, str | bool | int | float | complex | np.generic):
        return _array_to_r(np.array([cell], dtype=object if isinstance(cell, str) else None), name)
    raise BridgeError(
        f"column {name!r} holds {type(cell).__name__} objects, which R has no value for", kind="type"
    )


def _array_to_r(cell: AnyArray, name: str) -> RVector:
    """Give an array as the vector of its kind."""
    kind = cell.dtype.kind
    if cell.ndim != 1 or kind not in "biufcOU":
        raise BridgeError(
            f"column {name!r} holds arrays that R has no vector for; use flat ones", kind="type"
        )
    if kind in "OU":
        return character(cell.tolist())
    if kind == "b":
        return RVector("logical", cell.astype(np.int32))
    if cell.dtype == np.uint8:
        return RVector("raw", cell)
    if kind in "iu" and (not cell.size or (cell.min() > _INTEGERS.min and cell.max() <= _INTEGERS.max)):
        return RVector("integer", cell.astype(np.int32))
    if kind == "c":
        return RVector("complex", cell.astype(np.complex128))
    return RVector("double", cell.astype(np.float64))
