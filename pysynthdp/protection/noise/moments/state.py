"""The released moments of a table, the fit to them, and the parameters of any further copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.design.encode import Layout
from pysynthdp.models.base import FitTask
from pysynthdp.plan import Step, SynthesisPlan, target_of
from pysynthdp.plan.fit import CopyParameters
from pysynthdp.privacy.ledger import Ledger
from pysynthdp.protection.noise.moments.answers import Answers
from pysynthdp.protection.noise.moments.copies import implied_moments, normal_moments, sampled_moments
from pysynthdp.protection.noise.moments.design import moment_designs, moment_part
from pysynthdp.protection.noise.moments.fitting import Hidden, MomentFit, MomentStep, fit_steps
from pysynthdp.protection.noise.moments.released import fresh_moments, reduced_moments

__all__ = ["MomentState", "moment_state", "moment_steps", "owners_of"]

REDRAWS = 10
CHECKS = 100
SELDOM = 0.5  # of redraws accepted: below, the release is flagged as dominated by noise
TINY = 1e-6
STEEPEST = 10.0  # a slope between two levels, in units of the hint, that is beyond any real one
_SEED = 7  # of the acceptance rate alone, so that a fit says the same of itself each time


@dataclass(frozen=True, slots=True, repr=False)
class MomentState:
    """What was released, and the models fitted to it; holds no record.

    Parameters
    ----------
    answers : tuple of Answers
        One noisy release; several where each copy has its own.
    steps : tuple of MomentStep
        Of the plan.
    layout : Layout
        Where features lie.
    grams : tuple of arrays (features, features)
        The projected moments of each release.
    fits : tuple of MomentFit
        Fitted to them.
    acceptance : float
        Share of redrawn moments that leave every number residual variance.
    ledger : Ledger
        What the answers cost.
    hidden : Hidden
        What the noise hides of each number.
    """

    answers: tuple[Answers, ...]
    steps: tuple[MomentStep, ...]
    layout: Layout
    grams: tuple[FloatArray, ...]
    fits: tuple[MomentFit, ...]
    acceptance: float
    ledger: Ledger
    hidden: Hidden

    @property
    def numeric(self) -> bool:
        """Whether all columns are normal numbers: no categorical part, and none bent to a histogram."""
        return bool(self.fits[0].cells.codes.shape[1] == 0) and not self.answers[0].margins

    @property
    def balanced(self) -> bool:
        """Whether copies of the shared fit carry no interval, so that their rows need not be independent."""
        return len(self.answers) == 1 and not self.numeric

    @property
    def n(self) -> float:
        """Rows, as released."""
        return float(self.grams[0][0, 0])

    def parameters(self, copy: int, rng: np.random.Generator, mode: CopyParameters) -> list[Any]:
        """Parameters of one copy, one a step.

        Parameters
        ----------
        copy : int
            Its number; with a release of its own it takes that.
        rng : Generator
            Of the drawing.
        mode : {"drawn", "fitted"}
            Redrawn with fresh noise and sampling, or fitted once.

        Notes
        -----
        Privacy: post-processing.
        """
        if mode == "fitted" or len(self.answers) > 1:
            return list(self.fits[copy % len(self.fits)].params)
        return list(self._redrawn(rng).params)

    def _redrawn(self, rng: np.random.Generator) -> MomentFit:
        """Redraw the moments until they leave every number residual variance, at most ten times.

        Where they seldom do, the first draw is taken as it is: ten would seldom be any better.
        """
        answers, gram, fit = self.answers[0], self.grams[0], self.fits[0]
        if self.numeric:
            drawn, _ = normal_moments(answers, gram, rng)
            return fit_steps(self.steps, self.layout, drawn, hidden=self.hidden)
        for _ in range(REDRAWS if self.acceptance >= SELDOM else 1):
            drawn, knots = sampled_moments(answers, gram, fit, self.steps, rng)
            found = fit_steps(self.steps, self.layout, drawn, hidden=self.hidden, start=fit, knots=knots)
            if found.feasible:
                break
        return found


def moment_steps(plan: SynthesisPlan, layout: Layout, n: int) -> tuple[MomentStep, ...]:
    """Set every step of a plan up for the fit from moments."""
    designs = moment_designs(plan, layout)
    levels = [part.key for part in map(moment_part, plan.steps) if not part.numeric]
    found = []
    for step, design in zip(plan.steps, designs, strict=True):
        part = moment_part(step)
        names = tuple(layout.features[i] for (i,) in design.features)
        dummies = tuple(layout.dummies[i] for (i,) in design.features)
        targets = tuple(target_of(own, plan.schema[own.column]) for own in part.of)
        task = FitTask(target_of(part, plan.schema[part.column]), names, dummies, n, targets=targets)
        kind = levels.index((part.column, "kind")) if part.numeric and part.partial else -1
        found.append(MomentStep(part, step.model, task, design, kind))
    return tuple(found)


def owners_of(steps: Sequence[Step]) -> tuple[int, ...]:
    """For each number its own block of kinds among the blocks with several levels; -1 for none."""
    parts = [moment_part(step) for step in steps]
    blocks = [part.key for part in parts if len(part.levels) > 1]
    kinds = ((part.column, "kind") for part in parts if part.numeric)
    return tuple(blocks.index(kind) if kind in blocks else -1 for kind in kinds)


def moment_state(
    plan: SynthesisPlan, layout: Layout, answers: Sequence[Answers], ledger: Ledger
) -> MomentState:
    """Fit the models of a plan to its noisy answers.

    Parameters
    ----------
    plan : SynthesisPlan
        Whose steps are fitted from moments.
    layout : Layout
        In moment order.
    answers : sequence of Answers
        One release, or one a copy.
    ledger : Ledger
        What they cost.

    Returns
    -------
    MomentState

    Notes
    -----
    Privacy: post-processing of noised answers.
    """
    grams = tuple(reduced_moments(each) for each in answers)
    steps = moment_steps(plan, layout, max(round(float(grams[0][0, 0])), 1))
    hidden = _hidden(answers[0], float(grams[0][0, 0]))
    fits = tuple(
        fit_steps(steps, layout, gram, hidden=hidden, knots=knots_of(each))
        for gram, each in zip(grams, answers, strict=True)
    )
    accepted = _acceptance(answers[0], grams[0], fits[0], hidden)
    return MomentState(tuple(answers), steps, layout, grams, fits, accepted, ledger, hidden)


def knots_of(answers: Answers) -> dict[int, FloatArray]:
    """Quantile functions of the numbers whose shape was asked for."""
    return {number: margin.knots for number, margin in answers.margins.items()}


def _hidden(answers: Answers, n: float) -> Hidden:
    """Noise of each number's mean square, and of its sum within a level over the largest slope there is."""
    final, inverse, p = answers.budget.final, answers.whitening.inverse, answers.frame.numbers
    if answers.frame.blocks == (1,):  # a table of numbers: its redraws are positive definite already
        return Hidden(np.full(p, TINY), np.zeros(p))
    alpha = final.alpha or 1.0  # without numbers there is no weight
    spread = (inverse**2).sum(axis=1)
    variances = np.sqrt(2) * final.sd / (alpha**2 * max(n, 1.0)) * spread
    return Hidden(variances, final.sd / alpha * np.sqrt(spread) / STEEPEST)


def _acceptance(answers: Answers, gram: FloatArray, fit: MomentFit, hidden: Hidden) -> float:
    """Share of noise draws around the release that leave the numbers a positive definite residual spread."""
    width = fit.cells.X.shape[1]
    if width == len(gram):
        return 1.0
    rng = np.random.default_rng(_SEED)
    values, vectors = np.linalg.eigh(gram[0, 0] * implied_moments(fit.cells)[:width, :width])
    levels = (vectors * (values / (values**2 + hidden.rows.max() ** 2 + TINY))) @ vectors.T
    good = 0
    for _ in range(CHECKS):
        noisy = gram + fresh_moments(answers, rng)
        crossed = noisy[:width, width:]
        rest = noisy[width:, width:] - crossed.T @ levels @ crossed
        good += int(np.linalg.eigvalsh(rest)[0] > 0)
    return good / CHECKS
