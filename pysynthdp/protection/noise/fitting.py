"""From a plan and rows to steps that draw from noised answers; only the curator sees the rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from pysynthdp.base.arrays import IntArray
from pysynthdp.base.blas import one_blas_thread
from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.base.even import Evenness, EvenSampler
from pysynthdp.base.streams import NumpySampler, stream
from pysynthdp.curator.noised.asked import Asked
from pysynthdp.curator.noised.rows import Noise, NoisedRows, answer_all, entry_of
from pysynthdp.design.encode import Layout, Scale
from pysynthdp.design.parts import Part
from pysynthdp.io.answers_file import SavedAnswers, load_answers, save_answers
from pysynthdp.io.file_lock import Taken, alone_with
from pysynthdp.models.base import ColumnModel, CutsNumbers
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.fit import CopyParameters, DrawnStep, Fit
from pysynthdp.plan.protection import FitRequest
from pysynthdp.plan.unit_plan import UnitPlan
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.ledger import Entry, Ledger
from pysynthdp.privacy.noise.protective import add_discrete_gaussian
from pysynthdp.privacy.spending import Spending
from pysynthdp.protection.noise.budget import NoiseBudget
from pysynthdp.protection.noise.held import Held, held_rows
from pysynthdp.protection.noise.moments.answers import Answers
from pysynthdp.protection.noise.moments.asking import ask_moments
from pysynthdp.protection.noise.moments.design import (
    bends,
    moment_designs,
    moment_layout,
    moment_part,
    moment_shape,
    spans_of,
)
from pysynthdp.protection.noise.moments.state import MomentState, moment_state, owners_of
from pysynthdp.protection.noise.price import check_worth
from pysynthdp.protection.noise.tables import NoisedTable, tables_of
from pysynthdp.schema import plain as schema_file

__all__ = ["MomentCopies", "fit_noised"]


@dataclass(frozen=True, slots=True, repr=False)
class MomentCopies:
    """Copies from noisy moments: their parameters redrawn with fresh noise of the same law, or shared.

    Parameters
    ----------
    state : MomentState
        Noisy moments that each copy's parameters are redrawn from.
    redraw : bool
        Whether they are; else all copies share the one fit.
    draws : {"even", "independent"}, optional
        How rows are drawn, where the plan says it.
    own : tuple of int, optional
        Steps that rows are drawn by, where the others are of columns that are given.
    beside : tuple of MomentState
        Those of the other tables of a plan of units, where this one stands for all of it.
    """

    state: MomentState
    redraw: bool = True
    draws: Evenness | None = None
    own: tuple[int, ...] | None = None
    beside: tuple[MomentState, ...] = ()

    @property
    def states(self) -> tuple[MomentState, ...]:
        """Of all tables that it stands for."""
        return (self.state, *self.beside)

    @property
    def even(self) -> bool:
        """Whether rows are drawn evenly: as the plan says, or where copies carry no interval anyway."""
        return self.state.balanced and not self.redraw if self.draws is None else self.draws == "even"

    def parameters(
        self, steps: Sequence[DrawnStep], root: np.random.SeedSequence | None, copy: int
    ) -> Sequence[Any]:
        """Parameters of one copy."""
        del steps
        mode: CopyParameters = "drawn" if self.redraw else "fitted"
        found = self.state.parameters(copy, stream(root, 1, copy, 0), mode)
        return found if self.own is None else [found[number] for number in self.own]

    def sampler(self, source: np.random.Generator) -> NumpySampler:
        """Draw evenly or independently."""
        return EvenSampler(source) if self.even else NumpySampler(source)

    def keeps_bounds(self, model: ColumnModel) -> bool:
        """Only a number that is bent to its margin, or drawn in declared cells, stays inside.

        Normal draws are left where they fall: the moments are those of clamped rows, and clamping again would
        move them.
        """
        return bends(model) or isinstance(model, CutsNumbers)

    def sharing(self, parameters: CopyParameters | None) -> Self:
        """Share one fit among the copies, or redraw it."""
        if parameters is None:
            return self
        if parameters not in ("drawn", "fitted"):
            raise PlanError("parameters must be 'drawn' or 'fitted'", kind="guarantee")
        if len(self.state.answers) > 1:
            raise PlanError(
                "the setting parameters does not apply where each copy has noisy answers of its own",
                kind="guarantee",
                remedy="leave it out",
            )
        return replace(self, redraw=parameters == "drawn")

    @property
    def ledger(self) -> Ledger:
        """Every noisy answer that was asked."""
        return self.state.ledger


@dataclass(slots=True, repr=False)
class _Record:
    """Noised answers so far, on disk where a path was given."""

    saved: SavedAnswers
    path: Path | None
    ledger: Ledger
    noise: NoiseBudget
    spending: Spending | None = None
    recalled: int = 0
    alone: bool = False

    @contextmanager
    def asking(self) -> Iterator[Callable[[], None]]:
        """Give what to call before the data are asked: it takes the file for this fit until the end.

        If somebody keeps a ledger, the budget is reserved then; the file knows before by which attempt.
        """
        with ExitStack() as held:

            def take() -> None:
                if self.alone:
                    return
                if self.path is not None:
                    held.enter_context(_alone(self.path))
                    self._recheck(self.path)
                self._reserve()
                self.alone = True

            yield take

    def _reserve(self) -> None:
        """Reserve the budget, for ever, before any noise is drawn."""
        if self.spending is not None:
            if self.path is not None:
                save_answers(self.saved, self.path)
            self.spending.reserve(ZCDP(self.noise.rho))
        elif self.saved.attempt:
            raise PrivacyError(
                f"{self.path} holds answers that were reserved in a ledger, and not all of them",
                kind="ledger",
                remedy="give the ledger and the source, so that the rest is charged to them",
            )

    def _recheck(self, path: Path) -> None:
        """Refuse to ask anew what another fit asked between the reading of the file and the lock."""
        now = load_answers(path) or replace(self.saved, answers=(), ledger=())
        if replace(now, answers=()) != replace(self.saved, answers=()):
            raise PrivacyError(
                f"{path} was written by another fit just now",
                kind="guarantee",
                remedy="run again, which reads it",
            )

    def recall(self, table: NoisedTable, asked: Asked, answer: IntArray) -> None:
        """Refuse an answer on disk that answers another question, as after a change of the software."""
        entry = _entry(table, asked)
        if self.ledger.entries[self.recalled] != entry or answer.shape != (asked.size,):
            raise PrivacyError(
                f"{self.path} holds answers to other questions, perhaps of another version of this package",
                kind="guarantee",
                remedy="use that version, or give another path and spend the budget again",
            )
        self.recalled += 1

    def keep(self, table: NoisedTable, asked: Asked, answer: IntArray) -> None:
        """Write an answer and its entry before it is used."""
        self.ledger = self.ledger.plus(_entry(table, asked))
        self.saved = self.saved.plus(answer, Ledger(self.ledger.entries[-1:]).to_dict()[0])
        if self.path is not None:
            save_answers(self.saved, self.path)


def _entry(table: NoisedTable, asked: Asked) -> Entry:
    """Write the ledger's entry of a question about a table."""
    columns = tuple(dict.fromkeys(part.column for part in table.plan.parts))
    return entry_of(asked, columns, relation=table.relation, rows=table.rows)


