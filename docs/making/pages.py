"""Which files of the project are pages of the site: a file that comes later is one by being there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "SECTIONS", "Page", "one_title", "ordered", "outside_code", "pages_of"]

ROOT = Path(__file__).parents[2]
FOR_WHOM = ("for-survey-statisticians", "for-r-users", "for-batch-jobs")
REFERENCE = ("reference", "command-line", "plan-keys", "column-models")
LAST = ("combining-rules", "guarantees", "formulas", "claims")
PAPERS = ("CHANGELOG", "CONTRIBUTING", "ARCHITECTURE", "SECURITY")
OF_R = {
    "vignettes/04-for-R-users/from-R.md": "vignettes/04-from-R",
    "vignettes/04-for-R-users/R-in-a-notebook.ipynb": "vignettes/04-in-a-notebook",
    "vignettes/04-for-R-users/pysynthdp.md": "vignettes/04-words",
}
SECTIONS = {
    "start": "Start here",
    "guides": "Guides",
    "vignettes": "Vignettes",
    "api": "Reference",
    "project": "Project",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the site.

    Parameters
    ----------
    origin : str
        Its file in the project.
    name : str
        Its place in the site, without an ending.
    text : str
        Markdown, or a notebook as it is stored.
    """

    origin: str
    name: str
    text: str

    @property
    def is_notebook(self) -> bool:
        """Whether the text is a notebook."""
        return self.origin.endswith(".ipynb")

    @property
    def file(self) -> str:
        """The file in which Sphinx reads it."""
        return f"{self.name}.ipynb" if self.is_notebook else f"{self.name}.md"

    @property
    def opening(self) -> str:
        """The text, of a notebook that of its first cell."""
        return "".join(json.loads(self.text)["cells"][0]["source"]) if self.is_notebook else self.text

    @property
    def title(self) -> str:
        """The first heading."""
        return next(line[2:].strip() for line in self.opening.splitlines() if line.startswith("# "))

    @property
    def line(self) -> str:
        """The first sentence below the title, without links."""
        _, _, below = outside_code(self.opening, str, code=lambda _: "").partition(f"# {self.title}")
        paragraph = " ".join(re.split(r"\n\s*\n|\n#|\n\||\n<!--", below.strip())[0].split())
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
        return re.split(r"(?<=[.!?])\s+(?=[A-Z`*])", plain)[0]

    @property
    def section(self) -> str:
        """The section in whose menu it stands."""
        if self.name in FOR_WHOM:
            return "start"
        if self.name.startswith("vignettes/"):
            return "vignettes"
        if self.name in REFERENCE:
            return "api"
        return "project" if self.name.upper() in PAPERS else "guides"


def pages_of(root: Path = ROOT) -> dict[str, Page]:
    """Find every page, by its file in the project."""
    names = {f"docs/{path.name}": path.stem for path in sorted((root / "docs").glob("*.md"))}
    notebooks = sorted((root / "vignettes").glob("*.ipynb"))
    names |= {f"vignettes/{path.name}": f"vignettes/{path.stem}" for path in notebooks}
    names |= OF_R | {f"{name}.md": name.lower() for name in PAPERS}
    return {origin: Page(origin, name, (root / origin).read_text("utf-8")) for origin, name in names.items()}


def ordered(section: str, pages: Iterable[Page]) -> list[Page]:
    """List the pages of a section as its menu shows them; those that no list names stand by their names."""
    known = [*FOR_WHOM, *REFERENCE, *PAPERS, *LAST]
    places = {name.lower(): place for place, name in enumerate(known)}
    own = [page for page in pages if page.name != "index" and page.section == section]
    return sorted(own, key=lambda page: (places.get(page.name, -1), page.name))


def one_title(text: str) -> str:
    """Leave one heading of the first order: the others, and what stands below them, go down by one."""
    seen = 0

    def lower(part: str) -> str:
        nonlocal seen
        lines = part.split("\n")
        for row, line in enumerate(lines):
            seen += line.startswith("# ")
            lines[row] = f"#{line}" if line.startswith("#") and seen > 1 else line
        return "\n".join(lines)

    return outside_code(text, lower)


def outside_code(text: str, change: Callable[[str], str], *, code: Callable[[str], str] = str) -> str:
    """Change what stands between the fenced blocks of code, and these by a rule of their own."""
    parts = re.split(r"(^(?:```|~~~).*?^(?:```|~~~)[ ]*$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(code(part) if at % 2 else change(part) for at, part in enumerate(parts))
