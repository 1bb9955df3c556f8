"""``pysynthdp parameter``: check all that is asked for, release, tell."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from pysynthdp.base.errors import PlanError
from pysynthdp.cli.charging import charged_to, check_charge, with_ledger
from pysynthdp.cli.options import Debug, File, JsonObject, Quiet
from pysynthdp.cli.reading import reading_of, with_reading
from pysynthdp.cli.run import reporting, this_run
from pysynthdp.cli.table import table_of

__all__ = ["parameter"]


@reporting()
@with_ledger
@with_reading
def parameter(
    file: File,
    plan: Annotated[Path, typer.Option(help="TOML with codebook and [[parameters]].", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(help="JSON file for the privacy statement of all of them together.")
    ] = None,
    *,
    reading: dict[str, Any],
    charge: dict[str, Any],
    quiet: Quiet = False,  # noqa: ARG001
    as_object: JsonObject = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Release parameters themselves, with noise or as posterior draws; each run spends its price again."""
    _check_statement_file(out)
    _release(file, plan, reading, out=out, paying=charged_to(charge, file))


def _check_statement_file(out: Path | None) -> None:
    """Refuse a file that could not be written in the end, while it costs nothing yet."""
    if out is not None and out.exists():
        raise PlanError(
            f"--out: {out} exists already", kind="command", remedy="choose another name or move it away"
        )
    if out is not None and not out.parent.is_dir():
        raise PlanError(f"--out: there is no folder {out.parent}", kind="command", remedy="make it first")


def _release(
    file: Path, plan: Path, reading: dict[str, Any], *, out: Path | None, paying: Mapping[str, Any]
) -> None:
    """Read plan and table, release what is asked for, and print it with the statement of all together.

    Notes
    -----
    Privacy: spends from the account of the plan, and the ledger's; nothing that depends on records is logged.
    """
    from pysynthdp.io.plans.parameters_file import read_parameters, write_statement
    from pysynthdp.parameters.asked import check_parameters, price_without_rows, release_parameter

    asked, form = read_parameters(plan), reading_of(reading, plan)
    check_charge(paying, asked.account.unit, price_without_rows(asked.asked))
    run = this_run()
    run.learns = False
    with run.stage("read") as stage:
        table = table_of(file, learns=False, schema=asked.schema, **form)
        table = getattr(table, "frame", table)
        stage.object = file.name
    check_parameters(table, asked.schema, asked.asked, account=asked.account, **paying)
    with run.stage("release") as stage:
        made = [
            release_parameter(table, asked.schema, account=asked.account, **paying, **entry)
            for entry in asked.asked
        ]
        stage.object = f"{len(made):,} parameters"
    run.check()
    shown = [*map(str, made), str(asked.account)]
    if out is not None:
        write_statement(out, asked.account.total())
        shown.append(f"Their statement is in {out}")
    run.end("\n\n".join(shown), {"text": shown, "statement": asked.account.total().to_dict()})
