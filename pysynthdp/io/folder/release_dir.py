"""A release as a folder: it appears whole or not at all, and can be read without this package."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final, get_args

import pandas as pd

from pysynthdp.base.display import number as shown
from pysynthdp.base.errors import PrivacyError, ReleaseError, SchemaError
from pysynthdp.base.marks import SERIAL, WATERMARK
from pysynthdp.base.words import Setting, Words
from pysynthdp.io.durable import flush_tree, moved
from pysynthdp.io.folder.codebook_page import codebook_page
from pysynthdp.io.folder.copy_files import Marks, write_copy
from pysynthdp.io.folder.counting import counted
from pysynthdp.io.folder.formats import MainFormat, Wishes
from pysynthdp.io.folder.manifest import (
    FORMAT,
    MANIFEST,
    RELEASE_VERSION,
    described,
    read_json,
    read_manifest,
    write_json,
)
from pysynthdp.io.folder.other_files import Copies, Others, checked_copies, write_others
from pysynthdp.io.folder.signature import SIGNATURE, Sign
from pysynthdp.io.folder.storage import Stored, storage_of
from pysynthdp.io.folder.stored_copy import StoredCopy, stamp_of
from pysynthdp.io.folder.text import readme_text
from pysynthdp.io.folder.verifying import check_folder
from pysynthdp.io.snippets import write_programs
from pysynthdp.io.survey.planned import FilePlan
from pysynthdp.io.survey.writing import check_schema, check_size
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.schema import Schema
from pysynthdp.schema.codebook import write_codebook
from pysynthdp.schema.plain import from_plain, to_plain

__all__ = ["RELEASE_VERSION", "check_target", "read", "read_statement", "write"]

_OF_FILES: Final = (".csv", ".tsv", ".gz", ".parquet", ".zip")
"""Endings that nobody gives a folder."""


def write(parts: Mapping[str, Any], folder: Path, *, wished: Wishes, sign: Sign | None = None) -> Path:
    """Write a release under a temporary name beside ``folder``, then rename it.

    Parameters
    ----------
    parts : mapping
        ``copies``: an iterable of DataFrames, or of iterables of consecutive blocks of one copy; ``schema``,
        ``privacy``, ``provenance``, ``tags``; and ``constants`` of the combining rule, for the programs that
        pool the copies. ``seen``, if there, is called when all copies are written and gives ``tags`` and
        ``constants`` again, where they depend on the rows drawn.
    folder : Path
        Must not exist.
    wished : Wishes
        Formats of the copies, and whether their files say that they are synthetic.
    sign : callable, optional
        From the bytes of ``release.json`` to a signature, which is written beside it.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ReleaseError
        If the folder exists, a format cannot hold the copies, or these are not those that the tags tell of.

    Notes
    -----
    Privacy: writes synthetic rows, columns kept real by name, declared facts and the statement; no bound that
    was learned from data, no seed.
    """
    check_target(folder, wished, parts["schema"], parts["tags"].n_syn)
    plans = checked_copies(parts, wished)
    with _appearing(folder) as draft:
        _fill(parts, draft, wished, plans)
        if sign is not None:
            (draft / SIGNATURE).write_bytes(sign((draft / MANIFEST).read_bytes()))
    return folder


def check_target(folder: Path, wished: Wishes, schema: Schema, rows: int) -> None:
    """Refuse what cannot be written, before anything is drawn for it.

    Raises
    ------
    ReleaseError
        If the folder exists, a column has the name of the one that says synthetic, or copies are too large
        for a format, or it cannot hold what the schema says of a column.
    PlanError
        If a format needs a package that is not installed.

    Notes
    -----
    Privacy: settings only.
    """
    wished.check_names(schema.names)
    formats = [one for one in wished.others if one not in get_args(MainFormat)]
    check_size(formats, rows, len(schema))
    if formats:
        check_schema(schema, formats, watermark=wished.watermark)
    _refuse_existing(folder)


@contextmanager
def _appearing(folder: Path) -> Iterator[Path]:
    """Yield a temporary sibling that takes the folder's name when all is on disk, or vanishes on error."""
    _refuse_existing(folder)
    draft = folder.parent / f".{folder.name}.{uuid.uuid4().hex[:8]}.part"
    try:
        draft.mkdir(parents=True)
        yield draft
        _refuse_existing(folder)
        flush_tree(draft)
        moved(draft, folder)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise ReleaseError(
            f"{folder} cannot be written: {error.strerror or type(error).__name__}", kind="folder"
        ) from error
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _refuse_existing(folder: Path) -> None:
    """Never write into or over what is there."""
    if folder.exists():
        raise ReleaseError(f"{folder} exists already; choose another name or move it away", kind="folder")
    if folder.suffix.lower() in _OF_FILES:
        raise ReleaseError(
            Words("{folder} has the name of a file, and a release is a folder", folder=folder),
            kind="setting",
            remedy=Words("name a folder; {csv} writes its copies as CSV", csv=Setting("format", "csv")),
        )


