"""The note that goes out with copies: a function of them, their statement and the purpose alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd

from pysynthdp.base.display import Table
from pysynthdp.base.marks import DERIVED, KEPT_REAL, SERIAL
from pysynthdp.base.words import said
from pysynthdp.evaluate.report.analyses import Analysis, Indicators, Models, analyses_of
from pysynthdp.evaluate.report.document import Document
from pysynthdp.evaluate.report.parts import Blank, Block, Grid, Section
from pysynthdp.evaluate.report.purposes import Purpose
from pysynthdp.evaluate.sides import real_columns
from pysynthdp.io.folder.codebook_page import method_in_words
from pysynthdp.release import SyntheticRelease
from pysynthdp.tags.steps import TaggedStep

__all__ = ["how_made", "public_note"]

_READ: Final = (
    "Fit the model to each copy and combine the results by the rule for this release: pysynthdp chooses it "
    'from release.json. In Python: pysynthdp.ols("y ~ a + b", pysynthdp.SyntheticRelease.load(folder)); '
    'in R: pool(read_release(folder), y ~ a + b); in a shell: pysynthdp pool "y ~ a + b" FOLDER --model ols.'
)
_NOTHING: Final = "no other column"
_UNMODELLED: Final = (DERIVED, KEPT_REAL, SERIAL, "constant")
_NAMED: Final = 8  # columns that are named
_DO_NOT: Final = (
    "Do not analyse one copy as if it were real: its standard errors are too small.",
    "Do not stack the copies: that counts every record as often as there are copies.",
    "Do not remove what says that the data are synthetic.",
)


def public_note(
    release: SyntheticRelease,
    *,
    title: str,
    purpose: Purpose,
    models: Models = (),
    indicators: Indicators | None = None,
    about: Mapping[str, str] | None = None,
) -> Document:
    """Write what everybody may read: nothing in it was held against the confidential table.

    Parameters
    ----------
    release : SyntheticRelease
        The copies, with statement and tags.
    title : str
        Of the file.
    purpose : Purpose
        What it is for.
    models, indicators
        Analyses of the copies to show, as :class:`Report` takes them.
    about : mapping, optional
        What only the office knows, by the labels of the blanks: ``"contact"``, ``"licence"``, ...

    Notes
    -----
    Privacy: post-processing of the release. The same release gives the same bytes, whatever the confidential
    table holds, how many rows it has, or which gates were passed.
    """
    lead = (purpose.use, _what(release), said(release.privacy.plain_language(), "shell"))
    sections = [
        Section("What these data are not for", purpose.limits),
        Section("How they were made", how_made(release)),
        Section("Privacy", (release.privacy.to_table().said("shell"),)),
        Section("Rules that hold in every row", _rules(release)),
        *_shown(analyses_of(release, models, indicators or {})),
        Section("How to use them", (_READ, *_DO_NOT)),
        Section("Source and contact", _blanks(about or {})),
        Section("Made with", (_versions(release),)),
    ]
    return Document("quality_note", title, "public", lead, tuple(sections))


def _what(release: SyntheticRelease) -> str:
    """Say what there is."""
    copies = "one synthetic copy" if release.m == 1 else f"{release.m} synthetic copies"
    real = sorted(real_columns(release.tags))
    unit = release.tags.unit
    of = (
        f"{release.n_syn:,} rows"
        if unit is None
        else f"{release.n_syn:,} units of {unit} (rows that belong together)"
    )
    held = f"The release has {copies} of {of} and {len(release.schema)} columns."
    if real:
        return f"{held} NOT synthetic are: {', '.join(real)}. Their values are real, record by record."
    return f"{held} No column holds real records."


def how_made(release: SyntheticRelease) -> tuple[Block, ...]:
    """Say how every column was made, and which relations the models held.

    Notes
    -----
    Privacy: the plan, which is public.
    """
    methods, real = dict(release.provenance.methods), real_columns(release.tags)
    sources = _sources(release.tags.steps or ())
    rows = [
        (
            column.name,
            column.labels.label if column.labels else "",
            "REAL" if column.name in real else "synthetic",
            _method(methods.get(column.name, "")),
            sources.get(column.name, ""),
        )
        for column in release.schema
    ]
    frame = pd.DataFrame(rows, columns=["column", "label", "released", "method", "drawn from"])
    return (_relations(release), Grid("columns", f"{len(frame)} columns", frame))


def _method(name: str) -> str:
    """Name a method, and say what it does."""
    words = method_in_words(name)
    return f"{name}: {words}" if words else name


def _sources(steps: tuple[TaggedStep, ...]) -> dict[str, str]:
    """Say by column from what its values were drawn."""
    found: dict[str, str] = {}
    before: list[str] = []
    for step in steps:
        source = _before(before) if step.terms is None else _terms(step)
        for name in step.columns:
            if step.draws != "kind":
                found.setdefault(name, source)
        before += [name for name in step.columns if name not in before]
    return found


def _before(names: list[str]) -> str:
    """Name the columns that were drawn before."""
    if len(names) > _NAMED:
        return f"all {len(names)} columns before it"
    return ", ".join(names) or _NOTHING


def _terms(step: TaggedStep) -> str:
    """List the terms of a step."""
    return ", ".join(":".join(map(_factor, term)) for term in step.terms or ()) or _NOTHING


def _factor(factor: str | Mapping[str, object]) -> str:
    """Write one factor of a term."""
    if isinstance(factor, str):
        return factor
    if "level" in factor:
        return f"{factor['column']}[{factor['level']}]"
    return f"{factor.get('basis')}({factor['column']})"


def _relations(release: SyntheticRelease) -> str:
    """Say whether relations between columns are kept at all."""
    sources = _sources(tuple(step for step in release.tags.steps or () if step.model not in _UNMODELLED))
    alone = [name for name, source in sources.items() if source == _NOTHING]
    if release.tags.steps is None:
        return "The release does not say from which columns each was drawn."
    if len(alone) == len(sources) > 1:
        return (
            "Relations between columns are not kept: every column was drawn without looking at another one."
        )
    rest = f" Drawn without any other column: {', '.join(alone)}." if len(alone) > 1 else ""
    return (
        "The copies hold the relations that the models below held, of each column with those that it was "
        f"drawn from; relations beyond them are not kept.{rest}"
    )


def _rules(release: SyntheticRelease) -> tuple[Block, ...]:
    """Say which rules hold."""
    checks = release.check_rules()
    if not checks.checks:
        return ("No rule or universe was declared for these copies.",)
    rows = tuple((check.rule, sum(check.broken)) for check in checks.checks)
    return (Table("Rules and universes", ("rule", "rows of the copies that break it"), rows),)


def _shown(analyses: tuple[Analysis, ...]) -> list[Section]:
    """Show what was asked for, from the copies alone."""
    if not analyses:
        return []
    note = (
        "Computed from the copies and combined by the rule of this release. Nothing here was compared with "
        "the confidential data."
    )
    blocks: list[Block] = [note]
    for each in analyses:
        if each.pooled is None:
            blocks.append(f"{each.name}: {each.failed}")
        else:
            blocks.append(each.pooled.to_table().said("shell"))
    return [Section("What the copies say", tuple(blocks))]


def _blanks(about: Mapping[str, str]) -> tuple[Block, ...]:
    """Leave room for what only the office knows."""
    hints = {
        "source": "Survey or register, population, reference period.",
        "licence": "Under which terms, and how to cite the file.",
        "validation": "How a program can be run on the confidential data, in which form, within which time.",
        "contact": "Whom to ask, and to whom to report a problem.",
    }
    return tuple(Blank(name, hint, about.get(name, "")) for name, hint in hints.items())


def _versions(release: SyntheticRelease) -> Table:
    """Name the software."""
    made = release.provenance
    return Table(made.software, facts=tuple((name, version) for name, version in made.versions))
