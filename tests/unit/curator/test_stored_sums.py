"""What a fit holds of cells of one record: X'X can be solved for from the root of a posterior covariance.

Of a level, one record has the second number; its encoded value is that cell of X'X.
"""

from __future__ import annotations

import zipfile
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.protection import stepfits

NUMBERS = ("norm", "normrank", "lognorm", "sqrtnorm", "cubertnorm", "poisson", "negbin")


def towns() -> pd.DataFrame:
    """Number ``second`` is there for every third person, and for one of town d."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"town": rng.choice(list("abcd"), 400), "second": rng.normal(50.0, 9.0, 400)})
    gone = rng.random(400) < 2 / 3
    gone[frame["town"] == "d"] = True
    gone[np.flatnonzero(frame["town"] == "d")[0]] = False
    frame.loc[gone, "second"] = np.nan
    frame["y"] = 1 + rng.poisson(4.0, 400)
    frame["step"] = pd.Categorical(rng.choice(list("klm"), 400), ordered=True)
    frame["yes"] = rng.choice(["no", "yes"], 400)
    return frame


def cell(params: object) -> float:
    """Solve for the cell of X'X; features are the intercept, b, c, d, no value, the number."""
    root = params.root[:6]  # type: ignore[attr-defined]
    gram = np.linalg.pinv(root @ root.T)
    return float(gram[3, 5] / (gram[3, 3] - gram[3, 4]))


@pytest.mark.parametrize("method", NUMBERS)
def test_a_fit_holds_no_cross_products_of_its_features(method: str, tmp_path: Path) -> None:
    frame = towns()
    order = ["town", "second", "y", "step", "yes"]
    made = sdp.Synthesizer(method={"y": method, "step": "polr", "yes": "logreg"}, visit_sequence=order)
    fitted = made.fit(frame)
    fitted.save(tmp_path / "fit")
    with zipfile.ZipFile(tmp_path / "fit") as archive:
        arrays = [np.load(archive.open(name)) for name in archive.namelist() if name.endswith(".npy")]
    assert all(array.ndim < 2 or not array.size or len(array) < 5 for array in arrays)  # tables of margins
    for step in fitted._machine.fit.steps:
        if is_dataclass(step.params) and "root" in {field.name for field in fields(step.params)}:
            assert step.params.root.shape[1] == 0


def test_the_attack_solves_for_the_number_where_a_posterior_is_kept() -> None:
    frame = towns()
    order = ["town", "second", "y", "step", "yes"]
    fitted = sdp.Synthesizer(method={"y": "norm"}, visit_sequence=order, proper=True).fit(frame)
    step = next(step for step in fitted._machine.fit.steps if step.targets[0].column == "y")
    scale = fitted._machine.fit.layout.scales["second", "value"]
    [true] = frame.loc[frame["town"] == "d", "second"].dropna()
    assert cell(step.params) * scale.width + scale.centre == pytest.approx(true, abs=1e-6)


@pytest.mark.parametrize("method", NUMBERS)
def test_copies_need_nothing_of_what_is_left_out(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = sdp.Synthesizer(method={"y": method, "step": "polr", "yes": "logreg"})
    slim = made.fit(towns())
    monkeypatch.setattr(stepfits, "HasPosterior", type("Nobody", (), {}))
    whole = made.fit(towns())
    assert any(getattr(step.params, "root", np.zeros((1, 0))).size for step in whole._machine.fit.steps)
    for one, other in zip(slim.draw(m=2, rng=3), whole.draw(m=2, rng=3), strict=True):
        pd.testing.assert_frame_equal(one, other)