def fit_noised(plan: SynthesisPlan, noise: NoiseBudget, request: FitRequest) -> tuple[Fit, ...]:
    """Fit a plan to noised answers.

    Parameters
    ----------
    plan : SynthesisPlan
        What to fit.
    noise : NoiseBudget
        The budget.
    request : FitRequest
        With the confidential table, or the file of answers that holds everything.

    Returns
    -------
    tuple of Fit
        One; of a plan of units what stands for all of it, then one for each of its tables.

    Raises
    ------
    PrivacyError
        For answers of another plan, a table too small for the budget, or no table and no answers.

    Notes
    -----
    Privacy: reads real rows through the curator, and spends the budget, unless the answers are there.
    """
    tables = tables_of(plan, noise)
    held = None if request.rows is None else held_rows(request.rows, plan, noise.unit)
    record = _record(plan, tables, noise, held, request.answers, request.spending)
    source = _source(request.noise_seed)
    found: list[list[Answers]] = [[] for _ in tables]
    known = list(record.saved.answers)
    with one_blas_thread():
        with record.asking() as take:
            for _ in range(noise.releases):
                for table, answers in zip(tables, found, strict=True):
                    one = _answers(table, held, record, source, known, take)
                    known = known[len(one.entries) :]
                    answers.append(one)
        if request.spending is not None:
            request.spending.settle(record.saved.digest)
        fits = [_fit(table, answers, record.ledger) for table, answers in zip(tables, found, strict=True)]
    return tuple(fits) if len(fits) == 1 else _of_units(plan, fits)


