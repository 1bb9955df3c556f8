"""A fit: parameters and an account, ready to draw."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from pysynthdp.base.display import Printable, Table
from pysynthdp.base.errors import FitError, PlanError, PrivacyError
from pysynthdp.base.progress import progress_bar
from pysynthdp.base.remarks import Remark, say
from pysynthdp.base.slips import answers_slips
from pysynthdp.base.streams import RandomSource
from pysynthdp.base.words import Argument, Words
from pysynthdp.design.encode import BLOCK_ROWS
from pysynthdp.draw.machine import Draws, Machine
from pysynthdp.draw.nested import NestedMachine
from pysynthdp.draw.populations import PopulationMachine
from pysynthdp.draw.tagging import (
    marked_design,
    marked_imputed,
    marked_outside,
    provenance_of,
    release_tags,
    rule_remarks,
    with_rules,
)
from pysynthdp.draw.unit_machine import UnitDrawing, UnitMachine
from pysynthdp.draw.unit_tagging import unit_tags
from pysynthdp.io import fit_file
from pysynthdp.io.folder import release_dir
from pysynthdp.io.folder.formats import wishes
from pysynthdp.io.folder.manifest import MANIFEST, digest_of
from pysynthdp.io.folder.signature import Signer, signer_of
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.checked import FitCheck, refuse_unless_learning
from pysynthdp.plan.designed import released_schema
from pysynthdp.plan.fit import CopyParameters, Fit
from pysynthdp.plan.synthesis_plan import Watch
from pysynthdp.plan.unit_plan import UnitPlan
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.ledger import Ledger
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.release import SyntheticRelease
from pysynthdp.release.copies import tagged
from pysynthdp.schema import Schema
from pysynthdp.tags import ReleaseTags

__all__ = ["FittedSynthesizer"]


@dataclass(frozen=True, slots=True, repr=False)
class FittedSynthesizer(Printable):
    """Fitted models, ready to draw; made by :meth:`Synthesizer.fit`.

    Parameters
    ----------
    _machine : Machine
        Plan, fit and account.
    workers : int
        Threads.
    progress : bool or None
        As in :class:`Synthesizer`.

    Notes
    -----
    Privacy: holds parameters, whose protection ``holds`` states; values of records only where
    ``emit_original``, ``keep`` or a model that takes whole rows put them, and then it is ``confidential`` and
    not saved. Every draw is charged to its one account.
    """

    _machine: Machine
    workers: int
    progress: bool | None

    @property
    def plan(self) -> SynthesisPlan:
        """Who is drawn from whom."""
        return self._machine.plan

    @property
    def schema(self) -> Schema:
        """Public facts about the columns."""
        return released_schema(self.plan.schema, self.plan.design)

    @property
    def account(self) -> Account:
        """What has been drawn so far; shared by every in-process copy of this fit."""
        return self._machine.account

    @property
    def n_org(self) -> int:
        """Rows of the confidential table, or their noisy number; where rows belong together, units."""
        return self._machine.fit.n

    @property
    def imputed_tables(self) -> int:
        """How many imputations of the table were fitted, so that copies come in as many nests; else 1."""
        return self._machine.imputed

    @property
    def ledger(self) -> Ledger:
        """Every noisy answer that was asked at the fit, with its sensitivity, scale and share; else empty.

        Notes
        -----
        Privacy: public constants only.
        """
        return self._machine.fit.source.ledger

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What the fit found in columns that its user should know; said as warnings when it was made.

        Notes
        -----
        Privacy: for the person who holds the data: no part of a release or a saved fit. None under a
        guarantee.
        """
        found: list[Remark] = []
        for fit in self._machine.fits:  # of an imputed table only what no table before it had
            told = {(remark.column, remark.kind) for remark in found}
            found += [remark for remark in fit.remarks if (remark.column, remark.kind) not in told]
        return tuple(found)

    @property
    def strata(self) -> tuple[str, ...]:
        """The strata whose models were fitted by themselves; all others were fitted together.

        Notes
        -----
        Privacy: levels that copies have, and that these strata have enough records; none under a guarantee.
        """
        return tuple(dict.fromkeys(name for fit in self._machine.fits for name in fit.strata))

    @answers_slips
    def check(self) -> FitCheck:
        """Give what the fit saw when it drew rows from itself and compared them with the table.

        Returns
        -------
        FitCheck
            In what drawn rows differ from the table by more than chance explains, worst first, each with
            what to type; marked INTERNAL. Of an imputed table that of its first imputation; of units also of
            the rows at each further place, each finding with the rows that it is about.

        Raises
        ------
        PrivacyError
            Under a guarantee, where a fit may not look at the records.
        FitError
            Of a fit read from a file, which holds no check, or to fewer than 50 rows.

        Notes
        -----
        Privacy: a function of the confidential table, made at the fit and for whoever holds the data; no
        part of a release or a saved fit. No number in it rests on fewer than five records.
        """
        refuse_unless_learning(self.plan.protection.learns)
        found = self._machine.fit.check
        if found is None:
            raise FitError(
                "this fit holds no check: it was read from a file, or made of fewer than 50 rows, or of "
                "synthetic populations' samples",
                kind="check",
                remedy="fit the table again, without populations, and check that fit",
            )
        return found

    @property
    def holds(self) -> str:
        """What of the confidential table the fit itself holds, for whoever keeps it.

        Notes
        -----
        Privacy: a sentence from settings; no value.
        """
        return self.plan.protection.holds(self.plan, self._machine.fit)

    @property
    def confidential(self) -> bool:
        """Whether the fit must stay where the table is.

        It holds values of real records, or exact statistics behind a guarantee that covers only the draws.
        """
        return bool(self._real_values()) or self.plan.protection.spends == "at each draw"

    def _real_values(self) -> tuple[str, ...]:
        """Columns whose models hold values of real records."""
        return tuple(dict.fromkeys((*self.plan.real_values, *self._machine.fit.rows_held)))

    @answers_slips
    def draw(
        self,
        m: int | None = None,
        k: int | None = None,
        rng: RandomSource = None,
        *,
        parameters: CopyParameters | None = None,
    ) -> SyntheticRelease:
        """Draw m synthetic copies of k rows; of a fit to imputed tables, m copies of each of them.

        Parameters
        ----------
        m : int, optional
            Number of copies; 5 by default, 20 where the answers are noised, and one of each synthetic
            population, of which there are so many at most. After a fit to M imputed tables
            the release holds M m copies, m of each imputation, labelled by it in ``release.nests``.
        k : int, optional
            Rows of each, or units where rows belong together; as many as the confidential table by default,
            or as the samples of synthetic populations.
        rng : int, SeedSequence or Generator, optional
            None takes fresh entropy from the operating system. Never stored.
        parameters : {"drawn", "fitted"}, optional
            Where the answers are noised: redraw noise and sampling for each copy (default), or share one fit.
            Copies of one fit of a mixed table carry no interval; their levels are drawn evenly instead of
            independently, so that their tables are nearer to the model.

        Returns
        -------
        SyntheticRelease
            The copies, with the privacy statement over all draws from this fit so far.

        Raises
        ------
        PlanError
            If m or k is below one, or k differs from the table's rows while columns are kept real; or, of
            synthetic populations, m from their number or k from the rows of their samples.

        Notes
        -----
        Privacy: post-processing of the fit where the fit carries the guarantee; else each draw is accounted.
        """
        m = self._machine.copies(m)
        drawing = self._machine.start(m=m, n_syn=self._rows_of(m, k), rng=rng, parameters=parameters)
        copies = []
        with progress_bar(drawing.m, "draw", show=self.progress) as note:
            for copy in range(drawing.m):
                copies.append(drawing.copy(copy, self.workers))
                note(f"copy {copy + 1}")
        say(rule_remarks(self.plan, drawing.tally))
        self.account.settle(lambda: _digest_of(copies))
        return self._release(drawing, copies)

    def _rows_of(self, m: int, k: int | None) -> int:
        """Check m and k."""
        if k is None and not self.plan.protection.n_told:
            raise PrivacyError(
                "under add/remove neighbours the number of rows is confidential",
                kind="rows",
                remedy=Words("give {k} from public facts", k=Argument("k")),
            )
        rows = self._machine.rows if k is None else k
        for what, value in (("m, the number of copies,", m), ("k, the rows of a copy,", rows)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise PlanError(f"{what} must be a whole number of at least 1", kind="copies")
        if self.plan.keep and rows != self.n_org:
            raise PlanError(
                f"columns kept real ({', '.join(self.plan.keep)}) have the rows of the confidential table",
                kind="copies",
                remedy="leave k out",
            )
        return rows

    def _release(self, drawing: Draws, copies: Sequence[pd.DataFrame]) -> SyntheticRelease:
        """Tag the copies."""
        plan, fit = self.plan, drawing.fit
        privacy = self._statement(drawing)
        tags = plan.protection.tags(self._tags(drawing), plan, fit=fit, copies=copies)
        marks = {"synthetic": True, "privacy": privacy.to_dict()}
        for number, copy in enumerate(copies, start=1):
            copy.attrs["pysynthdp"] = {**marks, "copy": number, **tags.place_of(number)}
        return SyntheticRelease(tuple(copies), self.schema, privacy, provenance_of(plan), tags)

    def _tags(self, drawing: Draws) -> ReleaseTags:
        """Say how the copies are made, before anybody looked at them."""
        if isinstance(drawing, UnitDrawing):
            return with_rules(unit_tags(drawing.plan, drawing), self.plan, drawing.tally)
        fits = self._machine.fits
        tags = release_tags(
            self.plan, fits, m=drawing.m, n_syn=drawing.n_syn, nests=drawing.nests, nesting=drawing.nesting
        )
        return with_rules(tags, self.plan, drawing.tally)

    def _statement(self, drawing: Draws) -> PrivacyStatement:
        """State what is true of all draws so far; what another package states is marked so."""
        protection = self.plan.protection
        stated = marked_outside(protection.statement(self.plan, drawing.fit, self.account), protection)
        marked = marked_design(marked_imputed(stated, self.imputed_tables), self.plan.design)
        return replace(marked, ledger=self.account.marks)

    @answers_slips
    def draw_to(
        self,
        folder: str | Path,
        m: int | None = None,
        k: int | None = None,
        *,
        rng: RandomSource = None,
        parameters: CopyParameters | None = None,
        format: str = "parquet",  # noqa: A002 -- pandas' word
        formats: str | Sequence[str] | None = None,
        watermark: bool = True,
        sign: str | Path | Signer | None = None,
    ) -> Path:
        """Draw copies straight into a release folder, so that memory grows with neither rows nor copies.

        Parameters
        ----------
        folder : path
            Must not exist yet; it appears whole or not at all.
        m, k, rng, parameters
            As in :meth:`draw`; the files are those that :meth:`SyntheticRelease.save` would write.
        format, formats, watermark, sign
            As in :meth:`SyntheticRelease.save`.

        Returns
        -------
        Path
            The folder, which :meth:`SyntheticRelease.load` reads.

        Raises
        ------
        ReleaseError
            If the folder exists (choose another name), or the format or the key cannot be used; nothing is
            drawn and charged then. If a format cannot hold a value that was drawn; the draw is charged.

        Notes
        -----
        Privacy: as :meth:`draw`.
        """
        wished = wishes(format, formats, watermark)
        signer = None if sign is None else signer_of(sign)  # before anything is charged
        m = self._machine.copies(m)
        rows = self._rows_of(m, k)
        release_dir.check_target(Path(folder), wished, self.schema, rows)
        drawing = self._machine.start(m=m, n_syn=rows, rng=rng, parameters=parameters)
        parts = self._release(drawing, []).parts()
        watch = self.plan.protection.watch(self.plan)
        blocks = drawing.m * -(-drawing.n_syn // BLOCK_ROWS)
        with progress_bar(blocks, "draw", show=self.progress) as note:
            parts["copies"] = (self._stream(drawing, copy, note, watch) for copy in range(drawing.m))
            if watch is not None or self.plan.rules:
                parts["seen"] = lambda: tagged(self._seen(drawing, watch), self.schema)
            written = release_dir.write(parts, Path(folder), wished=wished, sign=signer)
        self.account.settle(lambda: digest_of(written / MANIFEST))
        say(rule_remarks(self.plan, drawing.tally))
        return written

    def _seen(self, drawing: Draws, watch: Watch | None) -> ReleaseTags:
        """Tag copies that were drawn piece by piece."""
        tags = self._tags(drawing)
        if watch is not None:
            return watch.tags(tags)
        return self.plan.protection.tags(tags, self.plan, fit=drawing.fit, copies=[])

    def _stream(
        self, drawing: Draws, copy: int, note: Callable[[str], None], watch: Watch | None
    ) -> Iterator[pd.DataFrame]:
        """Yield one copy as frames of consecutive blocks."""
        for frame in drawing.frames(copy, self.workers):
            if watch is not None:
                watch.see(copy, frame)
            yield frame
            note(f"copy {copy + 1}")

    @answers_slips
    def save(self, path: str | Path) -> Path:
        """Write the fit, without any record, to draw from it later without the confidential table.

        Raises
        ------
        PrivacyError
            If the fit holds real values or an account that must not be forked; release its copies instead.
        ReleaseError
            If the file exists; choose another name.

        Notes
        -----
        Privacy: writes parameters and settings, no record; the parameters have what protection the privacy
        statement says, so without a guarantee the file is as confidential as any table of estimates.
        """
        self._refuse_to_save()
        draws = tuple((draw.n_syn, draw.copies) for draw in self.account.draws)
        marks = {"ledger": self.account.marks} if self.account.marks else {}
        parts = {"plan": self.plan, **self._machine.held, "workers": self.workers, "draws": draws, **marks}
        return fit_file.save(parts, Path(path))

    def __copy__(self) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        self._refuse_real_values()
        return type(self), (self._machine, self.workers, self.progress)

    def _refuse_real_values(self) -> None:
        """Keep real values out of files, pickles too."""
        real = self._real_values()
        if real:
            raise PrivacyError(
                (
                    f"this fit holds values of real records in {', '.join(real)}, because "
                    "emit_original or the model asked for them"
                ),
                kind="copies",
                remedy="release copies instead of saving it, or fit by another method",
            )
        if self.plan.keep:
            raise PrivacyError(
                f"this fit holds the real values of {', '.join(self.plan.keep)}, which were asked to be kept",
                kind="copies",
                remedy=Words(
                    "release copies instead of saving it, or fit without {keep}", keep=Argument("keep")
                ),
            )

    def _refuse_to_save(self) -> None:
        """Keep real values, and accounts that must stay single, out of files."""
        self._refuse_real_values()
        reason = self.plan.protection.unsaveable()
        if reason:
            raise PrivacyError(reason, kind="copies")

    @classmethod
    @answers_slips
    def load(cls, path: str | Path) -> FittedSynthesizer:
        """Read what :meth:`save` wrote; its account goes on from the draws made before.

        Raises
        ------
        ReleaseError
            If the file is not a saved fit, or damaged.
        """
        parts = fit_file.load(Path(path))
        plan, fits = parts["plan"], parts["fits"] if "fits" in parts else (parts["fit"],)
        account = plan.protection.account(plan, n=fits[0].n)
        for n_syn, copies in parts["draws"]:
            account.charge(n_syn=n_syn, copies=copies)
        account.charge_to(None, parts.get("ledger", ()))
        return cls(_machine(plan, fits, account), parts["workers"], None)

    def to_table(self) -> Table:
        """Build a card of methods and predictors; no number but the rows depends on the data."""
        plan = self.plan.to_table()
        rows = self.n_org if self.plan.protection.n_told else "not published"
        imputed = (("imputed tables fitted", self.imputed_tables),) if self.imputed_tables > 1 else ()
        facts = (
            ("units fitted" if isinstance(self.plan, UnitPlan) else "rows fitted", rows),
            *imputed,
            ("copies drawn so far", self.account.copies),
            ("the fit itself holds", self.holds),
            *plan.facts,
        )
        return replace(plan, title="Fitted synthesizer", facts=facts)


def _digest_of(copies: Sequence[pd.DataFrame]) -> str:
    """Digest drawn copies, by which a ledger knows what a draw gave."""
    digest = hashlib.sha256()
    for copy in copies:
        digest.update(np.ascontiguousarray(pd.util.hash_pandas_object(copy, index=False)).tobytes())
    return digest.hexdigest()


def _machine(plan: SynthesisPlan, fits: Sequence[Fit], account: Account) -> Machine:
    """Join a plan with its fits: one, or one an imputed table."""
    first, *others = fits
    if isinstance(plan, UnitPlan):
        return UnitMachine(plan, first, account, tuple(others))
    if plan.design is not None and plan.design.how == "population":
        return PopulationMachine(plan, first, account, tuple(others))
    return NestedMachine(plan, first, account, tuple(others)) if others else Machine(plan, first, account)
