"""Settings that have a form which cannot be: found one by one, whatever the table."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, get_args

from pysynthdp.base.errors import PlanError
from pysynthdp.base.even import Evenness
from pysynthdp.base.marks import SERIAL
from pysynthdp.base.words import FLAG, Setting, Words, meant
from pysynthdp.curator.infer import Rare
from pysynthdp.models.base import COLUMN_MODELS
from pysynthdp.plan.methods import no_method
from pysynthdp.plan.terms import Chosen
from pysynthdp.schema import Design
from pysynthdp.schema.declarations import DECLARATIONS
from pysynthdp.schema.survey_design import written

__all__ = ["NOTHING", "wrong_settings"]

NOTHING: Final = "no"  # derive="no" has no function looked for, and derive={"a": "no"} none of a
_FORMS: Final[Mapping[str, tuple[str, Any]]] = {
    "missing": ("codes with their labels", {...: "label"}),
    "spikes": ("a list", [...]),
    "bounds": ("the lowest and the highest value", (..., ...)),
    "levels": ("a list", [...]),
}
"""What each declaration of a column is, and how it is written."""


def wrong_settings(settings: Any) -> Iterator[PlanError]:
    """Find what is no list, names no column, or is merely like what is asked for.

    Parameters
    ----------
    settings : Settings
        Of which each is taken for what it was given as.
    """
    for find in (_wrong_lists, _wrong_mappings, _wrong_declared, _wrong, _wrong_design):
        yield from find(settings)


def _wrong_lists(settings: Any) -> Iterator[PlanError]:
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


def _wrong_mappings(settings: Any) -> Iterator[PlanError]:
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


def _wrong_declared(settings: Any) -> Iterator[PlanError]:
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


def _wrong(settings: Any) -> Iterator[PlanError]:
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


def _wrong_design(settings: Any) -> Iterator[PlanError]:
    """Find a design that is none, and columns of it that another setting speaks of."""
    design = settings.design
    if design is None:
        return
    if not isinstance(design, Design):
        mend = Words("write {setting}", setting=written(weight="column", strata="column"))
        yield PlanError("design must be a Design", kind="design", remedy=mend)
        return
    drop = settings.drop if isinstance(settings.drop, list | tuple) else ()
    for name in (name for name in design.columns if name in drop and name not in design.absent):
        text = Words("{name} is a column of the design, and is dropped", name=name)
        yield PlanError(text, column=name, kind="design", remedy="leave one of the two out")
    given = (("method", settings.method), ("derive", settings.derive), ("nested", settings.nested))
    for what, own in given:
        for name in own if isinstance(own, Mapping) else ():
            if name in (*design.real, *design.replicate_weights):
                text = Words("{name} is a column of the design, and {what} names it", name=name, what=what)
                yield PlanError(text, column=str(name), kind="design", remedy="leave one of the two out")
