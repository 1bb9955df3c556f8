"""The main entry: settings, and one call for everything."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from pysynthdp._progress import progress_bar
from pysynthdp._random import RandomSource
from pysynthdp.errors import FitError, PlanError, PrivacyError
from pysynthdp.fitted import FittedSynthesizer
from pysynthdp.fitting import fit_machine
from pysynthdp.infer import Codes, infer_schema
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan import SERIAL, SynthesisPlan, make_plan
from pysynthdp.plan.guaranteed import priced_columns
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.by_sampling import BySampling
from pysynthdp.release import SyntheticRelease
from pysynthdp.rows.frame import FrameRows
from pysynthdp.schema import Schema

__all__ = ["FittedSynthesizer", "Synthesizer", "synthesize"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesizer:
    """Settings of a synthesis; ``fit`` makes a :class:`FittedSynthesizer`.

    Parameters
    ----------
    schema : Schema, optional
        Public facts about the table; without it they are inferred, and the privacy statement says so.
    method : str, ColumnModel or mapping column -> either, optional
        Column model, synthpop's names: ``norm, lognorm, sqrtnorm, cubertnorm, normrank, poisson, negbin,
        logreg, polyreg, polr, sample, constant``, and ``serial`` for fresh running numbers.
    visit_sequence : sequence of str, optional
        Order in which columns are drawn; the table's own by default.
    predictor_matrix : DataFrame or mapping column -> predictors, optional
        Which earlier columns a column is drawn from; all by default.
    formulas : sequence of str
        Predictors as formulas: ``"income ~ age * sex + I(age ** 2)"``.
    missing : mapping column -> {code: label}
        Special codes that are not values.
    spikes : mapping column -> values
        Values with a mass of their own.
    bounds : mapping column -> (lower, upper)
        Declared bounds.
    decimals : mapping column -> int
        Digits after the point.
    levels : mapping column -> levels
        Declared levels.
    keep : sequence of str
        Columns to release as they really are; shown everywhere.
    drop : sequence of str
        Columns to leave out.
    proper : bool
        Draw parameters from their posterior for each copy.
    emit_original : bool
        Let ``normrank`` and ``sample`` re-emit real values, as synthpop does; makes the fit confidential.
    joint : sequence of (columns, method)
        Columns that one model draws together.
    guarantee : BySampling, optional
        Ask that the draw itself carries a formal guarantee; every column must then be declared.
    workers : int, optional
        Threads; never changes a result. All cores by default, at most four.
    progress : bool, optional
        Show a bar; on a terminal or in a notebook by default.

    Examples
    --------
    >>> import pandas as pd
    >>> df = pd.DataFrame({"sex": ["F", "M"] * 50, "age": range(20, 120)}).sample(frac=1, random_state=1)
    >>> fitted = Synthesizer(method={"age": "norm"}).fit(df)
    >>> release = fitted.draw(m=3, rng=1)
    >>> release.m, release[0].shape
    (3, (100, 2))
    """

    schema: Schema | None = None
    method: str | ColumnModel | Mapping[str, str | ColumnModel] | None = None
    visit_sequence: Sequence[str] | None = None
    predictor_matrix: pd.DataFrame | Mapping[str, Iterable[str]] | None = None
    formulas: Sequence[str] = ()
    missing: Mapping[str, Codes] = field(default_factory=dict)
    spikes: Mapping[str, Iterable[float]] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    decimals: Mapping[str, int] = field(default_factory=dict)
    levels: Mapping[str, Iterable[Any]] = field(default_factory=dict)
    keep: Sequence[str] = ()
    drop: Sequence[str] = ()
    proper: bool = False
    emit_original: bool = False
    joint: Sequence[tuple[Sequence[str], str | ColumnModel]] = ()
    guarantee: BySampling | None = None
    workers: int | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        for what in ("keep", "drop", "formulas", "visit_sequence"):
            if isinstance(getattr(self, what), str):
                raise PlanError(f"{what} is a single text; give a list, {what}=[...]")
        both = set(self.keep) & set(self.drop)
        if both:
            raise PlanError(f"{min(both)} is both kept and dropped; name it once")
        if self.workers is not None and self.workers < 1:
            raise PlanError("workers must be at least 1")

    def plan(self, data: pd.DataFrame | Schema | None = None) -> SynthesisPlan:
        """Make the plan: from a schema without reading a record, or from a table by inferring its schema.

        Parameters
        ----------
        data : DataFrame or Schema, optional
            Without it, the synthesizer's own schema.

        Raises
        ------
        PlanError
            If a setting cannot be met; the message names the column and the mend.

        Notes
        -----
        Privacy: reads real rows only when a table is given and no schema was declared.
        """
        if isinstance(data, Schema):
            return self._plan_of(data)
        if self.schema is not None:
            return self._plan_of(self.schema)
        if data is None:
            raise PlanError("there is neither a schema nor a table; call plan(table) or give schema=")
        return self._plan_of(self._infer(FrameRows(data)))

    def _plan_of(self, schema: Schema) -> SynthesisPlan:
        """Plan from a schema and the settings."""
        return make_plan(
            schema.without(self.drop),
            method=self.method,
            visit_sequence=self.visit_sequence,
            predictor_matrix=self.predictor_matrix,
            formulas=self.formulas,
            keep=self.keep,
            drop=self.drop,
            proper=self.proper,
            emit_original=self.emit_original,
            joint=self.joint,
            guarantee=self.guarantee,
        )

    def _infer(self, rows: FrameRows) -> Schema:
        """Infer the schema with what the user declares."""
        self._check_drops(rows.frame)
        method = self.method if isinstance(self.method, Mapping) else {}
        serials = [name for name, wish in method.items() if wish == SERIAL]
        return infer_schema(
            rows,
            missing=self.missing,
            spikes=self.spikes,
            bounds=self.bounds,
            decimals=self.decimals,
            levels=self.levels,
            exempt=[*self.keep, *serials],
            skip=self.drop,
        )

    def _check_drops(self, frame: pd.DataFrame) -> None:
        """Refuse to drop what is not there."""
        for name in self.drop:
            if name not in frame.columns:
                raise PlanError(f"drop names {name!r}, which is no column")

    def fit(self, table: pd.DataFrame, *, block_rows: int | None = None) -> FittedSynthesizer:
        """Fit every column's model to a confidential table.

        Parameters
        ----------
        table : DataFrame
            The confidential table.
        block_rows : int, optional
            Rows read at a time; never changes a result.

        Returns
        -------
        FittedSynthesizer
            Parameters and an account; no record.

        Raises
        ------
        SchemaError, PlanError, FitError
            If the table does not fit the schema, the settings do not fit the table, or a model has no fit.

        Notes
        -----
        Privacy: reads real rows; gives no formal guarantee unless every column's model carries one.
        """
        if not isinstance(table, pd.DataFrame):
            raise FitError(f"fit needs a pandas DataFrame, not {type(table).__name__}; convert it first")
        rows = FrameRows(table, block_rows)
        if not rows.n_rows or not rows.columns:
            raise FitError("the table has no rows or no columns; there is nothing to fit")
        if self.guarantee is not None and self.schema is None:
            raise PrivacyError(
                "a formal guarantee takes nothing from the data; declare every column in schema="
            )
        plan = self._plan_of(self.schema if self.schema is not None else self._infer(rows))
        with progress_bar(len(plan.steps), "fit", show=self.progress) as note:
            machine = fit_machine(plan, rows, workers=self._threads(), progress=note)
        account = Account()
        if plan.guarantee is not None:
            priced = priced_columns(plan, plan.guarantee, n=rows.n_rows)
            account = Account(priced, unit=plan.guarantee.unit)
        return FittedSynthesizer(machine, rows.n_rows, self._threads(), self.progress, account)

    def _threads(self) -> int:
        """Threads to use."""
        return self.workers or min(4, os.cpu_count() or 1)


def synthesize(
    table: pd.DataFrame, m: int = 5, rng: RandomSource = None, **settings: Any
) -> SyntheticRelease:
    """Fit and draw in one call.

    Parameters
    ----------
    table : DataFrame
        The confidential table.
    m : int
        Number of copies.
    rng : int, SeedSequence or Generator, optional
        None takes fresh entropy from the operating system.
    **settings
        Of :class:`Synthesizer`.

    Returns
    -------
    SyntheticRelease
        The copies.

    Notes
    -----
    Privacy: reads real rows; see :meth:`Synthesizer.fit`.

    Examples
    --------
    >>> import pandas as pd
    >>> df = pd.DataFrame({"sex": ["F", "M"] * 50, "age": [20.5, 31, 47, 62] * 25})
    >>> synthesize(df, m=2, rng=1).m
    2
    """
    return Synthesizer(**settings).fit(table).draw(m=m, rng=rng)
