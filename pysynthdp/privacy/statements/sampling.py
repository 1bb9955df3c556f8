"""Making the statement of a release whose sampling carries the guarantee, from the fit's account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.mechanism import PricedColumn, statement_of
from pysynthdp.privacy.statements.column import ColumnStatement
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.statements.text import NOT_COVERED_BY_A_GUARANTEE
from pysynthdp.privacy.statements.verification import shares_of

__all__ = ["state_account"]

_REASON = "every column is drawn by a mechanism whose own randomness protects, priced from public constants"


def state_account(
    account: Account,
    *,
    status: Literal["idealised", "implemented", "void"] = "idealised",
    unguaranteed: Sequence[ColumnStatement] = (),
    public: Sequence[str] = (),
    learned: Sequence[str] = (),
    deltas: Sequence[float] = (1e-6,),
    reason: str = _REASON,
) -> PrivacyStatement:
    """Make the statement of everything drawn from a fit so far.

    Parameters
    ----------
    account : Account
        Of the fit, after the draw was charged.
    status : {"idealised", "implemented", "void"}
        ``"implemented"`` only if the exact sampler drew every column; ``"void"`` if a seed was given.
    unguaranteed : sequence of ColumnStatement
        Columns that no mechanism prices; one is enough to leave the table without a guarantee (J2).
    public, learned : sequence of str
        Facts declared, and facts learned from the confidential data; one learned fact leaves the table
        without a guarantee (J3).
    deltas : sequence of float
        Where (epsilon, delta) is quoted, between zero and one.
    reason : str
        In plain words, what protects.

    Returns
    -------
    PrivacyStatement
        ``none`` with the first obstacle named, if there is one.

    Raises
    ------
    PrivacyError
        If nothing was drawn, no delta is given, or ``"implemented"`` is asked of a mechanism whose price is
        proved for real numbers only: choose its grid form, or ``"idealised"``.

    Notes
    -----
    Privacy: post-processing of public constants.

    Examples
    --------
    >>> from pysynthdp.privacy.mechanisms.gaussian import PlugInMean
    >>> account = Account([PricedColumn("age", "mean", PlugInMean(n=1000, lower=-4, upper=4, sigma=1))])
    >>> _ = account.charge(n_syn=1000, copies=1)
    >>> statement = state_account(account)
    >>> round(statement.points[0][1], 3), statement.verify().ok
    (1.074, True)
    """
    steps = account.priced
    if unguaranteed or learned or not steps:
        columns = [*unguaranteed, *(_unpriced(step) for step in steps)]
        return PrivacyStatement.none(
            columns,
            reason=_obstacle(unguaranteed, learned),
            unit=account.unit,
            public=public,
            learned=learned,
            draws=account.draws,
        )
    if not deltas:
        raise PrivacyError(
            "give at least one delta at which epsilon is quoted, for example 1e-6", kind="statement"
        )
    if status == "implemented":
        _check_exact(steps)
    total, costs = account.total(), account.by_step()
    shares = shares_of(costs, deltas[0])
    return PrivacyStatement(
        guarantee=total,
        status=status,
        reason=reason,
        unit=account.unit,
        columns=tuple(
            _priced(step, cost, share) for step, cost, share in zip(steps, costs, shares, strict=True)
        ),
        public=tuple(public),
        draws=account.draws,
        deltas=tuple(deltas),
        not_covered=NOT_COVERED_BY_A_GUARANTEE,
    )


def _obstacle(unguaranteed: Sequence[ColumnStatement], learned: Sequence[str]) -> str:
    """Name the first thing that leaves the table without a guarantee."""
    if unguaranteed:
        return f"column {unguaranteed[0].column!r} has no guarantee, so neither has the table"
    if learned:
        return f"something public by assumption was learned from the confidential data: {learned[0]}"
    return "no column of this table is released by a mechanism with a formal guarantee"


def _check_exact(steps: Sequence[PricedColumn]) -> None:
    """Refuse 'implemented' where the price is proved for real numbers only (H1)."""
    loose = [step for step in steps if not step.mechanism.exact]
    if loose:
        raise PrivacyError(
            (
                f"column {loose[0].column!r} is drawn by {loose[0].mechanism.name}, whose price "
                "is proved for real numbers only"
            ),
            kind="statement",
            remedy="use 'mean_on_grid', noisy sufficient statistics, or say 'idealised'",
        )


def _unpriced(step: PricedColumn) -> ColumnStatement:
    """Describe a column whose own price would hold only conditionally."""
    return ColumnStatement(
        step.column,
        step.method,
        "none",
        f"{step.mechanism.name} alone has a price, which does not count beside a column without one",
    )


def _priced(step: PricedColumn, cost: Guarantee, share: float) -> ColumnStatement:
    """Describe a priced column."""
    return statement_of(
        step.column,
        step.method,
        step.mechanism,
        cost,
        reason="the randomness of its own sampling protects",
        share=share,
    )