def _fit(table: NoisedTable, answers: Sequence[Answers], ledger: Ledger) -> Fit:
    """Fit the models of one table."""
    plan = table.plan
    layout = moment_layout(plan, table.hints)
    state = moment_state(plan, layout, answers, ledger)
    drawn = replace(layout, parts=tuple(part for part in layout.parts if not part.of))
    steps = _steps(plan, drawn, state)
    return Fit(drawn, steps, MomentCopies(state, draws=plan.draws), max(round(state.n), 1))


def _of_units(plan: SynthesisPlan, fits: Sequence[Fit]) -> tuple[Fit, ...]:
    """Leave of further rows the steps that draw them, and put before all fits what stands for them."""
    assert isinstance(plan, UnitPlan)  # noqa: S101 -- several tables are those of units
    first, *others = fits
    tables = [first]
    for fit, own in zip(others, plan.places, strict=True):
        kept = tuple(at for at, step in enumerate(fit.steps) if step.targets[0].column not in own.beside)
        source = replace(_moments(fit), own=kept)
        tables.append(replace(fit, steps=tuple(fit.steps[at] for at in kept), source=source))
    released = (step for fit in tables for step in fit.steps if step.targets[0].column in plan.schema)
    beside = tuple(_moments(fit).state for fit in others)
    whole = replace(first, steps=tuple(released), source=replace(_moments(first), beside=beside))
    return whole, *tables


def _moments(fit: Fit) -> MomentCopies:
    """Give the source of a fit that was made here."""
    assert isinstance(fit.source, MomentCopies)  # noqa: S101
    return fit.source


def _record(
    plan: SynthesisPlan,
    tables: Sequence[NoisedTable],
    noise: NoiseBudget,
    held: Held | None,
    path: Path | None,
    spending: Spending | None,
) -> _Record:
    """Start a record, or go on with the one on disk."""
    digest = _digest(tables, noise, plan.told_units if isinstance(plan, UnitPlan) else None)
    saved = None if path is None else load_answers(path)
    if saved is None:
        if held is None:
            raise PrivacyError(
                "there is no table and no file of answers yet",
                kind="guarantee",
                remedy="call fit(table, answers=path)",
            )
        public = noise.unit.relation == "replace_one"
        attempt = "" if spending is None else spending.attempt
        saved = SavedAnswers(digest, held.n if public else None, attempt=attempt)
    elif spending is not None and saved.plan == digest:
        spending.resume(saved.attempt, begun=bool(saved.answers))
    if saved.plan != digest:
        raise PrivacyError(
            f"{path} holds the answers of another plan or budget",
            kind="guarantee",
            remedy="give the settings that made it, or another path",
        )
    if saved.n is not None:
        check_worth(tables, n=saved.n)
    return _Record(saved, path, Ledger.from_dict(list(saved.ledger)), noise, spending)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the file of answers; two fits at once would each spend the budget and keep one set of answers."""
    try:
        with alone_with(path):
            yield
    except Taken:
        raise PrivacyError(
            f"another fit is writing its answers to {path}",
            kind="guarantee",
            remedy=(
                "wait until it has ended and run again, which reads them and spends nothing, or "
                "give another path and spend the budget once more"
            ),
        ) from None


def _digest(tables: Sequence[NoisedTable], noise: NoiseBudget, units: object) -> str:
    """Digest what the answers depend on, from public facts; of units all that is declared of them."""
    first, *others = [_plain(table.plan) for table in tables]
    plain = {**first, "noise": repr(noise)}
    plain |= {"further": others, "units": units} if others else {}
    return hashlib.sha256(json.dumps(plain, sort_keys=True, default=str).encode()).hexdigest()


def _plain(plan: SynthesisPlan) -> dict[str, Any]:
    """Write a table's columns, steps and methods."""
    steps = [(step.label, step.model.name, step.terms, *_edges(step.targets[0])) for step in plan.steps]
    return {"schema": schema_file.to_plain(plan.schema), "steps": steps}


