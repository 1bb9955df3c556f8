"""How many cells a number is drawn in may be asked for, as synthpop's catgroups."""

from __future__ import annotations

import numpy as np
import pytest

from pysynthdp.base.errors import PlanError
from pysynthdp.models import Cells
from pysynthdp.testing import fitted


def test_a_number_is_cut_in_as_many_cells_as_asked():
    rng = np.random.default_rng(0)
    X, y = np.column_stack([np.ones(900), rng.standard_normal(900)]), rng.standard_normal(900)
    assert len(fitted(Cells(groups=3), X, y).params.levels) == 3
    assert len(fitted(Cells(), X, y).params.levels) == 15


@pytest.mark.parametrize("groups", [1, 2.5, True])
def test_what_is_no_number_of_cells_is_refused(groups):
    with pytest.raises(PlanError, match="groups of cells"):
        Cells(groups=groups)
