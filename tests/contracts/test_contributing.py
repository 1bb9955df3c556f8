"""CONTRIBUTING.md is true: its templates run as they stand; files and tests that it names are there."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

import pysynthdp as sdp
import pysynthdp.analysis.rules
import pysynthdp.models
from pysynthdp.analysis.combining import combine
from pysynthdp.analysis.rules.base import RULES, Facts
from pysynthdp.base.registry import Registry
from pysynthdp.models.ask import RowSum
from pysynthdp.models.base import COLUMN_MODELS
from pysynthdp.testing import check_column_model, check_combining_rule, check_rows, fitted

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
N = 4000
TEMPLATES = dict(
    re.findall(r"`(pysynthdp/[\w/]+\.py)`[^`]*\n\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
)
MODEL, RULE, ROWS = TEMPLATES


def in_place(path: str, package: ModuleType, registry: Registry, tmp_path, monkeypatch) -> Iterator[type]:
    """A template's file in place, as far as a registry can see, and gone again afterwards."""
    name = Path(path).stem
    folder = tmp_path / name
    folder.mkdir()
    (folder / f"{name}.py").write_text(TEMPLATES[path], encoding="utf-8")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    monkeypatch.setattr(registry, "_loaded", False)
    yield registry[name]
    del registry._entries[name]
    del sys.modules[f"{package.__name__}.{name}"]


@pytest.fixture
def expon(tmp_path, monkeypatch):
    yield from in_place(MODEL, pysynthdp.models, COLUMN_MODELS, tmp_path, monkeypatch)


@pytest.fixture
def partial_normal(tmp_path, monkeypatch):
    yield from in_place(RULE, pysynthdp.analysis.rules, RULES, tmp_path, monkeypatch)


@pytest.fixture
def frames_rows(tmp_path, monkeypatch) -> type:
    spec = importlib.util.spec_from_file_location("frames", tmp_path / "frames.py")
    Path(spec.origin).write_text(TEMPLATES[ROWS], encoding="utf-8")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "frames", module)
    spec.loader.exec_module(module)
    return module.FramesRows


@pytest.fixture
def spells() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    age = rng.uniform(20, 60, N).round()
    weeks = rng.exponential(np.exp(0.5 + age / 30))
    ends = np.sort(weeks)[[1, -2]]  # a lone extreme enters no fit, so each has company here
    return pd.DataFrame({"age": age, "weeks": weeks.clip(*ends)})


@pytest.mark.usefixtures("expon")
def test_its_coefficients_agree_with_statsmodels(spells):
    wishes = {"method": {"weeks": "expon"}, "decimals": {"weeks": 12}, "terms": "main"}
    fitted = sdp.Synthesizer(**wishes, proper=True).fit(spells)
    step = next(step for step in fitted._machine.fit.steps if step.model.name == "expon")
    scale = fitted._machine.fit.layout.scales["age", "value"]
    X = sm.add_constant((spells["age"] - scale.centre) / scale.width)
    oracle = sm.GLM(spells["weeks"], X, family=sm.families.Gamma(sm.families.links.Log())).fit(tol=1e-12)
    np.testing.assert_allclose(step.params.beta, oracle.params, rtol=1e-6)
    covariance = step.params.root @ step.params.root.T
    np.testing.assert_allclose(covariance, oracle.cov_params() / oracle.scale, rtol=1e-6, atol=1e-12)


@pytest.mark.usefixtures("expon")
@pytest.mark.parametrize("proper", [False, True])
def test_it_draws_durations_whose_mean_depends_on_age(spells, proper):
    fitted = sdp.Synthesizer(method={"weeks": "expon"}, decimals={"weeks": 12}, proper=proper).fit(spells)
    copy = fitted.draw(m=1, rng=1)[0]
    relative = copy["weeks"] / np.exp(0.5 + copy["age"] / 30)
    # parameters from 4,000 rows move the mean by about 1.6 %: too little to see among 4,000 exponentials
    assert stats.kstest(relative, stats.expon.cdf).pvalue > 1e-9
    assert stats.kstest(relative, stats.expon(scale=1.2).cdf).pvalue < 1e-9


@pytest.mark.usefixtures("expon")
def test_it_refuses_what_is_no_duration_by_name(spells):
    spells["weeks"] -= 5
    with pytest.raises(sdp.FitError, match="weeks has negative values"):
        sdp.Synthesizer(method={"weeks": "expon"}).fit(spells)


def test_its_sums_take_weights(expon, spells):
    X = np.column_stack([np.ones(N), (spells["age"] - 40) / 10])
    y, w = spells["weeks"].to_numpy(), np.random.default_rng(1).integers(0, 4, N)
    sums = [query for query in fitted(expon(), X, y).asked if isinstance(query, RowSum)]
    assert sums
    for query in sums:
        for cells in (y, y - 5):
            (one,) = query.of(X, cells, w.astype(float))
            (many,) = query.of(np.repeat(X, w, axis=0), np.repeat(cells, w))
            np.testing.assert_allclose(one, many, atol=1e-9 * N)


def test_every_template_keeps_its_contract(expon, partial_normal, frames_rows):
    check_column_model(expon)
    check_combining_rule(partial_normal)
    check_rows(lambda table: frames_rows((table[:70], table[70:])))


