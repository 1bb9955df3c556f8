"""Read a model formula against the columns of the copies: names of any kind, and what is wrong in words."""

from __future__ import annotations

import ast
import keyword
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import patsy
import statsmodels.formula

from pysynthdp.analysis.choose import model_columns
from pysynthdp.base.errors import FitError

__all__ = ["NAMES", "Formula", "as_named", "by_patsy", "plain_name", "read_formula"]

NAMES: Mapping[str, Any] = {"np": np, "numpy": np, "pd": pd}  # what a formula finds besides the columns
_PIECES = re.compile(r"""Q\(\s*(?:'[^']*'|"[^"]*")\s*\)|`[^`]*`|'[^']*'|"[^"]*\"""")
_OPERATORS = frozenset(
    ["and", "or", "not", "in", "is", "if", "else", "for", "lambda", "True", "False", "None"]
)
_JOINING = tuple("+-*:/^~")
_CONTRASTS = frozenset(["Treatment", "Sum", "Poly", "Helmert", "Diff"])
_COMPARING = frozenset(["between", "isin", "gt", "lt", "ge", "le", "eq", "ne"])


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula as it is given to the model library.

    Parameters
    ----------
    text : str
        The formula, names quoted where the library needs it.
    response : str or None
        The column on the left, where it stands there alone.
    columns : frozenset of str
        Columns that it uses.
    compared : frozenset of str
        Columns that it compares with something: where they are missing, so is the comparison.
    constants : frozenset
        What it compares them with, as far as it is written out.
    parted : frozenset of str
        Columns of which it takes an attribute, as ``day.dt.year`` does.
    """

    text: str
    response: str | None
    columns: frozenset[str]
    compared: frozenset[str]
    constants: frozenset[Any]
    parted: frozenset[str]

    @property
    def left(self) -> str:
        """What stands left of the tilde."""
        return self.text.split("~", maxsplit=1)[0].strip()


def plain_name(name: str) -> str:
    """Give a name as Python reads it in a formula: composed accents, compatible letters."""
    return unicodedata.normalize("NFKC", name)


def as_named(frame: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Keep the given columns, each also under the name by which a formula finds it."""
    kept = set(columns)  # column by column: a selection in one would be a copy
    found = pd.DataFrame(
        {name: frame[name] for name in frame.columns if name in kept}, frame.index, copy=False
    )
    for name in list(found.columns):
        if plain_name(name) not in frame.columns:
            found[plain_name(name)] = found[name]
    return found


def read_formula(text: str, columns: Collection[str]) -> Formula:
    """Read a formula.

    Parameters
    ----------
    text : str
        As the user wrote it; backticks and ``Q("...")`` quote a name.
    columns : collection of str
        Columns of the copies.

    Returns
    -------
    Formula
        With the names in it quoted as patsy needs.

    Raises
    ------
    FitError
        When it is no formula, or uses a column under the name of a function that it calls.

    Notes
    -----
    Privacy: reads names, no row.

    Examples
    --------
    >>> read_formula("y ~ class + `a b`", ["y", "class", "a b", "C"]).text
    'y ~ Q("class") + Q("a b")'
    """
    if not isinstance(text, str) or "~" not in _outside(text):
        raise FitError(
            f"the formula {text!r} has no '~'", kind="formula", remedy="write response ~ predictors"
        )
    if not _outside(text).split("~", maxsplit=1)[0].strip() and text.strip()[0] == "~":
        raise FitError(
            f"the formula {text!r} has nothing left of the '~'",
            kind="formula",
            remedy="write response ~ predictors",
        )
    names = {plain_name(name): name for name in columns}
    if not by_patsy():
        return Formula(text, _response(text, names), model_columns(text, columns), *([frozenset()] * 3))
    written = _rewritten(text, names)
    trees = [_tree(text, code) for code in _factors(text, written)]
    found = {name for tree in trees for name in _columns_in(tree)}
    used = {names[name] for name in found if name in names}
    _check_shadows(text, trees, used)
    compared = {name for tree in trees for name in _compared(tree)}
    asked = (node for tree in trees for node in _comparisons(tree) if _asks_for_values(node))
    constants = {value for node in asked for value in _constants(node)}
    parted = {name for tree in trees for name in _parted(tree)}
    return Formula(
        written,
        _response(written, names),
        frozenset(used),
        frozenset(names[name] for name in compared if names.get(name) in used),
        frozenset(constants),
        frozenset(names[name] for name in parted if names.get(name) in used),
    )


def by_patsy() -> bool:
    """Whether statsmodels reads formulas by patsy; it may be set to read them by formulaic."""
    options = getattr(statsmodels.formula, "options", None)
    return getattr(options, "formula_engine", "patsy") == "patsy"


def _outside(text: str) -> str:
    """Give what stands outside of quotes."""
    return _PIECES.sub(" ", text)


def _rewritten(text: str, names: dict[str, str]) -> str:
    """Quote keywords and what stands in backticks; write names outside of quotes as Python reads them."""
    parts, at = [], 0
    for found in _PIECES.finditer(text):
        parts += [_bare(text[at : found.start()], names), _quoted(found.group())]
        at = found.end()
    return "".join([*parts, _bare(text[at:], names)])


