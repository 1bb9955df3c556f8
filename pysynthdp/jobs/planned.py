"""What a run of a job will do, cost and take, from its file and what is public, before a row is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pa_parquet

from pysynthdp.base.display import Cell, Printable, Table, number
from pysynthdp.design.encode import n_features
from pysynthdp.design.parts import parts_of
from pysynthdp.io.csv.form import Form
from pysynthdp.io.ledger import SpendingLedger
from pysynthdp.jobs.checked import CheckedJob
from pysynthdp.jobs.header import headers_of
from pysynthdp.jobs.prices import known_price
from pysynthdp.plan import SynthesisPlan
from pysynthdp.privacy.guarantee import Guarantee

__all__ = ["JobPlan", "planned_job"]

_GB: Final = 10**9
_DELTA: Final = 1e-9
_COLUMNS: Final = 20  # where nothing is declared
_FIT: Final = 6e-7  # seconds a row and pair of columns, measured from 3,000 x 14 to 10^5 x 15
_NOISED: Final = 2e-8  # seconds a row and pair of features, of sums, measured from 5,000 x 35 to 10^6 x 12
_DRAW: Final = 3e-7  # seconds a cell and format
_START: Final = 4.0  # seconds, of the program and small tables
_BASE: Final = 0.35  # gigabytes, of the program
_HELD: Final = 400.0  # bytes a row of what is computed at a time, and of the columns


@dataclass(frozen=True, slots=True, repr=False)
class JobPlan(Printable):
    """What a run will do.

    Parameters
    ----------
    checked : CheckedJob
        The job.
    rows : int or None
        Of the table; None where that is not known without reading it.
    width : int or None
        Columns of its header, where no codebook declares them and they can be told.

    Notes
    -----
    Privacy: of the file, what is declared, and without a guarantee the number of rows that the table's file
    says; reads no record.
    """

    checked: CheckedJob
    rows: int | None
    width: int | None = None

    @property
    def rows_of_copy(self) -> int | None:
        """Rows of each copy, where known."""
        return self.checked.job.sample.rows or self.rows

    @property
    def seconds(self) -> float | None:
        """About how long it takes, within a factor of three; None where the number of rows is not known."""
        drawn = self.rows_of_copy
        if self.rows is None or drawn is None:
            return None
        job = self.checked.job
        learns, width = self.checked.protection.learns, self._columns()
        fit = _FIT * width**2 if learns else _NOISED * self._features() ** 2
        cells = float(drawn) * job.sample.m * width
        return _START + fit * self.rows + _DRAW * cells * (1 + len(job.output.formats))

    @property
    def gigabytes(self) -> float | None:
        """About how much memory it takes, within a factor of two; columns in scratch do not count."""
        return (
            None if self.rows is None else _BASE + _HELD * min(self.rows, 10**6) / _GB * self._columns() / 20
        )

    def steps(self) -> tuple[tuple[str, str], ...]:
        """Give the steps of the run, and what each does."""
        job, protection = self.checked.job, self.checked.protection
        pays = f", charged to {job.budget.source}" if job.budget.source else ""
        price = {"nothing": "no guarantee", "at the fit": "spends the budget, once" + pays}
        gates = [
            key for key in job.gates.__slots__ if key != "keys" and getattr(job.gates, key) not in (None, {})
        ]
        rows = self.rows_of_copy
        return (
            ("input", self._source()),
            ("fit", price.get(protection.spends, "exact answers, kept inside")),
            (
                "draw",
                f"{job.sample.m} copies of {'as many rows' if rows is None else f'{rows:,} rows'} as "
                + ", ".join(job.output.formats)
                + (f"; spends at each draw{pays}" if protection.spends == "at each draw" else ""),
            ),
            ("gates", ", ".join(gates) or "none"),
            ("release", str(job.output.folder)),
        )

    def cost(self) -> tuple[tuple[str, Cell], ...]:
        """Give the price, and what the ledger has left."""
        budget, protection = self.checked.job.budget, self.checked.protection
        if protection.spends == "nothing":
            return (("price", "none: no guarantee"),)
        price = self._price()
        facts: list[tuple[str, Cell]] = [("price", "needs input.n" if price is None else price)]
        if budget.ledger is not None and budget.source is not None:
            account = SpendingLedger(budget.ledger).account(budget.source)
            facts.append(("left to the source", account.limit.said(account.left)))
        return tuple(facts)

    def to_dict(self) -> dict[str, Any]:
        """Write plain values for programs."""
        job = self.checked.job
        return {
            "job": job.name,
            "digest": job.digest,
            "steps": [{"step": name, "what": what} for name, what in self.steps()],
            "rows": self.rows,
            "time_seconds": self.seconds,
            "memory_gb": self.gigabytes,
            **{name.replace(" ", "_"): value for name, value in self.cost()},
            "columns": [] if self.checked.plan is None else self._of_columns(self.checked.plan),
        }

    def to_table(self) -> Table:
        """Build a card: steps, price, time and memory."""
        job = self.checked.job
        unknown = "not known without reading the table; input.n says its rows"
        facts: tuple[tuple[str, Cell], ...] = (
            ("digest", job.digest),
            ("approval", _approval(job.approval)),
            *self.cost(),
            ("time, about", unknown if self.seconds is None else _time(self.seconds)),
            ("memory, about", unknown if self.gigabytes is None else f"{self.gigabytes:.1f} GB"),
        )
        notes = ("Nothing was read but the job file, what it names, and what files say of themselves.",)
        return Table(f"Job {job.name}", ("step", "what"), self.steps(), facts, notes)

    def _source(self) -> str:
        """Name the table."""
        given = self.checked.job.input
        if given.path is not None:
            return f"{given.path}: {'compared with sha256' if given.sha256 else 'digested'}"
        return f"{given.table or given.query_file} of the database that {given.database} names: one snapshot"

    def _price(self) -> str | None:
        """Word the price; None where it hangs on a number of rows that is not given."""
        job, protection, plan = self.checked.job, self.checked.protection, self.checked.plan
        if plan is not None and self.rows is not None:
            price = plan.price(n=self.rows, n_syn=job.sample.rows, m=job.sample.m)
            return _said(price.guarantee)
        known = known_price(job, protection, plan, self.rows)
        return None if known is None else _said(known)

    def _columns(self) -> int:
        """Count columns."""
        plan = self.checked.plan
        return (self.width or _COLUMNS) if plan is None else len(plan.schema)

    def _features(self) -> int:
        """Count features of the design matrix."""
        plan = self.checked.plan
        if plan is None:
            return self._columns() * 2
        return sum(n_features(part) for column in plan.schema for part in parts_of(column))

    @staticmethod
    def _of_columns(plan: SynthesisPlan) -> list[dict[str, Any]]:
        """Say who is drawn from whom."""
        card = plan.to_table()
        return [dict(zip(card.columns, row, strict=True)) for row in card.rows]


def planned_job(checked: CheckedJob) -> JobPlan:
    """Plan a run.

    Notes
    -----
    Privacy: reads no record; the number of rows is the declared one, or, where anything may be learned, the
    one in the footers of Parquet files, and of columns the one in the header.
    """
    rows = checked.job.input.n
    if rows is None and checked.protection.learns:
        rows = _rows_of(checked.job.input.path)
    return JobPlan(checked, rows, _width_of(checked))


def _width_of(checked: CheckedJob) -> int | None:
    """Count the columns in the header of the table's file that are not dropped."""
    path, drop = checked.job.input.path, {*checked.settings.get("drop", ())}
    if path is None or not checked.protection.learns:
        return None
    headers = headers_of(path, Form(**checked.job.reading()))
    return max((sum(name not in drop for name in header) for header in headers), default=None)


def _rows_of(path: Path | None) -> int | None:
    """Read the number of rows in the footers of Parquet files; None for other files."""
    if path is None:
        return None
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    if not files or any(each.suffix != ".parquet" for each in files):
        return None
    return sum(int(pa_parquet.read_metadata(each).num_rows) for each in files)


def _said(guarantee: Guarantee) -> str:
    """Word a price: rho where it has one, else what it is at a usual delta."""
    rho = getattr(guarantee, "rho", None)
    if rho is not None:
        return f"rho = {number(rho)}"
    return f"epsilon = {number(guarantee.epsilon(_DELTA))} at delta = {_DELTA:g}"


def _approval(approval: Any) -> str:
    """Word an approval."""
    if approval is None:
        return "none"
    ends = "" if approval.expires is None else f", until {approval.expires}"
    return f"{approval.reference or 'without a reference'}{ends}"


def _time(seconds: float) -> str:
    """Word a time."""
    return f"{number(round(seconds))} s" if seconds < 120 else f"{number(round(seconds / 60))} min"
