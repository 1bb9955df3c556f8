"""Identity and attribute measures of every key set, each beside its baseline, and how they grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from pysynthdp.evaluate.risk.asked import Asked
from pysynthdp.evaluate.risk.cells import (
    Cells,
    Intruder,
    attribute,
    certainty,
    commonly_known,
    identity,
    intruders,
    probabilities,
)
from pysynthdp.evaluate.risk.coding import Coded, Files
from pysynthdp.evaluate.risk.control import Control
from pysynthdp.evaluate.risk.intervals import above

__all__ = ["attribute_table", "coded_control", "growth_table", "identity_table", "obvious_targets"]

_ALL: Final = 100.0
_IDENTITY: Final = ("UiO", "UiS", "UiOiS", "RepU")
_ATTRIBUTE: Final = ("Dorig", "Dsyn", "iS", "DiS", "DiSCO", "DiSDiO", "max_denom", "mean_denom")
_CAP: Final = ("baseCAPd", "CAPd", "CAPs", "DCAP", "TCAP")
_BESIDE: Final = ("control", "above", "low", "high")
Coding = Mapping[str, Coded]


class _Side:
    """Counts of one pair of key set and target: of the copies, and of the control."""

    def __init__(self, asked: Asked, files: Files, codes: Coding, name: str, target: str | None) -> None:
        self.cells: Cells = asked.cells(files, codes, name, target)
        self.seen: dict[str, Intruder] = {each.of: each for each in intruders(self.cells)}


def _sides(
    asked: Asked, control: Sequence[tuple[Files, Coding]], name: str, target: str | None
) -> list[_Side]:
    """Count in every part of the control."""
    return [_Side(asked, files, codes, name, target) for files, codes in control]


def _controlled(sides: Sequence[_Side], of: str, measure: str) -> tuple[float, int]:
    """Give per cent and number of fresh people at risk, over all parts of the control."""
    ask = identity if measure in _IDENTITY else attribute
    parts = [
        (ask(side.cells, side.seen[of], fresh=True)[measure], int(side.cells.fresh.sum())) for side in sides
    ]
    people = sum(many for _, many in parts)
    return (sum(share * many for share, many in parts) / people, people) if people else (np.nan, 0)


def _beside(value: float, n: int, sides: Sequence[_Side], of: str, measure: str) -> dict[str, float]:
    """Give the control of a measure, and how far the measure lies above it, in percentage points."""
    share, people = _controlled(sides, of, measure)
    if not people or np.isnan(value):
        return dict.fromkeys(_BESIDE, np.nan)
    found = above(value * n / _ALL, n, share * people / _ALL, people)
    limits = [_ALL * each for each in (found.value, found.low, found.high)]
    return dict(zip(_BESIDE, (share, *limits), strict=True))


def coded_control(asked: Asked, control: Control) -> list[tuple[Files, Coding]]:
    """Code the columns of every part of the control."""
    return [(files, asked.coded(files)) for files in control.files]


def identity_table(
    asked: Asked, files: Files, codes: Coding, control: Sequence[tuple[Files, Coding]]
) -> pd.DataFrame:
    """Give UiO, UiS, UiOiS and RepU of every key set, RepU beside its control.

    Parameters
    ----------
    asked : Asked
        Key sets.
    files, codes
        Table and copies, and their columns as codes.
    control : sequence of (Files, codes)
        Fresh people, and the copies that know nothing of them.

    Returns
    -------
    DataFrame
        One row a key set and copy; ``"any copy"``: over all copies together.
    """
    rows = []
    for name in asked.keys:
        own, sides = _Side(asked, files, codes, name, None), _sides(asked, control, name, None)
        n = int(own.cells.table.sum())
        for of, seen in own.seen.items():
            if of == "stacked":
                continue
            found = identity(own.cells, seen) | {"UiS": _unique(own, of)}
            beside = _beside(found["RepU"], n, sides, of, "RepU")
            rows.append({"keys": name, "of": of, **{each: found[each] for each in _IDENTITY}, **beside})
    return pd.DataFrame(rows, columns=["keys", "of", *_IDENTITY, *_BESIDE])


def _unique(side: _Side, of: str) -> float:
    """Per cent of synthetic records that are unique on the keys in their copy."""
    singles = [each for each in side.seen.values() if each.counts is not None and each.of != "stacked"]
    chosen = singles if of == "any copy" else [side.seen[of]]
    return float(np.mean([probabilities(side.cells, each)["UiS"] for each in chosen]))


def attribute_table(
    asked: Asked, files: Files, codes: Coding, control: Sequence[tuple[Files, Coding]]
) -> pd.DataFrame:
    """Give Dorig to DiSDiO and the probabilities of correct attribution, DiSCO beside its baselines.

    Parameters
    ----------
    asked : Asked
        Key sets and targets.
    files, codes
        Table and copies, and their columns as codes.
    control : sequence of (Files, codes)
        Fresh people, and the copies that know nothing of them.

    Returns
    -------
    DataFrame
        One row a key set, target and copy; ``"any copy"`` and ``"stacked"`` are of all copies together.
        ``margin`` is what DiSCO would be if targets had nothing to do with keys.
    """
    rows = []
    for name, target in asked.pairs():
        own, sides = _Side(asked, files, codes, name, target), _sides(asked, control, name, target)
        n = int(own.cells.table.sum())
        for of, seen in own.seen.items():
            found = _attributes(own, of, seen)
            beside = _beside(found["DiSCO"], n, sides, of, "DiSCO")
            measures = {each: found[each] for each in (*_ATTRIBUTE, "margin")}
            caps = {each: found[each] for each in _CAP}
            rows.append({"keys": name, "target": target, "of": of, **measures, **beside, **caps})
    return pd.DataFrame(rows, columns=["keys", "target", "of", *_ATTRIBUTE, "margin", *_BESIDE, *_CAP])


def _attributes(side: _Side, of: str, seen: Intruder) -> dict[str, float]:
    """Compute all measures of who looks."""
    found = attribute(side.cells, seen) | certainty(side.cells, seen) | probabilities(side.cells, seen)
    if of == "any copy":
        singles = [each for each in side.seen.values() if each.counts is not None and each.of != "stacked"]
        found["Dsyn"] = float(np.mean([probabilities(side.cells, each)["Dsyn"] for each in singles]))
    return found


def growth_table(
    asked: Asked, files: Files, codes: Coding, releases: Sequence[int], *, fresh: bool
) -> pd.DataFrame:
    """Follow RepU and DiSCO while copy after copy becomes known, through all releases of the source.

    Parameters
    ----------
    asked : Asked
        Key sets and targets.
    files, codes
        Table and the copies of all releases, the earliest first.
    releases : sequence of int
        For each copy, the number of its release.
    fresh : bool
        Whether there are fresh people to hold it against.

    Returns
    -------
    DataFrame
        One row a measure and number of copies: somebody at risk in one of the first so many copies.
    """
    pairs: list[tuple[str, str | None]] = [*((name, None) for name in asked.keys), *asked.pairs()]
    rows = []
    for name, target in pairs:
        side = _Side(asked, files, codes, name, target)
        measure, ask = ("RepU", identity) if target is None else ("DiSCO", attribute)
        seen = side.seen["copy 1"]
        for at, release in enumerate(releases, start=1):
            seen = seen.joined(side.seen[f"copy {at}"], f"{at} copies")
            control = ask(side.cells, seen, fresh=True)[measure] if fresh else np.nan
            value = ask(side.cells, seen)[measure]
            rows.append((measure, name, target, release, at, value, control))
    return pd.DataFrame(rows, columns=["measure", "keys", "target", "release", "copies", "value", "control"])


def obvious_targets(asked: Asked, files: Files, codes: Coding) -> tuple[tuple[str, str], ...]:
    """Name key sets and targets whose disclosures are nearly all of one value, which perhaps all know."""
    return tuple(
        (name, target)
        for name, target in asked.pairs()
        if (side := _Side(asked, files, codes, name, target))
        and commonly_known(side.cells, side.seen["any copy"])
    )
