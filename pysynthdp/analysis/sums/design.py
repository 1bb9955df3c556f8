"""The matrix of a formula, in blocks of rows: patsy's own columns, without one table that holds them all."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
import pandas as pd
import patsy

from pysynthdp.analysis.formula import NAMES, plain_name
from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["Block", "Design", "design_of"]

ROWS: Final = 2**14  # of a block: its matrix stays in the cache
_LOGARITHMS: Final = frozenset(["log", "log1p", "log2", "log10", "exp", "expm1", "sqrt", "cbrt", "square"])
_CURVES: Final = frozenset(["sin", "cos", "tan", "arctan", "tanh", "arcsinh", "reciprocal", "negative"])
_STEPS: Final = frozenset(["abs", "absolute", "sign", "floor", "ceil", "trunc", "rint", "maximum", "minimum"])
_ALONE: Final = _LOGARITHMS | _CURVES | _STEPS
"""Functions of numpy that look at one row at a time, and give nothing where nothing is."""
_LEARNED: Final = frozenset(["bs", "cr", "cc", "center", "standardize", "scale", "_pd_cut", "_pd_qcut"])
_KEPT: Final = frozenset(["I", "C"])
_ORDERS: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_CODINGS: Final = frozenset(["Treatment", "Sum", "Poly", "Helmert", "Diff"])


@dataclass(frozen=True, slots=True)
class Block:
    """Complete rows of a model.

    Parameters
    ----------
    y : array (n,)
        Response.
    X : array (p, n)
        The design, a row for each coefficient.
    own : mapping of str to array (n,)
        Columns that options name: weights, offsets, groups.
    """

    y: FloatArray
    X: FloatArray
    own: Mapping[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class Design:
    """A formula that was read against all rows of one copy.

    Parameters
    ----------
    frame : DataFrame
        The copy.
    left, right : patsy's DesignInfo
        Of the response, and of the matrix.
    columns : tuple of str
        Columns in the formula; a row that lacks one of them is left out.
    beside : tuple of str
        Columns that options name.
    """

    frame: pd.DataFrame
    left: Any
    right: Any
    columns: tuple[str, ...]
    beside: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients."""
        return tuple(map(str, self.right.column_names))

    @property
    def constant(self) -> int | None:
        """Place of the intercept."""
        return self.names.index("Intercept") if patsy.INTERCEPT in self.right.terms else None

    def blocks(self) -> Iterator[Block]:
        """Give the complete rows, block by block in their order."""
        for start in range(0, len(self.frame), ROWS):
            yield self._block(slice(start, start + ROWS))

    def kept(self) -> BoolArray:
        """Mark the complete rows."""
        marks = [self._complete(slice(s, s + ROWS))[2] for s in range(0, len(self.frame), ROWS)]
        return np.concatenate(marks) if marks else np.zeros(0, dtype=np.bool_)

    def trusted(self) -> bool:
        """Whether the first block is what patsy makes of these rows, to the last bit."""
        head = self.frame.iloc[:ROWS]
        mine = self._block(slice(0, ROWS))
        y, X = patsy.build_design_matrices([self.left, self.right], head, NA_action="drop")
        return np.array_equal(np.asarray(X).T, mine.X) and np.array_equal(np.asarray(y)[:, 0], mine.y)

    def _block(self, rows: slice) -> Block:
        """Build a block."""
        cells, values, whole = self._complete(rows)
        n = int(whole.sum())
        y = _built(self.left, values, n)[0]
        return Block(y, _built(self.right, values, n), {name: cells[name] for name in self.beside})

    def _complete(self, rows: slice) -> tuple[dict[str, Any], dict[Any, Any], BoolArray]:
        """Give cells and factors of the complete ones of some rows, and which these are."""
        cells = {name: _cells(self.frame[name], rows) for name in (*self.columns, *self.beside)}
        whole = np.ones(len(self.frame.index[rows]), dtype=np.bool_)
        for name in self.columns:
            whole &= _known(cells[name])
        if not whole.all():
            cells = {name: column[whole] for name, column in cells.items()}
        infos = {**self.left.factor_infos, **self.right.factor_infos}
        values = {factor: _valued(info, cells) for factor, info in infos.items()}
        there = np.ones(int(whole.sum()), dtype=np.bool_)
        for factor, found in values.items():
            if factor.name() not in self.columns:  # a term may have no value where its columns have one
                there &= _there(found)
        if there.all():
            return cells, values, whole
        whole[whole] = there
        cells = {name: column[there] for name, column in cells.items()}
        return cells, {factor: found[there] for factor, found in values.items()}, whole


