"""A table that lies in several frames: everything is what one frame gives, to the last bit."""

from __future__ import annotations

import warnings
from functools import reduce
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpError
from pysynthdp.curator.rows import rows_of
from pysynthdp.design.rows import Rows
from pysynthdp.models import Dirichlet, Gaussian
from pysynthdp.parameters.spending import Source

N = 400


class FrameList:
    """Rows in a list of frames: what an author outside the project would write."""

    def __init__(self, frames: list[pd.DataFrame]) -> None:
        self.frames = frames

    @property
    def n_rows(self) -> int:
        return sum(map(len, self.frames))

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.frames[0].columns)

    @property
    def dtypes(self) -> dict:
        return dict(self.frames[0].dtypes)

    def take(self, columns):
        return pd.concat([frame[list(columns)] for frame in self.frames])

    def fold(self, of_block, merge):
        return reduce(merge, map(of_block, self.frames))


def cut(frame: pd.DataFrame, pieces: int) -> FrameList:
    """Lay a table in so many frames, uneven ones."""
    ends = [0, *(int(len(frame) * (at / pieces) ** 1.3) for at in range(1, pieces)), len(frame)]
    return FrameList([frame.iloc[start:stop] for start, stop in pairwise(ends)])


def table() -> pd.DataFrame:
    """Numbers with gaps and codes, levels that few have, dates, an index of its own."""
    rng = np.random.default_rng(3)
    age = rng.integers(18, 90, N).astype(float)
    income = np.round(np.exp(8 + age / 100 + rng.standard_normal(N) / 3), 2)
    income[rng.random(N) < 0.1] = np.nan
    region = rng.choice(["north", "south", "west", "isle", "rock"], N, p=[0.5, 0.3, 0.188, 0.006, 0.006])
    region[:3], region[3:5] = "isle", "rock"
    frame = pd.DataFrame(
        {
            "age": age,
            "income": income,
            "region": pd.Categorical(region, ["rock", "north", "south", "west", "isle", "unused"]),
            "job": pd.Series(rng.choice(["a", "b", None], N), dtype=object),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 9000, N), "D"),
        }
    )
    return frame.set_index(pd.Index(rng.permutation(N), name="person"))


SCHEMA = sdp.Schema(
    [
        sdp.NumericColumn("age", lower=18, upper=90, decimals=0, fallback=40, may_be_missing=False),
        sdp.CategoricalColumn("region", ["north", "south", "west"], other="west", may_be_missing=False),
    ]
)
TWO = ["age", "region"]
SETTINGS = {
    "learned": {},
    "merged": {"rare": "merge"},
    "proper": {"proper": True, "keep": ["region"]},
    "noised": {"schema": SCHEMA, "guarantee": sdp.ByNoise(sdp.ZCDP(2.0), testing=True)},
    "sampled": {
        "schema": SCHEMA,
        "guarantee": sdp.BySampling(),
        "method": {"age": Gaussian(sigma=15.0), "region": Dirichlet(prior=1.0)},
    },
}


@pytest.fixture(params=[1, 2, 37])
def pieces(request) -> int:
    return request.param


def test_a_backend_is_told_by_what_it_has():
    assert isinstance(cut(table(), 2), Rows)
    assert isinstance(rows_of(table()), Rows)
    assert not isinstance(table(), Rows)
    own = cut(table(), 2)
    assert rows_of(own) is own


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.filterwarnings("ignore::pysynthdp.base.errors.PysynthdpWarning")
def test_copies_are_equal_to_the_last_bit(name, pieces):
    settings, seed = SETTINGS[name], {"noise_seed": 5} if name == "noised" else {}
    df = table()[TWO] if "schema" in settings else table()
    made = sdp.Synthesizer(**settings, progress=False)
    one, other = made.fit(df, **seed), made.fit(cut(df, pieces), **seed)
    assert one.plan == other.plan
    assert list(map(str, one.remarks)) == list(map(str, other.remarks))
    for left, right in zip(drawn(one), drawn(other), strict=True):
        pd.testing.assert_frame_equal(left, right, check_exact=True)


