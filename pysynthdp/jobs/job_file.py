"""A job file: one TOML that says all of a run, checked before a row is read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

from pysynthdp.base.errors import PlanError
from pysynthdp.base.toml_text import read_toml, refuse_unknown, to_toml
from pysynthdp.io.plans.plan_file import KEYS, plan_settings, reading_settings
from pysynthdp.io.sql.reading import SQLTable
from pysynthdp.jobs.keys import JOB_KEYS, JOB_VERSION, JobToml, taken

__all__ = ["Approval", "Gates", "Job", "Limits", "read_job"]

_PLAN: Final = "plan"
_AS_ORIGINAL: Final = "as-original"


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """Where the confidential table is; see ``JOB_KEYS`` for each key."""

    path: Path | None = None
    sha256: str | None = None
    database: str | None = None
    table: str | None = None
    query_file: Path | None = None
    order_by: tuple[str, ...] = ()
    n: int | None = None

    def source(self) -> Path | SQLTable:
        """Give the table as a synthesizer takes it.

        Raises
        ------
        PlanError
            If the query cannot be read.
        """
        if self.path is not None:
            return self.path
        query = None if self.query_file is None else _text_of(self.query_file, "input.query_file")
        name = str(self.database).removeprefix("env:")
        return SQLTable(table=self.table, query=query, order_by=self.order_by, url_env=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """How many copies, of how many rows, drawn from which secret."""

    m: int = 5
    k: int | str = _AS_ORIGINAL
    seed_file: Path | None = None

    @property
    def rows(self) -> int | None:
        """Rows of a copy; None for as many as the table has."""
        return None if isinstance(self.k, str) else self.k


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Who pays."""

    ledger: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """What must hold of the copies before they may leave."""

    rules_failed: float | None = None
    max_pmse_ratio_2way: float | None = None
    max_repu_percent: Mapping[str, float] | None = None
    keys: Mapping[str, list[str]] | None = None
    max_rho: float | None = None
    max_epsilon: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What is made of the copies, and where."""

    folder: Path
    formats: tuple[str, ...] = ("parquet",)
    watermark: bool = True
    documents: tuple[str, ...] = ("codebook", "readme", "statement", "programs")
    sign: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the run may take of the machine."""

    memory_gb: float | None = None
    workers: int | None = None
    scratch: Path | None = None
    scratch_encrypt: bool = False
    block_rows: int | None = None
    nice: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """Who approved what, and until when."""

    reference: str | None = None
    approved_by: str | None = None
    job_sha256: str | None = None
    expires: date | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Job:
    """A job, as its file says it.

    Parameters
    ----------
    file : Path
        Where it stands.
    name, purpose : str
        Of the job.
    plan : mapping
        Content of ``[plan]``.
    input, sample, budget, gates, output, limits, approval
        The other tables.
    digest : str
        Of all but ``[approval]``, and of the codebook and the query that it names: what is approved.
    what : str
        The same without ``[limits]``, which change no result: what may be resumed.

    Notes
    -----
    Privacy: settings; holds no record. ``input.sha256`` tells which file it was to whoever has that file.
    """

    file: Path
    name: str
    purpose: str | None
    plan: Mapping[str, Any]
    input: Input
    sample: Sample
    budget: Budget
    gates: Gates
    output: Output
    limits: Limits
    approval: Approval | None
    digest: str
    what: str

    def __repr__(self) -> str:
        return f"<Job: {self.name}>"

    def settings(self, dtypes: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Read the settings of the synthesizer.

        Raises
        ------
        PlanError
            As for a plan file.
        """
        where = f"{self.file}: {_PLAN}"
        found = plan_settings(self.plan, where=where, folder=self.file.parent, dtypes=dtypes)
        limits = {"scratch": self.limits.scratch, "scratch_encrypt": self.limits.scratch_encrypt}
        return {**found, **limits, "workers": self.limits.workers, "progress": False}

    def reading(self) -> dict[str, Any]:
        """Read how the table's file is written."""
        return reading_settings(self.plan, where=f"{self.file}: {_PLAN}", folder=self.file.parent)

    def expanded(self) -> str:
        """Write the whole job as TOML, every default too."""
        head = {"version": JOB_VERSION, "job": self.name, "purpose": self.purpose}
        tables = {name: _written(asdict(getattr(self, name))) for name in _TABLES if name != "approval"}
        if self.approval is not None:
            tables["approval"] = _written(asdict(self.approval))
        return to_toml({**head, **{name: table for name, table in tables.items() if table}, _PLAN: self.plan})


_TABLES: Final[Mapping[str, Any]] = {
    "input": Input,
    "sample": Sample,
    "budget": Budget,
    "gates": Gates,
    "output": Output,
    "limits": Limits,
    "approval": Approval,
}


def read_job(path: str | Path) -> Job:
    """Read a job file and check every key of it.

    Parameters
    ----------
    path : path
        TOML with ``version``, ``job``, ``purpose`` and the tables ``[input]``, ``[plan]``, ``[sample]``,
        ``[budget]``, ``[gates]``, ``[output]``, ``[limits]`` and ``[approval]``; paths are relative to it.

    Returns
    -------
    Job

    Raises
    ------
    PlanError
        For an unknown key (a near miss is named), a value of the wrong form, or what lacks.

    Notes
    -----
    Privacy: reads no record.
    """
    file = Path(path)
    content = read_toml(file, PlanError)
    known = [*JOB_KEYS[""], *_TABLES, _PLAN]
    refuse_unknown(content, known, where=str(file), error=PlanError)
    tables = dict(_tables(content, file))
    head = {name: content[name] for name in JOB_KEYS[""] if name in content}
    toml = JobToml(file.parent)
    top = taken(head, JOB_KEYS[""], toml, f"{file}: ")
    _check_version(top, file)
    if not tables.get("output", {}).get("folder"):
        raise PlanError(
            f"{file} names no folder for what is made", kind="job file", remedy="[output] has folder"
        )
    kinds = {name: kind for name, kind in _TABLES.items() if name != "approval" or name in tables}
    found = {"approval": None, **{name: kind(**tables.get(name, {})) for name, kind in kinds.items()}}
    digest, what = _digests(content, found["input"], file)
    job = Job(file, top["job"], top.get("purpose"), content.get(_PLAN, {}), **found, digest=digest, what=what)
    _check_input(job)
    return job


def _tables(content: Mapping[str, Any], file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Check the tables, one by one."""
    for name in _TABLES:
        if name not in content:
            continue
        given = content[name]
        if not isinstance(given, Mapping):
            raise PlanError(f"{file}: {name} must be a table, [{name}]", kind="job file")
        refuse_unknown(given, JOB_KEYS[name], where=f"{file}: [{name}]", error=PlanError)
        values = taken(given, JOB_KEYS[name], JobToml(file.parent), f"{file}: {name}.")
        yield name, {key: tuple(value) if key == "order_by" else value for key, value in values.items()}
    plan = content.get(_PLAN, {})
    if not isinstance(plan, Mapping):
        raise PlanError(
            f"{file}: {_PLAN} must be a table, [{_PLAN}], with the keys of a plan file", kind="job file"
        )
    refuse_unknown(plan, KEYS, where=f"{file}: [{_PLAN}]", error=PlanError)


def _check_version(top: Mapping[str, Any], file: Path) -> None:
    """Refuse a job of another format, or without a name."""
    if top.get("version") != JOB_VERSION:
        raise PlanError(
            f"{file} must begin with version = {JOB_VERSION}, the format that this version reads",
            kind="job file",
        )
    name = top.get("job", "")
    if not name.strip() or not name.isprintable():
        raise PlanError(f'{file} has no name: write job = "..." in one line', kind="job file")


def _check_input(job: Job) -> None:
    """Refuse an input that is named twice or not at all, and tables that lack their other half."""
    given, at = job.input, job.file
    if (given.path is None) == (given.database is None):
        raise PlanError(f"{at}: [input] has a path or a database", kind="job file")
    of_database = [key for key in ("table", "query_file", "order_by") if getattr(given, key)]
    if given.path is not None and of_database:
        raise PlanError(f"{at}: input.{of_database[0]} goes with a database", kind="job file")
    if given.database is not None and given.sha256 is not None:
        raise PlanError(
            f"{at}: input.sha256 is of a file, and a database has none",
            kind="job file",
            remedy="leave it out",
        )
    if given.database is not None:
        given.source()  # refuses what is not whole
    if (job.budget.ledger is None) != (job.budget.source is None):
        raise PlanError(f"{at}: [budget] needs ledger and source", kind="job file")
    missing = [name for name in job.gates.max_repu_percent or () if name not in (job.gates.keys or {})]
    if missing:
        raise PlanError(
            f"{at}: gates.max_repu_percent names {missing[0]!r}, which is no set of keys",
            kind="job file",
            remedy=f"declare it in [gates]: keys = {{ {missing[0]} = [columns] }}",
        )


def _digests(content: Mapping[str, Any], source: Input, file: Path) -> tuple[str, str]:
    """Digest what is approved, and what may be resumed."""
    kept = {name: value for name, value in content.items() if name != "approval"}
    codebook = content.get(_PLAN, {}).get("codebook")
    named = {"codebook": file.parent / codebook if isinstance(codebook, str) else None}
    named["query_file"] = source.query_file
    files = {name: _digest_of(path, name) for name, path in named.items() if path is not None}
    same = {name: value for name, value in kept.items() if name != "limits"}
    return _digest({"job": kept, "files": files}), _digest({"job": same, "files": files})


def _digest(plain: Mapping[str, Any]) -> str:
    """Digest plain values; neither the order of keys nor comments count."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True, default=str).encode()).hexdigest()


def _digest_of(path: Path, name: str) -> str:
    """Digest a file that the job names."""
    return hashlib.sha256(_bytes_of(path, name)).hexdigest()


def _bytes_of(path: Path, name: str) -> bytes:
    """Read a file that the job names."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise PlanError(
            f"{name}: {path} cannot be read: {error.strerror or type(error).__name__}", kind="job file"
        ) from error


def _text_of(path: Path, name: str) -> str:
    """Read a text that the job names."""
    try:
        return _bytes_of(path, name).decode("utf-8")
    except UnicodeDecodeError as error:
        raise PlanError(f"{name}: {path} is not in UTF-8", kind="job file") from error


def _written(values: Mapping[str, Any]) -> dict[str, Any]:
    """Write what a table holds; what is not set is left out."""
    return {
        name: str(value) if isinstance(value, Path) else value
        for name, value in values.items()
        if value is not None and value not in ({}, ())
    }
