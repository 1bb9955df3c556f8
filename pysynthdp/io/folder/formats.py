"""Which files a release folder has of each copy: one that is read back, and those of other programs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from pysynthdp.base.errors import ReleaseError
from pysynthdp.base.marks import WATERMARK
from pysynthdp.base.words import Facts, Setting, Words, meant

__all__ = ["Format", "MainFormat", "Wishes", "wishes"]

MainFormat: TypeAlias = Literal["parquet", "csv"]
Format: TypeAlias = Literal["parquet", "csv", "sav", "dta", "xpt"]
_MAIN: Final = get_args(MainFormat)


@dataclass(frozen=True, slots=True)
class Wishes:
    """The files that are wanted of each copy.

    Parameters
    ----------
    formats : tuple of str
        All of them; one at least is Parquet or CSV, from which copies are read back.
    watermark : bool
        Whether every file says by its last column that it is synthetic.
    """

    formats: tuple[Format, ...] = ("parquet",)
    watermark: bool = True

    @property
    def main(self) -> MainFormat:
        """The format that copies are read back from: Parquet or CSV, the first of them that is named."""
        named = [one for one in self.formats if one in _MAIN]
        return "csv" if named[0] == "csv" else "parquet"

    @property
    def others(self) -> tuple[Format, ...]:
        """The formats for other programs."""
        return tuple(one for one in self.formats if one != self.main)

    def check_names(self, names: Iterable[str]) -> None:
        """Refuse to mark copies that have a column of that name already.

        Raises
        ------
        ReleaseError
            Naming the column.
        """
        if self.watermark and WATERMARK in set(names):
            what = Words("the copies have a column {name}, which in files says: synthetic", name=WATERMARK)
            mend = Words("leave it out with {drop}", drop=Setting("drop", [WATERMARK]))
            raise ReleaseError(what, column=WATERMARK, kind="names", remedy=mend)


def wishes(format: str, formats: str | Iterable[str] | None, watermark: bool) -> Wishes:  # noqa: A002
    """Take what somebody wants; Parquet is added where nothing else could be read back.

    Raises
    ------
    ReleaseError
        If a format is not known.

    Examples
    --------
    >>> wishes("parquet", ["sav", "dta"], True).formats
    ('parquet', 'sav', 'dta')
    """
    given = (format,) if formats is None else (formats,) if isinstance(formats, str) else tuple(formats)
    known = get_args(Format)
    for one in given:
        if one not in known:
            what = Words("{what} must be one of {known}", what="format", known=", ".join(known))
            mend = meant(str(one), known, Words("write {it}", it=Facts(formats=["parquet", "sav"])))
            raise ReleaseError(what, kind="folder", remedy=mend)
    distinct = tuple(dict.fromkeys(given))
    whole = distinct if set(distinct) & set(_MAIN) else ("parquet", *distinct)
    return Wishes(whole, watermark)  # type: ignore[arg-type]  # each is known