def drawn(fitted: sdp.FittedSynthesizer) -> sdp.SyntheticRelease:
    """Two copies; a sampling guarantee hears that its seed is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fitted.draw(m=2, rng=1)


@pytest.mark.parametrize("rare", ["keep", "merge"])
def test_plans_looks_and_warnings_are_equal(pieces, rare):
    df, made = table(), sdp.Synthesizer(rare=rare, progress=False)
    assert str(made.plan(df)) == str(made.plan(cut(df, pieces)))
    pd.testing.assert_frame_equal(sdp.look(df).to_frame(), sdp.look(cut(df, pieces)).to_frame())
    assert str(sdp.look(df)) == str(sdp.look(cut(df, pieces)))
    said = []
    for given in (df, cut(df, pieces)):
        with pytest.warns(sdp.PysynthdpWarning) as heard:
            made.fit(given)
        said.append([str(each.message) for each in heard])
    assert said[0] == said[1]
    assert any("person stands in the index" in text for text in said[0])


def test_a_parameter_reads_the_same(pieces):
    df, unit = table()[TWO], sdp.PrivacyUnit()
    one, other = (Source.of(given, SCHEMA["age"], unit) for given in (df, cut(df, pieces)))
    assert one.n == other.n == N
    assert one.read().tobytes() == other.read().tobytes()


FAULTS = {
    "identifier": lambda df: (df.assign(job=[f"text number {row}" for row in range(N)]), {}),
    "outside": lambda df: (df, {"levels": {"region": ["north", "south", "west"]}}),
    "rare": lambda df: (df, {"rare": "refuse"}),
    "few": lambda df: (df.iloc[:4], {}),
    "empty": lambda df: (df.iloc[:0], {}),
    "unnamed": lambda df: (df, {"schema": SCHEMA}),
    "drop": lambda df: (df, {"drop": ["jobs"]}),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.filterwarnings("ignore::pysynthdp.base.errors.PysynthdpWarning")
def test_errors_are_the_same(fault, pieces):
    df, settings = fault(table())
    told = []
    for given in (df, cut(df, pieces)):
        with pytest.raises(PysynthdpError) as caught:
            sdp.Synthesizer(**settings, progress=False).fit(given)
        told.append((type(caught.value), str(caught.value), caught.value.column, caught.value.kind))
    assert told[0] == told[1]


def test_names_are_checked_and_blocks_are_its_own():
    df = table()
    with pytest.raises(sdp.SchemaError, match="two columns are called 'age'"):
        sdp.Synthesizer().fit(cut(df.set_axis(["age", "age", *df.columns[2:]], axis=1), 2))
    with pytest.raises(sdp.SchemaError, match="these rows come in blocks of their own"):
        sdp.Synthesizer().fit(cut(df, 2), block_rows=10)


def test_a_list_of_plain_frames_still_means_imputed_tables():
    df = table()
    with pytest.raises(sdp.SchemaError, match="imputed table"):
        sdp.Synthesizer().fit([df.iloc[:200], df.iloc[200:]])


class Miscounted(FrameList):
    """Counts the rows of its first piece only."""

    n_rows = property(lambda self: len(self.frames[0]))


UNLIKE = {
    "categories": lambda df: df.assign(region=df.region.cat.remove_unused_categories()),
    "unit of dates": lambda df: df.assign(born=df.born.astype("datetime64[s]")),
    "truth values": lambda df: df.assign(smokes=df.smokes.astype(bool)),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_pieces_of_other_types_than_the_table_are_refused_by_name(name):
    df = table().assign(smokes=np.arange(N) % 3 // 2)
    changed = UNLIKE[name](df.iloc[200:])
    (column,) = (each for each in df if df.dtypes[each] != changed.dtypes[each])
    with pytest.raises(sdp.SchemaError, match=f"{column} has another type in a block") as caught:
        sdp.Synthesizer(progress=False).fit(FrameList([df.iloc[:200], changed]))
    assert caught.value.column == column


def test_under_a_guarantee_the_type_of_a_piece_changes_nothing():
    df, settings = table()[TWO].reset_index(drop=True), SETTINGS["noised"]
    pieces = [df.iloc[:200], df.iloc[200:].astype({"age": "float32", "region": str})]
    made = sdp.Synthesizer(**settings, progress=False)
    one, other = (made.fit(given, noise_seed=5).draw(m=1, rng=1)[0] for given in (df, FrameList(pieces)))
    pd.testing.assert_frame_equal(one, other, check_exact=True)


@pytest.mark.parametrize("name", ["learned", "noised", "sampled"])
def test_rows_that_are_miscounted_are_refused(name):
    df, seed = table()[TWO], {"noise_seed": 5} if name == "noised" else {}
    with pytest.raises(sdp.SchemaError, match="another number of rows"):
        sdp.Synthesizer(**SETTINGS[name], progress=False).fit(Miscounted([df[:200], df[200:]]), **seed)


def test_a_look_at_rows_that_are_miscounted_is_refused_too():
    df = table()[TWO]
    with pytest.raises(sdp.SchemaError, match="another number of rows"):
        sdp.look(Miscounted([df.iloc[:200], df.iloc[200:]]))
