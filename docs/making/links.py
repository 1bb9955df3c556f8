"""Links between pages: they work where the repository is shown, and are written anew for the site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from making.pages import Page, outside_code

__all__ = ["Links"]

FOLDERS = {"vignettes": "vignettes.md", "vignettes/04-for-R-users": "vignettes/04-from-R.md"}
_LINK = re.compile(r"(?P<label>\[(?:[^\[\]]|\[[^\]]*\])*\])\((?P<target>[^()\s]+)\)|(?P<code>`[\w./-]+`)")


class Links:
    """Writes the links of one page for the site.

    A link to a file of the project that is no page keeps its words only; a page that is named as code, such
    as ``docs/formulas.md``, becomes a link by its title.

    Parameters
    ----------
    pages : mapping
        All pages, by their files in the project.
    page : Page
        The one whose links are written.
    """

    def __init__(self, pages: Mapping[str, Page], page: Page) -> None:
        self.pages = pages
        self.page = page
        self.folder = PurePosixPath(page.origin).parent

    def written(self, text: str) -> str:
        """Write all links of a text, but those in blocks of code."""
        return outside_code(text, lambda part: _LINK.sub(self._one, part))

    def _one(self, found: re.Match[str]) -> str:
        """Write one link, or what is named as code."""
        if found["code"]:
            return self._named(found["code"])
        target, mark, anchor = found["target"].partition("#")
        if not target or ":" in target:
            return found[0]
        way = self._way(joined(self.folder, target))
        return f"{found['label']}({way}{mark}{anchor})" if way else found["label"][1:-1]

    def _named(self, code: str) -> str:
        """Link a page that is named as code, from the top of the project or from this page."""
        plain = code.strip("`")
        paths = [plain, *([joined(self.folder, plain)] if plain.endswith(".md") else [])]
        page = next((found for path in paths if (found := self._page(path))), None)
        if page is None or page is self.page:
            return code
        return f"[{page.title.partition(':')[0]}]({self._way(page.origin)})"

    def _page(self, path: str) -> Page | None:
        """Find the page of a file, which may be named without its ending."""
        endings = ("", ".md", ".ipynb") if "/" in path else ("",)
        return next((self.pages[f"{path}{end}"] for end in endings if f"{path}{end}" in self.pages), None)

    def _way(self, path: str) -> str | None:
        """Write the way from this page to another; None where no page is."""
        page = self._page(path)
        file = page.file if page else FOLDERS.get(path.rstrip("/"))
        return "../" * self.page.name.count("/") + file if file else None


def joined(folder: PurePosixPath, target: str) -> str:
    """Follow a relative link."""
    parts: list[str] = []
    for part in (folder / target).parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts)
