"""What noise in the answers must guarantee: the settings, and the budget of one row that they come to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final, Protocol

import scipy

from pysynthdp.base.checks import as_number
from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.words import Said, Words
from pysynthdp.privacy.conversion.zcdp import zcdp_epsilon
from pysynthdp.privacy.domain import checked_deltas
from pysynthdp.privacy.guarantees.approx import ApproxDP
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.unit import PrivacyUnit

__all__ = ["NoiseBudget", "deltas_of", "hints_of", "in_plain_numbers", "rho_of"]

_DELTAS = (1e-6,)
_ZCDP: Final = Said("ZCDP(rho=...)", '{ name = "zcdp", rho = ... }', "zcdp(rho = ...)")
_APPROX: Final = Said(
    "ApproxDP(eps=..., at_delta=...)",
    '{ name = "approx", eps = ..., at_delta = ... }',
    "approx_dp(epsilon = ..., delta = ...)",
)


class NoiseBudget(Protocol):
    """What questions are asked with: the part of ``ByNoise`` that the rest of this room needs."""

    @property
    def unit(self) -> PrivacyUnit:
        """Whose record is protected, and what neighbours are."""
        ...

    @property
    def hints(self) -> Mapping[str, tuple[float, float]]:
        """Public guesses of centre and spread."""
        ...

    @property
    def testing(self) -> bool:
        """Whether everything is void."""
        ...

    @property
    def releases(self) -> int:
        """Noisy releases that share the budget."""
        ...

    @property
    def rho(self) -> float:
        """Budget of one unit in all releases."""
        ...

    @property
    def row_rho(self) -> float:
        """Budget of one row in one release."""
        ...

    @property
    def quoted(self) -> tuple[float, ...]:
        """Where (epsilon, delta) is quoted."""
        ...


def rho_of(guarantee: Any) -> float:
    """Turn an asked guarantee into a zCDP budget for discrete Gaussian noise.

    Raises
    ------
    PrivacyError
        For a kind that this noise does not have; ask for ZCDP or ApproxDP.

    Notes
    -----
    Privacy: a setting; reads nothing. (epsilon, delta) becomes the largest rho whose conversion stays within
    it.

    Examples
    --------
    >>> round(rho_of(ApproxDP(1.0, 1e-6)), 4)
    0.0244
    """
    if isinstance(guarantee, ZCDP):
        if not guarantee.rho > 0:
            raise PrivacyError("rho must be above zero, or no answer can be given", kind="budget")
        return guarantee.rho
    if isinstance(guarantee, ApproxDP):
        return _rho_within(guarantee)
    name = getattr(guarantee, "name", type(guarantee).__name__)
    why = "discrete Gaussian noise is not proved to be" if name == "gdp" else "noisy answers do not give"
    raise PrivacyError(
        f"{why} {name!r}",
        kind="budget",
        remedy=Words("ask for {zcdp} or {approx}", zcdp=_ZCDP, approx=_APPROX),
    )


def in_plain_numbers(guarantee: ZCDP | ApproxDP) -> ZCDP | ApproxDP:
    """Write its numbers as Python's own: no file holds a fraction, and it would say so when all is spent."""
    given = {item.name: getattr(guarantee, item.name) for item in fields(guarantee)}
    return type(guarantee)(**{name: n if isinstance(n, int) else float(n) for name, n in given.items()})


def deltas_of(guarantee: ZCDP | ApproxDP, given: Any) -> tuple[float, ...]:
    """Take deltas; a pair (epsilon, delta) has its own, beside which no other is kept."""
    if not isinstance(guarantee, ApproxDP):
        return checked_deltas(_DELTAS if given is None else given)
    own = (guarantee.at_delta,)
    if given is not None and checked_deltas(given) != own:
        raise PrivacyError(
            f"ApproxDP states its own delta, {guarantee.at_delta:g}",
            kind="budget",
            remedy=Words("leave deltas out, or ask for {zcdp}", zcdp=_ZCDP),
        )
    return own


def hints_of(given: Any) -> dict[str, tuple[float, float]]:
    """Take (centre, spread) of some columns."""
    if not isinstance(given, Mapping):
        raise PrivacyError("hints must be a mapping {'column': (centre, spread)}", kind="budget")
    return {name: _hint(name, pair) for name, pair in given.items()}


def _hint(name: str, pair: Any) -> tuple[float, float]:
    """Take one pair of numbers."""
    numbers = [as_number(part) for part in pair] if isinstance(pair, tuple | list) else []
    if len(numbers) != 2 or any(math.isnan(number) for number in numbers):
        raise PrivacyError(f"{name}: a hint is two numbers, (centre, spread)", column=name, kind="budget")
    return numbers[0], numbers[1]


def _rho_within(asked: ApproxDP) -> float:
    """Largest rho whose epsilon at the delta stays within the asked one."""
    if asked.eps <= 0:
        raise PrivacyError("eps must be above zero, or no answer can be given", kind="budget")
    low, high = 1e-12, asked.eps + 1.0

    def gap(rho: float) -> float:
        return zcdp_epsilon(rho, asked.at_delta) - asked.eps

    if gap(low) > 0:
        raise PrivacyError(
            "so small an eps at that delta leaves no budget", kind="budget", remedy="raise either"
        )
    root = float(scipy.optimize.brentq(gap, low, high, xtol=1e-15, rtol=1e-13))
    while gap(root) > 0:
        root *= 1 - 1e-10
    return root
