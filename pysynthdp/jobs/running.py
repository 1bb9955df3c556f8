"""A run of a job: lock, input, fit, draw, gates, release; each step can die, and the next run goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from pysynthdp.base.errors import PlanError, PrivacyError, ReleaseError, SchemaError
from pysynthdp.design.survey_table import SurveyTable
from pysynthdp.io.durable import appearing_file, moved
from pysynthdp.io.folder.manifest import MANIFEST, digest_of, read_manifest
from pysynthdp.io.ledger import Override, SpendingLedger
from pysynthdp.io.survey import reads
from pysynthdp.jobs.checked import CheckedJob, check_budget
from pysynthdp.jobs.documents import written_reports
from pysynthdp.jobs.evaluated import Evaluated
from pysynthdp.jobs.gates import Outcome, looked_at
from pysynthdp.jobs.header import check_columns
from pysynthdp.jobs.limits import keeping
from pysynthdp.jobs.lock import locked
from pysynthdp.jobs.log import JobLog
from pysynthdp.jobs.places import Places
from pysynthdp.jobs.prices import check_price, known_price
from pysynthdp.jobs.state import Record, State, input_digest, read_record, root_of, write_record
from pysynthdp.jobs.uninterrupted import uninterrupted
from pysynthdp.synthesizer.fitted import FittedSynthesizer
from pysynthdp.synthesizer.synthesizer import Synthesizer
from pysynthdp.synthesizer.table_file import count_rows, rows_of_file

__all__ = ["Done", "run_job"]

_DECLARED: Final = ("schema", "levels", "missing", "bounds")
_VERSION: Final = version("pysynthdp")
_DRAWS_COST: Final = "at each draw"


@dataclass(frozen=True, slots=True)
class Done:
    """A run that ended well.

    Parameters
    ----------
    folder : Path
        The release.
    outcomes : tuple of Outcome
        What the gates saw; empty where the run had ended before.
    before : bool
        Whether it had ended before, and nothing was left to do.
    """

    folder: Path
    outcomes: tuple[Outcome, ...] = ()
    before: bool = False


def run_job(
    checked: CheckedJob,
    log: JobLog,
    *,
    resume: bool = False,
    anew: bool = False,
    override: Override | None = None,
) -> Done:
    """Run a job, or go on where its last run ended.

    Parameters
    ----------
    checked : CheckedJob
        What was checked before a row is read.
    log : JobLog
        Where the run tells what it does.
    resume : bool
        Whether to go on with an unfinished run, where there is one; without it one is refused.
    anew : bool
        Whether to take an unfinished run away first; under a guarantee that spends again.
    override : Override, optional
        Leave to spend more than the limit.

    Returns
    -------
    Done

    Raises
    ------
    ReleaseError
        If a gate fails; the copies are in quarantine then. If the input or the job is not the one that the
        unfinished run began with.
    BudgetExceeded
        If it costs more than is left.
    PrivacyError
        If it costs more than its own gates let pass.
    PysynthdpError
        As :meth:`pysynthdp.Synthesizer.fit` and :meth:`pysynthdp.FittedSynthesizer.draw_to`.

    Notes
    -----
    Privacy: reads real rows; spends budget once, however often it dies and is resumed, but for a guarantee by
    the draw itself, where copies that were begun stay charged.
    """
    places = checked.places
    with locked(places.lock, lambda text: log.tell(text, "lock")), log.hearing():
        run = _Run(checked, places, log, override)
        ended = run.ended(resume=resume)
        if ended is not None:
            return ended
        run.begin(resume=resume, anew=anew)
        with keeping(checked.job.limits):
            run.take_input()
            if not places.draft.exists():
                run.draw(run.affordable(run.fit()))
            return run.release()


@dataclass(slots=True)
class _Run:
    """One run, under its lock."""

    checked: CheckedJob
    places: Places
    log: JobLog
    override: Override | None
    state: State | None = None
    table: Any = None
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def learns(self) -> bool:
        """Whether anything may be learned from rows."""
        return self.checked.protection.learns

    @property
    def begun(self) -> State:
        """What the run goes on from."""
        if self.state is None:
            raise RuntimeError("no run was begun")
        return self.state

    def ended(self, *, resume: bool) -> Done | None:
        """See whether the last run of this job ended, or died after it had only to be cleared up."""
        record, state = read_record(self.places), State.read(self.places)
        if record is None or self.places.draft.exists() or not (resume or state):
            return None
        if state is not None and state.run != record.run:
            return None
        if record.what != self.checked.job.what:
            raise _changed("the job, its codebook or its query was changed since its last run, which ended")
        self.places.clear_state()
        there = record.copies(self.places)
        if record.failed:
            raise _failed(record.failed, there)
        self.log.tell(f"run {record.run} of this job has ended, and nothing is left to do")
        return Done(there, before=True)

    def begin(self, *, resume: bool, anew: bool) -> None:
        """Go on with an unfinished run, or begin one."""
        _refuse_output(self.places.folder)
        if anew:
            self.places.clear_state()
        self.state = State.read(self.places)
        if self.state is not None:
            self._go_on(self.state, resume=resume)
        if not self.places.draft.exists():
            check_budget(self.checked, self.override)
        if self.state is None:
            check_columns(self.checked)
            self.places.record.unlink(missing_ok=True)  # of a run before this one
        self.places.make_state()

    def _go_on(self, state: State, *, resume: bool) -> None:
        """Refuse an unfinished run that is not to be resumed, or not of this job."""
        if not resume:
            spent = "" if self.learns else ", which spends again"
            raise PlanError(
                "a run of this job has not ended",
                kind="unfinished",
                remedy=f"job resume goes on with it; job run --anew takes it away and begins again{spent}",
            )
        if state.what != self.checked.job.what:
            raise _changed("the job, its codebook or its query was changed since this run was begun")
        if state.software != _VERSION:
            raise _changed(f"this run was begun by version {state.software}, and this is {_VERSION}")
        self.log.tell(f"resumes run {state.run}", "resume", resumes=state.run)

    def take_input(self) -> None:
        """See that the input is the one that was declared, and that the run was begun with."""
        job = self.checked.job
        keyed = self._checked_file(job.input.path) if job.input.path is not None else ""
        self.log.line("input", source=keyed or None)
        if self.state is not None:
            if self.state.source != keyed:
                raise _changed("the input was changed since this run was begun")
            return
        root = root_of(job.sample.seed_file, job.name)
        self.state = State(self.log.run, job.what, keyed, root, _VERSION).write(self.places)

    def _checked_file(self, path: Path) -> str:
        """Digest the file of the table."""
        with self.log.step("input", told=self.learns):
            try:
                keyed, plain = input_digest(path, self.places)
            except OSError as error:
                raise SchemaError(
                    f"{path} cannot be read: {error.strerror or type(error).__name__}", kind="input"
                ) from error
        declared = self.checked.job.input.sha256
        if declared is None or declared.lower() == plain:
            return keyed
        what = f"{path} is not the file that input.sha256 declares"
        if self.state is not None:
            raise _changed(what)
        raise SchemaError(what, kind="input", remedy="take the right file, or have the job approved anew")

    def read(self) -> Any:
        """Read the table, once."""
        if self.table is None:
            job, asked = self.checked.job, self.checked.settings
            declared = {name: asked[name] for name in _DECLARED if name in asked}
            drop = {*asked.get("drop", ())} - {self.checked.protection.unit.key}
            disk = {"scratch": asked["scratch"], "scratch_encrypt": asked["scratch_encrypt"]}
            with self.log.step("read", told=self.learns) as step:
                self.table = rows_of_file(
                    job.input.source(), declared, job.reading(), learns=self.learns, drop=drop, disk=disk
                )
                if self.learns:
                    step.rows, step.columns = count_rows(self.table), len(self.table.columns)
            self.settings = job.settings({str(name): kind for name, kind in self.table.dtypes.items()})
        return self.table

    def fit(self) -> FittedSynthesizer:
        """Fit, or read what was noised before."""
        noised = self.checked.protection.answers_on_file
        complete = noised and self.begun.fitted and not self._has_labels()
        table = None if complete else self.read()
        synthesizer = Synthesizer(**(self.settings or self.checked.settings))
        paying = self._paying()
        with self.log.step("fit", told=self.learns) as step:
            fitted = synthesizer.fit(
                table,
                block_rows=self.checked.job.limits.block_rows,
                answers=self.places.answers if noised else None,
                **paying,
            )
            step.columns = len(fitted.schema.names)
        if noised:
            self.state = self.begun.after_fit(self.places)
        self._write_plan(fitted)
        return fitted

    def _has_labels(self) -> bool:
        """Whether the file says itself what its columns are."""
        path = self.checked.job.input.path
        return path is not None and reads(path)

    def _paying(self) -> dict[str, Any]:
        """Say who pays."""
        job = self.checked.job
        if job.budget.ledger is None:
            return {}
        path = job.input.path
        file = path if path is not None and path.is_file() else None
        ledger = SpendingLedger(job.budget.ledger, job=job.what, file=file, override=self.override)
        return {"ledger": ledger, "source": job.budget.source}

    def _write_plan(self, fitted: FittedSynthesizer) -> None:
        """Write who is drawn from whom, where it is asked for."""
        if "plan" in self.checked.job.output.documents:
            with appearing_file(self.places.plan_page) as file:
                file.write("INTERNAL: for those who hold the confidential table\n\n")
                file.write(fitted.plan.to_table().said("shell").to_text() + "\n")

    def affordable(self, fitted: FittedSynthesizer) -> FittedSynthesizer:
        """Refuse draws that cost more than the gates let pass, now that plan and public rows are known."""
        job, protection = self.checked.job, self.checked.protection
        if protection.spends != _DRAWS_COST or not protection.n_told:
            return fitted
        try:
            check_price(job, protection, known_price(job, protection, fitted.plan, fitted.n_org))
        except PrivacyError:
            self.places.clear_state()
            raise
        return fitted

    def draw(self, fitted: FittedSynthesizer) -> None:
        """Draw the copies into the folder of the unfinished run."""
        job = self.checked.job
        free = self.checked.protection.spends != _DRAWS_COST
        with self.log.step("draw") as step:
            fitted.draw_to(
                self.places.draft,
                job.sample.m,
                job.sample.rows,
                rng=self.begun.sequence if free else None,
                formats=job.output.formats,
                watermark=job.output.watermark,
                sign=job.output.sign,
            )
            made = read_manifest(self.places.draft)
            step.rows, step.more = made["n_syn"], {"copies": made["m"]}

    def release(self) -> Done:
        """Let the copies pass the gates, or put them into quarantine."""
        seen = Evaluated(self.checked.job, self.places.draft, self._frame)
        with self.log.step("gates"):
            outcomes = looked_at(seen)
        for each in outcomes:
            self.log.tell(each.said, "gate", gate=each.gate, value=each.value, limit=each.limit, ok=each.ok)
        self._write_reports(seen)
        failed = tuple((each.kind, each.said) for each in outcomes if not each.ok)
        record = self._record(outcomes, failed)
        there = record.copies(self.places)
        if failed:
            self.places.quarantine.mkdir(mode=0o700, exist_ok=True)
        else:
            _refuse_output(there)
        with uninterrupted():
            write_record(record, self.places)
            moved(self.places.draft, there)
            self.places.clear_state()
        if failed:
            raise _failed(failed, there)
        self.log.tell(f"written to {there}", "released")
        for each in sorted(read_manifest(there)["files"], key=lambda file: str(file["name"])):
            self.log.line("file", **each)
        return Done(there, outcomes)

    def _write_reports(self, seen: Evaluated) -> None:
        """Write the reports that are asked for, of copies that no gate has stopped yet."""
        job = self.checked.job
        if not {"board", "note"} & {*job.output.documents}:
            return
        with self.log.step("documents", told=self.learns):
            paths = list(written_reports(seen, self.places.own))
        for path in paths:
            self.log.tell(f"written: {path}", "document")

    def _frame(self) -> Any:
        """Give the confidential table in memory, for gates that compare."""
        table = self.read()
        return table if isinstance(table, SurveyTable) else table.take(table.columns)

    def _record(self, outcomes: tuple[Outcome, ...], failed: tuple[tuple[str, str], ...]) -> Record:
        """Say how the run ends."""
        state, job = self.begun, self.checked.job
        return Record(
            run=state.run,
            what=job.what,
            digest=job.digest,
            source=state.source,
            software=state.software,
            manifest=digest_of(self.places.draft / MANIFEST),
            failed=failed,
            gates=tuple((each.gate, each.value, each.limit, each.ok) for each in outcomes),
        )


def _refuse_output(folder: Path) -> None:
    """Never write over what is there."""
    if folder.exists():
        raise PlanError(
            f"output.folder: {folder} exists already", kind="folder", remedy="move it away, or name another"
        )


def _changed(what: str) -> ReleaseError:
    """Refuse to go on with another thing than was begun."""
    return ReleaseError(
        what,
        kind="job changed",
        remedy="give back what it was and resume, or begin again with job run --anew",
    )


def _failed(failed: tuple[tuple[str, str], ...], there: Path) -> ReleaseError:
    """Say which gates failed; what may tell of people weighs more than what may be of little use."""
    worst = "disclosure gate" if any(kind == "disclosure gate" for kind, _ in failed) else "quality gate"
    told = "; ".join(said for _, said in failed)
    return ReleaseError(f"{told}; the copies are in quarantine, {there}", kind=worst)
