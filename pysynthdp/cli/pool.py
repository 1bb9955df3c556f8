"""What ``pool`` does: read a release, fit its copies, combine the fits, tell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pysynthdp as sdp
from pysynthdp.cli.options import Model, Report
from pysynthdp.cli.run import this_run

__all__ = ["Layout", "pool_release"]


@dataclass(frozen=True, slots=True)
class Layout:
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


def pool_release(
    formula: str, folder: Path, layout: Layout, *, model: Model, options: Mapping[str, Any]
) -> None:
    """Fit every copy and print the combined table.

    Notes
    -----
    Privacy: post-processing of a release; reads no confidential record.
    """
    with this_run().stage("read") as stage:
        release = sdp.SyntheticRelease.load(folder)
        stage.object, stage.size = str(folder), f"{release.m:,} copies of {release.n_syn:,} rows"
    with this_run().stage("pool") as stage:
        results = getattr(sdp, model.value)(formula, release, **options)
        stage.object = f"{release.m:,} fits"
    terms = json.loads(results.to_frame().to_json(orient="records"))
    told = {"formula": formula, "rule": results.rule, "m": release.m, "terms": terms}
    this_run().end(layout.of(results), told)
