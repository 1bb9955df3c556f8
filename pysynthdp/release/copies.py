"""What leaves the building: m synthetic copies with what is true of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

import pandas as pd

from pysynthdp.analysis.recipe import recipe_of
from pysynthdp.base.display import Printable, Table
from pysynthdp.base.slips import answers_slips, no_attribute
from pysynthdp.io.folder import release_dir
from pysynthdp.io.folder.formats import wishes
from pysynthdp.io.folder.signature import Signer, signer_of
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.release.rules import RuleChecks, checked_rules
from pysynthdp.release.stored import StoredRelease
from pysynthdp.release.unchanged import Prints, check_prints, overwritten, prints_of
from pysynthdp.schema import Schema
from pysynthdp.tags import ReleaseTags
from pysynthdp.tags.provenance import Provenance

if TYPE_CHECKING:
    from pysynthdp.analysis.results import PooledResults

__all__ = ["SyntheticRelease", "tagged"]

_ELSEWHERE: Final = {
    "to_csv": "save(folder, format='csv') writes the copies, and release[0].to_csv(...) a single one",
    "to_parquet": "save(folder) writes the copies, and release[0].to_parquet(...) a single one",
    "statement": "the privacy statement is release.privacy",
}


def tagged(tags: ReleaseTags, schema: Schema) -> dict[str, Any]:
    """Give the parts of a release that follow from its tags: these, and constants of their combining rule."""
    return {"tags": tags, "constants": asdict(recipe_of(tags, schema.names))}


@dataclass(frozen=True, slots=True, repr=False)
class SyntheticRelease(Printable):
    """m synthetic copies, the public schema, the privacy statement and the tags that pooling reads.

    Parameters
    ----------
    copies : tuple of DataFrame
        The copies; each has the columns, order, types and category sets of the confidential table.
    schema : Schema
        Public facts about the columns.
    privacy : PrivacyStatement
        What is claimed, over all draws from the fit so far.
    provenance : Provenance
        How they came about.
    tags : ReleaseTags
        What a combining rule must know.

    Notes
    -----
    Privacy: holds synthetic rows only, but for the columns that were kept real by name.
    """

    copies: tuple[pd.DataFrame, ...]
    schema: Schema
    privacy: PrivacyStatement
    provenance: Provenance
    tags: ReleaseTags
    _drawn: Prints = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_drawn", prints_of(self.copies))

    if not TYPE_CHECKING:  # a checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(self, name, _ELSEWHERE)

    def __getitem__(self, index: int) -> pd.DataFrame:
        return self.copies[index]

    def __len__(self) -> int:
        return len(self.copies)

    def __iter__(self) -> Iterator[pd.DataFrame]:
        return iter(self.copies)

    @property
    def m(self) -> int:
        """Number of copies."""
        return len(self.copies)

    @property
    def n_syn(self) -> int:
        """Rows of one copy."""
        return len(self.copies[0])

    @property
    def n_org(self) -> int | None:
        """Rows of the confidential table; None when not published."""
        return self.tags.n_org

    @property
    def nests(self) -> tuple[str, ...] | None:
        """For each copy, the imputed table that it comes from; None unless several were fitted."""
        return self.tags.nests

    def check_rules(self) -> RuleChecks:
        """Count the rows of the copies that break a rule or a universe of the synthesis: none.

        Returns
        -------
        RuleChecks
            Beside each rule the share of rows that met it when they were first drawn; the others were drawn
            again, which moves margins.

        Notes
        -----
        Privacy: post-processing of synthetic rows.
        """
        return checked_rules(self.copies, self.schema, self.tags.details.get("rules", ()))

    def to_table(self) -> Table:
        """Build a card: what it is, what is claimed, how to pool."""
        facts: list[tuple[str, str | int | None]] = [
            ("copies", self.m),
            ("rows in each", self.n_syn),
            ("rows of the confidential table", "not published" if self.n_org is None else self.n_org),
            ("columns", len(self.schema)),
            ("formal privacy guarantee", self.privacy.status),
            ("parameters", "drawn for each copy" if self.tags.parameters == "drawn" else "fitted, one set"),
        ]
        if self.tags.draws == "even":
            facts.append(("rows", "drawn evenly: fitted margins come out sharply"))
        if self.nests is not None:
            facts.insert(1, ("nests of copies, labelled in nests", len(set(self.nests))))
        rules = self.tags.details.get("rules", ())
        if rules:
            least = min((rule["met"] for rule in rules if rule.get("met") is not None), default=1.0)
            facts.append(("rules kept", f"{len(rules)}; met at once by {100 * least:.1f} % of rows or more"))
        if self.tags.kept:
            facts.append(("columns released REAL", ", ".join(sorted(self.tags.kept))))
        return Table("Synthetic release", facts=tuple(facts), notes=(self.privacy.reason,))

    def fit(self, formula: str, model: Any, **options: Any) -> PooledResults:
        """Fit a statsmodels formula model to every copy and pool the fits by the release's own tags.

        Parameters
        ----------
        formula : str
            Model formula; factors get the same coding in every copy.
        model : callable or class
            ``smf.ols``, ``smf.poisson``, ``OrderedModel`` and so on.
        **options
            As in :func:`pysynthdp.analysis.fit_copies`: arguments of the model and of its ``fit``, and
            ``rule``, ``n_org``, ``noise_var``, ``n_jobs``.

        Returns
        -------
        PooledResults
            The pooled fits.

        Raises
        ------
        FitError
            When the model fails in a copy; the message names the copy.
        CombiningRuleError
            When no rule is valid.

        Notes
        -----
        Privacy: post-processing of synthetic copies; reads no real row and spends no budget.
        """
        from pysynthdp.analysis.wrappers import fit_copies

        return fit_copies(formula, self, model, **options)

    def apply(self, function: Callable[[pd.DataFrame], Any], **options: Any) -> PooledResults:
        """Compute any estimand with its variance in every copy, and pool by the release's own tags.

        Parameters
        ----------
        function : callable
            Takes a copy; returns ``(estimates, variances)``, ``(estimates, covariance)``, Estimates or a fit;
            ``pysynthdp.analysis`` has ``mean_of``, ``share_of``, ``quantile_of`` and ``gini_of``.
        **options
            As in :func:`pysynthdp.analysis.apply`: ``rule``, ``n_org``, ``noise_var``, ``variables``,
            ``n_jobs``.

        Returns
        -------
        PooledResults
            The pooled estimates.

        Raises
        ------
        FitError
            When the function fails in a copy; the message names the copy.
        CombiningRuleError
            When no rule is valid.

        Notes
        -----
        Privacy: post-processing of synthetic copies; reads no real row and spends no budget.
        """
        from pysynthdp.analysis.wrappers import apply

        return apply(function, self, **options)

    @answers_slips
    def save(
        self,
        folder: str | Path,
        *,
        format: str = "parquet",  # noqa: A002 -- pandas' word
        formats: str | Sequence[str] | None = None,
        watermark: bool = True,
        sign: str | Path | Signer | None = None,
    ) -> Path:
        """Write the release as a folder that can be read without this package.

        Parameters
        ----------
        folder : path
            Must not exist yet; it appears whole or not at all.
        format : {"parquet", "csv"}
            Of the copies.
        formats : sequence of {"parquet", "csv", "sav", "dta", "xpt"}, optional
            Several formats, each copy in every one. Files of SPSS, Stata and SAS have labels and missing
            kinds as far as each can hold them, and need pyreadstat (``pip install 'pysynthdp[files]'``).
            Parquet is added where neither it nor CSV is named, since copies are read back from one of them.
        watermark : bool
            Whether the last column of every file, ``_synthetic``, holds the number of the copy;
            :meth:`load` takes it off. Without it ``release.json`` says so.
        sign : path or key, optional
            Private key: a PEM file with an Ed25519 key, or an object with ``sign(data)``. Its signature over
            ``release.json``, which holds the checksums of all files, is written beside it; ``verify`` with
            the public key tells that the holder of this key signed it. Needs the package cryptography.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        ReleaseError
            If the folder exists (choose another name), the key cannot be used, a copy was changed since it
            was drawn, or a format cannot hold a column; nothing is written then.

        Notes
        -----
        Privacy: writes what the release holds; the key is not kept.
        """
        self.check_unchanged()
        signer = None if sign is None else signer_of(sign)
        wished = wishes(format, formats, watermark)
        return release_dir.write(self.parts(), Path(folder), wished=wished, sign=signer)

    def check_unchanged(self) -> None:
        """Refuse copies that were edited since they were drawn or read.

        Raises
        ------
        ReleaseError
            Naming a copy and a column: statement, tags and schema hold for the copies as they were drawn.

        Notes
        -----
        Privacy: copies are public. A real column that was put in afterwards would be written under their
        statement.
        """
        check_prints(self.copies, self._drawn)

    def overwritten(self, names: Collection[str]) -> tuple[str, ...]:
        """Name the columns, among some, whose cells are no longer those that were drawn or read.

        Parameters
        ----------
        names : collection of str
            Columns to look at.

        Returns
        -------
        tuple of str
            In the order of the copies; a column that was added is not among them.

        Notes
        -----
        Privacy: copies are public.
        """
        return overwritten(self.copies, self._drawn, names)

    def parts(self) -> dict[str, Any]:
        """Its parts by name, as ``io/folder/release_dir.py`` writes them."""
        return {
            "copies": self.copies,
            "schema": self.schema,
            "privacy": self.privacy,
            "provenance": self.provenance,
            **tagged(self.tags, self.schema),
        }

    @classmethod
    @answers_slips
    def load(cls, folder: str | Path) -> Self:
        """Read what :meth:`save` wrote.

        Raises
        ------
        ReleaseError
            If the folder is not a release, or was changed after it was written: take it anew from its source.

        Notes
        -----
        Privacy: post-processing of a release. Files are compared with the checksums of the list and with one
        another; :func:`pysynthdp.verify` also recomputes the statement's numbers and checks a signature.
        """
        return cls(**release_dir.read(Path(folder), Provenance, ReleaseTags))

    @classmethod
    @answers_slips
    def open(cls, folder: str | Path) -> StoredRelease:
        """Open what :meth:`save` or :meth:`FittedSynthesizer.draw_to` wrote; the copies stay in their files.

        Parameters
        ----------
        folder : path
            A release folder.

        Returns
        -------
        StoredRelease
            Its copies are read where they are looked at: ``for block in opened[0].blocks(["x", "y"])``.

        Raises
        ------
        ReleaseError
            As :meth:`load`.

        Notes
        -----
        Privacy: post-processing of a release; all files are compared with the checksums of the list first.

        Examples
        --------
        >>> import tempfile, pandas as pd, pysynthdp as sdp
        >>> release = sdp.synthesize(pd.DataFrame({"x": [1.5, 2.5, 4.0] * 20}), m=1, rng=1)
        >>> with tempfile.TemporaryDirectory() as home:
        ...     opened = sdp.SyntheticRelease.open(release.save(f"{home}/out"))
        ...     print([len(block) for block in opened[0].blocks(["x"], rows=40)])
        [40, 20]
        """
        return StoredRelease(**release_dir.read(Path(folder), Provenance, ReleaseTags, stay=True))
