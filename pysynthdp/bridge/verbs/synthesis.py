"""Fit and draw, plan, look, check."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, SchemaError
from pysynthdp.base.forms import WHOLE
from pysynthdp.base.words import said
from pysynthdp.bridge.cells_from_r import cells_from_r, declared_facts
from pysynthdp.bridge.codec import RValue, RVector, character
from pysynthdp.bridge.codec.wire import MAX_INT
from pysynthdp.bridge.columns_from_r import is_a_list
from pysynthdp.bridge.facts import FrameFacts, RFrame
from pysynthdp.bridge.facts_kept import public_facts
from pysynthdp.bridge.frame_shape import checked_frame, rows_of
from pysynthdp.bridge.frames import frame_from_r, frame_to_r
from pysynthdp.bridge.labels_from_r import labelled_codes, labels_of
from pysynthdp.bridge.r_values import R
from pysynthdp.bridge.releases import release_to_r
from pysynthdp.bridge.settings import settings_from_r
from pysynthdp.bridge.tagged import declared_tags, found_tags, warn_of_tags
from pysynthdp.design.rows import Rows
from pysynthdp.io.csv.wishes import Declared
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.checked import refuse_unless_learning
from pysynthdp.plan.protection import protection_of
from pysynthdp.schema import Column, NumericColumn, Schema
from pysynthdp.schema.declarations import Declarations
from pysynthdp.synthesizer.charging import Charging
from pysynthdp.synthesizer.opening import opened_file
from pysynthdp.synthesizer.populations import with_populations
from pysynthdp.synthesizer.settings import with_labels

__all__ = ["broken_rules", "check", "look", "plan", "synthesise"]

_SIZES = {
    "m": (
        "m, the number of copies,",
        "synthesis_plan(data) shows how columns would be drawn, and draws nothing",
    ),
    "k": ("k, the rows of a copy,", "leave it out for as many as the data have"),
}


def synthesise(
    data: RValue | RFrame,
    settings: Mapping[str, Any],
    m: Any = None,
    k: Any = None,
    seed: Any = None,
    ambient: Any = None,
    ledger: Any = None,
    source: Any = None,
    answers: Any = None,
) -> RVector:
    """Fit and draw; without a seed by R's own generator (``ambient``), unless every draw costs."""
    rows, copies, asked = _rows(k), _size(m, "m"), _seed(seed)
    protection = protection_of(settings_from_r(settings, {}).get("guarantee"))
    protection.check_request(answers=answers, noise_seed=None)
    file = None if answers is None else Path(answers)
    Charging.of(ledger, source, protection, table=None, answers=file)  # refused before the table is read
    path, paying = _path(data), {"ledger": ledger, "source": source, "answers": file}
    if path is not None:
        return _of_file(path, settings, copies, rows, asked, ambient, paying)
    several = _imputed(data)
    if several:  # refused before a table is read
        protection.check_imputed()
    held, own = _read(several[0] if several else data, settings)
    _warn_of_tags(held, own)
    synthesizer = _synthesizer(held, own)
    synthesizer.protection.copies(copies)  # refused before anything is spent at the fit
    others = [_read(table, settings)[0].frame for table in several[1:]]
    table = [held.frame, *others] if several else held.frame
    asked = _settled(synthesizer, asked, ambient)
    synthesizer, fitting = with_populations(synthesizer, copies, asked)
    fitted = synthesizer.fit(table, rng=fitting, **paying)
    facts = _facts_of(fitted.schema, held, own)
    return _drawn(fitted, copies, rows, asked, facts)


def _path(data: Any) -> str | None:
    """Give the path of a table that R names and does not send."""
    named = isinstance(data, RVector) and data.kind == "character" and len(data.texts) == 1
    return data.texts[0] if named else None


def _opened(path: str, settings: Mapping[str, Any]) -> tuple[Rows, dict[str, Any]]:
    """Read a table that R names onto disk, and the settings by its types."""
    own = settings_from_r(settings, {})
    learns, declared = (
        _learns(own),
        {name: own.get(name) for name in ("levels", "missing", "bounds", "schema")},
    )
    held = opened_file(path, Declared((), **declared), learns=learns, drop=_dropped(own))
    return held, settings_from_r(settings, dict(held.dtypes)) if learns else own


