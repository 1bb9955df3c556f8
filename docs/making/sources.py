"""Every page as Sphinx is to read it: with its links, what the program knows, and a place in a menu."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from making.links import Links
from making.pages import SECTIONS, Page, one_title, ordered, pages_of
from making.parts import PARTS, filled
from making.reference import index, menu, stubs

__all__ = ["sources"]


def sources() -> Iterator[tuple[str, str]]:
    """Give the name and the text of every file."""
    pages = pages_of()
    yield from ((page.file, _written(page, pages)) for page in pages.values())
    for section, title in SECTIONS.items():
        yield f"{section}.md", _section(title, ordered(section, pages.values()))
    yield from ((f"api/{name}.rst", text) for name, text in stubs())


def _written(page: Page, pages: Mapping[str, Page]) -> str:
    """Write one page."""
    links = Links(pages, page)
    if page.is_notebook:
        return _notebook(page.text, links)
    made = PARTS | {"reference": index, "menu": lambda _: menu(SECTIONS)}
    return one_title(links.written(filled(page.text, made)))


def _notebook(text: str, links: Links) -> str:
    """Write the links of a notebook; what it shows stays as it is stored."""
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = links.written("".join(cell["source"]))
    return json.dumps(notebook)


def _section(title: str, pages: Sequence[Page]) -> str:
    """Write the page of a section: its pages, with a line on each."""
    lines = "\n".join(f"- [{page.title}]({page.file})  \n  {page.line}" for page in pages)
    return f"# {title}\n\n{lines}\n\n{menu(page.name for page in pages)}\n"
