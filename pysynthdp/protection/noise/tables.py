"""The tables of a plan that are asked about: one, or of units one of these and one of further rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pysynthdp.base.errors import PrivacyError
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.unit_plan import UnitPlan, of_before, of_first
from pysynthdp.privacy.domain import downward
from pysynthdp.privacy.unit import Relation
from pysynthdp.protection.noise.budget import NoiseBudget

__all__ = ["FIRST", "FURTHER", "NoisedTable", "tables_of"]

FIRST: Final = "units and first rows"
FURTHER: Final = "further rows"
_SHARE_OF_UNITS: Final = 0.5  # of the budget, for the table of units; the rest is for their further rows


@dataclass(frozen=True, slots=True)
class NoisedTable:
    """A table, and what its questions may cost.

    Parameters
    ----------
    plan : SynthesisPlan
        Of its columns.
    rho : float
        Budget of one of its rows in one release.
    rows : int
        The most rows of one unit in it.
    relation : {"replace_one", "add_remove"}
        Which tables are neighbours.
    counted : bool
        Whether the number of its rows is confidential, and a noisy answer.
    label : str
        What it holds of a unit; empty where a table is all there is.
    hints : mapping column -> (centre, spread)
        Public guesses, of columns of the first row and the row before as of the row's own.

    Notes
    -----
    Privacy: public constants. A unit moves a sum by ``rows`` times what one row does at most, whether it is
    replaced, by one of more or fewer rows too, or comes or goes: see :class:`NoisyMoments`.
    """

    plan: SynthesisPlan
    rho: float
    rows: int
    relation: Relation
    counted: bool
    label: str = ""
    hints: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def tables_of(plan: SynthesisPlan, noise: NoiseBudget) -> tuple[NoisedTable, ...]:
    """Divide a budget over the tables of a plan.

    Parameters
    ----------
    plan : SynthesisPlan
        Of one table, or of units.
    noise : NoiseBudget
        The budget of one unit.

    Returns
    -------
    tuple of NoisedTable

    Raises
    ------
    PrivacyError
        If units are wholes for the one and not for the other, so that rows would be counted by a wrong rule.

    Notes
    -----
    Privacy: settings only. A unit has one row in the table of units, and in that of further rows as many as
    it may have besides; both are asked, so their costs add up. Half of the budget is for each.
    """
    unit, relation = noise.unit, noise.unit.relation
    counted = relation == "add_remove"
    if not isinstance(plan, UnitPlan):
        if unit.whole:
            raise PrivacyError(
                "whole is for plans of units, and this plan has none",
                kind="unit",
                remedy="leave whole out of the PrivacyUnit",
            )
        return (NoisedTable(plan, noise.row_rho, unit.rows_per_unit, relation, counted, hints=noise.hints),)
    if not unit.whole:
        raise PrivacyError(
            "this plan draws whole units, and the guarantee is not for such",
            kind="unit",
            remedy="make the plan by a Synthesizer with units and this guarantee",
        )
    (places,) = plan.places
    most = len(places.places)
    first = downward(noise.row_rho * _SHARE_OF_UNITS)
    rest = downward(noise.row_rho * (1 - _SHARE_OF_UNITS) / most**2)
    return (
        NoisedTable(plan.first, first, 1, relation, counted, FIRST, noise.hints),
        NoisedTable(places.plan, rest, most, relation, True, FURTHER, _beside(noise.hints)),
    )


def _beside(hints: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Take the guesses for the first row and the row before too."""
    called = (str, of_first, of_before)
    return {each(name): guess for name, guess in hints.items() for each in called}
