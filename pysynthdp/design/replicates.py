"""Replicate weights of a design: jackknife, balanced halves and bootstrap, as factors of the weights.

A replicate weighs the sampling units anew; the spread of an estimate over the replicates is its variance,
v = scale * sum_r rscales_r (q_r - qbar)^2, qbar the mean over replicates, as in R's package survey.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, get_args

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.errors import PlanError
from pysynthdp.base.streams import root_sequence, stream
from pysynthdp.schema.survey_design import Rebuild

__all__ = ["FAY", "Replicates", "hadamard", "replicates"]

FAY: Final = 0.5  # share of its weight that the other half keeps
_BOOTSTRAP: Final = 5  # first key of the streams of bootstrapped replicates


@dataclass(frozen=True, slots=True)
class Replicates:
    """Factors of the weights.

    Parameters
    ----------
    factors : array (units, replicates)
        By which the weights of a sampling unit are multiplied.
    scale : float
        Of the sum of squares.
    rscales : array (replicates,)
        Of each square.
    """

    factors: FloatArray
    scale: float
    rscales: FloatArray


def replicates(kind: Rebuild, stratum: IntArray, left: FloatArray, count: int) -> Replicates:
    """Make the replicates of a design.

    Parameters
    ----------
    kind : {"JK1", "JKn", "BRR", "Fay", "bootstrap"}
        One unit left out, without or within strata; balanced halves of strata of two units, Fay's with half
        of the other unit's weight; n_h - 1 units of each stratum drawn with replacement (Rao and Wu 1988).
    stratum : array of int (units,)
        Stratum of each sampling unit.
    left : array (strata,)
        Share of each stratum's units that are not in the sample; 1 without a finite population.
    count : int
        Replicates that there are to be.

    Raises
    ------
    PlanError
        Where a design has no such replicates, or another number of them; says what would do.

    Notes
    -----
    Privacy: arithmetic on a design; reads no row. The bootstrap draws from one public stream, so that the
    same design has the same replicates.

    Examples
    --------
    >>> found = replicates("JKn", np.array([0, 0, 1, 1, 1]), np.array([1.0, 1.0]), 5)
    >>> found.factors[:, 0].tolist(), found.rscales.round(3).tolist()
    ([0.0, 2.0, 1.0, 1.0, 1.0], [0.5, 0.5, 0.667, 0.667, 0.667])
    """
    if kind not in get_args(Rebuild):
        raise _refusal(f"there are no replicates {kind!r}", f"name one of {', '.join(get_args(Rebuild))}")
    units = np.bincount(stratum)
    if (units < 2).any():
        raise _refusal(
            "a stratum has one sampling unit, which no replicate can leave out",
            "merge it with a neighbour before the fit",
        )
    if kind not in ("JK1", "JKn") and (left < 1).any():
        raise _refusal(
            f"{kind} replicates know no finite population",
            "leave fpc out of the design, or make jackknife replicates ('JKn')",
        )
    wrong = next(_wrong_numbers(kind, units, len(stratum), count), None)
    if wrong is not None:
        raise wrong
    if kind in ("JK1", "JKn"):
        return _jackknife(kind, stratum, units, left)
    return _bootstrap(stratum, units, count) if kind == "bootstrap" else _halves(kind, stratum, count)


def _refusal(what: str, mend: str) -> PlanError:
    """Say that replicates cannot be made."""
    return PlanError(f"replicate weights: {what}", kind="design", remedy=mend)


def _wrong_numbers(kind: Rebuild, units: IntArray, total: int, count: int) -> Iterator[PlanError]:
    """Find numbers of strata, units and replicates that do not go together."""
    if kind == "JK1" and len(units) > 1:
        yield _refusal("JK1 is of a sample without strata", "make 'JKn' of it")
    if kind in ("JK1", "JKn") and count != total:
        yield _refusal(
            f"{kind} has a replicate for each of {total:,} sampling units, and {count:,} columns are named",
            "name as many columns, or make 'bootstrap' replicates, of any number",
        )
    if kind in ("BRR", "Fay") and (units != 2).any():
        yield _refusal(
            f"{kind} is of strata of two sampling units, and others are among them",
            "make 'JKn' or 'bootstrap' replicates",
        )
    if kind in ("BRR", "Fay") and (count <= len(units) or hadamard(count) is None):
        orders = range(4 * (len(units) // 4 + 1), 8 * len(units) + 8, 4)
        least = next(order for order in orders if hadamard(order) is not None)
        yield _refusal(
            f"{kind} of {len(units):,} strata needs a Hadamard matrix of more rows than strata, and "
            f"{count:,} columns are named",
            f"name {least:,} columns",
        )
    if count < 2:
        yield _refusal("one replicate has no spread", "name more columns")


def _jackknife(kind: Rebuild, stratum: IntArray, units: IntArray, left: FloatArray) -> Replicates:
    """Leave each unit out; the others of its stratum take its weight."""
    own, n = stratum[None, :] == stratum[:, None], units[stratum]
    factors = np.where(own, (n / (n - 1))[None, :], 1.0)
    np.fill_diagonal(factors, 0.0)
    shares = left[stratum] * (n - 1) / n
    if kind == "JK1":
        return Replicates(factors, float(shares[0]), np.ones(len(stratum)))
    return Replicates(factors, 1.0, np.asarray(shares))


def _halves(kind: Rebuild, stratum: IntArray, count: int) -> Replicates:
    """Double one unit of each stratum and leave the other, by the columns of a Hadamard matrix."""
    matrix, rest = hadamard(count), FAY if kind == "Fay" else 0.0
    if matrix is None:
        raise _refusal(f"there is no Hadamard matrix of {count:,} rows", "name another number of columns")
    _, first = np.unique(stratum, return_index=True)
    second = np.ones(len(stratum), dtype=np.bool_)
    second[first] = False
    sign = np.where(second[:, None], -1, 1) * matrix[1 + stratum]
    factors = np.where(sign > 0, 2.0 - rest, rest)
    return Replicates(factors, 1.0 / (count * (1 - rest) ** 2), np.ones(count))


def _bootstrap(stratum: IntArray, units: IntArray, count: int) -> Replicates:
    """Draw one unit less than there are of each stratum, with replacement."""
    factors, root = np.zeros((len(stratum), count)), root_sequence(0)
    for h, n in enumerate(units.tolist()):
        drawn = stream(root, _BOOTSTRAP, h).multinomial(n - 1, np.full(n, 1 / n), count)
        factors[stratum == h] = drawn.T * (n / (n - 1))
    return Replicates(factors, 1.0 / (count - 1), np.ones(count))


def hadamard(order: int) -> IntArray | None:
    """Make a Hadamard matrix whose first row and column are ones, by doubling and by Paley's constructions.

    Returns
    -------
    array of int (order, order) or None
        Entries 1 and -1, rows at right angles; None of an order that has none, or none that is made here.

    Examples
    --------
    >>> matrix = hadamard(12)
    >>> bool((matrix @ matrix.T == 12 * np.eye(12)).all()), hadamard(10) is None
    (True, True)
    """
    if order in (1, 2):
        return np.array([[1, 1], [1, -1]])[:order, :order]
    if order % 4:
        return None
    if _is_prime(order - 1):
        return _normal(_paley_one(order - 1))
    if (order // 2) % 2 == 0 and (half := hadamard(order // 2)) is not None:
        return np.kron(np.array([[1, 1], [1, -1]]), half)
    other = order // 2 - 1
    return _normal(_paley_two(other)) if other % 4 == 1 and _is_prime(other) else None


def _is_prime(number: int) -> bool:
    """Whether a number is prime."""
    return number > 1 and all(number % by for by in range(2, int(number**0.5) + 1))


def _jacobsthal(q: int) -> IntArray:
    """Quadratic characters of the differences modulo a prime."""
    square = np.full(q, -1)
    square[np.arange(q) ** 2 % q] = 1
    square[0] = 0
    at = np.arange(q)
    return np.asarray(square[(at[:, None] - at) % q])


def _paley_one(q: int) -> IntArray:
    """Order q + 1, q = 3 modulo 4."""
    inner = np.zeros((q + 1, q + 1), dtype=np.int64)
    inner[0, 1:], inner[1:, 0], inner[1:, 1:] = 1, -1, _jacobsthal(q)
    return inner + np.eye(q + 1, dtype=np.int64)


def _paley_two(q: int) -> IntArray:
    """Order 2 (q + 1), q = 1 modulo 4."""
    inner = np.zeros((q + 1, q + 1), dtype=np.int64)
    inner[0, 1:], inner[1:, 0], inner[1:, 1:] = 1, 1, _jacobsthal(q)
    own, plain = np.array([[1, -1], [-1, -1]]), np.array([[1, 1], [1, -1]])
    return np.kron(inner, plain) + np.kron(np.eye(q + 1, dtype=np.int64), own)


def _normal(matrix: IntArray) -> IntArray:
    """Make the first row and column ones."""
    matrix = matrix * matrix[:, :1]
    return np.asarray(matrix * matrix[:1])
