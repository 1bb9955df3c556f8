"""First use of real tables that nobody prepared: what comes out has their shape, and each warning has a way out."""

from __future__ import annotations

import importlib
import warnings

import pandas as pd
import pytest

import pysynthdp as sdp

TABLES = ["anes96", "fair", "modechoice", "statecrime", "star98", "cancer", "sunspots", "randhie"]


@pytest.fixture(params=TABLES)
def table(request) -> pd.DataFrame:
    return importlib.import_module(f"statsmodels.datasets.{request.param}").load_pandas().data.head(1000)


def test_read_look_fit_and_draw_give_copies_of_the_same_shape_and_no_warning_without_a_remedy(
    table, tmp_path
):
    table.to_csv(tmp_path / "survey.csv", index=False)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        read = sdp.read_table(tmp_path / "survey.csv")
        seen = sdp.look(read)
        usable = read.drop(
            columns=[one.name for one in seen.columns if one.kind in ("identifier", "not usable")]
        )
        copies = sdp.Synthesizer(progress=False).fit(usable).draw(m=5, rng=1).copies
    for copy in copies:
        pd.testing.assert_series_equal(copy.dtypes, usable.dtypes)
        assert len(copy) == len(usable)
    ours = [one.message for one in heard if isinstance(one.message, sdp.PysynthdpWarning)]
    assert len(ours) == len(heard), [str(one.message) for one in heard]
    assert len({str(one) for one in ours}) == len(ours), "said twice"
    for one in ours:
        assert one.kind
        assert one.remedy, str(one)
        assert all(one.said(dialect) for dialect in ("python", "shell", "r"))
