"""``pysynthdp risk``: what copies give away of the confidential table, for the person who holds the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError
from pysynthdp.cli.options import Debug
from pysynthdp.cli.reading import with_reading
from pysynthdp.cli.run import reporting
from pysynthdp.cli.sides import copies_of, people_of, table_side
from pysynthdp.cli.table import settings_in

__all__ = ["risk"]


@reporting()
@with_reading
def risk(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="The confidential table.", show_default=False)
    ],
    copies: Annotated[
        list[Path],
        typer.Argument(
            metavar="RELEASE", help="A release folder, or files of copies of any tool.", show_default=False
        ),
    ],
    *,
    keys: Annotated[
        list[str],
        typer.Option(
            help="What an intruder knows: neighbour=sex,age,region; repeatable.", show_default=False
        ),
    ],
    target: Annotated[
        list[str] | None, typer.Option(help="What an intruder wants to learn; repeatable.")
    ] = None,
    known_by_all: Annotated[
        list[str] | None,
        typer.Option(help="A level of a target that is no disclosure, alcabuse=NO; repeatable."),
    ] = None,
    ngroups: Annotated[
        list[str] | None, typer.Option(help="A number that is cut into groups, age=10; repeatable.")
    ] = None,
    holdout: Annotated[
        Path | None, typer.Option(help="People who had no part in the copies: the control of every attack.")
    ] = None,
    refit: Annotated[
        Path | None,
        typer.Option(help="Plan of the release; copies without a third of the table are the control."),
    ] = None,
    shadow_fits: Annotated[
        int, typer.Option(help="Fits with and without the most exposed records; with --refit.")
    ] = 0,
    earlier: Annotated[
        list[Path] | None, typer.Option(help="What was released before from this source; repeatable.")
    ] = None,
    log: Annotated[
        Path | None, typer.Option(help="Folder of your own with the list of evaluations of each table.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(help="Folder of your own for INTERNAL_ files: this page, and every table as CSV."),
    ] = None,
    reading: dict[str, Any],
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Measure what copies give away: INTERNAL, for the person who holds the data.

    Lines that begin with FAILS say what a safe release would not show. The exit code is 0 whatever is found.
    """
    found = sdp.disclosure_risk(
        table_side(table, reading),
        copies_of(copies, table, reading),
        keys=_key_sets(keys),
        targets=target or (),
        known_by_all=_known(known_by_all or ()),
        ngroups={name: _whole(many) for name, many in _pairs("--ngroups", ngroups or ())},
        holdout=people_of(holdout, reading),
        refit=settings_in(refit),
        shadow_fits=shadow_fits,
        earlier=earlier or (),
        log=log,
    )
    typer.echo(found.said("shell"))
    if save is not None:
        typer.echo(f"\nwritten: {found.save(save, name='risk')}")


def _pairs(option: str, given: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Split name=value."""
    for each in given:
        name, sign, value = each.partition("=")
        if not (name and sign and value):
            raise PlanError(f"{option} takes a name, = and what belongs to it", kind="command")
        yield name, value


def _key_sets(given: Sequence[str]) -> dict[str, list[str]]:
    """Read key sets; one without a name is called by its number."""
    named = [each if "=" in each else f"keys {at}={each}" for at, each in enumerate(given, start=1)]
    return {name: columns.split(",") for name, columns in _pairs("--keys", named)}


def _known(given: Sequence[str]) -> dict[str, list[Any]]:
    """Collect levels by target."""
    out: dict[str, list[Any]] = {}
    for name, level in _pairs("--known-by-all", given):
        out.setdefault(name, []).append(level)
    return out


def _whole(text: str) -> int:
    """Read a whole number; what is none is refused with the others."""
    return int(text) if text.isdecimal() else 0
