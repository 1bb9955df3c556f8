"""Complete the steps of a plan where the user left them open: stages in order, each from sums over rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from pysynthdp.base.blas import one_blas_thread
from pysynthdp.base.remarks import Remark
from pysynthdp.curator.curves import curves_of
from pysynthdp.curator.encoded import EncodedRows
from pysynthdp.curator.learn.predictors import chosen_predictors
from pysynthdp.curator.learn.screening import screened_terms
from pysynthdp.curator.table import SCALE_ROWS, Key, PartTable
from pysynthdp.design.encode import Layout, Scale
from pysynthdp.design.groups import LevelGroups
from pysynthdp.plan import Step, SynthesisPlan
from pysynthdp.plan.designed import design_terms, stand_ins, without_stand_ins

__all__ = ["Learned", "learned_steps"]

Told: TypeAlias = Callable[[str], None]
Stage: TypeAlias = Callable[[SynthesisPlan, EncodedRows, Told], tuple[tuple[Step, ...], tuple[Remark, ...]]]

STAGES: Final[tuple[Stage, ...]] = (chosen_predictors, screened_terms)
"""Each takes the plan as the stages before it left it, the rows encoded by its plain columns, and whom to
tell which columns are ready."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned of the steps.

    Parameters
    ----------
    steps : tuple of Step
        Of the plan, completed; those that the user settled are as they were.
    remarks : tuple of Remark
        What is to be said of it.
    """

    steps: tuple[Step, ...]
    remarks: tuple[Remark, ...] = ()


def learned_steps(
    plan: SynthesisPlan,
    table: PartTable,
    groups: Mapping[Key, LevelGroups],
    scales: Mapping[Key, Scale],
    workers: int = 1,
    note: Told | None = None,
) -> Learned:
    """Choose what the plan leaves open: the predictors of steps that have many, then terms.

    Parameters
    ----------
    plan : SynthesisPlan
        Of a protection that learns.
    table : PartTable
        The rows that models will be fitted to.
    groups : mapping (column, role) -> LevelGroups
        Of levels with too few records.
    scales : mapping (column, role) -> Scale
        Of the numeric parts.
    workers : int
        Threads; never changes a result.
    note : callable, optional
        Told the name of each column that is screened.

    Returns
    -------
    Learned
        Names of columns and terms, no numbers.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee.
    """
    if not plan.protection.learns:
        msg = "under a guarantee no step is learned from rows"
        raise TypeError(msg)
    codes = {key: own.codes for key, own in groups.items()}
    always = design_terms(plan.design, plan.schema)
    plan = replace(plan, steps=stand_ins(plan.steps, always))
    layout = Layout(plan.parts, scales, codes, curves_of(plan.steps, table))
    seen = table.to_learn(max(1, table.n // SCALE_ROWS))  # which each stage would take every s-th row of
    rows, told = EncodedRows(seen, layout, workers), note or _untold
    remarks: tuple[Remark, ...] = ()
    with one_blas_thread():
        for stage in STAGES:
            steps, more = stage(plan, rows, told)
            plan, remarks = replace(plan, steps=steps), (*remarks, *more)
    return Learned(without_stand_ins(plan.steps, always), remarks)


def _untold(name: str) -> None:
    """Tell nobody."""
    del name
