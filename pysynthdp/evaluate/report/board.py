"""The report for a review board: its questions in order, answered where the tool knows, blank elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from pysynthdp.base.display import Cell, Table
from pysynthdp.base.words import Argument, Words, said
from pysynthdp.evaluate.fits import Comparison
from pysynthdp.evaluate.pictures import report_picture
from pysynthdp.evaluate.report.document import Document
from pysynthdp.evaluate.report.gates import Gate
from pysynthdp.evaluate.report.parts import Blank, Block, Grid, Picture, Section
from pysynthdp.evaluate.report.public import how_made
from pysynthdp.evaluate.report.purposes import Purpose
from pysynthdp.evaluate.risk.result import DisclosureRisk
from pysynthdp.evaluate.utility.foreseen import HEADING
from pysynthdp.evaluate.utility.result import UtilityComparison
from pysynthdp.release import SyntheticRelease

__all__ = ["BLANKS", "Measured", "board_report"]

BLANKS: Final[Mapping[str, str]] = {
    "release": "To whom, under which licence, where, for which period and places of the population; what was "
    "released before from the same source outside this tool; which files elsewhere hold the same people.",
    "residual risk": "Which risk is left, who could be harmed and how, and why it is accepted or not.",
    "decision": "Decision, names, date, date of the next review, contact.",
}
_GUARDED: Final = (
    "The copies carry a formal guarantee, and this report does not: it reads the records as they are. No "
    "number in it, and no choice made by one, may leave. Gates look at the copies alone."
)
_FORESEEN: Final = "Of copies alone, whatever the records are; no proof, and no gate looks at it."
_NO_TOTAL: Final = "There is no overall score: an average hides the group that fares worst."


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured.

    Parameters
    ----------
    release : SyntheticRelease or None
        The copies; None of another tool.
    utility : UtilityComparison
        What they are worth.
    risk : DisclosureRisk or None
        What they risk; None without key sets.
    gates : tuple of Gate
        And what came to them.
    guaranteed : bool
        Whether a formal guarantee is stated.
    """

    release: SyntheticRelease | None
    utility: UtilityComparison
    risk: DisclosureRisk | None
    gates: tuple[Gate, ...]
    guaranteed: bool


def board_report(measured: Measured, *, title: str, purpose: Purpose, about: Mapping[str, str]) -> Document:
    """Write the report.

    Parameters
    ----------
    measured : Measured
        All numbers.
    title : str
        Of the file.
    purpose : Purpose
        What the copies are for.
    about : mapping
        Blanks that are filled in already, by their labels.

    Notes
    -----
    Privacy: INTERNAL; numbers of real rows.
    """
    blanks = {name: Blank(name, hint, about.get(name, "")) for name, hint in BLANKS.items()}
    sections = (
        Section("What is released, to whom, and what was before", (*_released(measured), blanks["release"])),
        Section("Which values are synthetic and which are real", _values(measured)),
        Section("What an intruder knows, and who can be told apart", _of_risk(measured, *_IDENTITY)),
        Section("What can be learned of a person", _of_risk(measured, *_ATTRIBUTE)),
        Section(
            "Rare records, extreme values, copied parts", (*_alarms(measured), *_of_risk(measured, *_RARE))
        ),
        Section("Who is in the data", _of_risk(measured, *_MEMBERS)),
        Section(
            "Groups that fare worst", (_grid(measured.utility.frames, "subgroups", "Subgroups, worst first"),)
        ),
        Section("What else leaves the building", _leaves(measured)),
        Section("Formal guarantee", _guarantee(measured)),
        Section("What was tried before", _tried(measured)),
        Section("What was done against risk", _mitigations(measured)),
        Section("Structure and rules", _structure(measured)),
        Section("What the copies are worth", tuple(_worth(measured))),
        Section("What could not be measured", _missing(measured)),
        Section("Residual risk and decision", (blanks["residual risk"], blanks["decision"])),
    )
    return Document("board", title, "INTERNAL", tuple(_lead(measured, purpose)), sections)


