"""What a database says of the columns of a table, before one cell is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Words, meant
from pysynthdp.io.sql.kinds import Kind

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["check_order", "columns_in", "kinds_of_columns", "kinds_of_fields", "postgres_enumerations"]

_POSTGRES: Final = {
    "int2": "whole", "int4": "whole", "int8": "whole", "float4": "real", "float8": "real", "numeric": "real",
    "bool": "flag", "text": "text", "varchar": "text", "bpchar": "text", "char": "text", "name": "text",
    "uuid": "text", "date": "time", "timestamp": "time", "timestamptz": "zoned",
}  # fmt: skip

postgres_enumerations: Final = (
    "SELECT t.typname::text, e.enumlabel::text FROM pg_catalog.pg_enum e JOIN pg_catalog.pg_type t "
    "ON t.oid = e.enumtypid WHERE pg_catalog.pg_type_is_visible(t.oid) ORDER BY t.oid, e.enumsortorder"
)  # of each, its labels in order


def kinds_of_fields(schema: pa.Schema, labels: Mapping[str, Sequence[str]]) -> dict[str, Kind]:
    """Tell what columns are from what PostgreSQL says of the result of a query.

    Raises
    ------
    PlanError
        If two columns have one name, or a column is of a kind that is no number, text, flag or time.
    """
    names = list(schema.names)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise PlanError(f"the query gives two columns called {twice}", column=twice, kind="database")
    return {field.name: _of_postgres(field, labels) for field in schema}


def _of_postgres(field: pa.Field, labels: Mapping[str, Sequence[str]]) -> Kind:
    """Tell what one column is."""
    metadata = field.metadata or {}
    named = (metadata.get(b"POSTGRESQL:type") or metadata.get(b"ADBC:postgresql:typname", b"")).decode()
    if named in labels:
        return Kind("labels", tuple(labels[named]))
    if named not in _POSTGRES:
        raise _unknown(field.name, named)
    return Kind(_POSTGRES[named])


def kinds_of_columns(found: Sequence[Mapping[str, Any]]) -> dict[str, Kind]:
    """Tell what columns are from the catalogue that SQLAlchemy has read.

    Raises
    ------
    PlanError
        If a column is of a kind that is no number, text, flag or time.
    """
    return {str(column["name"]): _of_generic(str(column["name"]), column["type"]) for column in found}


def columns_in(connection: Any, table: str, schema: str | None) -> Sequence[Mapping[str, Any]]:
    """Read the catalogue.

    Raises
    ------
    PlanError
        If there is no such table or view.
    """
    from sqlalchemy import inspect
    from sqlalchemy.exc import NoSuchTableError

    catalogue = inspect(connection)
    try:
        return list(catalogue.get_columns(table, schema=schema))
    except NoSuchTableError:
        there = [*catalogue.get_table_names(schema=schema), *catalogue.get_view_names(schema=schema)]
        what = Words("the database has no table {name}", name=table)
        mend = meant(table, there, f"tables and views are {', '.join(there)}")
        raise PlanError(what, kind="database", remedy=mend) from None


def _of_generic(name: str, declared: Any) -> Kind:
    """Tell what one column is."""
    from sqlalchemy import types

    if isinstance(declared, types.Enum) and declared.enums:
        return Kind("labels", tuple(declared.enums))
    kinds = {
        types.Boolean: "flag", types.Integer: "whole", types.Float: "real", types.Numeric: "real",
        types.String: "text", types.Uuid: "text", types.Date: "time",
    }  # fmt: skip
    if isinstance(declared, types.DateTime):
        return Kind("zoned" if declared.timezone else "time")
    kind = next((kind for known, kind in kinds.items() if isinstance(declared, known)), None)
    if kind is None:
        raise _unknown(name, type(declared).__name__.lower())
    return Kind(kind)


def _unknown(name: str, kind: str) -> PlanError:
    """Make the error of a column that is nothing that is synthesized."""
    shown = "no type" if kind in ("nulltype", "") else f"type {kind}"
    return PlanError(
        f"column {name} has {shown} in the database, which is no number, text, truth value, day or time",
        column=name,
        kind="database",
        remedy="make a view, or a query, that casts it or leaves it out",
    )


def check_order(names: Sequence[str], order_by: Sequence[str]) -> None:
    """Refuse to order by what is no column."""
    for name in order_by:
        if name not in names:
            what = Words("there is no column {name} to order by", name=name)
            mend = meant(name, list(names), f"columns are {', '.join(names)}")
            raise PlanError(what, column=name, kind="database", remedy=mend)
