"""What of a model can be fitted by sums over rows: the model, its settings, its covariance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import statsmodels.api as sm
from statsmodels.genmod import families

from pysynthdp.analysis.failures import Job

__all__ = ["Request", "Robust", "read_request"]

_KINDS: Final[Mapping[Any, str]] = {sm.OLS: "OLS", sm.WLS: "WLS", sm.GLM: "GLM", sm.Logit: "Logit"}
_BESIDE: Final[Mapping[str, frozenset[str]]] = {
    "OLS": frozenset(),
    "WLS": frozenset(["weights"]),
    "GLM": frozenset(["var_weights", "offset", "exposure"]),
    "Logit": frozenset(),
}
_CANONICAL: Final = {
    families.Gaussian: families.links.Identity,
    families.Binomial: families.links.Logit,
    families.Poisson: families.links.Log,
    families.Gamma: families.links.InversePower,
    families.InverseGaussian: families.links.InverseSquared,
}
_FIT: Final = frozenset(["cov_type", "cov_kwds", "use_t"])
_WHITE: Final = frozenset(["HC0", "HC1", "HC2", "HC3"])


@dataclass(frozen=True, slots=True)
class Robust:
    """A covariance by sums of the rows' own scores.

    Parameters
    ----------
    kind : str
        ``HC0`` to ``HC3``, or ``cluster``.
    groups : str or None
        Column of the clusters.
    corrected : bool
        Whether clusters are corrected for their number.
    """

    kind: str
    groups: str | None = None
    corrected: bool = True


@dataclass(frozen=True, slots=True)
class Request:
    """A model that sums can fit.

    Parameters
    ----------
    kind : str
        Class of statsmodels: ``OLS``, ``WLS``, ``GLM``, ``Logit``.
    family : object
        Of a GLM.
    beside : mapping of str to str
        Settings that name a column: weights, offset, exposure.
    robust : Robust or None
        None for the covariance that goes with the model.
    named : str
        The covariance as the user wrote it.
    use_t : bool
        Whether estimates are referred to a t distribution.
    """

    kind: str
    family: Any
    beside: Mapping[str, str]
    robust: Robust | None
    named: str
    use_t: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that settings name, each once."""
        groups = self.robust.groups if self.robust is not None else None
        return tuple(dict.fromkeys([*self.beside.values(), *([groups] if groups else [])]))


def read_request(job: Job, known: frozenset[str]) -> Request | None:
    """Read a job; None for whatever statsmodels has to fit itself.

    Parameters
    ----------
    job : Job
        One model for all copies.
    known : frozenset of str
        Columns at hand.

    Notes
    -----
    Privacy: settings only.
    """
    kind = _KINDS.get(getattr(job.maker, "__self__", None), "")
    options = {name: value for name, value in job.options.items() if value is not None}
    family = options.pop("family", None)
    given = {name: value for name, value in job.fit_options.items() if value is not None}
    robust = _robust(given.get("cov_type", "nonrobust"), dict(given.get("cov_kwds") or {}))
    if robust is False or not given.keys() <= _FIT or not _are_ours(kind, family, options, robust):
        return None
    use_t = bool(given.get("use_t", kind in {"OLS", "WLS"} and robust is None))
    named = str(given.get("cov_type", "nonrobust"))
    request = Request(kind, family, options, robust, named, use_t)
    return request if known.issuperset(request.columns) else None


def _are_ours(kind: str, family: Any, options: Mapping[str, Any], robust: Robust | None) -> bool:
    """Whether a model and its settings are those that sums can fit."""
    if not options.keys() <= _BESIDE.get(kind, frozenset()) or kind not in _BESIDE:
        return False
    if not all(isinstance(each, str) for each in options.values()) or (kind == "WLS" and not options):
        return False
    canonical = type(getattr(family, "link", None)) is _CANONICAL.get(type(family))
    if (kind == "GLM") != (family is not None) or (family is not None and not canonical):
        return False
    clustered = robust is not None and robust.kind == "cluster"
    logged = "exposure" not in options or isinstance(family, families.Poisson)
    return logged and not ("var_weights" in options and clustered)


def _robust(kind: Any, kwds: Mapping[str, Any]) -> Robust | Literal[False] | None:
    """Read a covariance; None for the ordinary one, False for one that we do not know."""
    if kind == "nonrobust" and not kwds:
        return None
    if str(kind).upper() in _WHITE and not kwds:
        return Robust(str(kind).upper())
    grouped = str(kind).lower() == "cluster" and isinstance(kwds.get("groups"), str)
    if not grouped or not kwds.keys() <= {"groups", "use_correction", "df_correction"}:
        return False
    return Robust("cluster", str(kwds["groups"]), bool(kwds.get("use_correction", True)))
