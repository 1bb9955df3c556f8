"""A report as one HTML file: no script, no font, nothing from elsewhere; made to be printed too."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final

from pysynthdp.base.display import Table
from pysynthdp.evaluate.report.drawing import drawn_svg
from pysynthdp.evaluate.report.parts import Blank, Block, Grid, Mark, Picture, Section, shown_rows

__all__ = ["to_html"]

_STYLE: Final = """
:root{color-scheme:light}
body{font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff;
margin:0 auto;padding:1.5rem;max-width:64rem}
h1{font-size:1.7rem;line-height:1.25;margin:.2em 0}h2{font-size:1.25rem;margin:2.2em 0 .5em;
border-top:2px solid #1a1a1a;padding-top:.5em}
.mark{display:inline-block;padding:.15em .7em;border:2px solid #1a1a1a;font-weight:700;letter-spacing:.06em}
.lead{border-left:6px solid #1a1a1a;padding:.2em 1em;margin:1em 0;background:#f4f4f4}
.wide{overflow-x:auto;margin:.8em 0}
table{border-collapse:collapse;font-size:.92rem}td,th{padding:.2em .8em .2em 0;border-bottom:1px solid #ddd}
ul{padding-left:1.2em}nav ol{columns:2;column-gap:2em;padding-left:1.4em}figure{margin:1em 0}
figure svg{max-width:100%;height:auto}figcaption,.more{color:#444;font-size:.9rem}
.blank{border:1px dashed #555;padding:.5em .8em;margin:.8em 0}.blank .fill{
min-height:3.2em;white-space:pre-wrap}
a{color:#003b71}
@media (max-width:40rem){body{padding:.8rem}nav ol{columns:1}.wide table{min-width:28rem}}
@media print{body{max-width:none;padding:0;font-size:10.5pt}h2{break-after:avoid}
figure,.blank,tr{break-inside:avoid}.wide{overflow:visible}nav{display:none}.blank .fill{min-height:5em}}
@page{margin:18mm}
"""


def to_html(title: str, mark: Mark, lead: Sequence[Block], sections: Sequence[Section]) -> str:
    """Write the page.

    Parameters
    ----------
    title : str
        Of the report.
    mark : {"INTERNAL", "public"}
        Who may read it; stands on top, and as ``classification`` among the page's metadata.
    lead : sequence of blocks
        What page one says.
    sections : sequence of Section
        All else.
    """
    name = f"{mark}: {title}" if mark == "INTERNAL" else title
    head = (
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="classification" content="{mark}"><title>{html.escape(name)}</title>'
        f"<style>{_STYLE}</style>"
    )
    links = "".join(
        f'<li><a href="#s{number}">{html.escape(part.head)}</a></li>'
        for number, part in enumerate(sections, 1)
    )
    body = [
        f'<header><span class="mark">{mark}</span><h1>{html.escape(title)}</h1></header>',
        f'<main><div class="lead">{"".join(map(_block, lead))}</div>',
        f'<nav aria-label="Contents"><ol>{links}</ol></nav>',
        *(_section(number, part) for number, part in enumerate(sections, 1)),
        "</main>",
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>' + "\n".join(body) + "</body></html>\n"
    )


def _section(number: int, part: Section) -> str:
    """Write one section."""
    inside = "\n".join(map(_block, part.blocks))
    return f'<section id="s{number}"><h2>{number}. {html.escape(part.head)}</h2>\n{inside}</section>'


def _block(block: Block) -> str:
    """Write one block."""
    if isinstance(block, Table):
        return f'<div class="wide">{block.to_html()}</div>'
    if isinstance(block, Grid):
        return _grid(block)
    if isinstance(block, Picture):
        return _picture(block)
    if isinstance(block, Blank):
        return (
            f'<div class="blank"><strong>{html.escape(block.label)}</strong>'
            f'<div class="more">{html.escape(block.hint)}</div>'
            f'<div class="fill" contenteditable="true" role="textbox" '
            f'aria-label="{html.escape(block.label)}">{html.escape(block.given)}</div></div>'
        )
    return f"<p>{html.escape(block)}</p>"


def _grid(grid: Grid) -> str:
    """Write the first rows of a frame, and where the others are."""
    table, rows = shown_rows(grid)
    more = rows - len(table.rows)
    note = (
        f'<p class="more">{more:,} more rows are in the table {html.escape(grid.name)}.</p>' if more else ""
    )
    if not rows:
        note = '<p class="more">No row.</p>'
    return f'<div class="wide">{table.to_html()}</div>{note}'


def _picture(picture: Picture) -> str:
    """Write a picture into the page itself, and what it shows below."""
    drawn = drawn_svg(picture)
    if drawn is None:
        return f'<p class="more">{html.escape(picture.title)}: the picture needs matplotlib.</p>'
    title = html.escape(picture.title)
    return f'<figure role="img" aria-label="{title}">{drawn}<figcaption>{title}</figcaption></figure>'
