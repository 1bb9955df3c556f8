"""The fit of an opened table, or of its imputations, paid for and said."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pandas as pd

from pysynthdp.base.remarks import say
from pysynthdp.base.streams import RandomSource
from pysynthdp.curator.look import slow_plan
from pysynthdp.curator.rows import ImputedTables, listed, rows_of
from pysynthdp.design.rows import Rows
from pysynthdp.draw.machine import Machine
from pysynthdp.draw.stand_ins import stand_ins
from pysynthdp.draw.unit_machine import UnitMachine
from pysynthdp.io.ledger import SpendingLedger
from pysynthdp.plan.protection import FitRequest
from pysynthdp.plan.rules import strange_levels
from pysynthdp.synthesizer.charging import Charging, attempt_of, check_charged
from pysynthdp.synthesizer.designed import with_design
from pysynthdp.synthesizer.fitted import FittedSynthesizer
from pysynthdp.synthesizer.imputing import Opened, fit_imputed, opened
from pysynthdp.synthesizer.opening import opened_table, undeclared
from pysynthdp.synthesizer.populations import check_populations, fit_populations, makes_populations
from pysynthdp.synthesizer.settings import Settings, with_labels
from pysynthdp.synthesizer.unit_declared import check_tabled, declared_units
from pysynthdp.synthesizer.unit_fits import fit_units
from pysynthdp.synthesizer.weighing import weights_of

__all__ = ["Asked", "fit_table"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of one fit beside the settings, as :meth:`Synthesizer.fit` takes it."""

    block_rows: int | None
    answers: str | Path | None
    noise_seed: int | None
    ledger: str | os.PathLike[str] | SpendingLedger | None
    source: str | None
    rng: RandomSource


def fit_table(settings: Settings, given: Any, asked: Asked) -> FittedSynthesizer:
    """Fit a confidential table, or each of several imputations of it.

    Parameters
    ----------
    settings : Settings
        Of the synthesis.
    given : DataFrame, SurveyTable, list of DataFrames, Rows, path or None
        The table, or what names it.
    asked : Asked
        Of this fit alone.
    """
    protection = settings.protection
    protection.check_request(answers=asked.answers, noise_seed=asked.noise_seed)
    path = None if asked.answers is None else Path(asked.answers)
    paying = Charging.of(asked.ledger, asked.source, protection, table=given, answers=path)
    table, labels = opened_table(settings, given)
    own = with_labels(with_design(settings), labels)
    if own.units is not None and not protection.learns:
        return _fit_declared_units(own, table, asked, paying)
    if own.units is not None:
        return _fit_units(own, table, asked.block_rows)
    tables = listed(table)
    check_populations(own.design, asked.rng, imputed=tables is not None)
    if tables is not None:
        return _fit_imputed(own, tables, asked.block_rows)
    if makes_populations(own.design):
        return _fit_populated(own, table, asked)
    if not protection.learns and own.schema is None:
        raise undeclared()
    return _fit_opened(
        own, opened(own, cast("pd.DataFrame | Rows | None", table), asked.block_rows), asked, paying
    )


def _fit_units(settings: Settings, table: Any, block_rows: int | None) -> FittedSynthesizer:
    """Fit the plan of a table whose rows belong together in units."""
    machine, odd = fit_units(settings, table, workers=_threads(settings), block_rows=block_rows)
    say(odd)
    return FittedSynthesizer(machine, _threads(settings), settings.progress)


def _fit_declared_units(
    settings: Settings, table: Any, asked: Asked, paying: Charging | None
) -> FittedSynthesizer:
    """Fit the declared plan of whole units under a guarantee, priced before a record is read."""
    plan, threads = declared_units(settings), _threads(settings)
    if listed(table) is not None:
        plan.protection.check_imputed()
    rows = None if table is None else rows_of(table, full=False)
    check_tabled(settings, plan, rows)
    protection = plan.protection
    account = protection.account(plan, n=0)
    spending = attempt_of(paying, plan, account)
    say(strange_levels(plan.rules, plan.schema))
    path = None if asked.answers is None else Path(asked.answers)
    request = FitRequest(rows, threads, settings.progress, path, asked.noise_seed, spending=spending)
    whole, *tables = protection.fit_units(plan, request)
    check_charged(protection, spending)
    machine = UnitMachine(plan, whole, account, tuple(tables))
    return FittedSynthesizer(machine, threads, settings.progress)


def _fit_imputed(settings: Settings, tables: ImputedTables, block_rows: int | None) -> FittedSynthesizer:
    """Fit one plan to each of several imputations."""
    nested, unseen = fit_imputed(settings, tables, block_rows=block_rows, workers=_threads(settings))
    fitted = FittedSynthesizer(nested, _threads(settings), settings.progress)
    say((*unseen, *fitted.remarks))
    return fitted


def _fit_populated(settings: Settings, table: Any, asked: Asked) -> FittedSynthesizer:
    """Fit samples of synthetic populations of a table."""
    own = opened(settings, cast("pd.DataFrame | Rows | None", table), asked.block_rows)
    say(own.remarks)
    threads = _threads(settings)
    machine = fit_populations(own, workers=threads, progress=settings.progress, rng=asked.rng)
    fitted = FittedSynthesizer(machine, threads, settings.progress)
    say(fitted.remarks)
    return fitted


def _fit_opened(settings: Settings, own: Opened, asked: Asked, paying: Charging | None) -> FittedSynthesizer:
    """Fit the plan of an opened table, priced before a record is read."""
    protection, plan, threads = settings.protection, own.plan, _threads(settings)
    account = protection.account(plan, n=own.n)
    spending = attempt_of(paying, plan, account)
    slow = slow_plan(plan, own.n if protection.learns else None)
    strange = () if protection.learns else strange_levels(plan.rules, plan.schema)
    say((*slow, *strange))  # before, since it is no use after
    path = None if asked.answers is None else Path(asked.answers)
    weights, unweighted = weights_of(plan, own.rows)
    how = (settings.progress, path, asked.noise_seed, stand_ins, spending, weights)
    fit = protection.fit(plan, FitRequest(own.rows, threads, *how))
    check_charged(protection, spending)
    fit = own.completed(fit)
    plan, fit = plan.completed(fit), replace(fit, learned=())
    said = (*own.remarks, *unweighted, *fit.remarks)
    say(said)
    if protection.learns:
        fit = replace(fit, remarks=(*slow, *said))
    return FittedSynthesizer(Machine(plan, fit, account), threads, settings.progress)


def _threads(settings: Settings) -> int:
    """Threads to use."""
    return settings.workers or min(4, os.cpu_count() or 1)
