"""Folders with a small job, its table, its codebook and its ledger."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import pysynthdp as sdp

_SPEC = importlib.util.spec_from_file_location("job_places", Path(__file__).parents[2] / "job_places.py")
shared = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = shared
_SPEC.loader.exec_module(shared)


@pytest.fixture(scope="session")
def people() -> str:
    rng = np.random.default_rng(3)
    lines = ["sex,age,smoke,cigarettes"]
    for _ in range(300):
        smoke = rng.choice(["YES", "NO"])
        many = rng.choice([5, 10, 20]) if smoke == "YES" else -8
        lines.append(f"{rng.choice(['F', 'M'])},{rng.integers(16, 90)},{smoke},{many}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def place_of(people, tmp_path):
    """Make a folder with a job, its table, its codebook and its ledger."""

    def made(text: str, name: str = "here", rho: float = 2.5):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "people.csv").write_text(people, encoding="utf-8")
        (folder / "codebook.toml").write_text(shared.CODEBOOK, encoding="utf-8")
        place = shared.Place(folder, text)
        place.write()
        if "[budget]" in text:
            limit = (
                sdp.SourceLimit(rho=rho, unit="person")
                if "zcdp" in text
                else sdp.SourceLimit(epsilon=1e6, delta=1e-6, unit="person")
            )
            place.ledger().init("REG", limit, approval="x")
        return place

    return made
