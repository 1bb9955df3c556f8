"""The command line: read files, make one public call, write; nothing else.

Exit codes: 0 done, 1 failed, 2 misused (arguments or plan), 3 the data do not fit the schema. ``verify``
also: 10 no guarantee, 11 void, 12 arithmetic broken, 13 files changed.
"""

from __future__ import annotations

import functools
import signal
import sys
import warnings
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn, ParamSpec

import typer

import pysynthdp as sdp
from pysynthdp.cli_errors import OneLineErrors, fail, show_warning
from pysynthdp.cli_reading import reading_of, with_reading
from pysynthdp.errors import PlanError
from pysynthdp.io.parameters_file import read_parameters, write_statement
from pysynthdp.io.plan_file import read_plan
from pysynthdp.io.release_dir import read_statement
from pysynthdp.io.signature import signer_of
from pysynthdp.io.tables import read_table
from pysynthdp.parameters_asked import check_parameters, release_parameter
from pysynthdp.plan.protection import protection_of

__all__ = ["app", "main"]

P = ParamSpec("P")
DECLARATIONS = ("missing", "spikes", "bounds", "decimals", "levels")
TERMINATED = 128 + signal.SIGTERM


app = typer.Typer(
    cls=OneLineErrors,
    name="pysynthdp",
    help="Synthetic copies of a confidential table, with privacy statements that are true.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class FileFormat(StrEnum):
    """Format of the copies."""

    parquet = "parquet"
    csv = "csv"


class Model(StrEnum):
    """Which regression to pool."""

    ols = "ols"
    logit = "logit"
    glm = "glm"


class Report(StrEnum):
    """How to write a pooled table."""

    text = "text"
    csv = "csv"


File = Annotated[
    Path, typer.Argument(help="Confidential table: .csv, .tsv (also .gz) or .parquet.", show_default=False)
]
Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Confidential table: .csv, .tsv (also .gz) or .parquet; several are imputations of one "
        "table, whose missing values were filled in each.",
        show_default=False,
    ),
]
PlanFile = Annotated[Path | None, typer.Option("--plan", help="Settings in TOML.", show_default=False)]
Copies = Annotated[int, typer.Option(min=1, help="Number of copies.")]
Rows = Annotated[int | None, typer.Option(min=1, help="Rows of a copy; as many as the table by default.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the trace of an error.")]


def command(function: Callable[P, None]) -> Callable[P, None]:
    """Register a subcommand whose errors are one line and an exit code."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            try:
                function(*args, **kwargs)
            except (typer.Exit, typer.Abort, BrokenPipeError):
                raise
            except Exception as error:
                if kwargs.get("debug"):
                    raise
                fail(error)

    app.command()(run)
    return run


def _version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"pysynthdp {sdp.__version__}")
        raise typer.Exit


@app.callback()
def pysynthdp(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Synthetic copies of a confidential table, with privacy statements that are true."""


