"""What a fit has to say reaches its user once, in pieces and in words."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.base.remarks import Remark, few, say
from pysynthdp.protection.none import Unprotected

TOWN = Remark("town", "few records", "3 levels have fewer than 5 records", "rare='merge' merges them")


def test_each_remark_is_said_once_with_its_pieces() -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        say([TOWN, TOWN])
    (one,) = heard
    assert isinstance(one.message, PysynthdpWarning)
    assert one.filename == __file__
    assert (one.message.column, one.message.kind) == ("town", "few records")
    assert one.message.remedy == "rare='merge' merges them"
    assert str(one.message) == str(TOWN)


def test_a_remark_of_the_whole_table_names_no_column() -> None:
    assert str(Remark("", "few records", "the table is small", "")) == "the table is small"


@pytest.mark.parametrize(("count", "told"), [(0, "fewer than ten"), (9, "fewer than ten"), (10, "10")])
def test_small_counts_stay_vague(count: int, told: str) -> None:
    assert few(count) == told


def test_fits_of_imputed_tables_say_the_same_once(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Remark("town", "few records", "4 levels have fewer than 5 records", TOWN.remedy)
    learned = iter([(TOWN,), (other,)])
    fit = Unprotected.fit
    monkeypatch.setattr(
        Unprotected, "fit", lambda self, plan, asked: replace(fit(self, plan, asked), remarks=next(learned))
    )
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60)})
    imputed = table.assign(y=table["y"].where(table.index > 5, table["y"] + 1))
    with pytest.warns(PysynthdpWarning, match="3 levels") as heard:
        fitted = sdp.Synthesizer(progress=False).fit([table, imputed])
    assert len(heard) == 1
    assert heard[0].filename == __file__
    assert fitted.remarks == (TOWN,)


def test_warnings_point_to_the_line_of_the_user() -> None:
    table = pd.DataFrame({"hyp": ["yes"] * 3 + ["no"] * 40, "age": np.arange(43) % 9})
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        sdp.synthesize(table, m=1, rng=1, progress=False)
        fitted = sdp.Synthesizer(progress=False).fit(table)
        sdp.combine([0.41, 0.42], [0.5, 0.5], rule="T_f", n_syn=500, n_org=500)
    assert fitted
    assert len(heard) == 3
    assert {one.filename for one in heard} == {__file__}
