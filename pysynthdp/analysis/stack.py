"""The estimates of all copies, stacked, and the sums that combining rules take from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pysynthdp.analysis.rules.base import Sums
from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.errors import CombiningRuleError
from pysynthdp.base.words import Argument, Words

__all__ = ["Stack", "stack"]

_ROUNDING = 8 * np.finfo(np.float64).eps


@dataclass(frozen=True, slots=True)
class Stack:
    """Estimates and variances of m copies.

    Parameters
    ----------
    q, u : array (m, ...)
        Estimates and their variances.
    U : array (m, p, p) or None
        Covariance matrices, where they were given.
    nests : array (m,) or None
        Number of the nest of each copy.
    n_syn, n_org : float or None
        Records in one copy and in the confidential file.
    df_com : array or None
        Degrees of freedom on complete data.
    noise_var, noise_cov : array or None
        Variance that privacy noise gives the estimates: entries, and matrix.
    n_eff : float or None
        Effective rows of the confidential file, where the release publishes them.
    """

    q: FloatArray
    u: FloatArray
    U: FloatArray | None = None
    nests: IntArray | None = None
    n_syn: float | None = None
    n_org: float | None = None
    df_com: FloatArray | None = None
    noise_var: FloatArray | None = None
    noise_cov: FloatArray | None = None
    n_eff: float | None = None

    @property
    def m(self) -> int:
        """Number of copies."""
        return int(self.q.shape[0])

    @property
    def qbar(self) -> FloatArray:
        """Mean estimate."""
        return np.asarray(self.q.mean(axis=0))

    def sums(self, *, nested: bool = False) -> Sums:
        """Within and between variation of each term."""
        q, u = self.q, self.u
        if not nested:
            b = _beyond_rounding(q.var(axis=0, ddof=1), q) if self.m > 1 else None
            return self._sums(self.m, u.mean(axis=0), b, 1, None)
        groups = self._grouped(q)
        m, r = groups.shape[:2]
        B = groups.mean(axis=1).var(axis=0, ddof=1) if m > 1 else None
        W = groups.var(axis=1, ddof=1).mean(axis=0) if r > 1 else None
        return self._sums(m, u.mean(axis=0), B, r, W)

    def matrices(self, *, nested: bool = False) -> Sums:
        """Within and between covariance matrices (p, p)."""
        if self.U is None:
            raise CombiningRuleError(
                "covariance matrices were not given; pass u with shape (m, p, p)", kind="estimates"
            )
        ubar = self.U.mean(axis=0)
        if not nested:
            b = _spread(self.q) if self.m > 1 else None
            return self._sums(self.m, ubar, b, 1, None, matrix=True)
        groups = self._grouped(self.q)
        m, r = groups.shape[:2]
        B = _spread(groups.mean(axis=1)) if m > 1 else None
        W = np.mean([_spread(group) for group in groups], axis=0) if r > 1 else None
        return self._sums(m, ubar, B, r, W, matrix=True)

    def _sums(
        self,
        m: int,
        ubar: FloatArray,
        b: FloatArray | None,
        r: int,
        W: FloatArray | None,
        *,
        matrix: bool = False,
    ) -> Sums:
        """Bind what all sums share."""
        noise = self.noise_cov if matrix else self.noise_var
        sizes = (self.n_syn, self.n_org, self.df_com)
        return Sums(m, np.asarray(ubar), b, *sizes, noise, r, W, self.n_eff)

    def _grouped(self, values: FloatArray) -> FloatArray:
        """Order (m r, ...) as (m, r, ...) by nest."""
        if self.nests is None:
            raise CombiningRuleError(
                "a nested rule needs the nest of every copy",
                kind="nests",
                remedy=Words("give {nests}", nests=Argument("nests")),
            )
        _, sizes = np.unique(self.nests, return_counts=True)
        if np.any(sizes != sizes[0]):
            raise CombiningRuleError(
                "nests hold different numbers of copies; keep as many copies in each", kind="estimates"
            )
        order = np.argsort(self.nests, kind="stable")
        return values[order].reshape(sizes.size, int(sizes[0]), *values.shape[1:])

    def subset(self, terms: IntArray) -> Stack:
        """Keep the given terms only."""
        U = None if self.U is None else self.U[:, terms[:, None], terms]
        cov = None if self.noise_cov is None else self.noise_cov[terms[:, None], terms]
        noise = None if self.noise_var is None else self.noise_var[terms]
        df = self.df_com[terms] if self.df_com is not None and self.df_com.ndim else self.df_com
        sizes = (self.n_syn, self.n_org)
        return Stack(self.q[:, terms], self.u[:, terms], U, self.nests, *sizes, df, noise, cov, self.n_eff)


def _beyond_rounding(b: FloatArray, q: FloatArray) -> FloatArray:
    """Zero where copies differ by the rounding of their last digits alone."""
    with np.errstate(invalid="ignore"):
        return np.where(b <= (_ROUNDING * np.abs(q).max(axis=0)) ** 2, 0.0, b)


def _spread(q: FloatArray) -> FloatArray:
    """Covariance matrix between rows, divisor rows - 1."""
    centred = q - q.mean(axis=0)
    return np.asarray(centred.T @ centred / (q.shape[0] - 1))


def stack(
    q: object,
    u: object,
    *,
    n_syn: float | None = None,
    n_org: float | None = None,
    df_com: object = None,
    noise_var: object = None,
    nests: Sequence[object] | None = None,
) -> Stack:
    """Check shapes and bind the estimates of m copies."""
    estimates, variances = _numbers(q, "q"), _numbers(u, "u")
    if estimates.ndim == 0 or estimates.shape[0] == 0:
        raise CombiningRuleError(
            "q needs one entry for each copy; give a sequence of m estimates", kind="estimates"
        )
    covariances = None
    if variances.ndim == estimates.ndim + 1:
        covariances = variances
        variances = np.diagonal(variances, axis1=-2, axis2=-1).copy()
    if variances.shape != estimates.shape or estimates.ndim > 2:
        raise CombiningRuleError(
            "shapes of q and u do not fit; give q (m,) with u (m,), or q (m, p) with u (m, p) or (m, p, p)",
            kind="estimates",
        )
    if np.any(variances < 0):
        raise CombiningRuleError(
            "u holds a negative variance; give squared standard errors", kind="estimates"
        )
    noise, noise_cov = _noise(noise_var, estimates.shape[1:])
    if noise is not None and noise_cov is None and covariances is not None:
        noise_cov = np.diag(noise)
    return Stack(
        estimates,
        variances,
        covariances,
        _nest_numbers(nests, estimates.shape[0]),
        _size(n_syn, "n_syn"),
        _size(n_org, "n_org"),
        None if df_com is None else _numbers(df_com, "df_com"),
        noise,
        noise_cov,
    )


def _numbers(values: object, name: str) -> FloatArray:
    """Turn an argument into floats."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise CombiningRuleError(
            f"{name} must hold numbers of one shape for all copies", kind="estimates"
        ) from error


