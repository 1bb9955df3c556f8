"""A rule as constants: what a recipient's program computes is what ``pool`` computes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from pysynthdp.analysis import ReleaseTags, pool
from pysynthdp.analysis.recipe import recipe_of
from pysynthdp.analysis.stack import stack

BASE = {"kind": "complete", "m": 6, "n_syn": 50, "n_org": 40, "synthesised": frozenset("xy")}
NESTS = tuple("aabbcc")
CASES = {
    "partial_size_adjusted": {},
    "raab_simple": {"m": 1},
    "raab_proper": {"m": 1, "parameters": "drawn"},
    "census_fresh_samples": {"sampling": "census"},
    "missing_rubin1987": {"kind": "imputed", "synthesised": frozenset()},
    "missing_then_partial_reiter2004": {"nests": NESTS, "n_org": 50},
    "missing_then_partial_size_adjusted": {"nests": NESTS, "n_org": 40},
    "two_stage_partial": {"nests": NESTS, "nesting": "two_stage", "n_org": 50},
    "noise_floored": {"noise": "per_copy_from_one", "parameters": "drawn"},
}


@dataclass(frozen=True)
class Copies:
    copies: tuple[pd.DataFrame, ...]
    tags: ReleaseTags


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize("spread", [0.05, 0.6])
def test_the_constants_give_what_pool_gives(name, spread):
    tags = ReleaseTags(**{**BASE, **CASES[name]})
    recipe = recipe_of(tags, ["x", "y"])
    rng = np.random.default_rng(1)
    q, u = rng.normal(0, spread, tags.m), rng.uniform(0.1, 0.3, tags.m)
    frames = (pd.DataFrame({"x": [0.0], "y": [0.0]}),) * tags.m
    want = pool([([a], [b]) for a, b in zip(q, u, strict=True)], release=Copies(frames, tags))
    sums = stack(q, u, n_syn=50, n_org=40, nests=recipe.nests).sums(nested=True)
    assert recipe.rule == want.rule == name
    assert recipe.variance(sums) == pytest.approx(want.T.iloc[0], rel=1e-9)
    assert recipe.df(sums) == pytest.approx(want.df.iloc[0], rel=1e-6)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"n_org": None}, "n_org"),
        ({"noise": "shared"}, "noise_var"),
        ({"bias": "shrunk"}, "biased"),
        ({"rows_replaced": "part"}, "replaced rows"),
        ({"m": 1, "kept": frozenset("x"), "synthesised": frozenset("y"), "kind": "partial"}, "real variable"),
    ],
)
def test_where_pool_refuses_there_is_a_reason_and_no_rule(changes, says):
    recipe = recipe_of(ReleaseTags(**{**BASE, **changes}), ["x", "y"])
    assert not recipe.rule
    assert says in recipe.reason
    assert recipe.reason.endswith(".")
