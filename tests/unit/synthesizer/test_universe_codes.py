"""What stands outside a universe is declared, however the column itself is drawn."""

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp


@pytest.mark.parametrize("method", [{}, {"income": "cells"}, {"income": "normrank"}])
@pytest.mark.parametrize("code", [0, -8])
def test_a_number_stands_outside_whatever_the_method(method, code):
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, 300)
    income = np.where(age < 30, code, np.exp(rng.normal(7, 0.5, 300)).round())
    people = pd.DataFrame({"age": age, "income": income})
    settings = sdp.Synthesizer(universe={"income": ("age >= 30", code)}, method=method, progress=False)
    copy = settings.fit(people).draw(m=1, rng=1)[0]
    assert (copy["income"][copy["age"] < 30] == code).all()
    assert (copy["income"][copy["age"] >= 30] > 0).all()