def _settings(plan: Path | None, dtypes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Read the plan file, if there is one."""
    return {} if plan is None else read_plan(plan, dtypes=dtypes)


def _read(file: Path, plan: Path | None, reading: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Read the plan before the table, so that a slip costs no time; then settle its codes by the columns."""
    asked = _settings(plan)
    declared = {name: asked[name] for name in ("schema", "levels", "missing", "bounds") if name in asked}
    table = read_table(file, texts=not _learns(asked), **declared, **reading_of(reading, plan))
    return table, _settings(plan, {str(name): dtype for name, dtype in table.dtypes.items()})


def _learns(settings: Mapping[str, Any]) -> bool:
    """Whether anything may be learned from the rows: types by all cells, an overview, a log."""
    return protection_of(settings.get("guarantee")).learns


def _declared(settings: Mapping[str, Any], dropped: list[str]) -> dict[str, Any]:
    """Pick what a plan declares about columns that stay."""
    return {
        what: {name: given for name, given in settings[what].items() if name not in dropped}
        for what in DECLARATIONS
        if what in settings
    }


@command
@with_reading
def look(file: File, plan: PlanFile = None, *, reading: dict[str, Any], debug: Debug = False) -> None:  # noqa: ARG001
    """Show how every column is understood; for the person who holds the data."""
    table, settings = _read(file, plan, reading)
    _show_columns(table, settings)


def _show_columns(table: Any, settings: Mapping[str, Any]) -> None:
    """Print the overview of the columns that are not dropped."""
    dropped = [name for name in settings.get("drop", ()) if name in table.columns]
    method = settings.get("method", {})
    serial = [name for name, wish in method.items() if wish == "serial"] if isinstance(method, dict) else []
    seen = sdp.look(
        table.drop(columns=dropped),
        exempt=[*settings.get("keep", ()), *serial],
        **_declared(settings, dropped),
    )
    typer.echo(str(seen))


@command
@with_reading
def plan(
    file: Annotated[Path | None, typer.Argument(help="Table to plan for.", show_default=False)] = None,
    plan: PlanFile = None,
    n: Annotated[int | None, typer.Option(min=1, help="Rows of the table, for a price without it.")] = None,
    m: Copies = 5,
    k: Rows = None,
    *,
    reading: dict[str, Any],
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Show who is drawn from whom and by what, without fitting; with a codebook no record is read."""
    if file is None and plan is None:
        raise PlanError("there is nothing to plan; give a table, or --plan with a codebook")
    table, settings = (None, _settings(plan)) if file is None else _read(file, plan, reading)
    made = sdp.Synthesizer(**settings).plan(table)
    typer.echo(str(made))
    rows = n if table is None else len(table)
    if made.protection.spends != "nothing" and rows is not None:
        typer.echo(f"\n{made.price(n=rows, n_syn=k, m=m)}")


@command
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
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Fit a table, or its imputations, and write m synthetic copies (of each) with statement and read-me."""
    _check_before_reading(out, seed, sign)
    if len(files) > 1:
        protection_of(_settings(plan).get("guarantee")).check_imputed()
    table, settings = _read(files[0], plan, reading)
    settings["drop"] = [*settings.get("drop", ()), *(drop or ())]
    settings["proper"] = proper or settings.get("proper", False)
    settings["rare"] = rare or settings.get("rare", "keep")
    synthesizer = sdp.Synthesizer(**settings)
    synthesizer.protection.copies(m)  # refused before anything is spent at the fit
    # an overview depends on the data: not under a guarantee, and not into a batch job's log
    if _learns(settings) and sys.stdout.isatty():
        _show_columns(table, settings)
    others = [_read(file, plan, reading)[0] for file in files[1:]]
    fitted = synthesizer.fit([table, *others] if others else table)
    if stream:
        folder = fitted.draw_to(out, m, k, rng=seed, format=file_format.value, sign=sign)
        statement = read_statement(folder)
    else:
        release = fitted.draw(m, k, rng=seed)
        folder, statement = release.save(out, format=file_format.value, sign=sign), release.privacy
    typer.echo(
        f"\n{statement}\n\nWritten to {folder}: {', '.join(sorted(item.name for item in folder.iterdir()))}"
    )


def _check_before_reading(out: Path, seed: int | None, sign: Path | None) -> None:
    """Refuse what could not be written in the end, while it costs nothing yet."""
    if out.exists():
        raise PlanError(f"--out: {out} exists already; choose another name or move it away")
    if seed is not None and seed < 0:
        raise PlanError("--seed must not be negative")
    if sign is not None:
        signer_of(sign)


@command
@with_reading
def parameter(
    file: File,
    plan: Annotated[Path, typer.Option(help="TOML with codebook and [[parameters]].", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(help="JSON file for the privacy statement of all of them together.")
    ] = None,
    *,
    reading: dict[str, Any],
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Release parameters themselves, with noise or as posterior draws; each run spends its price again."""
    if out is not None and out.exists():
        raise PlanError(f"--out: {out} exists already; choose another name or move it away")
    if out is not None and not out.parent.is_dir():
        raise PlanError(f"--out: there is no folder {out.parent}; make it first")
    asked = read_parameters(plan)
    table = read_table(file, texts=True, schema=asked.schema, **reading_of(reading, plan))
    check_parameters(table, asked.schema, asked.asked, account=asked.account)
    for entry in asked.asked:
        typer.echo(f"{release_parameter(table, asked.schema, account=asked.account, **entry)}\n")
    typer.echo(str(asked.account))
    if out is not None:
        write_statement(out, asked.account.total())
        typer.echo(f"\nTheir statement is in {out}")


@command
def pool(
    formula: Annotated[str, typer.Argument(help="Such as 'income ~ age + C(sex)'.", show_default=False)],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.", show_default=False)],
    model: Annotated[Model, typer.Option(help="Which regression.")] = Model.ols,
    rule: Annotated[str, typer.Option(help="Combining rule; auto chooses by the release's tags.")] = "auto",
    family: Annotated[str | None, typer.Option(help="Of a glm: poisson, binomial, gamma ...")] = None,
    report: Annotated[Report, typer.Option("--format", help="How to write the table.")] = Report.text,
    *,
    details: Annotated[bool, typer.Option("--details", help="Show variances within and between.")] = False,
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Fit a regression to every copy of a release and combine the fits."""
    if family is not None and model is not Model.glm:
        raise PlanError("--family belongs to --model glm")
    options: dict[str, Any] = {"rule": rule} if family is None else {"rule": rule, "family": family}
    release = sdp.SyntheticRelease.load(folder)
    results = getattr(sdp, model.value)(formula, release, **options)
    if report is Report.csv:
        typer.echo(results.to_frame().to_csv(), nl=False)
    else:
        typer.echo(str(results.summary(details=details)))


@command
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
    checked = sdp.verify(folder, key=key)
    typer.echo(str(checked))
    if numbers and checked.arithmetic is not None:
        typer.echo(f"\n{checked.arithmetic}")
    if checked.exit_code:
        raise typer.Exit(checked.exit_code)


def _stop(*_: Any) -> NoReturn:
    """Leave in order on SIGTERM, so that no draft of a release stays behind."""
    sys.exit(TERMINATED)


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, _stop)
    for channel in (sys.stdout, sys.stderr):
        if hasattr(channel, "reconfigure"):
            channel.reconfigure(errors="backslashreplace")  # names in any script, whatever the terminal
    app()
