"""Which floor a module stands on: its line in the import contract of ``pyproject.toml``, from below."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pysynthdp as sdp

PACKAGE = Path(sdp.__file__).resolve().parent
NAME = PACKAGE.name
if PACKAGE.parent != Path(__file__).resolve().parents[2]:
    raise SystemExit(
        f"this would measure {PACKAGE}; run with PYTHONPATH=$PWD from the root of the repository"
    )


@dataclass(frozen=True)
class Ladder:
    """The floors within one package.

    Parameters
    ----------
    within : str
        Dotted name of the package whose rooms are laid out.
    floors : dict room -> int
        Dotted names; 0 is the lowest floor.
    """

    within: str
    floors: dict[str, int]

    def of(self, module: str) -> int | None:
        """Give the floor of a module; None where the contract does not name its room."""
        rooms = [room for room in self.floors if f"{module}.".startswith(f"{room}.")]
        return self.floors[max(rooms, key=len)] if rooms else None


@cache
def ladders() -> list[Ladder]:
    """Read the contracts of type "layers": the widest package first."""
    settings = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    found = [
        Ladder(within, _floors(contract["layers"], within))
        for contract in contracts
        if contract["type"] == "layers"
        for within in contract.get("containers", [""])
    ]
    return sorted(found, key=lambda ladder: ladder.within.count("."))


def _floors(layers: list[str], within: str) -> dict[str, int]:
    """Give each room its number, from below."""
    floors = {}
    for floor, line in enumerate(reversed(layers)):
        for room in line.replace(":", "|").split("|"):
            plain = room.strip().strip("()").strip()
            floors[f"{within}.{plain}" if within else plain] = floor
    return floors


def module_of(path: str | Path) -> str:
    """Turn a file of the package into its dotted name."""
    parts = Path(path).relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
