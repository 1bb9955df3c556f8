"""Release the shares of a column's levels: draws of their posterior, or the posterior mode with noise."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.checks import positive_setting
from pysynthdp.base.entropy import SystemEntropy
from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.slips import answers_slips
from pysynthdp.design.parts import parts_of
from pysynthdp.design.rows import Rows
from pysynthdp.design.survey_table import SurveyTable
from pysynthdp.io.ledger import SpendingLedger
from pysynthdp.parameters.released import ParameterRelease
from pysynthdp.parameters.spending import Asked, How, Source, Terms
from pysynthdp.privacy.domain import upward
from pysynthdp.privacy.mechanism import SamplingMechanism
from pysynthdp.privacy.mechanisms.parameters import NoisyShares, PosteriorShares
from pysynthdp.privacy.noise.protective import add_discrete_laplace
from pysynthdp.privacy.shared_account import PrivacyAccount
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.schema import CategoricalColumn

__all__ = ["release_shares"]

_WHAT = "release_shares"


@answers_slips
def release_shares(
    table: pd.DataFrame | SurveyTable | Rows,
    column: CategoricalColumn,
    *,
    prior: float | Sequence[float],
    how: How = "posterior",
    copies: int = 1,
    epsilon: float | None = None,
    unit: PrivacyUnit | None = None,
    deltas: Sequence[float] | None = None,
    account: PrivacyAccount | None = None,
    ledger: str | os.PathLike[str] | SpendingLedger | None = None,
    source: str | None = None,
) -> ParameterRelease:
    """Release the shares of a column's levels: draws of their posterior, or the posterior mode with noise.

    Parameters
    ----------
    table : DataFrame, SurveyTable or Rows
        The confidential table.
    column : CategoricalColumn
        Declared, with a level for unlisted values (``other=``).
    prior : float or sequence of float
        Public prior weight of each level, or of every level; missing values that are levels of their own come
        after the declared levels. The mode needs weights of at least one.
    how : {"posterior", "laplace"}
        Draws of the Dirichlet posterior; or the mode with discrete Laplace noise.
    copies : int
        Independent draws or noisy copies; each costs.
    epsilon : float, optional
        Pure epsilon of each noisy copy, for the unit.
    unit : PrivacyUnit, optional
        Whose record is protected; the account's, or one record, by default. Its key bounds the rows of a unit
        before any sum. The posterior is priced for one record a unit only.
    deltas : sequence of float, optional
        Where the statement quotes (epsilon, delta); the account's, or 1e-6, by default.
    account : PrivacyAccount, optional
        Charged before anything is drawn; states what several releases cost together.
    ledger : path, ``"env:NAME"`` or SpendingLedger, optional
        The agency's ledger, which the price is reserved in before a record is read.
    source : str, optional
        Whose account there: the id of the people.

    Returns
    -------
    ParameterRelease
        Noisy shares are the raw ones: they may leave [0, 1], and sum to about one.

    Raises
    ------
    PrivacyError
        If a public constant is missing or outside its domain, or the account protects another unit; never
        because of a cell.
    SchemaError
        If the table lacks the column, or the one that the unit names as its key.

    Notes
    -----
    Privacy: reads real rows and spends budget. Posterior draws F8 (two levels) and G3's pair, finite Renyi
    orders only. Noise: a replaced record moves two counts by one (one count says all of two levels), Laplace
    of scale 2/epsilon on counts (1/epsilon for two levels), F9: the mode divides by n + total - levels.

    Examples
    --------
    >>> table = pd.DataFrame({"sex": ["F"] * 60 + ["M"] * 40})
    >>> sex = CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False)
    >>> release = release_shares(table, sex, prior=20.0)
    >>> release.estimates.shape, release.labels, release.entry
    ((1, 2), ('F', 'M'), 'F8, G3')
    """
    if not isinstance(column, CategoricalColumn):
        raise PrivacyError(
            "release_shares takes a CategoricalColumn",
            kind="parameter",
            remedy="use release_mean for a number",
        )
    terms = Terms.of(unit, deltas, account, ledger=ledger, source=source)
    asked = Asked.of(_WHAT, how, copies, epsilon, terms=terms)
    held = Source.of(table, column, asked.terms.unit)
    labels = parts_of(held.schema[column.name])[0].levels
    weights = _weights(column.name, prior, len(labels))
    charge = asked.charge(column.name, "shares", _mechanism(asked, held.n, weights))
    counts = np.bincount(held.read().astype(np.int64), minlength=len(labels)).astype(np.int64)
    values = _noisy(asked, counts, weights) if how == "laplace" else _drawn(asked, counts, weights)
    charge.settle(values)
    moved = _sensitivity(asked, held.n, weights)
    return ParameterRelease(values, labels, moved, charge.statement, charge.together)


def _weights(name: str, prior: float | Sequence[float], size: int) -> tuple[float, ...]:
    """One positive weight a level."""
    listed = isinstance(prior, Sequence | np.ndarray) and not isinstance(prior, str | bytes)
    given: tuple[Any, ...] = tuple(prior) if listed else (prior,) * size  # type: ignore[arg-type]  # told apart
    weights = tuple(positive_setting(_WHAT, "prior", weight) for weight in given)
    if len(weights) != size or size < 2:
        raise PrivacyError(
            f"{name}: the prior must have {size} weights, one a level, and at least two",
            column=name,
            kind="parameter",
        )
    return weights


def _mechanism(asked: Asked, n: int, weights: tuple[float, ...]) -> SamplingMechanism:
    """Choose the priced mechanism; refuse for public reasons only."""
    if asked.how == "posterior":
        return PosteriorShares(n, weights)
    if min(weights) < 1:
        raise PrivacyError(
            "the posterior mode needs prior weights of at least 1", kind="parameter", remedy="raise them"
        )
    return NoisyShares(asked.row_epsilon, n, weights)


def _total(asked: Asked, n: int, weights: tuple[float, ...]) -> float:
    """Divisor of the counts: of the posterior's mean, or of its mode."""
    return n + math.fsum(weights) - (len(weights) if asked.how == "laplace" else 0)


def _moved(levels: int) -> int:
    """Give how many counts a replaced record moves; of two levels one count says all."""
    return 1 if levels == 2 else 2


def _sensitivity(asked: Asked, n: int, weights: tuple[float, ...]) -> float:
    """Largest change of the exact shares, for one unit."""
    return asked.terms.unit.rows_per_unit * _moved(len(weights)) / _total(asked, n, weights)


def _drawn(asked: Asked, counts: IntArray, weights: tuple[float, ...]) -> FloatArray:
    """Draws from the Dirichlet posterior."""
    posterior = np.tile(counts + np.asarray(weights), (asked.copies, 1))
    gammas = SystemEntropy().standard_gamma(posterior)
    return np.asarray(gammas / gammas.sum(axis=1, keepdims=True))


def _noisy(asked: Asked, counts: IntArray, weights: tuple[float, ...]) -> FloatArray:
    """Posterior modes with noise; of two levels the second's is the first's with its sign turned."""
    n, two = int(counts.sum()), len(counts) == 2
    exact = np.tile(counts[:-1] if two else counts, asked.copies)
    scale = upward(_moved(len(counts)) / asked.row_epsilon)
    noisy = add_discrete_laplace(exact, scale).reshape(asked.copies, -1)
    if two:
        noisy = np.column_stack([noisy, n - noisy])
    return np.asarray((noisy + np.asarray(weights) - 1) / _total(asked, n, weights))
