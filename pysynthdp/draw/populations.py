"""Fits to samples of synthetic populations: a copy of each, and no more copies than populations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from pysynthdp.base.errors import PlanError
from pysynthdp.base.remarks import Remark, say
from pysynthdp.base.streams import RandomSource
from pysynthdp.base.words import Words
from pysynthdp.draw.machine import Charged, Drawing
from pysynthdp.draw.nested import NestedDrawing, NestedMachine, nest_root
from pysynthdp.draw.tally import Tally
from pysynthdp.plan.fit import CopyParameters
from pysynthdp.schema.survey_design import written
from pysynthdp.tags.release_tags import Nesting

__all__ = ["PopulationDrawing", "PopulationMachine"]

FEW: Final = 10  # populations, below which intervals say little


@dataclass(frozen=True, slots=True, repr=False)
class PopulationMachine(NestedMachine):
    """One plan, a fit of it to the sample of each synthetic population, and the one account of their draws.

    Notes
    -----
    Privacy: as the fits. Nothing is drawn but through :meth:`start`.
    """

    @property
    def imputed(self) -> int:
        """One table was fitted, which nobody imputed."""
        return 1

    @property
    def rows(self) -> int:
        """As many as the populations' samples have, which the rule that pools copies takes for granted."""
        return self.fit.n if self.plan.design is None else self.plan.design.sample_rows(self.fit.n)

    def copies(self, m: int | None) -> int:
        """Give the number of copies: one a population, or fewer.

        Raises
        ------
        PlanError
            For more copies than there are populations.
        """
        most = len(self.fits)
        if isinstance(m, int) and m > most:
            raise PlanError(
                f"a copy is drawn from each synthetic population, and this fit has {most} of them",
                kind="copies",
                remedy=Words("fit with {more}", more=written(how="population", populations=m)),
            )
        return most if m is None else self.plan.protection.copies(m)

    def start(
        self, *, m: int, n_syn: int, rng: RandomSource = None, parameters: CopyParameters | None = None
    ) -> PopulationDrawing:
        """Charge a copy of each of the first m populations to the account, then give what draws them.

        Raises
        ------
        PlanError
            For copies that are not as long as the populations' samples.

        Notes
        -----
        Privacy: spends nothing, as no guarantee has populations.
        """
        if n_syn != self.rows:
            raise PlanError(
                f"copies of synthetic populations have the {self.rows:,} rows of the populations' samples: "
                "the rule that pools them takes off as much variance for the copy as for the sample",
                kind="copies",
                remedy=Words(
                    "leave k out, or fit with {sample}", sample=written(how="population", sample=int(n_syn))
                ),
            )
        fits = [replace(fit, source=fit.source.sharing(parameters)) for fit in self.fits[: self.copies(m)]]
        if len(fits) < FEW:
            say((_few_remark(),))
        root, seeded = self.plan.protection.root(rng)
        self.account.charge(n_syn=int(n_syn), copies=len(fits), seeded=seeded)
        tally = Tally()
        return PopulationDrawing(
            tuple(
                Drawing(self.plan, fit, nest_root(root, number), Charged(1, int(n_syn)), tally)
                for number, fit in enumerate(fits)
            )
        )


def _few_remark() -> Remark:
    """Say that intervals are wide, or missing."""
    return Remark(
        "",
        "few populations",
        f"copies of fewer than {FEW} synthetic populations: the rule that pools them takes variances off, so "
        "that intervals are wide, or missing",
        Words("draw 20, of a fit with {more}", more=written(how="population", populations=20)),
    )


@dataclass(frozen=True, slots=True, repr=False)
class PopulationDrawing(NestedDrawing):
    """A copy of each population that was charged."""

    @property
    def nests(self) -> None:
        """No population has more than one copy."""
        return

    @property
    def nesting(self) -> Nesting:
        """The first stage made populations."""
        return "pseudo_population"
