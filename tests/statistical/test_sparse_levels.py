"""Two scales that agree within a step: most cells are empty, and the slope of one on the other is kept.

Twenty tables of 500 rows, five copies each. The mean difference of slopes is -0.007 (plug-in) and
-0.011 (proper) with a standard error of 0.003; to the bar of 0.037, two standard errors of a slope, that is
more than eight of these (false alarm below 1e-15). A prior of 2.5 on slopes, or redraws that spread as far as
the normal law at the mode, give -0.074 and less, which passes with a chance below 1e-15.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp

TABLES = 20
BAR = 0.037


def table(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 6, 500)
    return pd.DataFrame({"first": first, "second": np.clip(first + rng.choice([-1, 0, 0, 1], 500), 0, 6)})


def slope(copy: pd.DataFrame) -> float:
    return float(np.polyfit(copy["first"], copy["second"], 1)[0])


@pytest.mark.statistical
@pytest.mark.parametrize("proper", [False, True])
def test_slopes_survive_empty_cells(proper: bool) -> None:
    gaps = []
    for seed in range(TABLES):
        real = table(seed)
        copies = sdp.Synthesizer(proper=proper, workers=1, progress=False).fit(real).draw(m=5, rng=seed)
        gaps.append(np.mean([slope(copy) for copy in copies]) - slope(real))
    assert abs(np.mean(gaps)) < BAR
