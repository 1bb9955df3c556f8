"""A schema learned from copies, which are public: for releases that come without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import pandas as pd

from pysynthdp.curator.infer import infer_schema
from pysynthdp.curator.rows import rows_of
from pysynthdp.schema import Schema
from pysynthdp.schema.declarations import Codes, Declarations

__all__ = ["DeclaredCodes", "schema_of_copies"]

DeclaredCodes: TypeAlias = Mapping[str, Codes]


def schema_of_copies(together: pd.DataFrame, *, missing: DeclaredCodes) -> Schema:
    """Learn what columns are from all copies, one below the other; none of them is an identifier.

    Parameters
    ----------
    together : DataFrame
        All copies.
    missing : mapping column -> codes
        Codes that are no values.

    Notes
    -----
    Privacy: reads synthetic rows, which are public; categories that no row has are levels too.
    """
    declared, names = Declarations(missing=missing), tuple(together.columns)
    return infer_schema(rows_of(together), declared=declared, exempt=names, public=True)
