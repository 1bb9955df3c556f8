"""Under either guarantee nothing but the copies depends on a record: how a job ends, what it says and writes.

Neighbours differ in one record, from an ordinary one to one that is odd in every column. Everything that a
person or a scheduler can see of the whole road (shell, fit, card, price, statement, tags, every file but the
copies) is equal to the byte; there are no warnings and no progress.
"""

from __future__ import annotations

import contextlib
import io
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app
from pysynthdp.models import Dirichlet, Gaussian

N = 240
CODEBOOK = """[columns.age]
lower = 18
upper = 90
fallback = 40
may_be_missing = false
[columns.town]
levels = ["a", "b", "c"]
other = "c"
may_be_missing = true
"""
NOISE = '[guarantee]\nname = "zcdp"\nrho = 2.0\n'
PLANS = {
    "by sampling": '[guarantee]\nname = "by_sampling"\n[method]\nage = {name = "gaussian", sigma = 15}\n'
    'town = {name = "dirichlet", prior = 30}\n',
    "by noise": NOISE,
    "by noise, even draws": f'draws = "even"\n{NOISE}',
    "by noise, main effects": f'terms = "main"\n{NOISE}',
    "by noise, few predictors": f"max_predictors = 1\n{NOISE}",
    "by noise, the user's order": f'visit_sequence = ["town", "age"]\n{NOISE}',
    "by noise, declared cells": f'{NOISE}[method]\nage = {{name = "cells", edges = [30, 45, 60, 60]}}\n',
}
REFUSED = {
    "screened terms": f'terms = "screened"\n{NOISE}',
    "cells without edges": f'{NOISE}[method]\nage = "cells"\n',
    "edges beyond bounds": f'{NOISE}[method]\nage = {{name = "cells", edges = [30, 120]}}\n',
}
ODD = {
    "ordinary": ("30", "a"),
    "empty": ("", ""),
    "far away": ("1e300", "z"),
    "no number": ("x", "NA"),
    "only one of its level": ("-5", "b"),
    "a word that ends programs": ("nan", "None"),
}


def rows(record: tuple[str, str]) -> list[str]:
    rng = np.random.default_rng(5)
    cells = zip(rng.integers(18, 90, N), rng.choice(["a", "c"], N), strict=True)
    found = [f"{age},{town}" for age, town in cells]
    found[17] = ",".join(record)
    return ["age,town", *found]


def seen_by_a_batch_job(folder: Path, plan: str, record: tuple[str, str]) -> dict[str, Any]:
    """Everything but the copies and what follows from them."""
    folder.mkdir()
    (folder / "book.toml").write_text(CODEBOOK)
    (folder / "plan.toml").write_text('codebook = "book.toml"\n' + plan)
    (folder / "t.csv").write_text("\n".join(rows(record)) + "\n")
    with warnings.catch_warnings(record=True) as heard, contextlib.chdir(folder):
        warnings.simplefilter("always")
        common = ["t.csv", "--plan", "plan.toml", "--m", "2"]
        jobs = [["plan", *common], ["synth", *common, "--out", "out"]]
        jobs += [["synth", *common, "--out", "s", "--stream"], ["verify", "out"]]
        runs = [CliRunner().invoke(app, job) for job in jobs]
    said = {"exit codes": [run.exit_code for run in runs], "said": [run.output for run in runs]}
    said["warnings"] = [str(one.message) for one in heard]
    if said["exit codes"][1]:
        return said
    out = folder / "out"
    tags = json.loads((out / "release.json").read_text())["tags"]
    return said | {
        "names": sorted(path.name for path in out.iterdir()),
        "schema": (out / "schema.json").read_bytes(),
        "codebook": (out / "codebook.csv").read_bytes(),
        "tags": {key: value for key, value in tags.items() if key not in NOISY},
        "statement": json.loads((out / "privacy.json").read_text()),
    }


NOISY = ("bias", "details", "flags", "clipped", "snr", "acceptance", "n_eff")  # from what is drawn anew


@pytest.mark.parametrize("how", PLANS)
def test_a_job_shows_nothing_of_a_record(how, tmp_path):
    usual = seen_by_a_batch_job(tmp_path / "usual", PLANS[how], ODD["ordinary"])
    assert usual["exit codes"] == [0, 0, 0, 0]
    assert usual["warnings"] == []
    for name, record in ODD.items():
        other = seen_by_a_batch_job(tmp_path / name, PLANS[how], record)
        if how.startswith("by noise"):  # the reason lists flags of noised answers
            for seen in (usual, other):
                seen["statement"]["reason"], seen["said"] = "", seen["said"][:1]  # the plan, with its price
        assert other == usual, name


@pytest.mark.parametrize("how", REFUSED)
def test_what_would_look_at_records_is_refused_in_the_same_words_for_all(how, tmp_path):
    usual = seen_by_a_batch_job(tmp_path / "usual", REFUSED[how], ODD["ordinary"])
    assert 0 not in usual["exit codes"][:2]
    for name, record in ODD.items():
        assert seen_by_a_batch_job(tmp_path / name, REFUSED[how], record) == usual, name


@pytest.mark.parametrize("how", ["by sampling", "by noise"])
def test_a_fit_in_python_shows_nothing_of_a_record(how, capfd):
    schema = sdp.Schema([
        sdp.NumericColumn("age", lower=18, upper=90, fallback=40, may_be_missing=False),
        sdp.CategoricalColumn("town", ["a", "b", "c"], other="c", may_be_missing=True),
    ])  # fmt: skip
    sampled = {"age": Gaussian(sigma=15.0), "town": Dirichlet(prior=30.0)}
    asked = {"guarantee": sdp.BySampling(), "method": sampled} if how == "by sampling" else {
        "guarantee": sdp.ZCDP(2.0)
    }  # fmt: skip
    found = []
    for record in ODD.values():
        table = pd.read_csv(io.StringIO("\n".join(rows(record))), dtype=str, keep_default_na=False)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            fitted = sdp.Synthesizer(schema=schema, progress=True, **asked).fit(table)
            fitted.draw(m=1, k=10)
        bars = capfd.readouterr().err
        words = [str(one.message) for one in heard]
        found.append((str(fitted), repr(fitted), fitted.holds, words, bars.count("age")))
    assert all(each == found[0] for each in found)
    assert found[0][3] == []


def test_the_comparison_tells_neighbours_apart_where_something_leaks(tmp_path):
    """Without a guarantee the same comparison sees the record: it is not blind."""
    seen = [seen_by_a_batch_job(tmp_path / name, "", ODD[name])["said"] for name in ("ordinary", "far away")]
    assert seen[0] != seen[1]
