"""``docs/formulas.md`` explains every entry that code or a statement names, and is true of the code."""

from __future__ import annotations

import ast
import doctest
import io
import re
import tokenize
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp import privacy as pv
from pysynthdp.privacy import prices
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.mechanism import MECHANISMS, PricedColumn
from pysynthdp.privacy.statements.sampling import state_account
from pysynthdp.privacy.statements.text import ENTRIES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "formulas.md").read_text("utf-8")
SECTIONS = {
    title.split()[0]: text
    for title, text in re.findall(r"^## (\S+ .*?)\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
}
SECTIONS = {name: text for name, text in SECTIONS.items() if re.fullmatch(r"[A-J]\d|urn", name)}
CITED = re.compile(r"\b[A-J]\d\b")
OTHERS = {"analysis"}  # D1 and D3 there are tests of Li, Raghunathan and Rubin, and of Meng and Rubin
EXAMPLES = {
    "plug_in_mean": {"n": 100, "lower": 0.0, "upper": 1.0, "sigma": 1.0},
    "mean_per_copy": {"n": 100, "lower": 0.0, "upper": 1.0, "sigma": 1.0},
    "mean_per_record": {"n": 100, "lower": 0.0, "upper": 1.0, "sigma": 1.0},
    "mean_with_prior": {"n": 100, "lower": 0.0, "upper": 1.0, "sigma": 1.0, "sigma0": 1.0},
    "posterior_mean": {"n": 100, "lower": 0.0, "upper": 1.0, "sigma": 1.0},
    "noisy_mean": {"eps": 0.5, "n": 100, "lower": 0.0, "upper": 1.0},
    "truncated_mean": {"n": 100, "half_width": 1.0, "sigma": 2.0},
    "floored_variance": {"n": 1000, "half_width": 2.0, "floor": 1.0},
    "ridged_normal": {"n": 100_000, "columns": 2, "ridge": 0.5},
    "noisy_statistics": {"eps": 1.0, "functions": 4, "row_gap": 2, "row_norm": 1},
    "cells_per_record": {"n": 100, "prior": (20.0, 20.0, 20.0)},
    "cells_per_copy": {"n": 100, "prior": (20.0, 20.0)},
    "cells_by_urn": {"n": 100, "prior": (20.0, 20.0, 20.0)},
    "posterior_shares": {"n": 100, "prior": (20.0, 20.0, 20.0)},
    "noisy_shares": {"eps": 0.5, "n": 100, "prior": (1.0, 1.0)},
    "mean_on_grid": {"n": 100, "lower": 0.0, "upper": 1.0, "sigma": 1.0},
    "ridge_regression": {"n": 1000, "row_norm": 1.0, "response": 1.0, "ridge": 1000.0, "sigma": 1.0},
    "logistic_ridge": {"row_norm": 1.0, "ridge": 100.0},
    "noisy_moments": {"row_bounds": (10,), "scales": (9900,), "relation": "replace_one"},
}


def made(name):
    return MECHANISMS[name](**EXAMPLES[name])


def cited_by_code() -> dict[str, list[str]]:
    """Each entry that a docstring, a comment or a text of the package names, with the files that do."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "pysynthdp").rglob("*.py")):
        where = path.relative_to(ROOT / "pysynthdp")
        if where.parts[0] in OTHERS:
            continue
        for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
            if token.type in (tokenize.STRING, tokenize.COMMENT):
                for entry in CITED.findall(token.string):
                    found.setdefault(entry, []).append(str(where))
    return found


def entries_of(text: str) -> list[str]:
    return text.split(", ")


def test_every_entry_that_the_code_cites_has_its_heading():
    cited = cited_by_code()
    assert len(cited) > 40  # the scan finds them at all
    assert not {entry: files for entry, files in cited.items() if entry not in SECTIONS}


def test_no_heading_is_stale():
    named = {entry for name in MECHANISMS for entry in entries_of(MECHANISMS[name].entry)}
    unused = set(SECTIONS) - set(cited_by_code()) - named
    assert not {name for name in unused if "not used by the product" not in SECTIONS[name]}


def test_every_heading_stands_once():
    heads = re.findall(r"^## ([A-J]\d|urn)\b", PAGE, flags=re.MULTILINE)
    assert len(heads) == len(set(heads)) == len(SECTIONS)


def test_the_examples_here_are_of_every_mechanism():
    assert set(EXAMPLES) == set(MECHANISMS)


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_a_statement_names_entries_that_are_explained_and_says_where(name):
    account = Account([PricedColumn("x", "some", made(name))])
    account.charge(n_syn=10, copies=1)
    statement = state_account(account)
    (column,) = statement.to_dict()["columns"]
    assert set(entries_of(column["entry"])) <= set(SECTIONS)
    assert statement.to_dict()["entries"] == ENTRIES == "docs/formulas.md of pysynthdp"
    assert f"* Entries: {ENTRIES}" in str(statement)
    assert ENTRIES in statement.plain_language()
    assert statement.verify().ok


def test_a_statement_without_a_guarantee_names_no_entries():
    statement = sdp.PrivacyStatement.none([])
    assert "formulas.md" not in f"{statement} {statement.plain_language()} {statement.to_dict()}"


def test_a_release_folder_says_where_entries_are_explained(tmp_path):
    age = sdp.NumericColumn("age", lower=0, upper=100, may_be_missing=False, fallback=50)
    fitted = sdp.Synthesizer(
        schema=sdp.Schema([age]),
        method={"age": sdp.models.Gaussian(sigma=15.0)},
        guarantee=sdp.BySampling(),
        progress=False,
    ).fit(pd.DataFrame({"age": np.arange(100.0)}))
    folder = fitted.draw(1).save(tmp_path / "copies")
    for file in ("README.txt", "privacy.json"):
        assert ENTRIES in " ".join((folder / file).read_text("utf-8").split())
    assert sdp.SyntheticRelease.load(folder).privacy.verify().ok


def test_a_statement_of_the_layout_before_entries_were_pointed_to_still_reads():
    account = Account([PricedColumn("x", "some", made("plug_in_mean"))])
    account.charge(n_syn=10, copies=1)
    plain = state_account(account).to_dict()
    del plain["entries"]
    assert sdp.PrivacyStatement.from_dict(plain).verify().ok


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_the_table_of_mechanisms_is_that_of_the_code(name):
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.splitlines()
        if f"| `{name}` |" in line
    ]
    (row,) = rows
    kind = MECHANISMS[name]
    assert row[:4] == [
        kind.entry,
        f"`{name}`",
        made(name).price(n_syn=10, copies=1).name,
        "implemented" if kind.exact else "idealised",
    ]


def test_the_table_has_no_other_mechanisms():
    assert set(re.findall(r"^\| [^|]+ \| `(\w+)` \|", PAGE, flags=re.MULTILINE)) == set(MECHANISMS)


def resolved(dotted: str) -> object:
    """Find a module, or a name in one."""
    parts = dotted.split(".")
    try:
        return import_module(f"pysynthdp.{dotted}")
    except ModuleNotFoundError:
        return getattr(import_module(f"pysynthdp.{'.'.join(parts[:-1])}"), parts[-1])


@pytest.mark.parametrize("name", list(SECTIONS))
def test_an_entry_says_where_it_stands_in_the_code(name):
    text = " ".join(SECTIONS[name].split())
    if name != "H0":  # a warning, not a formula
        places = re.findall(r"`((?:privacy|parameters|plan)\.[\w.]+)`", text)
        assert places
        assert all(resolved(place) is not None for place in places)


def test_the_numbers_are_those_of_the_code():
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL))
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(doctest.DocTestParser().get_doctest(code, {}, "formulas", None, 0))
    assert runner.summarize(verbose=False).failed == 0
    assert runner.tries > 40


def test_a_paper_that_an_entry_cites_stands_in_the_list():
    body, papers = PAGE.split("\n# Papers\n")
    listed = " ".join(papers.split())
    cited = set(
        re.findall(r"\b([A-Z][a-z]+)(?:(?:, [A-Z][a-z]+)* and [A-Z][a-z]+| et al\.)? ((?:19|20)\d\d)\b", body)
    )
    assert len(cited) > 15
    for author, year in cited:
        assert re.search(rf"{author}[^*]*\({year}\)", listed), (author, year)


def test_references_lead_to_headings_and_none_to_a_page_that_is_not_here():
    files = [ROOT / "ARCHITECTURE.md", ROOT / "README.md", ROOT / "docs" / "guarantees.md"]
    files += [*(ROOT / "pysynthdp").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    texts = {path: path.read_text("utf-8") for path in files if path != Path(__file__)}
    assert not [path for path, text in texts.items() if re.search(r"(?<![\w/])privacy\.md", text)]
    for path, text in texts.items():
        for entry in re.findall(r"formulas\.md\W{1,4}([A-J]\d|urn)\b", text):
            assert entry in SECTIONS, (path, entry)
    assert "formulas.md" in texts[ROOT / "README.md"]
    assert "formulas.md" in texts[ROOT / "docs" / "guarantees.md"]


def test_the_door_to_the_prices_opens_on_every_formula_of_its_room():
    for name in prices.__all__:
        found = getattr(prices, name)
        assert callable(found), name  # a file of the same name would be found in its place
        assert found.__module__.startswith("pysynthdp.privacy.prices."), name
        assert getattr(pv, name) is found, name


@pytest.mark.parametrize("name", [name for name in prices.__all__ if name[0].islower()])
def test_a_price_is_explained_here_and_has_an_example(name):
    assert f"`privacy.prices.{name}`" in PAGE
    assert ">>> " in getattr(prices, name).__doc__


def test_the_names_that_are_loaded_late_are_the_typed_ones():
    for module, more in ((prices, set()), (pv, {"prices", *prices.__all__})):
        tree = ast.parse(Path(module.__file__).read_text("utf-8"))
        (block,) = [node for node in tree.body if isinstance(node, ast.If)]
        typed = {alias.name for line in block.body for alias in line.names} - {"*"}
        assert typed | more == set(module.__all__)
        assert set(module.__all__) == {*module._HOME, *(more & {"prices"})}
