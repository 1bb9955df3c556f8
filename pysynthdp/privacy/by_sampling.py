"""Ask that the draw itself carries the guarantee: nothing is noised, every record drawn costs."""

from __future__ import annotations

from dataclasses import dataclass, field

from pysynthdp.errors import PrivacyError
from pysynthdp.privacy.unit import PrivacyUnit

__all__ = ["BySampling"]


@dataclass(frozen=True, slots=True)
class BySampling:
    """A guarantee from the sampling randomness alone.

    Parameters
    ----------
    unit : PrivacyUnit
        Whose record is protected, and what neighbours are.
    deltas : tuple of float
        Where the statement quotes (epsilon, delta).
    exact : bool
        Draw from exact samplers with the operating system's entropy, so that the guarantee is the implemented
        one; otherwise it is about real arithmetic and the statement says ``idealised``.

    Raises
    ------
    PrivacyError
        For a delta outside (0, 1), or a unit that is no PrivacyUnit.

    Notes
    -----
    Privacy: a setting. Every column's model must carry a price, and everything it uses must be declared.

    Examples
    --------
    >>> BySampling(deltas=(1e-6,)).exact
    False
    """

    unit: PrivacyUnit = field(default_factory=PrivacyUnit)
    deltas: tuple[float, ...] = (1e-6,)
    exact: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.unit, PrivacyUnit):
            raise PrivacyError("unit must be a PrivacyUnit; write unit=PrivacyUnit(name='person')")
        if not isinstance(self.exact, bool):
            raise PrivacyError("exact must be True or False")
        if not self.deltas or any(not 0 < delta < 1 for delta in self.deltas):
            raise PrivacyError("deltas must lie strictly between 0 and 1; give for example deltas=(1e-6,)")