def _bare(text: str, names: dict[str, str]) -> str:
    """Write a stretch without quotes."""
    words = {w for w in names if keyword.iskeyword(w) and w not in _OPERATORS}
    return re.sub(
        r"(?<![\w.])[^\W\d]\w*(?!\w)",
        lambda found: f'Q("{found.group()}")' if found.group() in words else found.group(),
        plain_name(text),
    )


def _quoted(piece: str) -> str:
    """Write backticks as patsy's quotes."""
    if not piece.startswith("`"):
        return piece
    inside = piece[1:-1]
    return f"Q('{inside}')" if '"' in inside else f'Q("{inside}")'


def _columns_in(tree: ast.AST) -> Iterator[str]:
    """Names that are neither called, nor a module before its function, nor contrasts of a factor."""
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            skipped.add(id(node.func))
            skipped |= {id(part) for part in _contrasts_in(node)}
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) in NAMES:
            skipped.add(id(node.value))
    for node in ast.walk(tree):
        if id(node) not in skipped:
            yield from _names(node, deep=False)


def _contrasts_in(call: ast.Call) -> list[ast.AST]:
    """Names of contrasts in C(...), from the second argument on."""
    if getattr(call.func, "id", None) != "C":
        return []
    given = [*call.args[1:], *(word.value for word in call.keywords)]
    return [part for part in given if isinstance(part, ast.Name) and part.id in _CONTRASTS]


def _check_shadows(text: str, trees: Iterable[ast.AST], used: set[str]) -> None:
    """Refuse a column that hides the function of the same name."""
    called = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called |= {getattr(node.func, "id", ""), *(part.id for part in _contrasts_in(node))}  # type: ignore[attr-defined] # names
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) in NAMES:
                called.add(node.value.id)  # type: ignore[attr-defined] # it has one
    for name in sorted(called & used):
        raise FitError(
            f"{text!r} uses the column {name!r} and calls {name} too, and the one hides the other",
            column=name,
            kind="formula",
            remedy="rename the column before the synthesis, or in the copies",
        )


def _factors(text: str, written: str) -> Iterator[str]:
    """Code of every factor of both sides."""
    try:
        read = patsy.ModelDesc.from_formula(written)
    except (patsy.PatsyError, SyntaxError, ValueError) as error:
        why = str(error).splitlines()[0] if str(error) else "it does not end where it should"
        last = text.rstrip()[-1:]
        if last in _JOINING:
            why = f"a term is missing after the last {last!r}"
        what = f"the formula {text!r} cannot be read: {why}"
        raise FitError(what, kind="formula", remedy="write response ~ predictor + predictor") from error
    for term in (*read.lhs_termlist, *read.rhs_termlist):
        for factor in term.factors:
            yield factor.name()


def _tree(text: str, code: str) -> ast.AST:
    """Parse the code of a factor."""
    try:
        return ast.parse(code, mode="eval")
    except SyntaxError as error:
        raise FitError(
            f"the formula {text!r} cannot be read at {code!r}",
            kind="formula",
            remedy="write a column with such a name as Q('name') or `name`",
        ) from error


def _comparisons(tree: ast.AST) -> Iterator[ast.AST]:
    """Pieces of code that compare."""
    for node in ast.walk(tree):
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if isinstance(node, ast.Compare) or (called and node.func.attr in _COMPARING):  # type: ignore[attr-defined] # called says so
            yield node


def _compared(tree: ast.AST) -> Iterator[str]:
    """Names inside of comparisons."""
    for node in _comparisons(tree):
        yield from _names(node)


def _asks_for_values(node: ast.AST) -> bool:
    """Whether a comparison asks for single values, not for an order."""
    if isinstance(node, ast.Compare):
        return any(isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for op in node.ops)
    called = getattr(getattr(node, "func", None), "attr", None)
    return called in {"isin", "eq", "ne"}


def _constants(node: ast.AST) -> Iterator[Any]:
    """Texts and numbers that are written out."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant):
            yield part.value
        if (
            isinstance(part, ast.UnaryOp)
            and isinstance(part.op, ast.USub)
            and isinstance(part.operand, ast.Constant)
        ):
            yield -part.operand.value  # type: ignore[operator] # a number, since it has a sign


def _parted(tree: ast.AST) -> Iterator[str]:
    """Names of which an attribute is taken."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield from _names(node.value)


def _names(node: ast.AST, *, deep: bool = True) -> Iterator[str]:
    """Names and quoted names in a piece of code, or in this node alone."""
    for part in ast.walk(node) if deep else [node]:
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Call) and getattr(part.func, "id", None) == "Q" and part.args:
            yield plain_name(str(getattr(part.args[0], "value", "")))


def _alone(code: str, names: dict[str, str]) -> str | None:
    """Column that a factor is, without any function."""
    quoted = re.fullmatch(r"""Q\(\s*(?:'([^']*)'|"([^"]*)")\s*\)""", code)
    name = next((part for part in quoted.groups() if part), "") if quoted else code
    return names.get(plain_name(name))


def _response(written: str, names: dict[str, str]) -> str | None:
    """Column on the left of a formula when it stands there alone."""
    return _alone(written.split("~", maxsplit=1)[0].strip(), names)
