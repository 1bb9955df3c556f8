"""A registry that finds its entries by the files in a package: a new file is a new entry."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Generic, Protocol, TypeVar

__all__ = ["Named", "Registry"]


class Named(Protocol):
    """What a registered class must have."""

    name: str


T = TypeVar("T")


class Registry(Generic[T]):
    """Classes by name; every module beside the registry's package is imported at the first look-up.

    Parameters
    ----------
    package : str
        Dotted name of the package whose modules register entries.
    error : Callable
        Makes the exception for an unknown name from a message.
    """

    def __init__(self, package: str, error: Callable[[str], Exception]) -> None:
        self._package = package
        self._error = error
        self._entries: dict[str, T] = {}
        self._loaded = False

    def register(self, entry: T) -> T:
        """Add a class under its ``name``; used as a decorator."""
        name = entry.name  # type: ignore[attr-defined]
        if self._entries.get(name, entry) is not entry:
            raise self._error(f"the name {name!r} is already registered; choose another")
        self._entries[name] = entry
        return entry

    def load(self) -> None:
        """Import every module of the package, and of the packages in it, once."""
        if self._loaded:
            return
        package = importlib.import_module(self._package)
        for module in pkgutil.walk_packages(package.__path__, f"{self._package}."):
            importlib.import_module(module.name)
        self._loaded = True

    def __getitem__(self, name: str) -> T:
        self.load()
        if name not in self._entries:
            known = ", ".join(sorted(self._entries))
            raise self._error(f"there is no {name!r}; known are: {known}")
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        self.load()
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        self.load()
        return iter(sorted(self._entries))
