"""What a user asks of a plan's steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pysynthdp.base.even import Evenness
from pysynthdp.design.parts import Part
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan.factors import Terms
from pysynthdp.plan.step import Method

__all__ = ["Wishes"]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a user asks of the steps, as far as it is known before a record is read.

    Parameters
    ----------
    order : tuple of str
        Columns to draw, in visit order.
    methods : mapping column -> method
        Asked for by name of the column.
    everywhere : method, optional
        Asked for all columns.
    terms : mapping column -> terms
        Of each column in ``order``.
    kind_terms : mapping column -> terms
        Of the kind alone, where a formula says so: whether and how a value is absent.
    groups : mapping columns -> model
        Columns drawn together.
    keep : tuple of str
        Columns released as they really are.
    proper : bool
        Draw parameters from their posterior for each copy.
    draws : {"even", "independent"} or None
        How rows are drawn; None leaves it to the protection.
    emit_original : bool
        Re-emit real values.
    nested : mapping column -> coarser column
        Drawn within the levels of the coarser one.
    strata : tuple of str
        Columns in whose levels models are fitted apart.
    spreads : bool
        Whether default models of numbers keep how residuals spread, on which variances under a design rest.

    Notes
    -----
    Privacy: settings only.
    """

    order: tuple[str, ...]
    methods: Mapping[str, Method]
    everywhere: Method | None
    terms: Mapping[str, Terms]
    groups: Mapping[tuple[str, ...], ColumnModel] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    proper: bool = False
    draws: Evenness | None = None
    emit_original: bool = False
    kind_terms: Mapping[str, Terms] = field(default_factory=dict)
    nested: Mapping[str, str] = field(default_factory=dict)
    strata: tuple[str, ...] = ()
    spreads: bool = False

    def terms_of(self, part: Part) -> Terms:
        """Terms of a part: its own, or those of its column."""
        kind = part.role == "kind" and part.column in self.kind_terms
        return self.kind_terms[part.column] if kind else self.terms[part.column]
