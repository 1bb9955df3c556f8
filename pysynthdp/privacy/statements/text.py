"""The words of a privacy statement: the card, and a paragraph for people who do not read formulas."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pysynthdp.base.display import Cell, Table, number
from pysynthdp.base.marks import KEPT_REAL
from pysynthdp.base.words import Said, Words
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.statements.claim import NOT_COVERED, Claim
from pysynthdp.privacy.unit import PrivacyUnit

__all__ = [
    "ENTRIES",
    "NOT_COVERED_BY_A_GUARANTEE",
    "SEVERAL_UNITS",
    "singles",
    "statement_paragraph",
    "statement_table",
]

ENTRIES: Final = "docs/formulas.md of pysynthdp"  # where the formula behind each entry stands
_LONGEST = 600  # six lines of a card
_LISTED = ("levels", "spikes")  # facts that go on with values
_LISTS: Final = Words(
    "; the lists are in {where}",
    where=Said("to_dict() and privacy.json", "privacy.json", "$learned and privacy.json"),
)
NOT_COVERED_BY_A_GUARANTEE = (
    *NOT_COVERED,
    "Whether the table was refused, as a file is whose records cannot be told apart: a refusal can be seen.",
    "How long the fit took, and how much memory: both may depend on the records.",
)
SEVERAL_UNITS = (
    "A person in several units, such as two households: the guarantee is for one unit; for somebody in k of "
    "them its rho is k squared times as large."
)
_KINDS = {
    "pure": "pure differential privacy",
    "approx": "approximate differential privacy",
    "zcdp": "zero-concentrated differential privacy",
    "gdp": "Gaussian differential privacy",
    "rdp": "Renyi differential privacy",
}
WEAK: Final = 5.0  # epsilon from which the words warn: a factor of about 150
_STRENGTH = {
    "idealised": "This is proved for exact arithmetic with real numbers; the rounding of the computer that "
    "drew the copies is not covered.",
    "implemented": "This is proved for the arithmetic of the computer that drew the copies, given a random "
    "source that nobody can predict.",
}
_STATUS = {
    "idealised": "idealised (true for real-number arithmetic)",
    "implemented": "implemented (true for the arithmetic that drew the copies)",
    "void": "void: seeded, for testing",
}


def statement_table(statement: Claim) -> Table:
    """Build the card of a statement: facts above, one row a column, sentences below."""
    notes = [
        *(f"({index}) {sentence}" for sentence, index in _reasons(statement).items()),
        *(f"Public: {fact}" for fact in statement.public),
        *_constants(statement),
        *([] if statement.status == "none" else [f"Entries: {ENTRIES}"]),
        *_learned(statement.learned),
        *(f"Not covered: {fact}" for fact in statement.not_covered),
    ]
    heads, rows = _none_grid(statement) if statement.status == "none" else _priced_grid(statement)
    return Table(
        title=_title(statement), columns=heads, rows=rows, facts=tuple(_facts(statement)), notes=tuple(notes)
    )


def _learned(facts: Sequence[str]) -> list[str]:
    """Name what was learned; levels and spikes themselves stay out, because a job's log keeps the card."""
    if not facts:
        return []
    note = f"Learned from the confidential data: {_in_short(facts)}"
    short = textwrap.shorten(note, _LONGEST - len(_LISTS), placeholder=" ...")
    listed = short != note or any(_of_column(fact)[1] for fact in facts)
    return [Words("{short}{lists}", short=short, lists=_LISTS) if listed else short]


def _constants(statement: Claim) -> list[str]:
    """Write the constants that each price is computed from."""
    return [
        f"Public: {part.column}: {_plain(part.constants)}" for part in statement.columns if part.constants
    ]


def _plain(constants: Mapping[str, Any]) -> str:
    """Write constants as ``name = value``; long lists by their ends."""
    return ", ".join(f"{name} = {_value(value)}" for name, value in constants.items() if value is not None)


def _value(value: Any) -> str:
    """Write one constant."""
    if not isinstance(value, tuple):
        return number(value)
    shown = [number(item) for item in value]
    return "(" + ", ".join(shown if len(shown) <= 6 else [*shown[:3], "...", shown[-1]]) + ")"


def _title(statement: Claim) -> str:
    """One line that carries the verdict."""
    if statement.status == "none":
        return "Privacy statement: no formal guarantee"
    if statement.status == "void":
        return "Privacy statement: void (seeded, for testing)"
    return f"Privacy statement: {statement.guarantee.name}, {statement.status}"


