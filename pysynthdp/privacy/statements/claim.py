"""What is claimed of a release, as data that cannot contradict itself; how it is told stands above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.statements.column import ColumnStatement, Draw
from pysynthdp.privacy.statements.ledger_mark import LedgerMark
from pysynthdp.privacy.unit import PrivacyUnit

__all__ = ["NOT_COVERED", "Claim", "Released", "Status"]

Status: TypeAlias = Literal["none", "idealised", "implemented", "void"]
Released: TypeAlias = Literal["records", "parameters", "both"]
NOT_COVERED = (
    "Other publications from the same confidential data: their losses add to this one.",
    "What is true of a whole group or population: synthetic data are meant to teach it.",
    "Disclosure by ways other than the released values, such as access to the confidential file.",
)


@dataclass(frozen=True, slots=True, repr=False)
class Claim:
    """What a release protects, in numbers and facts.

    The base of :class:`PrivacyStatement`, which says what each field is, writes it in words and for files,
    and recomputes it; those who do that for it read a claim.
    """

    guarantee: Guarantee
    status: Status
    reason: str
    unit: PrivacyUnit
    columns: tuple[ColumnStatement, ...]
    public: tuple[str, ...] = ()
    learned: tuple[str, ...] = ()
    draws: tuple[Draw, ...] = ()
    deltas: tuple[float, ...] = ()
    parts: tuple[Claim, ...] = ()
    not_covered: tuple[str, ...] = NOT_COVERED
    released: Released = "records"
    ledger: tuple[LedgerMark, ...] = ()

    def __post_init__(self) -> None:
        if self.released not in get_args(Released) or (self.released == "both" and not self.parts):
            raise PrivacyError(
                "released must be 'records' or 'parameters', or 'both' in a sum of statements",
                kind="statement",
            )
        if self.status not in get_args(Status):
            raise PrivacyError(
                "status must be 'none', 'idealised', 'implemented' or 'void'", kind="statement"
            )
        if (self.guarantee.name == "none") != (self.status == "none"):
            raise PrivacyError(
                "a statement without a guarantee has status 'none', one with a guarantee has not",
                kind="statement",
            )
        if self.status == "none" and (self.deltas or any(part.cost is not None for part in self.columns)):
            raise PrivacyError(
                "a table without a guarantee quotes no number for any column",
                kind="statement",
                remedy="see none()",
            )
        if self.status != "none":
            self._check_claim()

    def _check_claim(self) -> None:
        """Refuse a table-level claim that a column or a learned fact contradicts (J2, J3)."""
        bare = [part.column for part in self.columns if part.cost is None]
        if bare:
            raise PrivacyError(
                f"column {bare[0]!r} has no guarantee, so the table has none",
                kind="statement",
                remedy="use none()",
            )
        if self.learned:
            raise PrivacyError(
                "facts learned from the data void a guarantee",
                kind="statement",
                remedy="declare them or use none()",
            )

    @property
    def may_be_published(self) -> bool:
        """Whether the statement may, as it depends on public constants alone; the records are another matter.

        A seeded test run has none that may.
        """
        return self.status != "void"

    @property
    def copies(self) -> int:
        """Number of copies drawn from the fit so far, of records or of estimates."""
        return sum(draw.copies for draw in self.draws)

    @property
    def records(self) -> int:
        """Number of synthetic records drawn from the fit so far, over all copies."""
        if self.parts:
            return sum(part.records for part in self.parts)
        return 0 if self.released == "parameters" else sum(draw.copies * draw.n_syn for draw in self.draws)

    @property
    def points(self) -> tuple[tuple[float, float], ...]:
        """Pairs (delta, epsilon) at the chosen deltas; empty without a guarantee."""
        return tuple((delta, self.guarantee.epsilon(delta)) for delta in self.deltas)