def _lead(measured: Measured, purpose: Purpose) -> Iterator[Block]:
    """Write page one: what failed, what is worst, and nothing that averages."""
    failed = [gate for gate in measured.gates if not gate.passed]
    yield f"Purpose: {purpose.name}. {purpose.use}"
    if measured.guaranteed:
        yield _GUARDED
    if failed:
        yield f"FAIL: {len(failed)} of {len(measured.gates)} gates are not passed. {_NO_TOTAL}"
    else:
        yield f"All {len(measured.gates)} gates are passed, which is no proof of safety. {_NO_TOTAL}"
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (gate.verdict, gate.name, gate.value, gate.limit, gate.kind, gate.why) for gate in measured.gates
    )
    yield Table("Gates", ("", "gate", "measured", "at most", "of", ""), rows)
    yield from _alarms(measured)
    yield Grid("worst_subgroups", "Subgroups that fare worst", measured.utility.worst(3, of="subgroups"))
    yield Grid("worst_tables", "Worst relations of two columns", measured.utility.worst(5))
    if measured.risk is not None:
        yield Grid("worst_risks", "Risks farthest above their baselines, %", measured.risk.worst(5))
    else:
        yield Words("Disclosure risk was NOT measured: {keys} names no key set.", keys=Argument("keys"))


def _alarms(measured: Measured) -> Iterator[str]:
    """Say what no synthesis does."""
    for alarm in measured.utility.alarms:
        yield f"ALARM: {alarm.text}"
    for text in measured.risk.alarms if measured.risk is not None else ():
        yield f"ALARM: {text}"


def _released(measured: Measured) -> tuple[Block, ...]:
    """Say what the release is, and what was drawn from the same fit and source."""
    release = measured.release
    if release is None:
        facts = Table("Copies of another tool", facts=measured.utility.facts)
        return (facts, "How they were made is not known to this report.")
    draws = release.privacy.draws
    rows: tuple[tuple[Cell, ...], ...] = tuple((draw.n_syn, draw.copies) for draw in draws)
    drawn = Table("Draws from this fit so far", ("rows of a copy", "copies"), rows)
    growth = _of_risk(measured, ("growth", "What further copies and releases add"), missing=False)
    return (release.to_table().said("shell"), drawn, *growth)


def _values(measured: Measured) -> tuple[Block, ...]:
    """Say how every column was made."""
    if measured.release is None:
        return ("Not known: these are copies of another tool.",)
    return how_made(measured.release)


_IDENTITY: Final = (
    ("identity", "Unique on the keys, in the table and in the copies"),
    ("matching", "Matches of a partly synthetic file"),
)
_ATTRIBUTE: Final = (
    ("attribute", "Attribute disclosure, beside what the table itself discloses"),
    ("inference", "Guesses of a target from the nearest copy, less those about people never used"),
)
_RARE: Final = (
    ("matches", "Records that stand in a copy"),
    ("values", "Top values and spikes that few records hold"),
    ("singling_out", "Predicates that single out one person"),
)
_MEMBERS: Final = (
    ("membership", "Telling members of the table by fits with and without them"),
    ("bound", "What the guarantee allows at most"),
)


def _of_risk(measured: Measured, *tables: tuple[str, str], missing: bool = True) -> tuple[Block, ...]:
    """Give tables of risk; those that were not computed have their reason at the end."""
    if measured.risk is None:
        return (Words("Not measured: {keys} names no key set.", keys=Argument("keys")),) if missing else ()
    found: list[Block] = [
        Grid(name, title, measured.risk.found[name]) for name, title in tables if name in measured.risk.found
    ]
    reasons = dict(measured.risk.not_computed)
    found += [f"{title}: not computed, since {reasons[name]}." for name, title in tables if name in reasons]
    if tables == _MEMBERS and {"trade_off", "membership_curve"} & {*measured.risk.found}:
        found.append(Picture("trade_off", "True against false positives", _curve(measured.risk), (5.0, 5.0)))
    if tables == _IDENTITY:
        found.append(Picture("risk", "Risk by key set, beside its baseline", _risk_picture(measured.risk)))
    return tuple(found) or (("Not asked for.",) if missing else ())


def _risk_picture(risk: DisclosureRisk) -> Any:
    """Draw risks by key set."""
    return lambda figure: risk.plot(figure.subplots())


def _curve(risk: DisclosureRisk) -> Any:
    """Draw the trade-off curve."""
    return lambda figure: risk.plot_trade_off(figure.subplots())


def _grid(frames: Mapping[str, pd.DataFrame], name: str, title: str) -> Block:
    """Give a table of the comparison."""
    if name not in frames:
        return f"{title}: not computed; section 14 says why."
    return Grid(name.replace("-", "_"), title, frames[name])


def _leaves(measured: Measured) -> tuple[Block, ...]:
    """Say what else carries numbers of the table."""
    release = measured.release
    if release is None:
        return ("Not known: these are copies of another tool.",)
    learned = tuple(release.privacy.learned)
    files = (
        "Beside the copies go their schema and codebook (levels, bounds, labels; frequencies of the "
        "copies), the privacy statement, and how each column was made. No saved model, no seed, and no "
        "record leaves."
    )
    if not learned:
        return (files, "Nothing in them was learned from the records.")
    return (
        files,
        Table("Learned from the records, and told by schema and statement", ("fact",), _each(learned)),
    )


