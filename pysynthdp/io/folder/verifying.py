"""Checking a release folder: its files, its statement against them and by arithmetic, and its signature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from pysynthdp.base.display import Printable, Table
from pysynthdp.base.errors import PrivacyError, ReleaseError
from pysynthdp.base.slips import answers_slips
from pysynthdp.io.folder.files import Folder, file_findings
from pysynthdp.io.folder.finding import Finding, compared, unchecked
from pysynthdp.io.folder.manifest import MANIFEST, read_json, read_manifest
from pysynthdp.io.folder.signature import SIGNATURE, verifier_of
from pysynthdp.io.folder.statement import statement_findings
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.statements.verification import Verification

__all__ = ["ReleaseVerification", "VerifiedStatus", "check_folder", "verify"]

VerifiedStatus: TypeAlias = Literal["right", "none", "void", "broken", "changed"]
_EXIT: Final = {"right": 0, "none": 10, "void": 11, "broken": 12, "changed": 13}
_FILES = "the files are those that its list names"
_VERDICTS: Final = {
    "right": f"the arithmetic of this statement is right, {_FILES}",
    "none": f"no guarantee is stated, so there is no number to check; {_FILES}",
    "void": f"void: the run was seeded for testing, so no guarantee holds, whatever its numbers; {_FILES}",
    "broken": "the statement's numbers do not follow from its own constants, or cannot be recomputed: do not "
    "rely on it; ask its maker for the original",
    "changed": "the folder is not as it was written, or its files contradict each other: rely on nothing in "
    "it; take it anew from its source",
}
_TITLES: Final = {
    "right": "the arithmetic is right",
    "none": "no guarantee is stated",
    "void": "void",
    "broken": "the statement is broken",
    "changed": "the folder was changed",
}
_SIGNED = "; the list is signed by the holder of this key"
_UNSIGNED = "; nobody's signature was checked: this says nothing about who made it"
_BEYOND = (
    "Beyond this check: whether the copies were drawn as the statement says, whether what it calls public is "
    "public, and its words, such as reasons and what is not covered."
)
_ANEW = (
    "Whoever makes copies, statement, list and checksums anew, all alike, is found out only by a "
    "signature with a key that is known to be the maker's."
)
_FORMER = (
    "Made by version 0.1.0, whose statements were false in cases that a folder cannot show: a unit given "
    "beside sampling was ignored, and one cell of a table from R or of a CSV file could change how others "
    "were read. Ask the maker, or for a new release."
)
_SIGNATURE = "signature over the list"
_MALFORMED = (KeyError, TypeError, AttributeError, ValueError, ArithmeticError)


@dataclass(frozen=True, slots=True, repr=False)
class ReleaseVerification(Printable):
    """What was checked of a release folder, what agrees, and what was not checked.

    Parameters
    ----------
    folder : str
        Its path.
    findings : tuple of Finding
        One a check: ``what``, ``result`` (``"agrees"``, ``"differs"`` or ``"not checked"``) and ``detail``.
    arithmetic : Verification or None
        The statement's numbers beside their recomputation; None where that cannot be made.
    problem : str
        Why it cannot be made.
    signed : bool
        Whether a signature was checked with a key, and is right.
    former : bool
        Whether version 0.1.0 made the release.

    Notes
    -----
    Privacy: post-processing of a release; reads no confidential record.
    """

    folder: str
    findings: tuple[Finding, ...]
    arithmetic: Verification | None
    problem: str = ""
    signed: bool = False
    former: bool = False

    @property
    def status(self) -> VerifiedStatus:
        """The worst that was found: ``changed``, ``broken``, ``void``, ``none``; else ``right``."""
        if any(finding.result == "differs" for finding in self.findings):
            return "changed"
        if self.arithmetic is None or not self.arithmetic.agrees:
            return "broken"
        stated = self.arithmetic.status
        return "none" if stated == "none" else "void" if stated == "void" else "right"

    @property
    def ok(self) -> bool:
        """Whether a guarantee is stated, its arithmetic is right, and all files agree."""
        return self.status == "right"

    @property
    def exit_code(self) -> int:
        """For batch jobs: 0 right, 10 no guarantee, 11 void, 12 arithmetic broken, 13 files changed."""
        return _EXIT[self.status]

    @property
    def verdict(self) -> str:
        """In one sentence, what was found; never more than was checked."""
        if self.status in ("broken", "changed"):
            return _VERDICTS[self.status]
        return _VERDICTS[self.status] + (_SIGNED if self.signed else _UNSIGNED)

    def to_table(self) -> Table:
        """Build the table that people see: the verdict, each check, and what lies beyond."""
        every = (*self.findings, _arithmetic(self.arithmetic, self.problem))
        notes = [f"{one.what}: {one.detail}" for one in every if one.detail]
        return Table(
            f"Verification of {self.folder}: {_TITLES[self.status]}",
            columns=("check", "result"),
            rows=tuple((one.what, one.result) for one in every),
            facts=(("verdict", self.verdict), ("exit code", self.exit_code)),
            notes=(*notes, _BEYOND, *(() if self.signed else (_ANEW,)), *((_FORMER,) if self.former else ())),
        )


def _arithmetic(found: Verification | None, problem: str) -> Finding:
    """Sum the recomputation up as one more check."""
    what = "arithmetic of the statement"
    if found is None:
        return compared(what, (problem,))
    if not found.checks:
        return unchecked(what, "without a guarantee there is no number")
    wrong = (f"the constants do not give the stated {one.what}" for one in found.checks if not one.agrees)
    return compared(what, wrong, right=f"{len(found.checks)} numbers and words follow from its constants")


@answers_slips
def verify(folder: str | Path, *, key: str | Path | None = None) -> ReleaseVerification:
    """Check a release folder, as far as that can be done with the folder alone.

    Parameters
    ----------
    folder : path
        What :meth:`pysynthdp.SyntheticRelease.save` wrote.
    key : path, optional
        PEM file with the Ed25519 public key of who is said to have made the release; needs the
        package cryptography. Without it, nothing is said of who made it.

    Returns
    -------
    ReleaseVerification
        With ``ok``, ``status``, ``exit_code``, ``verdict`` and ``findings``; print it.

    Raises
    ------
    ReleaseError
        If the folder is no release, or of a version that is not known here; or the key cannot be used.

    Notes
    -----
    Privacy: post-processing of a release; reads no confidential record. A changed or false folder is a result
    here, not an error: see ``status``.

    Examples
    --------
    >>> import tempfile, pandas as pd, pysynthdp as sdp
    >>> release = sdp.synthesize(pd.DataFrame({"x": [1.5, 2.5, 4.0] * 20}), m=2, rng=1)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     checked = sdp.verify(release.save(f"{home}/out"))
    >>> checked.status, checked.exit_code, checked.ok
    ('none', 10, False)
    """
    path = Path(folder)
    manifest = read_manifest(path)
    findings, statement = check_folder(path, manifest)
    arithmetic, problem = _recomputed(statement)
    signed, signature = _signature(path, key)
    return ReleaseVerification(
        folder=str(path),
        findings=(*findings, signature),
        arithmetic=arithmetic,
        problem=problem,
        signed=signed,
        former=manifest["format_version"] == 1,
    )


def check_folder(
    path: Path, manifest: Mapping[str, Any], *, programs: bool = True
) -> tuple[list[Finding], PrivacyStatement | str]:
    """Compare the files of a folder with its list and with one another; no number is recomputed.

    Parameters
    ----------
    path : Path
        A release folder.
    manifest : mapping
        Its list.
    programs : bool
        Whether the example programs are compared too.

    Returns
    -------
    list of Finding, and PrivacyStatement or str
        The statement, or why it cannot be read.

    Notes
    -----
    Privacy: post-processing of a release; reads no confidential record.
    """
    folder = Folder(path, manifest, _plain(path / "privacy.json"), _plain(path / "schema.json"))
    findings = file_findings(folder, programs=programs)
    statement = _statement(folder.privacy)
    if isinstance(statement, str):
        return [*findings, unchecked("the statement, against the rest of the folder", statement)], statement
    return [*findings, *statement_findings(folder, statement)], statement


def _plain(path: Path) -> dict[str, Any]:
    """Read a JSON file; nothing where that fails, which its checksum tells too."""
    try:
        plain = read_json(path)
    except ReleaseError:
        return {}
    return plain if isinstance(plain, dict) else {}


def _statement(plain: Mapping[str, Any]) -> PrivacyStatement | str:
    """Read the statement, or say why it cannot be read."""
    try:
        return PrivacyStatement.from_dict(plain)
    except PrivacyError as error:
        return str(error)
    except _MALFORMED as error:
        return f"a part is malformed ({type(error).__name__})"


def _recomputed(statement: PrivacyStatement | str) -> tuple[Verification | None, str]:
    """Recompute the numbers of a statement, or say why that cannot be done."""
    if isinstance(statement, str):
        return None, statement
    try:
        return statement.verify(), ""
    except PrivacyError as error:
        return None, str(error)
    except _MALFORMED as error:
        return None, f"a constant is malformed ({type(error).__name__})"


def _signature(path: Path, key: str | Path | None) -> tuple[bool, Finding]:
    """Check the signature with a key; without one, say only whether there is any."""
    there = (path / SIGNATURE).is_file()
    if key is None:
        why = "there is one, but no key was given to check it with" if there else "there is none"
        return False, unchecked(_SIGNATURE, why)
    signed_by_key = verifier_of(key)  # a key that cannot be used is an error, whatever the folder holds
    if not there:
        return False, compared(_SIGNATURE, ("a key was given, and the release has no signature",))
    signed = signed_by_key((path / SIGNATURE).read_bytes(), (path / MANIFEST).read_bytes())
    wrong = () if signed else (f"it is not this key's, or {MANIFEST} was changed after it was signed",)
    return signed, compared(_SIGNATURE, wrong, right="made by the holder of this key")
