"""A protection of another package runs through every door without an edit of ours."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from pathlib import Path

import pandas as pd
import pytest

from pysynthdp.plan.protection import Protection

sys.path.insert(0, str(Path(__file__).parents[1]))
from outside import TOY, installed_toy

CONTRIBUTING = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")

CODEBOOK = "name,levels,other,may_be_missing\nsex,F|M,F,no\narea,a|b|c,a,no\n"
PLAN = 'codebook = "book.csv"\n[guarantee]\nname = "by_toy"\neps = 4.0\n'
HEAD = """
import pandas as pd, pysynthdp as sdp
from toy_shield import ByToy
table = pd.read_csv("table.csv")
schema = sdp.Schema([sdp.CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False),
                     sdp.CategoricalColumn("area", ["a", "b", "c"], other="a", may_be_missing=False)])
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> tuple[Path, dict[str, str]]:
    """A folder with a table, a codebook and a plan, and an environment that has the toy."""
    folder = tmp_path_factory.mktemp("toy")
    (folder / "book.csv").write_text(CODEBOOK)
    (folder / "plan.toml").write_text(PLAN)
    table = pd.DataFrame({"sex": ["F", "M", "M"] * 100, "area": ["a", "b"] * 150})
    table.to_csv(folder / "table.csv", index=False)
    return folder, installed_toy(folder)


def run(place: tuple[Path, dict[str, str]], *words: str, code: int = 0) -> str:
    """Run a process where the toy is installed."""
    folder, environment = place
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def script(place: tuple[Path, dict[str, str]], text: str) -> str:
    """Run a script with the schema and the table at hand."""
    return run(place, "-W", "error", "-c", f"{HEAD}{text}")


def test_python_plans_fits_draws_saves_and_loads(place):
    out = script(
        place,
        """
settings = sdp.Synthesizer(schema=schema, guarantee=ByToy(4.0), progress=False)
plan = settings.plan()
print(plan, plan.price(n=300))
fitted = settings.fit(table)
release = fitted.draw(m=3, rng=1)
release.save("py")
back = sdp.SyntheticRelease.load("py")
fitted.save("py.fit")
again = sdp.FittedSynthesizer.load("py.fit")
assert again.draw(m=1, rng=1)[0].equals(release[0])
assert again.plan.protection == ByToy(4.0) and again.holds == "noisy counts"
assert back.privacy.verify().ok and back.privacy.status == "implemented"
assert abs(release[0]["sex"].eq("M").mean() - 2 / 3) < 0.2
print(back.privacy)
print(round(plan.protection.bound(back.privacy, 1e-6), 3), plan.records_for(n=300, epsilon=5.0))
print(plan.protection.spent(fitted.plan, fitted._machine.fit, fitted.account))
""",
    )
    assert "Price of the toy: epsilon 4" in out
    assert "protection 'by_toy' of toy_shield: priced by outside code, unaudited" in " ".join(out.split())
    assert "0.964 1000000000" in out  # tanh(4/2); copies cost nothing
    assert "PureDP(eps=4.00000" in out  # sums of floats are rounded up


def test_r_asks_for_it_by_name(place):
    script(
        place,
        """
from pysynthdp.bridge.settings import settings_from_r
assert settings_from_r({"guarantee": {"name": "by_toy", "eps": 4.0}}, {})["guarantee"] == ByToy(4.0)
try:
    settings_from_r({"guarantee": {"name": "by_toy", "rho": 4.0}}, {})
except sdp.PlanError as error:
    assert "by_toy has the setting eps" in str(error)
else:
    raise AssertionError
""",
    )