def _each(texts: tuple[str, ...]) -> tuple[tuple[Cell, ...], ...]:
    """Put texts into rows."""
    return tuple((text,) for text in texts)


def _guarantee(measured: Measured) -> tuple[Block, ...]:
    """Give the statement in words and as a card."""
    if measured.release is None:
        return ("None is known of copies of another tool.",)
    statement = measured.release.privacy
    return (said(statement.plain_language(), "shell"), statement.to_table().said("shell"))


def _tried(measured: Measured) -> tuple[Block, ...]:
    """Say how often the source was asked, as far as anybody kept count."""
    found: list[Block] = []
    if measured.release is not None:
        marks = measured.release.privacy.ledger
        found += [f"Ledger: {mark}" for mark in marks]
    if measured.risk is not None:
        found += [Table("Evaluations", facts=measured.risk.facts)]
    found.append(
        "Choices of methods, codes and levels that were made after a look at the records are looks too, "
        "and only who made them knows of those that no list holds."
    )
    return tuple(found)


def _mitigations(measured: Measured) -> tuple[Block, ...]:
    """Say what the synthesis did: merged levels, top codes, rounding, real columns left out."""
    if measured.release is None:
        return ("Not known: these are copies of another tool.",)
    always = (
        "Without a guarantee extreme values are drawn from what others let one expect, averages rest on five "
        "records or more, and levels of fewer than five records are told by a warning at the fit."
    )
    statement = measured.release.privacy
    merged = tuple(fact for fact in statement.learned if "merged" in fact)
    said = (*statement.public, *merged)
    return (always, Table("Declared, cut, rounded and merged", ("fact",), _each(said)))


def _structure(measured: Measured) -> tuple[Block, ...]:
    """Give differences of structure, and rules before and after."""
    frames = measured.utility.frames
    return (
        _grid(frames, "structure", "Differences of names, types, labels and levels"),
        _grid(frames, "rules", "Rules, in the table and in the copies"),
        _grid(frames, "missing", "Missing values by kind"),
    )


def _worth(measured: Measured) -> Iterator[Block]:
    """Give what the copies are worth, table by table and the worst first."""
    frames = measured.utility.frames
    for name, title in (
        ("propensity", "Telling copies from records: a ratio of 1 is a fresh sample"),
        ("two-way", "Tables of two columns, worst first"),
        ("one-way", "Columns, worst first"),
        ("three-way", "Tables of three columns, worst first"),
        ("moments", "Means and quantiles"),
        ("indicators", "Indicators by subgroup"),
        ("associations", "Correlations and Cramer's V"),
        ("regressions", "Regressions"),
        ("held-out", "Beside people who had no part in the copies"),
    ):
        if name in frames:
            yield _grid(frames, name, title)
            yield from _pictures(measured.utility, name)
    if "foreseen" in frames:
        yield Grid("foreseen", f"Intervals foreseen, {HEADING}", frames["foreseen"], _FORESEEN)
    for name, fit in measured.utility.fits.items():
        yield fit.to_table()
        yield Picture(f"fit {name}", f"Intervals of {name}", _fit_picture(fit))
    yield from measured.utility.notes


_DRAWN: Final[Mapping[str, tuple[str, int, str]]] = {
    "propensity": ("propensity", 1, "How well rows of copies are told from records"),
    "two-way": ("tables", 6, "Where the worst tables of two columns differ, in standard errors"),
    "one-way": ("columns", 9, "The worst columns: records in grey, copies as outlines"),
}


def _pictures(utility: UtilityComparison, name: str) -> Iterator[Block]:
    """Give the picture that belongs to a table, where there is one."""
    kind, most, title = _DRAWN.get(name, ("", 0, ""))
    found = report_picture(utility, kind, most) if kind else None
    if found is not None:
        yield Picture(kind, title, found[1], found[0])


def _fit_picture(fit: Comparison) -> Any:
    """Draw the intervals of a regression."""
    return lambda figure: fit.plot(figure.subplots())


def _missing(measured: Measured) -> tuple[Block, ...]:
    """Say what was not measured, and why; it is in no summary."""
    risk = measured.risk.not_computed if measured.risk is not None else ()
    found = [*measured.utility.missing, *(f"{name}: {reason}" for name, reason in risk)]
    return tuple(found) or ("Everything that was asked for was measured.",)
