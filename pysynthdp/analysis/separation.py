"""Terms without an estimate because the outcome is separated: one exact test for all such models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pysynthdp.analysis.estimates import Estimates
from pysynthdp.base.arrays import BoolArray, FloatArray

__all__ = [
    "FEW",
    "NEAR",
    "covariance_of_rest",
    "lost_directions",
    "lost_terms",
    "spans",
    "undetermined",
    "uses_lost",
    "without_outlying",
]

NEAR = 1e-3  # a fitted mean this close to its bound may be on its way to it; what decides is the proof below
_RANK = 1e-9
FEW = 2000
_SPANS = 1e-6
_COLLINEAR = 1e-10
_MOVED = 1e-6
# models with a link: Python's classes, then R's
_LINKED = frozenset(
    ["ConditionalLogit", "GEE", "GLM", "Logit", "MNLogit", "OrderedModel", "PHReg", "Poisson"]
)
_LINKED |= {"Probit", "ZeroInflatedNegativeBinomialP", "ZeroInflatedPoisson"}
_LINKED |= {"clm", "coxph", "gam", "geeglm", "glm", "glmerMod", "multinom", "negbin", "polr", "survreg"}
_LINKED |= {"svyglm", "svyolr", "vglm", "zeroinfl"}
_OUTLYING = 1e4  # ratio of variances beyond which a coefficient of one copy is no estimate

Block = tuple[FloatArray, BoolArray]


def lost_directions(fit: Any, values: FloatArray) -> FloatArray:
    """Give the directions along which a fit of statsmodels has no finite maximum of the likelihood.

    Parameters
    ----------
    fit : results
        Of a model of categories or counts; any other has none.
    values : array (p,)
        Coefficients as the adapter reads them.

    Returns
    -------
    array (p, k)
        A basis; k is 0 for a sound fit.

    Notes
    -----
    Privacy: post-processing. Write each row as a vector z with z'b larger the better the row is predicted.
    The estimate fails to exist exactly if some direction d has z'd >= 0 in all rows and > 0 in one (Albert
    and Anderson 1984; for counts Correia, Guimaraes and Zylkin 2019). Rows whose mean is not near its bound
    have z'd = 0, so d is sought in the space that these rows leave free, first along the coefficients, which
    run off along d, then by a linear programme. A mark is a proof: a sparse term with one event and one
    non-event, however rare, is never marked. Missed are only fits that stopped with means still 0.001 away
    from their bound.
    """
    if getattr(fit, "found_by_sums", False):  # then nothing is lost, or statsmodels had fitted
        return np.zeros((values.size, 0))
    with np.errstate(all="ignore"):  # exp() of what runs off
        blocks = list(_blocks(fit, values))
    none = np.zeros((values.size, 0))
    if not any(near.any() for _, near in blocks):
        return none
    scale = np.sqrt(sum(np.einsum("ij,ij->j", Z, Z) for Z, _ in blocks))
    beside = np.eye(values.size)[scale == 0]  # a dispersion and the like, which no row moves
    blocks.append((beside, np.zeros(len(beside), dtype=np.bool_)))
    scale = np.where(scale > 0, scale, 1.0)
    blocks = [(Z / scale, near) for Z, near in blocks]
    free = _free([Z[~near] for Z, near in blocks], values.size)
    moved = _moves([Z for Z, _ in blocks], free, values * scale) if free.size else None
    if moved is None:
        return none
    lost = _free([Z[~at] for (Z, _), at in zip(blocks, moved, strict=True)], values.size)
    return np.asarray(np.where(np.abs(lost) > _MOVED, lost, 0.0) / scale[:, None])


def lost_terms(lost: FloatArray) -> BoolArray:
    """Mark the coefficients (p,) that change along lost directions."""
    return np.asarray(np.any(lost != 0, axis=1))


def uses_lost(fit: Any, X: FloatArray) -> BoolArray:
    """Mark new rows (n, k) whose mean moves along lost directions of the fit."""
    if getattr(fit, "found_by_sums", False):
        return np.zeros(len(X), dtype=np.bool_)
    values = np.asarray(fit.params, dtype=np.float64).ravel(order="F")
    if type(fit.model).__name__ == "OrderedModel":
        values = values.copy()
        cuts = int(fit.model.k_levels) - 1
        values[-cuts:] = np.asarray(fit.model.transform_threshold_params(values))[1:-1]
    lost = lost_directions(fit, values)
    k = X.shape[1]
    parts = [lost[at : at + k] for at in range(0, len(lost) - k + 1, k)]
    moved = _along_undetermined(fit.model, X)
    for part in parts:
        moved |= np.any(np.abs(X @ part) > _MOVED, axis=1)
    return moved


def undetermined(X: FloatArray) -> FloatArray:
    """Directions (d, k) of the coefficients along which the columns of X (n, k), collinear, tell nothing.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 2.0], [1.0, 0.0, 0.0]])
    >>> np.any(undetermined(X) != 0, axis=0).tolist()
    [False, True, True]
    """
    norms = np.linalg.norm(X, axis=0)
    norms = np.where(norms > 0, norms, 1.0)
    _, sizes, directions = np.linalg.svd(np.linalg.qr(X / norms, mode="r"))
    free = directions[np.append(sizes, np.zeros(X.shape[1] - sizes.size)) <= _COLLINEAR * X.shape[1]]
    return np.asarray(np.where(np.abs(free) > _MOVED, free, 0.0) / norms)


def _along_undetermined(model: Any, X: FloatArray) -> BoolArray:
    """Mark new rows (n, k) that move along what the rows of the fit did not determine."""
    own = np.asarray(getattr(model, "exog", np.zeros((0, 0))), dtype=np.float64)
    if own.ndim != 2 or own.shape[1] != X.shape[1]:
        return np.zeros(len(X), dtype=np.bool_)
    free = undetermined(own)
    length = np.linalg.norm(free * np.linalg.norm(X, axis=0), axis=1)
    away = np.abs(X @ free.T) > _MOVED * np.where(length > 0, length, 1.0)
    return np.asarray(np.any(away, axis=1))


def covariance_of_rest(information: FloatArray, lost: FloatArray) -> FloatArray:
    """Covariance (p, p) of what can be estimated, from the information (p, p) beside directions (p, k)."""
    kept = np.linalg.svd(lost, full_matrices=True)[0][:, lost.shape[1] :]
    return np.asarray(kept @ np.linalg.inv(kept.T @ information @ kept) @ kept.T)


def spans(rows: FloatArray) -> bool:
    """Whether rows leave no direction free, clearly: a few do, as a rule, and are cheap to ask."""
    sizes = np.sqrt(np.einsum("ij,ij->j", rows, rows))
    if not np.all(sizes > 0):
        return False
    rows = rows / sizes
    return bool(np.linalg.eigvalsh(rows.T @ rows)[0] > _SPANS)


def _free(parts: list[FloatArray], p: int) -> FloatArray:
    """Orthonormal basis (p, k) of the directions in which no row moves."""
    R = np.zeros((0, p))
    for part in parts:
        R = np.asarray(np.linalg.qr(np.concatenate([R, part]), mode="r"))
    _, sizes, Vt = np.linalg.svd(R, full_matrices=True)
    sizes = np.concatenate([sizes, np.zeros(p - sizes.size)])
    return np.asarray(Vt[sizes <= _RANK * max(float(sizes.max(initial=0.0)), _RANK)].T)


def _moves(parts: list[FloatArray], free: FloatArray, values: FloatArray) -> list[BoolArray] | None:
    """Rows that a direction of recession moves, block by block; None where there is no such direction."""
    along = free @ (free.T @ values)
    found = _proof(parts, along)
    if found is None and free.shape[1] > 1:
        found = _proof(parts, _programme(np.concatenate(parts) @ free, free))
    return found


def _proof(parts: list[FloatArray], direction: FloatArray) -> list[BoolArray] | None:
    """Rows that move, if none moves the wrong way."""
    shifts = [part @ direction for part in parts]
    largest = max((float(np.abs(shift).max(initial=0.0)) for shift in shifts), default=0.0)
    if largest <= _RANK * max(float(np.linalg.norm(direction)), _RANK):
        return None
    if any(np.any(shift < -_MOVED * largest) for shift in shifts):
        return None
    return [shift > _MOVED * largest for shift in shifts]


def _programme(rows: FloatArray, free: FloatArray) -> FloatArray:
    """Direction that moves as many rows as it can and none the wrong way; zero where there is none."""
    from scipy.optimize import linprog  # slow to import, and seldom needed

    used = rows[np.abs(rows).max(axis=1) > _RANK]
    both = np.concatenate([-used, used])
    limits = np.concatenate([np.zeros(len(used)), np.ones(len(used))])
    done = linprog(-used.sum(axis=0), A_ub=both, b_ub=limits, bounds=(None, None), method="highs")
    return np.zeros(free.shape[0]) if done.x is None else np.asarray(free @ done.x)


def _blocks(fit: Any, values: FloatArray) -> Iterator[Block]:
    """Rows z, and which of them are predicted nearly perfectly."""
    model = fit.model
    kind, family = type(model).__name__, type(getattr(model, "family", None)).__name__
    if not np.isfinite(values).all():
        return
    if kind in {"Logit", "Probit"}:
        yield from _binary(model, np.asarray(fit.predict()), values.size)
    elif kind in {"GLM", "GEE", "GLMGam"} and family == "Binomial":
        yield from _binary(model, np.asarray(fit.fittedvalues), values.size)
    elif kind in {"Poisson", "NegativeBinomial", "NegativeBinomialP", "GeneralizedPoisson"}:
        yield from _counts(model, np.asarray(fit.predict()), values.size)
    elif kind in {"GLM", "GEE", "GLMGam"} and family in {"Poisson", "NegativeBinomial", "Tweedie"}:
        if type(model.family.link).__name__ == "Log":
            yield from _counts(model, np.asarray(fit.fittedvalues), values.size)
    elif kind == "MNLogit":
        yield from _multinomial(model, np.asarray(fit.predict()))
    elif kind == "OrderedModel":
        yield from _ordinal(model, np.asarray(fit.predict()))


def _padded(X: FloatArray, p: int) -> FloatArray:
    """Add zeros for parameters beside the coefficients, such as a dispersion."""
    return np.concatenate([X, np.zeros((len(X), p - X.shape[1]))], axis=1)


def _binary(model: Any, mean: FloatArray, p: int) -> Iterator[Block]:
    """Shares or zeros and ones."""
    y = np.asarray(model.endog, dtype=np.float64).ravel()
    near = ((y == 0) | (y == 1)) & (np.abs(y - mean.ravel()) < NEAR)
    yield from _signed(model, near, y > 0.5, p)


def _counts(model: Any, mean: FloatArray, p: int) -> Iterator[Block]:
    """Rows of counts, whose only bound is zero."""
    y = np.asarray(model.endog, dtype=np.float64).ravel()
    yield from _signed(model, (y == 0) & (mean.ravel() < NEAR), y > 0, p)


def _signed(model: Any, near: BoolArray, up: BoolArray, p: int) -> Iterator[Block]:
    """Rows of the design to the side that they pull; none in the usual case, that rows inside hold all."""
    X = np.asarray(model.exog, dtype=np.float64)
    if near.any() and not spans(X[np.flatnonzero(~near)[:FEW]]):
        yield _padded(X, p) * np.where(up, 1.0, -1.0)[:, None], near


def _multinomial(model: Any, shares: FloatArray) -> Iterator[Block]:
    """Each outcome against the one that was seen; equations stand one after another."""
    X, y = np.asarray(model.exog, dtype=np.float64), np.asarray(model.endog, dtype=np.int64)
    p = X.shape[1]
    J = shares.shape[1]
    inside = np.flatnonzero((shares >= NEAR).all(axis=1))[:FEW]
    if spans(X[inside]):  # then every equation is held, whatever the other rows say
        return
    for other in range(J):
        rows = np.flatnonzero(y != other)
        Z = np.zeros((rows.size, J, p))
        Z[np.arange(rows.size), y[rows]] = X[rows]
        Z[:, other] = -X[rows]
        yield Z[:, 1:].reshape(rows.size, -1), shares[rows, other] < NEAR


def _ordinal(model: Any, shares: FloatArray) -> Iterator[Block]:
    """Each outcome's upper and lower threshold."""
    X, y = np.asarray(model.exog, dtype=np.float64), np.asarray(model.endog, dtype=np.int64)
    cuts = np.eye(shares.shape[1] - 1)
    below = np.cumsum(shares, axis=1)
    up, down = np.flatnonzero(y < len(cuts)), np.flatnonzero(y > 0)
    yield np.concatenate([-X[up], cuts[y[up]]], axis=1), 1 - below[up, y[up]] < NEAR
    yield np.concatenate([X[down], -cuts[y[down] - 1]], axis=1), below[down, y[down] - 1] < NEAR


