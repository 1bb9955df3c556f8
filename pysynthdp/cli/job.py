"""``pysynthdp job``: check an approved job, plan, run and resume it, report what was done, clear up."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError
from pysynthdp.cli.exit_codes import Exit, exit_of
from pysynthdp.cli.options import Debug, JsonObject, Quiet
from pysynthdp.cli.run import reporting, this_run
from pysynthdp.cli.signals import finish, stop_resumable

if TYPE_CHECKING:
    from pysynthdp.jobs.checked import CheckedJob
    from pysynthdp.jobs.log import JobLog

__all__ = ["job"]

job = typer.Typer(
    name="job",
    help="Approved jobs: one file says all, a run that dies is resumed, and the budget is spent once.",
    no_args_is_help=True,
)

JobFile = Annotated[Path, typer.Argument(metavar="JOB.toml", help="The job file.", show_default=False)]
SiteFile = Annotated[
    Path | None,
    typer.Option("--site", help="The site's policy; PYSYNTHDP_SITE names it otherwise.", show_default=False),
]
LogFile = Annotated[
    Path | None,
    typer.Option("--log", help="Log, JSON a line, to add to; in the job's folder else.", show_default=False),
]
By = Annotated[
    str | None, typer.Option("--override", help="Who lets it go beyond the limit.", show_default=False)
]
Second = Annotated[str | None, typer.Option(help="The other one who does.", show_default=False)]
Reason = Annotated[str | None, typer.Option(help="Why, in one line.", show_default=False)]


def _keys(wanted: bool) -> None:
    """Print the keys of a job file and of a site's policy, and stop."""
    if wanted:
        from pysynthdp.jobs.keys import JOB_KEYS, SITE_KEYS

        for table, keys in (*JOB_KEYS.items(), ("site.toml", SITE_KEYS)):
            typer.echo(f"[{table}]" if table else "at the top")
            typer.echo("\n".join(f"  {name:<20}{key.about}" for name, key in keys.items()))
        typer.echo("[plan]\n  the keys of a plan file: pysynthdp plan --keys")
        raise typer.Exit


