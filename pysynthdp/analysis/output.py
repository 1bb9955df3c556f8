"""How a pooled result is shown: summary, broom's frame, LaTeX, Markdown, rules, forest plot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pysynthdp.analysis.choose import objections, whose
from pysynthdp.analysis.combining import combine_stack
from pysynthdp.analysis.forest import axes_for, set_terms
from pysynthdp.analysis.pooled import Pooled
from pysynthdp.analysis.rules.base import RULES, find_rule
from pysynthdp.analysis.term_names import as_named, readable
from pysynthdp.base.display import Cell, Printable, PValue, Table, number
from pysynthdp.base.errors import CombiningRuleError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["VALID", "Summary", "forest", "frame", "latex", "markdown", "rules_table", "table"]

_NORMAL = 1e6
VALID = "under the synthesis model"
_NOISE = {
    "none": "none",
    "shared": "one noisy fit for all copies; its variance is added",
    "per_copy_from_one": "drawn again for each copy around one release; seen between the copies",
    "per_copy_fresh": "a fresh noisy release for each copy; seen between the copies",
}


@dataclass(frozen=True, slots=True, repr=False)
class Summary(Printable):
    """A summary that prints; with statsmodels' ``as_text``, ``as_html``, ``as_latex``."""

    table: Table
    latex: str

    def to_table(self) -> Table:
        """Return the table itself."""
        return self.table

    def __repr__(self) -> str:
        return self.table.to_text()

    def as_text(self) -> str:
        """Write plain text."""
        return self.table.to_text()

    def as_html(self) -> str:
        """Write HTML."""
        return self.table.to_html()

    def as_latex(self) -> str:
        """Write LaTeX."""
        return self.latex


def table(result: Pooled, *, details: bool = False, alpha: float = 0.05) -> Table:
    """Build the summary: header of facts, one row a term, notes; ``details`` unfolds why the rule fits."""
    low, high = f"[{alpha / 2:.3g}", f"{1 - alpha / 2:.3g}]"
    data: dict[str, Any] = {
        "": list(map(readable, result.terms)),
        "coef": result.params,
        "std err": result.bse,
        "t": result.tvalues,
        "df": _large(result.df),
        "P>|t|": map(PValue, result.pvalues),
        low: result.conf_int(alpha)[0],
        high: result.conf_int(alpha)[1],
    }
    if details:
        data["within"] = result.ubar
        data["between"] = result.b
        data["b share"] = _share(result)
    rows = tuple(tuple(_cell(cell) for cell in row) for row in zip(*data.values(), strict=True))
    title = f"Pooled {result.model} results"
    theory = _theory(result)
    facts = (*_header(result), *(theory if details else ()))
    notes = (*_reasons(result), *result.notes)
    folded = () if details else (("why this rule", "\n".join(text for _, text in theory)),)
    return Table(title, tuple(data), rows, facts, notes, folded)


def _theory(result: Pooled) -> tuple[tuple[str, str], ...]:
    """Why the rule fits, and who says so: once for who asks, not above every model."""
    return (("why this rule", result.why.theory), ("source", find_rule(result.rule).source))


def _large(df: pd.Series[float]) -> pd.Series[float]:
    """Write degrees of freedom that make no difference to the normal reference as inf."""
    return df.where(~(df > _NORMAL), np.inf)


def _cell(value: Any) -> Cell:
    """Text and p-values as they are, other numbers as floats."""
    return value if isinstance(value, str | PValue) else float(value)


def _header(result: Pooled) -> tuple[tuple[str, Cell], ...]:
    """Rule, reason, m, nests if there are any, sizes and noise, as every pooled table must show."""
    nests = result.combined.stack.nests
    noise = "not stated" if result.facts is None else _NOISE[result.facts.noise]
    return (
        ("rule", f"{result.rule}: T = {find_rule(result.rule).formula}"),
        *_outside(result),
        ("reason", result.why.short),
        ("m", result.m),
        *(() if nests is None else (("nests", _nests(result.m, int(np.unique(nests).size))),)),
        ("n_syn", _count(result.n_syn)),
        ("n_org", _count(result.n_org)),
        ("privacy noise", noise),
        *_covariance(result),
        ("valid", VALID),
        *(("flag", flag) for flag in result.flags),
    )


def _outside(result: Pooled) -> tuple[tuple[str, Cell], ...]:
    """Say whose the rule is, where another package brought it."""
    brought = whose(find_rule(result.rule))
    return (("rule is", brought),) if brought else ()


def _nests(copies: int, nests: int) -> Cell:
    """Say what the m and r of a nested rule are, which counts nests where the release counts copies."""
    if copies % nests:
        return nests
    return (
        f"{nests}, of {copies // nests} copies each: in a rule for nests m = {nests}, r = {copies // nests}"
    )


def _covariance(result: Pooled) -> tuple[tuple[str, Cell], ...]:
    """Kind of covariance that was pooled, where the fits tell it."""
    about = result.estimates[0].about if result.estimates else None
    return () if about is None else (("covariance", about.covariance or "nonrobust, that of the model"),)


def _count(value: float | None) -> Cell:
    """Write a number of rows."""
    return "not published" if value is None else int(value)


def _reasons(result: Pooled) -> tuple[str, ...]:
    """Why some terms have no standard error."""
    known = ~np.isnan(result.combined.qbar)
    missing = np.isnan(result.combined.se) & known
    if not missing.any():
        return ()
    terms = ", ".join(readable(term) for term, gone in zip(result.terms, missing, strict=True) if gone)
    return (f"{terms}: {result.combined.reason}",)


