"""Expressions of columns, such as ``weight / (height / 100) ** 2``: read without ``eval``, on whole arrays.

Numbers, texts in quotes, names of columns (odd ones in backticks), ``+ - * / **``, comparisons, ``and``,
``or``, ``not``, ``in (...)``, ``missing``, and the functions of :data:`FUNCTIONS`. What is missing makes
missing what is made of it; ``and``, ``or`` and ``not`` know three values. A value that is missing for a
declared reason, a code or a kind, keeps it where it is passed on: ``is_missing(x, ".a")`` asks for it, and
``missing(".a")`` is one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Words, meant
from pysynthdp.design.expression_values import (
    FUNCTIONS,
    MisfitError,
    Values,
    arithmetic,
    compare,
    logic,
    negated,
)
from pysynthdp.design.values import LARGEST

__all__ = ["FUNCTIONS", "Expression", "Values", "parsed", "quoted"]

_PIECES: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`([^`]*)`")
_PLAIN: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*$")
_MARK: Final = "ǁ"  # a letter that nobody names a column with stands for a name in backticks
_RESERVED: Final = frozenset({"and", "or", "not", "in", "if", "else", "for", "is", "lambda", "missing"})
_DEEPEST: Final = 50
_BINARY: Final[Mapping[type, str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
}
_COMPARED: Final[Mapping[type, str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_INSTEAD: Final[Mapping[type, str]] = {
    ast.BitXor: "write ** for powers",
    ast.BitAnd: "write 'and' with each side in brackets",
    ast.BitOr: "write 'or' with each side in brackets",
    ast.Mod: "the remainder is x - y * floor(x / y)",
    ast.FloorDiv: "write floor(x / y)",
    ast.IfExp: "write where(condition, then, otherwise)",
}


def quoted(name: str) -> str:
    """Write a column's name as an expression has it.

    Examples
    --------
    >>> quoted("age"), quoted("Min.Price"), quoted("net income")
    ('age', 'Min.Price', '`net income`')
    """
    plain = _PLAIN.match(name) and name not in FUNCTIONS and not _RESERVED & set(name.split("."))
    return name if plain else f"`{name}`"


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that was read.

    Parameters
    ----------
    text : str
        As somebody wrote it.
    columns : tuple of str
        That it names, each once.
    tree : ast.expr
        What it says.
    names : mapping str -> str
        Column by its name in the tree.
    column : str
        What it is for, named in messages.
    """

    text: str
    columns: tuple[str, ...]
    tree: ast.expr
    names: Mapping[str, str]
    column: str

    def of(self, cells: Mapping[str, Values]) -> Values:
        """Evaluate on columns; a constant stays one value.

        Raises
        ------
        PlanError
            Where texts are taken for numbers; says where.

        Notes
        -----
        Privacy: arithmetic on what it is given; messages quote the expression, never a cell.
        """
        with np.errstate(all="ignore"):
            return self._value(self.tree, cells)

    def _value(self, node: ast.expr, cells: Mapping[str, Values]) -> Values:
        """Evaluate one node."""
        try:
            return self._found(node, cells)
        except MisfitError as misfit:
            raise _fault(self.column, self.text, node, str(misfit)) from None

    def _found(self, node: ast.expr, cells: Mapping[str, Values]) -> Values:
        """Evaluate one node by its type."""
        match node:
            case ast.Constant():
                return Values.constant(node.value)  # type: ignore[arg-type]  # checked when it was read
            case ast.BinOp():
                sign = _BINARY[type(node.op)]
                return arithmetic(sign, self._value(node.left, cells), self._value(node.right, cells))
            case ast.UnaryOp():
                return negated(self._value(node.operand, cells), logical=isinstance(node.op, ast.Not))
            case ast.BoolOp():
                every = isinstance(node.op, ast.And)
                return logic([self._value(item, cells) for item in node.values], every=every)
            case ast.Compare():
                return self._compared(node, cells)
        return self._named(node, cells)

    def _named(self, node: ast.expr, cells: Mapping[str, Values]) -> Values:
        """Evaluate a column, ``missing``, or the call of a function."""
        if isinstance(node, ast.Call):
            given = [self._argument(item, cells) for item in node.args]
            return FUNCTIONS[_name(node.func)].of(*given)
        name = _name(node)
        return cells[self.names[name]] if name in self.names else Values.nothing()

    def _argument(self, node: ast.expr, cells: Mapping[str, Values]) -> Any:
        """Evaluate an argument; a list gives its constants."""
        return _constants(node) if isinstance(node, ast.List | ast.Tuple) else self._value(node, cells)

    def _compared(self, node: ast.Compare, cells: Mapping[str, Values]) -> Values:
        """Evaluate a chain of comparisons."""
        found, left = [], self._value(node.left, cells)
        for sign, item in zip(node.ops, node.comparators, strict=True):
            if isinstance(sign, ast.In | ast.NotIn):
                each = [compare("==", left, Values.constant(value)) for value in _constants(item) or ()]
                among = logic(each, every=False)
                found.append(negated(among, logical=True) if isinstance(sign, ast.NotIn) else among)
            else:
                right = self._value(item, cells)
                found.append(compare(_COMPARED[type(sign)], left, right))
                left = right
        return logic(found, every=True)


