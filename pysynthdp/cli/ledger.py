"""``pysynthdp ledger``: open accounts, show them, check them, give up what was never finished."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError
from pysynthdp.cli.exit_codes import Exit
from pysynthdp.cli.options import Debug, JsonObject
from pysynthdp.cli.run import reporting, this_run

__all__ = ["ledger"]


class Neighbours(StrEnum):
    """Which tables are neighbours."""

    replace_one = "replace_one"
    add_remove = "add_remove"


ledger = typer.Typer(
    name="ledger",
    help="What was spent from each source: accounts that no run can overspend.",
    no_args_is_help=True,
)

Where = Annotated[
    str,
    typer.Argument(
        metavar="LEDGER", help="A file, or env:NAME with the URL of PostgreSQL.", show_default=False
    ),
]
SourceId = Annotated[str, typer.Option("--source", help="Id of the people.", show_default=False)]
AnySource = Annotated[
    str | None, typer.Option("--source", help="Id of the people; all by default.", show_default=False)
]


@ledger.command()
@reporting()
def init(
    where: Where,
    source: SourceId,
    approval: Annotated[str, typer.Option(help="Reference of the approval.", show_default=False)],
    rho: Annotated[float | None, typer.Option(help="Limit in zero-concentrated privacy.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Limit in epsilon, at --delta.")] = None,
    delta: Annotated[float | None, typer.Option(help="Of --epsilon.")] = None,
    unit: Annotated[str, typer.Option(help="Whose loss is limited, such as person.")] = "record",
    relation: Annotated[
        Neighbours, typer.Option(help="Which tables are neighbours.")
    ] = Neighbours.replace_one,
    other: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COUNT",
            help="How many units of another name one --unit has at most, such as record=4; repeatable.",
        ),
    ] = None,
    second: Annotated[
        str | None, typer.Option(help="A second name, for another limit of a source that is there.")
    ] = None,
    by: Annotated[str | None, typer.Option(help="Who sets it; your account by default.")] = None,
    *,
    as_object: JsonObject = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Open the account of a source with its limit, in a ledger that is made if it is not there."""
    measure = {"rho": rho, "epsilon": epsilon, "delta": delta}
    others = _counts(other or ())
    limit = sdp.SourceLimit(**measure, unit=unit, relation=relation.value, others=others)
    made = sdp.SpendingLedger(where, by=by).init(source, limit, approval=approval, second=second)
    this_run().end(str(made), made.to_dict())


def _counts(given: Any) -> dict[str, int]:
    """Read pairs of name and count."""
    found = {}
    for text in given:
        name, _, many = text.partition("=")
        if not name or not many.isdecimal():
            raise PlanError("--other is written as NAME=COUNT, such as record=4", kind="command")
        found[name] = int(many)
    return found


@ledger.command()
@reporting()
def show(
    where: Where,
    source: AnySource = None,
    *,
    as_object: JsonObject = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Show what was reserved and spent, and what is left."""
    found = sdp.SpendingLedger(where)
    names = found.sources() if source is None else (source,)
    accounts = [found.account(name) for name in names]
    text = str(accounts[0] if source is not None else found)
    this_run().end(text, {"sources": [each.to_dict() for each in accounts]})


@ledger.command()
@reporting()
def verify(
    where: Where,
    source: AnySource = None,
    head: Annotated[
        str | None,
        typer.Option(help="Head that a statement quotes: it must be in the ledger.", show_default=False),
    ] = None,
    release: Annotated[
        Path | None,
        typer.Option(help="Release folder: its heads must be in the ledger.", show_default=False),
    ] = None,
    *,
    as_object: JsonObject = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Check every entry against those before it; leave with 13 if the ledger was changed or lacks a head."""
    from pysynthdp.io.folder.release_dir import read_statement

    marks = () if release is None else read_statement(release).ledger
    if release is not None and not marks:
        raise PlanError(f"{release} was charged to no ledger", kind="command")
    heads: list[str | None] = [*([head] if head else []), *(mark.head for mark in marks)]
    checks = [sdp.SpendingLedger(where).verify(source, head=each) for each in heads or [None]]
    last = next((each for each in checks if not each.ok), checks[-1])
    told = {"ok": last.ok, "faults": dict(last.faults), "head_found": last.head_found}
    this_run().end(str(last), {**told, "sources": [each.source for each in last.accounts]})
    if not last.ok:
        raise typer.Exit(Exit.CHANGED)


@ledger.command()
@reporting()
def abandon(
    where: Where,
    source: SourceId,
    attempt: Annotated[str, typer.Option(help="As ledger show names it.", show_default=False)],
    reason: Annotated[str, typer.Option(help="Why, in one line.", show_default=False)],
    by: Annotated[str | None, typer.Option(help="Who gives it up; your account by default.")] = None,
    *,
    as_object: JsonObject = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Say that a run which never finished will not be resumed; what it reserved counts for ever."""
    found = sdp.SpendingLedger(where, by=by).abandon(source, attempt, reason=reason)
    this_run().end(str(found), found.to_dict())
