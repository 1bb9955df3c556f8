"""What is compared of a row: the features of every part, and the coarse cells of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pysynthdp.curator.table import SCALE_ROWS, PartTable
from pysynthdp.design.encode import Layout
from pysynthdp.design.parts import Part

__all__ = ["MOST_PLAIN", "CheckedFeatures", "Feature", "checked_features"]

Form: TypeAlias = Literal["number", "level", "kind", "cut"]
_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)  # below which the cuts of a number leave its values
MOST_PLAIN = 400  # features, above which no cuts are added


@dataclass(frozen=True, slots=True)
class Feature:
    """One thing that is compared.

    Parameters
    ----------
    column : str
        Of the table.
    form : {"number", "level", "kind", "cut"}
        The number, a dummy of a level or of a kind of absence, or whether the number is below a cut.
    at : int
        Position in the wide X; of a cut that of its number.
    cut : float
        In scaled units.
    """

    column: str
    form: Form
    at: int
    cut: float = 0.0


@dataclass(frozen=True, slots=True, repr=False)
class CheckedFeatures:
    """All features that are compared, plain ones first.

    Parameters
    ----------
    layout : Layout
        Where they lie in the wide X; without curves, which are made of what is compared.
    plain, cuts : tuple of Feature
        Of the wide X, and made of it.
    kinds : mapping int -> tuple of int
        For the position of a number that may be absent, those of the dummies that say so.
    """

    layout: Layout
    plain: tuple[Feature, ...]
    cuts: tuple[Feature, ...]
    kinds: Mapping[int, tuple[int, ...]]

    @property
    def all(self) -> tuple[Feature, ...]:
        """Plain features, then cuts."""
        return (*self.plain, *self.cuts)

    @property
    def owner(self) -> IntArray:
        """Number of each feature's column."""
        place = {name: at for at, name in enumerate(dict.fromkeys(each.column for each in self.all))}
        return np.array([place[each.column] for each in self.all], dtype=np.int64)

    @property
    def dummy(self) -> BoolArray:
        """Which are zero or one."""
        return np.array([each.form != "number" for each in self.all])

    def of(self, X: FloatArray) -> FloatArray:
        """Take the features of a block of the wide X: (rows, features)."""
        out = np.empty((len(self.all), len(X)))
        for row, each in enumerate(self.plain):
            out[row] = X[:, each.at]
        for row, each in enumerate(self.cuts, start=len(self.plain)):
            below = X[:, each.at] <= each.cut
            for kind in self.kinds.get(each.at, ()):
                below &= X[:, kind] == 0
            out[row] = below
        return out.T

    def encoded(self, parts: Mapping[tuple[str, str], AnyArray]) -> FloatArray:
        """Encode drawn parts as the wide X."""
        layout, starts = self.layout, self.layout.starts
        X = layout.empty(len(next(iter(parts.values()))))
        for part in layout.parts:
            kind = parts[part.column, "kind"] if part.partial else None
            layout.write(X, part, starts[part.key], parts[part.key], kind)
        return X


def checked_features(layout: Layout, table: PartTable) -> CheckedFeatures:
    """Name what is compared; cuts are quantiles of a systematic sample, and are shown nowhere.

    Notes
    -----
    Privacy: reads real rows.
    """
    starts = layout.starts
    plain = tuple(
        Feature(part.column, _form(part), at)
        for part in layout.parts
        for at in range(starts[part.key], starts[part.key] + layout.width(part))
    )
    numbers = [part for part in layout.parts if part.numeric] if len(plain) <= MOST_PLAIN else []
    cuts = tuple(
        Feature(part.column, "cut", starts[part.key], cut)
        for part in numbers
        for cut in _cuts(part, layout, table)
    )
    kinds = {
        starts[part.key]: tuple(
            each.at for each in plain if each.form == "kind" and each.column == part.column
        )
        for part in layout.parts
        if part.numeric
    }
    return CheckedFeatures(replace(layout, curves=()), plain, cuts, kinds)


def _form(part: Part) -> Form:
    """Say what a part's features are."""
    if part.numeric:
        return "number"
    return "kind" if part.role == "kind" else "level"


def _cuts(part: Part, layout: Layout, table: PartTable) -> list[float]:
    """Scaled cuts of a number, each with values on both sides."""
    values, kind = table.sample(part, max(1, table.n // SCALE_ROWS))
    there = values if kind is None else values[kind == 0]
    if len(there) < 50:
        return []
    scale = layout.scales[part.key]
    found = np.unique(np.quantile(there, _SHARES, method="inverted_cdf"))
    return [float((cut - scale.centre) / scale.width) for cut in found if cut < there.max()]