def _dropped(own: Mapping[str, Any]) -> set[str]:
    """Name the columns that need not be read."""
    return {*own.get("drop", ())} - {protection_of(own.get("guarantee")).unit.key}


def _of_file(
    path: str,
    settings: Mapping[str, Any],
    copies: int | None,
    rows: int | None,
    asked: Any,
    ambient: Any,
    paying: Mapping[str, Any],
) -> RVector:
    """Fit and draw from a table that R names; copies are as pandas' types are in R."""
    sdp.Synthesizer(**settings_from_r(settings, {}), progress=False).protection.copies(copies)
    held, own = _opened(path, settings)
    synthesizer = sdp.Synthesizer(**own, progress=False)
    asked = _settled(synthesizer, asked, ambient)
    synthesizer, fitting = with_populations(synthesizer, copies, asked)
    return _drawn(synthesizer.fit(held, rng=fitting, **paying), copies, rows, asked, None)


def _settled(synthesizer: sdp.Synthesizer, asked: Any, ambient: Any) -> Any:
    """Take R's own generator where nobody gave a seed."""
    if asked is None and synthesizer.protection.spends != "at each draw":  # there a seed voids every claim
        return _seed(ambient)
    return asked


def _drawn(
    fitted: sdp.FittedSynthesizer,
    copies: int | None,
    rows: int | None,
    asked: Any,
    facts: FrameFacts | None,
) -> RVector:
    """Draw, and tell R what is drawn from what."""
    release = fitted.draw(copies, rows, rng=asked)
    used = {name: _predictors(fitted.plan, name) for name in fitted.plan.visit_sequence}
    return release_to_r(release, facts=facts, predictors=used)


def _imputed(data: RValue | RFrame) -> tuple[RValue, ...]:
    """Give the tables of a list of data frames, which are imputations of one table; empty for one frame."""
    if not isinstance(data, RVector) or data.kind != "list" or "data.frame" in data.classes:
        return ()
    framed = [isinstance(item, RVector) and "data.frame" in item.classes for item in data.items]
    return data.items if framed and all(framed) else ()


def _learns(settings: Mapping[str, Any]) -> bool:
    """Whether anything may be learned from the rows."""
    return protection_of(settings.get("guarantee")).learns


def _read(data: Any, settings: Mapping[str, Any]) -> tuple[RFrame, dict[str, Any]]:
    """Read settings and table; under a guarantee cell by cell, as the schema declares."""
    own = settings_from_r(settings, {})
    if not _learns(own):
        return cells_from_r(_r_value(data), own.get("schema"), own.get("drop", ()), _ids(own)), own
    held = _frame(data)
    own = _with_labels(settings_from_r(settings, _dtypes(held)), held)
    _refuse_lists(held, own.get("drop", ()))
    _refuse_plain_times(held, own.get("schema"))
    return held, own


def _ids(own: Mapping[str, Any]) -> set[str]:
    """Name the columns that say whose a row is, and which of its unit, by settings alone."""
    key, units = protection_of(own.get("guarantee")).unit.key, own.get("units")
    schema = own.get("schema")
    named = {} if units is None else units.names
    declared = () if schema is None else schema.names
    ids = {key, *(name for what, name in named.items() if what in ("id", "member") or name not in declared)}
    return {name for name in ids if name is not None}


def _facts_of(schema: Schema, held: RFrame, settings: Mapping[str, Any]) -> FrameFacts:
    """Give what copies are in R: under a guarantee as declared, else like the table."""
    if not _learns(settings):
        return public_facts(declared_facts(schema, held.facts))
    return public_facts(held.facts)


def _r_value(data: Any) -> RValue:
    """Give the table as R sent it."""
    return frame_to_r(data.frame, data.facts) if isinstance(data, RFrame) else data


def _frame(data: Any) -> RFrame:
    """Give the table in pandas; what is no data frame was refused by R already."""
    return data if isinstance(data, RFrame) else frame_from_r(data)


def _dtypes(held: RFrame) -> dict[str, Any]:
    """Give the types of the columns."""
    return {str(name): dtype for name, dtype in held.frame.dtypes.items()}


