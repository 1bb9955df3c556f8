"""The card of a noised release verifies everywhere; a card that somebody changed does not."""

from __future__ import annotations

import copy
import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli import app
from pysynthdp.privacy.statement import PrivacyStatement

N = 400
SCHEMA = sdp.Schema(
    [
        sdp.CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False),
        sdp.NumericColumn("age", lower=16, upper=100, decimals=0, may_be_missing=False, fallback=50),
        sdp.NumericColumn("pay", lower=0, upper=10, missing={-8: "not asked"}),
    ]
)
METHODS = [{}, {"age": "normrank"}]


@pytest.fixture(params=METHODS, ids=["norm", "normrank"])
def folder(request, tmp_path):
    rng = np.random.default_rng(2)
    table = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], N),
            "age": rng.integers(16, 100, N),
            "pay": np.where(rng.random(N) < 0.2, -8, rng.uniform(0, 10, N)),
        }
    )
    settings = sdp.Synthesizer(schema=SCHEMA, method=request.param, guarantee=sdp.ZCDP(2.0), progress=False)
    settings.fit(table).draw(m=3, rng=1).save(tmp_path / "out")
    return tmp_path / "out"


def verify(folder):
    return CliRunner().invoke(app, ["verify", str(folder)])


def test_the_card_of_a_noised_release_verifies(folder):
    release = sdp.SyntheticRelease.load(folder)
    assert release.privacy.status == "implemented"
    assert release.privacy.verify().ok
    result = verify(folder)
    assert result.exit_code == 0
    assert "every number confirmed" in result.output


def confirmed(card) -> bool:
    """Whether the card, read alone, is taken for true."""
    try:
        return PrivacyStatement.from_dict(card).verify().ok
    except sdp.PysynthdpError:
        return False


def halve_rho(card):
    card["guarantee"]["rho"] /= 2


def halve_rho_everywhere(card):
    """Points are recomputed too, as a careful liar would."""
    for cost in (card["guarantee"], card["columns"][0]["cost"]):
        cost["rho"] /= 2
    claimed = PrivacyStatement.from_dict({**card, "points": []}).guarantee
    for at in card["points"]:
        at["epsilon"] = claimed.epsilon(at["delta"])


def fewer_rows(card):
    card["draws"][0]["n_syn"] //= 2


def fewer_rows_in_all(card):
    fewer_rows(card)
    card["total"]["records"] = card["draws"][0]["n_syn"] * card["draws"][0]["copies"]


def finer_scale(card):
    scales = card["columns"][0]["constants"]["scales"]
    scales[0] = scales[0] // 2


def coarser_scale(card):
    scales = card["columns"][0]["constants"]["scales"]
    scales[-1] *= 2


def smaller_rows(card):
    bounds = card["columns"][0]["constants"]["row_bounds"]
    bounds[0] //= 2


def other_neighbours(card):
    card["columns"][0]["constants"]["relation"] = "add_remove"


def other_unit(card):
    card["unit"]["rows_per_unit"] = 2


def renamed_mechanism(card):
    card["columns"][0]["mechanism"] = "noisy_statistics"


def known_but_other_mechanism(card):
    card["columns"][0]["mechanism"] = "mean_on_grid"


def softened_assumptions(card):
    card["columns"][0]["assumptions"] = ["none"]


LIES = [
    halve_rho,
    halve_rho_everywhere,
    fewer_rows,
    fewer_rows_in_all,
    finer_scale,
    coarser_scale,
    smaller_rows,
    other_neighbours,
    other_unit,
    renamed_mechanism,
    known_but_other_mechanism,
    softened_assumptions,
]


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_a_changed_card_fails(lie, folder):
    path = folder / "privacy.json"
    card = json.loads(path.read_text())
    changed = copy.deepcopy(card)
    lie(changed)
    assert changed != card
    path.write_text(json.dumps(changed))
    result = verify(folder)
    assert result.exit_code == 1
    assert "Traceback" not in result.output
    if lie is not fewer_rows_in_all:  # the card alone agrees with itself; the copies do not agree with it
        assert not confirmed(changed)