def without_outlying(found: list[Estimates]) -> list[Estimates]:
    """Blank coefficients whose variance in one copy is more than 10,000 times the others' median.

    For models with a link of which only coefficients came, as from R. Standard errors of copies of one fit
    differ by about the root of the ratio of a level's counts; a factor of 100 is none that sampling makes. A
    term that is separated in most copies is not found by it, and linear models, whose variances follow the
    tails of their predictors, are left alone.
    """
    if len(found) < 3 or found[0].model not in _LINKED:
        return found
    variances = np.array([np.diagonal(estimate.cov) for estimate in found])
    return [estimate.without(gone) for estimate, gone in zip(found, _outlying(variances), strict=True)]


def _outlying(variances: FloatArray) -> BoolArray:
    """Mark variances (m, p) far beyond the median of the other copies'."""
    marked = np.zeros(variances.shape, dtype=np.bool_)
    for i in range(len(variances)):
        others = np.delete(variances, i, axis=0)
        known = np.isfinite(others).sum(axis=0) > 1
        middle = np.where(known, _median(others), np.inf)
        marked[i] = variances[i] > _OUTLYING * np.where(middle > 0, middle, np.inf)
    return marked


def _median(values: FloatArray) -> FloatArray:
    """Median of the known values of every column."""
    filled = np.where(np.isfinite(values), values, np.inf)
    at = (np.isfinite(values).sum(axis=0) - 1) // 2
    return np.asarray(np.take_along_axis(np.sort(filled, axis=0), np.maximum(at, 0)[None, :], axis=0)[0])
