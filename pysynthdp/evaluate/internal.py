"""Results that must stay with the agency: they say INTERNAL wherever they go, and never into a release."""

from __future__ import annotations

import html
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pandas as pd

from pysynthdp.base.display import Printable
from pysynthdp.base.errors import FitError

__all__ = ["INTERNAL", "Internal", "internal_frame", "internal_html", "internal_path"]

INTERNAL: Final = "INTERNAL"
_RELEASE: Final = "release.json"  # lies in every release folder


def internal_path(folder: str | Path, name: str, suffix: str) -> Path:
    """Give the file in which an evaluation is kept: ``INTERNAL_<name><suffix>`` in a folder of the agency.

    Parameters
    ----------
    folder : path
        An existing folder, neither that of a release nor one inside it.
    name : str
        Middle of the file's name.
    suffix : str
        Its end, with the dot.

    Returns
    -------
    Path
        The file; it is not written.

    Raises
    ------
    FitError
        When the folder is not there, or its files go out with a release.

    Notes
    -----
    Privacy: reads no table.
    """
    home = Path(folder)
    if not home.is_dir():
        raise FitError(f"{home} is no folder; make it first, or choose another", kind="setting")
    inside = next((each for each in (home, *home.resolve().parents) if (each / _RELEASE).exists()), None)
    if inside is not None:
        where = f"{home} is a release" if inside == home else f"{home} lies in the release {inside}"
        raise FitError(f"{where}, and the comparison is INTERNAL; choose another folder", kind="setting")
    return home / f"{INTERNAL}_{name.removeprefix(f'{INTERNAL}_')}{suffix}"


def internal_html(body: str, title: str) -> str:
    """Put a piece of HTML into a page of its own whose head says INTERNAL."""
    head = (
        f'<meta charset="utf-8"><meta name="classification" content="{INTERNAL}">'
        f"<title>{INTERNAL}: {html.escape(title)}</title>"
    )
    return f"<!DOCTYPE html>\n<html><head>{head}</head><body>{body}</body></html>\n"


def internal_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Mark a table of an evaluation: its ``attrs`` say INTERNAL, which pandas hands on."""
    frame.attrs["classification"] = INTERNAL
    return frame


class Internal(Printable):
    """A result that shows real numbers: it prints as INTERNAL and is saved under that name only.

    Its title in ``to_table()`` begins with INTERNAL, so text, HTML and ``repr`` do.
    """

    __slots__ = ()

    @abstractmethod
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """All its tables by name, each marked by :func:`internal_frame`."""

    def save(self, folder: str | Path, *, name: str = "evaluation") -> Path:
        """Write what is printed as ``INTERNAL_<name>.html``, and each table as a CSV file beside it.

        Parameters
        ----------
        folder : path
            An existing folder of the agency's own; never that of a release, nor one inside it.
        name : str
            Middle of the files' names.

        Returns
        -------
        Path
            The page.

        Raises
        ------
        FitError
            When the folder is a release or lies in one, since its files go out.

        Notes
        -----
        Privacy: writes numbers of the confidential table.
        """
        page = internal_path(folder, name, ".html")
        for title, frame in self.tables().items():
            frame.to_csv(internal_path(folder, f"{name}_{title}", ".csv"), lineterminator="\n")
        table = self.to_table()
        page.write_text(internal_html(table.to_html(), table.title), encoding="utf-8")
        return page
