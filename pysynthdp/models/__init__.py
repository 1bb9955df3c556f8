"""Column models, one file each; a new file is found by the registry.

The classes are here by name: ``from pysynthdp.models import Norm, Gaussian``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pysynthdp.models.base import COLUMN_MODELS

if TYPE_CHECKING:  # the registry finds a file without a line here; the line gives the name its type
    from pysynthdp.models.cart import Cart as Cart
    from pysynthdp.models.cells import Cells as Cells
    from pysynthdp.models.constant import Constant as Constant
    from pysynthdp.models.cubertnorm import CubeRtNorm as CubeRtNorm
    from pysynthdp.models.dirichlet import Dirichlet as Dirichlet
    from pysynthdp.models.gaussian import Gaussian as Gaussian
    from pysynthdp.models.gaussian_floor import GaussianFloor as GaussianFloor
    from pysynthdp.models.joint.catall import CatAll as CatAll
    from pysynthdp.models.joint.linear_statistics import LinearStatistics as LinearStatistics
    from pysynthdp.models.joint.multivariate_normal import MultivariateNormal as MultivariateNormal
    from pysynthdp.models.lognorm import LogNorm as LogNorm
    from pysynthdp.models.logreg import LogReg as LogReg
    from pysynthdp.models.logridge import LogRidge as LogRidge
    from pysynthdp.models.negbin import NegBin as NegBin
    from pysynthdp.models.norm import Norm as Norm
    from pysynthdp.models.normrank import NormRank as NormRank
    from pysynthdp.models.normspread import NormSpread as NormSpread
    from pysynthdp.models.poisson import Poisson as Poisson
    from pysynthdp.models.polr import PolR as PolR
    from pysynthdp.models.polyreg import PolyReg as PolyReg
    from pysynthdp.models.residual import Residual as Residual
    from pysynthdp.models.ridge import Ridge as Ridge
    from pysynthdp.models.sample import Sample as Sample
    from pysynthdp.models.sqrtnorm import SqrtNorm as SqrtNorm


def _classes() -> dict[str, Any]:
    """Every registered model by the name of its class."""
    return {COLUMN_MODELS[name].__name__: COLUMN_MODELS[name] for name in COLUMN_MODELS}


def __getattr__(name: str) -> Any:
    if name.startswith("_") or not name[:1].isupper() or name not in _classes():
        msg = f"module 'pysynthdp.models' has no attribute {name!r}"
        raise AttributeError(msg)
    return _classes()[name]


def __dir__() -> list[str]:
    return sorted(_classes())