def design_of(formula: Any, frame: pd.DataFrame, beside: Sequence[str]) -> Design | None:
    """Read a formula against a copy; None for one whose terms need all rows at a time.

    Parameters
    ----------
    formula : str
        The model, with what it learned from all copies.
    frame : DataFrame
        One copy, coded as the others.
    beside : sequence of str
        Columns that options name.

    Returns
    -------
    Design or None
        None where a term is not computed row by row, or a column is no number and no Categorical.

    Notes
    -----
    Privacy: reads synthetic copies.
    """
    names = {plain_name(str(name)): str(name) for name in frame.columns}
    try:
        desc = getattr(formula, "learned", None) or patsy.ModelDesc.from_formula(str(formula))
        factors = {factor for term in (*desc.lhs_termlist, *desc.rhs_termlist) for factor in term.factors}
        used: set[str] = set()
        for factor in factors:
            if not _by_row(_parsed(factor), names, used):
                return None
        pieces = [frame.iloc[s : s + ROWS] for s in range(0, len(frame), ROWS)]
        left, right = patsy.incr_dbuilders(desc, lambda: iter(pieces), patsy.EvalEnvironment([NAMES]))
    except (patsy.PatsyError, SyntaxError, ValueError, TypeError, NameError):
        return None  # the fit itself says what is wrong
    if len(left.column_names) != 1 or any(i.type != "numerical" for i in left.factor_infos.values()):
        return None
    if not all(_plain(frame[name]) for name in (*used, *beside)):
        return None
    return Design(frame, left, right, tuple(sorted(used)), tuple(beside))


def _parsed(factor: Any) -> ast.expr:
    """Tree of a factor's code."""
    inner = getattr(factor, "_factor", factor)
    return ast.parse(str(inner.code), mode="eval").body


def _by_row(node: ast.AST, names: Mapping[str, str], used: set[str]) -> bool:
    """Whether code gives each row what this row alone says; note the columns in it."""
    if isinstance(node, ast.Name):
        used.add(names.get(node.id, node.id))
        return node.id in names
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float | str | bool)
    if isinstance(node, ast.Compare):
        order = len(node.ops) == 1 and isinstance(node.ops[0], _ORDERS)
        return order and _all_by_row([node.left, *node.comparators], names, used)
    if isinstance(node, ast.UnaryOp):
        return _by_row(node.operand, names, used)
    if isinstance(node, ast.BinOp):
        return _computes(node, names, used)
    return isinstance(node, ast.Call) and _calls(node, names, used)


def _all_by_row(nodes: Sequence[ast.AST], names: Mapping[str, str], used: set[str]) -> bool:
    """Whether all are; every one is looked at, for its columns."""
    return not [node for node in nodes if not _by_row(node, names, used)]


def _computes(node: ast.BinOp, names: Mapping[str, str], used: set[str]) -> bool:
    """Whether a computation is of rows; a power must not make a number of what is missing."""
    if isinstance(node.op, ast.Pow):
        fixed = isinstance(node.right, ast.Constant) and bool(node.right.value)
        return fixed and _by_row(node.left, names, used)
    usual = isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.BitAnd | ast.BitOr)
    return usual and _all_by_row([node.left, node.right], names, used)


def _calls(node: ast.Call, names: Mapping[str, str], used: set[str]) -> bool:
    """Whether a call is of a function that works row by row, or has learned already."""
    function, given = node.func, [*node.args, *(word.value for word in node.keywords)]
    if isinstance(function, ast.Attribute):
        module = getattr(function.value, "id", None)
        known = module in {"np", "numpy"} and function.attr in _ALONE and not node.keywords
        return known and _all_by_row(given, names, used)
    name = getattr(function, "id", None)
    if name == "Q" and len(given) == 1 and isinstance(given[0], ast.Constant):
        used.add(names.get(plain_name(str(given[0].value)), ""))
        return plain_name(str(given[0].value)) in names
    if name not in _KEPT | _LEARNED or not given:
        return False
    return _by_row(given[0], names, used) and all(map(_is_fixed, given[1:]))


