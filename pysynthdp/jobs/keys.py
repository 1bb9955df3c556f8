"""Every key of a job file and of a site's policy: its form and what it says, in one table for all readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, ClassVar, Final, get_args

from pysynthdp.base.forms import FLAG, NAMES, NUMBER, TEXT, WHOLE, Place, SettingForm, by_column
from pysynthdp.io.folder.formats import Format
from pysynthdp.io.plans.toml_values import Toml

__all__ = ["DOCUMENTS", "JOB_KEYS", "JOB_VERSION", "PURPOSES", "SITE_KEYS", "JobToml", "Key", "taken"]

JOB_VERSION: Final = 1
PURPOSES: Final = ("code-testing", "explore-then-validate", "public-analysis", "system-test")
DOCUMENTS: Final = {
    "codebook": "codebook.csv and codebook.html, of the copies",
    "readme": "README.txt",
    "statement": "privacy.json, the privacy statement",
    "programs": "programs that analyse the copies, where the combining rule allows it",
    "plan": "plan.txt, who is drawn from whom, in the job's own folder: INTERNAL",
    "board": "INTERNAL_board.html and .json, the report for a review board, there too; without a guarantee",
    "note": "quality_note.html, what everybody may read of the copies, there too",
}
"""Documents of a job; all but the last three lie in every release folder."""


@dataclass(frozen=True)
class JobToml(Toml):
    """Keys of a job file, in the words of its errors."""

    kind: ClassVar[str] = "job file"
    words: ClassVar[Mapping[str, tuple[str, str | None]]] = {
        **Toml.words,
        "number": ("{at} must be a number", None),
        "path": ("{at} must be the path of a file or folder, as a text", None),
        "natural": ("{at} must be a whole number of at least 1", None),
        "not negative": ("{at} must be a number of at least 0", None),
        "day": ("{at} must be a day, such as 2026-09-30, without quotes", None),
        "digest": ("{at} must be a SHA-256 checksum: 64 hexadecimal digits", "sha256sum prints it"),
        "size": ('{at} must be "as-original" or a whole number of at least 1', None),
        "one of": ("{at} must be one of {known}", None),
        "some of": ("{at} must be a list of some of {known}", None),
        "database": ("{at} must be env:NAME, the environment variable that holds the URL", None),
    }

    def plain(self, form: str, value: Any, place: Place) -> Any:
        """Give what the file holds as a plain value; a path from where the file is."""
        if form == "path" and isinstance(value, str):
            return self.folder / value
        if form == "ledger" and isinstance(value, str) and not value.startswith("env:"):
            return str(self.folder / value)
        return super().plain(form, value, place)


@dataclass(frozen=True, slots=True)
class Key:
    """A key.

    Parameters
    ----------
    form : SettingForm
        What it must be.
    about : str
        What it says.
    """

    form: SettingForm
    about: str


def _checked(name: str, fits: Callable[[Any], bool]) -> SettingForm:
    """Make the form of a value that fits."""

    def check(value: Any, place: Place) -> Any:
        if not fits(value):
            raise place.fault(name)
        return value

    return SettingForm(name, check)


def _one_of(known: tuple[str, ...]) -> SettingForm:
    """Make the form of one of some words."""

    def check(value: Any, place: Place) -> Any:
        if value not in known:
            raise place.fault("one of", known=", ".join(known))
        return value

    return SettingForm("one of", check)


def _some_of(known: tuple[str, ...]) -> SettingForm:
    """Make the form of a list of some words."""

    def check(value: Any, place: Place) -> tuple[str, ...]:
        if not isinstance(value, list) or not value or any(one not in known for one in value):
            raise place.fault("some of", known=", ".join(known))
        return tuple(dict.fromkeys(value))

    return SettingForm("some of", check)


def _whole(value: Any) -> bool:
    """Whether a value is a whole number of at least one."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _real(value: Any) -> bool:
    """Whether a value is a number of at least zero."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _digest(value: Any) -> bool:
    """Whether a value is a checksum."""
    return isinstance(value, str) and len(value) == 64 and not set(value.lower()) - set("0123456789abcdef")


def _database(value: Any) -> bool:
    """Whether a value names a variable."""
    return isinstance(value, str) and value.startswith("env:") and value[4:].isidentifier()


_PATH: Final = _checked("path", lambda value: isinstance(value, Path))
_NATURAL: Final = _checked("natural", _whole)
_SIZE: Final = _checked("size", lambda value: value == "as-original" or _whole(value))
_AMOUNT: Final = _checked("not negative", _real)
_DAY: Final = _checked("day", lambda value: isinstance(value, date) and not isinstance(value, datetime))
_LEDGER: Final = SettingForm("ledger", TEXT.check)
_ORDER: Final = SettingForm(
    "names", lambda value, place: [value] if isinstance(value, str) else NAMES.check(value, place)
)
_FORMATS: Final = _some_of(get_args(Format))

JOB_KEYS: Final[Mapping[str, Mapping[str, Key]]] = {
    "": {
        "version": Key(WHOLE, f"format of the job file: {JOB_VERSION}"),
        "job": Key(TEXT, "name of the job, in the log and the ledger"),
        "purpose": Key(_one_of(PURPOSES), "what the copies are for"),
    },
    "input": {
        "path": Key(_PATH, "the confidential table: a file, or a folder of Parquet files"),
        "sha256": Key(_checked("digest", _digest), "checksum of that file; another file is refused"),
        "database": Key(
            _checked("database", _database), "in place of path: env:NAME, the variable that holds the URL"
        ),
        "table": Key(TEXT, "table or view of the database"),
        "query_file": Key(_PATH, "in its place: a file with one SELECT (PostgreSQL)"),
        "order_by": Key(_ORDER, "columns that tell the rows of a database apart, and give them an order"),
        "n": Key(_NATURAL, "public number of rows, for the price and the times of plan"),
    },
    "sample": {
        "m": Key(_NATURAL, "number of copies"),
        "k": Key(_SIZE, "rows of a copy: as-original, or their number"),
        "seed_file": Key(_PATH, "file with a secret of 16 bytes or more that all draws come from"),
    },
    "budget": {
        "ledger": Key(_LEDGER, "ledger that pays: a file, or env:NAME with the URL of PostgreSQL"),
        "source": Key(TEXT, "whose account there: the id of the people"),
    },
    "gates": {
        "rules_failed": Key(_AMOUNT, "quality: most rows of all copies that break a rule or universe"),
        "max_pmse_ratio_2way": Key(
            _AMOUNT, "quality: largest ratio of a two-way table, 1 by chance alone; without a guarantee"
        ),
        "max_repu_percent": Key(
            by_column(_AMOUNT),
            "disclosure: by set of keys, most percent of records unique in table and copies; without a "
            "guarantee",
        ),
        "keys": Key(by_column(NAMES), "sets of columns that somebody may know: { neighbour = [...] }"),
        "max_rho": Key(_AMOUNT, "disclosure: most rho that the statement may say"),
        "max_epsilon": Key(_AMOUNT, "disclosure: most epsilon that it may say, at each delta that it quotes"),
    },
    "output": {
        "folder": Key(_PATH, "release folder to be made; must not exist"),
        "formats": Key(_FORMATS, "of the copies: parquet, csv, sav, dta, xpt"),
        "watermark": Key(FLAG, "whether every file has a column _synthetic"),
        "documents": Key(_some_of(tuple(DOCUMENTS)), "documents: " + ", ".join(DOCUMENTS)),
        "sign": Key(_PATH, "private key (Ed25519, PEM) to sign the folder with"),
    },
    "limits": {
        "memory_gb": Key(_checked("not negative", lambda v: _real(v) and v > 0), "most memory of the run"),
        "workers": Key(_NATURAL, "threads; never change a result"),
        "scratch": Key(_PATH, "folder on a disk for columns meanwhile"),
        "scratch_encrypt": Key(FLAG, "whether what lies there is encrypted"),
        "block_rows": Key(_NATURAL, "rows that are read at a time; never change a result"),
        "nice": Key(_NATURAL, "how much the run gives way to others: 1 to 19"),
    },
    "approval": {
        "reference": Key(TEXT, "of the approval"),
        "approved_by": Key(TEXT, "who approved"),
        "job_sha256": Key(_checked("digest", _digest), "digest of the job that was approved, as check shows"),
        "expires": Key(_DAY, "last day on which it may be run"),
    },
}
"""Tables of a job file beside ``[plan]``, which is a plan file; keys of the top stand under ``""``."""

SITE_KEYS: Final[Mapping[str, Key]] = {
    "require_approval": Key(FLAG, "whether [approval] must be there, with all its keys"),
    "require_guarantee": Key(FLAG, "whether the plan must have a guarantee"),
    "require_ledger": Key(FLAG, "whether what a guarantee costs must be charged to a ledger"),
    "require_sha256": Key(FLAG, "whether the checksum of an input file must be given"),
    "ledgers": Key(NAMES, "ledgers that may pay, as jobs write them"),
    "output_folders": Key(NAMES, "folders below which output may lie"),
    "formats": Key(_FORMATS, "formats that may leave"),
    "memory_gb": Key(NUMBER, "most memory_gb, and what a job has that names none"),
    "workers": Key(_NATURAL, "most workers, and what a job has that names none"),
    "scratch": Key(_PATH, "scratch of jobs that name none"),
}
"""Keys of ``site.toml``."""


def taken(given: Mapping[str, Any], keys: Mapping[str, Key], toml: Toml, where: str) -> dict[str, Any]:
    """Check the values of one table, whose keys are known."""
    return {name: keys[name].form.take(value, toml.at(f"{where}{name}")) for name, value in given.items()}
