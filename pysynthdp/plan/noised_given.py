"""Who is drawn from whom where answers are noised: in moment order, whatever the visit sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from pysynthdp.design.encode import Layout, n_features
from pysynthdp.plan.noised import moment_designs

if TYPE_CHECKING:
    from pysynthdp.plan.synthesis_plan import SynthesisPlan

__all__ = ["given_columns", "predictor_matrix"]


def given_columns(plan: SynthesisPlan) -> tuple[tuple[str, ...], ...]:
    """Name for each step the other columns that it is drawn from, in the order in which they are drawn.

    Notes
    -----
    Privacy: declared facts only.
    """
    layout = Layout(tuple(step.targets[0] for step in plan.steps), {})
    owners = ["", *(part.column for part in layout.parts for _ in range(n_features(part)))]
    return tuple(
        tuple(dict.fromkeys(owners[i] for (i,) in design.features[1:] if owners[i] != step.targets[0].column))
        for step, design in zip(plan.steps, moment_designs(plan, layout), strict=True)
    )


def predictor_matrix(plan: SynthesisPlan) -> pd.DataFrame:
    """1 where the row's column is drawn from the column's.

    Notes
    -----
    Privacy: declared facts only.
    """
    names = list(plan.schema.names)
    matrix = pd.DataFrame(0, index=names, columns=names)
    for step, given in zip(plan.steps, given_columns(plan), strict=True):
        matrix.loc[step.targets[0].column, list(given)] = 1
    return matrix