def _fill(parts: Mapping[str, Any], folder: Path, wished: Wishes, plans: dict[str, FilePlan] | None) -> None:
    """Write all files of a release."""
    statement = parts["privacy"].to_dict()
    names, storage = _write_copies(parts, folder, statement, wished)
    parts = {**parts, **parts.get("seen", dict)()}
    schema, privacy, tags = parts["schema"], parts["privacy"], parts["tags"]
    methods = dict(parts["provenance"].methods)
    write_json(folder / "privacy.json", statement)
    write_json(folder / "schema.json", to_plain(schema, methods=methods, real=tags.kept))
    notes = tags.details.get("column_notes", {})
    write_codebook(schema, folder / "codebook.csv", methods=methods, real=tags.kept, notes=notes)
    others = write_others(parts, folder, names, storage, wished, plans)
    withheld = {name for name, method in methods.items() if method == SERIAL}
    copies = Copies(folder, names, storage, wished, parts)
    _write_page(parts, copies, folder / "codebook.html", withheld, notes)
    programs = write_programs(parts, folder, names, wished=wished)
    text = readme_text(
        privacy=privacy.plain_language(),
        files=names,
        m=tags.m,
        nests=tags.nests or (),
        n_syn=tags.n_syn,
        n_org=tags.n_org,
        unit=tags.unit,
        real=sorted(tags.kept),
        software=parts["provenance"].software,
        programs=programs,
        no_program="" if programs else parts.get("constants", {}).get("reason", ""),
        schema=schema,
        withheld=withheld,
        watermark=wished.watermark,
        others=others.files,
        fallbacks=others.fallbacks,
    )
    (folder / "README.txt").write_text(text, encoding="utf-8")
    write_json(folder / MANIFEST, _manifest(parts, folder, names, storage, wished, others))


def _write_page(
    parts: Mapping[str, Any], copies: Copies, path: Path, withheld: set[str], notes: Mapping[str, str]
) -> None:
    """Write the codebook for people."""
    schema, tags = parts["schema"], parts["tags"]
    page = codebook_page(
        schema,
        counted(copies.blocks(), schema, withheld=withheld),
        title=f"Codebook of {shown(tags.m)} synthetic copies of {shown(tags.n_syn)} rows",
        privacy=parts["privacy"].plain_language(),
        methods=dict(parts["provenance"].methods),
        real=tags.kept,
        notes=notes,
        watermark=copies.wished.watermark,
    )
    path.write_text(page, encoding="utf-8")


def _write_copies(
    parts: Mapping[str, Any], folder: Path, statement: Mapping[str, Any], wished: Wishes
) -> tuple[list[str], tuple[Stored, ...]]:
    """Write every copy; the first block of the first says how the columns of all lie in the files."""
    tags, file_format = parts["tags"], wished.main
    written: dict[str, Any] = {"file_format": file_format, "watermark": wished.watermark}
    changing = {name for name, method in parts["provenance"].methods if method == SERIAL}
    names: list[str] = []
    storage: tuple[Stored, ...] | None = None
    for number, copy in enumerate(parts["copies"], start=1):
        first, blocks = _first_and_all(copy)
        if storage is None:
            storage = storage_of(first, parts["schema"], dated=file_format == "csv", changing=changing)
        names.append(f"synthetic_{tags.file_number(number)}.{file_format}")
        marks = Marks(statement, number, tags.place_of(number))
        rows = write_copy(blocks, folder / names[-1], storage=storage, marks=marks, **written)
        if tags.unit is None and rows != tags.n_syn:  # how many rows a unit has is drawn too
            raise ReleaseError(
                f"copy {number} does not have the number of rows that the tags tell of", kind="folder"
            )
    if storage is None or len(names) != tags.m:
        raise ReleaseError("the number of copies is not the one that the tags tell of", kind="folder")
    return names, storage


def _first_and_all(
    copy: pd.DataFrame | Iterable[pd.DataFrame],
) -> tuple[pd.DataFrame, Iterator[pd.DataFrame]]:
    """Look at the first block of a copy without losing it."""
    blocks = iter([copy]) if isinstance(copy, pd.DataFrame) else iter(copy)
    first = next(blocks, None)
    if first is None:
        raise ReleaseError("a copy has no rows; draw at least one", kind="folder")

    def everything() -> Iterator[pd.DataFrame]:
        yield first
        yield from blocks

    return first, everything()


