"""Parts to the design matrix X: intercept, scaled numbers, dummies; from public facts and scales alone.

X is kept with one feature a row in memory (Fortran order), so a feature is written and read in one run. An
absent value stands at its centre (zero after scaling), beside the dummies of its kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pysynthdp.design.cells import cell_codes
from pysynthdp.design.curves import Curve
from pysynthdp.design.parts import Part

__all__ = ["BLOCK_ROWS", "Layout", "Scale", "StepDesign", "n_features"]

BLOCK_ROWS = 16_384
"""Rows of a canonical block: results depend on it, streams of draws are keyed by it; so it is no setting."""


@dataclass(frozen=True, slots=True, repr=False)
class Scale:
    """Centre and width of a numeric part; only conditioning depends on them, not the model."""

    centre: float = 0.0
    width: float = 1.0


@dataclass(frozen=True, repr=False)  # no slots: what is derived is built once and stays with it
class Layout:
    """Where each part's features lie in the wide X.

    Parameters
    ----------
    parts : tuple of Part
        In visit order.
    scales : mapping key -> Scale
        For the numeric parts.
    groups : mapping key -> array of int (levels,)
        Group of each level, for categorical parts with levels that have too few records for a dummy.
    curves : tuple of Curve
        Of numeric parts, behind all parts, so that these stay where they are.
    unread : frozenset of key
        Parts that no model is given, and that have no feature.
    """

    parts: tuple[Part, ...]
    scales: Mapping[tuple[str, str], Scale]
    groups: Mapping[tuple[str, str], IntArray] = field(default_factory=dict)
    curves: tuple[Curve, ...] = ()
    unread: frozenset[tuple[str, str]] = frozenset()

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Feature names, intercept first."""
        own = (name for part in self.parts for name in self.feature_names(part))
        return ("intercept", *own, *(name for curve in self.curves for name in curve.names))

    @cached_property
    def starts(self) -> dict[tuple[str, str], int]:
        """First feature of each part."""
        position = 1
        starts = {}
        for part in self.parts:
            starts[part.key] = position
            position += self.width(part)
        return starts

    @cached_property
    def curve_starts(self) -> dict[tuple[str, str, tuple[int, ...]], range]:
        """Features of each curve, by the key that a plan names it by."""
        position = self._of_parts
        found = {}
        for curve in self.curves:
            found[curve.key] = range(position, position + curve.width)
            position += curve.width
        return found

    @cached_property
    def n_features(self) -> int:
        """Width of X."""
        return self._of_parts + sum(curve.width for curve in self.curves)

    @cached_property
    def _of_parts(self) -> int:
        """Width of X without curves."""
        return 1 + sum(self.width(part) for part in self.parts)

    @cached_property
    def dummies(self) -> tuple[bool, ...]:
        """Whether each feature is a 0/1 dummy."""
        own = (not part.numeric for part in self.parts for _ in range(self.width(part)))
        return (False, *own, *(curve.dummies for curve in self.curves for _ in range(curve.width)))

    @property
    def numbers(self) -> dict[int, Part]:
        """Numeric part of each feature that is one or bends one."""
        starts, parts = self.starts, {part.key: part for part in self.parts if part.numeric}
        bent = zip(self.curves, self.curve_starts.values(), strict=True)
        curves = {position: parts[curve.part] for curve, own in bent for position in own}
        return {**{starts[key]: part for key, part in parts.items()}, **curves}

    def width(self, part: Part) -> int:
        """Count a part's features: one dummy a group, less the first, where levels are grouped."""
        if part.key in self.unread:
            return 0
        groups = self.groups.get(part.key)
        return n_features(part) if groups is None else int(groups.max())

    def feature_names(self, part: Part) -> tuple[str, ...]:
        """Name a part's features; a group by its first level and how many others it has."""
        if part.key in self.unread:
            return ()
        groups = self.groups.get(part.key)
        if groups is None:
            return feature_names(part)
        _, first, sizes = np.unique(groups, return_index=True, return_counts=True)
        more = [f" and {size - 1} more" if size > 1 else "" for size in sizes]
        named = list(zip(first, more, strict=True))[1:]
        return tuple(f"{part.label}[{part.levels[level]}{rest}]" for level, rest in named)

    def empty(self, rows: int) -> FloatArray:
        """Allocate X, intercept filled."""
        X = np.empty((self.n_features, rows)).T
        X[:, 0] = 1.0
        return X

    def holders(self, features: BoolArray) -> tuple[Part, ...]:
        """Parts of which some features are meant.

        Parameters
        ----------
        features : array of bool (n_features,)
            Which.
        """
        return tuple(
            part for part in self.parts if any(features[own].any() for own in self._places[part.key])
        )

    @cached_property
    def _places(self) -> dict[tuple[str, str], list[slice]]:
        """Features of each part, and of its curves."""
        found = {}
        for part in self.parts:
            start = self.starts[part.key]
            own = self._curves_of.get(part.key, ())
            found[part.key] = [slice(start, start + self.width(part)), *(places for _, places in own)]
        return found

    def write(
        self,
        X: FloatArray,
        part: Part,
        start: int,
        values: AnyArray,
        kind: AnyArray | None,
        used: BoolArray | None = None,
    ) -> None:
        """Write one part's features into X; ``kind`` tells where a partial value is absent.

        Of features that ``used`` does not mean nothing is written.
        """
        absent = None if kind is None else np.asarray(kind != 0)
        if part.numeric:
            if used is None or used[start]:
                self._write_number(X[:, start], part, values, absent)
            self._write_curves(X, part, values, absent, used)
            return
        if part.key in self.unread:
            return
        if part.edges:
            values = cell_codes(part.edges, values)
        groups = self.groups.get(part.key)
        codes = values if groups is None else groups[values]
        for level in range(1, self.width(part) + 1):
            place = start + level - 1
            if used is None or used[place]:
                np.equal(codes, level, out=X[:, place], casting="unsafe")
                if absent is not None:
                    X[absent, place] = 0.0

    def _write_number(
        self, column: FloatArray, part: Part, values: AnyArray, absent: BoolArray | None
    ) -> None:
        """Write a number in its own unit."""
        scale = self.scales[part.key]
        np.subtract(values, scale.centre, out=column)
        column /= scale.width
        if absent is not None:
            column[absent] = 0.0

    @cached_property
    def _curves_of(self) -> dict[tuple[str, str], list[tuple[Curve, slice]]]:
        """Curves of each part, and where their features lie."""
        found: dict[tuple[str, str], list[tuple[Curve, slice]]] = {}
        position = self._of_parts
        for curve in self.curves:
            if curve.width:
                places = slice(position, position + curve.width)
                found.setdefault(curve.part, []).append((curve, places))
            position += curve.width
        return found

    def _write_curves(
        self,
        X: FloatArray,
        part: Part,
        values: AnyArray,
        absent: BoolArray | None,
        used: BoolArray | None,
    ) -> None:
        """Write the curves of a part."""
        for curve, places in self._curves_of.get(part.key, ()):
            if used is None or used[places].any():
                curve.write(X[:, places], values, absent)


