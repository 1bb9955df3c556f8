"""What must not leak: no value of a record in a text, an error or a fitted object."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pysynthdp import CategoricalColumn, NumericColumn, PrivacyError, PysynthdpError, Schema, Synthesizer

# the planted outlier is drawn in and said, as it should be; so is that rare counts join their neighbours
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*lie so far from all others:pysynthdp.base.errors.PysynthdpWarning"),
    pytest.mark.filterwarnings(
        "ignore:visits. few distinct numbers, taken as levels:pysynthdp.base.errors.PysynthdpWarning"
    ),
]

N = 997  # prime, so that no parameter array has this length by chance
SENTINEL = 7_654_321.125
NAME = "Zebulon"


def survey(seed: int = 1) -> pd.DataFrame:
    """A table of every kind, one outlier in it."""
    rng = np.random.default_rng(seed)
    income = np.round(rng.gamma(2.0, 1000.0, N), 2)
    income[500] = SENTINEL
    edu = pd.Categorical.from_codes(rng.integers(0, 3, N), ["lo", "mid", "hi"], ordered=True)
    age = rng.integers(18, 90, N)
    table = pd.DataFrame({"age": age, "sex": rng.choice(["F", "M"], N), "income": income, "edu": edu})
    table["visits"] = rng.poisson(2.0, N)
    table["smokes"] = pd.Series(rng.random(N) < 0.3).astype("boolean").mask(rng.random(N) < 0.1)
    table["born"] = pd.Timestamp("1990-01-01") + pd.to_timedelta(rng.integers(0, 9000, N), unit="D")
    return table


def permuted_and_shifted(table: pd.DataFrame) -> pd.DataFrame:
    """The same columns and rows, every column shuffled on its own, numbers and dates moved."""
    rng = np.random.default_rng(9)
    moved = pd.DataFrame({name: table[name].to_numpy()[rng.permutation(N)] for name in table}).astype(
        table.dtypes
    )
    return shifted(moved)


def shifted(table: pd.DataFrame) -> pd.DataFrame:
    """The same rows, numbers and dates moved."""
    moved = table.copy()
    moved["age"] += 1000
    moved["visits"] += 5
    moved["income"] = np.round(moved["income"] * 3 + 7, 2)
    moved["born"] += pd.Timedelta(days=4000)
    return moved


def texts_of(synthesizer: Synthesizer, table: pd.DataFrame) -> list[str]:
    """All that is printed of a fit."""
    fitted = synthesizer.fit(table)
    things = (synthesizer, fitted, fitted.plan, synthesizer.plan(table), fitted.account)
    return [text for thing in things for text in (repr(thing), str(thing), html_of(thing))]


@pytest.mark.parametrize("number", ["cells", "normrank"])
@pytest.mark.parametrize("proper", [False, True])
def test_texts_of_a_fit_depend_on_no_value(proper: bool, number: str) -> None:
    method = dict.fromkeys(("age", "income", "born"), number)  # chosen by all rows together, as terms are
    synthesizer = Synthesizer(method=method, proper=proper, terms="main", progress=False)
    texts = [texts_of(synthesizer, table) for table in (survey(), permuted_and_shifted(survey()))]
    assert texts[0] == texts[1]
    numbers = set(re.findall(r"\d+(?:\.\d+)?", " ".join(texts[0]).replace(",", "")))
    assert str(N) in numbers
    assert not numbers & {str(int(SENTINEL)), "90", "89"}


@pytest.mark.parametrize("proper", [False, True])
def test_texts_name_no_level_though_a_product_with_one_was_found(proper: bool) -> None:
    table = survey()
    table["born"] += pd.to_timedelta(100 * (table["visits"] == 3) * table["age"], unit="D")
    renamed = shifted(table).replace({"sex": {"F": "Wilhelmina", "M": "Ottokar"}})
    synthesizer = Synthesizer(proper=proper, progress=False)
    texts = [texts_of(synthesizer, each) for each in (table, renamed)]
    assert "visits[...]:age" in texts[0][4]
    assert texts[0] == texts[1]


def html_of(thing: Any) -> str:
    """HTML where there is one."""
    return thing._repr_html_() if hasattr(thing, "_repr_html_") else ""


def parts_of(thing: Any, seen: set[int]) -> Iterator[Any]:
    """Every object that can be reached."""
    if id(thing) in seen or isinstance(thing, type | str | bytes | int | float | bool | None):
        return
    seen.add(id(thing))
    yield thing
    for inner in inside(thing):
        yield from parts_of(inner, seen)


def inside(thing: Any) -> list[Any]:
    """Objects directly inside another."""
    if isinstance(thing, dict | MappingProxyType):
        return [*thing.keys(), *thing.values()]
    if isinstance(thing, list | tuple | set | frozenset):
        return list(thing)
    if isinstance(thing, pd.Series | pd.Index):
        return [np.asarray(thing)]
    slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
    named = [*slots, *getattr(thing, "__dict__", ())]
    closure = [cell.cell_contents for cell in getattr(thing, "__closure__", None) or ()]
    return [getattr(thing, name) for name in named if hasattr(thing, name)] + closure


METHODS = [
    None,
    "sample",
    {"income": "norm"},
    {"income": "lognorm", "visits": "poisson"},
    {"visits": "negbin"},
]


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("proper", [False, True])
def test_a_fit_holds_no_record(method: Any, proper: bool) -> None:
    table = survey()
    fitted = Synthesizer(method=method, proper=proper, progress=False).fit(table)
    arrays = [thing for thing in parts_of(fitted, set()) if isinstance(thing, np.ndarray)]
    assert arrays
    for array in arrays:
        assert N not in array.shape
        if array.dtype.kind == "f":
            assert not np.isclose(array, SENTINEL, rtol=1e-9).any()
    assert np.float64(SENTINEL).tobytes() not in pickle.dumps(fitted)


@pytest.mark.filterwarnings("ignore:smokes. fewer than five records")
@pytest.mark.parametrize("n", [997, 97, 31])
def test_grids_are_coarse_and_average_records(n: int) -> None:
    table = survey().iloc[500 - n // 2 :].head(n).reset_index(drop=True)
    fitted = Synthesizer(progress=False).fit(table)
    income = np.sort(table["income"])
    arrays = [thing for thing in parts_of(fitted._machine.fit.steps, set()) if isinstance(thing, np.ndarray)]
    assert max(max(array.shape, default=0) for array in arrays if array.ndim == 2) <= 2 * (
        min(200, n // 10) + 2
    )
    largest = max(float(np.max(array, initial=0.0)) for array in arrays if array.dtype.kind == "f")
    assert largest <= income[-5:].mean() * (1 + 1e-9)


def test_emit_original_makes_the_fit_confidential() -> None:
    table = survey()[["age", "income"]]
    fitted = Synthesizer(emit_original=True, progress=False).fit(table)
    assert fitted.confidential
    assert set(fitted.draw(m=1, rng=1)[0]["income"]) <= set(table["income"])
    assert not Synthesizer(progress=False).fit(table).confidential


def test_emit_original_refuses_files_and_is_loud(tmp_path: Path) -> None:
    fitted = Synthesizer(emit_original=True, progress=False).fit(survey()[["age", "income"]])
    with pytest.raises(PrivacyError, match="emit_original"):
        fitted.save(tmp_path / "fit.json")
    with pytest.raises(PrivacyError, match="emit_original"):
        pickle.dumps(fitted)
    assert copy.copy(fitted).account is fitted.account
    release = fitted.draw(m=1, rng=1)
    readme = (release.save(tmp_path / "r") / "README.txt").read_text(encoding="utf-8")
    told = (str(fitted), html_of(fitted), str(release), str(release.privacy), " ".join(readme.split()))
    assert all("age, income" in text for text in told)
    assert all("REAL" in text or "values of real records" in text for text in told)


def bad_tables() -> list[tuple[str, dict[str, Any], pd.DataFrame]]:
    """One table for each way of being refused, a sentinel value in each."""
    names = [f"{NAME} {i}" for i in range(40)]
    plain = survey()[["age", "income"]]
    text = pd.DataFrame({"name": [NAME, "b"] * 20, "x": np.linspace(0, SENTINEL, 40)})
    declared = Schema([CategoricalColumn("name", ["b"]), NumericColumn("x", 0, 9)])
    return [
        ("identifier", {}, text.assign(name=names)),
        ("free text", {}, pd.DataFrame({"name": [f"{NAME} {i % 70}" for i in range(100)]})),
        ("identifier category", {}, text.assign(name=pd.Categorical(names))),
        ("outside bounds", {"bounds": {"income": (0, 100)}}, plain),
        ("infinite", {}, plain.assign(income=np.where(plain["income"] == SENTINEL, np.inf, SENTINEL))),
        ("too large", {}, plain.assign(income=plain["income"] * 1e200)),
        ("beyond 2^53", {}, plain.assign(income=(2**60 + plain["income"]).astype("int64"))),
        ("not a level", {"levels": {"name": ["b"]}}, text),
        ("not a level, declared", {"schema": declared}, text),
        ("outside bounds, declared", {"schema": declared.amend("name", levels=["b", NAME])}, text),
        ("numeric, declared", {"schema": Schema([NumericColumn("name")])}, text),
        ("dates, declared", {"schema": Schema([NumericColumn("name", unit="day")])}, text),
        (
            "missing, declared",
            {"schema": Schema([NumericColumn("x", may_be_missing=False)])},
            text.mask(text["x"] == 0),
        ),
        (
            "whole, declared",
            {"schema": Schema([NumericColumn("x", dtype="int64")])},
            text.mask(text["x"] == 0),
        ),
        ("mixed objects", {}, text.assign(name=[NAME, SENTINEL] * 20)),
        ("number objects", {}, text.assign(x=text["x"].astype(object))),
        ("list objects", {}, text.assign(x=[[SENTINEL]] * 40)),
        ("code twice", {"missing": {"x": [0]}, "spikes": {"x": [0]}}, text),
        ("not constant", {"method": {"x": "constant"}}, text),
        ("not positive", {"method": {"x": "lognorm"}}, text.assign(x=text["x"] - SENTINEL / 2)),
        ("not whole", {"method": {"x": "poisson"}}, text.assign(x=-text["x"])),
        ("wrong method", {"method": {"name": "norm"}}, text),
        ("no rows", {}, text.head(0)),
        ("names twice", {}, text.set_axis(["a", "a"], axis=1)),
    ]


@pytest.mark.parametrize(
    ("label", "wishes", "table"), bad_tables(), ids=[label for label, _, _ in bad_tables()]
)
def test_refusals_quote_no_value(label: str, wishes: dict[str, Any], table: pd.DataFrame) -> None:
    with pytest.raises(PysynthdpError) as caught:
        Synthesizer(progress=False, **wishes).fit(table)
    told: BaseException | None = caught.value
    while told is not None:
        text = str(told).replace(",", "").replace("_", "")
        assert NAME not in text, label
        assert "7654321" not in text, label
        assert "76543" not in text, label
        told = told.__cause__ or (None if told.__suppress_context__ else told.__context__)


def test_seeds_are_told_nowhere() -> None:
    seed = 918_273_645
    fitted = Synthesizer(progress=False).fit(survey())
    release = fitted.draw(m=2, rng=seed)
    things = (release, release.privacy, release.provenance, fitted, fitted.account, release.tags)
    told = [text for thing in things for text in (repr(thing), str(thing), html_of(thing))]
    told += [str(copy.attrs) for copy in release]
    told.append(str(dataclasses.asdict(release.provenance)))
    assert not any("918273645" in text.replace(",", "") for text in told)
    for thing in (fitted, release.privacy, release.provenance):
        assert seed.to_bytes(4, "little") not in pickle.dumps(thing)


def test_inferred_bounds_are_told_nowhere() -> None:
    table = survey()
    release = Synthesizer(progress=False).fit(table).draw(m=1, rng=1)
    told = " ".join([str(release.schema), repr(release.schema["income"]), str(release.privacy), str(release)])
    for bound in (table["income"].min(), table["income"].max(), SENTINEL):
        assert f"{bound:.10g}" not in told.replace(",", "")


def test_levels_of_a_renumbered_identifier_are_told_nowhere() -> None:
    table = survey().assign(who=[f"{i % 30}{NAME}{i % 30}" for i in range(N)])
    fitted = Synthesizer(method={"who": "serial"}, progress=False).fit(table)
    release = fitted.draw(m=1, rng=1)
    told = " ".join(
        [str(release.privacy), str(release), str(fitted), repr(fitted.schema["who"]), str(release[0].attrs)]
    )
    assert NAME not in told
    assert NAME.encode() not in pickle.dumps(fitted)
    assert release[0]["who"].tolist()[:2] == ["1", "2"]


def test_kept_columns_are_named_everywhere(tmp_path: Path) -> None:
    fitted = Synthesizer(keep=["age"], progress=False).fit(survey())
    with pytest.raises(PrivacyError, match="keep"):
        pickle.dumps(fitted)
    release = fitted.draw(m=1, rng=1)
    folder = release.save(tmp_path / "r")
    texts = [(folder / name).read_text(encoding="utf-8") for name in ("README.txt", "codebook.csv")]
    cards = [fitted, fitted.plan, release, release.privacy]
    told = [str(card) for card in cards] + [html_of(card) for card in cards] + texts
    assert all("age" in text and "REAL" in text for text in told)
    assert release.tags.kept == {"age"}
    assert "age" in str(release.provenance)