def _manifest(
    parts: Mapping[str, Any],
    folder: Path,
    names: list[str],
    storage: tuple[Stored, ...],
    wished: Wishes,
    others: Others,
) -> dict[str, Any]:
    """Say what lies in the folder and what a combining rule must know."""
    tags = parts["tags"]
    return {
        "format": FORMAT,
        "format_version": RELEASE_VERSION,
        "synthetic": True,
        "m": tags.m,
        "n_syn": tags.n_syn,
        "n_org": tags.n_org,
        "status": parts["privacy"].status,
        "tags": tags.to_dict(),
        "provenance": asdict(parts["provenance"]),
        "file_format": wished.main,
        "watermark": WATERMARK if wished.watermark else None,
        "copies": names,
        "other_copies": others.files,
        "fallbacks": others.fallbacks,
        "columns": [stored.to_plain() for stored in storage],
        "files": [described(path) for path in sorted(folder.iterdir())],
    }


def read(
    folder: Path, provenance_type: type[Any], tags_type: type[Any], *, stay: bool = False
) -> dict[str, Any]:
    """Read what :func:`write` wrote.

    Parameters
    ----------
    folder : Path
        A release folder.
    provenance_type : type
        Dataclass to put the provenance into.
    tags_type : type
        Has ``from_dict`` for the tags.
    stay : bool
        Whether the copies stay in their files, as :class:`~pysynthdp.io.folder.stored_copy.StoredCopy`.

    Returns
    -------
    dict
        ``copies``, ``schema``, ``privacy``, ``provenance``, ``tags``.

    Raises
    ------
    ReleaseError
        If the folder is not a whole release of a version that is known here, or was changed after it was
        written. The numbers of its statement are not recomputed; :func:`pysynthdp.verify` does that.
    """
    manifest = read_manifest(folder)
    stamps = {name: stamp_of(folder / name) for name in manifest["copies"]}  # before checksums are compared
    findings, _ = check_folder(folder, manifest, programs=False)
    changed = next((finding for finding in findings if finding.result == "differs"), None)
    if changed is not None:
        raise ReleaseError(
            f"{folder} was changed after it was written, or is not whole: {changed.detail} "
            f"({changed.what}); take it anew from its source, and see pysynthdp verify",
            kind="folder",
        )
    try:
        parts = _parts(folder, manifest, provenance_type, tags_type)
        stored = _stored_copies(folder, manifest, parts, stamps)
    except (KeyError, TypeError, AttributeError) as error:
        raise ReleaseError(
            f"{folder / MANIFEST} lacks a part; take the folder anew from its source", kind="folder"
        ) from error
    return {"copies": stored if stay else tuple(copy.read() for copy in stored), **parts}


def _stored_copies(
    folder: Path, manifest: Mapping[str, Any], parts: Mapping[str, Any], stamps: Mapping[str, tuple[int, ...]]
) -> tuple[StoredCopy, ...]:
    """Name the copies, which stay in their files."""
    statement, tags = parts["privacy"].to_dict(), parts["tags"]
    storage = tuple(Stored.from_plain(column) for column in manifest["columns"])
    return tuple(
        StoredCopy(
            folder / name,
            storage,
            Marks(statement, number, tags.place_of(number)),
            manifest["file_format"],
            tags.n_syn,
            stamps[name],
        )
        for number, name in enumerate(manifest["copies"], start=1)
    )


def _parts(
    folder: Path, manifest: Mapping[str, Any], provenance_type: type[Any], tags_type: type[Any]
) -> dict[str, Any]:
    """Read what is said of the copies of a release, by its manifest."""
    privacy = read_statement(folder)
    try:
        schema: Schema = from_plain(read_json(folder / "schema.json"))
    except SchemaError as error:
        raise ReleaseError(f"{folder}: {error}", kind="folder") from error
    tags = tags_type.from_dict(manifest["tags"])
    provenance = _provenance(manifest["provenance"], provenance_type)
    return {"schema": schema, "privacy": privacy, "provenance": provenance, "tags": tags}


def read_statement(folder: Path) -> PrivacyStatement:
    """Read the privacy statement of a release folder alone.

    Raises
    ------
    ReleaseError
        If the folder has none.
    """
    try:
        return PrivacyStatement.from_dict(read_json(folder / "privacy.json"))
    except PrivacyError as error:
        raise ReleaseError(f"{folder}: {error}", kind="folder") from error


def _provenance(plain: Mapping[str, Any], provenance_type: type[Any]) -> Any:
    """Fill the dataclass; JSON lists become tuples again."""
    return provenance_type(**{item.name: _tuples(plain[item.name]) for item in fields(provenance_type)})


def _tuples(value: Any) -> Any:
    """Turn lists into tuples, all the way down."""
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