def parsed(text: str, known: Mapping[str, Any] | tuple[str, ...], *, column: str) -> Expression:
    """Read an expression.

    Parameters
    ----------
    text : str
        As it was written.
    known : names of columns
        That it may name.
    column : str
        What it is for, named in messages.

    Raises
    ------
    PlanError
        Says at which letter, and the nearest name where one is not known.

    Notes
    -----
    Privacy: reads no record.

    Examples
    --------
    >>> import numpy as np
    >>> bmi = parsed("weight / (`height cm` / 100) ** 2", ("weight", "height cm"), column="bmi")
    >>> bmi.columns
    ('weight', 'height cm')
    >>> bmi.of({"weight": Values.constant(80.0), "height cm": Values.constant(200)}).data.item()
    20.0
    """
    if not isinstance(text, str) or not text.strip():
        raise PlanError(
            Words("{column}: an expression must be a text", column=column),
            column=column,
            kind="expression",
            remedy="write for example weight / (height / 100) ** 2",
        )
    flat = text.replace("\n", " ")
    plain, ticked = _without_ticks(flat)
    try:
        tree = ast.parse(plain, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        at = getattr(error, "offset", None) or 1
        raise _at(column, text, at, "cannot be read from here on") from None
    reader = _Reader(column, text, tuple(known), ticked)
    reader.check(tree, 0)
    return Expression(text, tuple(dict.fromkeys(reader.names.values())), tree, reader.names, column)


def _without_ticks(text: str) -> tuple[str, dict[str, str]]:
    """Put a name of the same length in the place of each in backticks, so that places stay."""
    ticked: dict[str, str] = {}

    def replaced(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        mark = f"{_MARK}{len(ticked)}".ljust(len(found[0]), "_")
        ticked[mark] = found[1]
        return mark

    return _PIECES.sub(replaced, text.lstrip() if text[:1].isspace() else text), ticked


@dataclass(slots=True)
class _Reader:
    """Walks a tree once and lets nothing through but what the language has."""

    column: str
    text: str
    known: tuple[str, ...]
    ticked: Mapping[str, str]
    names: dict[str, str]

    def __init__(self, column: str, text: str, known: tuple[str, ...], ticked: Mapping[str, str]) -> None:
        self.column, self.text, self.known, self.ticked = column, text.lstrip(), known, ticked
        self.names = {}

    def check(self, node: ast.expr, depth: int) -> None:
        """Check a node and what is below it."""
        if depth > _DEEPEST:
            raise self._fault(node, "is too deeply nested")
        match node:
            case ast.Constant():
                self._constant(node)
            case ast.Name() | ast.Attribute():
                self._column(node)
            case ast.BinOp():
                self._sign(node, node.op, _BINARY)
                self._all([node.left, node.right], depth)
            case ast.UnaryOp():
                self._sign(node, node.op, {ast.USub: "-", ast.Not: "not"})
                self.check(node.operand, depth + 1)
            case ast.BoolOp():
                self._all(node.values, depth)
            case ast.Compare():
                self._comparison(node, depth)
            case ast.Call():
                self._call(node, depth)
            case _:
                raise self._fault(node, "is not part of the language", _INSTEAD.get(type(node)))

    def _constant(self, node: ast.Constant) -> None:
        """Refuse constants that are neither texts nor finite numbers."""
        given = node.value
        if not isinstance(given, int | float | str):
            raise self._fault(node, "is no number and no text")
        if not isinstance(given, str) and abs(given) > LARGEST:
            raise self._fault(node, "is too large a number")

    def _all(self, nodes: list[ast.expr], depth: int) -> None:
        """Check several nodes."""
        for node in nodes:
            self.check(node, depth + 1)

    def _sign(self, node: ast.expr, sign: ast.AST, known: Mapping[type, str]) -> None:
        """Refuse other operators."""
        if type(sign) not in known:
            raise self._fault(
                node, "has an operator that is not part of the language", _INSTEAD.get(type(sign))
            )

    def _comparison(self, node: ast.Compare, depth: int) -> None:
        """Check a chain of comparisons."""
        self.check(node.left, depth + 1)
        for sign, item in zip(node.ops, node.comparators, strict=True):
            if isinstance(sign, ast.In | ast.NotIn):
                if _constants(item) is None:
                    raise self._fault(item, "must be numbers or texts in brackets, as in x in (1, 2)")
            else:
                self._sign(node, sign, _COMPARED)
                self.check(item, depth + 1)

    def _call(self, node: ast.Call, depth: int) -> None:
        """Check a call: a known function, with as many arguments as it takes, lists where it takes them."""
        name = _name(node.func)
        if name not in FUNCTIONS:
            listed = Words("functions are {known}", known=", ".join(sorted(FUNCTIONS)))
            raise self._fault(node, "calls an unknown function", meant(name, sorted(FUNCTIONS), listed))
        function = FUNCTIONS[name]
        if node.keywords or not function.fewest <= len(node.args) <= function.most:
            raise self._fault(node, "has arguments that the function does not take", function.usage)
        for place, item in enumerate(node.args):
            listed_here = isinstance(item, ast.List | ast.Tuple)
            if listed_here != (place in function.lists) or (listed_here and _constants(item) is None):
                raise self._fault(item, "is not what the function takes here", function.usage)
            if not listed_here:
                self.check(item, depth + 1)
        wrong = function.check(
            *(_constants(item) if place in function.lists else None for place, item in enumerate(node.args))
        )
        if wrong:
            raise self._fault(node, wrong, function.usage)

    def _column(self, node: ast.expr) -> None:
        """Find the column that a name stands for."""
        name = _name(node)
        if name == "missing" and name not in self.ticked:
            return
        own = self.ticked.get(name, name)
        if not own or own not in self.known:
            what = Words("names '{own}', which is no column that it can use", own=own)
            mend = meant(own, self.known, Words("columns are {known}", known=_listed(self.known)))
            raise self._fault(node, what, mend)
        self.names[name] = own

    def _fault(self, node: ast.AST, what: str, remedy: str | None = None) -> PlanError:
        """Say what is wrong, and where."""
        return _fault(self.column, self.text, node, what, remedy)


def _name(node: ast.expr) -> str:
    """Give a name, with the dots in it; empty for what is none."""
    if isinstance(node, ast.Attribute):
        before = _name(node.value)
        return f"{before}.{node.attr}" if before else ""
    return node.id if isinstance(node, ast.Name) else ""


def _constants(node: ast.expr) -> tuple[float | str, ...] | None:
    """Give the numbers and texts of a list; None where it holds anything else."""
    items = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
    found = [_constant(item) for item in items]
    return None if not found or any(item is None for item in found) else tuple(found)  # type: ignore[arg-type]


def _constant(node: ast.expr) -> float | str | None:
    """Give a number, with its sign, or a text."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inside = _constant(node.operand)
        return -inside if isinstance(inside, int | float) else None
    given = node.value if isinstance(node, ast.Constant) else None
    return given if isinstance(given, int | float | str) else None


def _listed(names: tuple[str, ...]) -> str:
    """List names, the first where there are many."""
    shown = ", ".join(names[:12])
    return shown if len(names) <= 12 else f"{shown} and {len(names) - 12} more"


def _fault(column: str, text: str, node: ast.AST, what: str, remedy: str | None = None) -> PlanError:
    """Say what is wrong with a piece of an expression."""
    flat = text.lstrip().replace("\n", " ").encode()
    start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", len(flat))
    shown = _without_ticks(text.replace("\n", " "))[0].encode()  # offsets are bytes of what was read
    at = len(shown[:start].decode(errors="ignore"))
    piece = text.lstrip().replace("\n", " ")[at : at + len(shown[start:end].decode(errors="ignore"))]
    return PlanError(
        Words(
            "{column}: in '{text}', '{piece}' at letter {at} {what}",
            column=column,
            text=text,
            piece=piece,
            at=at + 1,
            what=what,
        ),
        column=column,
        kind="expression",
        remedy=remedy,
    )


def _at(column: str, text: str, at: int, what: str) -> PlanError:
    """Say from which letter on an expression cannot be read."""
    words = Words(
        "{column}: '{text}' {what}, letter {at}", column=column, text=text, what=what, at=min(at, len(text))
    )
    mend = "write for example weight / (height / 100) ** 2, and odd names in backticks"
    return PlanError(words, column=column, kind="expression", remedy=mend)
