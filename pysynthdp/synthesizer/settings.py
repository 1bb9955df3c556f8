"""What a user asks of a synthesis, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import pandas as pd

from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpError, together
from pysynthdp.base.even import Evenness
from pysynthdp.base.words import CODEBOOK, OTHER, Setting, Words
from pysynthdp.curator.infer import (
    Rare,
)
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan import Protection
from pysynthdp.plan.protection import protection_of
from pysynthdp.plan.recoded import sums_of
from pysynthdp.plan.terms import Chosen
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.schema import CategoricalColumn, Design, Schema, Units
from pysynthdp.schema.declarations import DECLARATIONS, Codes, Declarations
from pysynthdp.synthesizer.designed import check_design, check_guaranteed, check_population
from pysynthdp.synthesizer.grouped import check_apart, check_units
from pysynthdp.synthesizer.stated import with_codes, wrong_stated
from pysynthdp.synthesizer.wrong import NOTHING, wrong_settings

__all__ = ["Settings", "with_labels"]

Of = TypeVar("Of", bound="Settings")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Settings:
    """What a user asks of a synthesis, checked.

    The base of :class:`Synthesizer`, which says what each field is, plans and fits; those who do that for it
    read these settings.
    """

    schema: Schema | None = None
    method: str | ColumnModel | Mapping[str, str | ColumnModel] | None = None
    visit_sequence: Sequence[str] | None = None
    predictor_matrix: pd.DataFrame | Mapping[str, Iterable[str]] | None = None
    formulas: Sequence[str] = ()
    max_predictors: int | None = None
    terms: Chosen | None = None
    missing: Mapping[str, Codes] = field(default_factory=dict)
    spikes: Mapping[str, Iterable[float]] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    decimals: Mapping[str, int] = field(default_factory=dict)
    levels: Mapping[str, Iterable[Any]] = field(default_factory=dict)
    keep: Sequence[str] = ()
    drop: Sequence[str] = ()
    proper: bool = False
    draws: Evenness | None = None
    emit_original: bool = False
    joint: Sequence[tuple[Sequence[str], str | ColumnModel]] = ()
    rare: Rare = "keep"
    derive: Mapping[str, str | None] | Literal["no"] = field(default_factory=dict)
    universe: Mapping[str, str | tuple[str, Any]] = field(default_factory=dict)
    rules: Sequence[str] = ()
    must_sum: Mapping[str, Sequence[str]] = field(default_factory=dict)
    top_code: Mapping[str, float] = field(default_factory=dict)
    round: Mapping[str, float] = field(default_factory=dict)
    nested: Mapping[str, str] = field(default_factory=dict)
    strata: str | Sequence[str] = ()
    units: Units | None = None
    design: Design | None = None
    guarantee: Protection | Guarantee | None = None
    workers: int | None = None
    progress: bool | None = None
    scratch: str | Path | None = None
    scratch_encrypt: bool = False
    labels: Schema | None = field(default=None, init=False)  # of a labelled file, while its table is fitted

    def __post_init__(self) -> None:
        _check_settings(self)

    @property
    def formulated(self) -> frozenset[str]:
        """Columns whose predictors the user names."""
        matrix = self.predictor_matrix
        rows = matrix.index if isinstance(matrix, pd.DataFrame) else matrix or ()
        targets = (text.partition("~")[0].strip().strip("`") for text in self.formulas)
        return frozenset(map(str, rows)).union(targets)

    @property
    def derived(self) -> dict[str, str]:
        """Expressions by column, without columns that are to be drawn whatever is found."""
        given = {} if self.derive == NOTHING or self.derive is None else dict(self.derive)
        own = {name: text for name, text in given.items() if text is not None and text != NOTHING}
        return {**own, **sums_of(self.must_sum)}

    @property
    def declarations(self) -> Declarations:
        """What is declared of single columns; codes outside universes are missing ones, 0 is a spike."""
        given = Declarations(**{what: getattr(self, what) for what in DECLARATIONS})
        return with_codes(given, self.universe)

    @property
    def parting(self) -> frozenset[str]:
        """Columns that are nested, or in which others are, or that tell strata or units; all are levels."""
        groups = () if self.design is None else self.design.grouping
        strata = (self.strata,) if isinstance(self.strata, str) else self.strata
        return frozenset((*self.nested, *self.nested.values(), *strata, *groups))

    @property
    def protection(self) -> Protection:
        """How the table is protected: what ``guarantee`` asks for, short forms written out."""
        asked = protection_of(self.guarantee)
        if asked.learns or not isinstance(self.units, Units):
            return asked
        return asked.of_units(self.units, _most_rows(self.units, self.schema))


def _most_rows(units: Units, schema: Schema | None) -> int:
    """Give the most rows that a unit may have by what is declared; a panel has one at each place at most."""
    by = units.by if units.panel and isinstance(schema, Schema) else None
    column = schema[by] if schema is not None and by is not None and by in schema else None
    places = len(column.levels) if isinstance(column, CategoricalColumn) else 0
    return max(places, 1) if units.panel else units.max_size or 1


def with_labels(settings: Of, labels: Schema | None) -> Of:
    """Give the same settings for a table with labels, which are public ones under a guarantee.

    There they are the schema where none was given; what they lack is then named, column by column.
    """
    if labels is None:
        return settings
    public = not settings.protection.learns and settings.schema is None
    own = replace(settings, schema=labels) if public else copy(settings)
    object.__setattr__(own, "labels", labels)
    return own


def _check_settings(settings: Settings) -> None:
    """Refuse settings that contradict each other, whatever the table: all of them together.

    Raises
    ------
    PlanError
        Names each setting and what to write.
    PrivacyError
        Where a guarantee does not go with another setting.
    """
    faults: list[PysynthdpError] = [*wrong_settings(settings)]
    derived = settings.derive if isinstance(settings.derive, Mapping) else ()
    numbers = {"top_code": settings.top_code, "round": settings.round}
    faults += wrong_stated(settings.universe, settings.must_sum, numbers, derived)
    if faults:
        raise together(faults)
    both = sorted(set(settings.keep) & set(settings.drop))
    if both:
        text = Words("{name} is both kept and dropped", name=both[0])
        raise PlanError(text, column=both[0], kind="setting", remedy="name it once")
    protection = settings.protection  # refuses what is no guarantee
    if settings.rare != "keep" and not protection.learns:
        asked = Setting("rare", settings.rare)
        raise PrivacyError(
            Words("{asked} counts records, which a formal guarantee does not allow", asked=asked),
            kind="rare levels",
            remedy=Words(
                "leave it out and declare coarser levels, with {other} for what is not among them",
                other=OTHER,
            ),
        )
    if settings.terms == "screened" and not protection.learns:
        asked = Setting("terms", "screened")
        raise PrivacyError(
            Words("{asked} looks at records, which a formal guarantee does not allow", asked=asked),
            kind="terms",
            remedy=Words("leave it out, and name terms in {formulas}", formulas=Setting("formulas", [...])),
        )
    if not protection.learns:
        check_apart(settings)
        check_guaranteed(settings.design)
    check_units(settings)
    check_design(settings.design)
    check_population(settings)
    _check_schema(settings)


def _check_schema(settings: Settings) -> None:
    """Refuse a schema of another type, and declarations beside a schema, which would be ignored."""
    if settings.schema is None:
        return
    if not isinstance(settings.schema, Schema):
        raise PlanError(
            "schema must be a Schema", kind="setting", remedy=Words("write {schema}", schema=CODEBOOK)
        )
    beside = [what for what in DECLARATIONS if getattr(settings, what)]
    if beside:
        mend = "declare it in the schema's columns instead"
        texts = [Words("{what} is given beside a schema", what=what) for what in beside]
        raise together([PlanError(text, kind="setting", remedy=mend) for text in texts])
