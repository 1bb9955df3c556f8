"""What a statement says was learned: the predictors that a fit chose, and apart from them the models."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpWarning


def learned(**settings) -> str:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 5))
    table = pd.DataFrame(np.round(X, 3), columns=list("abcde"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PysynthdpWarning)  # that predictors were chosen
        fitted = sdp.Synthesizer(progress=False, terms="main", **settings).fit(table)
    return "; ".join(fitted.draw(m=1, rng=1).privacy.learned)


def test_columns_with_chosen_predictors_are_named_and_others_are_not():
    text = learned(max_predictors=2)
    assert "which columns tell most of d, e" in text


def test_where_all_predictors_are_taken_none_was_chosen():
    assert "tell most" not in learned()


def test_models_that_rows_decided_are_told_beside_predictors():
    text = learned(max_predictors=2)
    assert "which of two models draws" in text
