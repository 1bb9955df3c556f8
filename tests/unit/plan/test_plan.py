from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp import CategoricalColumn, NumericColumn, PlanError, Schema
from pysynthdp.models.norm import Norm
from pysynthdp.plan import make_plan
from pysynthdp.plan.protection import protection_of

NONE = protection_of(None)
SCHEMA = Schema(
    [
        NumericColumn("age", may_be_missing=False),
        CategoricalColumn("sex", ["F", "M"], may_be_missing=False),
        NumericColumn("the wage", missing={-8: "none"}),
        CategoricalColumn("edu", ["lo", "mid", "hi"], ordered=True, may_be_missing=False),
        CategoricalColumn("gone", []),
    ]
)


def terms_of(name: str, **wishes) -> tuple:
    plan = make_plan(SCHEMA, NONE, **wishes)
    return next(step.terms for step in plan.steps if step.targets[0].column == name)


def test_defaults() -> None:
    plan = make_plan(SCHEMA, NONE)
    assert plan.methods == {
        "sex": "sample",
        "edu": "polr",
        "age": "cells",
        "the wage": "cells",
        "gone": "constant",
    }
    assert [step.label for step in plan.steps] == [
        "sex",
        "edu",
        "age",
        "the wage (kind)",
        "the wage",
        "gone (kind)",
    ]
    assert plan.predictor_matrix.loc["age"].tolist() == [0, 1, 0, 1, 0]
    assert list(plan.schema.names) == ["age", "sex", "the wage", "edu", "gone"]


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("edu ~ age", (("age",),)),
        ("edu ~ age + sex", (("age",), ("sex",))),
        ("edu ~ age * sex", (("age",), ("sex",), ("age", "sex"))),
        ("edu ~ age:sex", (("age", "sex"),)),
        ("edu ~ C(sex)", (("sex",),)),
        ("edu ~ I(age ** 2)", (("age", "age"),)),
        ("edu ~ {age ** 3}", (("age", "age", "age"),)),
        ("edu ~ `the wage`", (("the wage",),)),
        ("edu ~ I(`the wage` ** 2)", (("the wage", "the wage"),)),
        ("edu ~ `the wage`:sex", (("the wage", "sex"),)),
        ("edu ~ 1", ()),
        ("edu ~", ()),
    ],
)
def test_formulas(formula, terms) -> None:
    assert terms_of("edu", formulas=[formula]) == terms


@pytest.mark.parametrize(
    ("formula", "rule"),
    [
        ("edu", "no '~'"),
        ("edu ~ exp(age)", "predictors may be columns"),
        ("edu ~ log(sex)", "is no number here"),
        ("edu ~ cut(age)", "cut takes a column and a number"),
        ("edu ~ sex[none such]", "no dummy"),
        ("edu (kind) ~ age", "no value of edu is absent"),
        ("edu ~ q", "predictors may be columns"),
        ("edu ~ I(age ** 0)", "predictors may be columns"),
        ("q ~ age", "names 'q'"),
        ("age ~ age", "cannot use itself"),
        ("edu ~ age ~ sex", "cannot be read"),
        ("edu ~ age + (", "cannot be read"),
        ("edu ~ .", "cannot be read"),
        ("edu ~ 'age'", "cannot be read"),
        ("edu ~ {age **", "cannot be read"),
    ],
)
def test_formulas_that_cannot_be_used(formula, rule) -> None:
    with pytest.raises(PlanError, match=rule):
        make_plan(SCHEMA, NONE, formulas=[formula])


def test_what_a_formula_names_is_drawn_before_its_column() -> None:
    plan = make_plan(SCHEMA, NONE, formulas=["sex ~ age + `the wage`"])
    assert plan.visit_sequence == ("edu", "age", "the wage", "sex", "gone")
    assert "each after the columns that it must follow" in " ".join(str(plan).split())


def test_columns_that_are_drawn_from_one_another_are_refused() -> None:
    with pytest.raises(PlanError, match="not drawn before it") as caught:
        make_plan(SCHEMA, NONE, formulas=["sex ~ age", "age ~ sex"])
    assert str(caught.value.remedy) == "leave age out of its predictors"


def test_two_formulas_of_one_column_are_refused() -> None:
    with pytest.raises(PlanError, match="two formulas"):
        make_plan(SCHEMA, NONE, formulas=["edu ~ age", "edu ~ sex"])


def test_predictor_matrix_as_frame_and_mapping() -> None:
    names = list(SCHEMA.names)
    matrix = pd.DataFrame(np.tril(np.ones((5, 5), dtype=int), -1), index=names, columns=names)
    matrix.loc["edu", "age"] = 0
    assert make_plan(SCHEMA, NONE, predictor_matrix=matrix).predictor_matrix.loc["edu"].tolist() == [
        0,
        1,
        1,
        0,
        0,
    ]
    assert terms_of("edu", predictor_matrix={"edu": ["sex", "sex"]}) == (("sex",),)
    backwards = {"the wage": ["age", "edu", "sex"]}  # which, not in which order
    assert terms_of("the wage", predictor_matrix=backwards) == (("sex",), ("edu",), ("age",))
    assert terms_of("the wage", predictor_matrix={"edu": []}) == (("sex",), ("edu",), ("age",))


