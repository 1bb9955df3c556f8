"""``pysynthdp pool``: read a release, fit its copies, combine the fits, tell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError
from pysynthdp.cli.exit_codes import Exit
from pysynthdp.cli.options import Debug, JsonObject, Model, Quiet, Report, Strict
from pysynthdp.cli.run import reporting, this_run

__all__ = ["pool"]


@reporting(fits=Exit.MISUSE)
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
    _pool(formula, folder, _Layout(report, details=details), model=model, options=options)


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a pooled table is written.

    Parameters
    ----------
    report : Report
        As text or CSV.
    details : bool
        With the variances within and between copies.
    """

    report: Report
    details: bool

    def of(self, results: sdp.PooledResults) -> str:
        """Write it, in the words of a shell."""
        if self.report is Report.csv:
            return results.to_frame().to_csv(index=False).rstrip("\n")
        return results.summary(details=self.details).said("shell")


def _pool(formula: str, folder: Path, layout: _Layout, *, model: Model, options: Mapping[str, Any]) -> None:
    """Fit every copy and print the combined table.

    Notes
    -----
    Privacy: post-processing of a release; reads no confidential record.
    """
    with this_run().stage("read") as stage:
        release = sdp.SyntheticRelease.open(folder)  # copies may be larger than memory
        stage.object, stage.size = str(folder), f"{release.m:,} copies of {release.n_syn:,} rows"
    with this_run().stage("pool") as stage:
        results = getattr(sdp, model.value)(formula, release, **options)
        stage.object = f"{release.m:,} fits"
    terms = json.loads(results.to_frame().to_json(orient="records"))
    told = {"formula": formula, "rule": results.rule, "m": release.m, "terms": terms}
    this_run().end(layout.of(results), told)
