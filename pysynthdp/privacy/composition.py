"""Composition over columns, copies and draws (J1), textbook composition, group privacy and subsampling."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.conversion.textbook import basic_composition
from pysynthdp.privacy.domain import count, upward
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.guarantees.approx import ApproxDP
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.none import NoGuarantee
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.guarantees.rdp import RDP
from pysynthdp.privacy.guarantees.zcdp import ZCDP

__all__ = [
    "compose",
    "group_privacy",
    "repeat",
]


def compose(parts: Sequence[Guarantee]) -> Guarantee:
    """Add the losses of several releases from the same table, each chosen after seeing those before it.

    Parameters
    ----------
    parts : sequence of Guarantee
        At least one.

    Returns
    -------
    Guarantee
        ``NoGuarantee`` if any part has none; the common kind where all agree; zCDP for GDP beside zCDP; else
        the sum of the curves on the public grid of orders.

    Raises
    ------
    PrivacyError
        For no parts, or an (epsilon, delta) pair beside another kind: a pair has no curve. Give the
        mechanism's Renyi form instead.

    Notes
    -----
    Privacy: post-processing of numbers. J1: tau(a) = sum of tau_j(a) (Mironov 2017, Prop. 1); a record
    contributes to every column, so columns add.

    Examples
    --------
    >>> compose([ZCDP(0.1), ZCDP(0.2)]).rho > 0.3 - 1e-12
    True
    """
    if not parts:
        raise PrivacyError("there is nothing to compose", kind="domain", remedy="give at least one guarantee")
    if any(isinstance(part, NoGuarantee) for part in parts):
        return NoGuarantee()
    kind = type(parts[0])
    if all(type(part) is kind for part in parts):
        return kind.compose(parts)
    return _mixed(parts)


def _mixed(parts: Sequence[Guarantee]) -> Guarantee:
    """Compose different kinds on the most exact scale that they share."""
    if all(isinstance(part, PureDP | ApproxDP) for part in parts):
        return basic_composition(parts)
    if any(isinstance(part, ApproxDP) for part in parts):
        raise PrivacyError(
            "an (epsilon, delta) pair has no Renyi curve to add",
            kind="domain",
            remedy="give the mechanism's Renyi form",
        )
    if all(isinstance(part, ZCDP | GDP) for part in parts):
        return ZCDP.compose([part if isinstance(part, ZCDP) else ZCDP(upward(_rho(part))) for part in parts])
    return RDP.compose([part if isinstance(part, RDP) else RDP.of(part) for part in parts])


def _rho(part: Guarantee) -> float:
    """Squared shift by two."""
    return part.rho if isinstance(part, GDP | ZCDP) else math.inf


def repeat(part: Guarantee, times: int) -> Guarantee:
    """Compose a guarantee with itself, in closed form.

    Parameters
    ----------
    part : Guarantee
        The loss of one release.
    times : int
        Number of releases, at least one.

    Returns
    -------
    Guarantee
        Of the same kind.

    Raises
    ------
    PrivacyError
        For ``times`` below one, or an unknown kind; compose those part by part.

    Notes
    -----
    Privacy: post-processing of numbers (J1).

    Examples
    --------
    >>> round(repeat(PureDP(0.1), 10).eps, 12)
    1.0
    """
    times = count("times", times)
    match part:
        case NoGuarantee():
            return part
        case PureDP(eps):
            return PureDP(upward(eps * times))
        case ZCDP(rho):
            return ZCDP(upward(rho * times))
        case GDP(mu):
            return GDP(upward(mu * math.sqrt(times)))
        case ApproxDP(eps, delta):
            return ApproxDP(upward(eps * times), upward(delta * times))
        case RDP(taus):
            return RDP.from_curve(np.asarray(taus) * upward(times))
    raise PrivacyError(
        f"{part.name!r} cannot be repeated in closed form", kind="domain", remedy="compose a list of it"
    )


def group_privacy(part: PureDP | ZCDP | GDP, size: int) -> PureDP | ZCDP | GDP:
    """Protect groups: tables that differ by ``size`` neighbouring steps.

    Parameters
    ----------
    part : PureDP, ZCDP or GDP
        For one step.
    size : int
        Number of steps; 2 turns add-or-remove-one into replace-one.

    Returns
    -------
    PureDP, ZCDP or GDP
        size eps, size^2 rho, size mu.

    Raises
    ------
    PrivacyError
        For ``size`` below one; count the records of a unit.

    Notes
    -----
    Privacy: post-processing of numbers. A0: rho_R <= 4 rho_A, eps_R <= 2 eps_A (Bun and Steinke 2016, Prop.
    1.9; Dong, Roth and Su 2022, Theorem 2.14).

    Examples
    --------
    >>> round(group_privacy(ZCDP(0.1), 2).rho, 12)
    0.4
    """
    size = count("size", size)
    if isinstance(part, PureDP):
        return PureDP(upward(part.eps * size))
    if isinstance(part, ZCDP):
        return ZCDP(upward(part.rho * size**2))
    return GDP(upward(part.mu * size))
