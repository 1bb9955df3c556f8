"""Controls: people who had no part in the copies, from a hold-out or from refits without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import IntArray
from pysynthdp.base.errors import SchemaError, SettingError
from pysynthdp.base.words import Words
from pysynthdp.evaluate.risk.coding import Files
from pysynthdp.evaluate.risk.wording import EITHER
from pysynthdp.evaluate.sealed import sealed_copies
from pysynthdp.synthesizer import Synthesizer

__all__ = ["Control", "ControlKind", "controls"]

ControlKind: TypeAlias = Literal["holdout", "refits", "none"]


@dataclass(frozen=True, slots=True)
class Control:
    """Against what a measure is held.

    Parameters
    ----------
    kind : {"holdout", "refits", "none"}
        People who were never used; or each fold of the table beside copies of fits without it.
    files : tuple of Files
        Each with its fresh people; empty without a control.
    """

    kind: ControlKind
    files: tuple[Files, ...]

    @property
    def people(self) -> int:
        """Number of fresh people."""
        return sum(0 if each.fresh is None else len(each.fresh) for each in self.files)


def controls(
    files: Files,
    holdout: pd.DataFrame | None,
    refit: Synthesizer | None,
    *,
    folds: int,
    rng: np.random.Generator,
) -> Control:
    """Choose the control.

    Parameters
    ----------
    files : Files
        Table and copies.
    holdout : DataFrame or None
        People of the same population who were never used.
    refit : Synthesizer or None
        Settings with which the copies were made.
    folds : int
        Parts of the table, each of which is left out once.
    rng : Generator
        Deals the rows.

    Returns
    -------
    Control
        What there is.

    Raises
    ------
    SettingError, SchemaError
        When the hold-out cannot be one.

    Notes
    -----
    Privacy: a refit reads real rows. Its copies are looked at here and dropped: they are in no result, in no
    file and in no account, whatever guarantee its settings ask for; what is measured on them is INTERNAL.
    """
    if holdout is not None:
        _check_holdout(files, holdout)
        return Control("holdout", (Files(files.table, files.copies, holdout.reset_index(drop=True)),))
    if refit is None:
        return Control("none", ())
    unit = None if refit.units is None else refit.units.id
    parts = _parts(files.table, unit, folds, rng)
    return Control("refits", tuple(_without(files, refit, part, unit, rng) for part in parts))


def _parts(table: pd.DataFrame, unit: str | None, folds: int, rng: np.random.Generator) -> list[IntArray]:
    """Deal rows, or whole units, into parts."""
    if unit is None:
        return [np.sort(part) for part in np.array_split(rng.permutation(len(table)), folds)]
    codes = pd.factorize(table[unit], use_na_sentinel=False)[0]
    dealt = np.array_split(rng.permutation(int(codes.max(initial=-1)) + 1), folds)
    return [np.flatnonzero(np.isin(codes, part)) for part in dealt]


def _check_holdout(files: Files, holdout: pd.DataFrame) -> None:
    """Refuse a hold-out that is no table, is empty, or is the table."""
    if not isinstance(holdout, pd.DataFrame) or holdout.empty:
        what = "holdout must be a table of people who were never used, with at least one row"
        raise SettingError(what, kind="setting")
    lacking = [name for name in map(str, files.table.columns) if name not in set(map(str, holdout.columns))]
    if lacking:
        what = f"holdout lacks the column {lacking[0]}"
        raise SchemaError(what, column=lacking[0], kind="columns", remedy="give the columns of the table")
    if len(holdout) == len(files.table) and holdout.reset_index(drop=True).equals(
        files.table.reset_index(drop=True)
    ):
        what = "holdout is the table itself, so every attack would look as if it failed"
        raise SettingError(what, kind="setting", remedy=Words("give {either}", either=EITHER))


def _without(
    files: Files, refit: Synthesizer, part: IntArray, unit: str | None, rng: np.random.Generator
) -> Files:
    """Make copies without some rows, who then are fresh people."""
    rest = files.table.drop(index=files.table.index[part]).reset_index(drop=True)
    rows = len(files.copies[0]) if unit is None else files.columns(unit)[1].nunique()
    return Files(
        rest,
        sealed_copies(refit, rest, m=len(files.copies), k=None if refit.keep else rows, rng=rng),
        files.table.iloc[part].reset_index(drop=True),
        left_out=True,
    )
