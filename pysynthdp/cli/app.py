"""The command line: read files, make one public call, write; nothing else.

What the exit codes mean says :mod:`pysynthdp.cli.exit_codes`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, ParamSpec

import typer

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, ReleaseError
from pysynthdp.cli.errors import OneLineErrors, fail
from pysynthdp.cli.exit_codes import Exit, exit_lines
from pysynthdp.cli.options import (
    Copies,
    Debug,
    File,
    FileFormat,
    Files,
    JsonObject,
    Model,
    PlanFile,
    Quiet,
    Report,
    Rows,
    Strict,
)
from pysynthdp.cli.parameter import check_statement_file, release_parameters
from pysynthdp.cli.pool import Layout, pool_release
from pysynthdp.cli.reading import reading_of, with_reading
from pysynthdp.cli.run import closed_quietly, reporting, this_run
from pysynthdp.cli.signals import finish, stop_in_order
from pysynthdp.cli.synth import Copying, fitted_from, tell
from pysynthdp.cli.table import learns_from, read_with_plan, settings_of
from pysynthdp.io.folder.signature import signer_of
from pysynthdp.io.plans.keys import plan_keys
from pysynthdp.io.plans.parameters_file import read_parameters
from pysynthdp.plan.protection import protection_of
from pysynthdp.schema.declarations import Declarations

__all__ = ["app", "main"]

P = ParamSpec("P")
_CODES = "Exit codes:\n\n\b\n" + "\n".join(exit_lines())

app = typer.Typer(
    cls=OneLineErrors,
    name="pysynthdp",
    help="Synthetic copies of a confidential table, with privacy statements that are true.",
    epilog=_CODES,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def command(*, fits: Exit = Exit.DATA) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Register a subcommand whose errors are one line and an exit code."""

    def register(function: Callable[P, None]) -> Callable[P, None]:
        run = reporting(fits=fits)(function)
        app.command()(run)
        return run

    return register


def _version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"pysynthdp {sdp.__version__}")
        raise typer.Exit


def _keys(wanted: bool) -> None:
    """Print the keys of a plan file and stop."""
    if wanted:
        typer.echo("\n".join(f"{key:<16}{about}" for key, about in plan_keys().items()))
        raise typer.Exit


