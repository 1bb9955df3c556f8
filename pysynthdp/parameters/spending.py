"""What a released parameter costs: its statement, charged to an account before anything is drawn."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeAlias

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.checks import positive_setting
from pysynthdp.base.errors import PlanError, PrivacyError, SchemaError
from pysynthdp.curator.contributions import bounded_rows, check_key_column
from pysynthdp.curator.rows import rows_of
from pysynthdp.design.rows import Rows
from pysynthdp.design.survey_table import SurveyTable
from pysynthdp.io.ledger import Attempt, SpendingLedger
from pysynthdp.plan.declared import check_declared, check_key, public_schema
from pysynthdp.privacy.domain import checked_deltas, count, downward
from pysynthdp.privacy.mechanism import SamplingMechanism, price_of, statement_of
from pysynthdp.privacy.shared_account import PrivacyAccount, same_unit
from pysynthdp.privacy.statements.column import Draw
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.statements.text import NOT_COVERED_BY_A_GUARANTEE
from pysynthdp.privacy.unit import PrivacyUnit, checked_unit
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema

__all__ = ["Asked", "Charge", "How", "Source", "Terms"]

How: TypeAlias = Literal["posterior", "laplace"]
_WAYS = {
    "posterior": "the parameter itself is drawn from its posterior, whose own spread protects",
    "laplace": "the parameter itself is released with noise on whole numbers",
}


@dataclass(frozen=True, slots=True)
class Terms:
    """For whom a release is priced, where epsilon is quoted, and the account that it is charged to."""

    unit: PrivacyUnit
    deltas: tuple[float, ...]
    account: PrivacyAccount | None
    ledger: SpendingLedger | None = None
    source: str = ""

    @classmethod
    def of(
        cls,
        unit: PrivacyUnit | None,
        deltas: Sequence[float] | None,
        account: PrivacyAccount | None,
        *,
        ledger: str | os.PathLike[str] | SpendingLedger | None = None,
        source: str | None = None,
    ) -> Self:
        """Check what was given; an account's own unit and deltas stand where nothing else is asked.

        Raises
        ------
        PrivacyError
            For a value of another type, or a unit that is not the account's.
        PlanError
            For a ledger without a source, or a source without a ledger.
        """
        if (ledger is None) != (source is None):
            lacking = "ledger" if ledger is None else "source"
            raise PlanError(f"a ledger and a source go together; {lacking} is not given", kind="ledger")
        terms = cls._without_ledger(unit, deltas, account)
        if ledger is None or source is None:
            return terms
        return replace(terms, ledger=SpendingLedger.of(ledger), source=source)

    @classmethod
    def _without_ledger(
        cls, unit: PrivacyUnit | None, deltas: Sequence[float] | None, account: PrivacyAccount | None
    ) -> Self:
        """Check unit, deltas and account."""
        if account is not None and not isinstance(account, PrivacyAccount):
            raise PrivacyError(
                "account must be a PrivacyAccount", kind="parameter", remedy="write account=PrivacyAccount()"
            )
        own = PrivacyUnit() if unit is None else checked_unit(unit)
        if account is None:
            return cls(own, checked_deltas((1e-6,) if deltas is None else deltas), None)
        if unit is not None:
            same_unit(account.unit, own)
        return cls(account.unit, checked_deltas(account.deltas if deltas is None else deltas), account)


@dataclass(frozen=True, slots=True)
class Charge:
    """What a release states, and where it was charged.

    Parameters
    ----------
    statement : PrivacyStatement
        Of this release.
    together : PrivacyStatement or None
        Of its account.
    attempt : Attempt or None
        In an agency's ledger.
    """

    statement: PrivacyStatement
    together: PrivacyStatement | None
    attempt: Attempt | None

    def settle(self, values: FloatArray) -> None:
        """Say in the ledger, if there is one, what came out."""
        if self.attempt is not None:
            self.attempt.settle(hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest())


@dataclass(frozen=True, slots=True)
class Asked:
    """One release as asked for: checked before a record is read."""

    what: str
    how: How
    copies: int
    epsilon: float | None
    terms: Terms

    @classmethod
    def of(cls, what: str, how: How, copies: int, epsilon: float | None, *, terms: Terms) -> Self:
        """Check the way, the number of copies and epsilon.

        Raises
        ------
        PrivacyError
            For a value outside its domain, or an epsilon that a posterior draw has no use for.
        """
        if how not in _WAYS:
            raise PrivacyError("how must be 'posterior' or 'laplace'", kind="parameter")
        if how == "posterior" and epsilon is not None:
            raise PrivacyError(
                f"{what}: epsilon belongs to how='laplace'",
                kind="parameter",
                remedy="a posterior draw is priced from its own constants",
            )
        if how == "laplace":
            epsilon = positive_setting(what, "epsilon", epsilon)
        return cls(what, how, count("copies", copies), epsilon, terms)

    @property
    def row_epsilon(self) -> float:
        """Epsilon of one record in one copy: a unit of k records gets the asked one by group privacy."""
        epsilon = positive_setting(self.what, "epsilon", self.epsilon)
        rows = self.terms.unit.rows_per_unit
        return epsilon if rows == 1 else downward(epsilon / rows)

    def charge(self, column: str, estimate: str, mechanism: SamplingMechanism) -> Charge:
        """State the release, and charge it to ledger and account.

        Raises
        ------
        BudgetExceeded
            If it costs more than is left to its source.

        Notes
        -----
        Privacy: spends budget, before a record is read.
        """
        statement = self._statement(column, estimate, mechanism)
        attempt = self._reserved(statement)
        if attempt is not None and attempt.mark is not None:
            statement = replace(statement, ledger=(attempt.mark,))
        account = self.terms.account
        return Charge(statement, None if account is None else account.charge(statement), attempt)

    def _reserved(self, statement: PrivacyStatement) -> Attempt | None:
        """Reserve the price in the ledger, if there is one."""
        if self.terms.ledger is None:
            return None
        asked = json.dumps([self.what, statement.to_dict()], sort_keys=True)
        job = hashlib.sha256(asked.encode()).hexdigest()
        attempt = self.terms.ledger.attempt(self.terms.source, self.terms.unit, job=job)
        attempt.reserve(statement.guarantee)
        return attempt

    def _statement(self, column: str, estimate: str, mechanism: SamplingMechanism) -> PrivacyStatement:
        """State what this release guarantees."""
        draw, unit = Draw(1, self.copies), self.terms.unit
        cost = price_of(mechanism, draw, unit=unit)
        part = statement_of(column, f"{estimate}, {self.how}", mechanism, cost, reason=_WAYS[self.how])
        return PrivacyStatement(
            guarantee=cost,
            status="implemented" if mechanism.exact else "idealised",
            reason=f"{_WAYS[self.how]}; it covers this release only",
            unit=unit,
            columns=(part,),
            public=self._public(column),
            draws=(draw,),
            deltas=self.terms.deltas,
            released="parameters",
            not_covered=NOT_COVERED_BY_A_GUARANTEE,
        )

    def _public(self, column: str) -> tuple[str, ...]:
        """Facts that were declared."""
        return (
            "the number of rows of the confidential table, and the number of copies",
            f"{column}: type, levels or bounds, and codes, as declared",
        )


@dataclass(frozen=True, slots=True)
class Source:
    """A declared column of a confidential table, not yet read."""

    rows: Rows
    schema: Schema
    name: str
    unit: PrivacyUnit

    @classmethod
    def of(
        cls,
        table: pd.DataFrame | SurveyTable | Rows,
        column: NumericColumn | CategoricalColumn,
        unit: PrivacyUnit,
    ) -> Self:
        """Check all that is public: declaration and unit, and that the table has column, key and rows.

        Raises
        ------
        PrivacyError, SchemaError
            If something is not declared, or the table is empty or lacks the column or the unit's key.
        """
        rows = rows_of(table)
        schema = public_schema(Schema([column]))
        check_declared(schema, [column.name])
        check_key(schema, unit)
        if column.name not in rows.columns:
            raise SchemaError(
                f"the table has no column {column.name!r}, which the schema names", kind="parameter"
            )
        if not rows.n_rows:
            raise PrivacyError(
                f"{column.name}: the table has no rows, so there is nothing to release",
                column=column.name,
                kind="parameter",
            )
        check_key_column(rows, unit)
        return cls(rows, schema, column.name, unit)

    @property
    def n(self) -> int:
        """Number of rows, which is public."""
        return self.rows.n_rows

    def read(self) -> FloatArray:
        """Numbers or level codes, every cell made to fit, no more rows of a unit than are priced."""
        parts = bounded_rows(self.rows, self.schema, self.unit).parts
        return np.asarray(parts[self.name, "value"], dtype=np.float64)
