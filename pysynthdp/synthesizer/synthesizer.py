"""The main entry: settings, and one call for everything."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence  # noqa: F401 -- in types of inherited fields
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,  # noqa: F401 -- in types of inherited fields
    NoReturn,
    cast,
)

import pandas as pd

from pysynthdp.base.display import Printable, Table
from pysynthdp.base.even import Evenness  # noqa: F401 -- in types of inherited fields
from pysynthdp.base.slips import answers_slips, no_attribute, unknown_setting
from pysynthdp.base.streams import RandomSource
from pysynthdp.curator.infer import Rare  # noqa: F401 -- in types of inherited fields
from pysynthdp.curator.rows import listed
from pysynthdp.design.rows import Rows
from pysynthdp.design.survey_table import SurveyTable
from pysynthdp.io.ledger import SpendingLedger
from pysynthdp.models.base import ColumnModel  # noqa: F401 -- in types of inherited fields
from pysynthdp.plan import Protection, SynthesisPlan  # noqa: F401 -- in types of inherited fields
from pysynthdp.plan.checked import BrokenRules, refuse_unless_learning
from pysynthdp.plan.terms import Chosen  # noqa: F401 -- in types of inherited fields
from pysynthdp.privacy.guarantee import Guarantee  # noqa: F401 -- in types of inherited fields
from pysynthdp.release import SyntheticRelease
from pysynthdp.schema import Design, Schema, Units  # noqa: F401 -- in types of inherited fields
from pysynthdp.schema.declarations import Codes  # noqa: F401 -- in types of inherited fields
from pysynthdp.synthesizer.card import settings_table
from pysynthdp.synthesizer.designed import with_design
from pysynthdp.synthesizer.fitted import FittedSynthesizer
from pysynthdp.synthesizer.fitting import Asked, fit_table
from pysynthdp.synthesizer.imputing import counted, planned
from pysynthdp.synthesizer.opening import opened_table
from pysynthdp.synthesizer.planning import declared_plan, plan_of
from pysynthdp.synthesizer.populations import makes_populations, with_populations
from pysynthdp.synthesizer.settings import Settings, with_labels
from pysynthdp.synthesizer.unit_declared import declared_units
from pysynthdp.synthesizer.unit_fits import planned_units
from pysynthdp.synthesizer.unit_settings import row_by_row, untabled

__all__ = ["FittedSynthesizer", "Synthesizer", "synthesize"]

_COPIES: Final = 5
_FITTED: Final = dict.fromkeys(
    ("draw", "save"), "fit() gives a new object that has it: fitted = Synthesizer(...).fit(table)"
)


@answers_slips
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Synthesizer(Settings, Printable):
    """Settings of a synthesis; ``fit`` makes a :class:`FittedSynthesizer`.

    Parameters
    ----------
    schema : Schema, optional
        Public facts about the table; without it they are inferred, and the privacy statement says so.
    method : str, ColumnModel or mapping column -> either, optional
        Column model, synthpop's names: ``norm, lognorm, sqrtnorm, cubertnorm, normrank, normspread, poisson,
        negbin, cells, residual, logreg, polyreg, polr, sample, constant``, ``cart`` for trees, whose copies
        give no intervals, and ``serial`` for fresh running numbers. By default an ordered category is drawn
        by ``polr`` where parallel slopes fit, else by ``polyreg``: the fit decides, and the fitted plan names
        the one.
    visit_sequence : sequence of str, optional
        Order in which columns are drawn. By default by kind: categories, those of few levels first, then
        numbers; each after the columns that a formula or the matrix draws it from. Under a guarantee the
        table's own. Copies have the columns as the table has them.
    predictor_matrix : DataFrame or mapping column -> predictors, optional
        Which earlier columns a column is drawn from; all by default.
    formulas : sequence of str
        Predictors as formulas: ``"income ~ age * sex + cr(educ, 4)"``. Besides columns, products and powers
        ``I(age ** 2)`` they take curves of a number, ``log(a)``, splines ``bs(a, 5)`` and ``cr(a, 4)``
        (natural: straight at both ends), groups ``cut(a, 4)``, a bend ``hinge(a, 2)`` or a jump
        ``step(a, 2)`` at one of its quantiles; and one level, ``sex[M]``. ``"income (kind) ~ age"`` speaks of
        missing values and codes alone. ``plan.formulas`` writes those of a plan, to be edited and given
        back.
    max_predictors : int, optional
        Most predictors of a column of which neither a matrix nor a formula speaks. Where more columns stand
        before it, those are chosen that tell most of it beside one another, by the cross-products of the
        table; ``fitted.plan`` lists them. By default 20; a number of at least the table's columns keeps all.
        Under a guarantee nothing is chosen from rows: the nearest columns before it in the order of drawing
        are taken, and all by default.
    terms : {"main", "screened"}, optional
        Of columns of which no formula speaks: their predictors as they are, or besides them the products of
        two and the curves that the rows show to be needed, listed by ``fitted.plan`` and told by the tags.
        Screened by default; main under a guarantee, where nothing is learned from rows.
    missing : mapping column -> {code: label}
        Special codes that are not values.
    spikes : mapping column -> values
        Values with a mass of their own.
    bounds : mapping column -> (lower, upper)
        Declared bounds.
    decimals : mapping column -> int
        Digits after the point.
    levels : mapping column -> levels
        Declared levels.
    keep : sequence of str
        Columns to release as they really are; shown everywhere.
    drop : sequence of str
        Columns to leave out.
    proper : bool
        Draw parameters from their posterior for each copy.
    draws : {"even", "independent"}, optional
        How the rows of a copy are drawn from the fitted models. ``"independent"``: each row for itself, so
        that a copy varies as a sample does. ``"even"``: each row still has exactly its law, but the random
        numbers are spread evenly over rows that are alike, so that the counts of a copy lie near those that
        the models expect: fewer copies show as much, and fitted margins are reproduced sharply. By default
        even without a guarantee, and among copies of one fit to noised answers, which carry no interval of
        their own; else independent. Even draws tell more to whoever knows all records but one
        (``benchmarks/attacks/even.py``). Not with ``BySampling``, whose price is that of independent
        draws.
    emit_original : bool
        Let ``normrank``, ``sample`` and ``cart`` re-emit real values, as synthpop does; makes the fit
        confidential.
    joint : sequence of (columns, method)
        Columns that one model draws together. ``[(["a", "b", "c"], "catall")]`` draws the cells of the table
        of columns of levels, given all columns before the first of them (or those that a formula for it
        names): relations of any order are kept, missing values and codes are levels beside the others, and
        cells of fewer than five records are drawn by their margins. Under noise in the answers all cells of
        the declared levels are counted with noise, at the price of one column (a record is in one cell):
        which of them are empty nobody knows, and a flag says how many cells the noise hides. Tables of two
        columns are kept without it. ``BySampling`` has joint models of its own.
    rare : {"keep", "merge", "refuse"}
        What becomes of levels that fewer than five records have. Kept, they are drawn as often as they occur,
        whatever the other columns say, and a warning names the column. Merged, they go into the column's
        ``other`` level, which is made where there is none, or, where they have fewer than five records
        together, into the smallest level, or into neighbours where levels are ordered or numbers; the schema,
        the codebook and the statement say so. Refused, the fit stops. Under a guarantee declare the levels.
    derive : mapping column -> expression
        Columns that are computed from others in every copy, and drawn from no model:
        ``{"bmi": "weight / (height / 100) ** 2"}``. An expression has numbers, texts in quotes, names of
        columns (odd ones in backticks), ``+ - * / **``, comparisons, ``and``, ``or``, ``not``, ``in (1, 2)``,
        ``missing``, and the functions ``log, exp, sqrt, abs, floor, ceil, round, min, max, where, cut,
        recode, is_missing``; ``is_missing(x, ".a")`` and ``missing(".a")`` speak of one declared reason, a
        code or a kind. One that names its own column corrects what is drawn for it:
        ``{"cigarettes": "where(smokes == 'no', 0, cigarettes)"}``. Under a guarantee too, at no price.
        Without a schema or guarantee, functions that hold in every row of a table are found and computed as
        well: sums, products, ratios, powers, logarithms, groups of a number, and the table from one column
        to another that it determines, of values that five records have; the plan shows them, and the
        statement says so. ``{"bmi": None}`` has that column drawn, ``derive="no"`` every one.
    universe : mapping column -> condition, or (condition, code)
        In which rows a column is asked, as an expression of columns that are drawn before it, and what stands
        in all others: ``{"nociga": ("smoke == 'YES'", -8)}``; missing without a code. Its model is fitted to
        the rows inside alone, and every copy is exact. Where the condition is missing the column is not
        asked. Under a guarantee too, at no price.
    rules : sequence of expressions
        What holds in every row of a copy: ``["not (marital == 'MARRIED' and age < 18)"]``. A row that breaks
        one has the last of its columns drawn again, given all that was drawn before, so that the copies come
        from the models given the rules; a release says how many rows met each at once, and below 0.9 a
        warning says that margins move. A rule that is missing in a row is kept. Rules that the table itself
        breaks are counted in a warning and by :meth:`check_rules`. Not with ``BySampling``.
    must_sum : mapping column -> columns
        Totals that are exactly the sum of their parts: ``{"income": ["wage", "pension"]}``; the parts are
        drawn, and the total is computed.
    top_code : mapping column -> number
        ``{"age": 90}``: larger numbers are written as it, in the table too before models are fitted.
    round : mapping column -> number
        ``{"income": 50}``: drawn numbers are multiples of it.
    nested : mapping column -> coarser column
        Columns whose levels belong to the levels of a coarser one: ``{"town": "region"}``. Such a column is
        drawn last, within the row's level of the coarser one, by a model of that level's own records: the
        method asked for, else ``polyreg``; below 50 records by shares alone. Pairs that nobody has are never
        drawn. Where a level stands in several coarser ones, a warning says so: pairs of five records or more
        are drawn as often as they occur, and of others only a level's commonest. So is a level of few
        records drawn where it stands, within a coarser level of few records too. Not under a guarantee, which
        may not look: there declare the coarser column as a function,
        ``derive={"region": "recode(town, ...)"}``.
    strata : str or sequence of str
        Columns in whose levels all other models are fitted apart, so that every relation may differ between
        them. They are drawn first (several together, by ``catall``), or kept. A stratum is fitted by itself
        if it has 10 records and 10 more for each other column, of which 20 are counted at most; the others
        are fitted together, and if these are still too few, with the smallest that have enough. In each, what
        rests on fewer than five of its own records is left out. ``fitted.strata`` names those fitted apart.
        Nested columns are drawn within the coarser one, with strata as predictors. Not under a guarantee.
    units : Units, optional
        Rows that belong together, such as the members of a household or the waves of a person. Copies have
        whole units with new ids: sizes, shared columns and what is derived for units are exact in every
        copy, and members are drawn one after another, given their unit, the first member and the one before.
        ``derive`` then also knows ``count(age < 14)``, ``sum(pay)``, ``mean``, ``least`` and ``most``, over
        the rows of a unit. ``k`` counts units. ``design``, ``keep`` and ``strata`` then name columns that the
        rows of a unit share. See ``docs/households.md``. Under noise in the answers the unit is what is
        protected: largest size, order and shared columns must be declared then.
    design : Design, optional
        Weights, strata and clusters of a sample, and what becomes of them: ``Design(weight="pw",
        strata="region")`` keeps them real and makes them predictors of all others; see there.
    guarantee : ByNoise, BySampling, ZCDP or ApproxDP, optional
        How the table is protected, with all settings that belong to it: by noise in the answers, paid once at
        the fit, or by the draw itself. ``ZCDP(0.5)`` is short for ``ByNoise(ZCDP(0.5))``. Every column must
        then be declared. Without it nothing formal is promised.
    workers : int, optional
        Threads; never changes a result. All cores by default, at most four.
    progress : bool, optional
        Show a bar; on a terminal or in a notebook by default.
    scratch : path, optional
        Folder on a disk for the columns and parts of a table that is fitted from a file or a database, while
        it is fitted; ``TMPDIR``, or the system's for temporary files, by default. Of a data frame the parts
        lie there if it is named, else in memory. What it holds are real values, in files without a name
        (mode 600), freed with the fit or the process.
    scratch_encrypt : bool
        Encrypt what lies there with a random key that is in memory alone (AES-256 in counter mode); needs the
        package ``cryptography``.

    Notes
    -----
    Privacy: settings; reads nothing. Under noise in the answers, numbers drawn by ``norm`` may lie outside
    their declared bounds: clamping them again would bias means and regressions.

    Examples
    --------
    >>> import pandas as pd
    >>> df = pd.DataFrame({"sex": ["F", "M"] * 50, "age": range(20, 120)}).sample(frac=1, random_state=1)
    >>> fitted = Synthesizer(method={"age": "norm"}).fit(df)
    >>> release = fitted.draw(m=3, rng=1)
    >>> release.m, release[0].shape
    (3, (100, 2))
    """

    if not TYPE_CHECKING:  # a checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(self, name, _FITTED)

    @answers_slips
    def plan(
        self, data: pd.DataFrame | Sequence[pd.DataFrame] | SurveyTable | Rows | Schema | None = None
    ) -> SynthesisPlan:
        """Make the plan: from a schema without reading a record, or from a table by inferring its schema.

        Parameters
        ----------
        data : DataFrame, list of imputed DataFrames, SurveyTable, Rows or Schema, optional
            Without it, the synthesizer's own schema.

        Raises
        ------
        PlanError
            If a setting cannot be met; the message names the column and the mend.

        Notes
        -----
        Privacy: reads real rows only when a table is given and no schema was declared.
        """
        own = with_design(self)
        if self.units is not None and (data is None or isinstance(data, Schema)):
            if own.protection.learns:
                raise untabled()
            return declared_units(own if data is None else replace(own, schema=data))
        if isinstance(data, Schema):
            return plan_of(own, data)
        if self.units is None and (self.schema is not None or data is None):
            return declared_plan(own)
        data, labels = opened_table(self, data)
        own = with_labels(own, labels)
        if own.units is not None:
            return planned_units(own, data) if own.protection.learns else declared_units(own)
        if own.schema is not None:
            return declared_plan(own)
        return planned(own, listed(data) or cast("pd.DataFrame | Rows", data))

    @answers_slips
    def fit(
        self,
        table: pd.DataFrame | Sequence[pd.DataFrame] | SurveyTable | Rows | None = None,
        *,
        block_rows: int | None = None,
        answers: str | Path | None = None,
        noise_seed: int | None = None,
        ledger: str | os.PathLike[str] | SpendingLedger | None = None,
        source: str | None = None,
        rng: RandomSource = None,
    ) -> FittedSynthesizer:
        """Fit every column's model to a confidential table, or to each of its imputations.

        Parameters
        ----------
        table : DataFrame, SurveyTable, list of DataFrames, Rows, or path
            The confidential table; with labels as :func:`read` gives it, which then are declared and go along
            to the copies. A file is read as :func:`read` reads those of SPSS, Stata and SAS, and
            :func:`read_table` CSV and Parquet, its columns in nameless files in ``scratch`` meanwhile. Not
            needed where ``answers`` holds all noised answers. It may lie outside one frame: a Dask data
            frame, whose partitions stay with the workers of the client that is connected, or any object with
            rows as ``pysynthdp.design.rows.Rows`` says. A list of M tables is taken as M imputations of
            it (of the same people in the same order): one plan is fitted to each, ``draw`` draws m copies of
            each, and the copies are pooled by the nests that they stand in (Reiter 2004). Refused under a
            guarantee.
        block_rows : int, optional
            Rows read at a time; never changes a result.
        answers : path, optional
            File for the noised answers, written before their first use; a rerun of the same plan with it
            reads them and never the table. Without it a rerun is a second spending.
        noise_seed : int, optional
            Seed of the noise; refused but for ``ByNoise(..., testing=True)``.
        ledger, source : path, ``"env:NAME"`` or SpendingLedger, and str; optional
            The agency's ledger and whose account there pays, before noise is drawn, and for each draw where
            draws cost. A run that ended early goes on with the same ``answers`` and pays nothing more.
        rng : int, SeedSequence or Generator, optional
            Of synthetic populations (``Design(how="population")``), which are drawn at the fit; refused else.

        Returns
        -------
        FittedSynthesizer
            Parameters and an account; no record, unless ``emit_original`` asks for values of records.

        Raises
        ------
        SchemaError, PlanError, FitError
            If the table does not fit the schema, the settings do not fit the table, or a model has no fit.
        BudgetExceeded
            If the fit costs more than is left to the source; no row is read then.

        Notes
        -----
        Privacy: reads real rows; gives no formal guarantee unless every column's model carries one.

        Without a guarantee, what :func:`pysynthdp.look` finds odd is said once as ``PysynthdpWarning``, with
        ``column``, ``kind`` and ``remedy`` beside the text: no value of a record, no code that was learned,
        no count below ten. Where more than five columns share a remark, one warning names them all. Of the
        columns of a ``schema`` of one's own only what the fit itself had to change is said.
        """
        asked = Asked(block_rows, answers, noise_seed, ledger, source, rng)
        return fit_table(self, table, asked)

    @answers_slips
    def check_rules(self, table: pd.DataFrame | Rows) -> BrokenRules:
        """Count the rows of a table that break the rules and universes, before anything is fitted.

        Parameters
        ----------
        table : DataFrame, Rows or path
            The confidential table.

        Returns
        -------
        BrokenRules
            Marked INTERNAL; counts below ten stay vague. :meth:`SyntheticRelease.check_rules` counts in
            copies.

        Raises
        ------
        PrivacyError
            Under a guarantee, where nothing may be counted beside what was paid for.

        Notes
        -----
        Privacy: reads real rows; the counts are for whoever holds them.
        """
        refuse_unless_learning(self.protection.learns)
        found, labels = opened_table(self, table)
        own = with_labels(with_design(self), labels)
        return counted(own if own.units is None else row_by_row(own, found), found)

    @answers_slips
    def rehearse(self, table: pd.DataFrame, m: int = 20, rng: RandomSource = None) -> SyntheticRelease:
        """Run the whole synthesis on a public or synthetic table, to see what a budget would give.

        Parameters
        ----------
        table : DataFrame
            A table that is not confidential, with the declared columns.
        m : int
            Number of copies.
        rng : int, SeedSequence or Generator, optional
            Of the drawing.

        Returns
        -------
        SyntheticRelease
            Marked void: nothing is protected.

        Raises
        ------
        PrivacyError
            Without a guarantee by noise in the answers.

        Notes
        -----
        Privacy: none; never give it the confidential table.
        """
        twin = replace(self, guarantee=self.protection.rehearsal())
        return twin.fit(table, noise_seed=0).draw(m=m, rng=rng)

    def to_table(self) -> Table:
        """Build a card of what was set; it holds nothing of any table."""
        return settings_table(self)


@answers_slips
def synthesize(
    table: pd.DataFrame | Sequence[pd.DataFrame] | SurveyTable | Rows,
    m: int | None = None,
    rng: RandomSource = None,
    *,
    answers: str | Path | None = None,
    ledger: str | os.PathLike[str] | SpendingLedger | None = None,
    source: str | None = None,
    **settings: Any,
) -> SyntheticRelease:
    """Fit and draw in one call.

    Parameters
    ----------
    table : DataFrame, SurveyTable, list of DataFrames, Rows, or path
        The confidential table, or M imputations of it, as :meth:`Synthesizer.fit` takes it.
    m : int, optional
        Number of copies, 5 by default; of each imputation, if there are several. Of synthetic populations as
        many are made.
    rng : int, SeedSequence or Generator, optional
        None takes fresh entropy from the operating system.
    answers, ledger, source : optional
        As :meth:`Synthesizer.fit` takes them.
    **settings
        Of :class:`Synthesizer`.

    Returns
    -------
    SyntheticRelease
        The copies.

    Notes
    -----
    Privacy: reads real rows; see :meth:`Synthesizer.fit`.

    Examples
    --------
    >>> import pandas as pd
    >>> df = pd.DataFrame({"sex": ["F", "M"] * 50, "age": [20.5, 31, 47, 62] * 25})
    >>> synthesize(df, m=2, rng=1).m
    2
    """
    known = [item.name for item in fields(Synthesizer) if item.init]
    for name in settings:
        if name not in known:
            own = ["m", "rng", "answers", "ledger", "source"]
            raise unknown_setting(name, [*own, *known], "synthesize")
    synthesizer = Synthesizer(**settings)
    synthesizer.protection.copies(m)  # refused before anything is spent at the fit
    m = _COPIES if m is None and not makes_populations(synthesizer.design) else m
    synthesizer, fitting = with_populations(synthesizer, m, rng)
    fitted = synthesizer.fit(table, answers=answers, ledger=ledger, source=source, rng=fitting)
    return fitted.draw(m=m, rng=rng)
