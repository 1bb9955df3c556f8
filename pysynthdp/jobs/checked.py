"""A job that was checked: all that can be known to be wrong with it before a row is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.io.folder.formats import wishes
from pysynthdp.io.folder.signature import signer_of
from pysynthdp.io.ledger import Override, SpendingLedger
from pysynthdp.io.survey import reads
from pysynthdp.jobs.documents import check_documents
from pysynthdp.jobs.gates import check_gates
from pysynthdp.jobs.job_file import Job, read_job
from pysynthdp.jobs.limits import check_limits
from pysynthdp.jobs.places import Places
from pysynthdp.jobs.prices import check_price, known_price
from pysynthdp.jobs.site import Site, check_approval, under
from pysynthdp.plan import Protection, SynthesisPlan
from pysynthdp.plan.protection import protection_of
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.synthesizer.synthesizer import Synthesizer

__all__ = ["CheckedJob", "check_budget", "checked_job"]


@dataclass(frozen=True, slots=True, repr=False)
class CheckedJob:
    """A job that may be run.

    Parameters
    ----------
    job : Job
        With the limits of the site.
    settings : mapping
        Of the synthesizer.
    protection : Protection
        How the table is protected.
    plan : SynthesisPlan or None
        Who is drawn from whom; None where that is learned from the table.
    places : Places
        Where everything lies.
    """

    job: Job
    settings: Mapping[str, Any]
    protection: Protection
    plan: SynthesisPlan | None
    places: Places

    @property
    def price(self) -> Guarantee | None:
        """At most what all copies cost; None where that is nothing, or not known before the table is read."""
        return known_price(self.job, self.protection, self.plan, self.job.input.n)


def checked_job(path: str | Path, site: Site) -> CheckedJob:
    """Read a job file and check all that can be checked before a row is read.

    Parameters
    ----------
    path : path
        The job file.
    site : Site
        What the agency asks of it.

    Raises
    ------
    PlanError
        If a key, a setting, a format, a gate or a limit is wrong.
    PrivacyError
        If an approval lacks or has run out.

    Notes
    -----
    Privacy: reads no record.
    """
    job = read_job(path)
    protection = protection_of(job.settings().get("guarantee"))
    job = under(site, job, job.settings(), spends=protection.spends != "nothing")
    check_approval(job, site)
    check_limits(job.limits)
    settings = job.settings()
    check_gates(job, learns=protection.learns)
    check_documents(job, learns=protection.learns)
    _check_sample(job, protection)
    synthesizer = Synthesizer(**settings)
    declared = synthesizer.schema is not None
    plan = synthesizer.plan() if declared else None
    if plan is None and not protection.learns and not (job.input.path is not None and reads(job.input.path)):
        raise PrivacyError(
            "a formal guarantee takes nothing from the data, and the plan names no codebook",
            kind="undeclared",
            remedy="declare every column in a codebook: plan.codebook",
        )
    wished = wishes("parquet", job.output.formats, job.output.watermark)
    if plan is not None:
        wished.check_names(plan.schema.names)
    if job.output.sign is not None:
        signer_of(job.output.sign)
    _check_file(job)
    if job.budget.ledger is not None and protection.spends == "nothing":
        raise PlanError(
            "[budget] pays for a guarantee, and the plan has none", kind="ledger", remedy="leave it out"
        )
    return CheckedJob(job, settings, protection, plan, Places(job.output.folder))


def _check_sample(job: Job, protection: Protection) -> None:
    """Refuse a sample that the protection does not draw."""
    protection.copies(job.sample.m)
    if not protection.n_told and job.sample.rows is None:
        raise PlanError(
            "sample.k: under add_remove neighbours the number of rows is confidential",
            kind="rows",
            remedy="give k from public facts",
        )
    if protection.spends == "at each draw" and job.sample.seed_file is not None:
        raise PlanError(
            "sample.seed_file: where the draw itself protects, it comes from the system's entropy",
            kind="setting",
            remedy="leave it out",
        )


def _check_file(job: Job) -> None:
    """Refuse a file that is not there."""
    path = job.input.path
    if path is not None and not path.exists():
        raise PlanError(f"input.path: there is no {path}", kind="file", remedy="check the name")


def check_budget(checked: CheckedJob, override: Override | None = None) -> None:
    """Refuse what costs more than its gates let pass, or could not be paid, before a row is read.

    Parameters
    ----------
    checked : CheckedJob
        The job.
    override : Override, optional
        Leave to spend more than the limit.

    Raises
    ------
    BudgetExceeded
        If it costs more than is left; what an unfinished run has noised was reserved, and is not asked again.
    PrivacyError
        If the ledger knows no such source, or a gate would not let such a price pass.
    """
    job, protection = checked.job, checked.protection
    check_price(job, protection, checked.price)
    if job.budget.ledger is None or job.budget.source is None:
        return
    reserved = checked.places.answers.exists()
    price = None if reserved else protection.price_of_fit() or checked.price
    ledger = SpendingLedger(job.budget.ledger, job=job.what, override=override)
    ledger.attempt(job.budget.source, protection.unit, job="").check(price)