def _is_fixed(node: ast.AST) -> bool:
    """Whether an argument is written out: numbers, texts, contrasts."""
    if isinstance(node, ast.List | ast.Tuple):
        return all(map(_is_fixed, node.elts))
    if isinstance(node, ast.UnaryOp):
        return _is_fixed(node.operand)
    if isinstance(node, ast.Call):
        arguments = [*node.args, *(word.value for word in node.keywords)]
        return getattr(node.func, "id", None) in _CODINGS and all(map(_is_fixed, arguments))
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id in _CODINGS)


def _plain(column: pd.Series[Any]) -> bool:
    """Whether a column is an array of numbers, or levels."""
    dtype = column.dtype
    return isinstance(dtype, pd.CategoricalDtype) or (isinstance(dtype, np.dtype) and dtype.kind in "biuf")


def _cells(column: pd.Series[Any], rows: slice) -> Any:
    """Give some cells of a column: an array, or a Categorical."""
    return column.array[rows] if isinstance(column.dtype, pd.CategoricalDtype) else column.to_numpy()[rows]


def _known(cells: Any) -> BoolArray:
    """Mark the cells that are there."""
    if isinstance(cells, pd.Categorical):
        return np.asarray(cells.codes >= 0)
    return ~np.isnan(cells) if cells.dtype.kind == "f" else np.ones(len(cells), dtype=np.bool_)


def _there(values: FloatArray | IntArray) -> BoolArray:
    """Mark the rows in which a factor has a value."""
    if values.dtype.kind != "f":
        return np.asarray(values >= 0)
    known = ~np.isnan(values)
    return np.asarray(known.all(axis=1)) if known.ndim == 2 else known


def _built(design: Any, values: Mapping[Any, Any], n: int) -> FloatArray:
    """Build the columns (p, n) of a design, as patsy does: products of the factors' columns."""
    X = np.empty((len(design.column_names), n))
    row = 0
    for subterm in (each for subterms in design.term_codings.values() for each in subterms):
        parts = [_columns(values[each], subterm.contrast_matrices.get(each)) for each in subterm.factors]
        for places in product(*(range(len(part)) for part in reversed(parts))):  # the first runs fastest
            chosen = [part[place] for part, place in zip(parts, reversed(places), strict=True)]
            X[row] = chosen[0] if chosen else 1.0
            for column in chosen[1:]:
                X[row] *= column
            row += 1
    return X


def _valued(info: Any, cells: Mapping[str, Any]) -> FloatArray | IntArray:
    """Numbers (n,) or (n, k) of a factor; codes of one of levels."""
    values = info.factor.eval(info.state, cells)
    if info.type == "numerical":
        return np.asarray(values, dtype=np.float64)
    return _codes(values, info.categories)


def _codes(values: Any, levels: Sequence[Any]) -> IntArray:
    """Places of levels."""
    values = getattr(values, "data", values) if type(values).__name__ == "_CategoricalBox" else values
    if isinstance(values, np.ndarray) and values.dtype == np.bool_ and tuple(levels) == (False, True):
        return values.astype(np.int8)
    if isinstance(values, pd.Categorical):
        if tuple(values.categories) == tuple(levels):
            return np.asarray(values.codes)
        places = pd.Index(list(levels), dtype=object).get_indexer(values.categories.astype(object))
        return np.asarray(places[values.codes])
    return np.asarray(pd.Index(list(levels), dtype=object).get_indexer(pd.Index(values, dtype=object)))


def _columns(values: AnyArray, contrast: Any) -> list[AnyArray]:
    """Columns of one factor in one term."""
    if contrast is None:
        return [values] if values.ndim == 1 else list(values.T)
    return [np.ascontiguousarray(column)[values] for column in contrast.matrix.T]
