"""The words of a release folder: README.txt for whoever receives it."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping, Sequence

from pysynthdp.base.display import number
from pysynthdp.base.marks import WATERMARK
from pysynthdp.io.csv.reading_lines import has_empty_text, pandas_call, r_call
from pysynthdp.schema import Schema

__all__ = ["readme_text"]

_WIDTH = 96
_ONLY_CSV = " Programs for Stata and SPSS come with a release whose copies are CSV files, which those read."
_DO_NOT = (
    "Do not analyse a single copy as if it were real data: its standard errors are too small.",
    "Do not stack the copies into one table: that counts every record m times.",
    "Do not publish estimates as findings before they are validated on the confidential data.",
    "Do not rely on a relationship that the models did not contain: it is not in the copies.",
    "Do not try to match records to persons.",
)
_MARKED = (
    f"Do not remove the column {WATERMARK}, the last one of every file: it holds the number of the copy, "
    "and says that the data are synthetic."
)
_PROGRAMS = {
    "csv": "any program",
    "parquet": "programs for large tables",
    "sav": "SPSS",
    "dta": "Stata",
    "xpt": "SAS",
}
_UNMARKED = {
    True: "Do not remove what the files' metadata say of the data, and keep their names: they say synthetic.",
    False: "Do not rename the files: within them nothing says that the data are synthetic.",
}


def readme_text(
    *,
    privacy: str,
    files: Sequence[str],
    m: int,
    n_syn: int,
    n_org: int | None,
    real: Sequence[str],
    software: str,
    programs: Sequence[str] = (),
    no_program: str = "",
    nests: Sequence[str] = (),
    schema: Schema | None = None,
    withheld: Collection[str] = (),
    watermark: bool = False,
    others: Mapping[str, Sequence[str]] | None = None,
    fallbacks: Sequence[Mapping[str, str]] = (),
    unit: str | None = None,
) -> str:
    """Write README.txt: what it is, what is promised, how to read, how to pool, what not to do.

    Parameters
    ----------
    privacy : str
        The statement in plain language.
    files : sequence of str
        Names of the copies' files.
    m, n_syn, n_org : int
        Copies, rows of each, rows of the confidential table (None when not published).
    real : sequence of str
        Columns released as they really are.
    software : str
        Name and version of what made it.
    programs : sequence of str
        Files that read the copies and pool.
    no_program : str
        Why there are none.
    nests : sequence of str
        For each copy, the first-stage file that it comes from; empty without nests.
    schema : Schema, optional
        Of the copies: which columns other programs must be told to read as text.
    withheld : collection of str
        Columns whose levels are not published.
    watermark : bool
        Whether the last column of the files says that they are synthetic.
    others : mapping of str to sequence of str, optional
        Files of the copies in further formats.
    fallbacks : sequence of mapping
        What these hold otherwise: ``format``, ``column`` and ``what``.
    unit : str, optional
        Column of the units that rows belong to, which then are counted.

    Examples
    --------
    >>> text = readme_text(
    ...     privacy="No claim.", files=["synthetic_1.csv"], m=1, n_syn=9, n_org=None, real=[], software="x"
    ... )
    >>> text.splitlines()[0]
    'SYNTHETIC DATA'
    """
    what = "rows" if unit is None else f"units of {unit}"
    rows = what if unit is None else f"{what}, which have a row or more each"
    source = "a number that is not published" if n_org is None else f"{number(n_org)} {what}"
    copies = "1 copy" if m == 1 else f"{number(m)} copies"
    made = f"{copies} of {number(n_syn)} {rows}, made by {software} from a confidential table of {source}."
    if nests:
        made += f" {_nests(nests)}"
    warning = ["REAL COLUMNS", _wrapped(_real(real))] if real else []
    rules = (*_DO_NOT, _MARKED if watermark else _UNMARKED[_is_parquet(files[0])])
    sections = [
        "SYNTHETIC DATA",
        _wrapped(made),
        *warning,
        "PRIVACY",
        _wrapped(privacy),
        "FILES",
        _files(files, programs, others or {}),
        *(["WHAT OTHER FORMATS HOLD OTHERWISE", _otherwise(fallbacks)] if fallbacks else []),
        "HOW TO READ",
        _how_to_read(files[0], schema or Schema(()), withheld),
        "HOW TO ANALYSE",
        _how_to_pool(m, programs, no_program, nested=bool(nests)),
        "WHAT NOT TO DO",
        "\n".join(_wrapped(sentence, bullet=True) for sentence in rules),
    ]
    return "\n\n".join(sections) + "\n"


def _wrapped(text: str, *, bullet: bool = False) -> str:
    """Wrap a paragraph."""
    first, rest = ("- ", "  ") if bullet else ("", "")
    return textwrap.fill(text, _WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False)


def _real(real: Sequence[str]) -> str:
    """Say loudly what is not synthetic."""
    what = f"The column {real[0]} is" if len(real) == 1 else f"The columns {', '.join(real)} are"
    return (
        f"{what} NOT synthetic: the values are the confidential table's own, record by record. Treat every "
        "row as confidential."
    )


def _span(files: Sequence[str]) -> str:
    """Name one file, or the first and the last of several."""
    return files[0] if len(files) == 1 else f"{files[0]} to {files[-1]}"


def _otherwise(fallbacks: Sequence[Mapping[str, str]]) -> str:
    """List what formats hold otherwise, each column once for the formats that do the same."""
    places: dict[tuple[str, str], list[str]] = {}
    for one in fallbacks:
        places.setdefault((one["column"], one["what"]), []).append(f".{one['format']}")
    return "\n".join(
        _wrapped(f"{', '.join(formats)}: {column} {what}", bullet=True)
        for (column, what), formats in places.items()
    )


def _files(files: Sequence[str], programs: Sequence[str], others: Mapping[str, Sequence[str]]) -> str:
    """List the files with what they hold."""
    described = [
        (_span(files), "the copies"),
        *((_span(names), f"the same for {_PROGRAMS[name]}") for name, names in others.items()),
        *([("labels.sas", "program that gives the values in SAS their labels")] if "xpt" in others else []),
        ("codebook.csv", "one line a column: kind, levels, missing codes, synthetic or real, method"),
        ("codebook.html", "the same as a page for people, with labels and what the copies hold"),
        ("schema.json", "the same for programs"),
        ("privacy.json", "the privacy statement"),
        (
            "release.json",
            "copies and rows, how they were made, what a combining rule must know, checksums",
        ),
    ]
    if programs:
        described.append((", ".join(programs), "programs that read the copies, fit and combine"))
    width = max(len(name) for name, _ in described)
    return "\n".join(f"{name:<{width}}  {what}" for name, what in described)


def _is_parquet(name: str) -> bool:
    """Whether a file is Parquet, which has room for marks; CSV has none."""
    return name.endswith(".parquet")


def _how_to_read(first: str, schema: Schema, withheld: Collection[str]) -> str:
    """Show how to read the copies with and without this package."""
    load = 'pysynthdp.SyntheticRelease.load(".")'
    check = "Check    pysynthdp verify .   (the files and their sums; only a signature tells who made them)"
    if _is_parquet(first):
        return (
            f'Python   {load}   or   pandas.read_parquet("{first}")\n'
            f'R        arrow::read_parquet("{first}")\n{check}'
        )
    note = "(types and categories are in schema.json, and only the first line restores them; the others\n"
    note += "read no text as a number or as missing"
    note += ", but for the empty text, which they take for missing)" if has_empty_text(schema) else ")"
    name = f'"{first}"'
    return (
        f"Python   {load}\n         pandas.{pandas_call(name, schema, withheld)}\n"
        f"R        {r_call(name, schema, withheld)}\n{note}\n{check}"
    )


def _nests(nests: Sequence[str]) -> str:
    """Say where the copies come from, and how their files are numbered."""
    return (
        f"They come from {number(len(set(nests)))} first-stage files (nests), as when missing values are "
        "imputed several times: the file synthetic_I_J holds copy J of nest I."
    )


def _how_to_pool(m: int, programs: Sequence[str], no_program: str, *, nested: bool = False) -> str:
    """Show how to combine the analyses of the copies."""
    each = "the copy" if m == 1 else f"each of the {number(m)} copies in the same way"
    text = (
        f"Fit the model to {each}, then combine the results by the rule that fits this release; release.json "
        "holds what the choice depends on. The combined estimate is the mean of the copies' estimates; its "
        "variance is not the mean of their variances. Intervals are valid under the synthesis model: what "
        "each column was drawn from stands in release.json (tags, steps), and pysynthdp names the terms of a "
        "formula that no model held."
    )
    if nested:
        text += (
            " Copies of one nest are alike in what was done first, so a rule that does not know the nests "
            "gives intervals that are too short."
        )
    if programs:
        text += f" {', '.join(programs)} do that for one example; put in your own model."
        text += "" if "analyse.do" in programs else _ONLY_CSV
    if no_program:
        text += f" There is no ready-made program, since no rule is sure for every analysis: {no_program}"
    return (
        _wrapped(text) + '\n\nShell    pysynthdp pool "y ~ a + b" . --model ols\n'
        'Python   pysynthdp.ols("y ~ a + b", pysynthdp.SyntheticRelease.load("."))'
    )
