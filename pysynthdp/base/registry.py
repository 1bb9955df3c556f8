"""A registry that finds its entries by the files in a package: a new file is a new entry.

Packages that are installed beside this one add entries by an entry point of the registry's group. One that
cannot be loaded, or whose name is taken, is left out; who asks for a name that is not there reads of it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from typing import Generic, Protocol, TypeVar

__all__ = ["Named", "Registry", "is_outside", "package_of"]

_OWN = "pysynthdp"


class Named(Protocol):
    """What a registered class must have."""

    name: str


T = TypeVar("T")


def package_of(entry: object) -> str:
    """Name the package that an entry, or an object of its class, comes from."""
    kind = entry if isinstance(entry, type) else type(entry)
    return kind.__module__.partition(".")[0]


def is_outside(entry: object) -> bool:
    """Whether an entry, or an object of its class, is code of another package than this."""
    return package_of(entry) != _OWN


class Registry(Generic[T]):
    """Classes by name; every module beside the registry's package is imported at the first look-up.

    Parameters
    ----------
    package : str
        Dotted name of the package whose modules register entries.
    error : Callable
        Makes the exception for an unknown name from a message.
    group : str, optional
        Entry-point group in which other installed packages name classes; the package's name by default.
    """

    def __init__(self, package: str, error: Callable[[str], Exception], *, group: str | None = None) -> None:
        self._package = package
        self._group = group or package
        self._error = error
        self._entries: dict[str, T] = {}
        self._broken: dict[str, str] = {}
        self._loaded = False

    def register(self, entry: T) -> T:
        """Add a class under its ``name``; used as a decorator."""
        name = entry.name  # type: ignore[attr-defined]
        if self._entries.get(name, entry) is not entry:
            raise self._error(f"the name {name!r} is already registered; choose another")
        self._entries[name] = entry
        return entry

    def load(self) -> None:
        """Import every module of the package, and of the packages in it, once; then what others announce."""
        if self._loaded:
            return
        package = importlib.import_module(self._package)
        for module in pkgutil.walk_packages(package.__path__, f"{self._package}."):
            importlib.import_module(module.name)
        self._loaded = True
        for point in entry_points(group=self._group):
            self._announced(point.name, point.load)

    def _announced(self, name: str, load: Callable[[], T]) -> None:
        """Add what another package announces; one that cannot be added must not stop everything else."""
        try:
            entry = load()
            taken = self._entries.get(entry.name, entry)  # type: ignore[attr-defined]
        except Exception as problem:  # noqa: BLE001 -- any code may run at import; its text is not shown
            self._broken[name] = f"{name!r} is announced but cannot be loaded ({type(problem).__name__})"
            return
        if taken is entry:
            self.register(entry)
            return
        called = entry.name  # type: ignore[attr-defined]
        what = f"{name!r} of {package_of(entry)} is announced but left out, since the name {called!r} is"
        self._broken[name] = f"{what} that of an entry of {package_of(taken)}; its author must choose another"

    def left_out(self, name: str) -> str | None:
        """Say why an entry that another package announced is not here; None where nobody announced it."""
        self.load()
        return self._broken.get(name)

    def __getitem__(self, name: str) -> T:
        self.load()
        if name not in self._entries:
            known = "; ".join([f"known are: {', '.join(sorted(self._entries))}", *self._broken.values()])
            raise self._error(f"there is no {name!r}; {known}")
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        self.load()
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        self.load()
        return iter(sorted(self._entries))
