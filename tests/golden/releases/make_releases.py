"""Make the frozen release folders of a version; run with that version, once, and never again.

``python tests/golden/releases/make_releases.py`` writes a folder named by the version beside this file. The
table is made up, so that a folder may hold it. Versions after 0.1.0 refuse some of the settings below: that is
why the folders are kept and not made by the tests.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

import pysynthdp as sdp
from pysynthdp.models import Gaussian

N = 60
AGE = sdp.NumericColumn("age", lower=16, upper=90, may_be_missing=False, fallback=40)
SEX = sdp.CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False)
HOUSEHOLD = sdp.PrivacyUnit(rows_per_unit=4, name="household")


def table() -> pd.DataFrame:
    """A made-up table of numbers, levels, dates and codes."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": rng.integers(16, 90, N).astype(float),
            "sex": rng.choice(["F", "M"], N),
            "health": pd.Categorical(
                rng.choice(["bad", "good"], N), categories=["bad", "good"], ordered=True
            ),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, N), unit="D"),
            "pay": np.where(rng.random(N) < 0.2, -8, rng.integers(0, 4000, N)),
        }
    )


def noised(**settings: object) -> sdp.Synthesizer:
    """Settings of a release with noise in the answers."""
    return sdp.Synthesizer(
        schema=sdp.Schema([AGE, SEX]), guarantee=sdp.ZCDP(8.0), progress=False, **settings
    )


def sampled(**settings: object) -> sdp.SyntheticRelease:
    """A release whose own sampling protects."""
    synthesizer = sdp.Synthesizer(
        schema=sdp.Schema([AGE]),
        method={"age": Gaussian(sigma=15.0)},
        guarantee=sdp.BySampling(),
        progress=False,
        **settings,
    )
    return synthesizer.fit(table()[["age"]]).draw(m=2)


def forge(folder: Path, truth: pd.DataFrame) -> None:
    """Put the table itself in place of a copy, and call the seeded run implemented."""
    truth.to_parquet(folder / "synthetic_1.parquet", index=False)
    path = folder / "privacy.json"
    card = json.loads(path.read_text(encoding="utf-8"))
    card.update(status="implemented", statement_may_be_published=True, reason="anonymous", not_covered=[])
    path.write_text(json.dumps(card), encoding="utf-8")


def main() -> None:
    """Write every folder."""
    home = Path(__file__).parent / sdp.__version__
    both = table()[["age", "sex"]]
    plain = sdp.Synthesizer(missing={"pay": {-8: "not asked"}}, keep=["sex"], progress=False)
    plain.fit(table()).draw(m=2).save(home / "none", format="csv")
    sampled().save(home / "by_sampling")
    sampled(unit=HOUSEHOLD).save(home / "unit_dropped")
    release = noised().fit(both).draw(m=2)
    release.save(home / "zcdp")
    halved = replace(release.privacy, guarantee=sdp.ZCDP(4.0))
    replace(release, privacy=halved).save(home / "halved")
    seeded = noised(testing=True).fit(both, noise_seed=1).draw(m=1)
    seeded.save(home / "seeded")
    forge(seeded.save(home / "forged"), both)


if __name__ == "__main__":
    main()
