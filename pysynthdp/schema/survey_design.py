"""How a sample was drawn: columns of weights, strata and clusters, and what a synthesis does with them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, get_args

from pysynthdp.base.errors import PlanError, together
from pysynthdp.base.words import Said, Setting, Words, meant

__all__ = ["Design", "How", "Rebuild", "Totals", "by_level", "lonely_word", "written"]

How: TypeAlias = Literal["keep", "synthesise", "population"]
"""What becomes of a design: real columns, a weight that is drawn last, or synthetic populations."""
OddWeights: TypeAlias = Literal["refuse", "drop"]
Replicates: TypeAlias = Literal["refuse", "drop", "rebuild"]
Rebuild: TypeAlias = Literal["JK1", "JKn", "BRR", "Fay", "bootstrap"]
Lonely: TypeAlias = Literal["fail", "certainty", "merge"]
Totals: TypeAlias = float | Mapping[str, Mapping[Any, float]]
"""Public totals: of the whole population, or by the levels of columns."""
ACCEPTED: Final = 0.05  # share of rows that may be told apart by the columns that stay real
TIMES: Final = 10  # rows of a population's sample for each record: what it adds to a variance is a tenth
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
        Columns of the strata and of the primary sampling units (clusters of the first stage). With ``units``
        these are the units unless ``psu`` names others, and the design is theirs.
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
        design of the copies (with ``"keep"`` alone).
    rebuild : {"JKn", "JK1", "BRR", "Fay", "bootstrap"}
        How replicate weights are made anew: one sampling unit left out, within strata or in a sample without
        strata; balanced halves of strata of two units, Fay's with a half of the other unit's weight; n - 1
        units of a stratum drawn with replacement (Rao and Wu).
    populations : int
        Of ``"population"``: how many there are, each with a fit of its own and a copy. With fewer than ten
        intervals are wide, or missing.
    sample : int, optional
        Of ``"population"``: rows of the simple random sample of each, and of each copy; ten for each record
        by default. With few, intervals are missing more often.
    weighted : bool
        Of ``"keep"``: whether rows count by their weights in every fit, so that weighted means, totals and
        slopes of copies are those of the table, also where a model is only near. False: each counts once.
    lonely : {"fail", "certainty", "merge"}
        Of ``"population"``: what becomes of strata with one sampling unit, which say nothing of how units
        vary: the fit is refused, they add nothing to variances (as if sampled for certain), or each is one
        with the stratum after it.

    Notes
    -----
    Privacy: names and public numbers; reads nothing. Columns that stay real carry no guarantee, so that
    ``"keep"`` is refused under one.

    Examples
    --------
    >>> design = Design(weight="pw", strata="stype", fpc="fpc")
    >>> design.columns
    ('pw', 'stype', 'fpc')

    Copies of synthetic populations need no weights: one unit in ten has g = 1 in them, one row in two here.

    >>> import pandas as pd
    >>> import pysynthdp
    >>> sample = pd.DataFrame({"g": [1, 2] * 60, "y": [20.5, 31, 47, 62] * 30, "pw": [1.0, 9.0] * 60})
    >>> design = pysynthdp.Design(weight="pw", how="population", sample=500)
    >>> release = pysynthdp.synthesize(sample, m=10, rng=1, design=design)
    >>> release.m, len(release[0]), release.tags.nesting, list(release[0])
    (10, 500, 'pseudo_population', ['g', 'y'])
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
    rebuild: Rebuild = "JKn"
    populations: int = 20
    sample: int | None = None
    lonely: Lonely = "fail"
    weighted: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "lonely", lonely_word(self.lonely))
        faults = [
            *_wrong_names(self),
            *_wrong_choices(self),
            *_wrong_numbers(self),
            *_wrong_populations(self),
        ]
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
        return (*self.columns, *self.rebuilt) if self.how == "keep" else ()

    @property
    def rebuilt(self) -> tuple[str, ...]:
        """Columns of replicate weights that are made anew."""
        return tuple(self.replicate_weights) if self.replicates == "rebuild" else ()

    @property
    def absent(self) -> tuple[str, ...]:
        """Columns that copies do without, since they need no weights: all but the strata."""
        if self.how != "population":
            return ()
        return tuple(name for name in self.columns if name != self.strata)

    def sample_rows(self, n: int) -> int:
        """Rows of a population's sample, and of a copy, for a table of n rows."""
        return self.sample or TIMES * n

    @property
    def drawn(self) -> tuple[str, ...]:
        """The weight, where it is drawn after all others, and no other column from it."""
        return (self.weight,) if self.how == "synthesise" and self.weight is not None else ()

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


_CHOICES: Final = (
    ("how", How),
    ("odd_weights", OddWeights),
    ("replicates", Replicates),
    ("rebuild", Rebuild),
    ("lonely", Lonely),
)


_OLDER: Final = {"refuse": "fail", "certain": "certainty"}


def lonely_word(word: Any) -> Any:
    """Give the word of R's ``survey.lonely.psu`` for what becomes of single units; older ones are taken.

    Examples
    --------
    >>> lonely_word("certain"), lonely_word("merge")
    ('certainty', 'merge')
    """
    return _OLDER.get(word, word) if isinstance(word, str) else word


def by_level(totals: Mapping[Any, float], levels: Iterable[Any]) -> dict[Any, float]:
    """Give the total of each level; a level is named by itself or by its text, as a plan file names it.

    Examples
    --------
    >>> by_level({"1": 10.0, "b": 5.0}, [1, "b", "c"])
    {1: 10.0, 'b': 5.0}
    """
    texts = {_text(level): total for level, total in totals.items()}
    return {level: texts[_text(level)] for level in levels if _text(level) in texts}


def _text(level: Any) -> str:
    """Write a level; a whole number without its point."""
    whole = isinstance(level, float) and level.is_integer()
    return str(int(level)) if whole else str(level)


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
    for name, kind in _CHOICES:
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


def _wrong_populations(design: Design) -> Iterator[PlanError]:
    """Find numbers of populations and of rows that are none, and settings that belong to them alone."""
    for what, least, given in (("populations", 2, design.populations), ("sample", 50, design.sample)):
        if given is None and what == "sample":
            continue
        if isinstance(given, bool) or not isinstance(given, int) or given < least:
            text = Words(
                "{what} of design must be a whole number of at least {least}", what=what, least=least
            )
            yield PlanError(
                text, kind="design", remedy=Words("write {own}", own=written(**{what: 20 * least}))
            )
    own = (design.populations != 20, design.sample is not None, design.lonely != "fail")
    for what, asked in zip(("populations", "sample", "lonely"), own, strict=True):
        if asked and design.how != "population":
            text = Words("{what} of design is of synthetic populations alone", what=what)
            mend = Words("leave it out, or write {own}", own=written(how="population"))
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
