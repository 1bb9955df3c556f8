"""What ``parameter`` does once its plan is read: check all that is asked for, release, tell."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pysynthdp.base.errors import PlanError
from pysynthdp.cli.run import this_run
from pysynthdp.cli.table import table_of
from pysynthdp.io.plans.parameters_file import ParameterPlan, write_statement
from pysynthdp.parameters.asked import check_parameters, release_parameter

__all__ = ["check_statement_file", "release_parameters"]


def check_statement_file(out: Path | None) -> None:
    """Refuse a file that could not be written in the end, while it costs nothing yet."""
    if out is not None and out.exists():
        raise PlanError(
            f"--out: {out} exists already", kind="command", remedy="choose another name or move it away"
        )
    if out is not None and not out.parent.is_dir():
        raise PlanError(f"--out: there is no folder {out.parent}", kind="command", remedy="make it first")


def release_parameters(
    file: Path, asked: ParameterPlan, reading: Mapping[str, Any], *, out: Path | None
) -> None:
    """Read the table, release what is asked for, and print it with the statement of all together.

    Notes
    -----
    Privacy: spends from the account of the plan; nothing that depends on records is logged.
    """
    run = this_run()
    run.learns = False
    with run.stage("read") as stage:
        table = table_of(file, learns=False, schema=asked.schema, **reading)
        stage.object = file.name
    check_parameters(table, asked.schema, asked.asked, account=asked.account)
    with run.stage("release") as stage:
        made = [
            release_parameter(table, asked.schema, account=asked.account, **entry) for entry in asked.asked
        ]
        stage.object = f"{len(made):,} parameters"
    run.check()
    shown = [*map(str, made), str(asked.account)]
    if out is not None:
        write_statement(out, asked.account.total())
        shown.append(f"Their statement is in {out}")
    run.end("\n\n".join(shown), {"text": shown, "statement": asked.account.total().to_dict()})
