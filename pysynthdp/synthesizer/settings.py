"""What the settings of a synthesizer come to: their checks, the schema, the plan."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args

import pandas as pd

from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpError, SchemaError, together
from pysynthdp.base.even import Evenness
from pysynthdp.base.marks import SERIAL
from pysynthdp.base.words import CODEBOOK, FLAG, OTHER, Setting, Words, meant
from pysynthdp.curator.infer import (
    Drawn,
    Rare,
    Settled,
    infer_schema,
    kinds_apart,
    settle_rare,
    united,
)
from pysynthdp.design.dtypes import with_types
from pysynthdp.design.parts import absent_columns
from pysynthdp.design.rows import Rows
from pysynthdp.design.survey_table import declarations_of, labelled
from pysynthdp.models.base import COLUMN_MODELS, ColumnModel
from pysynthdp.plan import Protection, SynthesisPlan, drawn_by, make_plan
from pysynthdp.plan.asked import asking
from pysynthdp.plan.methods import no_method
from pysynthdp.plan.order import Behind
from pysynthdp.plan.protection import protection_of
from pysynthdp.plan.recoded import sums_of
from pysynthdp.plan.terms import Chosen
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.schema import Schema
from pysynthdp.schema.declarations import DECLARATIONS, Codes, Declarations
from pysynthdp.schema.units import Units
from pysynthdp.synthesizer.grouped import check_apart, check_units
from pysynthdp.synthesizer.stated import stated_schema, with_codes, wrong_stated

__all__ = [
    "Settings",
    "check_drops",
    "check_named",
    "declared_plan",
    "fitting_schema",
    "plan_of",
    "schema_of_table",
    "schema_of_tables",
    "settled_rare",
    "to_be_drawn",
    "told",
    "with_labels",
]

Of = TypeVar("Of", bound="Settings")

NOTHING: Final = "no"  # derive="no" has no function looked for, and derive={"a": "no"} none of a
_FORMS: Final[Mapping[str, tuple[str, Any]]] = {
    "missing": ("codes with their labels", {...: "label"}),
    "spikes": ("a list", [...]),
    "bounds": ("the lowest and the highest value", (..., ...)),
    "levels": ("a list", [...]),
}
"""What each declaration of a column is, and how it is written."""


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
        """Columns that are nested, or in which others are, or that tell strata; all are levels."""
        strata = (self.strata,) if isinstance(self.strata, str) else self.strata
        return frozenset((*self.nested, *self.nested.values(), *strata))

    @property
    def protection(self) -> Protection:
        """How the table is protected: what ``guarantee`` asks for, short forms written out."""
        return protection_of(self.guarantee)


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
    wrong = (_wrong_lists, _wrong_mappings, _wrong_declared, _wrong)
    faults: list[PysynthdpError] = [fault for find in wrong for fault in find(settings)]
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
    check_units(settings)
    _check_schema(settings)


def _wrong_lists(settings: Settings) -> Iterator[PlanError]:
    """Find what must be a list and is none."""
    for what in ("keep", "drop", "formulas", "visit_sequence", "joint", "rules", "strata"):
        given: object = getattr(settings, what)
        if (given is None and what == "visit_sequence") or (isinstance(given, str) and what == "strata"):
            continue
        if isinstance(given, str):
            mend = Words("give a list, {setting}", setting=Setting(what, [given]))
            yield PlanError(Words("{what} is a single text", what=what), kind="setting", remedy=mend)
        elif isinstance(given, Mapping) or not isinstance(given, Iterable):
            mend = Words("write {setting}, or leave it out", setting=Setting(what, [...]))
            yield PlanError(Words("{what} must be a list", what=what), kind="setting", remedy=mend)


def _wrong_mappings(settings: Settings) -> Iterator[PlanError]:
    """Find what must name columns and does not, and a method that is no method."""
    for what in (*DECLARATIONS, "derive", "universe", "must_sum", "top_code", "round", "nested"):
        given = getattr(settings, what)
        if given is not None and given != NOTHING and not isinstance(given, Mapping):
            mend = Words("write {setting}", setting=Setting(what, {"column": ...}))
            yield PlanError(Words("{what} must name columns", what=what), kind="setting", remedy=mend)
    method: object = settings.method
    if isinstance(method, list | tuple | set | bool | int | float):
        mend = Words(
            "write {all_columns} for all columns, or {some}",
            all_columns=Setting("method", "norm"),
            some=Setting("method", {"column": "norm"}),
        )
        yield PlanError("method is neither a name nor a list by column", kind="setting", remedy=mend)
    named = method.items() if isinstance(method, Mapping) else [(None, method)]
    for column, wish in named:
        if isinstance(wish, str) and wish != SERIAL and wish not in COLUMN_MODELS:
            yield no_method(wish, None if column is None else str(column))


def _wrong_declared(settings: Settings) -> Iterator[PlanError]:
    """Find what is declared of a column in a form that cannot be: one number where several belong."""
    for what, (kind, form) in _FORMS.items():
        given = getattr(settings, what)
        for name, own in given.items() if isinstance(given, Mapping) else ():
            if not _is_list(own) or (what == "bounds" and len(own) != len(form)):
                text = Words("{what} of {name} must be {kind}", what=what, name=name, kind=kind)
                mend = Words("write {setting}", setting=Setting(what, {name: form}))
                yield PlanError(text, column=str(name), kind="setting", remedy=mend)


def _is_list(given: object) -> bool:
    """Whether something holds several values; a text holds none."""
    return isinstance(given, Collection) and not isinstance(given, str | bytes)


def _wrong(settings: Settings) -> Iterator[PlanError]:
    """Find settings that are merely like what is asked for: a text is true, and so is 1."""
    for what in ("proper", "emit_original", "progress", "scratch_encrypt"):
        given = getattr(settings, what)
        if not isinstance(given, bool) and not (given is None and what == "progress"):
            mend = Words("write {yes}, or leave it out", yes=Setting(what, True))
            yield PlanError(Words("{what} must be {flag}", what=what, flag=FLAG), kind="setting", remedy=mend)
    if settings.rare not in get_args(Rare):
        what = "rare must be one of 'keep', 'merge', 'refuse'"
        mend = Words("write {setting}", setting=Setting("rare", "merge"))
        yield PlanError(what, kind="setting", remedy=meant(str(settings.rare), get_args(Rare), mend))
    if settings.draws is not None and settings.draws not in get_args(Evenness):
        mend = Words("write {setting}, or leave it out", setting=Setting("draws", "even"))
        what = "draws must be one of 'even', 'independent'"
        yield PlanError(what, kind="setting", remedy=meant(str(settings.draws), get_args(Evenness), mend))
    if settings.terms is not None and settings.terms not in get_args(Chosen):
        what = "terms must be one of 'main', 'screened'"
        mend = Words("write {setting}, or leave it out", setting=Setting("terms", "main"))
        yield PlanError(what, kind="setting", remedy=meant(str(settings.terms), get_args(Chosen), mend))
    folder: object = settings.scratch
    if folder is not None and not isinstance(folder, str | os.PathLike):
        mend = Words("write {setting}, or leave it out", setting=Setting("scratch", "folder"))
        yield PlanError("scratch must name a folder", kind="setting", remedy=mend)
    workers: object = settings.workers
    whole = isinstance(workers, int) and not isinstance(workers, bool) and workers >= 1
    if workers is not None and not whole:
        yield PlanError("workers must be a whole number of at least 1", kind="setting")
    most: object = settings.max_predictors
    if most is not None and not (isinstance(most, int) and not isinstance(most, bool) and most >= 1):
        mend = Words("write {setting}, or leave it out", setting=Setting("max_predictors", 20))
        yield PlanError("max_predictors must be a whole number of at least 1", kind="setting", remedy=mend)


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


def plan_of(
    settings: Settings,
    schema: Schema,
    found: Mapping[str, str] | None = None,
    codes: Mapping[str, str] | None = None,
    nearly: Mapping[str, Sequence[str]] | None = None,
) -> SynthesisPlan:
    """Plan from a schema, the settings, and what was found in a table.

    Parameters
    ----------
    settings, schema : Settings, Schema
        A user's.
    found : mapping column -> expression, optional
        Functions of columns.
    codes : mapping column -> column, optional
        Columns that are looked up by a code, and it.
    nearly : mapping column -> formulas, optional
        Numbers that are drawn as a function of others and a residual.
    """
    method = settings.method
    if nearly:
        method = {**(method if isinstance(method, Mapping) else {}), **dict.fromkeys(nearly, "residual")}
    by_code = {name: (code,) for name, code in (codes or {}).items()}
    protection = settings.protection
    return make_plan(
        stated_schema(settings, schema, learns=protection.learns).without(settings.drop),
        protection,
        method=method,
        visit_sequence=settings.visit_sequence,
        predictor_matrix=settings.predictor_matrix,
        formulas=[*settings.formulas, *itertools.chain(*(nearly or {}).values())],
        keep=settings.keep,
        drop=settings.drop,
        proper=settings.proper,
        draws=settings.draws,
        emit_original=settings.emit_original,
        joint=settings.joint,
        derive=settings.derived,
        nested=settings.nested,
        strata=settings.strata,
        found=found,
        rules=settings.rules,
        recoded=tuple(dict.fromkeys((*settings.top_code, *settings.round))),
        behind=Behind(directly=by_code, first={code for (code,) in by_code.values()}),
        max_predictors=settings.max_predictors,
        terms=settings.terms,
    )


def declared_plan(settings: Settings) -> SynthesisPlan:
    """Plan from the declared schema alone; no record is read.

    Raises
    ------
    PlanError
        If there is no schema, or a setting cannot be met.
    """
    if settings.schema is None:
        raise PlanError(
            "there is neither a schema nor a table",
            kind="table",
            remedy=Words("give a table, or {schema}", schema=CODEBOOK),
        )
    return plan_of(settings, settings.schema)


def settled_rare(settings: Settings, schema: Schema, tables: Sequence[Rows]) -> Settled:
    """Keep, merge or refuse rare levels of the columns that are modelled."""
    method = settings.method if isinstance(settings.method, Mapping) else {}
    serials = [name for name, wish in method.items() if wish == SERIAL]
    apart = [*settings.keep, *serials, *settings.drop]
    open_to_guesses = settings.schema is None and (settings.method is None or settings.method is method)
    guessed = [name for name in schema.names if open_to_guesses and name not in told(settings)]
    return settle_rare(schema, tables, settings.rare, exempt=apart, guessed=guessed)


def schema_of_tables(settings: Settings, tables: Sequence[Rows]) -> Schema:
    """Infer one schema for several imputations of a table, or for one table.

    A column that few distinct values make categorical in some of them only stays a number in all.
    """
    schemas = [schema_of_table(settings, rows) for rows in tables]
    apart = kinds_apart(schemas)
    if apart:
        schemas = [schema_of_table(settings, rows, numbers=apart) for rows in tables]
    return united(schemas)


def schema_of_table(settings: Settings, rows: Rows, *, numbers: Iterable[str] = ()) -> Schema:
    """Infer the schema with what the user declares; ``numbers`` stay numbers."""
    check_drops(settings, rows.columns)
    method = settings.method if isinstance(settings.method, Mapping) else {}
    own = settings.declarations
    schema = infer_schema(
        rows,
        declared=own if settings.labels is None else own.over(declarations_of(settings.labels), rows.columns),
        exempt=settings.keep,
        drawn={**dict.fromkeys(numbers, "number"), **_drawn(settings, rows.columns)},
        named=[
            *(name for name, wish in method.items() if wish != SERIAL),
            *settings.derived,
            *settings.parting,
        ],
        numbered=[name for name, wish in method.items() if wish == SERIAL],
        skip=settings.drop,
    )
    return schema if settings.labels is None else labelled(schema, settings.labels)


def _drawn(settings: Settings, names: Iterable[str]) -> dict[str, Drawn]:
    """Say what the user's methods draw, of columns whose method draws one kind only."""
    names = list(names)
    wishes = {name: _wish(settings, name) for name in names}
    levels: dict[str, Drawn] = {name: "levels" for name in names if name in settings.parting}
    kinds = {name: drawn_by(wish) for name, wish in wishes.items() if wish is not None}
    parts = (*settings.must_sum, *itertools.chain(*settings.must_sum.values()))
    numbers: dict[str, Drawn] = dict.fromkeys((*settings.top_code, *settings.round, *parts), "number")
    return {**levels, **numbers, **{name: kind for name, kind in kinds.items() if kind is not None}}


