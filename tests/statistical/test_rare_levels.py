"""The attack of ``benchmarks/attacks/rare_levels.py`` in small: copies tell no villager's income.

Four tables of twelve villages of one person each, ten copies. The correlation of guess and income within
tables has a standard error of 0.15 where nothing is told: 0.65 is passed by chance with p < 1e-5. Where each
village has a coefficient of its own it is 0.95 and more.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from pysynthdp.curator import few_features
from pysynthdp.protection import exact, stepfits

_SPEC = importlib.util.spec_from_file_location(
    "rare_levels", Path(__file__).parents[2] / "benchmarks" / "attacks" / "rare_levels.py"
)
assert _SPEC is not None
assert _SPEC.loader is not None
rare_levels = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(rare_levels)
measure = rare_levels.measure

TOLD = 0.65


@pytest.mark.statistical
@pytest.mark.parametrize("last", [False, True])
def test_copies_do_not_tell_of_a_villager(last: bool) -> None:
    found = measure("default", 10, 4, last=last)
    assert abs(found["within"]) < TOLD
    assert found["found"] - found["false_alarm"] < 0.5


@pytest.mark.statistical
def test_the_attack_finds_them_where_each_village_has_a_coefficient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "groups_of", lambda *_: {})
    monkeypatch.setattr(
        stepfits.few_features, "without_few_features", lambda steps, _: (list(steps), few_features.Grams())
    )
    assert measure("default", 10, 4, last=False)["within"] > TOLD
