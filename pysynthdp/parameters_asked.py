"""Release the parameters that a plan file asks for, by the kind of their columns."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pandas as pd

from pysynthdp.errors import PrivacyError
from pysynthdp.parameters import ParameterRelease, release_mean, release_shares
from pysynthdp.schema import NumericColumn, Schema

__all__ = ["release_parameter"]


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
        raise PrivacyError(f"{column}: a setting is missing or does not belong to {kind}") from None
    return release(table, declared, **settings)  # type: ignore[no-any-return]
