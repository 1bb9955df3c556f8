"""A Dask data frame: what it gives is what the table in memory gives, and rows stay with the workers."""

from __future__ import annotations

import os
import signal
from dataclasses import fields, is_dataclass, replace
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import FitError, SchemaError
from pysynthdp.curator.rows import rows_of
from pysynthdp.curator.rows.dask import DaskPieces, DaskRows, _marks, _unchanged, is_dask
from pysynthdp.curator.whole_table import index_remarks
from pysynthdp.models.gaussian import Gaussian
from pysynthdp.models.logridge import LogRidge
from pysynthdp.privacy.unit import PrivacyUnit

MUST_RUN = os.environ.get("PYSYNTHDP_TESTS_MUST_RUN") == "yes"
pytestmark = [
    pytest.mark.skipif(not MUST_RUN and find_spec("distributed") is None, reason="Dask is not installed"),
    pytest.mark.filterwarnings("ignore"),  # of Dask and of the servers that it starts and stops
]
N = 4_000
SCHEMA = sdp.Schema(
    (
        sdp.CategoricalColumn("sex", levels=("F", "M"), other="F", may_be_missing=False),
        sdp.NumericColumn("age", lower=18, upper=95, fallback=18, may_be_missing=False),
        sdp.NumericColumn("pay", lower=0, upper=20_000, fallback=0),
    )
)


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as connected,
    ):
        yield connected


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    age = rng.integers(18, 90, N).astype(float)
    pay = (20 * age + rng.gamma(2, 800, N)).round(2)
    pay[::17] = np.nan
    return pd.DataFrame(
        {"id": rng.integers(0, N // 3, N), "sex": rng.choice(["F", "M"], N), "age": age, "pay": pay}
    )


def in_pieces(table, number):
    import dask.dataframe as dd

    return dd.from_pandas(table, npartitions=number)


def noised(**unit):
    guarantee = sdp.ByNoise(sdp.ZCDP(1.0), testing=True, unit=PrivacyUnit(**unit))
    return sdp.Synthesizer(schema=SCHEMA, guarantee=guarantee, progress=False, workers=1)


def answers(fitted):
    """Noised integers of a fit."""
    return [
        np.asarray(entries) for one in fitted._machine.fit.source.state.answers for entries in one.entries
    ]


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("key", [None, "id"])
def test_noised_integers_are_those_of_memory_for_every_partitioning(client, table, key, relation):
    del client
    unit = {"relation": relation} | ({"key": key, "rows_per_unit": 2} if key else {})
    given = table if key else table.drop(columns="id")
    known = answers(noised(**unit).fit(given, noise_seed=1))
    assert not np.array_equal(known[0], answers(noised(**unit).fit(given, noise_seed=2))[0])
    for number in (1, 2, 7):
        found = answers(noised(**unit).fit(in_pieces(given, number), noise_seed=1))
        assert len(found) == len(known)
        assert all(np.array_equal(one, other) for one, other in zip(found, known, strict=True)), number


def test_noise_is_drawn_here_and_once(client, table, monkeypatch):
    from pysynthdp.protection.noise import fitting

    del client
    drawn = []
    real = fitting._seeded_noise

    def counted(rng):
        add = real(rng)
        return lambda values, scale: drawn.append(len(values)) or add(values, scale)

    monkeypatch.setattr(fitting, "_seeded_noise", counted)
    noised().fit(table.drop(columns="id"), noise_seed=1)
    here = list(drawn)
    drawn.clear()
    noised().fit(in_pieces(table.drop(columns="id"), 5), noise_seed=1)
    assert drawn == here


def test_rows_of_another_order_of_partitions_are_bounded_by_their_place_in_all(client):
    del client
    own = pd.DataFrame({"id": [7, 7, 8, 7, 8, 8], "sex": ["F", "M", "F", "M", "M", "F"]})
    from pysynthdp.curator.contributions import bounded_rows
    from pysynthdp.curator.rows import rows_of

    schema = sdp.Schema((SCHEMA["sex"],))
    for relation in ("replace_one", "add_remove"):
        unit = PrivacyUnit(key="id", rows_per_unit=2, relation=relation)
        here = bounded_rows(rows_of(own), schema, unit)
        there = bounded_rows(rows_of(in_pieces(own, 3)), schema, unit)
        summed = (
            np.bincount(here.parts["sex", "value"], minlength=2),
            np.array(np.count_nonzero(here.changed)),
        )
        found = there.total(
            lambda piece: (
                np.bincount(piece.parts["sex", "value"], minlength=2),
                np.array(np.count_nonzero(piece.changed)),
            )
        )
        assert there.n == here.n
        assert all(np.array_equal(a, b) for a, b in zip(summed, found, strict=True)), relation


def sampled():
    method = {
        "sex": LogRidge(penalty=1.0),
        "age": Gaussian(sigma=15.0, prior_mean=50.0, prior_sd=20.0),
        "pay": Gaussian(sigma=900.0, prior_mean=2_000.0, prior_sd=1_000.0),
    }
    whole = sdp.Schema((SCHEMA["sex"], SCHEMA["age"], replace(SCHEMA["pay"], may_be_missing=False)))
    return sdp.Synthesizer(schema=whole, guarantee=sdp.BySampling(), method=method, progress=False, workers=1)


def apart(one, other):
    """Largest relative difference of two fits' parameters."""
    far = 0.0
    for mine, theirs in zip(one._machine.fit.steps, other._machine.fit.steps, strict=True):
        assert mine.targets == theirs.targets
        assert mine.model.name == theirs.model.name
        assert mine.design.used.tolist() == theirs.design.used.tolist()
        for name in [each.name for each in fields(mine.params)] if is_dataclass(mine.params) else []:
            a, b = getattr(mine.params, name), getattr(theirs.params, name)
            if isinstance(a, float | np.ndarray):
                assert np.shape(a) == np.shape(b)
                far = max(far, float(np.max(np.abs(np.subtract(a, b)) / (1 + np.abs(a)), initial=0.0)))
    return far


def test_exact_fits_under_a_guarantee_agree_with_memory(client, table):
    del client
    given = table.drop(columns="id")
    known = sampled().fit(given)
    for number in (1, 3):
        assert apart(known, sampled().fit(in_pieces(given, number))) < 1e-8


def test_a_worker_that_is_killed_midway_changes_nothing(client, table, monkeypatch):
    given = table.drop(columns="id")
    known = answers(noised().fit(given, noise_seed=1))
    asked, killed = [], []
    real = DaskPieces.total

    def total(self, function, *args):
        asked.append(function)
        if len(asked) == 2:  # parts are there by now, and are lost
            pid = next(iter(client.run(os.getpid).values()))
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)
        return real(self, function, *args)

    monkeypatch.setattr(DaskPieces, "total", total)
    found = answers(noised().fit(in_pieces(given, 6), noise_seed=1))
    assert killed
    assert all(np.array_equal(one, other) for one, other in zip(found, known, strict=True))
    client.wait_for_workers(2, timeout=60)


def test_what_arrives_is_as_long_for_ten_times_the_rows(client, table, monkeypatch):
    import pickle

    del client
    real, arrived = DaskPieces._result, []

    def result(self, future):
        found = real(self, future)
        arrived.append(len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(DaskPieces, "_result", result)
    lengths = []
    for many in (1, 10):
        arrived.clear()
        long = pd.concat([table.drop(columns="id")] * many, ignore_index=True)
        noised().fit(in_pieces(long, 3), noise_seed=1)
        lengths.append(list(arrived))
    assert len(lengths[0]) == len(lengths[1])
    assert max(abs(a - b) for a, b in zip(*lengths, strict=True)) < 16  # digits of a number
    assert sum(lengths[1]) < 20_000


def test_a_worker_of_another_version_is_refused_before_a_row_is_read(client, table, monkeypatch):
    real = type(client).get_versions

    def other(self, **named):
        found = real(self, **named)
        next(iter(found["workers"].values()))["packages"]["numpy"] = "1.0"
        return found

    monkeypatch.setattr(type(client), "get_versions", other)
    monkeypatch.setattr(type(client), "compute", lambda *_, **__: pytest.fail("rows were read"))
    with pytest.raises(FitError, match=r"worker 1 of the Dask cluster has 1\.0 numpy.*install the same"):
        noised().fit(in_pieces(table.drop(columns="id"), 2), noise_seed=1)


def test_without_a_cluster_the_way_out_is_said(table, monkeypatch):
    import distributed

    monkeypatch.setattr(distributed, "default_client", lambda: (_ for _ in ()).throw(ValueError("none")))
    with pytest.raises(FitError, match="no Dask cluster is connected"):
        noised().fit(in_pieces(table.drop(columns="id"), 2), noise_seed=1)


def test_partitions_with_other_columns_are_refused_by_name(client):
    import dask.dataframe as dd

    del client
    one = pd.DataFrame({"sex": ["F", "M"] * 9})

    def renamed(number):
        return one if number else one.rename(columns={"sex": "gender"})

    odd = dd.from_map(renamed, [1, 0], meta=one.iloc[:0])
    with pytest.raises(SchemaError, match="sex is not a column of every partition"):
        noised().fit(odd, noise_seed=1)


def test_what_a_reader_raises_is_not_quoted(client):
    import dask.dataframe as dd

    del client

    def broken(number):
        del number
        raise ValueError("Smith")

    odd = dd.from_map(broken, [1], meta=pd.DataFrame({"sex": pd.Series(dtype=object)}))
    with pytest.raises(FitError, match=r"could not read or work on a partition \(ValueError\)") as seen:
        noised().fit(odd, noise_seed=1)
    assert "Smith" not in str(seen.value)


def test_a_frame_is_known_without_loading_dask(table):
    assert not is_dask(table)
    assert is_dask(in_pieces(table, 1))


def test_a_folder_is_fitted_without_a_guarantee_and_with_a_worker_lost(client, table, tmp_path, monkeypatch):
    import dask.dataframe as dd

    given = table[["sex", "pay"]].assign(
        town=np.where(table.index < 3, "x", np.where(table.index < 9, "y", "z"))
    )
    given["day"] = pd.Timestamp("2001-02-03") + pd.to_timedelta(table.age, "D")
    for number in range(4):
        given.iloc[number::4].to_parquet(tmp_path / f"part.{number}.parquet", index=False)
    frame = dd.read_parquet(tmp_path)
    settings = {"rare": "merge", "method": {"pay": "normrank", "day": "normrank"}, "progress": False}
    known = sdp.Synthesizer(**settings, workers=1).fit(frame.compute().reset_index(drop=True))
    asked, killed = [], []
    real = DaskPieces.folded

    def folded(self, function, merge, *args):
        asked.append(function)
        if len(asked) == 12:  # parts are there by now, and are lost
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)
        return real(self, function, merge, *args)

    monkeypatch.setattr(DaskPieces, "folded", folded)
    found = sdp.Synthesizer(**settings, workers=1).fit(frame)
    assert killed
    assert found.plan == known.plan
    assert "x" not in found.plan.schema["town"].levels
    assert [str(each.sentence) for each in found.remarks] == [str(each.sentence) for each in known.remarks]
    assert apart(known, found) < 1e-8
    client.wait_for_workers(2, timeout=60)


def test_a_frame_is_fitted_over_tls_and_a_lost_scheduler_is_said(table, monkeypatch):
    from distributed import Client, LocalCluster
    from distributed.security import Security

    pytest.importorskip("cryptography")
    own = {"n_workers": 1, "processes": False, "dashboard_address": None}
    with (
        LocalCluster(protocol="tls://", security=Security.temporary(), **own) as cluster,
        Client(cluster) as connected,
    ):
        assert connected.scheduler.address.startswith("tls://")
        frame = in_pieces(table[["sex"]], 2)
        assert sdp.look(frame).n_rows == N
        real = DaskPieces.folded

        def folded(self, *args):
            cluster.close()
            return real(self, *args)

        monkeypatch.setattr(DaskPieces, "folded", folded)
        with pytest.raises(FitError, match=r"connection to the Dask cluster was lost.*connect again"):
            sdp.Synthesizer(progress=False).fit(frame)


def test_a_partition_that_changes_before_it_is_read_again_is_refused(table):
    piece = table.assign(odd=[[1], {}] * (N // 2), day=pd.Timestamp("2001-02-03"))
    marks = (*_marks(piece.iloc[:0], 7), *_marks(piece, 7), *_marks(piece, N))
    for start, same in ((7, piece.copy()), (7, piece.iloc[:0]), (N, piece)):
        assert _unchanged(same, start, marks) is same
    other = [piece.assign(**{name: piece[name].iloc[::-1].to_numpy()}) for name in ("sex", "age", "pay")]
    for changed in (piece.iloc[1:], piece.assign(day=pd.Timestamp("2001-02-04")), *other):
        with pytest.raises(FitError, match=r"had other cells when it was read again.*persist\(\)"):
            _unchanged(changed, 7, marks)


def test_sparse_columns_are_written_in_full_and_an_index_is_named(client, table):
    del client
    given = table[["sex"]].assign(kids=pd.arrays.SparseArray(table.id % 3)).rename_axis("person")
    rows = rows_of(in_pieces(given, 2), full=True)
    assert rows.dtypes["kids"] == np.dtype(int)
    assert rows.pieces.total(lambda piece, _: np.bincount(piece["kids"])).tolist() == [
        int((table.id % 3 == kids).sum()) for kids in range(3)
    ]
    (remark,) = index_remarks(rows)
    assert "person stands in the index" in str(remark.what)


def test_names_that_stand_twice_and_lists_of_frames_are_refused_first(table):
    frame = in_pieces(table[["sex", "age"]], 2)
    with pytest.raises(SchemaError, match=r"compared row by row.*compute\(\)"):
        sdp.Synthesizer().fit([frame, frame])
    frame.columns = ["sex", "sex"]
    with pytest.raises(SchemaError, match="two columns are called 'sex'"):
        sdp.Synthesizer().fit(frame)


def test_a_column_of_another_type_in_one_partition_is_refused_by_name(client):
    import dask.dataframe as dd

    del client
    one = pd.DataFrame({"age": np.arange(900)})
    odd = dd.from_map(lambda number: one.astype(float) if number else one, [0, 1], meta=one.iloc[:0])
    for ask in (sdp.Synthesizer(progress=False).fit, sdp.look):
        with pytest.raises(SchemaError, match="age has another type in a partition than the table says"):
            ask(odd)


def test_no_column_is_handed_out(client, table):
    del client
    rows = DaskRows.of(in_pieces(table, 2))
    assert len(rows.take([])) == N
    with pytest.raises(FitError, match="age: what is asked of it needs the whole column in one place"):
        rows.take(["age"])