@app.callback()
def pysynthdp(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Synthetic copies of a confidential table, with privacy statements that are true."""


@command()
@with_reading
def look(file: File, plan: PlanFile = None, *, reading: dict[str, Any], debug: Debug = False) -> None:  # noqa: ARG001
    """Show how every column is understood; for the person who holds the data."""
    this_run().quiet = True
    table, settings = read_with_plan(file, plan, reading, for_holder=True)
    _show_columns(table, settings)


def _show_columns(table: Any, settings: Mapping[str, Any]) -> None:
    """Print the overview of the columns that are not dropped."""
    dropped = [name for name in settings.get("drop", ()) if name in table.columns]
    method = settings.get("method", {})
    serial = [name for name, wish in method.items() if wish == "serial"] if isinstance(method, dict) else []
    seen = sdp.look(
        table.drop(columns=dropped),
        exempt=[*settings.get("keep", ()), *serial],
        **Declarations.among(settings).without(dropped).given(),
    )
    typer.echo(seen.said("shell"))


@command()
@with_reading
def plan(
    file: Annotated[Path | None, typer.Argument(help="Table to plan for.", show_default=False)] = None,
    plan: PlanFile = None,
    n: Annotated[int | None, typer.Option(min=1, help="Rows of the table, for a price without it.")] = None,
    m: Copies = 5,
    k: Rows = None,
    *,
    reading: dict[str, Any],
    keys: Annotated[  # noqa: ARG001
        bool,
        typer.Option("--keys", callback=_keys, is_eager=True, help="List the keys of a plan file, and stop."),
    ] = False,
    quiet: Quiet = False,  # noqa: ARG001
    as_object: JsonObject = False,  # noqa: ARG001
    strict: Strict = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Show who is drawn from whom and by what, without fitting; with a codebook no record is read."""
    if file is None and plan is None:
        raise PlanError(
            "there is nothing to plan", kind="command", remedy="give a table, or --plan with a codebook"
        )
    table, settings = (None, settings_of(plan)) if file is None else read_with_plan(file, plan, reading)
    made = sdp.Synthesizer(**settings).plan(table)
    rows = n if table is None else len(table)
    shown = [str(made)]
    if made.protection.spends != "nothing" and rows is not None:
        shown.append(str(made.price(n=rows, n_syn=k, m=m)))
    card = made.to_table()
    steps = [dict(zip(card.columns, row, strict=True)) for row in card.rows]
    this_run().end("\n\n".join(shown), {"facts": dict(card.facts), "steps": steps, "text": shown})


@command()
@with_reading
def synth(
    files: Files,
    out: Annotated[Path, typer.Option(help="Folder to write; must not exist.", show_default=False)],
    m: Copies = 5,
    k: Rows = None,
    plan: PlanFile = None,
    seed: Annotated[
        int | None,
        typer.Option(help="For tests; never stored. Without it: fresh entropy.", show_default=False),
    ] = None,
    file_format: Annotated[FileFormat, typer.Option("--format", help="Of the copies.")] = FileFormat.parquet,
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; repeatable.")] = None,
    sign: Annotated[
        Path | None,
        typer.Option(help="Private key (Ed25519, PEM) to sign the folder with.", show_default=False),
    ] = None,
    rare: Annotated[
        str | None,
        typer.Option(help="Levels of fewer than five records: keep, merge or refuse.", show_default=False),
    ] = None,
    *,
    reading: dict[str, Any],
    proper: Annotated[bool, typer.Option("--proper", help="Draw parameters anew for each copy.")] = False,
    stream: Annotated[bool, typer.Option("--stream", help="Write block by block: little memory.")] = False,
    quiet: Quiet = False,
    as_object: JsonObject = False,  # noqa: ARG001
    strict: Strict = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Fit a table, or its imputations, and write m synthetic copies (of each) with statement and read-me."""
    _check_before_reading(out, seed, sign)
    if len(files) > 1:
        protection_of(settings_of(plan).get("guarantee")).check_imputed()
    table, settings = read_with_plan(files[0], plan, reading)
    settings["drop"] = [*settings.get("drop", ()), *(drop or ())]
    settings["proper"] = proper or settings.get("proper", False)
    settings["rare"] = rare or settings.get("rare", "keep")
    synthesizer = sdp.Synthesizer(**settings)
    synthesizer.protection.copies(m)  # refused before anything is spent at the fit
    # an overview depends on the data: not under a guarantee, and not into a batch job's log
    if learns_from(settings) and sys.stdout.isatty():
        _show_columns(table, settings)
    others = [read_with_plan(file, plan, reading)[0] for file in files[1:]]
    fitted = fitted_from(synthesizer, table, others)
    copies = Copying(out, m, k, seed, file_format.value, sign)
    statement = copies.stream(fitted) if stream else copies.draw_and_write(fitted)
    tell(out, statement, quiet=quiet)


def _check_before_reading(out: Path, seed: int | None, sign: Path | None) -> None:
    """Refuse what could not be written in the end, while it costs nothing yet."""
    if out.exists():
        raise PlanError(
            f"--out: {out} exists already", kind="command", remedy="choose another name or move it away"
        )
    if seed is not None and seed < 0:
        raise PlanError("--seed must not be negative", kind="command")
    if sign is not None:
        signer_of(sign)


@command()
@with_reading
def parameter(
    file: File,
    plan: Annotated[Path, typer.Option(help="TOML with codebook and [[parameters]].", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(help="JSON file for the privacy statement of all of them together.")
    ] = None,
    *,
    reading: dict[str, Any],
    quiet: Quiet = False,  # noqa: ARG001
    as_object: JsonObject = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Release parameters themselves, with noise or as posterior draws; each run spends its price again."""
    check_statement_file(out)
    release_parameters(file, read_parameters(plan), reading_of(reading, plan), out=out)


@command(fits=Exit.MISUSE)
def pool(
    formula: Annotated[str, typer.Argument(help="Such as 'income ~ age + C(sex)'.", show_default=False)],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.", show_default=False)],
    model: Annotated[Model, typer.Option(help="Which regression.")] = Model.ols,
    rule: Annotated[str, typer.Option(help="Combining rule; auto chooses by the release's tags.")] = "auto",
    family: Annotated[str | None, typer.Option(help="Of a glm: poisson, binomial, gamma ...")] = None,
    report: Annotated[Report, typer.Option("--format", help="How to write the table.")] = Report.text,
    *,
    details: Annotated[bool, typer.Option("--details", help="Show variances within and between.")] = False,
    quiet: Quiet = False,  # noqa: ARG001
    as_object: JsonObject = False,  # noqa: ARG001
    strict: Strict = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Fit a regression to every copy of a release and combine the fits."""
    if family is not None and model is not Model.glm:
        raise PlanError("--family belongs to --model glm", kind="command")
    if "~" not in formula and ("~" in str(folder) or Path(formula).is_dir()):
        raise PlanError(
            "the formula comes first, then the folder: pysynthdp pool 'income ~ age' DIR", kind="command"
        )
    options = {"rule": rule} if family is None else {"rule": rule, "family": family}
    pool_release(formula, folder, Layout(report, details=details), model=model, options=options)


@command()
def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.", show_default=False)],
    key: Annotated[
        Path | None,
        typer.Option(help="Public key (Ed25519, PEM) of who is said to have made it.", show_default=False),
    ] = None,
    *,
    numbers: Annotated[bool, typer.Option("--numbers", help="Show each number recomputed.")] = False,
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Compare a release's files with its list, and recompute its statement's numbers from its own constants.

    Exit codes: 0 right, 10 no guarantee is stated, 11 void, 12 arithmetic broken, 13 files changed.
    """
    try:
        checked = sdp.verify(folder, key=key)
    except ReleaseError as error:
        if error.kind == "damaged":  # whoever changed the list itself changed the folder
            fail(error, code=Exit.CHANGED)
        raise
    typer.echo(str(checked))
    if numbers and checked.arithmetic is not None:
        typer.echo(f"\n{checked.arithmetic}")
    if checked.exit_code:
        raise typer.Exit(checked.exit_code)


def main() -> None:
    """Run the command line."""
    stop_in_order()
    for channel in (sys.stdout, sys.stderr):
        if hasattr(channel, "reconfigure"):
            channel.reconfigure(errors="backslashreplace")  # names in any script, whatever the terminal
    code: int | str | None = Exit.DONE
    try:
        app()
    except SystemExit as left:
        code = left.code
    finish()
    sys.exit(closed_quietly(code if isinstance(code, int) else Exit.DONE))
