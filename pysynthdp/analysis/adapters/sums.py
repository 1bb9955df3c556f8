"""Fits by sums over blocks of rows, which this package makes of large copies."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from pysynthdp.analysis.coded_design import bases_of, codings_of, members_of
from pysynthdp.analysis.description import Description
from pysynthdp.analysis.estimates import ADAPTERS, Estimates, adapter_for
from pysynthdp.analysis.sums.fitted import SumsFit
from pysynthdp.base.arrays import FloatArray

__all__ = ["SumsAdapter"]


@ADAPTERS.register
class SumsAdapter:
    """Reads what sums said; statsmodels is asked for a likelihood."""

    name: ClassVar[str] = "sums"

    def accepts(self, fit: Any) -> bool:
        """Whether it is such a fit."""
        return isinstance(fit, SumsFit)

    def estimates(self, fit: Any) -> Estimates:
        """Terms, values and covariance."""
        names = tuple(map(str, fit.params.index))
        return Estimates(
            names,
            np.asarray(fit.params, dtype=np.float64),
            fit.covariance,
            df=float(fit.df_resid) if fit.use_t else None,
            nobs=fit.nobs,
            formula=fit.model.formula,
            model=type(fit.model).__name__,
            about=_description(fit),
        )

    def loglike(self, fit: Any, values: FloatArray) -> float:
        """Log-likelihood at other parameters, by statsmodels."""
        full = fit.full()
        return adapter_for(full).loglike(full, values)


def _description(fit: SumsFit) -> Description:
    """Read what the fit says of its model."""
    family, design = getattr(fit.model, "family", None), fit.model.data.design_info
    return Description(
        formula=fit.model.formula,
        response=fit.model.formula.partition("~")[0].strip(),
        family=None if family is None else f"{type(family).__name__}, {type(family.link).__name__}",
        covariance=None if fit.cov_type == "nonrobust" else fit.cov_type,
        members=members_of(design),
        codings=codings_of(design),
        bases=bases_of(design),
        rows=lambda: _rows(fit),
    )


def _rows(fit: SumsFit) -> pd.DataFrame | None:
    """Rows that entered."""
    frame: pd.DataFrame = fit.model.data.frame
    labels = fit.model.data.row_labels
    if len(labels) == len(frame):
        return frame
    return frame.loc[labels] if frame.index.is_unique else None
