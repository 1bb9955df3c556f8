"""Who knows all values but the largest finds nothing of it in a saved fit: the same bytes, whatever it is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp import Synthesizer


def saved(frame, path, **settings):
    """Bytes of the saved fit."""
    Synthesizer(progress=False, **settings).fit(frame).save(path)
    return path.read_bytes()


@pytest.mark.filterwarnings("ignore::pysynthdp.base.errors.PysynthdpWarning")
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"proper": True},
        {"visit_sequence": ["z", "g", "x"]},
        {"method": {"x": "norm"}, "visit_sequence": ["g", "x", "z"]},
        {"method": {"z": "sample"}, "visit_sequence": ["g", "x", "z"]},
    ],
    ids=["default", "proper", "x last", "norm", "sample"],
)
def test_a_saved_fit_does_not_depend_on_the_largest_value(settings, side, tmp_path) -> None:
    """As target, as predictor and in the first margin; a sum that held it would differ in its last digits."""
    rng = np.random.default_rng(1)
    x = np.exp(rng.normal(size=300))
    frame = pd.DataFrame(
        {"x": side * x, "g": rng.choice(["a", "b"], 300), "z": rng.normal(size=300) + np.log(x)}
    )
    at, second = x.argmax(), np.sort(x)[-2]
    files = []
    for number, times in enumerate((1.01, 1.5, 300.0)):
        frame.loc[at, "x"] = side * second * times
        files.append(saved(frame, tmp_path / f"{number}.fit", **settings))
    assert all(each == files[0] for each in files[1:])


def test_a_value_that_is_not_the_largest_is_in_the_fit(tmp_path) -> None:
    """The test above could tell: the second largest does change the bytes."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=300), "g": rng.choice(["a", "b"], 300)})
    one = saved(frame, tmp_path / "one.fit")
    at = frame["x"].sort_values().index[-2]
    frame.loc[at, "x"] += 1e-3
    assert saved(frame, tmp_path / "two.fit") != one