@pytest.mark.parametrize(
    "matrix",
    [
        {"edu": "age"},
        {"edu": ["q"]},
        {"q": ["age"]},
        {"age": ["edu"], "edu": ["age"]},
        {"edu": ["edu"]},
        np.ones((5, 5)),
        pd.DataFrame({"age": [np.nan]}, index=["edu"]),
    ],
)
def test_predictor_matrices_that_cannot_be_used(matrix) -> None:
    with pytest.raises(PlanError):
        make_plan(SCHEMA, NONE, predictor_matrix=matrix)


def test_visit_sequence() -> None:
    order = ["edu", "gone", "the wage", "sex", "age"]
    plan = make_plan(SCHEMA, NONE, visit_sequence=order)
    assert plan.visit_sequence == tuple(order)
    assert plan.methods["edu"] == "sample"


@pytest.mark.parametrize(
    ("wishes", "rule"),
    [
        ({"visit_sequence": ["age", "sex"]}, "leaves out the wage, edu, gone"),
        ({"visit_sequence": ["age", "age", "sex", "the wage", "edu", "gone"]}, "twice"),
        ({"visit_sequence": ["q"]}, "names 'q'"),
        ({"visit_sequence": ["age", "sex", "the wage", "edu", "gone"], "keep": ["age"]}, "kept or serial"),
        ({"keep": ["q"]}, "names 'q'"),
        ({"method": {"q": "norm"}}, "names 'q'"),
        ({"method": {"sex": "norm"}}, "draws numbers, and the column holds levels"),
        ({"method": {"age": "logreg"}}, "draws levels, and the column holds numbers"),
        ({"method": {"age": "nrm"}}, "age: there is no method 'nrm'; did you mean 'norm'"),
        ({"method": {"age": 5}}, "name such as"),
    ],
)
def test_wishes_that_cannot_be_met(wishes, rule) -> None:
    with pytest.raises(PlanError, match=rule):
        make_plan(SCHEMA, NONE, **wishes)


def test_methods_by_name_and_by_object() -> None:
    plan = make_plan(SCHEMA, NONE, method={"age": "norm", "the wage": Norm()})
    assert (plan.methods["age"], plan.methods["the wage"]) == ("norm", "norm")


def test_kept_columns_predict_but_are_not_drawn() -> None:
    plan = make_plan(SCHEMA, NONE, keep=["age"])
    assert plan.visit_sequence == ("sex", "edu", "the wage", "gone")
    assert plan.predictor_matrix.loc["sex", "age"] == 1
    assert plan.methods["age"] == "kept real"
    assert "REAL" in str(plan)


def test_a_renumbered_column_leaves_no_level_in_the_plan() -> None:
    plan = make_plan(SCHEMA, NONE, method={"sex": "serial"})
    assert plan.schema["sex"].levels == ()
    assert plan.serials == ("sex",)
    assert plan.predictor_matrix["sex"].sum() == 0


@pytest.mark.parametrize("dtype", ["bool", "datetime64[ns]", "timedelta64[s]"])
def test_running_numbers_need_a_type_that_counts(dtype) -> None:
    schema = Schema([CategoricalColumn("id", [], dtype=dtype), NumericColumn("x")])
    with pytest.raises(PlanError, match="running numbers"):
        make_plan(schema, NONE, method={"id": "serial"})


def test_nothing_left_is_refused() -> None:
    with pytest.raises(PlanError, match="no column is left"):
        make_plan(Schema([]), NONE)


def test_emit_original_reaches_every_model_that_has_it() -> None:
    plan = make_plan(SCHEMA, NONE, emit_original=True)
    assert [step.model.emit_original for step in plan.steps if step.label in ("age", "the wage")] == [
        True,
        True,
    ]


def test_a_plan_says_briefly_who_is_given_all_before():
    names = list("abcdefghij")
    wide = Schema([NumericColumn(name, may_be_missing=False) for name in names])
    matrix = {"i": ["a", "b", "c", "d", "e", "f", "h"], "j": list("abcdefgh")}
    plan = make_plan(wide, NONE, predictor_matrix=matrix, formulas=["h ~ a + b + c + d + e + f + g + a:b"])
    given = [row[3] for row in plan.to_table().rows]
    assert given[6] == "a, b, c, d, e, f"
    assert given[7:] == [
        "all 7 columns before it, a:b",
        "all 8 columns before it but g",
        "all 9 columns before it but i",
    ]
    assert plan.to_table().notes == ()


def test_a_plan_lists_every_predictor_below_or_on_request():
    names = list("abcdefghijkl")
    wide = Schema([NumericColumn(name, may_be_missing=False) for name in names])
    plan = make_plan(wide, NONE, predictor_matrix={"l": names[:7]})
    assert plan.to_table().rows[-1][3] == "7 of 11 columns: a, b, c, d, e, f and 1 more, see below"
    assert plan.to_table().notes == ("Step 12 is given a, b, c, d, e, f, g.",)
    frame = plan.to_frame()
    assert list(frame.columns) == ["draws", "method", "given"]
    assert frame.loc[12, "given"] == "a, b, c, d, e, f, g"
    assert frame.loc[11, "given"] == ", ".join(names[:10])