def _refuse_plain_times(held: RFrame, schema: Schema | None) -> None:
    """Refuse times that stayed R's numbers where the schema would count them in another unit."""
    for (name, _), facts in held.facts.columns.items():
        declared = schema[name] if schema is not None and name in schema else None
        if isinstance(declared, NumericColumn) and declared.unit != "number" and facts.is_plain_time:
            raise SchemaError(
                f"{name}: a cell of this column of times is infinite, beyond the years 1 to 9999, or no "
                "whole day of a Date",
                column=name,
                kind="times",
                remedy="make such cells NA or round them in R, or declare no unit",
            )


def _refuse_lists(data: RFrame, dropped: Collection[str]) -> None:
    """Refuse list columns: their cells can be anything, functions and environments too."""
    for (name, _), facts in data.facts.columns.items():
        if facts.meaning == "list" and name not in dropped:
            raise is_a_list(name)


def _warn_of_tags(data: RFrame, settings: Mapping[str, Any]) -> None:
    """Say which tags are lost; under a guarantee by the labels alone: a warning must not tell of rows.

    Where a schema is learned the fit says it.
    """
    schema = settings.get("schema")
    if schema is None and _learns(settings):
        return
    declared = dict(settings.get("missing", {})) if schema is None else {one.name: one.tags for one in schema}
    tagged = found_tags(data, declared) if _learns(settings) else declared_tags(data, declared)
    apart = {*settings.get("drop", ()), *settings.get("keep", ())}
    warn_of_tags([name for name in tagged if name not in apart], "become plain NA in the copies")


def _with_labels(settings: dict[str, Any], data: RFrame) -> dict[str, Any]:
    """Add what labels declare, where the user says nothing about the column."""
    if settings.get("schema") is not None:
        return settings
    dropped = set(settings.get("drop", ()))
    for what, found in labelled_codes(data).items():
        mine = dict(settings.get(what, {}))
        own = {name: given for name, given in found.items() if name not in dropped}
        if own | mine:
            settings = {**settings, what: own | mine}
    return settings


def _synthesizer(data: RFrame, settings: Mapping[str, Any]) -> sdp.Synthesizer:
    """Make a synthesizer that knows the labels, unless a schema or a guarantee asks for declared facts."""
    made = sdp.Synthesizer(**settings, progress=False)
    learns = settings.get("schema") is None and _learns(settings)
    return with_labels(made, labels_of(data, settings.get("drop", ()))) if learns else made


def _predictors(plan: Any, name: str) -> frozenset[str]:
    """Columns that a column was drawn from."""
    steps = [step for step in plan.steps if any(part.column == name for part in step.targets)]
    return frozenset(read for step in steps for read in step.predictors) - {name}


def _size(value: Any, at: str) -> int | None:
    """Take a size, where one is given."""
    if value is None:
        return None
    size: int = WHOLE.take(value, R.at(at))
    if size < 1:
        what, mend = _SIZES[at]
        raise PlanError(f"{what} must be a whole number of at least 1", kind="copies", remedy=mend)
    return size


def _rows(k: Any) -> int | None:
    """Take the rows of a copy, of which R cannot count more than 31 bits."""
    rows = _size(k, "k")
    if rows is not None and rows > MAX_INT:
        raise PlanError("k: an R data frame holds at most 2^31 - 1 rows", kind="rows", remedy="draw fewer")
    return rows


def _seed(seed: Any) -> Any:
    """Give a seed; several numbers together are one."""
    if seed is None:
        return None
    numbers = [WHOLE.take(one, R.at("seed")) for one in (seed if isinstance(seed, list) else [seed])]
    if min(numbers) < 0:
        raise PlanError("seed must not be negative", kind="setting")
    return numbers[0] if len(numbers) == 1 else np.random.SeedSequence(numbers)


def plan(data: RValue | RFrame, settings: Mapping[str, Any], m: Any = 5, n: Any = None) -> dict[str, Any]:
    """Show who is drawn from whom and by what, and the price where there is one; fits nothing."""
    own = settings_from_r(settings, {})
    held, path = None, _path(data)
    if path is not None:
        opened, own = _opened(path, settings)
        made = sdp.Synthesizer(**own).plan(opened)
        return _shown_plan(made, m, n if len(made.tables) > 1 else opened.n_rows)
    if data is not None and own.get("schema") is None:
        held = _frame(data)
        own = _with_labels(settings_from_r(settings, _dtypes(held)), held)
    synthesizer = sdp.Synthesizer(**own) if held is None else _synthesizer(held, own)
    made = synthesizer.plan(None if held is None else held.frame)
    told = data is None or len(made.tables) > 1  # of units nobody counts rows
    return _shown_plan(made, m, n if told else rows_of(checked_frame(_r_value(data))[0]))


