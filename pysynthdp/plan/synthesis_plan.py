"""The whole synthesis as data: printed, priced and reviewed before a record is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from pysynthdp.base.display import Printable, Table
from pysynthdp.design.parts import Part, parts_of
from pysynthdp.plan.budget import Budget, copies_for, records_for, smallest_setting
from pysynthdp.plan.protection import Price, Protection
from pysynthdp.plan.step import SERIAL, Step
from pysynthdp.schema import Schema

__all__ = ["SynthesisPlan", "predicting"]

_FEW = 6  # terms that a line of the plan lists
_MORE = " more, see below"


@dataclass(frozen=True, repr=False)
class SynthesisPlan(Printable):
    """The whole synthesis as data.

    Parameters
    ----------
    schema : Schema
        All columns of the table that are not dropped, in its order.
    visit_sequence : tuple of str
        Columns in the order in which they are drawn.
    steps : tuple of Step
        In the order in which they run.
    protection : Protection
        How the table is protected; "not at all" is an answer too.
    keep : tuple of str
        Columns released as they really are.
    serials : tuple of str
        Columns replaced by running numbers.
    drop : tuple of str
        Columns of the table that are not released.
    proper : bool
        Whether each copy draws its own parameters.
    """

    schema: Schema
    visit_sequence: tuple[str, ...]
    steps: tuple[Step, ...]
    protection: Protection
    keep: tuple[str, ...] = ()
    serials: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    proper: bool = False

    @property
    def parts(self) -> tuple[Part, ...]:
        """Every modelled part: kept columns that can predict first, then in visit order."""
        names = (*predicting(self.schema, self.keep), *self.visit_sequence)
        return tuple(part for name in names for part in parts_of(self.schema[name]))

    @property
    def methods(self) -> dict[str, str]:
        """Method of each column, as a user names it."""
        drawn = {part.column: step.model.name for step in self.steps for part in step.targets}
        return {**dict.fromkeys(self.keep, "kept real"), **drawn, **dict.fromkeys(self.serials, SERIAL)}

    @property
    def predictor_matrix(self) -> pd.DataFrame:
        """1 where the row's column is drawn from the column's."""
        names = list(self.schema.names)
        matrix = pd.DataFrame(0, index=names, columns=names)
        for step, given in zip(self.steps, self.protection.given(self), strict=True):
            predictors = list(dict.fromkeys(name for term in given for name in term))
            for part in step.targets:
                matrix.loc[part.column, predictors] = 1
        return matrix

    def price(self, *, n: int, n_syn: int | None = None, m: int = 5) -> Price:
        """Price m copies of n_syn records (n by default) before a record is read.

        Raises
        ------
        PrivacyError
            If the plan asks for no guarantee, or a number lies outside a formula's domain.
        """
        return self.protection.price(self, n=n, n_syn=n_syn, m=m)

    def records_for(
        self,
        *,
        n: int,
        rho: float | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        m: int = 1,
    ) -> int:
        """Find the largest n_syn whose m copies stay within a budget, before a record is read.

        Parameters
        ----------
        n : int
            Rows of the confidential table.
        rho : float, optional
            Budget in zCDP, where every column has one.
        epsilon, delta : float, optional
            Budget as epsilon at a delta (the plan's first by default).
        m : int
            Number of copies.

        Returns
        -------
        int
            At most 10^9, which stands for no limit.

        Raises
        ------
        PrivacyError
            If one record already costs more, or the plan asks for no guarantee.

        Notes
        -----
        Privacy: public constants only.
        """
        return records_for(self, Budget(rho=rho, epsilon=epsilon, delta=delta), n=n, m=m)

    def copies_for(
        self,
        *,
        n: int,
        rho: float | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        n_syn: int | None = None,
    ) -> int:
        """Find the largest m of copies of n_syn records (n by default) within a budget.

        Parameters
        ----------
        n, n_syn : int
            Rows of the confidential table, and of a copy.
        rho, epsilon, delta : float, optional
            As for :meth:`records_for`.

        Returns
        -------
        int
            At most 10^9, which stands for no limit.

        Raises
        ------
        PrivacyError
            If one copy already costs more, or the plan asks for no guarantee.

        Notes
        -----
        Privacy: public constants only.
        """
        return copies_for(self, Budget(rho=rho, epsilon=epsilon, delta=delta), n=n, n_syn=n_syn)

    def smallest_setting(
        self,
        column: str,
        setting: str,
        *,
        n: int,
        rho: float | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        n_syn: int | None = None,
        m: int = 1,
    ) -> float:
        """Find the smallest prior, floor, ridge, penalty or sigma of a column that meets a budget.

        Parameters
        ----------
        column, setting : str
            Column, and setting of its model.
        n, n_syn, m : int
            Rows of the confidential table, rows of a copy (n by default), copies.
        rho, epsilon, delta : float, optional
            As for :meth:`records_for`.

        Returns
        -------
        float
            In the unit of the setting.

        Raises
        ------
        PrivacyError
            If the model has no such setting, or no value of it is large enough.

        Notes
        -----
        Privacy: public constants only.
        """
        budget = Budget(rho=rho, epsilon=epsilon, delta=delta)
        return smallest_setting(self, column, setting, budget=budget, n=n, n_syn=n_syn, m=m)

    def expected_precision(self, *, n: int, m: int = 20, n_syn: int | None = None) -> Printable:
        """Say how much longer intervals get by noise in the answers, before a record is read.

        Parameters
        ----------
        n : int
            Rows of the confidential table, or a guess.
        m : int
            Copies, at least two.
        n_syn : int, optional
            Rows of each; as many as the table by default.

        Returns
        -------
        ExpectedPrecision
            Lengths over the non-private ones by kind of estimand, rows lost, columns that cost most.

        Raises
        ------
        PrivacyError
            If the plan asks for no such guarantee.

        Notes
        -----
        Privacy: public constants only.
        """
        return self.protection.expected_precision(self, n=n, m=m, n_syn=n_syn)

    @property
    def real_values(self) -> tuple[str, ...]:
        """Columns whose drawn values are those of real records, because ``emit_original`` asked for it."""
        emitting = [step for step in self.steps if getattr(step.model, "real_values", False)]
        return tuple(dict.fromkeys(part.column for step in emitting for part in step.targets))

    def to_table(self) -> Table:
        """One row a step; what is too long for it stands below."""
        given = self._given()
        shown = [_shown(terms, before) for terms, before in zip(given, self._before(), strict=True)]
        rows = tuple(
            (number, step.label, step.model.name, text)
            for number, (step, text) in enumerate(zip(self.steps, shown, strict=True), start=1)
        )
        cut = [place for place, text in enumerate(shown) if text.endswith(_MORE)]
        notes = tuple(f"Step {place + 1} is given {', '.join(given[place])}." for place in cut)
        facts: list[tuple[str, str | int]] = [("columns", len(self.schema))]
        facts.append(("parameters", self.protection.parameters(self)))
        named = (
            ("released REAL", self.keep),
            ("repeats REAL values", self.real_values),
            ("running numbers", self.serials),
            ("dropped", self.drop),
        )
        facts += [(label, ", ".join(names)) for label, names in named if names]
        return Table("Synthesis plan", ("step", "draws", "method", "given"), rows, tuple(facts), notes)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a step as a DataFrame, indexed by its number, with every predictor of it."""
        steps = zip(self.steps, self._given(), strict=True)
        rows = [(step.label, step.model.name, ", ".join(terms)) for step, terms in steps]
        places = pd.RangeIndex(1, len(rows) + 1, name="step")
        return pd.DataFrame(rows, index=places, columns=["draws", "method", "given"])

    def _given(self) -> list[tuple[str, ...]]:
        """Terms of each step, as the protection gives them."""
        return [tuple(map(":".join, terms)) for terms in self.protection.given(self)]

    def _before(self) -> Iterator[tuple[str, ...]]:
        """Columns that are there when a step draws: those kept real, and those of the steps before it."""
        there = dict.fromkeys(predicting(self.schema, self.keep))
        for step in self.steps:
            own = [part.column for part in step.targets]
            yield tuple(name for name in there if name not in own)
            there |= dict.fromkeys(own)


def predicting(schema: Schema, names: Iterable[str]) -> tuple[str, ...]:
    """Columns that have values to model: not identifiers, not columns that are missing throughout."""
    return tuple(name for name in names if any(part.role == "value" for part in parts_of(schema[name])))


def _shown(terms: Sequence[str], before: Sequence[str]) -> str:
    """Write what a step is given: all of it, or how it differs from all columns before the step."""
    if len(terms) <= _FEW:
        return ", ".join(terms) or "-"
    lacking = [name for name in before if name not in terms]
    besides = [term for term in terms if term not in before]
    if len(lacking) + len(besides) > _FEW // 2:
        return f"{', '.join(terms[:_FEW])} and {len(terms) - _FEW}{_MORE}"
    but = f" but {', '.join(lacking)}" if lacking else ""
    return ", ".join([f"all {len(before)} columns before it{but}", *besides])
