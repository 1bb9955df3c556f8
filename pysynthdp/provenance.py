"""How the copies of a release came about."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Provenance"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """How the copies came about, from settings alone; never a seed or a state of a generator.

    Parameters
    ----------
    software : str
        Name and version of the package.
    versions : tuple of (package, version)
        What it ran on.
    methods : tuple of (column, method)
        In table order.
    visit_sequence : tuple of str
        Columns in the order in which they were drawn.
    """

    software: str
    versions: tuple[tuple[str, str], ...]
    methods: tuple[tuple[str, str], ...]
    visit_sequence: tuple[str, ...]
