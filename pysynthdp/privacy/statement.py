"""The privacy statement: what is claimed for a release, for whom, on which assumptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, get_args

from pysynthdp.display import Printable, Table
from pysynthdp.errors import PrivacyError
from pysynthdp.privacy.column_statement import ColumnStatement, Draw
from pysynthdp.privacy.guarantee import Guarantee, guarantee_from_dict, guarantee_to_dict
from pysynthdp.privacy.guarantees.none import NoGuarantee
from pysynthdp.privacy.statement_text import NOT_COVERED, statement_paragraph, statement_table
from pysynthdp.privacy.unit import PrivacyUnit

__all__ = ["SCHEMA_VERSION", "PrivacyStatement", "Status"]

SCHEMA_VERSION = 1
Status = Literal["none", "idealised", "implemented", "void"]
_NO_COLUMN_HAS_ONE = "no column of this table is released by a mechanism with a formal guarantee"


@dataclass(frozen=True, slots=True, repr=False)
class PrivacyStatement(Printable):
    """Say what a release protects, in numbers and in words, from public constants only.

    Parameters
    ----------
    guarantee : Guarantee
        Of the whole table over all draws so far; ``NoGuarantee()`` when there is none.
    status : {"none", "idealised", "implemented", "void"}
        ``"idealised"``: true for real-number arithmetic; ``"implemented"``: true for the code that drew;
        ``"void"``: a seeded run, for testing only.
    reason : str
        In plain words, why the table has this guarantee or none.
    unit : PrivacyUnit
        Whose record is protected.
    columns : tuple of ColumnStatement
        One a column, in visit order.
    public : tuple of str
        Facts that were declared, as sentences.
    learned : tuple of str
        Facts that were learned from the confidential data, as sentences.
    draws : tuple of Draw
        Every draw from the fit so far, in order.
    deltas : tuple of float
        Where (epsilon, delta) is quoted.
    not_covered : tuple of str
        What the statement does not speak about.

    Notes
    -----
    Privacy: a function of public constants; safe to publish. Without a guarantee no number is given.

    Examples
    --------
    >>> statement = PrivacyStatement.none([ColumnStatement("age", "norm", "none", "unbounded fit")])
    >>> statement.status, statement.to_dict()["guarantee"]
    ('none', {'name': 'none'})
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
    not_covered: tuple[str, ...] = NOT_COVERED

    def __post_init__(self) -> None:
        if self.status not in get_args(Status):
            raise PrivacyError("status must be 'none', 'idealised', 'implemented' or 'void'")
        if (self.guarantee.name == "none") != (self.status == "none"):
            raise PrivacyError(
                "a statement without a guarantee has status 'none', one with a guarantee has not"
            )
        if self.status == "none" and any(part.cost is not None for part in self.columns):
            raise PrivacyError("a table without a guarantee quotes no number for any column; see none()")
        if self.status != "none":
            self._check_claim()

    def _check_claim(self) -> None:
        """Refuse a table-level claim that a column or a learned fact contradicts (J2, J3)."""
        bare = [part.column for part in self.columns if part.cost is None]
        if bare:
            raise PrivacyError(f"column {bare[0]!r} has no guarantee, so the table has none; use none()")
        if self.learned:
            raise PrivacyError("facts learned from the data void a guarantee; declare them or use none()")

    @classmethod
    def none(
        cls,
        columns: Sequence[ColumnStatement],
        *,
        reason: str = _NO_COLUMN_HAS_ONE,
        unit: PrivacyUnit | None = None,
        public: Sequence[str] = (),
        learned: Sequence[str] = (),
        draws: Sequence[Draw | tuple[int, int]] = (),
    ) -> Self:
        """Make the statement of a release that has no formal guarantee.

        Parameters
        ----------
        columns : sequence of ColumnStatement
            One a column; a priced column loses its number here, as it would hold only conditionally (J2).
        reason : str
            Why the table has none, in plain words.
        unit : PrivacyUnit, optional
            One record by default.
        public, learned : sequence of str
            Facts declared, and facts learned from the confidential data, as sentences.
        draws : sequence of Draw or (n_syn, copies)
            Every draw from the fit so far.

        Returns
        -------
        PrivacyStatement
            With status ``"none"`` and no number.

        Notes
        -----
        Privacy: post-processing of public facts.
        """
        return cls(
            guarantee=NoGuarantee(),
            status="none",
            reason=reason,
            unit=unit or PrivacyUnit(),
            columns=tuple(_without_number(part) for part in columns),
            public=tuple(public),
            learned=tuple(learned),
            draws=tuple(draw if isinstance(draw, Draw) else Draw(*draw) for draw in draws),
        )

    @property
    def publishable(self) -> bool:
        """Whether all that is said depends on public constants; true of every statement that can be made."""
        return True

    @property
    def copies(self) -> int:
        """Number of copies drawn from the fit so far."""
        return sum(draw.copies for draw in self.draws)

    @property
    def records(self) -> int:
        """Number of synthetic records drawn from the fit so far, over all copies."""
        return sum(draw.copies * draw.n_syn for draw in self.draws)

    @property
    def points(self) -> tuple[tuple[float, float], ...]:
        """Pairs (delta, epsilon) at the chosen deltas; empty without a guarantee."""
        if self.status == "none":
            return ()
        return tuple((delta, self.guarantee.epsilon(delta)) for delta in self.deltas)

    def to_table(self) -> Table:
        """Build the card that people see."""
        return statement_table(self)

    def plain_language(self) -> str:
        """Write one paragraph that an ethics board can read."""
        return statement_paragraph(self)

    def to_dict(self) -> dict[str, Any]:
        """Write plain values for JSON, with ``schema_version``."""
        plain: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "guarantee": guarantee_to_dict(self.guarantee),
            "status": self.status,
            "publishable": self.publishable,
            "reason": self.reason,
            "unit": asdict(self.unit),
            "neighbours": self.unit.neighbours,
            "columns": [part.to_dict() for part in self.columns],
            "public": list(self.public),
            "learned": list(self.learned),
            "draws": [asdict(draw) for draw in self.draws],
            "total": {"copies": self.copies, "records": self.records},
            "not_covered": list(self.not_covered),
        }
        if self.status != "none":
            plain["points"] = [{"delta": delta, "epsilon": epsilon} for delta, epsilon in self.points]
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_dict` wrote.

        Raises
        ------
        PrivacyError
            For another schema version, or when a part is missing; read it with the version that wrote it.
        """
        if plain.get("schema_version") != SCHEMA_VERSION:
            raise PrivacyError(
                f"the statement lacks schema_version {SCHEMA_VERSION}; read it with the version that wrote it"
            )
        try:
            return cls(
                guarantee=guarantee_from_dict(plain["guarantee"]),
                status=plain["status"],
                reason=plain["reason"],
                unit=PrivacyUnit(**plain["unit"]),
                columns=tuple(ColumnStatement.from_dict(part) for part in plain["columns"]),
                public=tuple(plain["public"]),
                learned=tuple(plain["learned"]),
                draws=tuple(Draw(**draw) for draw in plain["draws"]),
                deltas=tuple(point["delta"] for point in plain.get("points", ())),
                not_covered=tuple(plain["not_covered"]),
            )
        except (KeyError, TypeError) as problem:
            raise PrivacyError("this is not a saved privacy statement: a part of it is missing") from problem


def _without_number(part: ColumnStatement) -> ColumnStatement:
    """Drop a column's price where it would hold only given what the other columns reveal (J2)."""
    if part.cost is None:
        return part
    reason = f"{part.reason}; not counted, because another column of the table has no guarantee".lstrip("; ")
    return ColumnStatement(part.column, part.method, "none", reason)
