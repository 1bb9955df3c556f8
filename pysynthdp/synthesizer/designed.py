"""What a design comes to among the settings of a synthesis: what stays real, what is left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, TypeVar

from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Words
from pysynthdp.curator.design_rows import check_alone, design_remarks, designed_rows
from pysynthdp.design.rows import Rows
from pysynthdp.schema import Design
from pysynthdp.schema.survey_design import written

__all__ = ["check_design", "check_guaranteed", "designed", "in_rows", "with_design"]

_DROP: Final = written(replicates="drop")


Of = TypeVar("Of")


def with_design(settings: Of) -> Of:
    """Give the same settings, with the columns of a design among those that stay real or are left out."""
    own: Any = settings
    design = own.design
    if design is None:
        return settings
    keep = tuple(dict.fromkeys((*own.keep, *design.real)))
    drop = tuple(dict.fromkeys((*own.drop, *design.replicate_weights)))
    return replace(own, keep=keep, drop=drop)  # type: ignore[no-any-return]


def designed(rows: Rows, design: Design | None, *, learns: bool) -> Rows:
    """Take rows as a design says; under a guarantee as they are, since nothing is learned from them.

    Notes
    -----
    Privacy: reads real rows, but not under a guarantee.
    """
    return rows if design is None or not learns else designed_rows(rows, design)


def in_rows(settings: Any, rows: Rows) -> tuple[Remark, ...]:
    """Say what the rows of a sample are like under its design, and refuse those that stand out.

    Raises
    ------
    PrivacyError
        Where more rows stand out by what stays real than the design accepts.

    Notes
    -----
    Privacy: reads real rows; nothing under a guarantee.
    """
    design = settings.design
    if design is None or not settings.protection.learns:
        return ()
    return (*check_alone(rows, design, settings.keep), *design_remarks(rows, design))


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


def check_design(design: Design | None) -> None:
    """Refuse what this version cannot do with a design.

    Raises
    ------
    PlanError
        Says what to do instead.
    """
    if design is None:
        return
    if design.how != "keep":
        raise PlanError(
            f"design: {design.how!r} is not there",
            column=design.weight,
            kind="design",
            remedy=Words("keep the design real, {how}", how=written(how="keep")),
        )
    if design.replicate_weights and design.replicates != "drop":
        rebuild = design.replicates == "rebuild"
        what = (
            "design: replicate weights cannot be made anew from the copies"
            if rebuild
            else "design: replicate weights are never drawn as columns, since they would be noise"
        )
        raise PlanError(
            what,
            column=design.replicate_weights[0],
            kind="design",
            remedy=Words("leave them out, {drop}", drop=_DROP),
        )
