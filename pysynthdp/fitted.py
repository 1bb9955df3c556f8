"""A fit: parameters and an account, no record; ready to draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from pysynthdp._progress import progress_bar
from pysynthdp._random import RandomSource, root_sequence
from pysynthdp.display import Printable, Table
from pysynthdp.drawing import Machine
from pysynthdp.errors import PlanError, PrivacyError, ReleaseError
from pysynthdp.io import fit_file, release_dir
from pysynthdp.io.signature import Signer, signer_of
from pysynthdp.moments.state import CopyParameters
from pysynthdp.plan import SynthesisPlan
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.ledger import Ledger
from pysynthdp.release import SyntheticRelease
from pysynthdp.schema import Schema
from pysynthdp.tagging import n_is_confidential, provenance_of, release_statement, release_tags
from pysynthdp.tagging_noised import copies_asked, noised_tags

__all__ = ["FittedSynthesizer"]


@dataclass(frozen=True, slots=True, repr=False)
class FittedSynthesizer(Printable):
    """Fitted models, ready to draw; holds parameters, never a record.

    Parameters
    ----------
    machine : Machine
        Plan, layout and parameters.
    n_org : int
        Rows of the confidential table.
    workers : int
        Threads.
    progress : bool or None
        As in :class:`Synthesizer`.
    account : Account
        What has been drawn so far; shared by every in-process copy of this fit.
    """

    machine: Machine
    n_org: int
    workers: int
    progress: bool | None
    account: Account

    @property
    def plan(self) -> SynthesisPlan:
        """Who is drawn from whom."""
        return self.machine.plan

    @property
    def schema(self) -> Schema:
        """Public facts about the columns."""
        return self.plan.schema

    @property
    def ledger(self) -> Ledger:
        """Every noisy answer that was asked at the fit, with its sensitivity, scale and share; else empty.

        Notes
        -----
        Privacy: public constants only.
        """
        return Ledger() if self.machine.noised is None else self.machine.noised.ledger

    @property
    def confidential(self) -> bool:
        """Whether the fit itself holds real values (``emit_original``)."""
        return bool(self.plan.real_values)

    def draw(
        self,
        m: int | None = None,
        k: int | None = None,
        rng: RandomSource = None,
        *,
        parameters: CopyParameters | None = None,
    ) -> SyntheticRelease:
        """Draw m synthetic copies of k rows.

        Parameters
        ----------
        m : int, optional
            Number of copies; 5 by default, 20 where the answers are noised.
        k : int, optional
            Rows of each; as many as the confidential table by default.
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
            If m or k is below one, or k differs from the table's rows while columns are kept real.

        Notes
        -----
        Privacy: post-processing of the fit where the fit carries the guarantee; else each draw is accounted.
        """
        m = copies_asked(self.plan.noise, m)
        rows = self._rows_of(m, k)
        machine = self._machine(parameters)
        root = self._charge(rows, m, rng)
        copies = []
        with progress_bar(m, "draw", show=self.progress) as note:
            for copy in range(m):
                copies.append(machine.copy(root, copy, rows, self.workers))
                note(f"copy {copy + 1}")
        return self._release(machine, copies, m, rows)

    def _machine(self, parameters: CopyParameters | None) -> Machine:
        """Share one fit among the copies, or redraw it."""
        if parameters is None:
            return self.machine
        if self.machine.noised is None:
            raise PlanError("parameters= belongs to noise in the answers; use proper=True at the fit")
        if parameters not in ("drawn", "fitted"):
            raise PlanError("parameters must be 'drawn' or 'fitted'")
        return replace(self.machine, redraw=parameters == "drawn")

    def _charge(self, rows: int, m: int, rng: RandomSource) -> np.random.SeedSequence | None:
        """Account for a draw before it is made; under a guarantee, unseeded draws have no root to keep."""
        guaranteed = self.plan.guarantee is not None
        self.account.charge(n_syn=int(rows), copies=int(m), seeded=guaranteed and rng is not None)
        return None if guaranteed and rng is None else root_sequence(rng)

    def _rows_of(self, m: int, k: int | None) -> int:
        """Check m and k."""
        if k is None and n_is_confidential(self.plan):
            raise PrivacyError(
                "under add/remove neighbours the number of rows is confidential; give k= from public facts"
            )
        rows = self.n_org if k is None else k
        for what, value in (("m, the number of copies,", m), ("k, the rows of a copy,", rows)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise PlanError(f"{what} must be a whole number of at least 1")
        if self.plan.keep and rows != self.n_org:
            raise PlanError(
                f"columns kept real ({', '.join(self.plan.keep)}) have the rows of the confidential table; "
                "leave k out"
            )
        return rows

    def _release(
        self, machine: Machine, copies: Sequence[pd.DataFrame], m: int, n_syn: int
    ) -> SyntheticRelease:
        """Tag the copies."""
        privacy = release_statement(self.plan, self.account, machine.noised)
        marks = {"synthetic": True, "privacy": privacy.to_dict()}
        for number, copy in enumerate(copies, start=1):
            copy.attrs["pysynthdp"] = {**marks, "copy": number}
        tags = release_tags(self.plan, copies, m=m, n_syn=n_syn, n_org=self.n_org)
        if machine.noised is not None:
            tags = noised_tags(tags, self.plan, machine.noised, redraw=machine.redraw)
        return SyntheticRelease(tuple(copies), self.schema, privacy, provenance_of(self.plan), tags)

    def draw_to(
        self,
        folder: str | Path,
        m: int | None = None,
        k: int | None = None,
        *,
        rng: RandomSource = None,
        format: str = "parquet",  # noqa: A002 -- pandas' word
        sign: str | Path | Signer | None = None,
    ) -> Path:
        """Draw copies straight into a release folder, block by block, so that memory stays small.

        Parameters
        ----------
        folder : path
            Must not exist yet; it appears whole or not at all.
        m, k, rng
            As in :meth:`draw`.
        format : {"parquet", "csv"}
            Of the copies.
        sign : path or key, optional
            As in :meth:`SyntheticRelease.save`.

        Returns
        -------
        Path
            The folder, which :meth:`SyntheticRelease.load` reads.

        Raises
        ------
        ReleaseError
            If the folder exists (choose another name), or the key cannot be used.

        Notes
        -----
        Privacy: as :meth:`draw`.
        """
        if Path(folder).exists():
            raise ReleaseError(f"{folder} exists already; choose another name or move it away")
        signer = None if sign is None else signer_of(sign)  # before anything is charged
        m = copies_asked(self.plan.noise, m)
        rows = self._rows_of(m, k)
        root = self._charge(rows, m, rng)
        parts = self._release(self.machine, [], m, rows).parts()
        with progress_bar(m, "draw", show=self.progress) as note:
            parts["copies"] = (self._stream(root, copy, rows, note) for copy in range(m))
            return release_dir.write(parts, Path(folder), file_format=format, sign=signer)

    def _stream(
        self, root: np.random.SeedSequence | None, copy: int, rows: int, note: Callable[[str], None]
    ) -> Iterator[pd.DataFrame]:
        """Yield one copy as frames of consecutive blocks."""
        for where, parts in self.machine.blocks(root, copy, rows, self.workers):
            yield self.machine.frame(parts, start=where.start, size=where.stop - where.start)
        note(f"copy {copy + 1}")

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
        parts = {"machine": self.machine, "n_org": self.n_org, "workers": self.workers}
        draws = tuple((draw.n_syn, draw.copies) for draw in self.account.draws)
        return fit_file.save({**parts, "draws": draws}, Path(path))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return replace(self, machine=deepcopy(self.machine, memo), account=deepcopy(self.account, memo))

    def __reduce__(self) -> tuple[Any, ...]:
        self._refuse_real_values()
        return type(self), (self.machine, self.n_org, self.workers, self.progress, self.account)

    def _refuse_real_values(self) -> None:
        """Keep real values out of files, pickles too."""
        if self.confidential:
            raise PrivacyError(
                "this fit holds values of real records, because emit_original asked for them; "
                "release copies instead of saving it, or fit without emit_original"
            )
        if self.plan.keep:
            raise PrivacyError(
                f"this fit holds the real values of {', '.join(self.plan.keep)}, which keep= asked for; "
                "release copies instead of saving it, or fit without keep="
            )

    def _refuse_to_save(self) -> None:
        """Keep real values, and accounts that must stay single, out of files."""
        self._refuse_real_values()
        if self.account.by_sampling:
            raise PrivacyError(
                "every draw from this fit costs, and a saved fit would have a second account; "
                "release copies instead of saving it"
            )

    @classmethod
    def load(cls, path: str | Path) -> FittedSynthesizer:
        """Read what :meth:`save` wrote; its account goes on from the draws made before.

        Raises
        ------
        ReleaseError
            If the file is not a saved fit, or damaged.
        """
        parts = fit_file.load(Path(path))
        account = Account()
        for n_syn, copies in parts["draws"]:
            account.charge(n_syn=n_syn, copies=copies)
        return cls(parts["machine"], parts["n_org"], parts["workers"], None, account)

    def to_table(self) -> Table:
        """Build a card of methods and predictors; no number but the rows depends on the data."""
        plan = self.plan.to_table()
        rows = "not published" if n_is_confidential(self.plan) else self.n_org
        facts = (("rows fitted", rows), ("copies drawn so far", self.account.copies), *plan.facts)
        return replace(plan, title="Fitted synthesizer", facts=facts)
