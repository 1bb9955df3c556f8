"""From a plan and rows to a machine that draws from noised answers; only the curator sees the rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pysynthdp._blas import one_blas_thread
from pysynthdp._typing import IntArray
from pysynthdp.curator.contributions import bounded_rows
from pysynthdp.curator.noised import Noise, NoisedRows, answer_all, entry_of
from pysynthdp.design.encode import Layout, Scale
from pysynthdp.drawing import DrawnStep, Machine
from pysynthdp.errors import PrivacyError
from pysynthdp.io import schema_file
from pysynthdp.io.answers_file import SavedAnswers, load_answers, save_answers
from pysynthdp.moments.asking import Answers, Asked, ask_moments
from pysynthdp.moments.state import MomentState, moment_state, owners_of
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.noised import moment_layout, moment_shape, spans_of
from pysynthdp.plan.noised_price import check_worth
from pysynthdp.privacy.ledger import Ledger
from pysynthdp.privacy.noise import add_discrete_gaussian
from pysynthdp.privacy.noise_in_answers import NoiseInAnswers
from pysynthdp.privacy.testing_noise import seeded_noise
from pysynthdp.rows.frame import FrameRows
from pysynthdp.schema import Schema

__all__ = ["fit_noised"]


@dataclass(slots=True, repr=False)
class _Record:
    """Noised answers so far, on disk where a path was given."""

    saved: SavedAnswers
    path: Path | None
    ledger: Ledger
    columns: tuple[str, ...]
    noise: NoiseInAnswers
    recalled: int = 0

    def recall(self, asked: Asked, answer: IntArray) -> None:
        """Refuse an answer on disk that answers another question, as after a change of the software."""
        entry = entry_of(asked, self.columns, self.noise.unit)
        if self.ledger.entries[self.recalled] != entry or answer.shape != (asked.size,):
            raise PrivacyError(
                f"{self.path} holds answers to other questions, perhaps of another version of this package; "
                "use that version, or give another path and spend the budget again"
            )
        self.recalled += 1

    def keep(self, asked: Asked, answer: IntArray) -> None:
        """Write an answer and its entry before it is used."""
        self.ledger = self.ledger.plus(entry_of(asked, self.columns, self.noise.unit))
        self.saved = self.saved.plus(answer, Ledger(self.ledger.entries[-1:]).to_dict()[0])
        if self.path is not None:
            save_answers(self.saved, self.path)


def fit_noised(
    plan: SynthesisPlan,
    noise: NoiseInAnswers,
    rows: FrameRows | None,
    *,
    answers: Path | None = None,
    noise_seed: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Machine:
    """Fit a plan to noised answers.

    Parameters
    ----------
    plan : SynthesisPlan
        What to fit.
    noise : NoiseInAnswers
        The budget.
    rows : FrameRows, optional
        The confidential table; not needed where ``answers`` holds everything.
    answers : path, optional
        Where noised answers are kept, or already lie.
    noise_seed : int, optional
        For testing only.
    progress : callable, optional
        Told what is done.

    Returns
    -------
    Machine

    Raises
    ------
    PrivacyError
        For answers of another plan, a table too small for the budget, or no table and no answers.

    Notes
    -----
    Privacy: reads real rows through the curator, and spends the budget, unless the answers are there.
    """
    layout = moment_layout(plan, noise)
    record = _record(plan, noise, rows, answers)
    source = _source(noise, noise_seed)
    found, known = [], list(record.saved.answers)
    with one_blas_thread():
        for _ in range(noise.releases):
            one = _answers(plan, layout, rows, record, source, known)
            known = known[len(one.entries) :]
            found.append(one)
        if progress is not None:
            progress("answers")
        state = moment_state(plan, layout, found, record.ledger)
    return _machine(plan, layout, state)


def _record(plan: SynthesisPlan, noise: NoiseInAnswers, rows: FrameRows | None, path: Path | None) -> _Record:
    """Start a record, or go on with the one on disk."""
    digest = _digest(plan, noise)
    saved = None if path is None else load_answers(path)
    if saved is None:
        if rows is None:
            raise PrivacyError("there is no table and no file of answers yet; call fit(table, answers=path)")
        public = noise.unit.relation == "replace_one"
        saved = SavedAnswers(digest, rows.n_rows if public else None)
    if saved.plan != digest:
        raise PrivacyError(
            f"{path} holds the answers of another plan or budget; give the settings that made it, "
            "or another path"
        )
    if saved.n is not None:
        check_worth(plan, noise, n=saved.n)
    columns = tuple(dict.fromkeys(part.column for part in plan.parts))
    return _Record(saved, path, Ledger.from_dict(list(saved.ledger)), columns, noise)


def _digest(plan: SynthesisPlan, noise: NoiseInAnswers) -> str:
    """Digest what the answers depend on, from public facts."""
    steps = [(step.label, step.model.name, step.terms) for step in plan.steps]
    plain = {"schema": schema_file.to_plain(plan.schema), "steps": steps, "noise": repr(noise)}
    return hashlib.sha256(json.dumps(plain, sort_keys=True, default=str).encode()).hexdigest()


def _source(noise: NoiseInAnswers, seed: int | None) -> Noise:
    """Noise from the operating system's entropy, or seeded noise where everything is void."""
    if seed is None:
        return add_discrete_gaussian
    if not noise.testing:
        raise PrivacyError(
            "a seed would let anyone take the noise off again; leave noise_seed out, or set testing=True, "
            "which marks everything void"
        )
    return seeded_noise(np.random.default_rng(seed))


def _answers(
    plan: SynthesisPlan,
    layout: Layout,
    rows: FrameRows | None,
    record: _Record,
    source: Noise,
    known: Sequence[IntArray],
) -> Answers:
    """Ask one release's questions; what is on disk is not asked again."""
    shape, noise = moment_shape(layout.parts, spans_of(plan, layout)), record.noise

    def opened() -> NoisedRows:
        if rows is None:
            raise PrivacyError("the file of answers is not complete; give the table to go on with it")
        if noise.unit.relation == "replace_one" and rows.n_rows != record.saved.n:
            raise PrivacyError("the table has another number of rows than the answers; give another path")
        names = {part.column for part in layout.parts}
        schema = Schema(tuple(column for column in plan.schema if column.name in names))
        return NoisedRows(bounded_rows(rows, schema, noise.unit), layout)

    asking = ask_moments(
        shape, owners_of(plan.steps), rho=noise.row_rho, relation=noise.unit.relation, n=record.saved.n
    )
    return answer_all(asking, opened, source, known=known, recall=record.recall, keep=record.keep)


def _machine(plan: SynthesisPlan, layout: Layout, state: MomentState) -> Machine:
    """Put together what drawing needs."""
    steps = tuple(
        DrawnStep((step.part,), step.model, step.design, _scale(layout, step.part.key), params)
        for step, params in zip(state.steps, state.fits[0].params, strict=True)
    )
    return Machine(plan, layout, steps, {}, {}, state)


def _scale(layout: Layout, key: tuple[str, str]) -> Scale:
    """Hint of a number; a categorical part has none."""
    return layout.scales.get(key, Scale())
