"""Ask for a guarantee by noise in the answers: paid once at the fit, draws free."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scipy.optimize import brentq

from pysynthdp.errors import PrivacyError
from pysynthdp.privacy.convert_zcdp import zcdp_epsilon
from pysynthdp.privacy.domain import downward
from pysynthdp.privacy.guarantees.approx import ApproxDP
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.unit import PrivacyUnit

__all__ = ["NoiseInAnswers", "noise_asked"]


@dataclass(frozen=True, slots=True)
class NoiseInAnswers:
    """What the noise must guarantee, and how.

    Parameters
    ----------
    rho : float
        zCDP budget of one unit over everything that is asked.
    unit : PrivacyUnit
        Whose record is protected, and what neighbours are.
    deltas : tuple of float
        Where the statement quotes (epsilon, delta).
    fresh : int
        Number of copies that each get noisy answers of their own, with an equal part of rho; 0 for one noisy
        release that all copies come from.
    testing : bool
        Let the noise be seeded; everything is marked void then.
    hints : mapping column -> (centre, spread)
        Public guesses of mean and standard deviation; spread is better too large than too small.

    Notes
    -----
    Privacy: a setting; reads nothing.

    Examples
    --------
    >>> NoiseInAnswers(0.1).row_rho
    0.1
    """

    rho: float
    unit: PrivacyUnit = field(default_factory=PrivacyUnit)
    deltas: tuple[float, ...] = (1e-6,)
    fresh: int = 0
    testing: bool = False
    hints: tuple[tuple[str, float, float], ...] = ()

    def __post_init__(self) -> None:
        if not self.deltas or any(not 0 < delta < 1 for delta in self.deltas):
            raise PrivacyError("deltas must lie strictly between 0 and 1; give for example deltas=(1e-6,)")
        if isinstance(self.fresh, bool) or self.fresh < 0:
            raise PrivacyError("fresh_noise must be a number of copies, or 0 for one noisy release")

    @property
    def releases(self) -> int:
        """Noisy releases that share the budget."""
        return max(self.fresh, 1)

    @property
    def row_rho(self) -> float:
        """Budget of one row in one release: group privacy divides by the square of the rows of a unit."""
        parts = self.releases * self.unit.rows_per_unit**2
        return self.rho if parts == 1 else downward(self.rho / parts)


def noise_asked(
    guarantee: Any,
    *,
    unit: PrivacyUnit,
    deltas: tuple[float, ...] = (1e-6,),
    fresh: int = 0,
    testing: bool = False,
    hints: tuple[tuple[str, float, float], ...] = (),
) -> NoiseInAnswers:
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
    >>> round(noise_asked(ApproxDP(1.0, 1e-6), unit=PrivacyUnit()).rho, 4)
    0.0244
    """
    if isinstance(guarantee, ZCDP):
        return NoiseInAnswers(guarantee.rho, unit, deltas, fresh, testing, hints)
    if isinstance(guarantee, ApproxDP):
        rho = _rho_within(guarantee)
        return NoiseInAnswers(rho, unit, (guarantee.at_delta,), fresh, testing, hints)
    name = getattr(guarantee, "name", type(guarantee).__name__)
    why = "discrete Gaussian noise is not proved to be" if name == "gdp" else "noisy answers do not give"
    raise PrivacyError(f"{why} {name!r}; ask for ZCDP(rho=...) or ApproxDP(eps=..., at_delta=...)")


def _rho_within(asked: ApproxDP) -> float:
    """Largest rho whose epsilon at the delta stays within the asked one."""
    if asked.eps <= 0:
        raise PrivacyError("eps must be above zero, or no answer can be given")
    low, high = 1e-12, asked.eps + 1.0

    def gap(rho: float) -> float:
        return zcdp_epsilon(rho, asked.at_delta) - asked.eps

    if gap(low) > 0:
        raise PrivacyError("so small an eps at that delta leaves no budget; raise either")
    root = float(brentq(gap, low, high, xtol=1e-15, rtol=1e-13))
    while gap(root) > 0:
        root *= 1 - 1e-10
    return root
