"""From a confidential table, or several imputations of one, to rows and the plan to fit to them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pandas as pd

from pysynthdp.base.errors import FitError
from pysynthdp.base.remarks import Remark, in_order, without_overlap
from pysynthdp.base.scratch_folder import opened_scratch
from pysynthdp.curator.infer import Settled
from pysynthdp.curator.look import remarks_of
from pysynthdp.curator.relations import Relations, find_relations
from pysynthdp.curator.rows import ImputedTables, rows_of
from pysynthdp.curator.universes import broken_rules, settled_distances, settled_universes
from pysynthdp.curator.whole_table import index_remarks
from pysynthdp.design.rows import Rows
from pysynthdp.design.universes import limited
from pysynthdp.draw.nested import NestedMachine
from pysynthdp.draw.stand_ins import stand_ins
from pysynthdp.plan import Protection, SynthesisPlan
from pysynthdp.plan.checked import BrokenRules, refuse_unless_learning
from pysynthdp.plan.fit import Fit
from pysynthdp.plan.protection import FitRequest
from pysynthdp.synthesizer.designed import designed, in_rows
from pysynthdp.synthesizer.planning import (
    check_named,
    declared_plan,
    fitting_schema,
    plan_of,
    schema_of_tables,
    settled_rare,
    to_be_drawn,
    told,
)
from pysynthdp.synthesizer.settings import Settings
from pysynthdp.synthesizer.stated import stated_schema
from pysynthdp.synthesizer.weighing import weights_of

__all__ = ["Opened", "counted", "fit_imputed", "opened", "planned", "said_once"]


@dataclass(frozen=True, slots=True, repr=False)
class Opened:
    """A table taken as rows, and the plan that is to be fitted to it.

    Parameters
    ----------
    settings : Settings
        What was asked for.
    plan : SynthesisPlan
        Of it, and of the table where something may be learned from it.
    rows : Rows or None
        The confidential table; None only where a protection can do without.
    merged : tuple of str
        Columns whose rare levels were merged.
    remarks : tuple of Remark
        What no copy will have of the table: its index.
    """

    settings: Settings
    plan: SynthesisPlan
    rows: Rows | None
    merged: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @property
    def n(self) -> int:
        """Number of rows."""
        return 0 if self.rows is None else self.rows.n_rows

    def completed(self, fit: Fit) -> Fit:
        """Put beside what the fit remarked what was merged, and what is odd about the table's columns.

        Notes
        -----
        Privacy: reads real rows where they may be learned from and no schema was declared; else does nothing.
        """
        fit = replace(fit, merged=self.merged) if self.merged else fit
        return _with_seen(self.settings, self.plan, self.rows, fit)


def opened(settings: Settings, table: pd.DataFrame | Rows | None, block_rows: int | None) -> Opened:
    """Take a table as rows and plan for it.

    Raises
    ------
    SchemaError, PlanError
        If it is no table, or does not fit the settings; under a guarantee the settings are refused first.
    FitError
        If there is nothing to fit.

    Notes
    -----
    Privacy: reads real rows where no schema was declared; else their types and names.
    """
    protection = settings.protection
    known = None if protection.learns else declared_plan(settings)  # refused before the table is looked at
    rows = _rows(settings, protection, table, block_rows)
    if rows is None:
        return Opened(settings, known or declared_plan(settings), None)
    remarks = (*index_remarks(rows), *in_rows(settings, rows, told(settings)))
    if known is not None:
        check_named(settings, known.schema, rows, key=known.protection.unit.key)
        return Opened(settings, known, rows, remarks=remarks)
    plan, settled, offered = _learned_plan(settings, (rows,))
    said = (*remarks, *settled.remarks, *offered)
    return Opened(settings, plan, settled.tables[0], settled.merged, said)


def planned(settings: Settings, data: pd.DataFrame | Rows | ImputedTables) -> SynthesisPlan:
    """Plan for a table or for its imputations, without a schema of one's own.

    Notes
    -----
    Privacy: reads real rows.
    """
    if isinstance(data, ImputedTables):
        return _learned_plan(settings, _opened_all(settings, data, None)[0])[0]
    rows = designed(rows_of(data, full=True), settings.design, learns=settings.protection.learns)
    in_rows(settings, rows, told(settings))
    return _learned_plan(settings, (rows,))[0]


def counted(settings: Settings, table: pd.DataFrame | Rows) -> BrokenRules:
    """Count the rows of a table that break the rules and universes that were asked for.

    Raises
    ------
    PrivacyError
        Under a guarantee, before the table is looked at.

    Notes
    -----
    Privacy: reads real rows.
    """
    refuse_unless_learning(settings.protection.learns)
    rows = designed(rows_of(table, full=True), settings.design, learns=True)
    plan, settled, _ = _learned_plan(settings, (rows,))
    return broken_rules(plan, settled.tables[0])


def fit_imputed(
    settings: Settings, tables: ImputedTables, *, block_rows: int | None, workers: int
) -> tuple[NestedMachine, tuple[Remark, ...]]:
    """Fit one plan, of one schema, to every imputed table; beside the fits, what is odd about the tables.

    Raises
    ------
    PrivacyError
        Under a guarantee, before a table is looked at.
    SchemaError, PlanError, FitError
        As for one table, or if they are not tables of the same people; a fit that fails names its table by
        number.

    Notes
    -----
    Privacy: reads real rows; no formal guarantee takes several imputed tables.
    """
    rows, odd = _opened_all(settings, tables, block_rows)
    remarks = (*index_remarks(rows[0]), *in_rows(settings, rows[0], told(settings)), *odd)
    with said_once():
        plan, settled, offered = _learned_plan(settings, rows)
        account = plan.protection.account(plan, n=rows[0].n_rows)
        weighed = [weights_of(plan, table) for table in settled.tables]
        requests = [
            FitRequest(table, workers, settings.progress, stand_ins=stand_ins, counts=weights)
            for table, (weights, _) in zip(settled.tables, weighed, strict=True)
        ]
        first = _fit(plan, requests[0], 1)
        plan = plan.completed(first)
        settled_plan = replace(
            plan, left_open=(), to_screen=()
        )  # what is chosen on the first table holds for all
        later = enumerate(requests[1:], start=2)
        others = tuple(_fit(settled_plan, request, number) for number, request in later)
    first, *rest = (replace(fit, merged=settled.merged, learned=()) for fit in (first, *others))
    seen = _with_seen(settings, plan, settled.tables[0], first)
    said = (*remarks, *settled.remarks, *offered, *weighed[0][1])
    return NestedMachine(plan, seen, account, tuple(rest)), said


def _rows(
    settings: Settings, protection: Protection, table: pd.DataFrame | Rows | None, block_rows: int | None
) -> Rows | None:
    """Take a table as rows; refuse one with nothing in it, unless the protection judges that itself.

    A table may be without rows where their number is confidential. The parts of a data frame lie on disk if a
    folder for them is named.
    """
    if table is None and protection.answers_on_file:
        return None
    own = settings.scratch is not None and isinstance(table, pd.DataFrame)
    scratch = opened_scratch(settings.scratch, encrypt=settings.scratch_encrypt) if own else None
    rows = rows_of(table, block_rows, full=protection.learns, scratch=scratch)
    empty = not rows.columns or (protection.n_told and not rows.n_rows)
    if empty and not protection.answers_on_file:
        raise FitError("the table has no rows or no columns; there is nothing to fit", kind="table")
    return designed(rows, settings.design, learns=protection.learns)


def _opened_all(
    settings: Settings, tables: ImputedTables, block_rows: int | None
) -> tuple[tuple[Rows, ...], tuple[Remark, ...]]:
    """Take imputed tables as rows, or refuse them; beside the rows, what is odd about the tables."""
    settings.protection.check_imputed()
    for table in tables.tables:
        rows_of(table)  # refused by its names before it is compared
    alike, odd = tables.alike(skip=settings.drop)
    rows = (_rows(settings, settings.protection, table, block_rows) for table in alike)
    return tuple(found for found in rows if found is not None), odd


def _learned_plan(
    settings: Settings, tables: Sequence[Rows]
) -> tuple[SynthesisPlan, Settled, tuple[Remark, ...]]:
    """Plan for a table or for its imputations: by their own schema, or by the declared one.

    The tables come back with their rare levels merged, where that was asked for; beside them stands what is
    nearly a function of others.
    """
    if settings.schema is None:
        schema = schema_of_tables(settings, tables)
    else:
        schema = fitting_schema(settings, settings.schema, tables[0])
    settled = settled_rare(settings, schema, tables)
    found = _relations(settings, settled)
    schema = stated_schema(settings, settled.schema, learns=True)
    if limited(schema):
        schema = settled_universes(schema, settled.tables)
    plan = plan_of(settings, schema, found.exact, found.codes, found.nearly)
    plan = settled_distances(plan, settled.tables) if plan.counted else plan
    return plan, settled, found.offered


def _relations(settings: Settings, settled: Settled) -> Relations:
    """Find columns that are functions of others, where the schema is inferred and nobody forbids it."""
    free = to_be_drawn(settings, settled.schema)
    if settings.schema is not None or not free or not settings.protection.learns:
        return Relations()
    alone = [] if settings.design is None else settings.design.drawn
    schema = settled.schema.without([*settings.drop, *settings.derived, *alone])
    order = settings.visit_sequence
    known = order if order is None else [name for name in order if name not in alone]
    return find_relations(settled.tables, schema, order=known, free=free)


def _with_seen(settings: Settings, plan: SynthesisPlan, rows: Rows | None, fit: Fit) -> Fit:
    """Put what is odd about the table's columns beside what the fit remarked; once, in the columns' order."""
    if not plan.protection.learns or rows is None or settings.schema is not None:
        return fit
    seen = remarks_of(
        rows,
        plan.schema,
        exempt=[*plan.keep, *plan.serials, *(own.column for own in plan.derived if not own.corrects)],
        methods=plan.methods,
        told=told(settings),
        massed={
            part.column
            for step in plan.steps
            for part in step.targets
            if part.numeric and getattr(step.model, "keeps_masses", False)
        },
    )
    quiet = {("heaps", name) for name in settings.decimals} | {
        ("many levels", name) for name in settings.nested
    }
    if settings.design is not None:
        quiet.add(("few values", str(settings.design.weight)))  # a weight cannot be declared as levels
    asked = [remark for remark in seen if (remark.kind, remark.column) not in quiet]
    return replace(fit, remarks=in_order(without_overlap((*asked, *fit.remarks)), plan.schema.names))


def _fit(plan: SynthesisPlan, request: FitRequest, number: int) -> Fit:
    """Fit the plan to one of the tables, and name it where it has no fit."""
    try:
        return plan.protection.fit(plan, request)
    except FitError as error:
        raise FitError(f"in imputed table {number}: {error}", kind="imputed tables") from error


@contextmanager
def said_once() -> Iterator[None]:
    """Give each warning once, though every table raises it: the same words, whatever the numbers in them."""
    try:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            yield
    finally:
        said = {
            (each.category, re.sub(r"\d[\d,.]*", "#", str(each.message))): each for each in reversed(found)
        }
        for each in reversed(said.values()):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