def _facts(statement: Claim) -> list[tuple[str, Cell]]:
    """List the labelled lines of the card; without a guarantee none that only one would need."""
    claimed = statement.status != "none"
    kept = [part.column for part in statement.columns if part.method == KEPT_REAL]
    facts: list[tuple[str, Cell]] = [
        *(_claim(statement) if claimed else ()),
        *([("Released REAL", ", ".join(kept))] if kept else []),
        ("Reason", statement.reason),
        *(_whose(statement) if claimed else ()),
        ("Drawn so far", _drawn(statement)),
    ]
    facts += _parameter(statement.guarantee)
    facts += [(f"epsilon at delta = {delta:g}", epsilon) for delta, epsilon in statement.points]
    return facts + [("Ledger", str(mark)) for mark in statement.ledger]


def _claim(statement: Claim) -> list[tuple[str, Cell]]:
    """Name the guarantee, and of which arithmetic it is true."""
    return [
        ("Guarantee", _KINDS.get(statement.guarantee.name, statement.guarantee.name)),
        ("Status", _STATUS[statement.status]),
    ]


def _whose(statement: Claim) -> list[tuple[str, Cell]]:
    """Name the unit, who says that it has no more rows, and which tables are told apart."""
    return [
        ("Protected unit", f"one {statement.unit.name}"),
        ("Rows of a unit", "; ".join(statement.unit.contributions)),
        ("Neighbours", statement.unit.neighbours),
    ]


def _parameter(guarantee: Guarantee) -> list[tuple[str, Cell]]:
    """List the guarantee's own numbers; a curve is summed up by the quoted points."""
    match guarantee:
        case ZCDP(rho):
            return [("rho", rho)]
        case GDP(mu):
            return [("mu", mu), ("rho", guarantee.rho)]
        case PureDP(eps):
            return [("epsilon", eps)]
        case _:
            return []


def _drawn(statement: Claim) -> str:
    """Write the running total in words: records of the fit, and estimates that were released themselves."""
    single = singles(statement)
    drawn = [each for each in single if each.released == "records"]
    estimates = [each for each in single if each.released == "parameters"]
    parts = [f"{_copies(drawn)}, {number(statement.records)} records in all"] if drawn else []
    if estimates:
        parts.append(f"{_copies(estimates)} of {_counted(len(estimates), 'estimate', 'estimates')}")
    return "; ".join(parts)


def singles(statement: Claim) -> list[Claim]:
    """Take the statements that a sum was made of, or the one statement."""
    return [one for part in statement.parts for one in singles(part)] or [statement]


def _copies(statements: Sequence[Claim]) -> str:
    """Write how many copies some statements speak of."""
    return _counted(sum(each.copies for each in statements), "copy", "copies")


def _counted(many: int, one: str, more: str) -> str:
    """Write a number of things."""
    return f"{number(many)} {one if many == 1 else more}"


def _none_grid(statement: Claim) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Column, method and which of the numbered reasons it has; no number of the data."""
    order = _reasons(statement)
    rows = tuple((part.column, part.method, f"({order[part.reason]})") for part in statement.columns)
    return ("column", "method", "why there is no guarantee"), rows


def _reasons(statement: Claim) -> dict[str, int]:
    """Give each distinct sentence of the columns a number: reasons, or assumptions of priced ones."""
    priced = statement.status != "none"
    given = [_joined(part.assumptions) if priced else part.reason for part in statement.columns]
    return {sentence: index for index, sentence in enumerate(dict.fromkeys(given), start=1)}


def _priced_grid(statement: Claim) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Column, mechanism, share and what is assumed."""
    order = _reasons(statement)
    rows = tuple(
        (part.column, part.mechanism, part.guarantee, part.share, part.entry, f"({order[assumed]})")
        for part in statement.columns
        for assumed in [_joined(part.assumptions)]
    )
    return ("column", "mechanism", "guarantee", "share", "entry", "assumes"), rows


def _joined(sentences: Sequence[str]) -> str:
    """Assumptions in one cell."""
    return "; ".join(sentences)


