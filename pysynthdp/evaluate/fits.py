"""Hold a pooled result against the confidential fit: for the agency only, never part of a release."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from pysynthdp.analysis.declared_codes import count_codes
from pysynthdp.analysis.estimates import Estimates, estimates_of
from pysynthdp.analysis.forest import axes_for, set_terms
from pysynthdp.analysis.results import PooledResults
from pysynthdp.analysis.term_names import readable
from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.display import Cell, Printable, PValue, Table
from pysynthdp.base.errors import CombiningRuleError, FitError
from pysynthdp.base.slips import answers_slips
from pysynthdp.evaluate.internal import internal_html, internal_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Comparison", "LackOfFit", "compare_fits"]

_LEGEND = 0.7  # lines above the first term, so that no interval lies under it
Target = Literal["population", "original", "original_population"]


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Comparison(Printable):
    """Pooled against confidential, term by term: INTERNAL, since it shows the confidential estimates.

    Parameters
    ----------
    terms : tuple of str
        Terms that both have.
    pooled, confidential : array (p,)
        Estimates.
    pooled_limits, confidential_limits : array (p, 2)
        Intervals.
    std_diff : array (p,)
        Difference over the confidential standard error.
    overlap : array (p,)
        Mean share of each interval that lies in the other; negative when they are apart.
    se_ratio : array (p,)
        Pooled standard error over the confidential one.
    lack_of_fit : LackOfFit
        The joint test.
    target, model : str
        What the pooled intervals are meant for, and the kind of model.
    notes : tuple of str
        Terms left out, and what the pooled result is flagged for.
    """

    terms: tuple[str, ...]
    pooled: FloatArray
    confidential: FloatArray
    pooled_limits: FloatArray
    confidential_limits: FloatArray
    std_diff: FloatArray
    overlap: FloatArray
    se_ratio: FloatArray
    lack_of_fit: LackOfFit
    target: str
    model: str
    notes: tuple[str, ...] = ()

    @property
    def mean_overlap(self) -> float:
        """Mean overlap, negative ones as they are."""
        return float(np.nanmean(self.overlap))

    @property
    def mean_overlap_nonnegative(self) -> float:
        """Mean overlap with negative ones counted as zero."""
        return float(np.nanmean(np.maximum(self.overlap, 0)))

    @property
    def mean_abs_std_diff(self) -> float:
        """Mean absolute standardised difference."""
        return float(np.nanmean(np.abs(self.std_diff)))

    def to_frame(self) -> pd.DataFrame:
        """One row a term."""
        return pd.DataFrame(
            {
                "pooled": self.pooled,
                "confidential": self.confidential,
                "std.diff": self.std_diff,
                "overlap": self.overlap,
                "overlap.nonnegative": np.maximum(self.overlap, 0),
                "se.ratio": self.se_ratio,
            },
            index=pd.Index(self.terms, name="term"),
        )

    def to_table(self) -> Table:
        """Build the table that is printed; its title says INTERNAL, and no number stands in it twice."""
        data, apart = self.to_frame(), bool(np.any(self.overlap < 0))
        data = data if apart else data.drop(columns="overlap.nonnegative")
        numbers = data.to_numpy(dtype=np.float64).tolist()
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (readable(term), *row) for term, row in zip(self.terms, numbers, strict=True)
        )
        test = self.lack_of_fit
        facts: tuple[tuple[str, Cell], ...] = (
            ("intervals for", self.target),
            ("mean overlap", self.mean_overlap),
            *((("mean overlap, negative as 0", self.mean_overlap_nonnegative),) if apart else ()),
            ("mean |std. difference|", self.mean_abs_std_diff),
            ("lack of fit, statistic", test.stat),
            ("lack of fit, p", PValue(test.pvalue)),
            ("lack of fit, variance", test.reason),
        )
        title = f"INTERNAL: pooled against confidential {self.model}"
        return Table(title, ("term", *data.columns), rows, facts, self.notes)

    def save(self, folder: str | Path, *, name: str = "fits") -> Path:
        """Write the comparison as ``INTERNAL_<name>.html`` into a folder of the agency's own.

        Parameters
        ----------
        folder : path
            An existing folder; never that of a release.
        name : str
            Middle of the file's name.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        FitError
            When the folder is a release or lies in one, since its files go out.
        """
        path, table = internal_path(folder, name, ".html"), self.to_table()
        path.write_text(internal_html(table.to_html(), table.title), encoding="utf-8")
        return path

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw both intervals of every term but the intercept; needs matplotlib."""
        keep = [i for i, name in enumerate(self.terms) if name not in {"Intercept", "const"}]
        ax = ax or axes_for(len(keep), legend=_LEGEND)
        place = np.arange(len(keep))[::-1]
        for label, shift, values, limits, look in (
            ("confidential", 0.14, self.confidential, self.confidential_limits, ("0.1", "-", "o")),
            ("pooled", -0.14, self.pooled, self.pooled_limits, ("0.5", "--", "s")),
        ):
            colour, line, marker = look
            ax.hlines(place + shift, limits[keep, 0], limits[keep, 1], color=colour, linestyle=line)
            ax.plot(values[keep], place + shift, marker, color=colour, label=label)
        ax.axvline(0, color="0.7", linewidth=0.8, zorder=0)
        set_terms(ax, place, [self.terms[i] for i in keep], legend=_LEGEND)
        ax.set_title("INTERNAL: pooled against confidential", fontsize=10)
        ax.legend(loc="upper center", ncols=2, frameon=False, fontsize=8)
        return ax