def _shown_plan(made: SynthesisPlan, m: Any, rows: Any) -> dict[str, Any]:
    """Write a plan, and its price for so many rows."""
    text = made.said("r")
    if made.protection.spends != "nothing" and rows is not None:
        text += "\n\n" + said(made.price(n=WHOLE.take(rows, R.at("n")), m=WHOLE.take(m, R.at("m"))), "r")
    return {"text": text, **_as_drawn(made)}


def _as_drawn(plan: Any) -> dict[str, Any]:
    """Say who is drawn from whom in synthpop's terms; a column released as it is has no method."""
    names = list(plan.schema.names)
    methods = plan.methods | dict.fromkeys(plan.keep, "")
    used = plan.predictor_matrix.reindex(index=names, columns=names, fill_value=0)  # ids of units stand apart
    return {
        "columns": character(names),
        "method": character([methods[name] for name in names]),
        "visit.sequence": character(plan.visit_sequence),
        "predictor.matrix": used.to_numpy(dtype=np.float64),
        "semicont": {column.name: np.array(column.spikes) for column in plan.schema if _has_spikes(column)},
    }


def _has_spikes(column: Column) -> bool:
    """Whether a column of numbers has values with a mass of their own."""
    return isinstance(column, NumericColumn) and column.unit == "number" and bool(column.spikes)


def look(data: RValue | RFrame, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Show how every column is understood; for the person who holds the data."""
    path = _path(data)
    if path is not None:
        own = settings_from_r(settings, {})
        known: dict[str, Any] = dict(Declarations.among(own).given())
        seen = sdp.look(path, exempt=own.get("keep", ()), drop=own.get("drop", ()), **known)
        return {"text": seen.said("r")}
    held = _frame(data)
    own = _with_labels(settings_from_r(settings, _dtypes(held)), held)
    kept = held.frame.drop(columns=[name for name in own.get("drop", ()) if name in held.frame.columns])
    declared: dict[str, Any] = dict(Declarations.among(own).given())
    seen = sdp.look(kept, exempt=own.get("keep", ()), **declared)
    types = {name: facts.shown for (name, before), facts in held.facts.columns.items() if not before}
    named = tuple(replace(column, dtype=types.get(column.name, column.dtype)) for column in seen.columns)
    return {"text": replace(seen, columns=named).said("r")}


def check(data: RValue | RFrame, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Fit, and show where rows drawn from the fit differ from the table; for whoever holds the data."""
    refuse_unless_learning(_learns(settings_from_r(settings, {})))  # before anything is paid
    made, given = _to_check(data, settings)
    found = made.fit(given).check()
    table = found.to_frame()
    columns = {
        name: texts.to_numpy(dtype=np.float64) if name in ("size", "limit") else character(list(texts))
        for name, texts in table.items()
    }
    columns["remedy"] = character([said(one.remedy, "r") for one in found.findings])
    return {"text": found.said("r"), "columns": columns}


def broken_rules(data: RValue | RFrame, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Count the rows of a table that break rules and universes; for whoever holds the data."""
    refuse_unless_learning(_learns(settings_from_r(settings, {})))
    made, given = _to_check(data, settings)
    found = made.check_rules(given)
    columns = {
        "rule": character([rule for rule, _ in found.rules]),
        "broken": character([count for _, count in found.rules]),
    }
    return {"text": found.said("r"), "columns": columns}


def _to_check(data: RValue | RFrame, settings: Mapping[str, Any]) -> tuple[sdp.Synthesizer, Any]:
    """Open a table without a guarantee, and make a synthesizer for it."""
    if (path := _path(data)) is not None:
        opened, own = _opened(path, settings)
        return sdp.Synthesizer(**own, progress=False), opened
    held, own = _read(data, settings)
    return _synthesizer(held, own), held.frame