def test_contributing_tells_what_there_is():
    """The methods that an author must write are those without a body; entry points are the toy's."""
    section = CONTRIBUTING.partition("## A protection from your own package")[2].partition("\n## ")[0]
    methods = section.partition("Override what differs:")[2].partition("2.")[0]
    overridden = set(re.findall(r"`(\w+)`", methods))
    bare = {
        name
        for name, entry in inspect.getmembers(Protection, inspect.isroutine)
        if not name.startswith("_") and inspect.getsource(entry).rstrip().endswith("...")
    }
    assert bare == {"from_plain", "to_plain", "steps", "fit", "statement"}
    assert bare <= overridden
    assert overridden <= set(dir(Protection))
    (block,) = re.findall(r"^   ```toml\n(.*?)^   ```", section, re.MULTILINE | re.DOTALL)
    told = tomllib.loads(block)
    entries = ConfigParser()
    entries.read(TOY / "entry_points.txt")
    for group, named in told["project"]["entry-points"].items():
        assert named == {name: entry.replace(" ", "") for name, entry in entries[group].items()}


def test_plan_file_and_shell_run_it(place):
    assert "Price of the toy" in run(place, "-m", "pysynthdp", "plan", "table.csv", "--plan", "plan.toml")
    run(place, "-m", "pysynthdp", "synth", "table.csv", "--plan", "plan.toml", "--out", "shell", "--m", "2")
    card = json.loads((place[0] / "shell" / "privacy.json").read_text())
    assert card["guarantee"] == {"name": "pure", "eps": pytest.approx(4.0)}
    assert "unaudited" in card["reason"]
    assert run(place, "-m", "pysynthdp", "verify", "shell")
    (place[0] / "slip.toml").write_text(PLAN + "rho = 1\n")
    assert "by_toy has the setting eps" in run(
        place, "-m", "pysynthdp", "plan", "--plan", "slip.toml", code=2
    )


def test_a_plan_file_is_written_and_read_by_name(place):
    script(
        place,
        """
from pysynthdp.io.plans.plan_file import read_plan, write_plan
assert read_plan(write_plan({"guarantee": ByToy(2.0)}, "again.toml")) == {"guarantee": ByToy(2.0)}
""",
    )


def test_without_the_package_its_fit_and_plan_are_refused_by_name(place):
    script(
        place, "sdp.Synthesizer(schema=schema, guarantee=ByToy(4.0), progress=False).fit(table).save('x.fit')"
    )
    alone = (place[0], {k: v for k, v in place[1].items() if k != "PYTHONPATH"})
    text = "import pysynthdp as sdp\nsdp.FittedSynthesizer.load('x.fit')"
    assert "install it first" in run(alone, "-c", text, code=1)
    assert "guarantee.name must be one of" in run(
        alone, "-m", "pysynthdp", "plan", "--plan", "plan.toml", code=2
    )


def test_an_announced_entry_that_cannot_be_loaded_stops_nobody_and_is_named(place):
    text = "from pysynthdp.privacy.guarantee import GUARANTEES\nprint(list(GUARANTEES))\n"
    out = run(place, "-c", f"{text}GUARANTEES['broken_toy']", code=1)
    assert "'broken_toy' is announced but cannot be loaded (AttributeError)" in out


MODELS = """
import numpy as np
from pysynthdp.models import Dirichlet
from pysynthdp.plan.protection import protection_of
class Mine(Dirichlet):
    pass
Mine.name = "mine"
Mine.__module__ = "elsewhere.models"
"""


def test_outside_models_need_leave_by_name_and_the_statement_says_so(place):
    out = script(
        place,
        MODELS
        + """
method = {"sex": Mine(prior=20.0), "area": Dirichlet(prior=20.0)}
def tried(**more):
    return sdp.Synthesizer(schema=schema, method=method, guarantee=sdp.BySampling(**more), progress=False)
try:
    tried().plan()
except sdp.PrivacyError as error:
    print(error)
print(tried(outside=("mine",)).fit(table).draw(m=1, k=10).privacy.reason)
""",
    )
    assert "sex: 'mine' is code of the package 'elsewhere'" in out
    assert "outside=('mine',)" in out
    assert "mine of elsewhere: priced by outside code, unaudited" in out
