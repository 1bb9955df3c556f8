"""Ask for a guarantee by noise in the answers: paid once at the fit, draws free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Final, Self

import numpy as np
import pandas as pd

from pysynthdp.base.display import Printable
from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.base.even import Evenness
from pysynthdp.base.progress import progress_bar
from pysynthdp.base.slips import answers_slips
from pysynthdp.base.words import Said, Setting, Words
from pysynthdp.design.encode import Layout, n_features
from pysynthdp.plan import Step, SynthesisPlan, Terms
from pysynthdp.plan.declared import public_schema
from pysynthdp.plan.fit import Fit
from pysynthdp.plan.plain import common_settings, plain_unit, refuse_unknown_settings
from pysynthdp.plan.protection import PROTECTIONS, FitRequest, Price, Protection, Spends, Wishes
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.domain import downward
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.guarantees.approx import ApproxDP
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.unit import PrivacyUnit, checked_unit
from pysynthdp.protection.facts import public_facts
from pysynthdp.protection.noise.budget import deltas_of, hints_of, in_plain_numbers, rho_of
from pysynthdp.protection.noise.fitting import MomentCopies, fit_noised
from pysynthdp.protection.noise.moments.design import moment_designs
from pysynthdp.protection.noise.precision import expected_precision
from pysynthdp.protection.noise.price import price_noised
from pysynthdp.protection.noise.steps import check_noised, noised_steps
from pysynthdp.protection.noise.tagging import noised_statement, noised_tags
from pysynthdp.protection.noise.trial import try_model
from pysynthdp.protection.refusals import checked_flag, checked_outside, refuse_outside, refuse_real_rows
from pysynthdp.schema import Schema, Units
from pysynthdp.tags import ReleaseTags

__all__ = ["ByNoise"]

_TESTING: Final = Said(
    "ByNoise(..., testing=True)", "nothing: Python alone has it", "nothing: Python alone has it"
)
_NONE_FRESH: Final = Said("fresh=0", "fresh = 0", "fresh_noise = 0")

_COPIES = 20
_KINDS: Mapping[str, type[ZCDP | ApproxDP]] = {"zcdp": ZCDP, "approx": ApproxDP}
_SETTINGS = ("unit", "deltas", "hints", "fresh", "outside")


@PROTECTIONS.register
@answers_slips
@dataclass(frozen=True, slots=True)
class ByNoise(Protection):
    """A guarantee by noise in the answers that all columns are fitted to; copies cost nothing.

    Parameters
    ----------
    guarantee : ZCDP or ApproxDP
        What the fit must guarantee one unit over everything that is asked.
    unit : PrivacyUnit
        Whose record is protected, and what neighbours are.
    deltas : tuple of float, optional
        Where the statement quotes (epsilon, delta); 1e-6 by default. ``ApproxDP`` has its own.
    hints : mapping column -> (centre, spread)
        Public guesses of mean and standard deviation; rather too large a spread. Without one: the middle of
        the bounds, and a sixth of their width.
    fresh : int
        Number of copies that each get noisy answers of their own, with an equal part of the budget; 0 for one
        noisy release that any number of copies come from.
    testing : bool
        Allow seeded noise; everything is then void.
    outside : tuple of str
        Models of other packages that are allowed by name; the noise protects whatever they do with it.

    Raises
    ------
    PrivacyError
        For a guarantee that this noise does not have, or a setting outside its domain or of another type.

    Notes
    -----
    Privacy: a setting; reads nothing. ``guarantee=ZCDP(0.5)`` of a Synthesizer is short for
    ``guarantee=ByNoise(ZCDP(0.5))``.

    Examples
    --------
    >>> ByNoise(ZCDP(0.1), deltas=(1e-6, 1e-9)).row_rho
    0.1
    """

    guarantee: ZCDP | ApproxDP
    unit: PrivacyUnit = field(default_factory=PrivacyUnit, kw_only=True)
    deltas: tuple[float, ...] | None = field(default=None, kw_only=True)
    hints: Mapping[str, tuple[float, float]] = field(default_factory=dict, kw_only=True)
    fresh: int = field(default=0, kw_only=True)
    testing: bool = field(default=False, kw_only=True)
    outside: tuple[str, ...] = field(default=(), kw_only=True)
    rho: float = field(init=False, repr=False, compare=False)
    name: ClassVar[str] = "by_noise"
    forms: ClassVar[tuple[str, ...]] = tuple(_KINDS)
    spends: ClassVar[Spends] = "at the fit"
    draws: ClassVar[Evenness | None] = None
    draws_evenly: ClassVar[bool] = True
    redraws: ClassVar[bool] = True
    answers_on_file: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked_unit(self.unit, whole=True)
        whole = isinstance(self.fresh, int) and not isinstance(self.fresh, bool)
        if not whole or self.fresh < 0:
            raise PrivacyError(
                "fresh must be a number of copies, or 0 for one noisy release", kind="guarantee"
            )
        checked_flag("testing", self.testing)
        for name, value in (
            ("rho", float(rho_of(self.guarantee))),
            ("guarantee", in_plain_numbers(self.guarantee)),
            ("deltas", deltas_of(self.guarantee, self.deltas)),
            ("hints", hints_of(self.hints)),
            ("outside", checked_outside(self.outside)),
        ):
            object.__setattr__(self, name, value)

    def of_units(self, units: Units, most: int) -> Self:
        """Protect whole units: all their rows that take part, in whichever place.

        Raises
        ------
        PrivacyError
            Where the unit of the guarantee says otherwise.
        """
        own = self.unit
        if own.key not in (None, units.id) or own.rows_per_unit not in (1, most):
            what = "the guarantee's unit has a key or rows_per_unit of its own beside units"
            mend = "leave them out: units say them"
            raise PrivacyError(what, kind="unit", remedy=mend)
        name = "unit" if own.name == "record" else own.name
        return replace(self, unit=PrivacyUnit(own.relation, most, name, units.id, whole=True))

    @property
    def releases(self) -> int:
        """Noisy releases that share the budget."""
        return max(self.fresh, 1)

    @property
    def row_rho(self) -> float:
        """Budget of one row in one release: group privacy divides by the square of the rows of a unit."""
        parts = self.releases * self.unit.priced_rows**2
        return self.rho if parts == 1 else downward(self.rho / parts)

    @property
    def quoted(self) -> tuple[float, ...]:
        """Where (epsilon, delta) is quoted."""
        return self.deltas or ()

    @classmethod
    def from_short(cls, asked: object) -> Self | None:
        """Take a bare guarantee, which means noise in the answers."""
        if not isinstance(asked, Guarantee) or isinstance(asked, type):
            return None
        rho_of(asked)  # refuses kinds that this noise does not have
        return cls(asked)  # type: ignore[arg-type]  # checked in the line above

    @classmethod
    def from_plain(cls, given: Mapping[str, Any], at: str) -> Self:
        """``{name = "zcdp", rho = 0.5, unit = {...}, deltas = [...], hints = {...}, fresh = 0}``."""
        kind = _KINDS[given["name"]]
        own = [item.name for item in fields(kind)]
        refuse_unknown_settings(given, ("name", *own, *_SETTINGS), at)
        lacking = [name for name in own if name not in given]
        if lacking:
            raise PlanError(
                f"{at}: {given['name']!r} lacks a parameter",
                kind="guarantee",
                remedy=f"write {' and '.join(lacking)}",
            )
        asked = kind(**{name: given[name] for name in own})
        rest = {name: given[name] for name in ("hints", "fresh") if name in given}
        return cls(asked, **common_settings(given, at), **rest)

    def to_plain(self) -> dict[str, Any]:
        """Write what :meth:`from_plain` reads; a plan file cannot ask for seeded noise."""
        if self.testing:
            mend = "leave it out of what is written"
            what = Words("{testing} belongs to Python alone", testing=Setting("testing", True))
            raise PlanError(what, kind="setting", remedy=mend)
        asked = self.guarantee
        plain = {"name": asked.name, **{item.name: getattr(asked, item.name) for item in fields(asked)}}
        plain |= {"unit": plain_unit(self.unit), "deltas": list(self.quoted), "fresh": self.fresh}
        plain |= {"hints": {name: list(pair) for name, pair in self.hints.items()}} if self.hints else {}
        return plain | ({"outside": list(self.outside)} if self.outside else {})

    @property
    def n_told(self) -> bool:
        """Where neighbours differ in it, the number of rows is a noisy answer."""
        return True

    def public_schema(self, schema: Schema) -> Schema:
        """Draw the missing values of a categorical column as levels."""
        return public_schema(schema)

    def check_wishes(self, schema: Schema, wishes: Wishes) -> None:
        """Refuse what noisy cross-products do not have, or do anyway."""
        refuse_real_rows(wishes)
        if wishes.proper:
            what = Words(
                "{proper} does not apply under noise in the answers, where parameters are drawn anew for "
                "each copy anyway",
                proper=Setting("proper", True),
            )
            raise PlanError(what, kind="setting", remedy="leave it out")
        check_noised(schema, wishes, hints=self.hints, rho=self.row_rho, relation=self.unit.relation)

    def steps(self, schema: Schema, wishes: Wishes) -> Sequence[Step]:
        """Categorical parts first, then numbers."""
        return noised_steps(schema, wishes)

    def check(self, plan: SynthesisPlan) -> None:
        """Refuse models of other packages that were not allowed, or that lack what later columns need."""
        for step in plan.steps:
            refuse_outside(step.model, step.label, self.outside)
            try_model(step, plan)

    def given(self, plan: SynthesisPlan) -> tuple[Terms, ...]:
        """Every earlier part in moment order, or the user's own."""
        return _given_columns(plan)

    def parameters(self, plan: SynthesisPlan) -> str:
        """Redrawn around the answers, or fitted to answers of a copy's own."""
        del plan
        if self.releases > 1:
            return "fitted, from noisy answers of each copy's own"
        return "redrawn for each copy around the noisy answers"

    def price(self, plan: SynthesisPlan, *, n: int, n_syn: int | None = None, m: int = 5) -> Price:
        """Price the fit; copies are free."""
        del n_syn, m
        return price_noised(plan, self, n=n)

    def expected_precision(
        self, plan: SynthesisPlan, *, n: int, m: int = _COPIES, n_syn: int | None = None
    ) -> Printable:
        """Say what the budget buys, from public constants."""
        return expected_precision(plan, self, n=n, m=m, n_syn=n_syn)

    def price_of_fit(self) -> ZCDP:
        """Give the budget; seeded noise has no price."""
        if self.testing:
            raise PrivacyError(
                "noise that may be seeded protects nothing, so no ledger holds its price",
                kind="ledger",
                remedy=Words("leave the ledger out, or {testing}", testing=_TESTING),
            )
        return ZCDP(self.rho)

    def rehearsal(self) -> Self:
        """Let the noise be seeded, and mark everything void."""
        return replace(self, testing=True)

    def check_request(self, *, answers: object, noise_seed: object) -> None:
        """Refuse a seed where it counts."""
        del answers
        if noise_seed is not None and not self.testing:
            raise PrivacyError(
                "a seed would let anyone take the noise off again",
                kind="setting",
                remedy=Words(
                    "leave noise_seed out, or set {testing}, which marks everything void", testing=_TESTING
                ),
            )
        whole = isinstance(noise_seed, int) and not isinstance(noise_seed, bool) and noise_seed >= 0
        if noise_seed is not None and not whole:
            raise PlanError("noise_seed must be a whole number of at least 0, or None", kind="guarantee")

    def fit(self, plan: SynthesisPlan, request: FitRequest) -> Fit:
        """Ask, with noise, and fit to the answers."""
        return self.fit_units(plan, request)[0]

    def fit_units(self, plan: SynthesisPlan, request: FitRequest) -> tuple[Fit, ...]:
        """Ask about units and about their further rows, and fit to the answers."""
        with progress_bar(1, "fit", show=request.progress) as note:
            found = fit_noised(plan, self, request)
            note("answers")
        return found

    def holds(self, plan: SynthesisPlan, fit: Fit) -> str:
        """Noised answers."""
        del plan, fit
        return "noised answers and what follows from them: protected as the copies are"

    def copies(self, m: int | None) -> int:
        """Twenty by default; no more than there are noisy releases where each copy has its own."""
        if self.fresh and isinstance(m, int | np.integer) and m > self.fresh:
            text = "the budget of this fit is spent on {fresh} copies with noise of their own"
            mend = Words("draw at most those, or fit with {none} for any number", none=_NONE_FRESH)
            raise PrivacyError(Words(text, fresh=self.fresh), kind="copies", remedy=mend)
        return (self.fresh or _COPIES) if m is None else m

    def statement(self, plan: SynthesisPlan, fit: Fit, account: Account) -> PrivacyStatement:
        """State what the noise guarantees; copies add nothing."""
        public = public_facts(plan, n_public=self.unit.relation == "replace_one")
        return noised_statement(plan, self, _copies(fit).states, account, public=public)

    def tags(
        self, tags: ReleaseTags, plan: SynthesisPlan, *, fit: Fit, copies: Sequence[pd.DataFrame]
    ) -> ReleaseTags:
        """Say how noise enters the copies."""
        del copies
        source = _copies(fit)
        return noised_tags(tags, plan, self, source.states, redraw=source.redraw, even=source.even)


def _copies(fit: Fit) -> MomentCopies:
    """Give the source that this protection made."""
    if not isinstance(fit.source, MomentCopies):
        raise PrivacyError("this fit was not made from noised answers", kind="guarantee", remedy="fit again")
    return fit.source


def _given_columns(plan: SynthesisPlan) -> tuple[Terms, ...]:
    """Name for each step the other columns that it is drawn from, in the order in which they are drawn.

    Notes
    -----
    Privacy: declared facts only.
    """
    layout = Layout(tuple(part for step in plan.steps for part in step.targets), {})
    owners = ["", *(part.column for part in layout.parts for _ in range(n_features(part)))]
    found = []
    for step, design in zip(plan.steps, moment_designs(plan, layout), strict=True):
        own = {part.column for part in step.targets}
        names = dict.fromkeys(owners[i] for (i,) in design.features[1:] if owners[i] not in own)
        found.append(tuple((name,) for name in names))
    return tuple(found)
