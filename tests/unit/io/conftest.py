"""Parts of a release around any frame, without a fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pysynthdp.base.marks import KEPT_REAL
from pysynthdp.curator.infer import infer_schema
from pysynthdp.curator.rows import rows_of
from pysynthdp.privacy.statements.column import ColumnStatement
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.release import SyntheticRelease
from pysynthdp.schema.declarations import Declarations
from pysynthdp.tags import ReleaseTags
from pysynthdp.tags.provenance import Provenance

Build = Callable[..., dict[str, Any]]


@pytest.fixture
def parts_of() -> Build:
    """Wrap m copies of a frame as the parts of a release."""

    def build(frame: pd.DataFrame, m: int = 1, **settings: Any) -> dict[str, Any]:
        kept, exempt = settings.pop("kept", ()), settings.pop("exempt", ())
        methods = settings.pop("methods", dict.fromkeys(frame.columns, "norm"))
        declared = Declarations(**settings)
        stated = {**methods, **dict.fromkeys(kept, KEPT_REAL)}
        columns = [ColumnStatement(name, stated[name], "none", "unbounded fit") for name in frame.columns]
        return {
            "copies": tuple(frame.copy() for _ in range(m)),
            "schema": infer_schema(rows_of(frame), declared=declared, exempt=exempt, public=True),
            "privacy": PrivacyStatement.none(columns, draws=[(len(frame), m)]),
            "provenance": Provenance(
                "pysynthdp 0", (("numpy", "2"),), tuple(stated.items()), tuple(frame.columns)
            ),
            "tags": ReleaseTags(
                kind="complete", m=m, n_syn=len(frame), n_org=len(frame), kept=frozenset(kept)
            ),
        }

    return build


@pytest.fixture
def release_of(parts_of: Build) -> Callable[..., SyntheticRelease]:
    """Wrap m copies of a frame as a release."""

    def build(frame: pd.DataFrame, m: int = 1, **settings: Any) -> SyntheticRelease:
        return SyntheticRelease(**parts_of(frame, m, **settings))

    return build


@pytest.fixture
def small() -> pd.DataFrame:
    """Two columns, forty rows."""
    return pd.DataFrame({"age": np.linspace(20.25, 80.75, 40), "sex": ["F", "M"] * 20})
