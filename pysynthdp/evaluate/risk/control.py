"""Controls: people who had no part in the copies, from a hold-out or from refits without them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import IntArray
from pysynthdp.base.errors import PysynthdpWarning, SchemaError, SettingError
from pysynthdp.base.words import Words
from pysynthdp.evaluate.risk.coding import Files
from pysynthdp.evaluate.risk.wording import EITHER, HOLDOUT, REFIT
from pysynthdp.synthesizer import Synthesizer

__all__ = ["Control", "ControlKind", "controls", "sealed_copies"]

_OUTS: Final = {"progress": False, "ledger": None}
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
        When both are given, or the hold-out cannot be one.

    Notes
    -----
    Privacy: a refit reads real rows. Its copies are looked at here and dropped: they are in no result, in no
    file and in no account, whatever guarantee its settings ask for; what is measured on them is INTERNAL.
    """
    if holdout is not None and refit is not None:
        what = Words("{holdout} and {refit} are two controls", holdout=HOLDOUT, refit=REFIT)
        raise SettingError(what, kind="setting", remedy="leave the refits out, the hold-out tells more")
    if holdout is not None:
        _check_holdout(files, holdout)
        return Control("holdout", (Files(files.table, files.copies, holdout.reset_index(drop=True)),))
    if refit is None:
        return Control("none", ())
    parts = np.array_split(rng.permutation(len(files.table)), folds)
    return Control("refits", tuple(_without(files, refit, np.sort(part), rng) for part in parts))


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


def _without(files: Files, refit: Synthesizer, part: IntArray, rng: np.random.Generator) -> Files:
    """Make copies without some rows, who then are fresh people."""
    rest = files.table.drop(index=files.table.index[part]).reset_index(drop=True)
    rows = len(files.copies[0])
    return Files(
        rest,
        sealed_copies(refit, rest, m=len(files.copies), k=None if refit.keep else rows, rng=rng),
        files.table.iloc[part].reset_index(drop=True),
    )


def sealed_copies(
    refit: Synthesizer, table: pd.DataFrame, *, m: int, k: int | None, rng: np.random.Generator
) -> tuple[pd.DataFrame, ...]:
    """Fit and draw for an evaluation only: nobody can draw from the fit, save it or charge it.

    Parameters
    ----------
    refit : Synthesizer
        Settings of the release.
    table : DataFrame
        Rows to fit.
    m, k : int
        Copies, and rows of each; k None as many as the table has.
    rng : Generator
        Of the drawing; under a guarantee the operating system's is taken, as for a release.

    Returns
    -------
    tuple of DataFrame
        To be looked at and dropped by the caller.

    Notes
    -----
    Privacy: reads real rows; under a guarantee the copies have it too, but many of them together do not have
    that of the release, so no number that is measured on them may leave.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PysynthdpWarning)  # said when the release was made
        fitted = _unlogged(refit).fit(table)
        release = fitted.draw(m=m, k=k, rng=rng if refit.protection.learns else None)
    return release.copies


def _unlogged(refit: Synthesizer) -> Synthesizer:
    """Take out what would write to a ledger or show a bar."""
    known = {item.name for item in fields(refit)}
    outs: dict[str, Any] = {name: value for name, value in _OUTS.items() if name in known}
    return replace(refit, **outs)
