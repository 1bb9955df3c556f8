"""A saved fit draws the same copies, holds no record, and cannot run what a file says."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pysynthdp.base.errors import PrivacyError, ReleaseError
from pysynthdp.io import fit_file
from pysynthdp.io.tree import from_tree, to_tree
from pysynthdp.models.base import COLUMN_MODELS
from pysynthdp.protection.sampling.by_sampling import BySampling
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema
from pysynthdp.synthesizer import FittedSynthesizer, Synthesizer


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    n = 200
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "wage": np.where(rng.random(n) < 0.3, -8, rng.gamma(3, 500, n).round(2)),
            "sex": rng.choice(["F", "M"], n),
            "edu": pd.Categorical(
                rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True
            ),
            "area": pd.Categorical(rng.choice([1, 2, 5], n), [1, 2, 5, 9]),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), unit="D"),
            "kids": pd.array(rng.poisson(1.5, n), dtype="Int64"),
        }
    ).mask(lambda df: np.outer(rng.random(n) < 0.1, df.columns == "sex"))


@pytest.mark.filterwarnings("ignore:area. 1 of its categories")
@pytest.mark.parametrize("proper", [False, True])
def test_saved_fit_draws_the_same_copies(table, proper, tmp_path):
    method = {"wage": "lognorm", "age": "norm", "kids": "poisson", "area": "polyreg", "edu": "polr"}
    fitted = Synthesizer(method=method, proper=proper, missing={"wage": [-8]}, progress=False).fit(table)
    first = fitted.draw(m=1, rng=5)
    path = fitted.save(tmp_path / "fit.zip")
    loaded = FittedSynthesizer.load(path)
    assert loaded.account.copies == 1
    assert loaded.schema == fitted.schema
    pd.testing.assert_frame_equal(loaded.draw(m=1, rng=5)[0], first[0], check_exact=True)
    assert loaded.draw(m=2, rng=1).privacy == (fitted.draw(m=1, rng=5) and fitted.draw(m=2, rng=1)).privacy
    assert [item.name for item in tmp_path.iterdir()] == ["fit.zip"]


def test_same_fit_gives_the_same_bytes(table, tmp_path):
    fitted = Synthesizer(progress=False).fit(table[["age", "sex"]])
    assert fitted.save(tmp_path / "a").read_bytes() == fitted.save(tmp_path / "b").read_bytes()


def test_fits_that_hold_real_values_are_not_saved(table, tmp_path):
    kept = Synthesizer(keep=["sex"], progress=False).fit(table[["age", "sex"]])
    with pytest.raises(PrivacyError, match="real values of sex"):
        kept.save(tmp_path / "fit")
    real = Synthesizer(method={"age": "sample"}, emit_original=True, progress=False).fit(table[["age"]])
    with pytest.raises(PrivacyError, match="emit_original"):
        real.save(tmp_path / "fit")
    assert list(tmp_path.iterdir()) == []


def test_no_record_in_the_file(tmp_path):
    rng = np.random.default_rng(2)
    x = rng.normal(size=500) * np.pi * 1e6
    fitted = Synthesizer(method={"x": "norm", "y": "norm"}, progress=False).fit(
        pd.DataFrame({"x": x, "y": x + rng.normal(size=500)})
    )
    with zipfile.ZipFile(fitted.save(tmp_path / "fit")) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    assert not any(value.tobytes() in content or repr(float(value)).encode() in content for value in x)


def test_existing_file_is_never_replaced(table, tmp_path):
    path = tmp_path / "fit"
    path.write_text("mine")
    with pytest.raises(ReleaseError, match="exists already"):
        Synthesizer(progress=False).fit(table[["age"]]).save(path)
    assert path.read_text() == "mine"
    with pytest.raises(ReleaseError, match="cannot be written"):
        Synthesizer(progress=False).fit(table[["age"]]).save(tmp_path / "none" / "fit")


def test_tree_keeps_types():
    schema = Schema([NumericColumn("a", lower=0, spikes=[0.5]), CategoricalColumn("b", [1, "x", 2])])
    value = {
        ("a", "kind"): np.arange(6, dtype=np.int16).reshape(2, 3),
        "scalars": (np.float64(0.1), np.int8(3), np.bool_(True), 2, 1.0, float("inf"), None, True),
        "set": frozenset({"b", "a"}),
        "list": [[], (), {}],
        "schema": schema,
        "time": pd.Timestamp("2020-01-01", tz="UTC"),
    }
    arrays: list[np.ndarray] = []
    back = from_tree(json.loads(json.dumps(to_tree(value, arrays))), arrays)
    assert list(back) == list(value)
    assert back[("a", "kind")].dtype == np.int16
    assert [type(item) for item in back["scalars"]] == [type(item) for item in value["scalars"]]
    assert back["scalars"] == value["scalars"]
    for name in ("set", "list", "schema", "time"):
        assert back[name] == value[name]


@dataclass(frozen=True)
class Outside:
    x: int


@pytest.mark.parametrize(
    "value", [Outside, lambda: 1, np.array([object()]), pd.Series([1]), pd.DataFrame(), object()]
)
def test_what_no_file_can_hold_is_refused(value, tmp_path):
    with pytest.raises(ReleaseError, match="cannot be written"):
        fit_file.save({"part": value}, tmp_path / "fit")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("os:system", "install it first"),
        ("subprocess:Popen", "install it first"),
        (f"{__name__}:Outside", "install it first"),
        ("pysynthdp.io.fit_file:save", "not a class that a file may name"),
        ("pysynthdp.base.errors:PlanError", "not a class that a file may name"),
        ("pysynthdp.io.fit_file:zipfile.ZipFile", "not a class that a file may name"),
        ("pysynthdp.nothing:Here", "not known here"),
        ("pysynthdp.schema:Nothing", "not known here"),
    ],
)
def test_file_cannot_name_other_classes(name, words, tmp_path):
    tree = {"class": name, "fields": {"path": "x"}}
    head = {
        "format": "pysynthdp fit",
        "format_version": fit_file.FIT_VERSION,
        "arrays": 0,
        "parts": {"machine": tree},
    }
    path = tmp_path / "fit"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("fit.json", json.dumps(head))
    with pytest.raises(ReleaseError, match=words):
        fit_file.load(path)


def test_fits_whose_draws_cost_are_not_saved(table, tmp_path):
    age = NumericColumn("age", lower=0, upper=120, may_be_missing=False, fallback=40)
    method = {"age": COLUMN_MODELS["gaussian"](sigma=20.0)}
    settings = Synthesizer(schema=Schema([age]), method=method, guarantee=BySampling(), progress=False)
    with pytest.raises(PrivacyError, match="second account"):
        settings.fit(table[["age"]]).save(tmp_path / "fit")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"text", "missing", "cut", "version", "pickle"])
def test_damaged_files_are_typed_errors(content, table, tmp_path):
    path = Synthesizer(progress=False).fit(table[["age", "sex"]]).save(tmp_path / "fit")
    if content == "missing":
        path.unlink()
    elif content == "cut":
        path.write_bytes(path.read_bytes()[:-200])
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.unlink()
        with zipfile.ZipFile(path, "w") as archive:
            version = 1 if content == "version" else fit_file.FIT_VERSION
            tree = {"format": "pysynthdp fit", "format_version": version, "arrays": 1, "parts": {}}
            archive.writestr("fit.json", json.dumps(tree))
            with archive.open("0.npy", "w") as member:
                np.lib.format.write_array(member, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ReleaseError):
        FittedSynthesizer.load(path)


@pytest.mark.parametrize("version", [0, 1, 99, None, "2"])
def test_a_fit_of_another_format_says_fit_again(version, tmp_path):
    path = tmp_path / "fit"
    head = {"format": "pysynthdp fit", "format_version": version, "arrays": 0, "parts": {}}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("fit.json", json.dumps(head))
    with pytest.raises(
        ReleaseError, match=r"is a saved fit of format .* reads formats 2 to 5: fit again and save anew"
    ):
        FittedSynthesizer.load(path)


@pytest.mark.parametrize("head", [[], {}, {"format": "another", "format_version": 1}])
def test_a_file_of_another_kind_is_no_saved_fit(head, tmp_path):
    path = tmp_path / "fit"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("fit.json", json.dumps(head))
    with pytest.raises(ReleaseError, match="is not a saved fit; fit and save anew"):
        FittedSynthesizer.load(path)


@pytest.mark.parametrize("name", ["proper", "noise", "before_cells", "before_cells_proper"])
def test_a_fit_that_an_earlier_version_saved_draws_what_it_drew(name):
    fits = Path(__file__).parents[2] / "golden" / "fits"
    copy = FittedSynthesizer.load(fits / f"{name}.fit").draw(m=1, rng=7)[0].head(6)
    drawn = pd.read_csv(fits / f"{name}.csv")
    pd.testing.assert_frame_equal(copy, drawn, check_dtype=False, check_categorical=False, rtol=1e-5)


def test_a_fit_saved_now_is_refused_by_name_where_format_2_is_the_newest(table, monkeypatch, tmp_path):
    path = Synthesizer(progress=False).fit(table[["age", "sex"]]).save(tmp_path / "fit")
    monkeypatch.setattr(fit_file, "_READ", (2,))  # as that version was
    with pytest.raises(ReleaseError, match="is a saved fit of format 5"):
        FittedSynthesizer.load(path)


def test_a_fit_of_the_new_kinds_draws_the_same_after_loading(table, tmp_path):
    table = table[["age", "sex"]].assign(twice=2 * table["age"], cost=lambda t: np.exp(t["age"] / 30))
    fitted = Synthesizer(derive={"cost": "exp(age / 30)"}, progress=False).fit(table)
    loaded = FittedSynthesizer.load(fitted.save(tmp_path / "fit"))
    assert loaded.plan == fitted.plan
    pd.testing.assert_frame_equal(loaded.draw(m=1, rng=5)[0], fitted.draw(m=1, rng=5)[0], check_exact=True)
