"""Fit one plan to each of several imputations of a confidential table."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pandas as pd

from pysynthdp.base.errors import FitError
from pysynthdp.base.remarks import in_order, without_overlap
from pysynthdp.curator.infer import Settled
from pysynthdp.curator.look import remarks_of
from pysynthdp.curator.rows.frame import FrameRows
from pysynthdp.curator.rows.imputed import alike
from pysynthdp.draw.nested import NestedMachine
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.fit import Fit
from pysynthdp.plan.protection import FitRequest
from pysynthdp.synthesizer.settings import (
    Settings,
    fitting_schema,
    plan_of,
    schema_of_tables,
    settled_rare,
    told,
)

__all__ = ["fit_imputed", "learned_plan", "opened", "with_seen"]


def learned_plan(settings: Settings, tables: Sequence[FrameRows]) -> tuple[SynthesisPlan, Settled]:
    """Plan for a table or for its imputations: by their own schema, or by the declared one.

    The tables come back with their rare levels merged, where that was asked for.

    Notes
    -----
    Privacy: reads real rows where no schema was declared; else their types.
    """
    if settings.schema is None:
        schema = schema_of_tables(settings, tables)
    else:
        schema = fitting_schema(settings, settings.schema, tables[0])
    settled = settled_rare(settings, schema, tables)
    return plan_of(settings, settled.schema), settled


def opened(
    settings: Settings, tables: Sequence[pd.DataFrame], block_rows: int | None = None
) -> tuple[FrameRows, ...]:
    """Take imputed tables as rows, or refuse them.

    Raises
    ------
    PrivacyError
        Under a guarantee, before a table is looked at.
    SchemaError
        If they are not tables of the same people.
    """
    protection = settings.protection
    protection.check_imputed()
    rows = (protection.open(table, block_rows) for table in alike(tables, skip=settings.drop))
    return tuple(found for found in rows if found is not None)


def fit_imputed(
    settings: Settings, tables: Sequence[pd.DataFrame], *, block_rows: int | None, workers: int
) -> NestedMachine:
    """Fit one plan, of one schema, to every imputed table.

    Raises
    ------
    PrivacyError, SchemaError, PlanError, FitError
        As for one table, and as :func:`opened`; a fit that fails names its table by number.

    Notes
    -----
    Privacy: reads real rows; no formal guarantee takes several imputed tables.
    """
    rows = opened(settings, tables, block_rows)
    protection = settings.protection
    with _said_once():
        plan, settled = learned_plan(settings, rows)
        account = protection.account(plan, n=rows[0].n_rows)
        requests = [FitRequest(table, workers, settings.progress) for table in settled.tables]
        found = (_fit(plan, request, number) for number, request in enumerate(requests, start=1))
        first, *others = (replace(fit, merged=settled.merged) for fit in found)
    return NestedMachine(plan, with_seen(settings, plan, settled.tables[0], first), account, tuple(others))


def with_seen(settings: Settings, plan: SynthesisPlan, rows: FrameRows | None, fit: Fit) -> Fit:
    """Put what is odd about the table's columns beside what the fit remarked; once, in the columns' order.

    Notes
    -----
    Privacy: reads real rows where they may be learned from and no schema was declared; else does nothing.
    """
    if not plan.protection.learns or rows is None or settings.schema is not None:
        return fit
    seen = remarks_of(
        rows.frame,
        plan.schema,
        exempt=[*plan.keep, *plan.serials],
        methods=plan.methods,
        told=told(settings),
    )
    asked = [remark for remark in seen if remark.kind != "heaps" or remark.column not in settings.decimals]
    return replace(fit, remarks=in_order(without_overlap((*asked, *fit.remarks)), plan.schema.names))


def _fit(plan: SynthesisPlan, request: FitRequest, number: int) -> Fit:
    """Fit the plan to one of the tables, and name it where it has no fit."""
    try:
        return plan.protection.fit(plan, request)
    except FitError as error:
        raise FitError(f"in imputed table {number}: {error}", kind="imputed tables") from error


@contextmanager
def _said_once() -> Iterator[None]:
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
