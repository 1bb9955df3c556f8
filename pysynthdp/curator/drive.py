"""Run the fits of all steps: questions in, answers out, the rows dropped at the end.

All fits move in step. Each round gathers one query from every unfinished step; Moments are answered together
in one pass. Iterative sums run step by step when the encoded table fits in memory, else together, one pass a
round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pysynthdp.base.errors import FitError, PrivacyError, PysynthdpError
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Words
from pysynthdp.curator.answers import Grams, StepRows, answer_alone, answer_moments, summed_by
from pysynthdp.curator.encoded import EncodedRows, Gathered
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
        for fit in active:
            fit.advance(None)
        while active:
            self._round(active)
            finished = [fit for fit in active if fit.done]
            active = [fit for fit in active if not fit.done]
            for fit in finished:
                if progress is not None:
                    progress(fit.task.target.name)

    def _round(self, active: list[StepFit]) -> None:
        """Answer one query of each step, cheap shared ones first."""
        moments = [fit for fit in active if isinstance(fit.query, Moments)]
        if moments:
            queries = [fit.query for fit in moments if isinstance(fit.query, Moments)]
            answers = answer_moments([fit.rows for fit in moments], queries, self._rows, self._known)
            for fit, answer in zip(moments, answers, strict=True):
                fit.advance(answer)
            return
        other = [fit for fit in active if fit.query is not None and not isinstance(fit.query, RowSum)]
        for fit in other:
            if isinstance(fit.query, WholeRows):
                self._hand_over(fit)
            fit.advance(answer_alone(fit.query, fit.rows, self._rows, keep=False, relation=self._relation))
        sums = [fit for fit in active if isinstance(fit.query, RowSum)]
        if not other and sums:
            self._sums(sums)

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
        fit.held_rows = True

    def _sums(self, fits: list[StepFit]) -> None:
        """Answer row sums: one step to its next other question, or all together when memory is short."""
        every = min(fit.query.every for fit in fits if isinstance(fit.query, RowSum))
        if self._rows.fits(every):
            self._alone(fits[0])
        else:
            self._together(fits)

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

    def _together(self, fits: list[StepFit]) -> None:
        """Answer all steps in one pass; every block is encoded once."""
        coarsest = max(fit.query.every for fit in fits if isinstance(fit.query, RowSum))
        chosen = [fit for fit in fits if isinstance(fit.query, RowSum) and fit.query.every == coarsest]
        answers = self._rows.fold_many([_sum_of(fit, self._rows) for fit in chosen], every=coarsest)
        for fit, sums in zip(chosen, answers, strict=True):
            fit.advance(Answer(sums))


def _sum_of(fit: StepFit, rows: EncodedRows) -> Callable[[Any], Any]:
    """Make the block function of a step's row sum."""
    query = fit.query
    if not isinstance(query, RowSum):
        msg = "only a RowSum is summed over blocks"
        raise TypeError(msg)
    of, own = summed_by(query, rows), fit.rows  # and no more, since it may be sent to where the rows lie
    return lambda block: of(*own.asked(block))
