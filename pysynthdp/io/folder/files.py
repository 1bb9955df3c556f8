"""Whether the files of a release folder agree with its list and with one another; not who made them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pa_parquet

from pysynthdp.base.errors import PysynthdpError
from pysynthdp.base.marks import SERIAL, WATERMARK
from pysynthdp.io.folder.copy_files import csv_rows
from pysynthdp.io.folder.finding import Finding, compared, guarded, unchecked
from pysynthdp.io.folder.manifest import MANIFEST, digest_of, listed_files
from pysynthdp.io.folder.signature import SIGNATURE
from pysynthdp.io.folder.storage import Stored
from pysynthdp.io.snippets import PROGRAMS
from pysynthdp.tags import ReleaseTags

__all__ = ["Folder", "file_findings"]

_NEEDED = ("README.txt", "codebook.csv", "privacy.json", "schema.json")


@dataclass(frozen=True, slots=True)
class Folder:
    """A release folder as it was read: nothing in it is believed yet.

    Parameters
    ----------
    path : Path
        Of the folder.
    manifest, privacy, schema : mapping
        ``release.json``, ``privacy.json`` and ``schema.json`` as plain values.
    """

    path: Path
    manifest: Mapping[str, Any]
    privacy: Mapping[str, Any]
    schema: Mapping[str, Any]

    @property
    def copies(self) -> tuple[Path, ...]:
        """Files of the copies."""
        return tuple(self.path / name for name in self.manifest["copies"])

    @property
    def marked(self) -> bool:
        """Whether the files have a last column that says synthetic."""
        return self.manifest.get("watermark") == WATERMARK

    @property
    def parquet(self) -> bool:
        """Whether the copies are Parquet files, which hold the statement too."""
        return bool(self.manifest["file_format"] == "parquet")


def file_findings(folder: Folder, *, programs: bool = True) -> list[Finding]:
    """Compare the files with the list, and the copies with schema, sizes and statement.

    Parameters
    ----------
    folder : Folder
        As read.
    programs : bool
        Whether the example programs are compared too; a reader may put a model of their own into them.
    """
    checks: dict[str, Callable[[str], Finding]] = {
        "files, by the checksums of the list": lambda what: compared(
            what, _changed(folder, programs), right=f"{len(folder.manifest['files'])} files, sha256"
        ),
        "other files in the folder": lambda what: _others(what, folder),
        "number and length of the copies": lambda what: compared(what, _lengths(folder)),
        "columns of the copies, against schema.json": lambda what: compared(what, _columns(folder)),
        "types in the copies, against release.json": lambda what: _types(what, folder),
        "the statement inside each copy, against privacy.json": lambda what: _marks(what, folder),
    }
    return [guarded(what, check) for what, check in checks.items()]


def _changed(folder: Folder, programs: bool) -> Iterator[str]:
    """Name files that the list lacks, or that are not as the list has them."""
    listed = listed_files(folder.manifest)
    for name in (*_NEEDED, *folder.manifest["copies"]):
        if name not in listed:
            yield f"{name} is not in the list"
    for name, entry in listed.items():
        path = folder.path / name
        if name in PROGRAMS and not programs:
            continue
        if not path.is_file():
            yield f"{name} is missing"
        elif path.stat().st_size != entry["bytes"] or digest_of(path) != entry["sha256"]:
            yield f"{name} was changed"


def _others(what: str, folder: Folder) -> Finding:
    """Tell of files that the list does not name; one that looks like a copy is none of this release."""
    known = {MANIFEST, SIGNATURE, *listed_files(folder.manifest), *folder.manifest["copies"]}
    others = sorted(path.name for path in folder.path.iterdir() if path.name not in known)
    posing = [name for name in others if name.startswith("synthetic_")]
    if posing:
        return compared(what, (f"{name} looks like a copy and is not in the list" for name in posing))
    if others:
        return unchecked(what, f"{', '.join(others)}: not in the list, so nothing is known of them")
    return compared(what, (), right="there are none")


def _lengths(folder: Folder) -> Iterator[str]:
    """Compare m and n_syn as written twice, the copies named, and their rows."""
    manifest, tags = folder.manifest, folder.manifest["tags"]
    for name in ("m", "n_syn", "n_org"):
        if manifest.get(name) != tags.get(name):
            yield f"release.json gives two values of {name}"
    if len(set(folder.copies)) != tags["m"]:
        yield "the copies are not as many as m says"
    for path in folder.copies:
        if tags.get("unit") is None and _rows(path, folder) != tags["n_syn"]:
            yield f"{path.name} is not as long as n_syn says"


def _rows(path: Path, folder: Folder) -> int | None:
    """Count the rows of a copy; None where it cannot be read."""
    try:
        if folder.parquet:
            return int(pa_parquet.read_metadata(path).num_rows)
        return csv_rows(path, _stored(folder))
    except (OSError, pa.ArrowException, PysynthdpError):
        return None


def _stored(folder: Folder) -> tuple[Stored, ...]:
    """Read how the columns lie in the files."""
    return tuple(Stored.from_plain(column) for column in folder.manifest["columns"])


def _columns(folder: Folder) -> Iterator[str]:
    """Compare the columns of schema.json with those of release.json: names, order and declared types."""
    described, stored = folder.schema["columns"], folder.manifest["columns"]
    if [column["name"] for column in described] != [column["name"] for column in stored]:
        yield "schema.json and release.json name other columns"
        return
    for one, other in zip(described, stored, strict=True):
        if one.get("method") != SERIAL and not _same_type(one, other["dtype"]):
            yield f"{one['name']} has another type in schema.json than in release.json"


def _same_type(column: Mapping[str, Any], stored: Any) -> bool:
    """Whether a schema's type, which may be open, is that of the copies."""
    given = column["dtype"]
    if given is None:
        return True
    if given != "category":
        return bool(given == stored)
    if not isinstance(stored, dict) or stored["name"] != "category":
        return False
    both = (column.get("categories"), stored["categories"])
    return None in both or both[0] == both[1]