@pytest.mark.usefixtures("partial_normal")
def test_the_rule_has_the_variance_and_the_normal_interval_of_its_formula():
    q, u = [1.0, 1.4, 0.9], [0.2, 0.25, 0.3]
    done = combine(q, u, rule="partial_normal", n_syn=100, n_org=100)
    T = np.mean(u) + np.var(q, ddof=1) / 3
    np.testing.assert_allclose(done.T, T, rtol=1e-12)
    low, high = done.conf_int()
    np.testing.assert_allclose([low, high], stats.norm.interval(0.95, np.mean(q), np.sqrt(T)), rtol=1e-12)
    wide = combine(q, u, rule="partial_reiter2003", n_syn=100, n_org=100).conf_int()
    assert wide[1] - wide[0] > 1.001 * (high - low)


def test_the_rule_is_refused_where_noise_is_and_never_chosen_by_itself(partial_normal):
    refused = [each for each in partial_normal.conditions if not each.holds(Facts(m=5, noise="shared"))]
    assert ["privacy noise" in str(each.otherwise) for each in refused] == [True]
    assert all(each.holds(Facts(m=5)) for each in partial_normal.conditions)
    assert partial_normal.order is None


@pytest.fixture
def halves(spells) -> list[pd.DataFrame]:
    spells["job"] = pd.Categorical(np.where(spells["weeks"] > 4, "long", "short"))
    second = spells.iloc[1500:].assign(
        job=lambda frame: frame["job"].cat.reorder_categories(["short", "long"])
    )
    return [spells.iloc[:1500], second]


def test_copies_of_several_frames_are_those_of_one(frames_rows, halves, spells):
    one, two = (sdp.Synthesizer(progress=False).fit(each) for each in (spells, frames_rows(tuple(halves))))
    pd.testing.assert_frame_equal(one.draw(m=1, rng=1)[0], two.draw(m=1, rng=1)[0], check_exact=True)


UNLIKE = {
    "number": (lambda frame: frame.astype({"age": "float32"}), "age: frame 2 has another type"),
    "levels": (lambda frame: frame.assign(job=frame["job"].cat.remove_categories("long")), "job: frame 2"),
    "columns": (lambda frame: frame.drop(columns="job"), "frame 2 has other columns"),
    "order": (lambda frame: frame[frame.columns[::-1]], "in another order"),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_frames_of_different_tables_are_refused_by_name(frames_rows, halves, name):
    change, words = UNLIKE[name]
    with pytest.raises(sdp.SchemaError, match=words):
        frames_rows((halves[0], change(halves[1])))
    with pytest.raises(sdp.SchemaError, match="one frame at least"):
        frames_rows(())


def test_every_template_is_written_as_we_write(tmp_path):
    files = [tmp_path / Path(path).name for path in TEMPLATES]
    for file, text in zip(files, TEMPLATES.values(), strict=True):
        file.write_text(text, encoding="utf-8")
    settings = ["--config", str(ROOT / "pyproject.toml")]
    tidy = ["-m", "ruff", "check", *settings, "--ignore", "INP001", *map(str, files)]
    subprocess.run([sys.executable, *tidy], check=True)
    layout = ["-m", "ruff", "format", "--diff", *settings, *map(str, files)]
    subprocess.run([sys.executable, *layout], check=True)
    types = ["-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"), *map(str, files)]
    done = subprocess.run([sys.executable, *types], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


KINDS = re.findall(r"^### (\d)\. (.*?)\n\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)


def test_eight_kinds_of_change_each_say_the_same_five_things():
    assert [number for number, *_ in KINDS] == list("12345678")
    for _, title, text in KINDS:
        said = re.findall(r"^- \*\*([\w ]+)\*\*: \S", text, re.MULTILINE)
        assert said == ["Files", "Copy", "Caught by", "Only you know", "Leave alone"], title


def test_every_file_that_the_page_names_is_there():
    names = re.findall(r"`([\w./-]+/[\w./-]*|\w+\.(?:md|toml|txt))`", PAGE)
    assert len(names) > 60
    made = {*TEMPLATES, ".venv-oldest", "build/docs/html"}
    missing = [name for name in names if name not in made and not (ROOT / name).exists()]
    assert not missing


def test_every_placeholder_stands_in_a_folder_that_is_there():
    for name in re.findall(r"`([\w./-]+)/(?:test_)?<\w+>[.\w]*`", PAGE):
        assert (ROOT / name).is_dir(), name


def test_every_test_that_the_page_names_is_there():
    written = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    for name in re.findall(r"`(test_\w+)`", PAGE):
        assert f"def {name}(" in written, name


def test_every_entry_point_group_is_one_of_ours():
    groups = set(re.findall(r"`(pysynthdp\.\w+)`", PAGE[PAGE.index("## From another package") :]))
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "pysynthdp").rglob("*.py"))
    known = set(re.findall(r'group="(pysynthdp\.\w+)"', sources))
    assert groups - known <= {"pysynthdp.models"}, "a registry's group is its package, unless it says another"
    assert known <= groups


def test_every_command_that_the_page_names_is_a_target():
    targets = (ROOT / "Makefile").read_text("utf-8")
    for name in set(re.findall(r"`make ([\w-]+)`", PAGE)):
        assert re.search(rf"^{name}:", targets, re.MULTILINE), name