@answers_slips
def compare_fits(
    pooled: PooledResults, confidential_fit: Any, *, target: Target = "population", alpha: float = 0.05
) -> Comparison:
    """Compare a pooled result with the same model fitted to the confidential table.

    Parameters
    ----------
    pooled : PooledResults
        The pooled model.
    confidential_fit : DataFrame or fit
        The confidential table, to which the same model is then fitted with its declared codes missing too
        (for results of ``ols``, ``logit``, ``glm``, ``fit`` and the estimates under a design, ``svyglm`` and
        others); or the model fitted to the confidential rows, of any library with an adapter;
        or ``(estimates, covariance)`` such as another program gives, in the order of the pooled terms.
    target : {"population", "original", "original_population"}
        What the pooled intervals are for. ``"population"``: as the pooled result gives them.
        ``"original"``: what synthpop compares by default, pooled estimates with the confidential standard
        errors and a normal reference. ``"original_population"``: what synthpop compares under population
        inference, T_s, T_PPD or T_p with the confidential variance in place of f ubar, normal reference.
    alpha : float
        One less the level of the intervals.

    Returns
    -------
    Comparison
        Marked INTERNAL.

    Raises
    ------
    FitError
        When the two have no term in common, a table is given for a result without a model, or a column has
        another reference level in one of them.

    Notes
    -----
    Privacy: reads an estimate from real rows, so the result is confidential. With V the confidential
    covariance, D the difference and f = k/n: std. difference D/sqrt(V); overlap
    (O/w1 + O/w2)/2 with O = min(upper) - max(lower) (Karr and others 2006). The lack-of-fit test uses
    V/(f m) for complete synthesis at fitted parameters, V (1 + 1/f)/m at drawn ones, and B/m by Hotelling's
    F(p, m - p) where some values are real. synthpop uses V/(f m) for drawn parameters too, and then rejects a
    third of correct syntheses; that is not copied in any mode.

    Examples
    --------
    >>> from pysynthdp.analysis import pool
    >>> done = pool([([0.41], [0.04]), ([0.55], [0.04])], n_syn=50, n_org=50)
    >>> round(compare_fits(done, ([0.45], [0.04])).mean_abs_std_diff, 2)
    0.15
    """
    from scipy import stats  # slow to import: only where it is used

    if not hasattr(pooled, "combined"):
        what = "compare_fits needs the pooled result first"
        raise FitError(what, kind="call", remedy="write compare_fits(pooled, table)")
    confidential_fit = _fitted(pooled, confidential_fit)
    own = _named(estimates_of(confidential_fit), pooled)
    _check_contrasts(pooled, own)
    here, there = _matched(pooled, own)
    Q, V = _chosen(own, there), own.cov[np.ix_(there, there)]
    q = np.asarray(pooled.combined.qbar)[here]
    se = np.sqrt(np.diagonal(V))
    pooled_se = np.asarray(pooled.combined.se)[here]
    quantile = float(stats.norm.isf(alpha / 2))
    own_quantile = quantile if own.df is None else float(stats.t.isf(alpha / 2, own.df))
    limits = np.asarray(pooled.combined.conf_int(alpha))[here]
    if target != "population":
        own_quantile = quantile
        pooled_se = se if target == "original" else np.sqrt(_with_confidential(pooled, V, here))
        limits = np.stack([q - quantile * pooled_se, q + quantile * pooled_se], axis=1)
    own_limits = np.stack([Q - own_quantile * se, Q + own_quantile * se], axis=1)
    return Comparison(
        terms=tuple(pooled.terms[i] for i in here),
        pooled=q,
        confidential=Q,
        pooled_limits=limits,
        confidential_limits=own_limits,
        std_diff=(q - Q) / se,
        overlap=_overlap(limits, own_limits),
        se_ratio=pooled_se / se,
        lack_of_fit=_lack_of_fit(pooled, q - Q, V, here),
        target=target,
        model=pooled.model,
        notes=(
            *_left_out(pooled, own),
            *_codes_there(pooled, confidential_fit),
            *(f"{flag}." for flag in pooled.flags),
        ),
    )


