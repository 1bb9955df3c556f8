"""One cell of one record, however odd, changes that record's integers only; no table makes a fit speak."""

from __future__ import annotations

import re
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from pysynthdp import CategoricalColumn, NumericColumn, PrivacyUnit, Schema, Synthesizer
from pysynthdp.base.errors import PrivacyError
from pysynthdp.curator.noised.asked import Asked
from pysynthdp.curator.noised.integers import UNIT, Frame, exact_gram, integer_rows
from pysynthdp.curator.noised.rows import NoisedRows, answer_all
from pysynthdp.curator.noised.whitening import Whitening
from pysynthdp.curator.rows import rows_of
from pysynthdp.curator.table import split_rows
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.noise.moment_budget import Question
from pysynthdp.privacy.noise.protective import add_discrete_gaussian
from pysynthdp.protection.noise.by_noise import ByNoise
from pysynthdp.protection.noise.moments.asking import frame_of
from pysynthdp.protection.noise.moments.design import moment_layout, moment_shape

N, ODD_ROW = 120, 7
SCHEMA = Schema(
    [
        CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False),
        CategoricalColumn("wave", [1, 2, 3], other=1, missing={-1: "refused"}),
        NumericColumn("age", lower=16, upper=100, decimals=0, may_be_missing=False, fallback=50),
        NumericColumn("pay", lower=0, upper=10, missing={-8: "not asked"}, spikes=[0]),
        NumericColumn("born", lower=-9_000, upper=20_000, unit="day", may_be_missing=False, fallback=0),
    ]
)
ODD = {
    "none": None,
    "nan": np.nan,
    "infinite": np.inf,
    "huge float": 1e308,
    "huge int": 10**400,
    "beyond 64 bits": 2**70,
    "code": -8,
    "flag": True,
    "complex": 2 + 0j,
    "imaginary": 2j,
    "text": "no number",
    "number as text": " 2 ",
    "bytes": b"x",
    "list": [3],
    "tuple": (1, [2]),
    "frame": pd.DataFrame({"x": [1]}),
    "no time": pd.NaT,
    "no value": pd.NA,
    "time": pd.Timestamp("2262-01-01"),
    "duration": pd.Timedelta(3, "D"),
    "decimal": Decimal("1.5"),
    "no decimal": Decimal("sNaN"),
}


def table() -> pd.DataFrame:
    """A survey with missing values, codes and spikes, every column of its natural type."""
    rng = np.random.default_rng(3)
    pay = rng.uniform(0, 12, N).round(2)
    pay[::9], pay[4::9], pay[5::9] = 0, -8, np.nan
    return pd.DataFrame(
        {
            "sex": rng.choice(["F", "M", "other"], N),
            "wave": rng.integers(-1, 5, N),
            "age": rng.integers(10, 110, N),
            "pay": pay,
            "born": pd.Timestamp("1960-05-05") + pd.to_timedelta(rng.integers(0, 15_000, N), unit="D"),
        }
    )


def integers(data: pd.DataFrame) -> np.ndarray:
    """Integer rows under one public whitening, as the second stage makes them."""
    plan = Synthesizer(schema=SCHEMA, guarantee=ZCDP(1.0)).plan()
    layout = moment_layout(plan, plan.protection.hints)
    frame = frame_of(moment_shape(layout.parts))
    rng = np.random.default_rng(1)
    p = frame.numbers
    root = np.eye(p) + rng.standard_normal((p, p)) / 5
    whitening = Whitening(rng.standard_normal((frame.levels, p)), root, np.linalg.inv(root))
    held = NoisedRows(split_rows(rows_of(data), plan.schema, tolerant=True), layout)
    asked = Question("second", 4.0, 2.5, (len(frame.blocks) + 4) * UNIT**2, 1)
    rows, clipped = integer_rows(frame, *held._block(slice(0, len(data))), asked, whitening)
    return np.column_stack([rows, clipped | held.table.changed])


def with_cell(data: pd.DataFrame, column: str, cell: object, how: str) -> pd.DataFrame:
    """Put one cell in; the column becomes one of objects, or what pandas makes of such a list."""
    cells = data[column].tolist()
    cells[ODD_ROW] = cell
    whole = pd.Series(cells, dtype=object)
    return data.assign(**{column: whole if how == "objects" else pd.Series(cells)})