def _size(value: float | None, name: str) -> float | None:
    """Check a number of records."""
    if value is not None and not value > 0:
        raise CombiningRuleError(f"{name} must be a positive number of records", kind="estimates")
    return None if value is None else float(value)


def _nest_numbers(nests: Sequence[object] | None, m: int) -> IntArray | None:
    """Give each nest a number in order of first appearance."""
    if nests is None:
        return None
    if len(nests) != m:
        raise CombiningRuleError(
            f"nests has {len(nests)} labels for {m} copies; give one for each copy", kind="estimates"
        )
    numbers = {label: i for i, label in enumerate(dict.fromkeys(nests))}
    return np.array([numbers[label] for label in nests], dtype=np.int64)


def _noise(noise_var: object, shape: tuple[int, ...]) -> tuple[FloatArray | None, FloatArray | None]:
    """Entries and matrix of the noise variance; independent noise where only entries are given."""
    if noise_var is None:
        return None, None
    noise = _numbers(noise_var, "noise_var")
    if shape and noise.shape == (*shape, *shape):
        return np.diagonal(noise).copy(), noise
    try:
        entries = np.broadcast_to(noise, shape).copy()
    except ValueError as error:
        raise CombiningRuleError(
            "noise_var must have one entry a term, or be a (p, p) matrix", kind="estimates"
        ) from error
    # The matrix is read with covariance matrices only, so a long vector of unrelated terms never makes one.
    return entries, None
