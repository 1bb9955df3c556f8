"""The card of a noised release is right everywhere; of one that somebody changed the shell says so."""

from __future__ import annotations

import copy
import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app
from pysynthdp.privacy.statements.statement import PrivacyStatement

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


def words(result) -> str:
    return " ".join(result.output.split())


def test_the_card_of_a_noised_release_verifies(folder):
    release = sdp.SyntheticRelease.load(folder)
    assert release.privacy.status == "implemented"
    assert release.privacy.verify().ok
    result = verify(folder)
    assert result.exit_code == 0
    assert "confirmed" not in result.output
    assert "the arithmetic of this statement is right, the files are those that its list names" in words(
        result
    )
    assert "nobody's signature was checked: this says nothing about who made it" in words(result)
    numbers = CliRunner().invoke(app, ["verify", str(folder), "--numbers"])
    assert "recomputed" in numbers.output
    assert "The statement was compared with itself alone" in words(numbers)


@pytest.mark.parametrize("name", ["none", "seeded", "halved", "forged", "unit_dropped"])
def test_a_batch_job_can_gate_on_the_exit_code(name, frozen):
    result = verify(frozen / name)
    wanted = {
        "none": (10, "no guarantee is stated"),
        "seeded": (11, "no guarantee holds"),
        "halved": (12, "do not rely on it"),
        "forged": (13, "rely on nothing in it"),
        "unit_dropped": (0, "a unit given beside sampling was ignored"),
    }[name]
    assert (result.exit_code, wanted[1] in words(result)) == (wanted[0], True)


def test_a_folder_that_is_no_release_is_a_failure(tmp_path):
    result = verify(tmp_path)
    assert result.exit_code == 2
    assert "is the folder a release?" in result.stderr


def agrees_with_itself(card) -> bool:
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
    assert result.exit_code == 13
    assert "Traceback" not in result.output
    if lie is not fewer_rows_in_all:  # the card alone agrees with itself; the copies do not agree with it
        assert not agrees_with_itself(changed)


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_a_card_changed_in_every_file_alike_fails_by_its_arithmetic(lie, folder, forge):
    forge(folder, "privacy.json", lie)
    result = verify(folder)
    contradicted = (fewer_rows_in_all, renamed_mechanism, known_but_other_mechanism)  # by copies, by tags
    assert result.exit_code == (13 if lie in contradicted else 12)
    assert "Traceback" not in result.output
