"""What every formal guarantee can do, and the registry that finds them by file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.registry import Registry
from pysynthdp.privacy.domain import positive, upward

__all__ = ["GUARANTEES", "Guarantee", "checked_shares", "guarantee_from_dict", "guarantee_to_dict"]


@runtime_checkable
class Guarantee(Protocol):
    """A bound on how well two neighbouring tables can be told apart by what is released.

    Attributes
    ----------
    name : str
        Registry name, the file's name.
    """

    name: ClassVar[str]

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon shown to hold at ``delta``; ``inf`` where none is."""
        ...

    def delta(self, epsilon: float) -> float:
        """Smallest delta shown to hold at ``epsilon``; at most one."""
        ...

    def renyi(self, orders: FloatArray) -> FloatArray:
        """Bound on the Renyi divergence at each order above one (``inf`` is the order of pure epsilon)."""
        ...

    def split(self, shares: Sequence[float]) -> tuple[Self, ...]:
        """Parts in proportion to ``shares`` that compose to this guarantee."""
        ...

    @classmethod
    def compose(cls, parts: Sequence[Self]) -> Self:
        """Guarantee of all parts together, each chosen after seeing the outputs before it."""
        ...


GUARANTEES: Registry[type[Guarantee]] = Registry(
    "pysynthdp.privacy.guarantees", PrivacyError, group="pysynthdp.guarantees"
)


def checked_shares(shares: Sequence[float]) -> tuple[float, ...]:
    """Scale shares so that they sum to at most one; each must be positive."""
    weights = [positive("every share", share) for share in shares]
    if not weights:
        raise PrivacyError("shares must hold at least one number", kind="guarantee")
    total = upward(math.fsum(weights))
    return tuple(weight / total for weight in weights)


def _plain(value: Any) -> Any:
    """Turn a field into what JSON can hold; infinity becomes the word."""
    if isinstance(value, np.ndarray | tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else "inf"
    return value


def _parsed(value: Any) -> Any:
    """Undo :func:`_plain`; lists come back as tuples."""
    if isinstance(value, list):
        return tuple(_parsed(item) for item in value)
    return float("inf") if value == "inf" else value


def guarantee_to_dict(guarantee: Guarantee) -> dict[str, Any]:
    """Write a guarantee as plain values: its registry name and its parameters.

    Notes
    -----
    Privacy: post-processing of public constants.

    Examples
    --------
    >>> from pysynthdp.privacy.guarantees.none import NoGuarantee
    >>> guarantee_to_dict(NoGuarantee())
    {'name': 'none'}
    """
    values = {field.name: _plain(getattr(guarantee, field.name)) for field in fields(guarantee)}  # type: ignore[arg-type]  # every guarantee is a dataclass
    return {"name": guarantee.name, **values}


def guarantee_from_dict(plain: Mapping[str, Any]) -> Guarantee:
    """Read what :func:`guarantee_to_dict` wrote.

    Raises
    ------
    PrivacyError
        For an unknown name or wrong parameters; write the dict with ``guarantee_to_dict``.

    Notes
    -----
    Privacy: post-processing of public constants.
    """
    values = {key: _parsed(value) for key, value in plain.items() if key != "name"}
    try:
        return GUARANTEES[str(plain["name"])](**values)
    except (TypeError, KeyError) as problem:
        raise PrivacyError(
            "this is not a saved guarantee", kind="guarantee", remedy="its parameters do not fit its name"
        ) from problem
