"""The account of several releases from one confidential table: what they cost together."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any, NoReturn, Self

from pysynthdp.base.display import Cell, Printable, Table
from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.slips import answers_slips
from pysynthdp.privacy.domain import checked_deltas
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.unit import PrivacyUnit, checked_unit

__all__ = ["PrivacyAccount", "same_unit"]


@answers_slips
class PrivacyAccount(Printable):
    """Add up what several releases from the same confidential table cost.

    Parameters
    ----------
    unit : PrivacyUnit, optional
        Whose record is protected, in every release on the account; one record by default.
    deltas : sequence of float
        Where the total quotes (epsilon, delta).

    Raises
    ------
    PrivacyError
        For a unit that is no PrivacyUnit, or a delta outside (0, 1); when pickled or deep-copied, since two
        accounts of one table would each miss the other's releases.

    Notes
    -----
    Privacy: reads nothing. ``release_mean`` and ``release_shares`` charge it under a lock before they draw;
    other releases are charged by their statements. The losses of all kinds are added as J1 of
    ``docs/formulas.md`` says: also when a release was chosen after seeing those before it. The account limits
    nothing: it states what was spent, and lives as long as the process; save ``total().to_dict()``.

    Examples
    --------
    >>> import pandas as pd
    >>> from pysynthdp import NumericColumn, release_mean
    >>> table = pd.DataFrame({"age": [30.0, 40.0, 50.0, 60.0]})
    >>> age = NumericColumn("age", lower=20, upper=70, may_be_missing=False, fallback=45)
    >>> account = PrivacyAccount()
    >>> for epsilon in (0.5, 0.25):
    ...     release = release_mean(table, age, how="laplace", epsilon=epsilon, account=account)
    >>> round(account.total().guarantee.eps, 9), account.total().verify().ok
    (0.75, True)
    """

    __slots__ = ("_deltas", "_lock", "_owner", "_statements", "_unit")

    def __init__(self, *, unit: PrivacyUnit | None = None, deltas: Sequence[float] = (1e-6,)) -> None:
        self._unit = PrivacyUnit() if unit is None else checked_unit(unit, whole=True)
        self._deltas = checked_deltas(deltas)
        self._statements: list[PrivacyStatement] = []
        self._lock = threading.Lock()
        self._owner = os.getpid()

    @property
    def unit(self) -> PrivacyUnit:
        """Whose record is protected."""
        return self._unit

    @property
    def deltas(self) -> tuple[float, ...]:
        """Where the total quotes (epsilon, delta)."""
        return self._deltas

    @property
    def statements(self) -> tuple[PrivacyStatement, ...]:
        """The statement of every release so far, in order."""
        with self._lock:
            return tuple(self._statements)

    def charge(self, statement: PrivacyStatement) -> PrivacyStatement:
        """Append a release and return the statement of all of them together.

        Parameters
        ----------
        statement : PrivacyStatement
            Of one release from the same table; of a fit that was drawn from several times only the last
            statement, which covers the earlier draws.

        Returns
        -------
        PrivacyStatement
            Of everything on the account, this release included; as ``total()``.

        Raises
        ------
        PrivacyError
            For a statement about another unit or other neighbours, for kinds that cannot be added, and in
            another process than the account's; nothing is charged then.

        Notes
        -----
        Privacy: post-processing of public constants; without a guarantee or seeded, so is the total.

        Examples
        --------
        >>> PrivacyAccount().charge(PrivacyStatement.none([])).status
        'none'
        """
        if not isinstance(statement, PrivacyStatement):
            raise PrivacyError("charge a PrivacyStatement, such as release.privacy", kind="account")
        same_unit(self._unit, statement.unit)
        if os.getpid() != self._owner:
            raise PrivacyError(
                "charge the account in the process that made it: another one's would be lost", kind="account"
            )
        with self._lock:
            total = self._sum([*self._statements, statement])
            self._statements.append(statement)
        return total

    def total(self) -> PrivacyStatement:
        """State what all releases so far cost together; its parts are their statements.

        Raises
        ------
        PrivacyError
            If nothing has been charged yet; release something first.
        """
        statements = self.statements
        if not statements:
            raise PrivacyError(
                "nothing has been charged to this account yet, so there is no loss to report", kind="account"
            )
        return self._sum(statements)

    def _sum(self, statements: Sequence[PrivacyStatement]) -> PrivacyStatement:
        """Compose, and quote the account's own deltas."""
        return PrivacyStatement.compose(*statements, deltas=self._deltas)

    def to_table(self) -> Table:
        """One row a release, and their sum."""
        statements = self.statements
        facts: list[tuple[str, Cell]] = [
            ("Protected unit", f"one {self._unit.name}"),
            ("Rows of a unit", "; ".join(self._unit.contributions)),
            ("Neighbours", self._unit.neighbours),
            ("Releases", len(statements)),
        ]
        if statements:
            total = self._sum(statements)
            facts += [("Together", f"{total.guarantee.name}, {total.status}")]
            facts += [(f"epsilon at delta = {delta:g}", epsilon) for delta, epsilon in total.points]
        heads = ("release", "columns", "guarantee", f"epsilon at {self._deltas[0]:g}", "status")
        rows = tuple(self._row(place, each) for place, each in enumerate(statements, start=1))
        return Table("Privacy account", heads, rows, tuple(facts))

    def _row(self, place: int, statement: PrivacyStatement) -> tuple[Cell, ...]:
        """Describe one release."""
        columns = ", ".join(dict.fromkeys(part.column for part in statement.columns))
        epsilon = statement.guarantee.epsilon(self._deltas[0])
        return (str(place), columns, statement.guarantee.name, epsilon, statement.status)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        self._refuse()

    def __reduce__(self) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        """Keep one account a table."""
        raise PrivacyError(
            "an account cannot be pickled or deep-copied: each copy would miss the other's releases",
            kind="account",
            remedy="share it, or save total().to_dict()",
        )


def same_unit(first: PrivacyUnit, second: PrivacyUnit) -> None:
    """Refuse a release for another unit than an account's.

    Raises
    ------
    PrivacyError
        Names what differs; give the same unit= to both, or use two accounts.
    """
    for what in ("relation", "rows_per_unit", "name", "key", "whole"):
        one, two = getattr(first, what), getattr(second, what)
        if one != two:
            raise PrivacyError(
                f"the account protects units with {what} = {one!r}, the release {what} = {two!r}",
                kind="account",
                remedy="give both the same PrivacyUnit, or keep an account for each",
            )
