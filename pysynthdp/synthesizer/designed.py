"""What a design comes to among the settings of a synthesis: what stays real, what is left out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final, TypeVar

from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.design_rows import check_alone, design_remarks, designed_rows
from pysynthdp.curator.look import replicate_groups, replicate_remark, weight_remarks
from pysynthdp.design.rows import Rows
from pysynthdp.schema import Design
from pysynthdp.schema.survey_design import written

__all__ = [
    "check_design",
    "check_guaranteed",
    "check_population",
    "designed",
    "in_rows",
    "with_design",
]

_DROP: Final = written(replicates="drop")


Of = TypeVar("Of")


def with_design(settings: Of) -> Of:
    """Give the same settings, with the columns of a design among those that stay real or are left out."""
    own: Any = settings
    design = own.design
    if design is None:
        return settings
    if own.units is not None and design.psu == own.units.id:
        design = replace(design, psu=None)  # units are the sampling units where nobody names others
    keep = tuple(dict.fromkeys((*own.keep, *design.real)))
    gone = () if design.rebuilt else design.replicate_weights
    drop = tuple(dict.fromkeys((*own.drop, *gone, *design.absent)))
    draws = "independent" if design.how == "population" else own.draws
    return replace(own, keep=keep, drop=drop, draws=draws, design=design)  # type: ignore[no-any-return]


def designed(rows: Rows, design: Design | None, *, learns: bool) -> Rows:
    """Take rows as a design says; under a guarantee as they are, since nothing is learned from them.

    Notes
    -----
    Privacy: reads real rows, but not under a guarantee.
    """
    return rows if design is None or not learns else designed_rows(rows, design)


def in_rows(settings: Any, rows: Rows, told: Collection[str], *, of: str = "rows") -> tuple[Remark, ...]:
    """Say what the rows of a sample are like under its design, and refuse those that stand out.

    Parameters
    ----------
    settings : Settings
        With the design, if any.
    rows : Rows
        The confidential table.
    told : collection of str
        Columns of which the user says something himself: whether they are weights is not asked.
    of : str
        What a row of these is, for messages.

    Raises
    ------
    PrivacyError
        Where more rows stand out by what stays real than the design accepts.
    PlanError
        For columns that look like replicate weights.

    Notes
    -----
    Privacy: reads real rows; nothing under a guarantee.
    """
    design = settings.design
    if not settings.protection.learns:
        return ()
    found = _unsaid(settings, rows, told)
    if design is None:
        return found
    kept = [name for name in settings.keep if name not in design.rebuilt]  # made of the others
    return (*check_alone(rows, design, kept, of=of), *design_remarks(rows, design, of=of), *found)


def _unsaid(settings: Any, rows: Rows, told: Collection[str]) -> tuple[Remark, ...]:
    """Say which columns look like weights and are none of the design; refuse replicate weights."""
    if settings.schema is not None:
        return ()
    design = settings.design
    known = {*settings.drop, *told} | set(() if design is None else (*design.columns, *design.rebuilt))
    names = [name for name in rows.columns if name not in known]
    for group in replicate_groups(rows, names, None if design is None else design.weight):
        found = replicate_remark(group)
        raise PlanError(found.what, column=found.column, kind=found.kind, remedy=found.remedy)
    return weight_remarks(rows, names) if design is None or design.weight is None else ()


def check_guaranteed(design: Design | None) -> None:
    """Refuse what no formal guarantee allows: columns that stay real, and populations made of real rows.

    Raises
    ------
    PrivacyError
        Says what to do instead.
    """
    if design is None or design.how == "synthesise":
        return
    what = (
        "the columns of the design stay real, record by record, which a formal guarantee does not allow"
        if design.how == "keep"
        else "synthetic populations are made of real records, which a formal guarantee does not allow"
    )
    raise PrivacyError(
        Words(what),
        column=next(iter(design.columns), None),
        kind="design",
        remedy=Words(
            "draw the weight last and move it to public totals, {how}, or leave the guarantee out",
            how=written(how="synthesise"),
        ),
    )


_UNFIT: Final = {
    "keep": "its copies have rows of their own, beside which no real column can stand",
    "strata": "every population has other records, and with them other strata that are large enough",
    "nested": "every population has other records, and with them other pairs of levels",
    "emit_original": "a record that stands for many would be repeated as often",
    "proper": "each copy has a fit of its own, whose parameters its population has drawn",
}
"""Settings that do not go with synthetic populations, and why."""


def check_population(settings: Any) -> None:
    """Refuse settings that do not go with synthetic populations.

    Raises
    ------
    PlanError
        Names the setting.
    """
    if settings.design is None or settings.design.how != "population":
        return
    for what, why in _UNFIT.items():
        if getattr(settings, what):
            text = Words("{what} does not go with synthetic populations: {why}", what=what, why=why)
            raise PlanError(text, kind="design", remedy="leave one of the two out")
    if settings.draws == "even":
        raise PlanError(
            Words(
                "{even} does not go with synthetic populations: the rule that pools their copies takes the "
                "variance of independent rows off",
                even=Setting("draws", "even"),
            ),
            kind="design",
            remedy="leave it out",
        )


def check_design(design: Design | None) -> None:
    """Refuse what this version cannot do with a design.

    Raises
    ------
    PlanError
        Says what to do instead.
    """
    if design is None:
        return
    if design.rebuilt and design.how != "keep":
        raise PlanError(
            "design: replicate weights are made anew from a design that stays real",
            column=design.rebuilt[0],
            kind="design",
            remedy=Words("leave them out, {drop}", drop=_DROP),
        )
    if design.replicate_weights and design.replicates == "refuse":
        raise PlanError(
            "design: replicate weights are never drawn as columns, since they would be noise",
            column=design.replicate_weights[0],
            kind="design",
            remedy=Words(
                "leave them out, {drop}, or have them made anew, {rebuild}",
                drop=_DROP,
                rebuild=written(replicates="rebuild", rebuild="JKn"),
            ),
        )
