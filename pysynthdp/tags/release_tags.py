"""What a release says of itself: all that a combining rule must know, and the Protocol of a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Protocol, Self, get_args

import pandas as pd

from pysynthdp.base.errors import ReleaseError
from pysynthdp.base.even import Evenness
from pysynthdp.tags.steps import TaggedStep

__all__ = ["AnalysableRelease", "Bias", "Kind", "Nesting", "Noise", "Parameters", "ReleaseTags", "Sampling"]

Kind = Literal["complete", "partial", "imputed"]
Parameters = Literal["fitted", "drawn"]
Sampling = Literal["none", "subsample", "census"]
Nesting = Literal["none", "imputed", "two_stage", "pseudo_population"]
Noise = Literal["none", "shared", "per_copy_from_one", "per_copy_fresh"]
Bias = Literal["none", "clamped", "shrunk", "trees", "noisy_linear_statistics"]

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "kind": get_args(Kind),
    "parameters": get_args(Parameters),
    "sampling": get_args(Sampling),
    "nesting": get_args(Nesting),
    "noise": get_args(Noise),
    "draws": get_args(Evenness),
    "bias": get_args(Bias),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseTags:
    """How the copies of a release were made.

    Parameters
    ----------
    kind : {"complete", "partial", "imputed"}
        All columns synthetic; some; or none, with only missing values imputed.
    synthesised, kept : frozenset of str
        Columns that hold synthetic values, and columns released as real.
    parameters : {"fitted", "drawn"}
        Copies drawn at the fitted parameters (plug-in) or at parameters drawn for each copy (proper).
    m, n_syn : int
        Number of copies, and rows in each.
    n_org : int or None
        Rows in the confidential table; None when not published.
    nests : tuple of str or None
        For each copy, the label of the first-stage file that it comes from.
    nesting : {"none", "imputed", "two_stage", "pseudo_population"}
        What the first stage was; "imputed" is assumed when ``nests`` is given alone.
    sampling : {"none", "subsample", "census"}
        Whether each copy starts from a fresh subsample of the survey, or is a fresh sample of a census.
    noise : {"none", "shared", "per_copy_from_one", "per_copy_fresh"}
        No privacy noise; one noisy fit for all copies; noise drawn again for each copy around one noisy
        release; or a fresh noisy release for each copy.
    draws : {"even", "independent"}
        Rows drawn evenly, so that copies vary less than independent rows would, or independent of each other.
    bias : {"none", "clamped", "shrunk", "trees", "noisy_linear_statistics"}
        What may have moved estimates, which no variance repairs.
    steps : tuple of TaggedStep or None
        In drawing order, columns kept real first: what each was drawn from, so that pooled tables can say
        which effects the copies hold; None where the release does not say.
    rows_replaced : str
        "all"; or the name of a true/false column that marks the rows that were replaced; or "part".
    details : mapping
        More, as plain values: noise scales, effective n, signal-to-noise, acceptance; unknown fields of a
        file are kept here.

    Raises
    ------
    ReleaseError
        For a word that is not among those listed, or nests that do not fit m.

    Notes
    -----
    Privacy: settings only; ``n_org`` is confidential under add/remove neighbours, then leave it None.

    Examples
    --------
    >>> tags = ReleaseTags(kind="complete", synthesised=frozenset({"age"}), m=5, n_syn=100, n_org=100)
    >>> ReleaseTags.from_dict(tags.to_dict()) == tags
    True
    """

    kind: Kind
    m: int
    n_syn: int
    n_org: int | None = None
    synthesised: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    parameters: Parameters = "fitted"
    nests: tuple[str, ...] | None = None
    nesting: Nesting = "none"
    sampling: Sampling = "none"
    noise: Noise = "none"
    draws: Evenness = "independent"
    bias: Bias = "none"
    steps: tuple[TaggedStep, ...] | None = None
    rows_replaced: str = "all"
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ReleaseError(f"tag {name} must be one of {', '.join(allowed)}", kind="tags")
        if self.m < 1 or self.n_syn < 1 or (self.n_org is not None and self.n_org < 1):
            raise ReleaseError("tags m, n_syn and n_org must be at least 1 (n_org may be None)", kind="tags")
        if self.nests is not None and len(self.nests) != self.m:
            raise ReleaseError("tag nests must give one label for each of the m copies", kind="tags")
        if self.nests is not None and self.nesting == "none":
            object.__setattr__(self, "nesting", "imputed")

    @property
    def unit(self) -> str | None:
        """Column of the units that rows belong to; ``n_syn`` and ``n_org`` count units then."""
        return self.details.get("unit")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; sets become sorted lists, details are written beside the tags."""
        plain: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name == "steps" and value is not None:
                value = [step.to_plain() for step in value]
            if isinstance(value, frozenset):
                value = sorted(value)
            plain[item.name] = list(value) if isinstance(value, tuple) else value
        return {**dict(plain.pop("details")), **plain}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_dict` wrote; fields that are not known here are kept in ``details``.

        Raises
        ------
        ReleaseError
            When a required field is missing; the file is not a release's tags.
        """
        known = {item.name for item in fields(cls)} - {"details"}
        values = {name: value for name, value in plain.items() if name in known}
        for name in ("synthesised", "kept"):
            values[name] = frozenset(values.get(name, ()))
        if values.get("nests") is not None:
            values["nests"] = tuple(values["nests"])
        if values.get("steps") is not None:
            values["steps"] = tuple(map(TaggedStep.from_plain, values["steps"]))
        details = {name: value for name, value in plain.items() if name not in known}
        try:
            return cls(**values, details=details)
        except TypeError as error:
            raise ReleaseError(
                "the tags lack kind, m or n_syn; take them from the release's folder", kind="tags"
            ) from error

    def place_of(self, number: int) -> dict[str, str | int]:
        """Give the nest of copy ``number`` (from 1) and its number there; empty without nests."""
        if self.nests is None:
            return {}
        nest = self.nests[number - 1]
        return {"nest": nest, "copy_in_nest": self.nests[:number].count(nest)}

    def file_number(self, number: int) -> str:
        """Give the number of a copy in its file's name: through all copies, or nest and number there."""
        if self.nests is None:
            return str(number)
        nest = 1 + list(dict.fromkeys(self.nests)).index(self.nests[number - 1])
        return f"{nest}_{self.place_of(number)['copy_in_nest']}"

    def with_size(self, *, m: int, n_syn: int) -> Self:
        """Return the tags of a release with another number of copies and rows."""
        return replace(self, m=m, n_syn=n_syn)


class AnalysableRelease(Protocol):
    """What an analysis asks of a release."""

    @property
    def copies(self) -> tuple[pd.DataFrame, ...]:
        """The m copies."""
        ...

    @property
    def tags(self) -> ReleaseTags:
        """How they were made."""
        ...
