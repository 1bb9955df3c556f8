"""Release the parameters that a plan file asks for, by the kind of their columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import signature
from typing import Any

import pandas as pd

from pysynthdp.base.checks import positive_setting
from pysynthdp.base.errors import PrivacyError
from pysynthdp.io.ledger import SpendingLedger
from pysynthdp.parameters import ParameterRelease, release_mean, release_shares
from pysynthdp.privacy.composition import compose, repeat
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.shared_account import PrivacyAccount
from pysynthdp.schema import NumericColumn, Schema

__all__ = ["check_parameters", "price_without_rows", "release_parameter"]


def release_parameter(
    table: pd.DataFrame, schema: Schema, *, column: str, **settings: Any
) -> ParameterRelease:
    """Release the mean of a number column or the shares of a categorical one, as a plan file asks.

    Parameters
    ----------
    table : DataFrame
        The confidential table.
    schema : Schema
        Declares the column.
    column : str
        Its name.
    **settings
        Of :func:`release_mean` or :func:`release_shares`.

    Returns
    -------
    ParameterRelease

    Raises
    ------
    SchemaError, PrivacyError
        If the schema or the table lacks the column, or a setting does not belong to its kind.

    Notes
    -----
    Privacy: as :func:`release_mean` and :func:`release_shares`.

    Examples
    --------
    >>> from pysynthdp.schema import CategoricalColumn
    >>> schema = Schema([CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False)])
    >>> table = pd.DataFrame({"sex": ["F", "M"] * 50})
    >>> release_parameter(table, schema, column="sex", prior=20.0).estimates.shape
    (1, 2)
    """
    declared = schema[column]
    release: Any = release_mean if isinstance(declared, NumericColumn) else release_shares
    try:
        signature(release).bind(table, declared, **settings)
    except TypeError:
        kind = "the mean of a number" if isinstance(declared, NumericColumn) else "shares of levels"
        raise PrivacyError(
            f"{column}: a setting is missing or does not belong to {kind}", kind="setting"
        ) from None
    return release(table, declared, **settings)  # type: ignore[no-any-return]


def price_without_rows(asked: Iterable[Mapping[str, Any]]) -> Guarantee | None:
    """Price the entries whose price does not hang on the number of rows; None where there is no such entry.

    Notes
    -----
    Privacy: settings only. Noise of epsilon in each copy; what posterior draws cost is known with the rows.

    Examples
    --------
    >>> asked = [{"how": "laplace", "epsilon": 0.5, "copies": 2}, {"how": "posterior"}]
    >>> round(price_without_rows(asked).eps, 9)
    1.0
    """
    noised = [entry for entry in asked if entry.get("how") == "laplace"]
    prices = [
        repeat(PureDP(positive_setting("laplace", "epsilon", entry.get("epsilon"))), entry.get("copies", 1))
        for entry in noised
    ]
    return compose(prices) if prices else None


def check_parameters(
    table: pd.DataFrame,
    schema: Schema,
    asked: Iterable[Mapping[str, Any]],
    *,
    account: PrivacyAccount,
    ledger: SpendingLedger | None = None,
    source: str | None = None,
) -> None:
    """Refuse a slip in any entry before the first of them is released and paid for.

    Parameters
    ----------
    table : DataFrame
        The confidential table, of which only the columns' names and the number of rows are taken.
    schema : Schema
        Declares the columns.
    asked : iterable of dict
        Entries of a plan file.
    account : PrivacyAccount
        Whose unit and deltas count; it is not charged.
    ledger : SpendingLedger, optional
        The agency's ledger, which must have room for all entries together; nothing is reserved yet.
    source : str, optional
        Whose account there.

    Raises
    ------
    SchemaError, PrivacyError
        As :func:`release_parameter`.

    Notes
    -----
    Privacy: reads no cell. Every entry is released once from a table of as many rows that hold nothing.

    Examples
    --------
    >>> from pysynthdp.schema import CategoricalColumn
    >>> schema = Schema([CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False)])
    >>> table = pd.DataFrame({"sex": ["F", "M"] * 50})
    >>> check_parameters(table, schema, [{"column": "sex", "prior": 20.0}], account=PrivacyAccount())
    """
    nothing = pd.DataFrame(dict.fromkeys(table.columns), index=range(len(table)), dtype=object)
    trial = PrivacyAccount(unit=account.unit, deltas=account.deltas)
    for entry in asked:
        release_parameter(nothing, schema, account=trial, **entry)
    if ledger is not None and source is not None:
        ledger.attempt(source, account.unit, job="").check(trial.total().guarantee)
