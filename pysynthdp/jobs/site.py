"""What an agency asks of every job: the policy in ``site.toml``, and whether a job's approval holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpError
from pysynthdp.base.toml_text import read_toml, refuse_unknown
from pysynthdp.jobs.job_file import Approval, Job, Limits
from pysynthdp.jobs.keys import SITE_KEYS, JobToml, taken

__all__ = ["Site", "check_approval", "read_site", "under"]

VARIABLE: Final = "PYSYNTHDP_SITE"
_USUAL: Final = Path("/etc/pysynthdp/site.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The policy of a site; see ``SITE_KEYS`` for each key."""

    require_approval: bool = False
    require_guarantee: bool = False
    require_ledger: bool = False
    require_sha256: bool = False
    ledgers: tuple[str, ...] = ()
    output_folders: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    memory_gb: float | None = None
    workers: int | None = None
    scratch: Path | None = None


def read_site(path: Path | None = None) -> Site:
    """Read the policy: of a path, of the file that ``PYSYNTHDP_SITE`` names, or the one in ``/etc``.

    Raises
    ------
    PlanError
        If the file that is named cannot be read, or has a key that is not known.
    """
    named = path or os.environ.get(VARIABLE)
    file = Path(named) if named else _USUAL
    if not named and not file.exists():
        return Site()
    content = read_toml(file, PlanError)
    refuse_unknown(content, SITE_KEYS, where=str(file), error=PlanError)
    values = taken(content, SITE_KEYS, JobToml(file.parent), f"{file}: ")
    listed: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
    }
    return Site(**listed)


def under(site: Site, job: Job, settings: Mapping[str, Any], *, spends: bool) -> Job:
    """Refuse what the site does not allow, and give a job the site's limits where it names none.

    Parameters
    ----------
    site : Site
        Policy.
    job : Job
        Of the file.
    settings : mapping
        Of its plan.
    spends : bool
        Whether it has a guarantee, which costs.

    Raises
    ------
    PrivacyError
        If an approval or a guarantee lacks.
    PlanError
        For anything else.
    """
    for fault in _faults(site, job, guaranteed=settings.get("guarantee") is not None, spends=spends):
        raise fault
    own = job.limits
    if own.memory_gb is not None and site.memory_gb is not None and own.memory_gb > site.memory_gb:
        raise _not_here(f"limits.memory_gb is at most {site.memory_gb:g}")
    if own.workers is not None and site.workers is not None and own.workers > site.workers:
        raise _not_here(f"limits.workers is at most {site.workers}")
    limits: Limits = replace(
        own,
        memory_gb=own.memory_gb or site.memory_gb,
        workers=own.workers or site.workers,
        scratch=own.scratch or site.scratch,
    )
    return replace(job, limits=limits)


def _faults(site: Site, job: Job, *, guaranteed: bool, spends: bool) -> list[PysynthdpError]:
    """List what the site asks for and the job has not."""
    found: list[PysynthdpError] = []
    if site.require_approval and job.approval is None:
        found.append(
            PrivacyError("this site runs approved jobs alone, and the job has no [approval]", kind="approval")
        )
    if site.require_guarantee and not guaranteed:
        found.append(PrivacyError("this site asks for a guarantee, and the plan has none", kind="approval"))
    if site.require_ledger and spends and job.budget.ledger is None:
        found.append(
            PrivacyError("this site asks for a ledger, and the job has no [budget]", kind="approval")
        )
    if site.ledgers and job.budget.ledger is not None and job.budget.ledger not in site.ledgers:
        found.append(_not_here("budget.ledger is one of those of this site"))
    if site.require_sha256 and job.input.path is not None and job.input.sha256 is None:
        found.append(_not_here("input.sha256 is given"))
    if site.formats and set(job.output.formats) - set(site.formats):
        found.append(_not_here(f"output.formats are among {', '.join(site.formats)}"))
    here = job.output.folder.resolve()
    if site.output_folders and not any(
        here.is_relative_to(Path(one).resolve()) for one in site.output_folders
    ):
        found.append(_not_here("output.folder lies below one of the site's output_folders"))
    return found


def _refused(what: str) -> PrivacyError:
    """Refuse what lacks an approval of some kind."""
    return PrivacyError(what, kind="approval")


def _not_here(rule: str) -> PlanError:
    """Refuse what breaks a rule of the site."""
    return PlanError(f"a rule of this site: {rule}", kind="site", remedy="see site.toml")


def check_approval(job: Job, site: Site, today: date | None = None) -> None:
    """Refuse a job whose approval has run out, or is of another job.

    Raises
    ------
    PrivacyError
        If so, or if the site asks for an approval and a key of it lacks.
    """
    approval = job.approval
    if approval is None:
        return
    keys = ("reference", "approved_by", "job_sha256", "expires")
    lacking = [key for key in keys if getattr(approval, key) is None]
    if site.require_approval and lacking:
        raise PrivacyError(f"this site asks for approval.{lacking[0]}", kind="approval")
    _check_digest(approval, job)
    now = today or datetime.now(UTC).astimezone().date()
    if approval.expires is not None and now > approval.expires:
        raise PrivacyError(
            f"the approval of this job ended on {approval.expires}", kind="approval", remedy="have it renewed"
        )


def _check_digest(approval: Approval, job: Job) -> None:
    """Refuse another job than the one that was approved."""
    if approval.job_sha256 is not None and approval.job_sha256.lower() != job.digest:
        raise PrivacyError(
            "approval.job_sha256 is of another job: this one, its codebook or its query was changed since",
            kind="approval",
            remedy="have it approved again; pysynthdp job check shows its digest",
        )
