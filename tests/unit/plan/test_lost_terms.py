"""Terms that fewer than five records left nothing of: said at the fit, and flagged in pooled tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp import FittedSynthesizer, PysynthdpWarning, Synthesizer, ols


def survey(seed: int = 3, both: int = 3) -> pd.DataFrame:
    """Three records, or more, have g = b and h = y together; three have r = yes."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"g": ["a"] * 400, "h": ["x"] * 400, "r": ["no"] * 400})
    table.loc[:19, "h"] = "y"
    table.loc[[*range(both), *range(200, 300)], "g"] = "b"
    table.loc[100:102, "r"] = "yes"
    table["age"] = rng.integers(18, 90, 400)
    table["inc"] = rng.normal(size=400) + 5.0 * ((table.g == "b") & (table.h == "y"))
    return table


def fitted(table: pd.DataFrame | list[pd.DataFrame], formula: str) -> FittedSynthesizer:
    return Synthesizer(progress=False, formulas=[formula]).fit(table)


@pytest.mark.parametrize(
    ("formula", "lost"),
    [
        ("inc ~ age + g*h", "g:h"),
        ("inc ~ age + g + h + g:h:age", "g:h:age"),
        ("inc ~ age*r + g", "age:r"),
    ],
)
def test_a_product_of_so_few_is_said_and_flagged(formula: str, lost: str) -> None:
    with pytest.warns(PysynthdpWarning, match=f"inc: {lost} of its formula rests on fewer than five records"):
        fit = fitted(survey(), formula)
    assert ("inc", "terms left out") in {(remark.column, remark.kind) for remark in fit.remarks}
    flags = ols(formula, fit.draw(m=2, k=4000, rng=1)).flags
    assert any(flag.startswith(lost) and "interactions" in flag for flag in flags)


def test_one_that_five_records_have_is_neither() -> None:
    fit = fitted(survey(both=8), "inc ~ age + g*h")
    assert all(remark.kind != "terms left out" for remark in fit.remarks)
    assert not ols("inc ~ age + g*h", fit.draw(m=2, k=4000, rng=1)).flags


@pytest.mark.parametrize("order", [["g", "r", "age", "inc"], ["inc", "g", "age", "r"]])
def test_a_column_whose_levels_are_one_group_is_flagged_from_both_sides(order: list[str]) -> None:
    """Nothing is learned of r given others, nor of others given r; of g everything is."""
    fit = Synthesizer(progress=False, drop=["h"], visit_sequence=order).fit(survey())
    release = fit.draw(m=2, k=4000, rng=1)
    assert any("r were not drawn from one another" in flag for flag in ols("inc ~ r", release).flags)
    assert not ols("inc ~ g", release).flags


def test_imputed_tables_say_it_once() -> None:
    tables = [survey(), survey(4)]
    tables[1]["age"] = tables[0]["age"]
    with pytest.warns(PysynthdpWarning) as heard:
        fit = fitted(tables, "inc ~ age + g*h")
    assert sum("of its formula" in str(each.message) for each in heard) == 1
    assert sum(remark.kind == "terms left out" for remark in fit.remarks) == 1


def test_two_remarks_of_one_kind_on_a_column_are_both_there() -> None:
    table = pd.DataFrame({"x": [*np.linspace(1.0, 9.0, 90), 0.0, 0.0, np.nan, np.nan], "y": range(94)})
    with pytest.warns(PysynthdpWarning) as heard:
        fit = Synthesizer(progress=False, spikes={"x": [0]}, missing={"x": {-8: "refused"}}).fit(
            table.assign(y=table["y"] % 7)
        )
    own = [remark for remark in fit.remarks if (remark.column, remark.kind) == ("x", "few records")]
    assert len(own) == 2
    assert {str(remark) for remark in own} <= {str(each.message) for each in heard}
