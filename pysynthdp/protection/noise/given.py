"""Who is drawn from whom where answers are noised: in moment order, whatever the visit sequence."""

from __future__ import annotations

from pysynthdp.design.encode import Layout, n_features
from pysynthdp.plan import SynthesisPlan, Terms
from pysynthdp.protection.noise.moments.design import moment_designs

__all__ = ["given_columns"]


def given_columns(plan: SynthesisPlan) -> tuple[Terms, ...]:
    """Name for each step the other columns that it is drawn from, in the order in which they are drawn.

    Notes
    -----
    Privacy: declared facts only.
    """
    layout = Layout(tuple(step.targets[0] for step in plan.steps), {})
    owners = ["", *(part.column for part in layout.parts for _ in range(n_features(part)))]
    found = []
    for step, design in zip(plan.steps, moment_designs(plan, layout), strict=True):
        own = step.targets[0].column
        names = dict.fromkeys(owners[i] for (i,) in design.features[1:] if owners[i] != own)
        found.append(tuple((name,) for name in names))
    return tuple(found)
