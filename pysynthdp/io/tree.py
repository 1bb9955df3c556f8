"""Between settings and results (frozen dataclasses of plain values and arrays) and JSON with arrays apart.

Nothing is unpickled: a class is found by name, must be a dataclass of this package or of a package that
registered a column model or a protection, and is built by its constructor, which checks its values.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.errors import ReleaseError, SchemaError
from pysynthdp.base.registry import package_of
from pysynthdp.models.base import COLUMN_MODELS
from pysynthdp.plan.protection import PROTECTIONS
from pysynthdp.schema import Schema
from pysynthdp.schema import plain as schema_file
from pysynthdp.schema.plain_values import value_from_plain, value_to_plain

__all__ = ["from_tree", "to_tree"]

_OWN = "pysynthdp"
_MOVED = {  # a file names a class by the module that it was in when it was written; the longest name holds
    "pysynthdp.moments.asking": "pysynthdp.protection.noise.moments.answers",
    "pysynthdp.moments.integers": "pysynthdp.curator.noised.integers",
    "pysynthdp.moments.whitening": "pysynthdp.curator.noised.whitening",
    "pysynthdp.moments": "pysynthdp.protection.noise.moments",
    "pysynthdp.numerics": "pysynthdp.models.fits",
    "pysynthdp.privacy.moment_budget": "pysynthdp.privacy.noise.moment_budget",
}


def to_tree(value: Any, arrays: list[AnyArray]) -> Any:
    """Write a value as JSON; arrays are appended to ``arrays`` and replaced by their position.

    Raises
    ------
    ReleaseError
        For a type that cannot be written, such as a function or a table; the message names it.

    Examples
    --------
    >>> arrays = []
    >>> tree = to_tree({"beta": np.arange(3.0), "names": ("a", "b")}, arrays)
    >>> from_tree(tree, arrays)["names"]
    ('a', 'b')
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if type(value) is float:  # not numpy's float64, which is a subclass
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, np.ndarray | np.number | np.bool_):
        return _array(np.asarray(value), arrays, scalar=not isinstance(value, np.ndarray))
    if isinstance(value, Schema):
        return {"schema": schema_file.to_plain(value)}
    if is_dataclass(value) and not isinstance(value, type):
        return _record(value, arrays)
    return _container(value, arrays)


def _array(array: AnyArray, arrays: list[AnyArray], *, scalar: bool) -> dict[str, Any]:
    """Put an array apart; object arrays would need pickle and are refused."""
    if array.dtype == object:
        raise ReleaseError(
            "an array of Python objects cannot be written; the model must keep numbers", kind="saved fit"
        )
    arrays.append(array)
    return {"scalar" if scalar else "array": len(arrays) - 1}


def _record(value: Any, arrays: list[AnyArray]) -> dict[str, Any]:
    """Write a dataclass by its class and what its constructor takes."""
    kind = type(value)
    own = {item.name: to_tree(getattr(value, item.name), arrays) for item in fields(value) if item.init}
    return {"class": f"{kind.__module__}:{kind.__qualname__}", "fields": own}


def _container(value: Any, arrays: list[AnyArray]) -> dict[str, Any]:
    """Write a tuple, list, set or mapping, or a time."""
    if isinstance(value, tuple | list):
        return {type(value).__name__: [to_tree(item, arrays) for item in value]}
    if isinstance(value, frozenset):
        return {"frozenset": [to_tree(item, arrays) for item in sorted(value)]}
    if isinstance(value, Mapping):
        return {"map": [[to_tree(key, arrays), to_tree(item, arrays)] for key, item in value.items()]}
    try:
        return {"value": value_to_plain(value)}
    except SchemaError:
        raise ReleaseError(
            f"a {type(value).__name__} cannot be written to a file", kind="saved fit"
        ) from None


def from_tree(tree: Any, arrays: list[AnyArray]) -> Any:
    """Read what :func:`to_tree` wrote.

    Raises
    ------
    ReleaseError
        For a class that is not one of ours, or an unknown kind of value.
    """
    if not isinstance(tree, dict):
        return tree
    kind = next(iter(tree), "")
    if kind not in _READERS:
        raise ReleaseError(
            f"the file has a value of unknown kind {kind!r}; read it with the version that wrote it",
            kind="saved fit",
        )
    return _READERS[kind](tree, arrays)


def _items(tree: Mapping[str, Any], kind: str, arrays: list[AnyArray]) -> list[Any]:
    """Read the items of a container."""
    return [from_tree(item, arrays) for item in tree[kind]]


def _build(tree: Mapping[str, Any], arrays: list[AnyArray]) -> Any:
    """Build a dataclass by its constructor."""
    own = {name: from_tree(item, arrays) for name, item in tree["fields"].items()}
    return _find(tree["class"])(**own)


def _now(module: str) -> str:
    """Say where a module of an earlier file is today."""
    for old in sorted(_MOVED, key=len, reverse=True):
        if module == old or module.startswith(f"{old}."):
            return _MOVED[old] + module.removeprefix(old)
    return module


def _find(name: str) -> Callable[..., Any]:
    """Find a dataclass by name, in our package or in one that registered a model or a protection."""
    module, _, qualified = name.partition(":")
    entries = [*map(COLUMN_MODELS.__getitem__, COLUMN_MODELS), *map(PROTECTIONS.__getitem__, PROTECTIONS)]
    if module.split(".")[0] not in {_OWN, *map(package_of, entries)}:
        raise ReleaseError(
            f"{name} belongs to a package that has no column model or protection here; install it first",
            kind="saved fit",
        )
    try:
        found: Any = importlib.import_module(_now(module))
        for part in qualified.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ReleaseError(
            f"{name} is not known here; read the file with the version that wrote it", kind="saved fit"
        ) from error
    if not (isinstance(found, type) and is_dataclass(found)):
        raise ReleaseError(f"{name} is not a class that a file may name", kind="saved fit")
    return found


_READERS: dict[str, Callable[[Mapping[str, Any], list[AnyArray]], Any]] = {
    "float": lambda tree, _: float(tree["float"]),
    "array": lambda tree, arrays: arrays[tree["array"]],
    "scalar": lambda tree, arrays: arrays[tree["scalar"]][()],
    "schema": lambda tree, _: schema_file.from_plain(tree["schema"]),
    "class": _build,
    "tuple": lambda tree, arrays: tuple(_items(tree, "tuple", arrays)),
    "list": lambda tree, arrays: _items(tree, "list", arrays),
    "frozenset": lambda tree, arrays: frozenset(_items(tree, "frozenset", arrays)),
    "map": lambda tree, arrays: {
        from_tree(key, arrays): from_tree(item, arrays) for key, item in tree["map"]
    },
    "value": lambda tree, _: value_from_plain(tree["value"]),
}