def _named(own: Estimates, pooled: PooledResults) -> Estimates:
    """Take estimates without names, as many as were pooled, for those in their order."""
    bare = own.terms == ("estimate",) or all(term.startswith("estimate ") for term in own.terms)
    if not bare or len(own.terms) != len(pooled.terms):
        return own
    return replace(own, terms=pooled.terms, design_terms=pooled.terms)


def _check_contrasts(pooled: PooledResults, own: Estimates) -> None:
    """Refuse terms that are called the same and are other contrasts of levels, as where texts are sorted."""
    theirs = pooled.estimates[0].about if pooled.estimates else None
    if theirs is None or own.about is None:
        return
    known = {(one.members, one.factor): one for one in theirs.codings}
    for one in own.about.codings:
        other = known.get((one.members, one.factor))
        if other is not None and not one.same_meaning(other):
            what = f"{one.factor} has another reference level in the confidential table than in the copies"
            mend = "give the column the same levels, in one order, on both sides"
            raise FitError(what, kind="another model", remedy=mend)


def _fitted(pooled: PooledResults, confidential: Any) -> Any:
    """Fit the model of the pooled result to a confidential table; a fit is what it is."""
    if hasattr(confidential, "combined"):
        what = "compare_fits was given two pooled results"
        raise FitError(what, kind="call", remedy="write compare_fits(pooled, table), the table confidential")
    if not isinstance(confidential, pd.DataFrame):
        return confidential
    if pooled.fit_table is None:
        what = "this result holds no model to fit to a table"
        raise FitError(what, kind="call", remedy="give the model fitted to the table")
    return pooled.fit_table(confidential)


def _codes_there(pooled: PooledResults, confidential_fit: Any) -> tuple[str, ...]:
    """Say that the confidential fit computes with codes that the pooled one leaves out."""
    counts = count_codes([confidential_fit], pooled.codes)
    if not counts:
        return ()
    few = ", ".join(f"{name} {count:,}" if count > 9 else f"{name} <10" for name, count in counts.items())
    text = (
        f"The confidential fit computes with declared codes as values ({few} cells), the pooled one does "
        "not, so they are of different quantities; give the table itself, or make its codes missing."
    )
    return (text,)


def _matched(pooled: PooledResults, own: Estimates) -> tuple[IntArray, IntArray]:
    """Places of the common terms in both."""
    place = {term: i for i, term in enumerate(own.terms)}
    known = np.isfinite(np.asarray(pooled.combined.qbar))
    here = [i for i, term in enumerate(pooled.terms) if term in place and known[i]]
    if not here:
        raise FitError(
            "pooled and confidential fit have no term in common; fit the same formula to both", kind="setting"
        )
    return np.array(here), np.array([place[pooled.terms[i]] for i in here])


