"""The pooled analysis: statsmodels' names, the rule, and why it is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from pysynthdp.analysis import effects, joint, output
from pysynthdp.analysis.f_tests import FTest
from pysynthdp.analysis.output import Summary
from pysynthdp.analysis.pooled import Pooled
from pysynthdp.base.display import Printable, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PooledResults"]


@dataclass(frozen=True, slots=True, repr=False, kw_only=True, eq=False)
class PooledResults(Pooled, Printable):
    """One table from the fits of m copies.

    Parameters
    ----------
    combined : Combined
        Arrays by term: estimates, variances, degrees of freedom.
    terms : tuple of str
        Names of the coefficients.
    design_terms : tuple of str
        Their names within an equation, for models with several.
    model : str
        Kind of model.
    why : Why
        Two sentences: how the copies were made, and why the rule fits; may be called.
    facts : Facts or None
        What the release says of its copies; None when pooled without it.
    notes : tuple of str
        What the reader should know besides.
    flags : tuple of str
        What makes intervals doubtful where there is privacy noise; shown in the header.
    estimates : tuple of Estimates
        What each copy said.
    fits : tuple
        The fits.
    refit : callable or None
        Fits and pools another formula on the same copies.
    fit_table : callable or None
        Fits the same model to another table, its declared codes missing too.
    codes : mapping
        Columns whose declared codes were left out.

    Notes
    -----
    Privacy: post-processing of synthetic copies; holds no real row.
    ``params`` is qbar, ``bse`` the root of T; NaN where T <= 0, with the reason in ``summary()``.
    """

    refit: Callable[[str], PooledResults] | None = None

    def to_table(self) -> Table:
        """Build the table that is printed."""
        return output.table(self)

    def summary(self, *, details: bool = False, alpha: float = 0.05) -> Summary:
        """Lay the result out as statsmodels does; ``details`` adds what b contributes to T.

        Parameters
        ----------
        details : bool
            Add the variance within and between copies, and the part of T due to the synthesis.
        alpha : float
            One less the level of the intervals.

        Returns
        -------
        Summary
            Prints as text; ``as_text()``, ``as_html()``, ``as_latex()``.
        """
        return Summary(output.table(self, details=details, alpha=alpha), self.to_latex(alpha=alpha))

    def rules(self, term: str | None = None) -> pd.DataFrame:
        """Tabulate every rule: does it apply, why not, and what it gives for one term.

        Parameters
        ----------
        term : str, optional
            The term shown; the first that is not an intercept by default.

        Returns
        -------
        DataFrame
            Index rule; columns applies, reason, T, df, conf.low, conf.high; no numbers that ignore noise.
        """
        return output.rules_table(self, term)

    def to_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Columns named as R's broom names them, one row a term."""
        return output.frame(self, alpha)

    def to_latex(self, alpha: float = 0.05) -> str:
        """Write a LaTeX table (booktabs)."""
        return output.latex(self, alpha)

    def to_markdown(self, alpha: float = 0.05) -> str:
        """Write a Markdown table."""
        return output.markdown(self, alpha)

    def wald_test(self, hypothesis: Any, value: Any = 0.0) -> FTest:
        """Test several coefficients at once by the form that goes with the rule.

        Parameters
        ----------
        hypothesis : str, sequence of str, or array (k, p)
            A term of the formula such as ``"C(edu)"``, names of coefficients, a constraint such as
            ``"age = 0.1"``, or a matrix of contrasts.
        value : float or array (k,)
            What the contrasts are under the hypothesis.

        Returns
        -------
        FTest
            Statistic, both degrees of freedom, p-value, and r.

        Raises
        ------
        CombiningRuleError
            When the rule has no joint test, or it is not defined here.

        Notes
        -----
        Privacy: post-processing. Reiter (2005) for synthetic copies, with f U in place of U when copies have
        another size; Li, Raghunathan and Rubin (1991) for imputed ones.
        """
        return joint.wald(self, hypothesis, value)

    def lr_test(self, smaller: str | PooledResults | Sequence[Any]) -> FTest:
        """Test a smaller model against this one by pooled likelihood ratios.

        Parameters
        ----------
        smaller : str, PooledResults or sequence of fits
            Its formula (when this result came from ``ols``, ``logit``, ``glm`` or ``fit_copies``), the pooled
            smaller model, or its m fits.

        Returns
        -------
        FTest
            Statistic, both degrees of freedom, p-value, and r.

        Raises
        ------
        CombiningRuleError
            When the rule has no likelihood-ratio form, or the models are not nested.

        Notes
        -----
        Privacy: post-processing. Reiter (2005) for synthetic copies; Meng and Rubin (1992) for imputed ones.
        """
        return joint.likelihood_ratio(self, smaller)

    def anova(self) -> pd.DataFrame:
        """Wald tests of every term of the formula but the intercept: F, df1, df2, p.value."""
        return joint.anova(self)

    def predict(self, newdata: pd.DataFrame, alpha: float = 0.05) -> pd.DataFrame:
        """Predict the mean for new rows, with pooled standard errors and intervals.

        Parameters
        ----------
        newdata : DataFrame (rows, columns of the formula)
            Where to predict.
        alpha : float
            One less the level of the intervals.

        Returns
        -------
        DataFrame
            Columns mean, mean_se, df, mean_ci_lower, mean_ci_upper; by ``level`` for categories.
        """
        return effects.predict(self, newdata, alpha)

    def marginal_effects(self, at: str = "overall", method: str = "dydx") -> pd.DataFrame:
        """Pool the average effects of the variables; others, by statsmodels, for discrete models and GLM."""
        return effects.marginal(self, at, method)

    def plot(self, ax: Axes | None = None, alpha: float = 0.05) -> Axes:
        """Draw estimates and intervals, one line a term, intercept left out; needs matplotlib."""
        return output.forest(self, ax, alpha)
