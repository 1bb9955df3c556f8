"""The privacy statement: what is claimed for a release, for whom, on which assumptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pysynthdp.base.display import Printable, Table
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.composition import compose
from pysynthdp.privacy.guarantee import Guarantee  # noqa: F401 -- in types of inherited fields
from pysynthdp.privacy.guarantees.none import NoGuarantee
from pysynthdp.privacy.statements.as_dict import (
    check_unchanged,
    statement_fields,
    statement_to_dict,
)
from pysynthdp.privacy.statements.claim import Claim, Released, Status
from pysynthdp.privacy.statements.column import ColumnStatement, Draw
from pysynthdp.privacy.statements.ledger_mark import LedgerMark
from pysynthdp.privacy.statements.text import singles, statement_paragraph, statement_table
from pysynthdp.privacy.statements.verification import Verification, verified
from pysynthdp.privacy.unit import PrivacyUnit

__all__ = ["PrivacyStatement"]

_WEAKEST: tuple[Status, ...] = ("void", "idealised", "implemented", "none")
_NO_COLUMN_HAS_ONE = "no column of this table is released by a mechanism with a formal guarantee"


@dataclass(frozen=True, slots=True, repr=False)
class PrivacyStatement(Claim, Printable):
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
        Where (epsilon, delta) is quoted; empty without a guarantee.
    parts : tuple of PrivacyStatement
        The statements that were composed into this one; empty for a single fit.
    not_covered : tuple of str
        What the statement does not speak about.
    released : {"records", "parameters", "both"}
        Whether records were drawn, or estimates released themselves; both only in a sum of statements.
    ledger : tuple of LedgerMark
        Where the release was reserved in the ledger of its source; empty where nobody keeps one.

    Notes
    -----
    Privacy: a function of public constants; safe to publish. Without a guarantee no number is given.

    Examples
    --------
    >>> statement = PrivacyStatement.none([ColumnStatement("age", "norm", "none", "unbounded fit")])
    >>> statement.status, statement.to_dict()["guarantee"]
    ('none', {'name': 'none'})
    """

    parts: tuple[PrivacyStatement, ...] = ()

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
        ledger: Sequence[LedgerMark] = (),
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
        ledger : sequence of LedgerMark
            Where parts of a sum were reserved.

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
            ledger=tuple(ledger),
        )

    @classmethod
    def compose(cls, *statements: PrivacyStatement, deltas: Sequence[float] = ()) -> Self:
        """Add the statements of several releases from the same confidential table.

        Parameters
        ----------
        *statements : PrivacyStatement
            At least one, all about the same unit and neighbours.
        deltas : sequence of float
            Where (epsilon, delta) is quoted; by default wherever one of the statements does.

        Returns
        -------
        PrivacyStatement
            ``none`` if any is, else ``void`` if any is, else ``idealised`` if any is.

        Raises
        ------
        PrivacyError
            For no statement or different units; state all releases for the same unit.

        Notes
        -----
        Privacy: post-processing of public constants. J1: also when a release was chosen after seeing others.
        """
        if not statements or any(each.unit != statements[0].unit for each in statements):
            raise PrivacyError(
                "compose statements about the same unit and neighbours, at least one", kind="statement"
            )
        shared = _merged(statements)
        bare = next((each for each in statements if each.status == "none"), None)
        if bare is not None:
            shared["draws"] = _records_drawn(statements)
            return cls.none(
                unit=bare.unit, reason=f"a composed release has no guarantee: {bare.reason}", **shared
            )
        total = compose([each.guarantee for each in statements])
        return cls(
            guarantee=total,
            status=min((each.status for each in statements), key=_WEAKEST.index),
            reason=_sum_of(len(statements)),
            unit=statements[0].unit,
            deltas=tuple(deltas) or tuple(sorted({delta for each in statements for delta in each.deltas})),
            parts=tuple(statements),
            released=_released(statements),
            not_covered=tuple(dict.fromkeys(fact for each in statements for fact in each.not_covered)),
            **{key: tuple(value) for key, value in shared.items()},
        )

    def verify(self) -> Verification:
        """Recompute every number from the statement's own public constants.

        Returns
        -------
        Verification
            ``ok`` where a guarantee is stated, is not void, and every number follows; ``agrees`` where every
            number follows. Of the files of a release: :func:`pysynthdp.verify`.

        Raises
        ------
        PrivacyError
            If the constants do not fit the mechanisms that are named.

        Notes
        -----
        Privacy: post-processing of public constants; reads no record. The statement is compared with itself
        alone, which says nothing about who made it.
        """
        return verified(self)

    def to_table(self) -> Table:
        """Build the card that people see."""
        return statement_table(self)

    def plain_language(self) -> str:
        """Write one paragraph that an ethics board can read."""
        return statement_paragraph(self)

    def to_dict(self) -> dict[str, Any]:
        """Write plain values for JSON, with ``schema_version``."""
        return statement_to_dict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_dict` wrote.

        Raises
        ------
        PrivacyError
            For another schema version, when a part is missing, or when what follows from other parts was
            changed; read it with the version that wrote it.

        Notes
        -----
        Privacy: post-processing. Numbers are taken as stated; :meth:`verify` recomputes them.
        """
        parts = tuple(cls.from_dict(part) for part in plain.get("parts", ()))
        read = cls(**statement_fields(plain), parts=parts)
        check_unchanged(plain, read)
        return read


def _sum_of(many: int) -> str:
    """Say what a composed statement is about."""
    releases = "one release" if many == 1 else f"the sum of {many} releases"
    return f"{releases} from the same confidential table"


def _released(statements: Sequence[PrivacyStatement]) -> Released:
    """Name what all statements released, or both where they differ."""
    kinds = {each.released for each in statements}
    return kinds.pop() if len(kinds) == 1 else "both"


def _records_drawn(statements: Sequence[PrivacyStatement]) -> list[Draw]:
    """Every draw of records; those of estimates would count as records in a statement without parts."""
    leaves = [one for each in statements for one in singles(each)]
    return [draw for one in leaves if one.released != "parameters" for draw in one.draws]


def _merged(statements: Sequence[PrivacyStatement]) -> dict[str, Any]:
    """Collect columns, facts and draws; each fact once."""
    return {
        "columns": [part for each in statements for part in each.columns],
        "public": list(dict.fromkeys(fact for each in statements for fact in each.public)),
        "learned": list(dict.fromkeys(fact for each in statements for fact in each.learned)),
        "draws": [draw for each in statements for draw in each.draws],
        "ledger": list(dict.fromkeys(mark for each in statements for mark in each.ledger)),
    }


def _without_number(part: ColumnStatement) -> ColumnStatement:
    """Drop a column's price where it would hold only given what the other columns reveal (J2)."""
    if part.cost is None:
        return part
    reason = f"{part.reason}; not counted, because another column of the table has no guarantee".lstrip("; ")
    return ColumnStatement(part.column, part.method, "none", reason)
