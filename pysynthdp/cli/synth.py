"""``pysynthdp synth``: fit, draw, write, tell; each a stage of the run."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError
from pysynthdp.cli.charging import charged_to, check_charge, with_ledger
from pysynthdp.cli.look import show_columns
from pysynthdp.cli.options import (
    Copies,
    Debug,
    FileFormat,
    Files,
    JsonObject,
    PlanFile,
    Quiet,
    Rows,
    Strict,
)
from pysynthdp.cli.reading import with_reading, with_scratch
from pysynthdp.cli.run import reporting, this_run
from pysynthdp.cli.signals import finish
from pysynthdp.cli.table import learns_from, protection_in, read_with_plan, settings_of
from pysynthdp.io.folder.manifest import read_manifest
from pysynthdp.io.folder.signature import signer_of

if TYPE_CHECKING:
    import pandas as pd

    from pysynthdp.design.rows import Rows as TableRows

__all__ = ["synth"]


@reporting()
@with_ledger
@with_reading
@with_scratch
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
    formats: Annotated[
        list[FileFormat] | None,
        typer.Option("--format", help="Of the copies, parquet without it; repeatable.", show_default=False),
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; repeatable.")] = None,
    sign: Annotated[
        Path | None,
        typer.Option(help="Private key (Ed25519, PEM) to sign the folder with.", show_default=False),
    ] = None,
    rare: Annotated[
        str | None,
        typer.Option(help="Levels of fewer than five records: keep, merge or refuse.", show_default=False),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="Model of all columns, such as cart; of single ones: --plan.", show_default=False),
    ] = None,
    *,
    reading: dict[str, Any],
    disk: dict[str, Any],
    charge: dict[str, Any],
    watermark: Annotated[
        bool, typer.Option("--watermark/--no-watermark", help="Whether files have a column _synthetic.")
    ] = True,
    proper: Annotated[bool, typer.Option("--proper", help="Draw parameters anew for each copy.")] = False,
    stream: Annotated[  # noqa: ARG001
        bool, typer.Option("--stream", help="Taken, and does nothing: copies are always written so.")
    ] = False,
    quiet: Quiet = False,
    as_object: JsonObject = False,  # noqa: ARG001
    strict: Strict = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Fit a table, or its imputations, and write m synthetic copies (of each) with statement and read-me."""
    _check_before_reading(out, seed, sign)
    paying = charged_to(charge, files[0])
    protection = protection_in(settings_of(plan))
    if len(files) > 1:
        protection.check_imputed()
    if paying and protection.spends != "nothing":
        check_charge(paying, protection.unit, protection.price_of_fit())
    alone = disk if len(files) == 1 else None  # imputations are compared cell by cell in memory
    table, settings = read_with_plan(files[0], plan, reading, disk=alone, drop=drop or ())
    settings["drop"] = [*settings.get("drop", ()), *(drop or ())]
    settings["proper"] = proper or settings.get("proper", False)
    settings["rare"] = rare or settings.get("rare", "keep")
    settings |= _method(method, settings)
    synthesizer = sdp.Synthesizer(**settings)
    synthesizer.protection.copies(m)  # refused before anything is spent at the fit
    # an overview depends on the data: not under a guarantee, and not into a batch job's log
    if learns_from(settings) and sys.stdout.isatty():
        show_columns(table, settings)
    others = [read_with_plan(file, plan, reading)[0] for file in files[1:]]
    synthesizer, fitting = _with_populations(synthesizer, m, seed)
    fitted = _fitted(synthesizer, table, others, {**paying, "rng": fitting})
    copies = _Copying(out, m, k, seed, tuple(formats or [FileFormat.parquet]), watermark, sign)
    statement = copies.draw(fitted)
    _tell(out, statement, quiet=quiet)


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


