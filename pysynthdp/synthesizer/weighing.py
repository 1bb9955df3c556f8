"""What rows of a survey weigh in the fits."""

from __future__ import annotations

from typing import Any

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Words
from pysynthdp.curator.design_rows import fit_weights
from pysynthdp.design.rows import Rows
from pysynthdp.plan import SynthesisPlan
from pysynthdp.schema.survey_design import written

__all__ = ["weights_of"]


def weights_of(plan: SynthesisPlan, rows: Rows | None) -> tuple[FloatArray | None, tuple[Remark, ...]]:
    """Give what rows of a survey weigh in the fits; beside it, that they do not where a model takes none.

    Notes
    -----
    Privacy: reads real weights; nothing under a guarantee, where no design stays real.
    """
    weights = None if rows is None or not plan.protection.learns else fit_weights(rows, plan.design)
    models = [(step, step.model) for step in plan.steps]
    unfit = [step for step, model in models if getattr(model, "counts_rows", False) or _of_rows(model)]
    if weights is None or not unfit:
        return weights, ()
    name = unfit[0].targets[0].column
    what = Words(
        "method '{model}' takes rows without weights, so that every column is fitted without them: weighted "
        "means and slopes of copies may be off where a model is only near",
        model=unfit[0].model.name,
    )
    mend = Words("choose another method for it, or say {own}", own=written(weighted=False))
    return None, (Remark(name, "weights", what, mend),)


def _of_rows(model: Any) -> bool:
    """Whether a model asks for whole rows."""
    return bool(getattr(model, "emit_original", False))
