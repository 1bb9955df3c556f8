"""Fits of steps apart in groups of rows: a finer column within the coarser one's levels, and strata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pysynthdp.base.arrays import IntArray
from pysynthdp.base.blas import one_blas_thread
from pysynthdp.base.errors import PlanError
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Words
from pysynthdp.curator import Curator
from pysynthdp.curator.encoded import EncodedRows
from pysynthdp.curator.few_records import FEW
from pysynthdp.curator.gates import gates_of
from pysynthdp.curator.spread.table import SpreadTable
from pysynthdp.curator.table import PartTable, groups_of
from pysynthdp.curator.within import Apart, nested_apart, rows_of_table, strata_apart
from pysynthdp.design.groups import LevelGroups
from pysynthdp.design.parts import Part, parts_of
from pysynthdp.models.base import COLUMN_MODELS, ColumnModel
from pysynthdp.plan import Step, SynthesisPlan
from pysynthdp.plan.fit import DrawnStep, Key
from pysynthdp.protection.stepfits import drawn_step, fewest, is_settled, step_fits
from pysynthdp.schema import Schema

__all__ = ["FittedApart", "fit_apart"]

LEAST: Final = 50  # rows of a coarser level, from which on the finer one hangs on other columns as well


@dataclass(frozen=True, slots=True, repr=False)
class FittedApart:
    """Steps that were fitted apart.

    Parameters
    ----------
    steps : mapping targets -> DrawnStep
        Each with its models inside.
    remarks : tuple of Remark
        What is to be said of the groups.
    strata : tuple of str
        The strata that were fitted by themselves.
    """

    steps: Mapping[tuple[Part, ...], DrawnStep] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    strata: tuple[str, ...] = ()


def fit_apart(
    plan: SynthesisPlan,
    encoded: EncodedRows,
    seen: PartTable,
    groups: Mapping[Key, LevelGroups],
    *,
    schema: Schema,
    posterior: bool,
) -> FittedApart:
    """Fit the steps of a plan that are to be fitted apart, group by group.

    Parameters
    ----------
    plan : SynthesisPlan
        Of a protection that learns.
    encoded : EncodedRows
        The table that models are fitted to.
    seen : PartTable
        The table before what few records have was taken out of it: each stratum is treated as a table of its
        own.
    groups : mapping (column, role) -> LevelGroups
        Of levels with too few records in the table.
    schema : Schema
        Of the columns that have parts.
    posterior : bool
        Whether copies redraw parameters.

    Raises
    ------
    PlanError
        For a table that lies in pieces elsewhere.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee. In each group the rules of a whole table hold: nothing
    rests on fewer than five of its records.
    """
    steps = [step for step in plan.steps if step.within]
    if not steps:
        return FittedApart()
    if isinstance(encoded.table, SpreadTable):
        raise _in_pieces(steps[0])
    made: dict[tuple[Part, ...], DrawnStep] = {}
    remarks: tuple[Remark, ...] = ()
    for step in (each for each in steps if each.nested):
        fine, columns = step.targets[0], plan.schema
        apart = nested_apart(columns[step.within[0]], fine, columns[fine.column], encoded.table)
        models = [
            _fitted(plan, (own,), rows_of_table(encoded.table, rows), encoded, posterior=posterior)
            for own, rows in _nested_steps(step, apart)
        ]
        made |= _joined((step,), apart, models, groups)
        remarks = (*remarks, *apart.remarks)
    strata = tuple(step for step in steps if not step.nested)
    if not strata:
        return FittedApart(made, remarks)
    parts = tuple(part for name in strata[0].within for part in parts_of(plan.schema[name]))
    apart = strata_apart(parts, seen, columns=len({part.column for s in strata for part in s.targets}))
    models, said = [], []
    for rows in apart.rows:  # one after the other: a stratum's rows lie in memory
        table, few_records = fewest(rows_of_table(seen, rows), plan, schema)
        models.append(_stratum(plan, strata, table, encoded, posterior))
        said.append(few_records)
    made |= _joined(strata, apart, models, groups)
    few = _few_in_strata(said) if len(said) > 1 else ()
    return FittedApart(made, (*remarks, *apart.remarks, *few), tuple(name for name in apart.names if name))


def _few_in_strata(said: Sequence[Sequence[Remark]]) -> tuple[Remark, ...]:
    """Say of which columns strata lose what fewer than five of their records have."""
    strata = Counter(name for own in said for name in {each.column for each in own if each.kind == FEW})
    remedy = "take coarser strata, or recode the column so that more records share it"
    return tuple(
        Remark(
            name,
            "few records in strata",
            Words(
                "in {many} fewer than five records have a code, or no value, so that copies have none there",
                many="one stratum" if count == 1 else f"{count} strata",
            ),
            remedy,
        )
        for name, count in strata.items()
    )


def _in_pieces(step: Step) -> PlanError:
    """Refuse a table whose rows cannot be parted here."""
    what = Words(
        "{name}: a table that lies in pieces elsewhere cannot be parted by {within}",
        name=step.label,
        within=", ".join(step.within),
    )
    mend = "give the table as one file or frame, or leave nested and strata out"
    return PlanError(what, column=step.targets[0].column, kind="table", remedy=mend)


def _nested_steps(step: Step, apart: Apart) -> Iterator[tuple[Step, IntArray]]:
    """Give for each group its step: of few rows, and for all rows together, the shares alone."""
    shares = replace(step, model=COLUMN_MODELS["sample"](), terms=())
    for number, rows in enumerate(apart.rows):
        alone = len(rows) < LEAST or number == len(apart.rows) - 1
        yield shares if alone else step, rows


def _stratum(
    plan: SynthesisPlan, steps: Sequence[Step], table: PartTable, like: EncodedRows, posterior: bool
) -> list[DrawnStep]:
    """Fit all steps in one stratum, and find the levels that never occur together in it."""
    models = _fitted(plan, steps, table, like, posterior=posterior)
    before = {*plan.keep, *steps[0].within}
    first = [part for part in plan.parts if part.column in before]
    gates = gates_of(steps, first, table)
    return [replace(model, gates=gates.get(model.targets)) for model in models]


def _fitted(
    plan: SynthesisPlan, steps: Sequence[Step], table: PartTable, like: EncodedRows, *, posterior: bool
) -> list[DrawnStep]:
    """Fit some steps to some rows, encoded like those of the whole table."""
    groups = groups_of(table, tuple(part for step in steps for part in step.targets))
    rows = EncodedRows(table, like.layout, like.workers)
    with one_blas_thread():
        fits, known = step_fits(replace(plan, steps=tuple(steps)), rows, groups)
        Curator(rows, plan.protection.unit.relation, known=known).fit_all(
            [fit for fit in fits if not is_settled(fit)]
        )
    return [drawn_step(fit, step.model, posterior=posterior) for step, fit in zip(steps, fits, strict=True)]


def _joined(
    steps: Sequence[Step],
    apart: Apart,
    models: Sequence[Sequence[DrawnStep]],
    groups: Mapping[Key, LevelGroups],
) -> dict[tuple[Part, ...], DrawnStep]:
    """Put the models of each step's groups together."""
    made = {}
    for place, step in enumerate(steps):
        inside = tuple(own[place] for own in models)
        params = tuple(model.params for model in inside)
        nothing = all(own is None for own in params) and all(model.groups is None for model in inside)
        made[step.targets] = replace(
            max(inside, key=lambda model: len(model.design.used)),
            model=step.model if step.nested else _commonest(inside),
            params=None if nothing else params,
            holds_rows=any(model.holds_rows for model in inside),
            groups=groups.get(step.targets[0].key) if len(step.targets) == 1 else None,
            gates=None,
            within=apart.within,
            inside=inside,
        )
    return made


def _commonest(inside: Sequence[DrawnStep]) -> ColumnModel:
    """Take the model that most groups are drawn by, the first of several."""
    names = [model.model.name for model in inside]
    return inside[names.index(max(names, key=names.count))].model
