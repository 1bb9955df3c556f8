"""The codebook as a page for people: what each column is, what codes mean, what the copies hold of them."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pysynthdp.base.display import Cell, Table
from pysynthdp.base.marks import DERIVED, KEPT_REAL, SERIAL, WATERMARK, WATERMARK_LABEL
from pysynthdp.io.folder.counting import MOST_ROWS, Counted
from pysynthdp.models.base import COLUMN_MODELS
from pysynthdp.schema import CategoricalColumn, Column, Schema
from pysynthdp.schema.labels import Labels

__all__ = ["codebook_page", "method_in_words"]

_MOST: Final = 100  # levels that are listed
_WORDS: Final = {
    DERIVED: "computed from other columns of the copy",
    KEPT_REAL: "not drawn: the real values, record by record",
    SERIAL: "fresh running numbers",
}
_STYLE: Final = (
    "body{font-family:sans-serif;margin:2em;max-width:70em}table{border-collapse:collapse;margin:.6em 0}"
    "td,th{padding:.15em .8em;border-bottom:1px solid #ddd}h2{margin-top:2em}"
)


def codebook_page(
    schema: Schema,
    counts: Mapping[str, Counted],
    *,
    title: str,
    privacy: str,
    methods: Mapping[str, str],
    real: Collection[str] = (),
    notes: Mapping[str, str] | None = None,
    watermark: bool = True,
) -> str:
    """Write the page: one HTML file without scripts, pictures or links to elsewhere.

    Parameters
    ----------
    schema : Schema
        Of the copies.
    counts : mapping of str to Counted
        What the copies hold.
    title : str
        Of the page.
    privacy : str
        The statement in plain language.
    methods : mapping column -> method
        How each was made.
    real : collection of str
        Columns that are released as they really are.
    notes : mapping column -> sentence, optional
        What a reader should know besides.
    watermark : bool
        Whether files have a last column that says synthetic.

    Notes
    -----
    Privacy: declared facts, and frequencies of the copies; none of the confidential table.
    """
    said = notes or {}
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        f"<p>{html.escape(privacy)}</p>",
        _overview(schema, methods, real),
    ]
    for column in schema:
        facts = _facts(column, methods.get(column.name, ""), column.name in real, said.get(column.name, ""))
        parts.append(_section(column, facts, counts.get(column.name)))
    if watermark:
        parts.append(f'<h2 id="{WATERMARK}">{WATERMARK}</h2><p>{WATERMARK_LABEL}</p>')
    rows = max((each.rows for each in counts.values()), default=0)
    most = f" (of the first {MOST_ROWS:,} rows)" if rows >= MOST_ROWS else ""
    foot = (
        f"Percentages and numbers are those of the synthetic copies, all together{most}, and of nothing else."
    )
    body = "\n".join([*parts, f"<p>{foot}</p>"])
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _labels(column: Column) -> Labels:
    """Give what is said of a column."""
    return column.labels or Labels()


def _overview(schema: Schema, methods: Mapping[str, str], real: Collection[str]) -> str:
    """List all columns."""
    rows = tuple(
        (column.name, _labels(column).label, _kind(column), "REAL" if column.name in real else "synthetic",
         methods.get(column.name, ""))
        for column in schema
    )  # fmt: skip
    return Table(f"{len(schema)} columns", ("column", "label", "kind", "released", "method"), rows).to_html()


def _kind(column: Column) -> str:
    """Name the kind of a column."""
    if isinstance(column, CategoricalColumn):
        return "ordered levels" if column.ordered else "levels"
    return "numbers" if column.unit == "number" else "dates or times"


def _facts(column: Column, method: str, real: bool, note: str) -> tuple[tuple[str, Cell], ...]:
    """Say what is known of a column, as facts."""
    universe = getattr(column, "universe", None)
    bounds = [getattr(column, name, None) for name in ("lower", "upper")]
    pairs: list[tuple[str, Cell]] = [
        ("kind", _kind(column)),
        ("universe", "" if universe is None else f"{universe.where}, else {_outside(column, universe)}"),
        ("released", "REAL: the confidential table's own values" if real else "synthetic"),
        ("method", f"{method}: {method_in_words(method)}" if method and method_in_words(method) else method),
        ("lowest declared", bounds[0]),
        ("highest declared", bounds[1]),
        ("note", note),
    ]
    return tuple((name, fact) for name, fact in pairs if fact not in ("", None))


def _outside(column: Column, universe: Any) -> str:
    """Say what stands in rows that were not asked."""
    if universe.outside is None:
        return "missing"
    labels: dict[Any, str] = dict(column.missing)
    return labels.get(universe.outside, str(universe.outside))


def method_in_words(method: str) -> str:
    """Say what a method does."""
    if method in _WORDS:
        return _WORDS[method]
    if method not in COLUMN_MODELS:
        return ""
    doc = COLUMN_MODELS[method].__doc__ or ""
    line = doc.partition("\n")[0].partition(";")[0].rstrip(".")
    return line[:1].lower() + line[1:]


def _section(column: Column, facts: tuple[tuple[str, Cell], ...], counts: Counted | None) -> str:
    """Write the part of one column."""
    label = _labels(column).label
    head = html.escape(column.name + (f": {label}" if label else ""))
    table = Table(
        "", ("code", "meaning", "% of copies"), tuple(_rows(column, counts)), facts + _numbers(counts)
    )
    inner = table.to_html().replace("<p><strong></strong></p>", "")
    return f'<h2 id="{html.escape(column.name, quote=True)}">{head}</h2>\n{inner}'


def _numbers(counts: Counted | None) -> tuple[tuple[str, Cell], ...]:
    """Say what numbers the copies hold."""
    if counts is None or not counts.present:
        return ()
    if counts.timed:
        return (("from", _date(counts.low)), ("to", _date(counts.high)))
    return (
        ("mean in the copies", counts.mean),
        ("standard deviation", counts.deviation),
        ("smallest", counts.low),
        ("largest", counts.high),
    )


def _date(seconds: float) -> str:
    """Write a day."""
    return f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds):%Y-%m-%d}"


def _rows(column: Column, counts: Counted | None) -> Iterator[tuple[Cell, ...]]:
    """Give code, meaning and share of values and missing kinds."""
    held = counts or Counted()
    codes, said = _labels(column).code_of(), dict(_labels(column).codes)
    if isinstance(column, CategoricalColumn):
        levels = [level for level in column.levels if counts is not None]
        for level in levels[:_MOST]:
            pair = (level, said[level]) if level in said else (codes.get(str(level)), str(level))
            yield _code(pair[0]), pair[1], held.share(held.levels[level])
        if len(levels) > _MOST:
            rest = sum(held.levels[level] for level in levels[_MOST:])
            yield "", f"{len(levels) - _MOST:,} more levels", held.share(rest)
    else:
        yield from ((_code(code), label, None) for code, label in _labels(column).codes)
    own = {kind.label: kind.own for kind in _labels(column).kinds}
    for code, label in column.missing:
        name = label if label in held.kinds else str(code)
        yield (
            _code(own.get(label, code)),
            f"{label} (missing)",
            held.share(held.kinds[name]) if counts else None,
        )
    if held.absent:
        yield "", "(missing)", held.share(held.absent)


def _code(code: Any) -> str:
    """Write a code."""
    if code is None:
        return ""
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)