def _share(result: Pooled) -> pd.Series[float]:
    """Return the part of T that the spread between copies makes up, 1 - within/T."""
    rule, values = find_rule(result.rule), result.combined.stack
    within = rule.within(values.sums(nested=rule.nested))
    with np.errstate(all="ignore"):
        share = 1 - within / result.combined.T
    return pd.Series(np.where(result.combined.T > 0, share, np.nan), index=list(result.terms))


def frame(result: Pooled, alpha: float) -> pd.DataFrame:
    """One row a term under broom's names."""
    limits = result.conf_int(alpha)
    return pd.DataFrame(
        {
            "term": list(result.terms),
            "estimate": result.params.to_numpy(),
            "std.error": result.bse.to_numpy(),
            "statistic": result.tvalues.to_numpy(),
            "df": result.df.to_numpy(),
            "p.value": result.pvalues.to_numpy(),
            "conf.low": limits[0].to_numpy(),
            "conf.high": limits[1].to_numpy(),
        }
    )


def _written(result: Pooled, alpha: float) -> list[list[str]]:
    """Head and rows as text."""
    data = frame(result, alpha)
    data["df"] = _large(data["df"])
    data["term"] = list(map(readable, data["term"]))
    data["p.value"] = pd.Series(list(map(PValue, data["p.value"])), index=data.index, dtype=object)
    rows = [[number(_cell(cell)) for cell in row] for row in data.itertuples(index=False)]
    return [list(data.columns), *rows]


def markdown(result: Pooled, alpha: float) -> str:
    """Write a Markdown table and the rule."""
    head, *rows = [[cell.replace("|", "\\|") for cell in row] for row in _written(result, alpha)]
    lines = [head, [":--", *["--:"] * (len(head) - 1)], *rows]
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    flags = "".join(f"\n\nFlag: {flag.replace('|', chr(92) + '|')}." for flag in result.flags)
    return f"{text}\n\nRule `{result.rule}`, m = {result.m}. {result.why} Valid {VALID}.{flags}"


_LATEX = str.maketrans(
    {c: "\\" + c for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


def latex(result: Pooled, alpha: float) -> str:
    """Write a booktabs table and the rule."""
    head, *rows = [[cell.translate(_LATEX) for cell in row] for row in _written(result, alpha)]
    body = " \\\\\n".join(" & ".join(row) for row in rows)
    rule = result.rule.translate(_LATEX)
    flags = "".join(f"% flag: {flag.translate(_LATEX)}\n" for flag in result.flags)
    return (
        f"\\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}\n\\toprule\n{' & '.join(head)} \\\\\n\\midrule\n"
        f"{body} \\\\\n\\bottomrule\n\\end{{tabular}}\n% rule {rule}, m = {result.m}, "
        f"valid {VALID}\n{flags}"
    )


def rules_table(result: Pooled, term: str | None) -> pd.DataFrame:
    """Every rule for one term: applies or not, reason, T, df, interval."""
    index = _term_index(result, term)
    rows = {name: _rule_row(result, name, index) for name in RULES}
    columns = ["applies", "reason", "T", "df", "conf.low", "conf.high"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("rule")


def _term_index(result: Pooled, term: str | None) -> int:
    """Place of the term asked for, or of the first that is not an intercept."""
    if term is None:
        inner = enumerate(result.design_terms)
        return next((i for i, name in inner if name not in {"Intercept", "const"}), 0)
    written = as_named(term, result.terms)
    if written not in result.terms:
        raise CombiningRuleError(
            f"there is no term {term!r}; terms are {', '.join(result.terms)}", kind="setting"
        )
    return result.terms.index(written)


def _rule_row(result: Pooled, name: str, index: int) -> list[Any]:
    """One rule: numbers wherever its arithmetic can be done and privacy noise is not ignored."""
    rule, values = RULES[name](), result.combined.stack.subset(np.array([index]))
    against = objections(rule, result.facts, values)
    noisy = result.facts is not None and result.facts.noise != "none"
    numbers: list[Any] = [np.nan] * 4
    if not (against and noisy):
        try:
            done = combine_stack(values, rule)
            numbers = [float(done.T[0]), float(done.df[0]), *map(float, done.conf_int()[0])]
        except CombiningRuleError:
            pass
    return [not against, against[0] if against else rule.right_when, *numbers]


def forest(result: Pooled, ax: Axes | None, alpha: float) -> Axes:
    """Draw estimates and intervals, one line a term."""
    keep = [i for i, name in enumerate(result.design_terms) if name not in {"Intercept", "const"}]
    ax = ax or axes_for(len(keep))
    place = np.arange(len(keep))[::-1]
    limits = result.conf_int(alpha).to_numpy()[keep]
    ax.hlines(place, limits[:, 0], limits[:, 1], color="0.3")
    ax.plot(result.params.to_numpy()[keep], place, "o", color="0.1")
    ax.axvline(0, color="0.7", linewidth=0.8, zorder=0)
    set_terms(ax, place, [result.terms[i] for i in keep])
    ax.set_title(
        f"Pooled {result.model}, {1 - alpha:.0%} intervals\n{result.rule}, m = {result.m}", fontsize=10
    )
    return ax