def statement_paragraph(statement: Claim) -> str:
    """Write the paragraph for an ethics board."""
    parts = [_opening(statement), _protection(statement)]
    if statement.status not in ("none", "void"):
        parts.append(f"The guarantee is for {'; '.join(statement.unit.contributions)}.")
    if statement.learned:
        parts.append(f"Learned from the confidential data: {_in_short(statement.learned)}.")
    given = "the fit has given" if statement.released == "records" else "this has been released:"
    parts.append(f"So far {given} {_drawn(statement)}.")
    if statement.status not in ("none", "void"):
        parts.append(f"The formulas behind the numbers are explained, entry by entry, in {ENTRIES}.")
    overridden = dict.fromkeys(text for mark in statement.ledger for text in mark.overrides)
    parts += [f"The limit of its source was overridden {text}." for text in overridden]
    parts.append(f"This statement does not cover {'; '.join(map(_clause, statement.not_covered))}.")
    return " ".join(parts)


def _in_short(facts: Sequence[str]) -> str:
    """Name what was learned: columns by kind of fact ("levels of sex (2), region (16)") without the lists."""
    named: dict[str, list[str]] = {}
    for fact in facts:
        kind, column = _of_column(fact)
        names = named.setdefault(kind, [])
        names += [column] if column else []
    return "; ".join(f"{kind} {', '.join(columns)}".rstrip() for kind, columns in named.items())


def _of_column(fact: str) -> tuple[str, str]:
    """Split "levels of sex (2): F, M" into "levels of" and "sex (2)"; any other fact is one clause."""
    head, listed, _ = fact.partition(": ")
    kind, of, column = head.partition(" of ")
    return (f"{kind} of", column) if listed and of and kind in _LISTED else (_clause(fact), "")


def _clause(sentence: str) -> str:
    """Turn a sentence into a part of another."""
    return (sentence[:1].lower() + sentence[1:]).rstrip(".")


def _opening(statement: Claim) -> str:
    """Say what the file is."""
    kept = [part.column for part in statement.columns if part.method == KEPT_REAL]
    but = f" but for the REAL values of {', '.join(kept)}" if kept else ""
    plain = statement.unit == PrivacyUnit(relation=statement.unit.relation)  # one record has one row
    claimed = statement.status not in ("none", "void")  # then a sentence of its own says it
    rows = "" if plain or claimed else f", in which one {statement.unit.name} has at most {_rows(statement)}"
    if statement.released == "parameters":
        columns = ", ".join(dict.fromkeys(part.column for part in statement.columns))
        return f"These numbers are estimates from a confidential table{rows}, released themselves: {columns}."
    if statement.released == "both":
        return (
            f"These are records{but} drawn from statistical models fitted to a confidential table{rows}, and "
            "estimates from the same table."
        )
    return (
        f"These records are synthetic{but}: they were drawn from statistical models fitted to a confidential "
        f"table{rows}."
    )


def _rows(statement: Claim) -> str:
    """Write the most rows that a unit can have."""
    most = statement.unit.rows_per_unit
    return f"{number(most)} {'row' if most == 1 else 'rows'}"


def _protection(statement: Claim) -> str:
    """Say what is promised; without a guarantee, that nothing is."""
    if statement.status == "none":
        return (
            "No formal privacy guarantee is claimed for them: "
            f"{statement.reason}. Being drawn from a model is not a proof of privacy. Treat the files by the "
            "rules for confidential data unless a disclosure review has cleared them."
        )
    if statement.status == "void":
        return "The run was seeded for testing, so no privacy guarantee holds; do not publish the records."
    kind = _KINDS.get(statement.guarantee.name, statement.guarantee.name)
    return (
        f"They have a formal guarantee, {kind}, which bounds how well anybody who sees them tells apart any "
        f"{statement.unit.neighbours}.{_meaning(statement)} {_STRENGTH[statement.status]}"
    )


def _meaning(statement: Claim) -> str:
    """Say what the quoted points mean for one unit, whatever else an attacker knows."""
    points = "; and ".join(
        f"at most {number(math.exp(min(epsilon, 700.0)))} times as large, plus {delta:g} (epsilon "
        f"{number(epsilon)}, delta {delta:g})"
        for delta, epsilon in statement.points
    )
    if not points:
        return ""
    what = "the copies" if statement.released == "records" else "them"
    return (
        f" Whatever is known besides, if one {statement.unit.name} had other values, the probability of any "
        f"conclusion drawn from {what} would be {points}.{_weakness(statement)}"
    )


def _weakness(statement: Claim) -> str:
    """Warn of a factor that rules out little."""
    smallest = min(epsilon for _, epsilon in statement.points)
    return " So large a factor is weak protection: it rules out little." if smallest > WEAK else ""