@job.command()
@reporting()
def check(
    file: JobFile,
    site: SiteFile = None,
    *,
    expand: Annotated[bool, typer.Option("--expand", help="Print the job with every default.")] = False,
    keys: Annotated[  # noqa: ARG001
        bool, typer.Option("--keys", callback=_keys, is_eager=True, help="List every key, and stop.")
    ] = False,
    as_object: JsonObject = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Check a job file, its approval and its budget, without reading a row; show the digest to approve."""
    checked = _checked(file, site)
    text = checked.job.expanded() if expand else f"{file} may be run; its digest is {checked.job.digest}"
    this_run().end(text, {"job": checked.job.name, "digest": checked.job.digest, "expanded": text})


@job.command()
@reporting()
def plan(
    file: JobFile,
    site: SiteFile = None,
    *,
    as_object: JsonObject = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Show steps, price, time and memory of a run, without reading a row."""
    from pysynthdp.jobs.checked import check_budget
    from pysynthdp.jobs.header import check_columns
    from pysynthdp.jobs.planned import planned_job

    checked = _checked(file, site, paid=False)
    check_columns(checked)
    planned = planned_job(checked)
    own = planned.checked.plan
    this_run().end("\n\n".join([str(planned), *([] if own is None else [str(own)])]), planned.to_dict())
    check_budget(planned.checked)


@job.command()
@reporting()
def run(
    file: JobFile,
    site: SiteFile = None,
    log: LogFile = None,
    override: By = None,
    second: Second = None,
    reason: Reason = None,
    *,
    anew: Annotated[
        bool, typer.Option("--anew", help="Take an unfinished run away, and begin again.")
    ] = False,
    quiet: Quiet = False,  # noqa: ARG001
    as_object: JsonObject = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Run a job."""
    _go(file, site, log, {"by": override, "second": second, "reason": reason}, anew=anew)


@job.command()
@reporting()
def resume(
    file: JobFile,
    site: SiteFile = None,
    log: LogFile = None,
    override: By = None,
    second: Second = None,
    reason: Reason = None,
    *,
    quiet: Quiet = False,  # noqa: ARG001
    as_object: JsonObject = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Go on where the last run of a job ended; run it, if none has begun."""
    _go(file, site, log, {"by": override, "second": second, "reason": reason}, resume=True)


@job.command()
@reporting()
def report(
    file: JobFile,
    *,
    as_object: JsonObject = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Show what was run, how it ended, and what lies where, for the ticket."""
    from pysynthdp.jobs.job_file import read_job
    from pysynthdp.jobs.reported import reported_job

    found = reported_job(read_job(file))
    this_run().end(str(found), found.to_dict())


@job.command()
@reporting()
def purge(
    file: JobFile,
    *,
    state: Annotated[
        bool, typer.Option("--state", help="An unfinished run, which cannot be resumed then.")
    ] = False,
    quarantine: Annotated[bool, typer.Option("--quarantine", help="Copies that a gate stopped.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="The whole folder of the job, with its log; not the release.")
    ] = False,
    as_object: JsonObject = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Delete what a job keeps beside its release; what was reserved in a ledger counts for ever."""
    from pysynthdp.jobs.job_file import read_job
    from pysynthdp.jobs.purging import purged

    if not (state or quarantine or everything):
        raise PlanError("say what to delete: --state, --quarantine or --all", kind="command")
    gone = purged(read_job(file), state=state, quarantine=quarantine, everything=everything)
    names = [str(path) for path in gone]
    this_run().end("\n".join(f"deleted {name}" for name in names) or "nothing was there", {"deleted": names})


def _checked(file: Path, site: Path | None, *, paid: bool = True) -> CheckedJob:
    """Check a job by the policy of the site, and whether its source can pay."""
    from pysynthdp.jobs.checked import check_budget, checked_job
    from pysynthdp.jobs.header import check_columns
    from pysynthdp.jobs.site import read_site

    found = checked_job(file, read_site(site))
    if paid:
        check_columns(found)
        check_budget(found)
    return found


def _go(
    file: Path,
    site: Path | None,
    log: Path | None,
    leave: Mapping[str, str | None],
    *,
    resume: bool = False,
    anew: bool = False,
) -> None:
    """Run or resume, with all of it in the log."""
    from pysynthdp.jobs.job_file import read_job
    from pysynthdp.jobs.log import JobLog
    from pysynthdp.jobs.places import Places
    from pysynthdp.jobs.running import run_job

    stop_resumable()
    named = read_job(file)
    places = Places(named.output.folder)
    places.make()
    told = JobLog(log or places.log, named.name, secrets.token_hex(4), this_run().log)
    with _logged(told, "resume" if resume else "run"):
        override = _override(leave)
        checked = _checked(file, site, paid=False)
        told.line("job", digest=checked.job.digest, **_approved(checked))
        done = run_job(checked, told, resume=resume, anew=anew, override=override)
    finish()
    said = "was made before" if done.before else "is made"
    gates = [{"gate": one.gate, "value": one.value, "limit": one.limit} for one in done.outcomes]
    this_run().end(
        f"{done.folder} {said}", {"folder": str(done.folder), "gates": gates, "log": str(told.path)}
    )


def _override(leave: Mapping[str, str | None]) -> Any:
    """Take leave to spend more, which needs two names and a reason."""
    given = [value for value in leave.values() if value is not None]
    if not given:
        return None
    if len(given) < len(leave):
        raise PlanError("--override, --second and --reason go together", kind="command")
    return sdp.Override(**{name: str(value) for name, value in leave.items()})


def _approved(checked: CheckedJob) -> dict[str, Any]:
    """Say by whom it was approved."""
    found = checked.job.approval
    return {} if found is None else {"approval": found.reference, "approved_by": found.approved_by}


@contextmanager
def _logged(log: JobLog, how: str) -> Iterator[None]:
    """Write when a run begins, and how it ends, whatever ends it."""
    log.line("start", how=how, software=f"pysynthdp {sdp.__version__}")
    try:
        yield
    except SystemExit as left:
        log.line("fault", level="error", kind="signal", what="stopped by a signal")
        log.end(int(left.code or 0))
        raise
    except Exception as error:
        log.fault(error, exit_of(error))
        raise
    log.end(Exit.DONE)
