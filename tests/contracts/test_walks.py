"""Where one argument walks: down only, with at most one visit a file (``benchmarks/house/walks.py``)."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ("table", "table-noised", "table-imputed", "guarantee", "guarantee-sampling", "rng", "release")
BY_REGISTRY = {("pysynthdp.plan.protection", "pysynthdp.protection.noise.by_noise")}  # reads its short form

TWICE = {"pysynthdp.curator.table", "pysynthdp.curator.spread.table", "pysynthdp.synthesizer.designed"}
"""Split by the search for functions of columns, which the plan needs, and by the fit, as the plan says; taken
as the design of a survey says, and then looked at under it."""

ASKED = {"pysynthdp.curator.spread.pieces", "pysynthdp.curator.rows.dask"}
"""Asked by whoever looks at one column of a table, wherever it lies, or asks where that is."""


@pytest.fixture(scope="module")
def house() -> ModuleType:
    """The measuring script of the benchmarks."""
    sys.path.insert(0, str(ROOT))
    try:
        return importlib.import_module("benchmarks.house.walks")
    finally:
        sys.path.remove(str(ROOT))


def test_all_walks_are_held(house):
    assert tuple(house.WALKS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_an_argument_goes_down_only_and_visits_a_file_once(house, name):
    _, walk = house.WALKS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        handed = walk().handed
    visits = house.visits(handed)
    assert len(visits) > 1, "nothing was followed"
    marks = {(visit.giver, visit.taker): house.marks_of(visit, handed) for visit in visits}
    split = {way for way, said in marks.items() if said == ["again x2"] and way[1] in TWICE | ASKED}
    marked = {way: said for way, said in marks.items() if said and way not in split}
    assert {way: said for way, said in marked.items() if way not in BY_REGISTRY} == {}
    assert all(said == ["climbs by an object"] for said in marked.values())
    takers = [visit.taker for visit in visits]
    doors = Counter(takers)
    assert all(doors[taker] <= 2 for taker in TWICE)
    takers = [taker for taker in takers if taker not in TWICE | ASKED]
    assert sorted(takers) == sorted(set(takers)), "a file has several doors"
