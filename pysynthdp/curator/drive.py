"""Run the fits of all steps: questions in, answers out, the rows dropped at the end.

All fits move in step. Each round gathers one query from every unfinished step; Moments are answered together
in one pass. Iterative sums run step by step when the encoded table fits in memory, else together, one pass a
round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pysynthdp.base.blas import one_blas_thread
from pysynthdp.base.errors import FitError, PrivacyError, PysynthdpError
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Words
from pysynthdp.curator.answers import Grams, StepRows, answer_alone, moments_asked, summed_by
from pysynthdp.curator.encoded import EncodedRows, Gathered
from pysynthdp.curator.spread.pieces import refused
from pysynthdp.models.ask import Answer, Moments, Note, Query, RowSum, WholeRows
from pysynthdp.models.base import Chosen, ColumnModel, Fit, FitTask
from pysynthdp.privacy.unit import Relation

__all__ = ["Curator", "StepFit"]


@dataclass(slots=True, repr=False)
class StepFit:
    """One step under way.

    Parameters
    ----------
    model : ColumnModel
        Whose parameters are sought.
    task : FitTask
        What the model is told.
    rows : StepRows
        How the step sees a block.
    held_rows : bool
        Whether the model was handed whole rows; noted by the curator, whatever the model says of itself.
    notes : list of Remark
        What the model said of the column.
    """

    model: ColumnModel
    task: FitTask
    rows: StepRows
    params: Any = None
    query: Query | None = None
    done: bool = False
    held_rows: bool = False
    notes: list[Remark] = field(default_factory=list)
    _fit: Fit | None = field(default=None)

    def advance(self, answer: Answer | None) -> None:
        """Hand an answer over and take the next query, or the parameters."""
        try:
            if self._fit is None:
                self._fit = self.model.fit(self.task)
                self.query = next(self._fit)
            else:
                self.query = self._fit.send(answer)  # type: ignore[arg-type]
            while isinstance(self.query, Note):
                self.notes.append(self.query.remark)
                self.query = self._fit.send(Answer(None))
        except StopIteration as stop:
            self.params, self.query, self.done = stop.value, None, True
            if isinstance(stop.value, Chosen):
                self.model, self.params = stop.value.model, stop.value.params
        except PysynthdpError:
            raise
        except Exception as problem:  # noqa: BLE001 -- a model may be anybody's code
            self._fail(problem)

    def _fail(self, problem: Exception) -> None:
        """Name the column and the method; the original text may quote data, so it stays out."""
        text = "{name}: the '{method}' model could not be fitted ({problem})"
        name, method = self.task.target.name, self.model.name
        raise FitError(
            Words(text, name=name, method=method, problem=type(problem).__name__),
            column=name,
            kind="method",
            remedy="choose another method for it or leave out predictors",
        ) from None


class Curator:
    """Holds the rows while models are fitted and answers what they ask.

    Parameters
    ----------
    rows : EncodedRows
        The table, encoded on demand.
    relation : {"replace_one", "add_remove"}
        Neighbours between which noisy answers must hide the difference.
    guarded : bool
        Whether a guarantee is in force, under which nobody is handed whole rows.
    known : Grams, optional
        Cross-products that need not be added again, where rows have no weights.
    """

    def __init__(
        self,
        rows: EncodedRows,
        relation: Relation = "replace_one",
        *,
        guarded: bool = False,
        known: Grams | None = None,
    ) -> None:
        self._rows = rows
        self._known = known if rows.weights is None else None  # these count rows
        self._relation = relation
        self._guarded = guarded

    def __repr__(self) -> str:
        return "<Curator>"

    def fit_all(self, fits: Sequence[StepFit], progress: Callable[[str], None] | None = None) -> None:
        """Drive every fit to its end."""
        active = list(fits)
        with one_blas_thread():  # a model's own algebra, too, is the same in any thread
            for fit in active:
                fit.advance(None)
            while active:
                for _ in self._round(active):
                    active = _still_active(active, progress)

    def _round(self, active: list[StepFit]) -> Iterator[None]:
        """Answer a query of some steps, first those after which more can share a pass over all rows."""
        other = [fit for fit in active if not isinstance(fit.query, Moments | RowSum)]
        moments = [fit for fit in active if isinstance(fit.query, Moments)]
        sums = [fit for fit in active if isinstance(fit.query, RowSum)]
        sampled = [fit for fit in sums if _every(fit) > 1]
        if other:
            self._one_by_one(other)
            yield
        elif sampled:
            yield from self._sums(sampled)
        elif sums and self._rows.fits() and not moments:
            yield from self._sums(sums)
        else:
            self._together(moments, [] if self._rows.fits() else sums)
            yield

    def _one_by_one(self, fits: list[StepFit]) -> None:
        """Answer what is no sum over encoded rows."""
        for fit in fits:
            if fit.query is None:
                continue
            if isinstance(fit.query, WholeRows):
                self._hand_over(fit)
            fit.advance(answer_alone(fit.query, fit.rows, self._rows, keep=False, relation=self._relation))

    def _hand_over(self, fit: StepFit) -> None:
        """Refuse whole rows under a guarantee; else note who got them."""
        if self._guarded:
            raise PrivacyError(
                (
                    f"{fit.task.target.name}: the {fit.model.name!r} model asks for whole rows, which "
                    "can have no guarantee"
                ),
                kind="method",
                remedy="choose another method for it",
            )
        if not self._rows.table.here:
            refused(fit.task.target.name)
        fit.held_rows = True

    def _sums(self, fits: list[StepFit]) -> Iterator[None]:
        """Answer row sums: each step to its next other question, or all together when memory is short."""
        if not self._rows.fits(min(_every(fit) for fit in fits)):
            self._together([], fits)
            yield
        elif self._rows.workers == 1 or len(fits) == 1:
            for fit in fits:
                self._alone(fit)
                yield
        else:
            yield from self._side_by_side(fits)

    def _side_by_side(self, fits: list[StepFit]) -> Iterator[None]:
        """Keep answering some steps, each in a thread of its own; blocks are summed in those of the table."""
        with ThreadPoolExecutor(self._rows.workers) as pool:
            under_way = [pool.submit(self._alone, fit) for fit in fits]
            try:
                for each in under_way:
                    each.result()
                    yield
            finally:
                for each in under_way:
                    each.cancel()

    def _alone(self, fit: StepFit) -> None:
        """Keep answering one step on its own gathered rows while they fit in memory."""
        gathered: dict[int, Gathered] = {}
        while isinstance(fit.query, RowSum) and self._rows.fits(fit.query.every):
            fit.advance(Answer(self._gathered_sum(fit, fit.query, gathered)))
        for held in gathered.values():
            self._rows.let_go(held)

    def _gathered_sum(self, fit: StepFit, query: RowSum, gathered: dict[int, Gathered]) -> Any:
        """Add a function over a step's rows, gathered once."""
        if query.every not in gathered:
            gathered[query.every] = self._rows.gather(fit.rows.asked, every=query.every)
        return self._rows.sum_gathered(summed_by(query, self._rows), gathered[query.every])

    def _together(self, moments: list[StepFit], sums: list[StepFit]) -> None:
        """Answer all steps in one pass; every block is encoded once."""
        coarsest = max((_every(fit) for fit in sums), default=1)
        chosen = [fit for fit in sums if _every(fit) == coarsest]
        queries = [fit.query for fit in moments if isinstance(fit.query, Moments)]
        asked = moments_asked([fit.rows for fit in moments], queries, self._rows, self._known)
        reads = [*(fit.rows.design.reads for fit in chosen), asked.reads]
        sums_of = [asked.of_block, *(_sum_of(fit, self._rows) for fit in chosen)]
        if asked.nothing and not chosen:
            answers: list[Any] = [()]
        else:
            answers = self._rows.fold_many(sums_of, every=coarsest, used=np.unique(np.concatenate(reads)))
        for fit, answer in zip(moments, asked.answers(answers[0]), strict=True):
            fit.advance(answer)
        for fit, found in zip(chosen, answers[1:], strict=True):
            fit.advance(Answer(found))


def _every(fit: StepFit) -> int:
    """Every how many rows a step's sum goes over."""
    return fit.query.every if isinstance(fit.query, RowSum) else 1


def _still_active(fits: list[StepFit], progress: Callable[[str], None] | None) -> list[StepFit]:
    """Tell which have ended, and give the others."""
    for fit in fits:
        if fit.done and progress is not None:
            progress(fit.task.target.name)
    return [fit for fit in fits if not fit.done]


def _sum_of(fit: StepFit, rows: EncodedRows) -> Callable[[Any], Any]:
    """Make the block function of a step's row sum."""
    query = fit.query
    if not isinstance(query, RowSum):
        msg = "only a RowSum is summed over blocks"
        raise TypeError(msg)
    of, own = summed_by(query, rows), fit.rows  # and no more, since it may be sent to where the rows lie
    return lambda block: of(*own.asked(block))
