"""The site builds without a warning, has every page and public name, and loads nothing from the network."""

from __future__ import annotations

import html
import importlib.util
import inspect
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import unquote

import pytest
from statsmodels.datasets import anes96

import pysynthdp
import pysynthdp.privacy.prices
import pysynthdp.testing
from pysynthdp.io.plans.plan_file import read_plan
from pysynthdp.models.base import COLUMN_MODELS, Priced

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
MUST_RUN = bool(os.environ.get("PYSYNTHDP_TESTS_MUST_RUN") or os.environ.get("CI"))
ENTRIES = {
    name: entry
    for name in pysynthdp.__all__
    if not (inspect.isclass(entry := getattr(pysynthdp, name)) and issubclass(entry, Exception))
}
# what a browser loads by itself; what a reader must click is no matter
LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|object|embed)\b[^>]*?\b(?:src|data)=[\"']?(?:https?:)?//"
    r"|<link\b[^>]*\bhref=[\"']?(?:https?:)?//|@import\s+(?:url\()?[\"']?(?:https?:)?//"
    r"|url\([\"']?(?:https?:)?//|\b(?:fetch|importScripts|import)\([\"'](?:https?:)?//"
)


@pytest.mark.slow
@pytest.mark.skipif(not MUST_RUN and importlib.util.find_spec("sphinx") is None, reason="needs .[docs]")
def test_the_site_builds_has_everything_and_loads_nothing_from_the_network(tmp_path):
    command = [sys.executable, str(ROOT / "docs" / "build.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    site = tmp_path / "html"
    texts = {path: path.read_text("utf-8") for path in site.rglob("*.html")}
    assert lacking(site, texts) == []
    assert dead_ends(texts) == []
    files = [path for ending in ("html", "css", "js") for path in site.rglob(f"*.{ending}")]
    assert [path.name for path in files if LOADED.search(path.read_text("utf-8"))] == []


def lacking(site: Path, texts: dict[Path, str]) -> list[str]:
    """Name pages, notebooks with pictures and public names that a site does not have."""
    names = [path.stem for path in PAGES]
    notebooks = [f"vignettes/{path.stem}" for path in (ROOT / "vignettes").glob("*.ipynb")]
    found = [name for name in (*names, *notebooks) if site / f"{name}.html" not in texts]
    found += [name for name in notebooks if "<img" not in texts.get(site / f"{name}.html", "")]
    listed = texts[site / "reference.html"]
    for module in (pysynthdp, pysynthdp.testing):
        for name in (f"{module.__name__}.{each}" for each in module.__all__):
            page = texts.get(site / "api" / f"{name}.html", "")
            described = re.search(rf'id="{re.escape(name)}".*?</dt>\s*<dd><p>\w', page, flags=re.DOTALL)
            found += [] if described and f'href="api/{name}.html' in listed else [name]
    prices = {f"pysynthdp.privacy.{name}.html" for name in pysynthdp.privacy.prices.__all__}
    return found + sorted(prices - {path.name for path in texts})


def dead_ends(texts: dict[Path, str]) -> list[str]:
    """List links of a site to pages, or places in pages, that are not there."""
    places = {path: set(re.findall(r'\b(?:id|name)="([^"]+)"', text)) for path, text in texts.items()}
    found = []
    for path, text in texts.items():
        for link in set(re.findall(r'<a\b[^>]*?\bhref="([^"]+)"', text)):
            target, _, anchor = unquote(html.unescape(link)).partition("#")
            if re.match(r"\w+:", target):
                continue
            there = (path.parent / target).resolve() if target else path
            known = anchor in places[there] if anchor and there in places else there.exists()
            found += [] if known or (not anchor and not target) else [f"{path.name}: {link}"]
    return found


LINK = re.compile(r"\[[^\[\]]*\]\(([^()\s]+)\)")


def anchors_of(path: Path) -> set[str]:
    """Give the places of a page as code hosts name them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_links_of_a_page_work_where_the_repository_is_shown(path):
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    missing = []
    for link in LINK.findall(text):
        target, _, anchor = link.partition("#")
        there = path.parent / target if target else path
        if "://" not in link and not (there.exists() and (not anchor or anchor in anchors_of(there))):
            missing.append(link)
    assert not missing


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_opens_with_its_title(path):
    assert re.match(r"# \S", path.read_text("utf-8"))


def test_every_page_for_somebody_is_linked_from_the_first():
    first = (ROOT / "docs" / "index.md").read_text("utf-8")
    assert {path.name for path in PAGES if path.stem.startswith("for-")} <= set(LINK.findall(first))


@pytest.mark.parametrize("page", ["index", "for-survey-statisticians"])
def test_the_code_of_a_page_runs(page, tmp_path):
    anes96.load_pandas().data.to_csv(tmp_path / "survey.csv", index=False)
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL))
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "\n".join(unsaid(done.stderr))) == (0, "")
    assert "no formal guarantee" in done.stdout


def unsaid(stderr: str) -> list[str]:
    """Leave out the lines about stages, with their seconds."""
    return [line for line in stderr.splitlines() if not re.search(r"^pysynthdp: .*\(\d+\.\d s\)$", line)]


def test_the_plan_of_the_page_on_keys_can_be_read(tmp_path):
    text = (ROOT / "docs" / "plan-keys.md").read_text("utf-8")
    (plan,) = re.findall(r"^```toml\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    (tmp_path / "plan.toml").write_text(plan, "utf-8")
    assert read_plan(tmp_path / "plan.toml")["bounds"] == {"age": (18, 99)}


def test_the_extras_of_the_first_page_are_those_that_can_be_installed():
    text = (ROOT / "docs" / "index.md").read_text("utf-8")
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", text, flags=re.MULTILINE)
    told = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert told == set(project["optional-dependencies"]) - {"test", "docs"}


SUITE = [name for name in pysynthdp.testing.__all__ if inspect.isfunction(getattr(pysynthdp.testing, name))]


@pytest.mark.parametrize("name", SUITE)
def test_every_function_of_the_contract_suite_is_documented_with_an_example(name):
    text = inspect.getdoc(getattr(pysynthdp.testing, name))
    assert "Parameters\n------" in text
    assert ">>> " in text


@pytest.mark.parametrize("name", ENTRIES)
def test_every_public_name_says_what_it_takes_and_what_it_means_for_privacy(name):
    text = inspect.getdoc(ENTRIES[name])
    assert "Parameters\n------" in text
    assert re.match(r"[A-Zm][^\n]*\.\n", text), "the first line is one sentence"


def is_documentable(entry: object) -> bool:
    """Whether a class attribute is a method or a property."""
    return isinstance(entry, classmethod | staticmethod | property) or callable(entry)


METHODS = {
    f"{name}.{method}": entry
    for name, owner in ENTRIES.items()
    if inspect.isclass(owner)
    for method, entry in vars(owner).items()
    if not method.startswith("_") and is_documentable(entry)
}


@pytest.mark.parametrize("method", METHODS)
def test_every_public_method_is_documented(method):
    assert inspect.getdoc(METHODS[method])


@pytest.mark.parametrize(
    ("place", "read"),
    [
        ("Synthesizer", lambda: inspect.getdoc(pysynthdp.Synthesizer)),
        ("synthesise.R", lambda: (ROOT / "r-bridge/R/synthesise.R").read_text("utf-8")),
        ("synthesise.Rd", lambda: (ROOT / "r-bridge/man/synthesise.Rd").read_text("utf-8")),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_the_lists_of_models_name_every_model(place, read):
    # those that a guarantee alone can use are listed in docs/guarantees.md
    plain = [name for name in COLUMN_MODELS if not issubclass(COLUMN_MODELS[name], Priced)]
    text = read()
    missing = [name for name in plain if not re.search(rf"\b{name}\b", text)]
    assert not missing, f"{place} lacks {missing}"
