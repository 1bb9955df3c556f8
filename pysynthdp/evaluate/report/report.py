"""The one call for reports: what to measure, for whom, and both documents from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from pysynthdp.base.display import Table
from pysynthdp.base.errors import PlanError
from pysynthdp.base.slips import answers_slips
from pysynthdp.design.survey_table import SurveyTable
from pysynthdp.evaluate.internal import Internal
from pysynthdp.evaluate.report.analyses import Indicators, Models
from pysynthdp.evaluate.report.board import Measured, board_report
from pysynthdp.evaluate.report.document import Document
from pysynthdp.evaluate.report.gates import Gate, Limits, gates_of, limits_of
from pysynthdp.evaluate.report.public import public_note
from pysynthdp.evaluate.report.purposes import PurposeName, purpose_of
from pysynthdp.evaluate.risk.measure import disclosure_risk
from pysynthdp.evaluate.risk.result import DisclosureRisk
from pysynthdp.evaluate.utility.compare import compare
from pysynthdp.evaluate.utility.foreseen import check_foreseen
from pysynthdp.evaluate.utility.result import UtilityComparison
from pysynthdp.io.survey import read
from pysynthdp.release import SyntheticRelease
from pysynthdp.release.stored import StoredRelease
from pysynthdp.synthesizer import Synthesizer

__all__ = ["Report"]


@answers_slips
@dataclass(frozen=True, repr=False, eq=False)
class Report(Internal):
    """Judge a release: a report for the review board, INTERNAL, and a note for the public.

    Parameters
    ----------
    table : DataFrame, SurveyTable or path
        The confidential table.
    release : SyntheticRelease or its folder; DataFrames or paths of another tool's copies
        What is to be released. Copies of other tools get a board report, and no public note: nothing is known
        of how they were made.
    purpose : {"public-analysis", "explore-then-validate", "code-testing", "system-test"}
        What the copies are for; it sets the words and where gates stand.
    title : str
        Of the file.
    keys : mapping name -> columns
        What intruders know: ``{"neighbour": ["sex", "age", "region"]}``.
    targets : sequence of str
        What they want to learn.
    known_by_all : mapping, optional
        What everybody knows of a target, as :func:`pysynthdp.disclosure_risk` takes it.
    models : sequence of formulas, or mapping name -> formula or (formula, kind)
        Regressions that people will run.
    indicators : mapping name -> function
        As :meth:`SyntheticRelease.apply` takes it: ``{"mean": pysynthdp.analysis.mean_of("income")}``.
    by : columns, optional
        Subgroups that are told apart, as :func:`pysynthdp.compare` takes it.
    rules : sequence of str
        Conditions that every row should meet, besides those of the release.
    holdout : DataFrame, SurveyTable or path, optional
        People of the same population who had no part in the copies: the baseline of every attack.
    refit : Synthesizer, optional
        Settings of the release, where there is no holdout: copies without some of the people are
        the baseline. For ``foreseen`` too.
    foreseen : int
        Runs of a parametric bootstrap of the copies, some 50, as :func:`pysynthdp.compare` takes them: the
        intervals of models *if the synthesis model held*, which gate nothing.
    earlier : sequence
        What was released before from the same source.
    limits : mapping or Limits, optional
        Gates: ``rules_failed``, ``max_pmse_ratio_2way``, ``max_repu_percent``, ``max_disco_percent``.
    about : mapping, optional
        Fields that are filled in already, by their labels.
    log : path, optional
        Folder of the agency's own that keeps the list of evaluations.
    options : mapping
        More for :func:`pysynthdp.disclosure_risk`: ``shadow_fits``, ``ngroups``, ``attacks``...

    Notes
    -----
    Privacy: reads real rows and shows their numbers; all but :meth:`public` is INTERNAL. Under a formal
    guarantee no number of an evaluation, nor a choice made by one, may leave: gates there look at the copies
    alone.

    Examples
    --------
    >>> import pandas as pd, pysynthdp as sdp
    >>> df = pd.DataFrame({"sex": ["F", "M"] * 60, "age": range(120), "ill": ["no", "no", "yes"] * 40})
    >>> report = sdp.Report(df, sdp.synthesize(df, m=2, rng=1), keys={"neighbour": ["sex", "age"]})
    >>> report.public().title, report.board().mark
    ('Synthetic file', 'INTERNAL')
    """

    table: Any
    release: Any
    purpose: PurposeName = "public-analysis"
    title: str = "Synthetic file"
    keys: Mapping[str, Sequence[str]] = field(default_factory=dict)
    targets: Sequence[str] = ()
    known_by_all: Mapping[str, Any] | None = None
    models: Models = ()
    indicators: Indicators = field(default_factory=dict)
    by: Any = None
    rules: Sequence[str] = ()
    holdout: Any = None
    refit: Synthesizer | None = None
    foreseen: int = 0
    earlier: Sequence[Any] = ()
    limits: Mapping[str, Any] | Limits | None = None
    about: Mapping[str, str] = field(default_factory=dict)
    log: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        limits_of(self.limits, purpose_of(self.purpose))
        check_foreseen(self.foreseen, self.refit)
        if isinstance(self.release, StoredRelease):
            raise PlanError(
                "a report counts rows of copies in memory, and these stay in their files",
                kind="release",
                remedy="give the folder, which is loaded then",
            )
        if self.targets and not self.keys:
            raise PlanError("targets need keys: what an intruder knows", kind="setting")

    @cached_property
    def copies(self) -> SyntheticRelease | None:
        """The release; None where the copies come from another tool."""
        if isinstance(self.release, str | PathLike):
            is_release = (Path(self.release) / "release.json").exists()
            return SyntheticRelease.load(Path(self.release)) if is_release else None
        return self.release if isinstance(self.release, SyntheticRelease) else None

    @cached_property
    def fresh(self) -> pd.DataFrame | None:
        """People who had no part in the copies."""
        given = read(Path(self.holdout)) if isinstance(self.holdout, str | PathLike) else self.holdout
        return given.frame if isinstance(given, SurveyTable) else given

    @cached_property
    def utility(self) -> UtilityComparison:
        """What the copies are worth, measured at the first look."""
        models = _formulas(self.models)
        given = self.release if self.copies is None else self.copies
        return compare(
            self.table,
            given,
            models=models or None,
            by=self.by,
            rules=self.rules,
            holdout=self.fresh,
            refit=self.refit,
            foreseen=self.foreseen,
        )

    @cached_property
    def risk(self) -> DisclosureRisk | None:
        """What they risk, measured at the first look; None without keys."""
        if not self.keys:
            return None
        return disclosure_risk(
            self.table,
            self.release if self.copies is None else self.copies,
            keys=self.keys,
            targets=self.targets,
            known_by_all=self.known_by_all,
            holdout=self.fresh,
            refit=self._refit_for_risk,
            earlier=self.earlier,
            log=self.log,
            **self.options,
        )

    @cached_property
    def gates(self) -> tuple[Gate, ...]:
        """All gates and whether they are passed."""
        limits = limits_of(self.limits, purpose_of(self.purpose))
        return gates_of(self.copies, self.utility, self.risk, limits, guaranteed=self._guaranteed)

    def board(self) -> Document:
        """Write the report for the review board: INTERNAL.

        Returns
        -------
        Document
            ``save(folder)`` writes HTML, JSON and CSV tables, all with INTERNAL in their names.

        Notes
        -----
        Privacy: numbers of real rows.
        """
        return board_report(
            self._measured(), title=self.title, purpose=purpose_of(self.purpose), about=self.about
        )

    def public(self) -> Document:
        """Write the note that everybody may read: of the copies, their statement and the purpose alone.

        Returns
        -------
        Document
            The same bytes whatever the confidential table holds and whatever gates were passed.

        Raises
        ------
        PlanError
            For copies of another tool.

        Notes
        -----
        Privacy: post-processing of the release; reads no real row.
        """
        if self.copies is None:
            raise PlanError(
                "a public note tells how copies were made, which is not known of another tool's",
                kind="release",
                remedy="take the board report, or a release folder",
            )
        return public_note(
            self.copies,
            title=self.title,
            purpose=purpose_of(self.purpose),
            models=self.models,
            indicators=self.indicators,
            about=self.about,
        )

    def tables(self) -> Mapping[str, pd.DataFrame]:
        """All tables of the board report by name."""
        return self.board().tables()

    def to_table(self) -> Table:
        """Build page one of the board report."""
        return self.board().to_table()

    @property
    def _refit_for_risk(self) -> Synthesizer | None:
        """Settings that are given for foreseen intervals alone are no second control beside people."""
        alone = bool(self.foreseen) and self.fresh is not None and not self.options.get("shadow_fits")
        return None if alone else self.refit

    @property
    def _guaranteed(self) -> bool:
        """Whether the copies carry a formal guarantee."""
        return self.copies is not None and self.copies.privacy.status != "none"

    def _measured(self) -> Measured:
        """Give what was measured."""
        return Measured(self.copies, self.utility, self.risk, self.gates, self._guaranteed)


def _formulas(models: Models) -> list[str]:
    """Give the formulas of models."""
    given = models.values() if isinstance(models, Mapping) else models
    return [one if isinstance(one, str) else one[0] for one in given]
