"""What ``synth`` does once its settings are read: fit, draw, write, tell; each a stage of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

import pysynthdp as sdp
from pysynthdp.cli.run import this_run
from pysynthdp.cli.signals import finish
from pysynthdp.io.folder.manifest import read_manifest
from pysynthdp.io.folder.release_dir import read_statement
from pysynthdp.schema import CategoricalColumn, Schema

__all__ = ["Copying", "fitted_from", "tell"]


def fitted_from(
    synthesizer: sdp.Synthesizer, table: pd.DataFrame, others: Sequence[pd.DataFrame]
) -> sdp.FittedSynthesizer:
    """Fit; say which rare levels were merged, by how many a column.

    Notes
    -----
    Privacy: reads real rows; names columns and no level.
    """
    run = this_run()
    with run.stage("fit") as stage:
        fitted = synthesizer.fit([table, *others] if others else table)
        stage.object = f"{len(fitted.schema.names):,} columns"
    if run.learns and synthesizer.rare == "merge":
        run.log(f"merged rare levels, and how many: {_merged(table, fitted.schema) or 'none'}")
    run.check()
    return fitted


def _merged(table: pd.DataFrame, schema: Schema) -> str:
    """Count the levels of each column that are in no copy."""
    counts = {
        column.name: len(set(table[column.name].dropna().unique()) - {*column.levels, *column.specials})
        for column in schema
        if isinstance(column, CategoricalColumn) and column.name in table.columns
    }
    return ", ".join(f"{name} ({count:,})" for name, count in counts.items() if count)


@dataclass(frozen=True, slots=True)
class Copying:
    """Which copies to draw, and where to.

    Parameters
    ----------
    out : path
        Folder.
    m, k : int
        Copies, and rows of each.
    seed : int or None
        Of the draws.
    file_format : str
        Of the copies.
    sign : path or None
        Private key.
    """

    out: Path
    m: int
    k: int | None
    seed: int | None
    file_format: str
    sign: Path | None

    def draw_and_write(self, fitted: sdp.FittedSynthesizer) -> sdp.PrivacyStatement:
        """Draw copies, then write them."""
        run = this_run()
        with run.stage("draw") as stage:
            release = fitted.draw(self.m, self.k, rng=self.seed)
            stage.object, stage.size = f"{release.m:,} copies", f"{release.n_syn:,} rows each"
        run.check()
        with run.stage("write") as stage:
            release.save(self.out, format=self.file_format, sign=self.sign)
            stage.object = str(self.out)
        return release.privacy

    def stream(self, fitted: sdp.FittedSynthesizer) -> sdp.PrivacyStatement:
        """Draw copies straight into their files."""
        with this_run().stage("draw and write") as stage:
            fitted.draw_to(self.out, self.m, self.k, rng=self.seed, format=self.file_format, sign=self.sign)
            stage.object = str(self.out)
        return read_statement(self.out)


def tell(folder: Path, statement: sdp.PrivacyStatement, *, quiet: bool) -> None:
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
