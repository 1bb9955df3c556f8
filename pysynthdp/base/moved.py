"""Modules that stood elsewhere before 0.2 and whose paths our own templates named; to go with 0.4."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

__all__ = ["MOVED", "keep_old_paths"]

MOVED: Final = {
    "_typing": "base.arrays",
    "errors": "base.errors",
    "privacy.sampling_statement": "privacy.statements.sampling",
    "privacy.statement": "privacy.statements.statement",
    "queries": "models.ask",
    "rows.frame": "curator.rows.frame",
}


class _Moved(ModuleType):
    """A path without a file: it hands on what stands elsewhere, and says where."""

    def __init__(self, old: str, new: str) -> None:
        super().__init__(old, f"Moved to {new}.")
        self.__spec__ = ModuleSpec(old, None)
        self.__new = new

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # a tool that looks through all modules is no reader of this one
            raise AttributeError(name)
        found = getattr(import_module(self.__new), name)
        mend = f"write 'from {self.__new} import {name}'; the old path goes with 0.4"
        warnings.warn(f"{self.__name__} has moved: {mend}", DeprecationWarning, stacklevel=2)
        return found


def keep_old_paths() -> None:
    """Let imports by an old path find what they name, with a DeprecationWarning; nothing is loaded here.

    Notes
    -----
    Privacy: reads no data.

    Examples
    --------
    >>> import pysynthdp
    >>> sys.modules["pysynthdp.queries"].__doc__
    'Moved to pysynthdp.models.ask.'
    """
    for old, new in MOVED.items():
        path = f"pysynthdp.{old}"
        sys.modules[path] = _Moved(path, f"pysynthdp.{new}")
