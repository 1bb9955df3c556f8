"""What each step of a plan was given, so that an analysis can tell what the copies hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias, get_args

from pysynthdp.base.errors import ReleaseError

__all__ = ["Draws", "TaggedFactor", "TaggedStep"]

Draws = Literal["number", "levels", "kind"]
TaggedFactor: TypeAlias = str | Mapping[str, Any]
"""A column, a curve ``{"column": name, "basis": "cr", "at": [4]}``, or ``{"column": name, "level": "a"}``."""

_EARLIER = "earlier"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedStep:
    """One step of a plan, or columns released real, as plain values.

    Parameters
    ----------
    columns : tuple of str
        What it fills: one column; several for a joint model.
    draws : {"number", "levels", "kind"}
        A number, a level, or whether and how the value is absent.
    model : str
        Name of the model; "kept real" for columns that no step draws.
    terms : tuple of tuple of factors, or None
        The terms that it was given: names of columns, several for a product, a name twice for a square; a
        mapping with ``column`` and ``basis`` for a curve, with ``column`` and ``level`` for one level. None:
        all columns before it, each as it is.
    linear_on : str or None
        The scale on which the terms are added up: "plain", "log", "sqrt", "cubert", "score", "logit", ...;
        "any" where every scale is kept; None where it is not told.
    keeps_shape : bool
        Whether draws have the column's own distribution, whatever its shape, and not that of a formula.
    together : int
        Of a joint model: how many of its own columns at a time keep their relation.
    tested : tuple of str
        Columns among which all products of two, and every curve of a number, were tested before the terms
        were settled: what is not among the terms was weak. Empty where nothing was tested.

    Raises
    ------
    ReleaseError
        For a word that is not among those listed.

    Notes
    -----
    Privacy: the plan, which is public; the scale of a number is learned from rows where the plan leaves it
    open, and is told only where nothing formal is claimed.

    Examples
    --------
    >>> step = TaggedStep(columns=("pay",), draws="number", model="norm", terms=(("age",), ("age", "sex")))
    >>> TaggedStep.from_plain(step.to_plain()) == step
    True
    """

    columns: tuple[str, ...]
    draws: Draws
    model: str
    terms: tuple[tuple[TaggedFactor, ...], ...] | None = None
    linear_on: str | None = None
    keeps_shape: bool = False
    together: int = 1
    tested: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.draws not in get_args(Draws):
            raise ReleaseError(
                f"a step of the tags must draw one of {', '.join(get_args(Draws))}", kind="tags"
            )

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON, R and Parquet."""
        terms: Any = _EARLIER if self.terms is None else [[*term] for term in self.terms]
        plain = {"columns": [*self.columns], "draws": self.draws, "model": self.model, "terms": terms}
        if self.linear_on is not None:
            plain["linear_on"] = self.linear_on
        if self.keeps_shape:
            plain["keeps_shape"] = True
        if self.together > 1:
            plain["together"] = self.together
        if self.tested:
            plain["tested"] = [*self.tested]
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_plain` wrote; what a later version added is left aside.

        Raises
        ------
        ReleaseError
            When a part is missing; take the release anew from its source.
        """
        try:
            terms = plain["terms"]
            return cls(
                columns=_names(plain["columns"]),
                draws=plain["draws"],
                model=str(plain["model"]),
                terms=None if terms == _EARLIER else tuple(_factors(term) for term in terms),
                linear_on=plain.get("linear_on"),
                keeps_shape=bool(plain.get("keeps_shape", False)),
                together=int(plain.get("together", 1)),
                tested=_names(plain.get("tested", ())),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ReleaseError(
                "a step of the tags lacks columns, draws, model or terms; take the release anew from "
                "its source",
                kind="tags",
            ) from error


def _names(given: Any) -> tuple[str, ...]:
    """Read names; R writes one name as a text alone."""
    return (given,) if isinstance(given, str) else tuple(map(str, given))


def _factors(term: Any) -> tuple[TaggedFactor, ...]:
    """Read a term."""
    if isinstance(term, str | Mapping):
        return (term,)
    if not isinstance(term, Sequence):
        raise TypeError
    return tuple(term)
