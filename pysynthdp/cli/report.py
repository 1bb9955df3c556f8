"""``pysynthdp report``: a board's report and a public note of copies, and whether they pass their gates."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError
from pysynthdp.cli.exit_codes import Exit
from pysynthdp.cli.options import Debug
from pysynthdp.cli.reading import with_reading
from pysynthdp.cli.run import reporting
from pysynthdp.cli.sides import copies_of, people_of, table_side
from pysynthdp.cli.table import settings_in

__all__ = ["report"]

_DEFAULT = ("html", "json", "csv")


@reporting()
@with_reading
def report(
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
    board: Annotated[
        Path | None, typer.Option(help="Folder of your own for the board's report (INTERNAL_ files).")
    ] = None,
    note: Annotated[Path | None, typer.Option(help="Folder for the public note.")] = None,
    purpose: Annotated[
        str, typer.Option(help="public-analysis, explore-then-validate, code-testing or system-test.")
    ] = "public-analysis",
    title: Annotated[str, typer.Option(help="Title of the file.")] = "Synthetic file",
    keys: Annotated[
        list[str] | None,
        typer.Option(
            help="What an intruder knows, 'neighbour=sex,age,region'; repeatable.", metavar="NAME=COLUMNS"
        ),
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option(help="A column that an intruder wants to learn; repeatable.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="A regression to show, 'pay ~ age + sex'; repeatable.")
    ] = None,
    by: Annotated[list[str] | None, typer.Option(help="A column of subgroups; repeatable.")] = None,
    rule: Annotated[
        list[str] | None, typer.Option(help="A condition that every row should meet; repeatable.")
    ] = None,
    holdout: Annotated[
        Path | None, typer.Option(help="People who had no part in the copies: the baseline of every attack.")
    ] = None,
    refit: Annotated[
        Path | None,
        typer.Option(
            help="Plan of the release, for --foreseen; without --holdout copies without a third of the table "
            "are the baseline.",
            show_default=False,
        ),
    ] = None,
    foreseen: Annotated[
        int, typer.Option(help="Runs in which intervals are foreseen, if the synthesis model held; some 50.")
    ] = 0,
    earlier: Annotated[
        list[Path] | None, typer.Option(help="What was released before from this source; repeatable.")
    ] = None,
    log: Annotated[
        Path | None, typer.Option(help="Folder of your own with the list of evaluations of each table.")
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="Where a gate stands: 'max_pmse_ratio_2way=10', 'max_repu_percent.neighbour=5'; repeatable.",
            metavar="GATE=NUMBER",
        ),
    ] = None,
    formats: Annotated[
        list[str] | None, typer.Option("--format", help="html, json, csv or docx; repeatable.")
    ] = None,
    reading: dict[str, Any],
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Report on copies: for the review board, INTERNAL, and for the public.

    Prints page one. The exit code is 5 if a gate of quality is not passed, 6 for one of disclosure.
    """
    found = sdp.Report(
        table_side(table, reading),
        copies_of(copies, table, reading),
        purpose=purpose,  # type: ignore[arg-type]  # the report refuses what is not one
        title=title,
        keys=dict(_key_set(each) for each in keys or ()),
        targets=target or (),
        models=model or (),
        by=by or None,
        rules=rule or (),
        holdout=people_of(holdout, reading),
        refit=settings_in(refit),
        foreseen=foreseen,
        earlier=earlier or (),
        log=log,
        limits=_limits(limit or ()),
    )
    typer.echo(found.said("shell"))
    asked: Any = tuple(formats or _DEFAULT)
    for folder, document in ((board, found.board), (note, found.public)):
        if folder is not None:
            for path in document().save(folder, formats=asked):
                typer.echo(f"written: {path}")
    failed = {gate.kind for gate in found.gates if not gate.passed}
    if failed:
        raise typer.Exit(Exit.DISCLOSURE if "disclosure" in failed else Exit.QUALITY)


def _key_set(given: str) -> tuple[str, list[str]]:
    """Read a name and columns."""
    name, sign, columns = given.partition("=")
    if not sign or not name or not columns:
        raise PlanError(
            "--keys must be a name and columns",
            kind="setting",
            remedy="write --keys neighbour=sex,age,region",
        )
    return name, columns.split(",")


def _limits(given: Iterable[str]) -> dict[str, Any]:
    """Read where gates stand; a key set stands behind a point."""
    found: dict[str, Any] = {}
    for each in given:
        gate, _, number = each.partition("=")
        gate, _, keys = gate.partition(".")
        try:
            value = float(number)
        except ValueError as error:
            mend = "write --limit max_pmse_ratio_2way=10, or --limit max_repu_percent.neighbour=5"
            raise PlanError("--limit must be a gate and a number", kind="setting", remedy=mend) from error
        if keys:
            found.setdefault(gate, {})[keys] = value
        else:
            found[gate] = value
    return found
