"""From a plan and rows to steps that draw from noised answers; only the curator sees the rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from pysynthdp.base.arrays import IntArray
from pysynthdp.base.blas import one_blas_thread
from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.base.even import Evenness, EvenSampler
from pysynthdp.base.streams import NumpySampler, stream
from pysynthdp.curator.contributions import bounded_rows
from pysynthdp.curator.noised.asked import Asked
from pysynthdp.curator.noised.rows import Noise, NoisedRows, answer_all, entry_of
from pysynthdp.design.encode import Layout, Scale
from pysynthdp.design.parts import Part
from pysynthdp.design.rows import Rows
from pysynthdp.io.answers_file import SavedAnswers, load_answers, save_answers
from pysynthdp.io.file_lock import Taken, alone_with
from pysynthdp.models.base import ColumnModel, CutsNumbers
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.fit import CopyParameters, DrawnStep, Fit
from pysynthdp.plan.protection import FitRequest
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.ledger import Ledger
from pysynthdp.privacy.noise.protective import add_discrete_gaussian
from pysynthdp.privacy.spending import Spending
from pysynthdp.protection.noise.budget import NoiseBudget
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
from pysynthdp.schema import Schema
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
    """

    state: MomentState
    redraw: bool = True
    draws: Evenness | None = None

    @property
    def even(self) -> bool:
        """Whether rows are drawn evenly: as the plan says, or where copies carry no interval anyway."""
        return self.state.balanced and not self.redraw if self.draws is None else self.draws == "even"

    def parameters(
        self, steps: Sequence[DrawnStep], root: np.random.SeedSequence | None, copy: int
    ) -> Sequence[Any]:
        """Parameters of one copy."""
        del steps
        return self.state.parameters(copy, stream(root, 1, copy, 0), "drawn" if self.redraw else "fitted")

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
    columns: tuple[str, ...]
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

    def recall(self, asked: Asked, answer: IntArray) -> None:
        """Refuse an answer on disk that answers another question, as after a change of the software."""
        entry = entry_of(asked, self.columns, self.noise.unit)
        if self.ledger.entries[self.recalled] != entry or answer.shape != (asked.size,):
            raise PrivacyError(
                f"{self.path} holds answers to other questions, perhaps of another version of this package",
                kind="guarantee",
                remedy="use that version, or give another path and spend the budget again",
            )
        self.recalled += 1

    def keep(self, asked: Asked, answer: IntArray) -> None:
        """Write an answer and its entry before it is used."""
        self.ledger = self.ledger.plus(entry_of(asked, self.columns, self.noise.unit))
        self.saved = self.saved.plus(answer, Ledger(self.ledger.entries[-1:]).to_dict()[0])
        if self.path is not None:
            save_answers(self.saved, self.path)


def fit_noised(plan: SynthesisPlan, noise: NoiseBudget, request: FitRequest) -> Fit:
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
    Fit

    Raises
    ------
    PrivacyError
        For answers of another plan, a table too small for the budget, or no table and no answers.

    Notes
    -----
    Privacy: reads real rows through the curator, and spends the budget, unless the answers are there.
    """
    layout, rows = moment_layout(plan, noise.hints), request.rows
    record = _record(plan, noise, rows, request.answers, request.spending)
    source = _source(request.noise_seed)
    found, known = [], list(record.saved.answers)
    with one_blas_thread():
        with record.asking() as take:
            for _ in range(noise.releases):
                one = _answers(plan, layout, rows, record, source, known, take)
                known = known[len(one.entries) :]
                found.append(one)
        if request.spending is not None:
            request.spending.settle(record.saved.digest)
        state = moment_state(plan, layout, found, record.ledger)
    drawn = replace(layout, parts=tuple(part for part in layout.parts if not part.of))
    steps = _steps(plan, drawn, state)
    return Fit(drawn, steps, MomentCopies(state, draws=plan.draws), max(round(state.n), 1))


def _record(
    plan: SynthesisPlan, noise: NoiseBudget, rows: Rows | None, path: Path | None, spending: Spending | None
) -> _Record:
    """Start a record, or go on with the one on disk."""
    digest = _digest(plan, noise)
    saved = None if path is None else load_answers(path)
    if saved is None:
        if rows is None:
            raise PrivacyError(
                "there is no table and no file of answers yet",
                kind="guarantee",
                remedy="call fit(table, answers=path)",
            )
        public = noise.unit.relation == "replace_one"
        attempt = "" if spending is None else spending.attempt
        saved = SavedAnswers(digest, rows.n_rows if public else None, attempt=attempt)
    elif spending is not None and saved.plan == digest:
        spending.resume(saved.attempt, begun=bool(saved.answers))
    if saved.plan != digest:
        raise PrivacyError(
            f"{path} holds the answers of another plan or budget",
            kind="guarantee",
            remedy="give the settings that made it, or another path",
        )
    if saved.n is not None:
        check_worth(plan, noise, n=saved.n)
    columns = tuple(dict.fromkeys(part.column for part in plan.parts))
    return _Record(saved, path, Ledger.from_dict(list(saved.ledger)), columns, noise, spending)


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


def _digest(plan: SynthesisPlan, noise: NoiseBudget) -> str:
    """Digest what the answers depend on, from public facts."""
    steps = [(step.label, step.model.name, step.terms, *_edges(step.targets[0])) for step in plan.steps]
    plain = {"schema": schema_file.to_plain(plan.schema), "steps": steps, "noise": repr(noise)}
    return hashlib.sha256(json.dumps(plain, sort_keys=True, default=str).encode()).hexdigest()


def _edges(part: Part) -> tuple[tuple[float, ...], ...]:
    """Edges of declared cells, where a number has any."""
    return (part.edges,) if part.edges else ()


def _source(seed: int | None) -> Noise:
    """Noise from the operating system's entropy, or seeded noise where everything is void."""
    return add_discrete_gaussian if seed is None else _seeded_noise(np.random.default_rng(seed))


def _answers(
    plan: SynthesisPlan,
    layout: Layout,
    rows: Rows | None,
    record: _Record,
    source: Noise,
    known: Sequence[IntArray],
    take: Callable[[], None],
) -> Answers:
    """Ask one release's questions; what is on disk is not asked again."""
    parts = [moment_part(step) for step in plan.steps]
    shape, noise = moment_shape(parts, spans_of(plan, layout)), record.noise

    def opened() -> NoisedRows:
        if rows is None:
            raise PrivacyError(
                "the file of answers is not complete",
                kind="guarantee",
                remedy="give the table to go on with it",
            )
        if noise.unit.relation == "replace_one" and rows.n_rows != record.saved.n:
            raise PrivacyError(
                "the table has another number of rows than the answers",
                kind="guarantee",
                remedy="give another path",
            )
        take()
        names = {part.column for part in layout.parts}
        schema = Schema(tuple(column for column in plan.schema if column.name in names))
        return NoisedRows(bounded_rows(rows, schema, noise.unit), layout)

    asking = ask_moments(
        shape, owners_of(plan.steps), rho=noise.row_rho, relation=noise.unit.relation, n=record.saved.n
    )
    return answer_all(asking, opened, source, known=known, recall=record.recall, keep=record.keep)


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
