"""What a job will cost, as far as public facts tell, and gates that look at it before it is spent."""

from __future__ import annotations

from collections.abc import Iterator

from pysynthdp.base.display import number
from pysynthdp.base.errors import PrivacyError
from pysynthdp.jobs.gates import said_epsilons, said_rho
from pysynthdp.jobs.job_file import Job
from pysynthdp.plan import Protection, SynthesisPlan
from pysynthdp.privacy.guarantee import Guarantee

__all__ = ["check_price", "known_price"]


def known_price(
    job: Job, protection: Protection, plan: SynthesisPlan | None, n: int | None
) -> Guarantee | None:
    """Price all copies of a job.

    Parameters
    ----------
    job : Job
        With its sample.
    protection : Protection
        What is priced.
    plan : SynthesisPlan or None
        Who is drawn from whom, where that is known.
    n : int or None
        Public number of rows, where it is known.

    Returns
    -------
    Guarantee or None
        At most this is spent; None where there is no guarantee, where its protection states no price, and
        where draws cost and plan or rows are not known yet.

    Notes
    -----
    Privacy: settings and public constants.
    """
    if protection.spends == "at the fit":
        try:
            return protection.price_of_fit()
        except PrivacyError:  # one of another package, or noise for tests, which a ledger refuses by itself
            return None
    if protection.spends == "nothing" or plan is None or n is None:
        return None
    return plan.price(n=n, n_syn=job.sample.rows, m=job.sample.m).guarantee


def check_price(job: Job, protection: Protection, price: Guarantee | None) -> None:
    """Refuse a job that costs more than its own gates let pass, while nothing is spent.

    Parameters
    ----------
    job : Job
        With its gates.
    protection : Protection
        Says where epsilon is quoted.
    price : Guarantee or None
        As :func:`known_price` gives it; without one the statement alone decides, when copies are there.

    Raises
    ------
    PrivacyError
        If so.

    Notes
    -----
    Privacy: settings and public constants.
    """
    if price is None:
        return
    for gate, what, limit in _too_much(job, protection, price):
        raise PrivacyError(
            f"gates.{gate} lets at most {number(limit)} pass, and {job.sample.m} copies by this plan cost "
            f"{what}; nothing was spent",
            kind="price gate",
            remedy="let [plan.guarantee] or [sample] cost less, or have another gate approved",
        )


def _too_much(job: Job, protection: Protection, price: Guarantee) -> Iterator[tuple[str, str, float]]:
    """Yield the gates that the price does not pass."""
    rho, epsilon = job.gates.max_rho, job.gates.max_epsilon
    if rho is not None and (found := said_rho(price)) > rho:
        yield "max_rho", f"rho = {number(found)}", rho
    if epsilon is None:
        return
    for delta, cost in said_epsilons(price, protection.quoted):
        if cost > epsilon:
            yield "max_epsilon", f"epsilon = {number(cost)} at delta = {delta:g}", epsilon
