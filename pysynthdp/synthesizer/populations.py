"""Fits to samples of synthetic populations: one a population, of the plan that the first one completes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from pysynthdp.base.errors import FitError, PlanError
from pysynthdp.base.progress import progress_bar
from pysynthdp.base.streams import RandomSource, root_sequence
from pysynthdp.base.words import Words
from pysynthdp.curator.population import population_sample, sample_design
from pysynthdp.draw.populations import PopulationMachine
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.fit import Fit
from pysynthdp.plan.protection import FitRequest
from pysynthdp.schema import Design
from pysynthdp.schema.survey_design import written
from pysynthdp.synthesizer.imputing import Opened, said_once

__all__ = ["check_populations", "fit_populations", "makes_populations", "with_populations"]

Of = TypeVar("Of")


def makes_populations(design: Design | None) -> bool:
    """Whether a design asks for synthetic populations."""
    return design is not None and design.how == "population"


def with_populations(settings: Of, m: int | None, rng: RandomSource) -> tuple[Of, RandomSource]:
    """Make as many populations as copies are asked for; beside the settings, the randomness of their fit.

    Without populations a fit draws nothing, and takes none.
    """
    own: Any = settings
    if not makes_populations(own.design):
        return settings, None
    if isinstance(m, bool) or not isinstance(m, int) or m < 2:  # what is wrong is refused at the draw
        return settings, rng
    more: Of = replace(own, design=replace(own.design, populations=m))
    return more, rng


def check_populations(design: Design | None, rng: RandomSource, *, imputed: bool) -> None:
    """Refuse a source of randomness for a fit that draws nothing, and populations of an imputed table.

    Raises
    ------
    PlanError
        Says what to do instead.
    """
    if rng is not None and not makes_populations(design):
        raise PlanError(
            "rng is of fits that draw synthetic populations, and this one draws nothing",
            kind="setting",
            remedy=Words(
                "give it to draw(), or ask for populations with {design}", design=written(how="population")
            ),
        )
    if imputed and makes_populations(design):
        raise PlanError(
            "synthetic populations are made of one table, and several imputations of it are given: no rule "
            "pools both",
            kind="design",
            remedy="give the table with its missing values, which are drawn as such, or one imputation",
        )


def fit_populations(
    own: Opened, *, workers: int, progress: bool | None, rng: RandomSource
) -> PopulationMachine:
    """Fit the plan to a simple random sample of each synthetic population.

    Parameters
    ----------
    own : Opened
        The table and its plan, with a design that asks for populations.
    workers : int
        Threads; they change no result.
    progress : bool or None
        Whether to show a bar.
    rng : int, SeedSequence, Generator or None
        Of the populations; None takes fresh entropy.

    Raises
    ------
    PlanError
        For a design that cannot be, and models that count rows.
    FitError
        Where a sample has no fit; names its population by number.

    Notes
    -----
    Privacy: reads real rows; no formal guarantee has populations. What is left open in the plan is chosen on
    the first population's sample, for all.
    """
    plan, rows = own.plan, own.rows
    design = plan.design
    if design is None or rows is None:
        raise FitError("there is no table to fit; give the table", kind="table")
    _check_models(plan)
    sampling, size, root = sample_design(rows, design), design.sample_rows(own.n), root_sequence(rng)
    account = plan.protection.account(plan, n=own.n)
    fits: list[Fit] = []
    with said_once(), progress_bar(design.populations, "fit", show=progress) as note:
        for number in range(design.populations):
            counts = population_sample(sampling, size, root, number)
            request = FitRequest(rows, workers, progress=False, counts=counts)
            fits.append(_fit(plan, request, number))
            note(f"population {number + 1}")
            if number == 0:
                completed = plan.completed(fits[0])
                plan = replace(completed, left_open=(), to_screen=())
    first, *rest = (replace(fit, merged=own.merged, learned=()) for fit in fits)
    return PopulationMachine(completed, own.completed(first), account, tuple(rest))


def _fit(plan: SynthesisPlan, request: FitRequest, number: int) -> Fit:
    """Fit the plan to one sample, and name its population where it has no fit."""
    try:
        return plan.protection.fit(plan, request)
    except FitError as error:
        raise FitError(f"in synthetic population {number + 1}: {error}", kind="populations") from error


def _check_models(plan: SynthesisPlan) -> None:
    """Refuse models that count rows to say what rests on few records: a record is several rows."""
    for step in plan.steps:
        if getattr(step.model, "counts_rows", False):
            name = step.targets[0].column
            raise PlanError(
                Words(
                    "{name}: '{model}' tells what rests on fewer than five records by counting rows, and in "
                    "a synthetic population one record is many rows",
                    name=name,
                    model=step.model.name,
                ),
                column=name,
                kind="method",
                remedy="choose another method for it, or leave it to the default",
            )
