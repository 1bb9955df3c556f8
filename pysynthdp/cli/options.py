"""Arguments and options that commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Copies",
    "Debug",
    "File",
    "FileFormat",
    "Files",
    "JsonObject",
    "Model",
    "PlanFile",
    "Quiet",
    "Report",
    "Rows",
    "Strict",
]


class FileFormat(StrEnum):
    """Format of the copies."""

    parquet = "parquet"
    csv = "csv"
    sav = "sav"
    dta = "dta"
    xpt = "xpt"


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
Quiet = Annotated[
    bool, typer.Option("--quiet", help="No lines about stages and no statement; warnings and errors remain.")
]
JsonObject = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object and nothing else; an error is one on stderr."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="If anything is warned of, write nothing and leave with exit code 9.")
]
