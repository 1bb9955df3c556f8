"""An exact audit of noisy statistics: what the code would have to hide between worst neighbours.

Both tables go through the public fit; the sums before the noise, and its scale, are taken down where the
noise is asked for. Discrete Laplace noise of that scale loses |gap|/scale, added over the sums, exactly: it
may never exceed the epsilon that a release states, and on the worst neighbours it is all of it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.curator import answers
from pysynthdp.models.joint.linear_statistics import LinearStatistics
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.protection.sampling.by_sampling import BySampling

pytestmark = pytest.mark.statistical
N = 12


def level(name: str) -> sdp.CategoricalColumn:
    return sdp.CategoricalColumn(name, ["u", "v", "w"], other="u", may_be_missing=False)


NUMBER = sdp.NumericColumn("x", lower=0, upper=8, may_be_missing=False, fallback=0)
SCHEMA = sdp.Schema([level("a"), level("b"), NUMBER])


def swing(values: np.ndarray) -> np.ndarray:
    """A test function that a record moves from one end of its range to the other, and beyond."""
    return np.where(values[:, 0] == 0, 5.0, -5.0)


SETTINGS = {
    "pairs": {"ways": 2},
    "single columns": {"ways": 1},
    "pairs and functions": {"ways": 2, "functions": (swing, swing)},
}


def tables(relation: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The record leaves every cell that it was in; or it leaves altogether."""
    common = pd.DataFrame({"a": ["w"] * N, "b": ["w"] * N, "x": [1.0] * N})
    first = pd.concat([pd.DataFrame({"a": ["u"], "b": ["u"], "x": [7.0]}), common], ignore_index=True)
    if relation == "add_remove":
        return first, common
    second = first.copy()
    second.loc[0] = ["v", "v", 3.0]
    return first, second


def spent(kind: str, relation: str, patch: pytest.MonkeyPatch) -> float:
    """Share of the stated epsilon that is lost."""
    model = LinearStatistics(epsilon=0.7, bins={"x": 4}, **SETTINGS[kind])
    guarantee = BySampling(unit=PrivacyUnit(relation))
    synthesizer = sdp.Synthesizer(
        schema=SCHEMA, joint=[(("a", "b", "x"), model)], guarantee=guarantee, progress=False
    )
    asked: list[tuple[np.ndarray, float]] = []

    def noise(values: np.ndarray, scale: float) -> np.ndarray:
        asked.append((values.copy(), scale))
        return values

    with patch.context() as here:
        here.setattr(answers, "add_discrete_laplace", noise)
        fits = [synthesizer.fit(table) for table in tables(relation)]
    (first, scale), (second, again) = asked  # one question a fit, however many statistics
    assert scale == again
    for k in (3, 5):
        release = fits[0].draw(m=2, k=k)  # draws cost nothing
    lost = Fraction(int(np.abs(first - second).sum())) / Fraction(scale)
    return float(lost / Fraction(release.privacy.guarantee.eps))


@pytest.mark.parametrize("kind", SETTINGS)
@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_worst_neighbours_lose_all_of_the_claim_and_no_more(kind, relation, monkeypatch):
    share = spent(kind, relation, monkeypatch)
    assert 0.999 < share <= 1


def half_the_gap(patch: pytest.MonkeyPatch) -> None:
    real = answers.upward
    patch.setattr(answers, "upward", lambda scale: real(scale) / 2)


def norm_for_gap(patch: pytest.MonkeyPatch) -> None:
    real = answers._noisy
    patch.setattr(
        answers,
        "_noisy",
        lambda query, step, rows, _: real(query, step, rows, "add_remove"),
    )


def functions_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LinearStatistics, "_row_norm", lambda self, family: self._unit * len(family.tables))


def one_table_counted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LinearStatistics, "_row_norm", lambda self, _: self._unit * (1 + len(self.functions)))


def unbounded_functions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        LinearStatistics, "_bounded", lambda _, function, values: np.asarray(function(values), dtype=float)
    )


def steps_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Cells in whole steps, and the norm in records."""
    patch.setattr(
        LinearStatistics, "_row_norm", lambda self, family: len(family.tables) + len(self.functions)
    )


BUGS: list[tuple[Any, str, str]] = [
    (half_the_gap, "pairs", "replace_one"),
    (half_the_gap, "single columns", "add_remove"),
    (norm_for_gap, "pairs", "replace_one"),
    (functions_forgotten, "pairs and functions", "replace_one"),
    (one_table_counted, "pairs", "add_remove"),
    (unbounded_functions, "pairs and functions", "replace_one"),
    (steps_forgotten, "pairs and functions", "replace_one"),
]


@pytest.mark.parametrize(
    ("plant", "kind", "relation"), BUGS, ids=lambda part: getattr(part, "__name__", part)
)
def test_audit_finds_planted_bug(plant, kind, relation, monkeypatch):
    plant(monkeypatch)
    assert spent(kind, relation, monkeypatch) > 1.01
