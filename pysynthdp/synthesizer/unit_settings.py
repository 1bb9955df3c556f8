"""Settings of a table of units, as far as they speak of some of its columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

import pandas as pd

from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Words
from pysynthdp.design.expressions import parsed
from pysynthdp.design.unit_expressions import over_units, parsed_over_units
from pysynthdp.plan.terms import PREDICTORS, check_known
from pysynthdp.plan.unit_plan import UnitDerived
from pysynthdp.schema.declarations import DECLARATIONS
from pysynthdp.synthesizer.grouped import strata_named
from pysynthdp.synthesizer.settings import Settings

__all__ = ["check_named", "derived_over_units", "for_columns", "row_by_row", "rules_among", "untabled"]

Of = TypeVar("Of", bound=Settings)

_BY_COLUMN: Final = (*DECLARATIONS, "universe", "must_sum", "top_code", "round", "nested")


def check_named(settings: Settings, names: Sequence[str]) -> None:
    """Refuse settings of what is no column: their columns are sorted into those of units and of rows.

    Raises
    ------
    PlanError
        With the setting and the name.
    """
    known = set(names)
    for what in (*_BY_COLUMN, "method", "derive", "predictor_matrix"):
        given = getattr(settings, what)
        if isinstance(given, Mapping | pd.DataFrame):
            named = list(given.index) if isinstance(given, pd.DataFrame) else list(given)
            check_known(named, known, PREDICTORS if what == "predictor_matrix" else what)
    check_known(map(_target, settings.formulas), known, "formulas")
    check_known((name for step in settings.joint for name in step[0]), known, "joint")
    check_known(settings.visit_sequence or (), known, "visit_sequence")
    check_known(() if settings.design is None else settings.design.columns, known, "design")
    check_known(settings.keep, known, "keep")
    check_known(strata_named(settings.strata), known, "strata")


def for_columns(settings: Of, names: Collection[str], **changes: Any) -> Of:
    """Leave of settings what speaks of some columns, each of which is drawn or derived; units left out.

    Raises
    ------
    PlanError
        For a joint step of columns of units and of rows.
    """
    own: dict[str, Any] = {what: _among(getattr(settings, what), names) for what in _BY_COLUMN}
    for what in ("method", "derive", "predictor_matrix"):
        given = getattr(settings, what)
        if isinstance(given, pd.DataFrame):
            own[what] = given.loc[[name for name in given.index if name in names]]
        elif isinstance(given, Mapping):
            own[what] = _among(given, names)
    own["formulas"] = [text for text in settings.formulas if _target(text) in names]
    own["joint"] = [step for step in settings.joint if _whole(step[0], names)]
    if settings.visit_sequence is not None:
        own["visit_sequence"] = [name for name in settings.visit_sequence if name in names]
    own["keep"] = [name for name in settings.keep if name in names]
    own["strata"] = [name for name in strata_named(settings.strata) if name in names]
    if settings.design is not None and not {*settings.design.columns} <= {*names}:
        own["design"] = None
    found = replace(settings, **{**own, "units": None, "drop": (), **changes})
    object.__setattr__(found, "labels", settings.labels)
    return found


def row_by_row(settings: Of, table: Any) -> Of:
    """Give settings that take each row for itself: ids, and what is computed in whole units, are left out."""
    units, names = settings.units, [str(name) for name in table.columns]
    late = [each.column for each in derived_over_units(settings, names)]
    apart = {*late, *settings.drop, *(name for name in (units and units.id, units and units.member) if name)}
    left = [name for name in names if name not in apart]
    return for_columns(settings, left, drop=[name for name in names if name in apart])


def untabled() -> PlanError:
    """Say that a plan of units needs the table, whose sizes and places it is made of."""
    what = "a plan of units is made of the sizes and places in a table, and there is none"
    return PlanError(what, kind="units", remedy="give the table")


def _among(given: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Leave what is said of some columns."""
    return {name: own for name, own in given.items() if name in names}


def _target(formula: str) -> str:
    """Name the column that a formula is for."""
    return formula.partition("~")[0].strip().removesuffix("(kind)").strip().strip("`")


def _whole(columns: Sequence[str], names: Collection[str]) -> bool:
    """Whether all columns of a joint step are among some; refuse one of which only some are."""
    inside = [name for name in columns if name in names]
    if inside and len(inside) < len(columns):
        text = Words(
            "the joint step of {names} draws columns of units and of rows together", names=", ".join(columns)
        )
        raise PlanError(text, column=inside[0], kind="joint", remedy="name columns of one sort in it")
    return bool(inside)


def rules_among(rules: Sequence[str], known: Sequence[str], drawn: Collection[str]) -> list[str]:
    """Leave the rules that name a column that is drawn.

    Raises
    ------
    PlanError
        For a rule that cannot be read.
    """
    return [text for text in rules if {*drawn} & {*parsed(text, tuple(known), column="rules").columns}]


def derived_over_units(settings: Settings, names: Sequence[str]) -> tuple[UnitDerived, ...]:
    """Find what is computed in whole units: by functions over them, or of what is; each after what it needs.

    Parameters
    ----------
    settings : Settings
        With the expressions.
    names : sequence of str
        Columns of the table.

    Raises
    ------
    PlanError
        Where an expression cannot be read, corrects its own column, or columns are derived in a circle.
    """
    known = tuple(names)
    read = {
        name: parsed_over_units(text, known, column=name).columns
        for name, text in settings.derived.items()
        if name in names
    }
    late = {name for name in read if over_units(settings.derived[name])}
    while more := {name for name, given in read.items() if name not in late and late & {*given}}:
        late |= more
    done: list[UnitDerived] = []
    left = [name for name in read if name in late]
    while left:
        ready = [name for name in left if not {*left} & {*read[name]}]
        if not ready:
            text = Words("{circle} are derived from one another", circle=", ".join(left))
            mend = "let one of them be drawn; what is computed in whole units corrects no drawn column"
            raise PlanError(text, column=left[0], kind="expression", remedy=mend)
        done += [UnitDerived(name, settings.derived[name], read[name]) for name in ready]
        left = [name for name in left if name not in ready]
    return tuple(done)