@pytest.mark.parametrize("how", ["objects", "inferred"])
@pytest.mark.parametrize("cell", ODD.values(), ids=ODD)
@pytest.mark.parametrize("column", list(SCHEMA.names))
def test_an_odd_cell_changes_no_integer_of_another_row_and_is_not_told(column, cell, how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what pandas says while the table is made is not ours
        other = with_cell(table(), column, cell, how)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        changed = (integers(table()) != integers(other)).any(axis=1)
    assert np.flatnonzero(changed).tolist() in ([], [ODD_ROW])


def test_what_is_said_of_a_release_is_the_same_for_a_neighbour():
    said = []
    for data in (table(), with_cell(table(), "age", "no number", "objects")):
        release = Synthesizer(schema=SCHEMA, guarantee=ZCDP(900.0), progress=False).fit(data).draw(m=1)
        details = {name: kind for name, kind in release.tags.details.items() if isinstance(kind, str | list)}
        everything = repr((release[0].dtypes, len(release[0]), release.privacy.to_dict(), details))
        said.append(re.sub(r"about [\d.]+%", "about a noisy share", everything))
    assert said[0] == said[1]


FAR = [1e200, -1e300, np.inf, -np.inf, np.nan, 1e160, 3.0]


@pytest.mark.parametrize("root", [np.eye(2), np.array([[1.0, -1.0], [1e200, 1.0]])], ids=["plain", "steep"])
def test_rows_that_floats_cannot_hold_keep_the_bound_and_are_not_told(root):
    frame, question = Frame((1,), 2), Question("second", 4.0, 2.0, 5 * UNIT**2, 1)
    numbers = np.array([(x, y) for x in FAR for y in FAR]).T
    codes = [np.zeros(numbers.shape[1], dtype=np.int16)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows, clipped = integer_rows(frame, codes, numbers, question, Whitening(np.zeros((1, 2)), root, root))
    exact = [sum(int(step) ** 2 for step in row) for row in rows]
    assert max(exact) <= question.row_bound  # in Python integers: 64 bits would wrap around
    assert clipped.all()


def absurd(**changes: object) -> Schema:
    return SCHEMA.amend("pay", **changes)


@pytest.mark.parametrize(
    ("schema", "hints", "column"),
    [
        (absurd(upper=1e300), {}, "pay"),
        (absurd(lower=0, upper=1e-200, spikes=()), {}, "pay"),
        (absurd(missing={1e200: "far"}), {}, "pay"),
        (absurd(spikes=[-1e200, 0]), {}, "pay"),
        (SCHEMA, {"pay": (0, 1e-200)}, "pay"),
        (SCHEMA, {"pay": (1e200, 1.0)}, "pay"),
        (SCHEMA.amend("wave", levels=[1, "1", 2]), {}, "wave"),
        (SCHEMA.amend("age", lower=16.2, upper=16.7, fallback=16.5), {}, "age"),
    ],
)
def test_what_would_end_some_fits_only_is_refused_from_the_schema(schema, hints, column):
    with pytest.raises(PrivacyError, match=f"^{column}: "):
        Synthesizer(schema=schema, guarantee=ByNoise(ZCDP(1.0), hints=hints)).plan()


def test_the_widest_bounds_take_their_own_ends_without_a_word():
    wide = Schema([NumericColumn("x", lower=-1e150, upper=1e150, may_be_missing=False, fallback=0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cell in (1e150, -1e150, 1e308, 0.0):
            data = pd.DataFrame({"x": [cell, *np.linspace(-1, 1, 499)]})
            for hints in ({}, {"x": (0.0, 1e51)}):
                settings = Synthesizer(schema=wide, guarantee=ByNoise(ZCDP(9.0), hints=hints), progress=False)
                assert settings.fit(data).draw(m=1).privacy.may_be_published


@pytest.mark.parametrize("rho", [1e-22, 1e-300])
def test_a_budget_whose_noise_leaves_64_bits_is_refused_before_spending(rho):
    unit = PrivacyUnit("add_remove")
    with pytest.raises(PrivacyError, match="rho is so small"):
        Synthesizer(schema=SCHEMA, guarantee=ByNoise(ZCDP(rho), unit=unit)).plan()


def test_sums_beyond_what_noise_takes_stop_at_a_limit_instead_of_telling(monkeypatch):
    plan = Synthesizer(schema=SCHEMA, guarantee=ZCDP(1.0)).plan()
    layout = moment_layout(plan, plan.protection.hints)
    held = NoisedRows(split_rows(rows_of(table()), plan.schema, tolerant=True), layout)
    monkeypatch.setattr(
        "pysynthdp.curator.noised.rows.exact_gram", lambda rows: exact_gram(rows) + np.int64(2**61)
    )
    asking = _one_question(frame_of(moment_shape(layout.parts)))
    answers = answer_all(asking, lambda: held, add_discrete_gaussian)
    assert np.abs(answers).max() < 2**61


def _one_question(frame: Frame):
    """Ask for cross-products once."""
    asked = Question("only", 4.0, 2.0, (len(frame.blocks) + 4) * UNIT**2, 1_000)
    answer = yield Asked(asked, frame, Whitening.none(frame.levels, frame.numbers))
    return answer


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("rho", [0.001, 1.0, 100.0])
@pytest.mark.parametrize("names", [["sex"], ["age"], ["sex", "pay"]])
def test_hardly_any_rows_end_no_fit_where_their_number_is_confidential(names, rho, n):
    schema = Schema([SCHEMA[name] for name in names])
    settings = Synthesizer(
        schema=schema, guarantee=ByNoise(ZCDP(rho), unit=PrivacyUnit("add_remove")), progress=False
    )
    for _ in range(3):
        assert settings.fit(table()[names].head(n)).draw(m=2, k=5).m == 2


def test_a_fit_leaves_the_table_as_it_was():
    data = table().assign(age=table().age.clip(16, 100).astype(float))  # in bounds: read without a copy
    before = data.copy()
    Synthesizer(schema=SCHEMA, guarantee=ZCDP(9.0), progress=False).fit(data)
    pd.testing.assert_frame_equal(data, before)
    frozen = data.age.to_numpy(copy=True)
    frozen.flags.writeable = False
    Synthesizer(schema=SCHEMA, guarantee=ZCDP(9.0), progress=False).fit(data.assign(age=frozen))
