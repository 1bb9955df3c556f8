import numpy as np
import pandas as pd
import pytest

from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.codec import NA_INTEGER, NA_REAL, ROpaque, RVector, character, named_list
from pysynthdp.bridge.facts import RFrame
from pysynthdp.bridge.plain import plain_from_r, plain_to_r, vector


def _integers(values, **attributes):
    return RVector("integer", np.array(values, dtype=np.int32), attributes)


@pytest.mark.parametrize(
    "value",
    [
        None, True, False, 3, -(2**31) + 1, 0.5, "text", "", [], {}, [1, None, "a"], {"a": {"b": [True]}},
        {"columns": [{"name": "x", "levels": [1, 2]}]}, float("inf"), [[1, 2], [3]],
    ],
)  # fmt: skip
def test_plain_values_come_back(value):
    back = plain_from_r(plain_to_r(value))
    assert back == value
    assert type(back) is type(value)


def test_missing_values_of_every_kind_are_none():
    assert plain_from_r(_integers([1, NA_INTEGER])) == [1, None]
    assert plain_from_r(RVector("logical", np.array([1, NA_INTEGER], dtype=np.int32))) == [True, None]
    assert plain_from_r(character(["a", None])) == ["a", None]
    numbers = plain_from_r(RVector("double", np.array([NA_REAL, np.nan])))
    assert numbers[0] is None
    assert np.isnan(numbers[1])


def test_names_make_a_dict():
    assert plain_from_r(_integers([1, 2], names=character(["a", "b"]))) == {"a": 1, "b": 2}
    with pytest.raises(BridgeError, match="two elements of one name"):
        plain_from_r(_integers([1, 2], names=character(["a", "a"])))
    with pytest.raises(BridgeError, match="without a name"):
        plain_from_r(_integers([1, 2], names=character(["a", None])))


def test_a_factor_is_its_texts():
    levels = {"levels": character(["x", "y"]), "class": character(["factor"])}
    assert plain_from_r(_integers([2, NA_INTEGER, 1], **levels)) == ["y", None, "x"]


def test_matrices_are_read_by_column_and_written_so():
    dim = _integers([2, 3])
    held = plain_from_r(_integers([1, 2, 3, 4, 5, 6], dim=dim))
    assert held.tolist() == [[1, 3, 5], [2, 4, 6]]
    names = RVector("list", (character(["r1", "r2"]), character(["a", "b", "c"])))
    labelled = plain_from_r(_integers([1, 2, 3, 4, 5, 6], dim=dim, dimnames=names))
    assert labelled.loc["r2", "b"] == 4
    again = plain_to_r(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert again.array.tolist() == [1, 3, 2, 4]
    assert again.attributes["dim"].array.tolist() == [2, 2]


def test_frames_stay_frames():
    frame = pd.DataFrame({"x": [1, 2]})
    back = plain_from_r(plain_to_r(frame))
    assert isinstance(back, RFrame)
    assert back.frame["x"].tolist() == [1, 2]


@pytest.mark.parametrize("what", ["closure", "environment", "external pointer"])
def test_what_means_nothing_outside_r_is_refused_by_place(what):
    with pytest.raises(BridgeError, match="method holds a function"):
        plain_from_r(named_list({"method": ROpaque(what)}))


def test_deep_lists_are_refused():
    value = character(["x"])
    for _ in range(300):
        value = RVector("list", (value,))
    with pytest.raises(BridgeError):
        plain_from_r(value)


def test_what_has_no_r_value_is_refused_by_type():
    with pytest.raises(BridgeError, match="object of type object"):
        plain_to_r(object())


def test_large_integers_become_doubles():
    assert vector([2**31]).kind == "double"
    assert vector([2**31 - 1]).kind == "integer"
    assert vector([-(2**31)]).kind == "double"
