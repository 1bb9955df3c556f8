"""A release whose copies stay in their files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pysynthdp.base.display import Printable, Table
from pysynthdp.io.folder.stored_copy import StoredCopy
from pysynthdp.io.sql.writing import SQLTarget, write_copies
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.schema import Schema
from pysynthdp.tags import ReleaseTags
from pysynthdp.tags.provenance import Provenance

__all__ = ["StoredRelease"]


@dataclass(frozen=True, slots=True, repr=False)
class StoredRelease(Printable):
    """What a release folder says of itself, and its copies, which are read where they are looked at.

    Made by :meth:`SyntheticRelease.open`, for copies larger than memory.

    Parameters
    ----------
    copies : tuple of StoredCopy
        ``copy.blocks(columns)`` reads some columns a block at a time, ``copy.read(columns)`` as a whole.
    schema, privacy, provenance, tags
        As of :class:`SyntheticRelease`.

    Notes
    -----
    Privacy: as the release.
    """

    copies: tuple[StoredCopy, ...]
    schema: Schema
    privacy: PrivacyStatement
    provenance: Provenance
    tags: ReleaseTags

    def __getitem__(self, index: int) -> StoredCopy:
        return self.copies[index]

    def __len__(self) -> int:
        return len(self.copies)

    def __iter__(self) -> Iterator[StoredCopy]:
        return iter(self.copies)

    @property
    def m(self) -> int:
        """Number of copies."""
        return len(self.copies)

    @property
    def n_syn(self) -> int:
        """Rows of one copy."""
        return self.tags.n_syn

    @property
    def n_org(self) -> int | None:
        """Rows of the confidential table; None when not published."""
        return self.tags.n_org

    @property
    def nests(self) -> tuple[str, ...] | None:
        """For each copy, the imputed table that it comes from; None unless several were fitted."""
        return self.tags.nests

    def check_unchanged(self) -> None:
        """Refuse copies whose files were changed since the folder was opened.

        Raises
        ------
        ReleaseError
            Naming the file.

        Notes
        -----
        Privacy: looks at sizes and times of public files.
        """
        for copy in self.copies:
            copy.check_unchanged()

    def to_sql(self, table: str, *, url_env: str, schema: str | None = None) -> None:
        """Put the copies into one table of a database, numbered, and what is said of them into a second.

        Parameters
        ----------
        table : str
            Name of a table that is not there yet: ``copy_number`` from 1 to m, then the columns. In
            ``<table>_release`` stand the statement, the tags, the codebook and the other files that tell of
            the copies, as texts: without them copies are no release.
        url_env : str
            Name of the environment variable that holds the URL of the database, which is shown nowhere.
        schema : str, optional
            Schema of both tables in the database.

        Raises
        ------
        ReleaseError
            If a table exists, a file was changed, or a column is of a type that a database does not have.
        PlanError
            If there is no such database, or a package is missing.
        SchemaError
            If the database is lost; neither table is there then, and the folder still is.

        Notes
        -----
        Privacy: post-processing of a release. Blocks are appended in one transaction: in PostgreSQL by COPY,
        elsewhere by SQLAlchemy.
        """
        self.check_unchanged()
        write_copies(self.copies, SQLTarget(table, url_env, schema))

    def to_table(self) -> Table:
        """Build a card."""
        facts = (
            ("copies, in their files", self.m),
            ("rows in each", self.n_syn),
            ("columns", len(self.schema)),
            ("formal privacy guarantee", self.privacy.status),
        )
        return Table("Synthetic release, on disk", facts=facts, notes=(self.privacy.reason,))
