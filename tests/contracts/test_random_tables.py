"""Whatever the table: an answer that fits the schema, or an error that says what to do."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pysynthdp import NumericColumn, PysynthdpError, PysynthdpWarning, Synthesizer, SyntheticRelease

_SPEC = importlib.util.spec_from_file_location("random_tables", Path(__file__).parents[1] / "strategies.py")
random_tables = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(random_tables)

FAST = settings(
    deadline=None,
    derandomize=True,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def drawn(table: pd.DataFrame, seed: int = 1, k: int | None = None, **wishes: Any) -> SyntheticRelease:
    """Fit and draw one copy; what a fit remarks on small tables is tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PysynthdpWarning)
        return Synthesizer(progress=False, workers=1, **wishes).fit(table).draw(m=1, k=k, rng=seed)


def check_fits(copy: pd.DataFrame, table: pd.DataFrame, release: SyntheticRelease) -> None:
    """The copy has the table's form, and every cell lies in the schema."""
    assert list(copy.columns) == list(table.columns)
    assert isinstance(copy.index, pd.RangeIndex)
    for name in table.columns:
        real, column = table[name], release.schema[name]
        used = real.cat.remove_unused_categories() if hasattr(real, "cat") else real
        assert copy[name].dtype == used.dtype, name
        if isinstance(real.dtype, pd.CategoricalDtype):
            assert copy[name].cat.categories.dtype == real.cat.categories.dtype
        if not real.isna().any():
            assert not copy[name].isna().any(), name
        if real.isna().all():
            assert copy[name].isna().all(), name
        if isinstance(column, NumericColumn):
            check_numbers(copy[name], real)
        else:
            allowed = set(column.levels) | set(column.specials)
            assert set(copy[name].dropna()) <= allowed, name


def check_numbers(copy: pd.Series[Any], real: pd.Series[Any]) -> None:
    """Drawn numbers and dates are finite and of the cells' own type."""
    present = copy.dropna()
    if real.dtype == object:
        assert {type(cell) for cell in present} <= {type(cell) for cell in real.dropna()}
    elif pd.api.types.is_float_dtype(real.dtype):
        assert np.isfinite(present.to_numpy(dtype=float)).all()


@FAST
@given(table=random_tables.tables(), proper=st.booleans(), seed=st.integers(0, 99))
def test_ordinary_tables_always_work(table: pd.DataFrame, proper: bool, seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = drawn(table, seed, proper=proper)
    check_fits(release[0], table, release)


@FAST
@given(table=random_tables.tables(wild=True), proper=st.booleans())
def test_wild_tables_fit_or_are_refused_in_words(table: pd.DataFrame, proper: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            release = drawn(table, proper=proper)
        except PysynthdpError:
            return
    check_fits(release[0], table, release)


@FAST
@given(
    table=random_tables.tables(most_rows=25),
    k=st.integers(1, 50),
    data=st.data(),
    method=st.sampled_from([None, "sample"]),
)
def test_order_kept_and_dropped_columns(
    table: pd.DataFrame, k: int, data: st.DataObject, method: str | None
) -> None:
    order = data.draw(st.permutations(list(table)))
    keep, drop, visit = order[:1], order[1:2], order[2:]
    release = drawn(table, visit_sequence=visit, keep=keep, drop=drop, method=method)
    check_fits(release[0][keep + visit], table[keep + visit], release)
    assert list(release[0]) == [name for name in table if name not in drop]
    real = table[keep[0]].reset_index(drop=True)
    assert release[0][keep[0]].equals(real.cat.remove_unused_categories() if hasattr(real, "cat") else real)
    if visit:
        short = drawn(table[visit], k=k, method=method)
        assert len(short[0]) == k
        check_fits(short[0], table[visit], short)


@FAST
@given(
    numbers=st.lists(st.sampled_from([-9, -8, 0, 1, 2, 3, 50, 99]), min_size=5, max_size=40),
    dtype=st.sampled_from(["int8", "float32", "Int64", "int64[pyarrow]"]),
)
def test_codes_and_spikes_come_back_as_they_are(numbers: list[int], dtype: str) -> None:
    table = pd.DataFrame({"x": pd.Series(numbers, dtype=dtype), "z": range(len(numbers))})
    wishes = {"missing": {"x": {-9: "refused", -8: "none"}}, "spikes": {"x": [0]}, "bounds": {"x": (0, 99)}}
    copy = drawn(table, drop=["z"], **wishes)[0]
    assert copy["x"].dtype == table["x"].dtype
    values = set(copy["x"].dropna().tolist())
    assert values <= {-9, -8, *range(100)}
    assert values & {-9, -8} <= set(numbers)


@settings(FAST, max_examples=20)
@given(table=random_tables.tables(most_rows=30), block=st.integers(1, 30), workers=st.integers(2, 3))
def test_blocks_and_workers_change_nothing(table: pd.DataFrame, block: int, workers: int) -> None:
    one = drawn(table, 3)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PysynthdpWarning)
        fitted = Synthesizer(progress=False, workers=workers).fit(table, block_rows=block)
    other = fitted.draw(m=1, rng=3)[0]
    pd.testing.assert_frame_equal(one, other, check_exact=True)
