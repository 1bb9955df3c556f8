"""What a run measures of its copies: once, whoever asks, its gates or the report for its board."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pysynthdp.evaluate import Report
from pysynthdp.evaluate.risk.measure import disclosure_risk
from pysynthdp.evaluate.utility.compare import compare
from pysynthdp.jobs.job_file import Job
from pysynthdp.release import SyntheticRelease

__all__ = ["Evaluated"]

_GATES: Final = ("rules_failed", "max_pmse_ratio_2way", "max_repu_percent")


@dataclass(repr=False)
class Evaluated:
    """Copies of a run, and what was measured of them so far.

    Parameters
    ----------
    job : Job
        Its purpose, gates, sets of keys and documents.
    folder : Path
        Release folder.
    read : function without argument
        Gives the confidential table; not called unless a gate or the board's report needs it.

    Notes
    -----
    Privacy: measures real rows where a gate or a report asks for it, which a guarantee refuses before.
    """

    job: Job
    folder: Path
    read: Callable[[], Any]

    @cached_property
    def release(self) -> SyntheticRelease:
        """The copies."""
        return SyntheticRelease.load(self.folder)

    @cached_property
    def table(self) -> Any:
        """The confidential table."""
        return self.read()

    @property
    def _board(self) -> bool:
        """Whether a report for the board measures everything anyway."""
        return "board" in self.job.output.documents

    @cached_property
    def report(self) -> Report:
        """Both documents; the public one reads no table."""
        asked = {gate: getattr(self.job.gates, gate) for gate in _GATES}
        return Report(
            self.table if self._board else None,
            self.release,
            purpose=self.job.purpose or "public-analysis",  # type: ignore[arg-type]  # a job's are a report's
            title=self.job.name,
            keys=self.job.gates.keys or {},
            limits={gate: limit for gate, limit in asked.items() if limit is not None},
        )

    def two_way(self) -> float:
        """Give the largest ratio of a table of two columns."""
        found = self.report.utility if self._board else compare(self.table, self.release, models=[])
        return float(found.frames["two-way"]["ratio"].max())

    def replicated(self, name: str) -> float:
        """Give the largest per cent of records that are unique on a set of keys in the table and copies."""
        keys = {name: list((self.job.gates.keys or {})[name])}
        risk = self.report.risk if self._board else None
        found = risk or disclosure_risk(self.table, self.release, keys=keys, attacks=1)
        frame = found.found["identity"]
        return float(frame.loc[frame["keys"] == name, "RepU"].max())
