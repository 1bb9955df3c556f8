"""Where the parts of a table lie while it is fitted changes no bit, of fit, copies or errors."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError
from pysynthdp.base.sealed import SealedArray
from pysynthdp.cli.exit_codes import Exit, exit_of
from pysynthdp.curator import contributions, table
from pysynthdp.curator.rows import rows_of

pytestmark = pytest.mark.filterwarnings("ignore::pysynthdp.PysynthdpWarning")
ROADS = ["scratch", "encrypted"]


def settings(road, folder):
    """Say by settings where parts lie."""
    if road == "encrypted":
        pytest.importorskip("cryptography")
    return {"scratch": folder, "scratch_encrypt": road == "encrypted"}


def anes():
    """Election study, its few-valued answers and ages; a text and missing cells beside them."""
    data = sm.datasets.anes96.load_pandas().data[["popul", "TVnews", "age", "educ", "income", "vote"]]
    data = data.assign(party=np.where(data.vote > 0, "right", "left"), logpop=np.log(data.popul + 0.1))
    data.loc[::7, "income"] = np.nan
    data.loc[::11, "party"] = None
    return data


def fair():
    """Marriages: counts with zeros, an extreme value."""
    data = sm.datasets.fair.load_pandas().data.iloc[:1500]
    return data.assign(affairs=data.affairs.where(data.index != 3, 900.0))


def spector():
    """So few rows that values of few records are taken out."""
    data = sm.datasets.spector.load_pandas().data.astype(float)
    data.loc[:2, "TUCE"] = np.nan
    return data


TABLES = {"anes": anes, "fair": fair, "spector": spector}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Read in several blocks, as a large table is."""
    monkeypatch.setattr("pysynthdp.curator.rows.frame.BLOCK", 300)
    monkeypatch.setattr("pysynthdp.io.sources.sealed.BLOCK", 300)


def same(left, right):
    """Compare copies bit by bit."""
    for one, other in zip(left.copies, right.copies, strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("name", TABLES)
def test_parts_on_disk_give_the_copies_of_parts_in_memory(road, name, tmp_path):
    data = TABLES[name]()
    plain = sdp.Synthesizer(progress=False).fit(data)
    spilled = sdp.Synthesizer(progress=False, **settings(road, tmp_path)).fit(data)
    same(spilled.draw(m=2, rng=1), plain.draw(m=2, rng=1))
    assert [str(each) for each in spilled.remarks] == [str(each) for each in plain.remarks]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("key", [None, "person"])
def test_the_same_noise_gives_the_same_copies_under_a_guarantee(road, relation, key, tmp_path):
    data = anes()[["age", "educ", "TVnews"]].assign(person=np.arange(944) // 3)
    data.loc[5, "age"] = 900.0  # made to fit
    schema = sdp.Schema(
        (
            sdp.NumericColumn("age", lower=18, upper=95),
            sdp.NumericColumn("educ", lower=1, upper=7),
            sdp.NumericColumn("TVnews", lower=0, upper=7),
        )
    )
    unit = sdp.PrivacyUnit(relation=relation, **({} if key is None else {"key": key, "rows_per_unit": 2}))
    guarantee = sdp.ByNoise(sdp.ZCDP(2.0), unit=unit, testing=True)
    given = data if key else data.drop(columns="person")

    def fitted(**more):
        return sdp.Synthesizer(schema=schema, guarantee=guarantee, progress=False, **more).fit(
            given, noise_seed=1
        )

    spilled = fitted(**settings(road, tmp_path))
    same(spilled.draw(m=2, rng=1), fitted().draw(m=2, rng=1))


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_through_scratch_gives_the_copies_of_the_table_that_is_read(road, ending, tmp_path):
    path, folder = tmp_path / f"t.{ending}", tmp_path / "scratch"
    folder.mkdir()
    if ending == "csv":
        anes().to_csv(path, index=False)
    else:
        anes().assign(
            day=pd.date_range("2000", periods=944, tz="UTC"), kind=pd.Categorical(["a", "b"] * 472)
        ).to_parquet(path)
    plain = sdp.Synthesizer(progress=False).fit(sdp.read_table(path))
    spilled = sdp.Synthesizer(progress=False, **settings(road, folder)).fit(path)
    same(spilled.draw(m=2, rng=1), plain.draw(m=2, rng=1))


@pytest.mark.parametrize("road", ROADS)
def test_every_new_part_goes_to_where_the_others_lie(road, tmp_path, monkeypatch):
    seen = []
    real = table.stored

    def watched(values, scratch):
        seen.append(scratch)
        return real(values, scratch)

    for place in ("table", "few_records", "contributions"):
        monkeypatch.setattr(f"pysynthdp.curator.{place}.stored", watched)
    sdp.Synthesizer(progress=False, **settings(road, tmp_path)).fit(fair())
    assert seen
    assert all(each is not None and each.folder == Path(tmp_path) for each in seen)


def test_all_arrays_of_a_spilled_table_are_on_disk(tmp_path):
    pytest.importorskip("cryptography")
    from pysynthdp.base.scratch_folder import opened_scratch

    rows = rows_of(anes()[["age", "educ"]], scratch=opened_scratch(tmp_path, encrypt=True))
    schema = sdp.Schema(
        (sdp.NumericColumn("age", lower=18, upper=95), sdp.NumericColumn("educ", lower=1, upper=7))
    )
    found = contributions.bounded_rows(rows, schema, sdp.PrivacyUnit())
    assert all(isinstance(each, SealedArray) for each in (*found.parts.values(), found.changed))
    assert np.array_equal(found.parts["age", "value"], rows.frame["age"])
    assert np.array_equal(found.after(300).parts["age", "value"], rows.frame["age"][300:])


@pytest.mark.parametrize("given", ["frame", "file"])
def test_a_wrong_folder_is_refused_before_anything_is_read(given, tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"not read")
    wrong = sdp.Synthesizer(scratch=tmp_path / "none", progress=False)
    for ask in (wrong.fit, wrong.plan) if given == "file" else (wrong.fit,):
        with pytest.raises(PlanError, match="is not there; name another with scratch=") as told:
            ask(path if given == "file" else fair())
        assert exit_of(told.value) == Exit.MISUSE


def test_a_full_disk_spends_nothing_and_writes_no_answers(tmp_path, monkeypatch):
    answers = tmp_path / "answers.json"

    def full(*_):
        raise OSError(28, os.strerror(28))

    schema = sdp.Schema((sdp.NumericColumn("age", lower=18, upper=95),))
    asked = sdp.Synthesizer(schema=schema, guarantee=sdp.ZCDP(1.0), scratch=tmp_path, progress=False)
    monkeypatch.setattr(
        "pysynthdp.base.scratch._write_all",
        lambda file, content: full() if len(content) > 1 else file.write(content),
    )
    with pytest.raises(PlanError, match=r"the disk of .* is full") as told:
        asked.fit(anes()[["age"]], answers=answers)
    assert exit_of(told.value) == Exit.RESOURCES
    assert not answers.exists()


@pytest.mark.parametrize(
    ("wrong", "said"), [({"scratch": 3}, "must name a folder"), ({"scratch_encrypt": "yes"}, "True or False")]
)
def test_settings_that_are_merely_like_what_is_asked_for(wrong, said):
    with pytest.raises(PlanError, match=said):
        sdp.Synthesizer(**wrong)
