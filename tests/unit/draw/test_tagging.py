"""What a release says of how it came about."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import pytest

from pysynthdp import ZCDP, BySampling, NumericColumn, Schema, Synthesizer
from pysynthdp.draw import tagging
from pysynthdp.models import Gaussian

AGE = NumericColumn("age", lower=18, upper=90, fallback=40, may_be_missing=False)


def versions(**settings) -> dict[str, str]:
    plan = Synthesizer(schema=Schema([AGE]), **settings).plan()
    return dict(tagging.provenance_of(plan).versions)


@pytest.mark.parametrize(
    "settings",
    [{"guarantee": ZCDP(1.0)}, {"guarantee": BySampling(), "method": {"age": Gaussian(sigma=15.0)}}],
    ids=["noise", "sampling"],
)
def test_a_release_under_a_guarantee_names_the_maker_of_noise(settings, monkeypatch) -> None:
    assert versions(**settings)["opendp"] == version("opendp")

    def missing(name: str) -> str:
        if name == "opendp":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(tagging, "version", missing)
    assert "opendp" not in versions(**settings)


def test_a_release_without_a_guarantee_made_no_noise() -> None:
    assert "opendp" not in versions()