def n_features(part: Part) -> int:
    """Count a part's features."""
    return 1 if part.numeric else max(len(part.levels) - 1, 0)


def feature_names(part: Part) -> tuple[str, ...]:
    """Name a part's features."""
    return (part.label,) if part.numeric else tuple(f"{part.label}[{level}]" for level in part.levels[1:])


@dataclass(frozen=True)  # no slots: what is derived is built once and stays with it
class StepDesign:
    """Which features of the wide X a step uses.

    Parameters
    ----------
    features : tuple of tuple of int
        One tuple a feature: a single position, or positions whose product is taken (interactions, powers).
    without : tuple of int
        Places among these of the features that the model does not get, because too few records have them.
    """

    features: tuple[tuple[int, ...], ...]
    without: tuple[int, ...] = ()

    @cached_property
    def used(self) -> IntArray:
        """Places among the features of those that the model gets."""
        return np.setdiff1d(np.arange(len(self.features)), self.without)

    @cached_property
    def plain(self) -> IntArray | None:
        """Positions of all features, when no product is taken."""
        if any(len(feature) > 1 for feature in self.features):
            return None
        return np.array([feature[0] for feature in self.features], dtype=np.int64)

    @cached_property
    def reads(self) -> IntArray:
        """Positions in the wide X of what the model's features are made of."""
        read = {position for place in self.used for position in self.features[place]}
        return np.array(sorted(read), dtype=np.int64)

    @cached_property
    def _prefix(self) -> bool:
        """Whether the model's features are the first of the wide X."""
        return self.plain is not None and np.array_equal(self.plain[self.used], np.arange(self.used.size))

    def take(self, X: FloatArray) -> FloatArray:
        """Return the step's X, a view where it is a prefix of the wide one."""
        if self.plain is not None:
            return X[:, : self.used.size] if self._prefix else X.T[self.plain[self.used]].T
        features = tuple(self.features[place] for place in self.used)
        width = len(features)
        out = np.empty((width, len(X))).T
        for index, positions in enumerate(features):
            out[:, index] = X[:, positions[0]]
            for position in positions[1:]:
                out[:, index] *= X[:, position]
        return out