def _chosen(own: Estimates, there: IntArray) -> FloatArray:
    """Give the confidential estimates of the common terms."""
    return own.values[there]  # noqa: PD011 -- not a pandas object


def _left_out(pooled: PooledResults, own: Estimates) -> tuple[str, ...]:
    """Name the terms that only one of them has."""
    odd = sorted(set(pooled.terms) ^ set(own.terms))
    return (f"Left out, since only one fit has them: {', '.join(odd)}.",) if odd else ()


def _overlap(first: FloatArray, second: FloatArray) -> FloatArray:
    """Mean share of each interval (p, 2) that lies in the other."""
    common = np.minimum(first[:, 1], second[:, 1]) - np.maximum(first[:, 0], second[:, 0])
    return np.asarray((common / np.ptp(first, axis=1) + common / np.ptp(second, axis=1)) / 2)


def _with_confidential(pooled: PooledResults, V: FloatArray, here: IntArray) -> FloatArray:
    """Give T with the confidential variance in place of f ubar."""
    own, m = np.diagonal(V), pooled.m
    if pooled.facts is not None and not pooled.facts.all_synthetic and m > 1:
        return np.asarray(own + pooled.b.to_numpy()[here] / m)
    extra = 1 / pooled.combined.stack.sums().ratio
    if pooled.facts is not None and pooled.facts.parameters == "drawn":
        extra += 1
    return np.asarray(own * (1 + extra / m))


@dataclass(frozen=True, slots=True)
class LackOfFit:
    """A test that pooled and confidential coefficients differ by no more than the synthesis explains.

    Parameters
    ----------
    stat, pvalue : float
        Statistic and tail probability; NaN where the test cannot be done.
    df1, df2 : float
        Degrees of freedom; df2 is inf for a chi-square over its degrees of freedom.
    reason : str
        The variance used, or why there is no test.
    """

    stat: float
    df1: float
    df2: float
    pvalue: float
    reason: str


def _lack_of_fit(pooled: PooledResults, D: FloatArray, V: FloatArray, here: IntArray) -> LackOfFit:
    """Test the joint difference against what the synthesis explains."""
    from scipy import stats  # slow to import: only where it is used

    facts, p, m = pooled.facts, D.size, pooled.m
    if facts is None:
        return _untested("the release's tags are not known, so neither is the variance of the difference")
    if facts.noise != "none":
        return _untested("the copies carry privacy noise, which the confidential fit does not show")
    if not facts.all_synthetic or facts.nesting != "none" or facts.sampling != "none":
        return _hotelling(pooled, D, here)
    try:
        f = pooled.combined.stack.sums().ratio
    except CombiningRuleError:
        return _untested("n_org is not known")
    drawn = facts.parameters == "drawn"
    scale = (1 + 1 / f) / m if drawn else 1 / (f * m)
    stat = float(D @ np.linalg.solve(V * scale, D))
    reason = "V (1 + n/k)/m" if drawn else "V n/(k m)"
    return LackOfFit(stat, float(p), np.inf, float(stats.chi2.sf(stat, p)), f"{reason}, chi-square")


def _hotelling(pooled: PooledResults, D: FloatArray, here: IntArray) -> LackOfFit:
    """Take the variance from the spread of the copies."""
    from scipy import stats  # slow to import: only where it is used

    p, m = D.size, pooled.m
    if m <= p:
        return _untested(f"with real values in the model it needs more copies than the {p} coefficients")
    B = pooled.combined.stack.matrices().between[np.ix_(here, here)]
    if np.linalg.matrix_rank(B) < p:
        return _untested(
            "the copies do not differ in every coefficient, as when the model uses real values only"
        )
    stat = float(D @ np.linalg.solve(B / m, D)) * (m - p) / (p * (m - 1))
    return LackOfFit(stat, float(p), float(m - p), float(stats.f.sf(stat, p, m - p)), "B/m, F")


def _untested(reason: str) -> LackOfFit:
    """Say why there is no test."""
    return LackOfFit(np.nan, np.nan, np.nan, np.nan, f"no test: {reason}")