def _method(method: str | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Take the model of all columns, if the plan file names none."""
    if method is None:
        return {}
    if settings.get("method"):
        raise PlanError("--method is given, and the plan has methods too", kind="setting", remedy="give one")
    return {"method": method}


def _with_populations(synthesizer: sdp.Synthesizer, m: int, seed: int | None) -> tuple[Any, Any]:
    """Settle synthetic populations, where the design asks for them: one a copy."""
    from pysynthdp.synthesizer.populations import with_populations

    return with_populations(synthesizer, m, seed)


def _fitted(
    synthesizer: sdp.Synthesizer,
    table: pd.DataFrame | TableRows,
    others: Sequence[pd.DataFrame],
    asked: Mapping[str, Any],
) -> sdp.FittedSynthesizer:
    """Fit; say which rare levels were merged, by how many a column.

    Notes
    -----
    Privacy: reads real rows; names columns and no level.
    """
    run = this_run()
    with run.stage("fit") as stage:
        given = [cast("pd.DataFrame", table), *others] if others else table
        fitted = synthesizer.fit(given, **asked)
        stage.object = f"{len(fitted.schema.names):,} columns"
    if run.learns and synthesizer.rare == "merge":
        run.log(f"merged rare levels, and how many: {_merged(table, fitted.schema) or 'none'}")
    run.check()
    return fitted


def _merged(table: pd.DataFrame | TableRows, schema: sdp.Schema) -> str:
    """Count the levels of each column that are in no copy."""
    counts = {
        column.name: len(_distinct(table, column.name) - {*column.levels, *column.specials})
        for column in schema
        if isinstance(column, sdp.CategoricalColumn) and column.name in table.columns
    }
    return ", ".join(f"{name} ({count:,})" for name, count in counts.items() if count)


def _distinct(table: pd.DataFrame | TableRows, name: str) -> set[Any]:
    """Give the distinct values of a column."""
    rows: Any = table
    held = rows.take([name]) if hasattr(rows, "n_rows") else getattr(rows, "frame", rows)
    column: pd.Series[Any] = held[name]
    return set(column.dropna().unique())


@dataclass(frozen=True, slots=True)
class _Copying:
    """Which copies to draw, and where to.

    Parameters
    ----------
    out : path
        Folder.
    m, k : int
        Copies, and rows of each.
    seed : int or None
        Of the draws.
    formats : tuple of str
        Of the copies.
    watermark : bool
        Whether files say that they are synthetic.
    sign : path or None
        Private key.
    """

    out: Path
    m: int
    k: int | None
    seed: int | None
    formats: tuple[str, ...]
    watermark: bool
    sign: Path | None

    def draw(self, fitted: sdp.FittedSynthesizer) -> sdp.PrivacyStatement:
        """Draw copies straight into their files, so that memory holds none of them."""
        from pysynthdp.io.folder.release_dir import read_statement

        with this_run().stage("draw") as stage:
            files: dict[str, Any] = {"formats": self.formats, "watermark": self.watermark, "sign": self.sign}
            fitted.draw_to(self.out, self.m, self.k, rng=self.seed, **files)
            finish()  # the folder is there
            made = read_manifest(self.out)
            of = "units" if isinstance(getattr(fitted.plan, "units", None), sdp.Units) else "rows"
            stage.object, stage.size = f"{made['m']:,} copies", f"{made['n_syn']:,} {of} each"
        return read_statement(self.out)


def _tell(folder: Path, statement: sdp.PrivacyStatement, *, quiet: bool) -> None:
    """Print the statement and what was written; levels that were learned stay in the folder."""
    finish()
    names = sorted(item.name for item in folder.iterdir())
    listed = {each["name"]: each for each in read_manifest(folder)["files"]}
    result = {
        "folder": str(folder),
        "files": [{"name": name, **listed.get(name, {})} for name in names],
        "statement": {key: value for key, value in statement.to_dict().items() if key != "learned"},
    }
    text = f"\n{statement}\n\nWritten to {folder}: {', '.join(names)}"
    this_run().end("" if quiet else text, result)