def _edges(part: Part) -> tuple[tuple[float, ...], ...]:
    """Edges of declared cells, where a number has any."""
    return (part.edges,) if part.edges else ()


def _source(seed: int | None) -> Noise:
    """Noise from the operating system's entropy, or seeded noise where everything is void."""
    return add_discrete_gaussian if seed is None else _seeded_noise(np.random.default_rng(seed))


def _answers(
    table: NoisedTable,
    held: Held | None,
    record: _Record,
    source: Noise,
    known: Sequence[IntArray],
    take: Callable[[], None],
) -> Answers:
    """Ask one release's questions; what is on disk is not asked again."""
    plan, noise = table.plan, record.noise
    layout = moment_layout(plan, table.hints)
    shape = moment_shape([moment_part(step) for step in plan.steps], spans_of(plan, layout))

    def opened() -> NoisedRows:
        if held is None:
            raise PrivacyError(
                "the file of answers is not complete",
                kind="guarantee",
                remedy="give the table to go on with it",
            )
        if noise.unit.relation == "replace_one" and held.n != record.saved.n:
            raise PrivacyError(
                f"the table has another number of {'units' if table.label else 'rows'} than the answers",
                kind="guarantee",
                remedy="give another path",
            )
        take()
        return NoisedRows(held.opened(table), layout)

    asking = ask_moments(
        shape,
        owners_of(plan.steps),
        rho=table.rho,
        relation=table.relation,
        n=None if table.counted else record.saved.n,
        counted=table.counted,
    )
    recall, keep = partial(record.recall, table), partial(record.keep, table)
    return answer_all(asking, opened, source, known=known, recall=recall, keep=keep)


def _steps(plan: SynthesisPlan, layout: Layout, state: MomentState) -> tuple[DrawnStep, ...]:
    """Put together what drawing needs; features of cells are those of the fit alone."""
    designs = moment_designs(plan, layout)
    return tuple(
        DrawnStep(step.part.of or (step.part,), step.model, design, _scale(layout, step.part.key), params)
        for step, design, params in zip(state.steps, designs, state.fits[0].params, strict=True)
    )


def _scale(layout: Layout, key: tuple[str, str]) -> Scale:
    """Hint of a number; a categorical part has none."""
    return layout.scales.get(key, Scale())


def _seeded_noise(rng: np.random.Generator) -> Callable[[IntArray, float], IntArray]:
    """Make a stand-in for the discrete Gaussian: rounded normal noise from a seeded generator.

    Parameters
    ----------
    rng : Generator
        Known to whoever gave the seed.

    Returns
    -------
    callable (values, scale) -> noised values

    Notes
    -----
    Privacy: none. Whoever knows the seed can take the noise off again (J5).

    Examples
    --------
    >>> _seeded_noise(np.random.default_rng(1))(np.zeros(2, dtype=np.int64), 10.0).dtype
    dtype('int64')
    """

    def add(values: IntArray, scale: float) -> IntArray:
        return values + np.rint(scale * rng.standard_normal(values.size)).astype(np.int64)

    return add
