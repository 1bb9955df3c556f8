"""Plain values <-> R values: what requests and replies are made of, beside data frames.

========================  =======================================  =========================
R value                   Python value                             back in R
========================  =======================================  =========================
NULL                      None                                     NULL
data frame                :class:`~pysynthdp.bridge.facts.RFrame`  data frame
list with names           dict                                     list with names
list                      list                                     list
vector of length one      bool, int, float, complex, str or None   the same
vector with names         dict                                     list with names
other vector              list of such values                      list; an array: a vector
factor                    its levels as texts                      character
matrix with dimnames      DataFrame                                data frame
matrix                    array of two dimensions                  matrix
========================  =======================================  =========================
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.codec import NA_INTEGER, RValue, RVector, character, is_na_real, named_list
from pysynthdp.bridge.facts import RFrame
from pysynthdp.bridge.frames import frame_from_r, frame_to_r

__all__ = ["plain_from_r", "plain_to_r", "vector"]

_DEEP: Final = 100
_LARGEST: Final = 2**31 - 1


def plain_from_r(value: RValue, at: str = "the request") -> Any:
    """Give what an R value means in Python.

    Parameters
    ----------
    value : RValue
        From :func:`~pysynthdp.bridge.codec.loads`.
    at : str
        Where it stands, for messages.

    Returns
    -------
    object
        As the table above says.

    Raises
    ------
    BridgeError
        For a function, an environment, a call or another value that means nothing outside R; the message
        says where it stands.

    Notes
    -----
    Privacy: passes on what it is given; nothing is run.

    Examples
    --------
    >>> plain_from_r(named_list({"m": vector([5]), "keep": character(["age", "sex"])}))
    {'m': 5, 'keep': ['age', 'sex']}
    """
    return _from_r(value, at, 0)


def _from_r(value: RValue, at: str, depth: int) -> Any:
    """Give one value; lists go down."""
    if value is None:
        return None
    if not isinstance(value, RVector) or value.kind == "expression" or value.s4 or depth > _DEEP:
        raise BridgeError(
            f"{at} holds a function, an environment, a formula or a call; give plain values", kind="R data"
        )
    if value.kind == "list":
        return frame_from_r(value) if "data.frame" in value.classes else _list_from_r(value, at, depth)
    if "dim" in value.attributes:
        return _matrix(value, at)
    scalars = _scalars(value)
    if value.names:
        return dict(zip(_unlike(value.names, at), scalars, strict=True))
    return scalars[0] if len(scalars) == 1 else scalars


def _list_from_r(value: RVector, at: str, depth: int) -> Any:
    """Give a list, or a dict where the elements have names."""
    if "names" not in value.attributes:
        return [_from_r(item, at, depth + 1) for item in value.items]
    names = _unlike(value.names, at)
    return {name: _from_r(item, name or at, depth + 1) for name, item in zip(names, value.items, strict=True)}


def _unlike(names: tuple[str | None, ...], at: str) -> list[str]:
    """Refuse names that are missing or stand twice: one of the values would be lost."""
    known = [name for name in names if name is not None]
    if len(set(known)) < len(names):
        raise BridgeError(
            f"{at} has two elements of one name, or one without a name; name each differently", kind="R data"
        )
    return known


def _scalars(value: RVector) -> list[Any]:
    """Give the elements of an atomic vector; NA is None, NaN stays."""
    if value.kind == "character":
        return list(value.array)
    if "factor" in value.classes:
        levels = value.attributes.get("levels")
        texts = levels.texts if isinstance(levels, RVector) else ()
        return [texts[code - 1] if 0 < code <= len(texts) else None for code in value.array.tolist()]
    if value.kind in ("logical", "integer"):
        missing = value.array == NA_INTEGER
        held = value.array != 0 if value.kind == "logical" else value.array
    else:
        held = value.array
        missing = is_na_real(held) if value.kind == "double" else np.zeros(len(held), dtype=np.bool_)
    return [None if gone else one for one, gone in zip(held.tolist(), missing.tolist(), strict=True)]


def _matrix(value: RVector, at: str) -> pd.DataFrame | AnyArray:
    """Give a matrix of numbers; R stores it column by column."""
    dim = value.attributes["dim"]
    sizes = dim.array.tolist() if isinstance(dim, RVector) else []
    if len(sizes) != 2 or value.kind not in ("logical", "integer", "double"):
        raise BridgeError(f"{at} holds an array that is no matrix of numbers; give a matrix", kind="R data")
    numbers = value.array.astype(np.float64)
    if value.kind != "double":
        numbers[value.array == NA_INTEGER] = np.nan
    held = numbers.reshape(sizes, order="F")
    names = value.attributes.get("dimnames")
    if not isinstance(names, RVector):
        return held
    rows, columns = (item.texts if isinstance(item, RVector) else None for item in names.items)
    return pd.DataFrame(held, index=_labels(rows), columns=_labels(columns))


def _labels(texts: tuple[str | None, ...] | None) -> Any:
    """Give one side of the dimnames; None where it has none."""
    return None if texts is None else list(texts)


def plain_to_r(value: Any) -> RValue:
    """Give the R value of a plain Python value; R values stay as they are.

    Parameters
    ----------
    value : object
        A plain value, an array, a Series, a DataFrame, or a mapping or sequence of such.

    Returns
    -------
    RValue
        For :func:`~pysynthdp.bridge.codec.dumps`.

    Raises
    ------
    BridgeError
        For an object that has no R value; the message names its type.

    Notes
    -----
    Privacy: passes on what it is given.

    Examples
    --------
    >>> plain_from_r(plain_to_r({"a": [1, None, {"b": True}], "c": 0.5}))
    {'a': [1, None, {'b': True}], 'c': 0.5}
    """
    if value is None or isinstance(value, RVector):
        return value
    if isinstance(value, RFrame | pd.DataFrame):
        return frame_to_r(value.frame, value.facts) if isinstance(value, RFrame) else frame_to_r(value)
    if isinstance(value, Mapping):
        return named_list({str(key): plain_to_r(item) for key, item in value.items()})
    if isinstance(value, list | tuple | frozenset):
        return RVector("list", tuple(plain_to_r(item) for item in value))
    if isinstance(value, np.ndarray | pd.Series):
        return _array_to_r(np.asarray(value))
    if isinstance(value, str | bool | int | float | np.generic):
        return vector([value])
    raise BridgeError(f"an object of type {type(value).__name__} has no R value", kind="R data")


def vector(values: Any) -> RVector:
    """Make an atomic vector of texts, truth values or numbers; integers beyond 32 bits become doubles.

    Examples
    --------
    >>> vector([1, 2]).kind, vector([2**40]).kind, vector([True]).kind, vector(["a"]).kind
    ('integer', 'double', 'logical', 'character')
    """
    held = list(values)
    if all(isinstance(value, str) or value is None for value in held):
        return character(held)
    return _array_to_r(np.array(held))


def _array_to_r(held: AnyArray) -> RVector:
    """Give an array as a vector, or as a matrix."""
    own: dict[str, RValue] = {}
    if held.ndim == 2:
        own["dim"] = RVector("integer", np.array(held.shape, dtype=np.int32))
    flat = held.ravel(order="F")
    if held.dtype.kind == "b":
        return RVector("logical", flat.astype(np.int32), own)
    if held.dtype.kind in "iu" and (not flat.size or np.abs(flat).max() <= _LARGEST):
        return RVector("integer", flat.astype(np.int32), own)
    if held.dtype.kind in "iuf":
        return RVector("double", flat.astype(np.float64), own)
    if held.dtype.kind in "OUT":
        return character([None if text is None or text is pd.NA else str(text) for text in flat], own)
    raise BridgeError(f"an array of type {held.dtype} has no R value", kind="R data")
