"""The design of a survey in the rows of a table: odd weights, new names of groups, who stands out, totals."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import BoolArray, FloatArray
from pysynthdp.base.errors import PlanError, PrivacyError, SchemaError, together
from pysynthdp.base.remarks import FEWEST, Remark, few
from pysynthdp.base.words import Words, meant
from pysynthdp.curator.population import rebuilt_weights
from pysynthdp.curator.rows import rows_of
from pysynthdp.curator.rows.replaced import ReplacedRows
from pysynthdp.curator.spread.pieces import SpreadRows, refused
from pysynthdp.design.rows import Rows
from pysynthdp.plan.designed import MOST_UNITS
from pysynthdp.schema import Design
from pysynthdp.schema.survey_design import by_level, written

__all__ = ["check_alone", "design_remarks", "designed_rows", "fit_weights", "share_alone"]

NEAR: Final = 0.01  # of a declared total, up to which weights add up to it


def designed_rows(rows: Rows, design: Design) -> Rows:
    """Take the rows of a sample as its design says: without odd weights, groups under new names.

    Parameters
    ----------
    rows : Rows
        The confidential table.
    design : Design
        Which columns say how it was drawn.

    Raises
    ------
    SchemaError
        For a column that is not there, or no weight.
    PlanError
        For odd weights, and weights that do not add up to the declared totals.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee. New names are numbers in the order of the rows, which is
    that of the copies: they tell nothing of the old ones.
    """
    _check_columns(rows, design)
    if isinstance(rows, SpreadRows):
        refused(design.columns[0])
    rows = _without_odd(rows, design)
    _check_totals(rows, design)
    own = {**_renamed(rows, design), **rebuilt_weights(rows, design)}
    return ReplacedRows(rows, own) if own else rows


def fit_weights(rows: Rows, design: Design | None) -> FloatArray | None:
    """Give what each row weighs in the fits: where the design stays real, so that weighted sums are kept.

    Notes
    -----
    Privacy: reads real weights; not under a guarantee, where no design stays real.
    """
    if design is None or design.how != "keep" or design.weight is None or not design.weighted:
        return None
    return _weights(rows, design.weight)


def _check_columns(rows: Rows, design: Design) -> None:
    """Refuse columns that are not there."""
    faults = []
    for name in (*design.columns, *design.replicate_weights):
        if name not in rows.columns:
            what = Words("design names '{name}', which is no column", name=name)
            mend = meant(name, rows.columns, "give the names of columns")
            faults.append(SchemaError(what, column=name, kind="design", remedy=mend))
    if faults:
        raise together(faults)


def _weights(rows: Rows, name: str) -> FloatArray:
    """Read weights as numbers."""
    given = rows.take([name])[name]
    if not pd.api.types.is_numeric_dtype(given.dtype) or pd.api.types.is_bool_dtype(given.dtype):
        what = Words("{name} is the weight of the design, and holds no numbers", name=name)
        mend = Words("name another column, {design}", design=written(weight="..."))
        raise SchemaError(what, column=name, kind="design", remedy=mend)
    return np.asarray(given.to_numpy(dtype=np.float64, na_value=np.nan))


def _without_odd(rows: Rows, design: Design) -> Rows:
    """Leave rows of odd weight out, or refuse them; whoever belongs to no stratum or unit is refused."""
    faults = [fault for name in design.grouping if (fault := _nowhere(rows, name)) is not None]
    if faults:
        raise together(faults)
    if design.weight is None:
        return rows
    w = _weights(rows, design.weight)
    odd = ~(np.isfinite(w) & (w > 0))
    if not odd.any():
        return rows
    if design.odd_weights == "drop":
        left: BoolArray = ~odd
        return rows_of(rows.take(rows.columns)[left].reset_index(drop=True), full=True)
    raise PlanError(
        Words(
            "{name}: {rows} a weight that is missing, zero, negative or infinite ({kinds})",
            name=design.weight,
            rows=_rows_have(int(odd.sum())),
            kinds=", ".join(_kinds_of_odd(w)),
        ),
        column=design.weight,
        kind="design",
        remedy=Words(
            "leave these rows out of the fit and of the copies, {drop}, or correct them",
            drop=written(odd_weights="drop"),
        ),
    )


def _kinds_of_odd(w: FloatArray) -> list[str]:
    """Name what odd weights there are."""
    found = {"missing": np.isnan(w), "zero": w == 0, "negative": w < 0, "infinite": w == np.inf}
    return [name for name, which in found.items() if which.any()]


def _rows_have(count: int) -> str:
    """Say how many rows have something; vague below ten."""
    return f"{few(count)} rows have"


def _nowhere(rows: Rows, name: str) -> PlanError | None:
    """Find rows that belong to no stratum or unit."""
    count = int(rows.take([name])[name].isna().sum())
    if not count:
        return None
    what = Words("{name}: {rows} no stratum or sampling unit", name=name, rows=_rows_have(count))
    mend = "write which these belong to, or leave the rows out"
    return PlanError(what, column=name, kind="design", remedy=mend)


def _check_totals(rows: Rows, design: Design) -> None:
    """Refuse real weights that do not add up to the declared totals."""
    if design.totals is None or design.weight is None or design.how == "synthesise":
        return
    w = _weights(rows, design.weight)
    if isinstance(design.totals, int | float):
        _check_sum(float(w.sum()), design.totals, design.weight, "the declared total")
        return
    for column, totals in design.totals.items():
        if column not in rows.columns:
            what = Words("totals of design name '{name}', which is no column", name=column)
            mend = meant(str(column), rows.columns, "give the name of a column")
            raise SchemaError(what, column=str(column), kind="design", remedy=mend)
        codes, levels = pd.factorize(rows.take([column])[column])
        known = by_level(totals, levels)
        sums = np.bincount(codes[codes >= 0], weights=w[codes >= 0], minlength=len(levels))
        found = dict(zip(levels, sums, strict=True))
        for level in known:
            _check_sum(float(found[level]), known[level], design.weight, f"a total of {column}")
        if len(known) < len(totals):
            what = Words("totals of {name} name a level that no row has", name=column)
            mend = "leave it out, or write it as the table does"
            raise PlanError(what, column=str(column), kind="design", remedy=mend)


def _check_sum(found: float, declared: float, weight: str, what: str) -> None:
    """Refuse a sum that is not near a declared one."""
    if abs(found - declared) > NEAR * declared:
        raise PlanError(
            Words("{weight} does not add up to {what}", weight=weight, what=what),
            column=weight,
            kind="design",
            remedy=Words(
                "correct the total or the weights; leave {totals} out if it is of another population",
                totals=written(totals=...),
            ),
        )


def _renamed(rows: Rows, design: Design) -> dict[str, pd.Series[Any]]:
    """Give strata and units new names of the same form; a unit has one of its own in each stratum."""
    if not design.renamed:
        return {}
    names = tuple(dict.fromkeys((*design.grouping,)))
    held = rows.take(names)
    own: dict[str, pd.Series[Any]] = {}
    for name in design.renamed:
        nested = name == design.psu and design.strata is not None
        keys = [str(design.strata), name] if nested else [name]
        order = held.groupby(keys, sort=False, observed=True, dropna=False).ngroup()
        own[name] = _in_form(order.to_numpy() + 1, held[name])
    return own


def _in_form(numbers: Any, old: pd.Series[Any]) -> pd.Series[Any]:
    """Write numbers in the type of a column: as texts of one width where it holds texts."""
    if pd.api.types.is_numeric_dtype(old.dtype) and not pd.api.types.is_bool_dtype(old.dtype):
        return pd.Series(numbers, index=old.index).astype(old.dtype)
    width = len(str(numbers.max(initial=1)))
    text = pd.Series([f"{number:0{width}d}" for number in numbers], index=old.index)
    return text.astype("category") if isinstance(old.dtype, pd.CategoricalDtype) else text.astype(str)


def share_alone(rows: Rows, names: Collection[str]) -> float:
    """Share of rows that are alone with what they hold in some columns.

    Notes
    -----
    Privacy: reads real rows; a share of all of them.
    """
    held = rows.take(list(names))
    if not len(held) or not names:
        return 0.0
    return float((~held.duplicated(keep=False)).mean())


def check_alone(rows: Rows, design: Design, kept: Sequence[str], *, of: str = "rows") -> tuple[Remark, ...]:
    """Say how many rows the columns that stay real tell apart, and refuse too many.

    Parameters
    ----------
    rows : Rows
        The confidential table.
    design : Design
        How many are accepted.
    kept : sequence of str
        Columns that stay real, the design's among them.
    of : str
        What a row of these is, for messages.

    Raises
    ------
    PrivacyError
        For more than the design accepts: names the columns and the ways out.

    Notes
    -----
    Privacy: reads real rows, and says a share of them.
    """
    share = share_alone(rows, kept)
    if not share:
        return ()
    what = Words(
        "{share} of the {of} are alone with what they hold in {names}, which stay real",
        of=of,
        share=f"{100 * share:.1f} %",
        names=", ".join(kept),
    )
    if share > design.accept:
        raise PrivacyError(
            Words("{what}: whoever holds the survey file, or a frame, knows them again", what=what),
            column=design.weight or kept[0],
            kind="design",
            remedy=Words(
                "round the weights, keep fewer columns, or draw the weight, {drawn}; to accept it, {own}",
                drawn=written(how="synthesise"),
                own=written(accept=float(np.ceil(share * 100) / 100)),
            ),
        )
    mend = Words("the limit is {accept}", accept=written(accept=design.accept))
    return (Remark(design.weight or kept[0], "fingerprints", what, mend),)


def design_remarks(rows: Rows, design: Design, *, of: str = "rows") -> tuple[Remark, ...]:
    """Say which strata have one sampling unit, or few records, and that sampling units are in no model.

    Notes
    -----
    Privacy: reads real rows; counts strata and sampling units, and names none.
    """
    if design.how != "keep":
        return ()
    return (*_many_units(rows, design), *_small_strata(rows, design, of))


def _many_units(rows: Rows, design: Design) -> tuple[Remark, ...]:
    """Say that there are more sampling units than any model takes."""
    if design.psu is None:
        return ()
    count = int(rows.take([design.psu])[design.psu].nunique())
    if count <= MOST_UNITS:
        return ()
    what = Words(
        "it has {count} sampling units, more than the {most} that models take: copies have their names and "
        "none of their likeness, so that variances by sampling unit are too small",
        count=f"{count:,}",
        most=MOST_UNITS,
    )
    mend = "group sampling units that are alike before the fit"
    return (Remark(design.psu, "sampling units", what, mend),)


def _small_strata(rows: Rows, design: Design, of: str) -> tuple[Remark, ...]:
    """Say which strata have one sampling unit, or few records."""
    if design.strata is None:
        return ()
    held = rows.take(list(design.grouping))
    groups = held.groupby(design.strata, observed=True)
    records = groups.size()
    units = records if design.psu is None else groups[design.psu].nunique()
    found = []
    alone, small = int((units == 1).sum()), int((records < FEWEST).sum())
    if alone:
        what = Words("{strata} one sampling unit, which gives no variance", strata=_strata_have(alone))
        mend = Words("merge it with a neighbour, or say {lonely} in the analysis", lonely="lonely='adjust'")
        found.append(Remark(design.strata, "single units", what, mend))
    if small:
        what = Words(
            "{strata} fewer than {few} {of}, whose weights stay real: their total is that of these {who}",
            strata=_strata_have(small),
            few=FEWEST,
            of="records" if of == "rows" else of,
            who="people" if of == "rows" else of,
        )
        found.append(Remark(design.strata, "small strata", what, "merge such strata before the fit"))
    return tuple(found)


def _strata_have(count: int) -> str:
    """Say how many strata have something."""
    return "1 stratum has" if count == 1 else f"{count:,} strata have"