def to_be_drawn(settings: Settings, schema: Schema) -> frozenset[str]:
    """Columns of which the user says nothing, so that they may turn out to be functions of others."""
    for_all = settings.method is not None and not isinstance(settings.method, Mapping)
    if settings.derive == NOTHING or for_all:
        return frozenset()
    apart = {*told(settings), *settings.drop, *(settings.derive or ()), *settings.formulated}
    apart |= settings.parting
    apart.update(name for columns, _ in settings.joint for name in columns)
    apart.update(asking(settings.universe, schema.names))
    return frozenset(schema.names) - apart


def told(settings: Settings) -> frozenset[str]:
    """Columns of which the user says something himself, so that nothing is guessed about them."""
    method = settings.method if isinstance(settings.method, Mapping) else {}
    stated = (settings.universe, settings.top_code, settings.round)
    return frozenset(settings.keep).union(
        method, settings.derived, *stated, *(getattr(settings, what) for what in DECLARATIONS)
    )


def _wish(settings: Settings, name: str) -> str | ColumnModel | None:
    """Find the method that the user names for a column."""
    return settings.method.get(name) if isinstance(settings.method, Mapping) else settings.method


def fitting_schema(settings: Settings, schema: Schema, rows: Rows) -> Schema:
    """Fill in the types that the schema leaves open by the table's; refuse columns that it does not name."""
    check_named(settings, schema, rows, key=settings.protection.unit.key)
    return with_types(schema, rows.dtypes)


def check_named(settings: Settings, schema: Schema, rows: Rows | None, *, key: str | None) -> None:
    """Refuse columns that neither the schema nor the unit's key names, and drops of what is no column."""
    if rows is None:
        return
    apart = {*settings.drop, key}
    faults = [_unnamed(name) for name in rows.columns if name not in schema and name not in apart]
    faults += absent_columns(rows.columns, schema.without(settings.drop))
    if faults:
        raise together(faults)
    known = () if settings.schema is None else settings.schema.names
    check_drops(settings, [*rows.columns, *known])


def _unnamed(name: str) -> SchemaError:
    """Say that the schema does not name a column of the table."""
    what = Words("the schema does not name '{name}'", name=name)
    mend = Words("declare it, or leave it out with {drop}", drop=Setting("drop", [name]))
    return SchemaError(what, column=name, kind="columns", remedy=mend)


def check_drops(settings: Settings, names: Sequence[str]) -> None:
    """Refuse to drop what is not there: a slip in the name would release the column."""
    for name in settings.drop:
        if name not in names:
            what = Words("drop names '{name}', which is no column", name=name)
            mend = meant(str(name), names, f"columns are {', '.join(names)}")
            raise PlanError(what, column=str(name), kind="columns", remedy=mend)
