"""Whether the statement of a release folder agrees with its columns, sizes and tags; not its numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from pysynthdp.base.marks import DERIVED, KEPT_REAL, SERIAL
from pysynthdp.io.folder.files import Folder
from pysynthdp.io.folder.finding import Finding, compared, guarded, unchecked
from pysynthdp.privacy.mechanism import MECHANISMS
from pysynthdp.privacy.statements.column import ColumnStatement
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.schema.codebook import released_real

__all__ = ["statement_findings"]

_UNMODELLED = (SERIAL, DERIVED, "constant")  # methods that read no record, so no mechanism prices them
_BETWEEN = ", "  # of the columns of one step, and of the methods


def statement_findings(folder: Folder, statement: PrivacyStatement) -> list[Finding]:
    """Compare a statement with what else the folder says.

    Parameters
    ----------
    folder : Folder
        As read.
    statement : PrivacyStatement
        What ``privacy.json`` holds.
    """
    checks: dict[str, Callable[[str], Finding]] = {
        "columns of the statement, against those of the copies": lambda what: compared(
            what, _columns(folder, statement)
        ),
        "methods in the statement, against release.json": lambda what: _methods(what, folder, statement),
        "columns kept real, wherever they are named": lambda what: compared(what, _kept(folder, statement)),
        "rows of the table in the statement, against n_org": lambda what: _rows(what, folder, statement),
        "draws in the statement, against the copies": lambda what: _draws(what, folder, statement),
        "status, against release.json": lambda what: _status(what, folder, statement),
        "marks of seeding and noise in the tags": lambda what: _tags(what, folder, statement),
    }
    return [guarded(what, check) for what, check in checks.items()]


def _columns(folder: Folder, statement: PrivacyStatement) -> Iterator[str]:
    """Name columns that the statement leaves out, or that the copies do not have."""
    names = dict.fromkeys(column["name"] for column in folder.schema["columns"])
    methods = dict(folder.manifest["provenance"]["methods"])
    stated: set[str] = set()
    for part in statement.columns:
        own = _spoken_of(part.column, names)
        if not own and not statement.parts:  # a sum may speak of other releases too
            yield f"the statement speaks of {part.column}, which the copies do not have"
        stated |= own
    for name in names:
        if name not in stated and methods.get(name) not in _UNMODELLED:
            yield f"the statement does not speak of {name}"


def _spoken_of(text: str, names: Collection[str]) -> set[str]:
    """Columns that a text of names joined by commas may speak of; empty if it does not split into names.

    Names may hold commas themselves, so every way to split the text counts.
    """
    pieces = text.split(_BETWEEN)
    longest = 1 + max((name.count(_BETWEEN) for name in names), default=0)
    starts = range(len(pieces))
    spans = [(i, j) for i in starts for j in range(i + 1, min(i + longest, len(pieces)) + 1)]
    found = {(i, j): name for i, j in spans if (name := _BETWEEN.join(pieces[i:j])) in names}
    back, ahead = {len(pieces)}, {0}
    for i, j in sorted(found, reverse=True):
        back |= {i} if j in back else set()
    for i, j in sorted(found):
        ahead |= {j} if i in ahead else set()
    return {name for (i, j), name in found.items() if i in ahead and j in back}


def _methods(what: str, folder: Folder, statement: PrivacyStatement) -> Finding:
    """Compare the methods, which release.json and the statement both name."""
    if statement.parts:
        return unchecked(what, "the statement is a sum over several releases")
    names = dict.fromkeys(column["name"] for column in folder.schema["columns"])
    methods = dict(folder.manifest["provenance"]["methods"])
    pairs = [(part, name) for part in statement.columns for name in sorted(_spoken_of(part.column, names))]
    return compared(
        what,
        (
            f"{name} was made by another method than the statement says"
            for part, name in pairs
            if name in methods and methods[name] not in (part.method, *part.method.split(_BETWEEN))
        ),
    )


def _kept(folder: Folder, statement: PrivacyStatement) -> Iterator[str]:
    """Compare the places that name columns with real values; beside a guarantee there are none."""
    tagged = set(folder.manifest["tags"].get("kept", ()))
    described = {column["name"] for column in folder.schema["columns"] if not column["synthetic"]}
    if described != tagged:
        yield "schema.json and release.json name other real columns"
    if released_real(folder.path / "codebook.csv") != tagged:
        yield "codebook.csv and release.json name other real columns"
    if statement.status != "none" and tagged:
        yield "a guarantee is stated although columns are kept real"
    if statement.status == "none" and not statement.parts and _stated_real(statement) != tagged:
        yield "privacy.json and release.json name other real columns"


def _stated_real(statement: PrivacyStatement) -> set[str]:
    """Columns that the statement calls real."""
    return {part.column for part in statement.columns if part.method == KEPT_REAL}


def _rows(what: str, folder: Folder, statement: PrivacyStatement) -> Finding:
    """Compare the n of every price with the rows of the confidential table, as published."""
    priced = [part for part in statement.columns if isinstance(part.constants.get("n"), int)]
    if not priced:
        return unchecked(what, "the statement's numbers do not depend on it")
    n_org = folder.manifest["tags"].get("n_org")
    return compared(
        what,
        (f"{part.column} is priced for another number" for part in priced if part.constants["n"] != n_org),
    )


def _draws(what: str, folder: Folder, statement: PrivacyStatement) -> Finding:
    """Look for the draw of these copies among those that the statement counts."""
    if not statement.draws:
        return unchecked(what, "the statement counts no draws")
    m, n_syn = folder.manifest["tags"]["m"], folder.manifest["tags"]["n_syn"]
    counted = any(draw.n_syn == n_syn and draw.copies >= m for draw in statement.draws)
    return compared(what, () if counted else ("the statement does not count the draw of these copies",))


def _status(what: str, folder: Folder, statement: PrivacyStatement) -> Finding:
    """Compare the status with the one that the list repeats."""
    if "status" not in folder.manifest:
        return unchecked(what, "the release does not hold it there; it was made by version 0.1.0")
    same = folder.manifest["status"] == statement.status
    return compared(what, () if same else ("release.json has another status",), right=statement.status)


def _tags(what: str, folder: Folder, statement: PrivacyStatement) -> Finding:
    """Compare the tags with what the statement says of seeds and of noise."""
    tags = folder.manifest["tags"]
    if statement.status == "none":
        wrong = ("the tags call a run void of which nothing is claimed",)
        return compared(what, wrong if _void(tags) else ())
    return compared(what, _other_tags(tags, statement))


def _other_tags(tags: Mapping[str, Any], statement: PrivacyStatement) -> Iterator[str]:
    """Name tags that the statement contradicts."""
    if _void(tags) and statement.status != "void":
        yield "the tags say that the run was seeded, so the statement must be void"
    if statement.parts or any(part.mechanism not in MECHANISMS for part in statement.columns):
        return
    noised = any(_noised(part) for part in statement.columns)
    if noised != (tags["noise"] != "none"):
        yield "the tags and the statement disagree on whether answers were noised"
    if noised and statement.status == "void" and not _void(tags):
        yield "the statement is void and the tags do not say so"


def _void(tags: Mapping[str, Any]) -> bool:
    """Whether the tags say that a run was seeded."""
    return bool(tags.get("void"))


def _noised(part: ColumnStatement) -> bool:
    """Whether a mechanism noises answers, so that the tags of its copies tell of noise."""
    return bool(getattr(MECHANISMS[part.mechanism], "noises", False))