def _types(what: str, folder: Folder) -> Finding:
    """Compare the names and Arrow types inside each Parquet file; CSV holds none."""
    if not folder.parquet:
        return unchecked(what, "CSV files hold no types; loading reads them by those of release.json")
    return compared(what, _other_types(folder))


def _other_types(folder: Folder) -> Iterator[str]:
    """Name copies whose columns or types are not those that release.json tells of."""
    wanted = [stored.field(dictionary=True) for stored in _stored(folder)]
    wanted += [pa.field(WATERMARK, pa.int32())] if folder.marked else []
    for path in folder.copies:
        found = _inside(path)
        if found is None:
            yield f"{path.name} cannot be read"
        elif found.names != [field.name for field in wanted]:
            yield f"{path.name} has other columns"
        else:
            pairs = zip(found, wanted, strict=True)
            yield from (
                f"{path.name}: {one.name} has another type"
                for one, two in pairs
                if _bare(one.type) != _bare(two.type)
            )


def _bare(kind: pa.DataType) -> str:
    """Write a type as Parquet keeps it: no levels, one width of texts, no times in whole seconds."""
    if pa.types.is_dictionary(kind):
        return _bare(kind.value_type)
    return str(kind).removeprefix("large_").replace("timestamp[s", "timestamp[ms")


def _inside(path: Path) -> pa.Schema | None:
    """Read the schema of a Parquet file; None where there is none."""
    try:
        return pa_parquet.read_schema(path)
    except (OSError, pa.ArrowException):
        return None


def _marks(what: str, folder: Folder) -> Finding:
    """Compare what each Parquet file says of itself with the statement beside it."""
    if not folder.parquet:
        return unchecked(what, "CSV files have no room for a statement")
    return compared(what, _other_marks(folder))


def _other_marks(folder: Folder) -> Iterator[str]:
    """Name copies without marks, or with those of another release or copy."""
    tags = ReleaseTags.from_dict(folder.manifest["tags"])
    for number, path in enumerate(folder.copies, start=1):
        found = _inside(path)
        metadata = {} if found is None else dict(found.metadata or {})
        plain = {"synthetic": True, "privacy": folder.privacy, "copy": number}
        wanted = (plain, plain | tags.place_of(number))  # marks named no nest before 0.2.0
        if b"pysynthdp" not in metadata:
            yield f"{path.name} holds no statement"
        elif json.loads(metadata[b"pysynthdp"]) not in wanted:
            yield f"{path.name} holds another statement"
        elif json.loads(metadata.get(b"PANDAS_ATTRS", b"{}")).get("pysynthdp") not in wanted:
            yield f"{path.name} gives pandas another statement"
