"""A column model and a combining rule of another package, found by their entry points when installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from outside import installed_toy

HEAD = """
import numpy as np, pandas as pd, pysynthdp as sdp
rng = np.random.default_rng(0)
table = pd.DataFrame({"a": rng.normal(size=200), "b": rng.gamma(1.0, 9.0, 200)})
def release(**more):
    return sdp.Synthesizer(progress=False, **more).fit(table).draw(5, rng=1)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("toy_parts")
    return folder, installed_toy(folder, "toy_parts")


def script(place: tuple[Path, dict[str, str]], text: str, code: int = 0) -> str:
    """Run a script where the toy is installed."""
    folder, environment = place
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{HEAD}{text}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_a_model_is_asked_for_by_name_and_comes_back_from_a_file(place):
    out = script(
        place,
        """
fitted = sdp.Synthesizer(progress=False, method={"b": "toy_waiting"}, decimals={"b": 9}).fit(table)
fitted.save("x.fit")
again = sdp.FittedSynthesizer.load("x.fit").draw(1, rng=1)[0]
assert again.equals(fitted.draw(1, rng=1)[0]) and (again["b"] > 0).all()
print(fitted.plan)
""",
    )
    assert "toy_waiting" in out


def test_a_rule_is_never_chosen_but_taken_by_name_and_the_table_says_whose_it_is(place):
    out = script(
        place,
        """
made = release()
print("CHOSEN", sdp.ols("a ~ b", made).rule)
taken = sdp.ols("a ~ b", made, rule="toy")
print(taken.summary())
print(taken.why)
print("ALIAS", sdp.combine([1.0, 1.1], [0.1, 0.1], n_syn=9, n_org=9, rule="T_s").rule)
""",
    )
    assert "CHOSEN partial_size_adjusted" in out
    assert "ALIAS raab_simple" in out
    assert " ".join(out.split()).count("code of the package 'toy_parts', unreviewed by pysynthdp") == 2


def test_a_name_that_is_taken_stops_nobody_and_is_told_to_who_looks_for_it(place):
    out = script(
        place,
        """
from pysynthdp.models.base import COLUMN_MODELS
print(COLUMN_MODELS["norm"].__module__)
for rows in ({"b": "a_norm_again"}, {"b": "nothing"}):
    try:
        release(method=rows)
    except sdp.PlanError as error:
        print(error)
from pysynthdp.analysis.rules.base import RULES
print(RULES["raab_simple"].__module__)
try:
    sdp.combine([1.0, 1.1], [0.1, 0.1], rule="a_rule_again")
except sdp.CombiningRuleError as error:
    print(error)
RULES["nowhere"]
""",
        code=1,
    )
    assert "pysynthdp.models.norm\n" in out
    assert "pysynthdp.analysis.rules.raab_simple\n" in out
    said = " ".join(out.split())
    assert "'a_norm_again' of toy_parts is announced but left out, since the name 'norm' is that of" in said
    assert said.count("'a_rule_again' of toy_parts is announced but left out, since the name") == 2


def test_an_author_runs_the_contract_suite_on_them(place):
    out = script(
        place,
        """
from pysynthdp.testing import check_column_model, check_combining_rule
from toy_parts import ToyRule, Waiting
check_column_model(Waiting)
try:
    check_combining_rule(ToyRule)
except AssertionError as fault:
    print(fault)
""",
    )
    assert "ToyRule breaks 3 of its promises" in out
    assert "names that other rules have: T_s" in out
    assert "is valid for every release" in out
    assert "is valid where copies share privacy noise" in out
