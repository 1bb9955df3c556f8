"""How a sample was drawn: columns of weights, strata and clusters, and what a synthesis does with them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, get_args

from pysynthdp.base.errors import PlanError, together
from pysynthdp.base.words import Said, Setting, Words, meant

__all__ = ["Design", "How", "Totals", "written"]

How: TypeAlias = Literal["keep", "synthesise", "population"]
"""What becomes of a design: real columns, a weight that is drawn last, or synthetic populations."""
OddWeights: TypeAlias = Literal["refuse", "drop"]
Replicates: TypeAlias = Literal["refuse", "drop", "rebuild"]
Totals: TypeAlias = float | Mapping[str, Mapping[Any, float]]
"""Public totals: of the whole population, or by the levels of columns."""
ACCEPTED: Final = 0.05  # share of rows that may be told apart by the columns that stay real
_ROLES: Final = ("weight", "strata", "psu", "fpc")
_RECODED: Final = ("strata", "psu")


def written(**own: Any) -> Said:
    """Write a design as whoever reads types it.

    Examples
    --------
    >>> str(Words("write {design}", design=written(weight="pw")))
    "write design=Design(weight='pw')"
    """
    setting = Setting("design", own)
    inside = ", ".join(f"{name}={one!r}" for name, one in own.items()).replace("Ellipsis", "...")
    return Said(f"design=Design({inside})", setting.said("shell"), setting.said("r"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The design of a sample, and what a synthesis does with it.

    Parameters
    ----------
    weight : str, optional
        Column of the weights; without one all rows weigh the same.
    strata, psu : str, optional
        Columns of the strata and of the primary sampling units (clusters of the first stage).
    replicate_weights : sequence of str
        Columns of replicate weights. They are never drawn as ordinary columns: see ``replicates``.
    fpc : str, optional
        Column with the size of the population, of the row's stratum or in all: in sampling units.
    how : {"keep", "synthesise", "population"}
        ``"keep"``: the columns of the design stay as they really are, strata and sampling units under new
        names, and strata and the logarithm of the weight are predictors of every other column.
        ``"synthesise"``: the weight is drawn last and then moved to ``totals``; copies have no design of
        their own, and what is estimated from them says so. ``"population"``: models are fitted to samples of
        synthetic populations, and copies need no weights.
    accept : float
        Largest share of rows that may be alone with what they hold in the columns that stay real; a fit
        refuses more. Whoever holds the survey file, or a frame, knows such a person again.
    totals : number or mapping column -> {level: total}, optional
        Public totals of the weights: of the whole population, or of the levels of columns. With ``"keep"``
        they are checked, with ``"synthesise"`` the drawn weights are moved to them. They are declared, never
        taken from the table.
    recode : sequence of {"strata", "psu"}
        Which names are replaced by new ones of the same form; both by default.
    odd_weights : {"refuse", "drop"}
        What becomes of rows whose weight is missing, zero, negative or infinite: the fit is refused, or they
        are left out of it and of the copies.
    replicates : {"refuse", "drop", "rebuild"}
        What becomes of replicate weights: the fit is refused, or they are not released, or made anew from the
        design of the copies.

    Notes
    -----
    Privacy: names and public numbers; reads nothing. Columns that stay real carry no guarantee, so that
    ``"keep"`` is refused under one.

    Examples
    --------
    >>> design = Design(weight="pw", strata="stype", fpc="fpc")
    >>> design.columns
    ('pw', 'stype', 'fpc')
    """

    weight: str | None = None
    strata: str | None = None
    psu: str | None = None
    replicate_weights: Sequence[str] = ()
    fpc: str | None = None
    how: How = "keep"
    accept: float = ACCEPTED
    totals: Totals | None = field(default=None)
    recode: Sequence[Literal["strata", "psu"]] = _RECODED
    odd_weights: OddWeights = "refuse"
    replicates: Replicates = "refuse"

    def __post_init__(self) -> None:
        faults = [*_wrong_names(self), *_wrong_choices(self), *_wrong_numbers(self)]
        if faults:
            raise together(faults)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the design, without replicate weights."""
        found = (getattr(self, role) for role in _ROLES)
        return tuple(name for name in found if name is not None)

    @property
    def real(self) -> tuple[str, ...]:
        """Columns that are released as they really are."""
        return self.columns if self.how == "keep" else ()

    @property
    def renamed(self) -> tuple[str, ...]:
        """Columns that stay real and whose values get new names."""
        found = (getattr(self, role) for role in self.recode)
        return tuple(name for name in found if name is not None) if self.how == "keep" else ()

    @property
    def grouping(self) -> tuple[str, ...]:
        """Columns that hold names of groups, whatever they look like."""
        return tuple(name for name in (self.strata, self.psu) if name is not None)

    @property
    def told(self) -> tuple[tuple[str, str], ...]:
        """Roles and columns, for those who read copies."""
        return tuple((role, name) for role in _ROLES if (name := getattr(self, role)) is not None)


def _wrong_names(design: Design) -> Iterator[PlanError]:
    """Find what names no column, names one twice, and a design that names none."""
    for role in _ROLES:
        given: object = getattr(design, role)
        if given is not None and not isinstance(given, str):
            mend = Words("write {setting}", setting=written(**{role: "column"}))
            yield PlanError(
                Words("{role} of design must name one column", role=role), kind="design", remedy=mend
            )
            return
    for what in ("replicate_weights", "recode"):
        if not _are_names(getattr(design, what)):
            mend = Words("write {setting}", setting=written(**{what: [...]}))
            yield PlanError(Words("{what} of design must be a list", what=what), kind="design", remedy=mend)
            return
    named = [*design.columns, *design.replicate_weights]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        what = Words("design names {name} twice", name=twice)
        yield PlanError(what, column=twice, kind="design", remedy="name each column once")
    if not named:
        mend = Words("write {setting}", setting=written(weight="column"))
        yield PlanError("design names no column", kind="design", remedy=mend)


def _are_names(given: object) -> bool:
    """Whether something is a list of texts."""
    return (
        isinstance(given, Sequence)
        and not isinstance(given, str)
        and all(isinstance(one, str) for one in given)
    )


def _wrong_choices(design: Design) -> Iterator[PlanError]:
    """Find words that are no choices."""
    for name, kind in (("how", How), ("odd_weights", OddWeights), ("replicates", Replicates)):
        given, known = getattr(design, name), get_args(kind)
        if given not in known:
            text = Words(
                "{what} of design must be one of {known}", what=name, known=", ".join(map(repr, known))
            )
            yield PlanError(text, kind="design", remedy=meant(str(given), known, "choose one of them"))
    for given in design.recode if _are_names(design.recode) else ():
        if given not in _RECODED:
            what = "recode of design lists 'strata', 'psu' or neither"
            yield PlanError(what, kind="design", remedy=meant(str(given), _RECODED, "choose of them"))
    if design.how != "keep" and design.weight is None:
        mend = Words("name the column, {setting}", setting=written(weight="column"))
        text = Words("design: {how} needs a weight", how=Setting("how", design.how))
        yield PlanError(text, kind="design", remedy=mend)


def _wrong_numbers(design: Design) -> Iterator[PlanError]:
    """Find shares and totals that are none."""
    share: object = design.accept
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        yield PlanError(
            "accept of design must be a share between 0 and 1",
            kind="design",
            remedy=Words("write {setting}", setting=written(accept=0.2)),
        )
    if design.totals is not None and not _are_totals(design.totals):
        yield PlanError(
            "totals of design must be a positive number, or positive numbers by level, by column",
            kind="design",
            remedy=Words("write {setting}", setting=written(totals={"region": {"north": 5000}})),
        )
    elif design.how == "synthesise" and design.totals is None:
        yield PlanError(
            "design: a weight that is drawn is moved to public totals, and none is declared",
            column=design.weight,
            kind="design",
            remedy=Words(
                "declare the size of the population, {setting}",
                setting=written(totals=6000),
            ),
        )
    elif isinstance(design.totals, Mapping) and design.how == "synthesise":
        sums = [math.fsum(own.values()) for own in design.totals.values()]
        if max(sums) > min(sums) * (1 + 1e-6):
            names = ", ".join(map(str, design.totals))
            text = Words("design: the totals by {names} have different sums", names=names)
            mend = "make each column's totals add up to the population"
            yield PlanError(text, kind="design", remedy=mend)


def _are_totals(given: object) -> bool:
    """Whether something is a total, or totals by column and level."""
    if isinstance(given, Mapping):
        own = list(given.values())
        return bool(own) and all(
            isinstance(one, Mapping) and bool(one) and all(map(_is_total, one.values())) for one in own
        )
    return _is_total(given)


def _is_total(given: object) -> bool:
    """Whether something is a positive number."""
    return not isinstance(given, bool) and isinstance(given, int | float) and 0 < given < math.inf
