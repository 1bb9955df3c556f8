"""What a factor of a formula does to columns, in Python's syntax or as a tree from R."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Call", "Expression", "Monomial", "Name", "columns_in", "from_plain", "from_python", "monomials"]

Monomial: TypeAlias = tuple[str, ...]  # sorted names of columns, a name twice for a square; () is a constant


@dataclass(frozen=True, slots=True)
class Name:
    """A column, or a variable of the user's."""

    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or a function, with its last name (``log`` for ``np.log``)."""

    function: str
    arguments: tuple[Expression, ...]


Expression: TypeAlias = Name | Call | float | str

_OPERATORS: Mapping[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
}
_SAME = frozenset({"I", "center", "standardize", "scale", "(", "as.numeric", "as.double", "float", "astype"})
_SIDE_BY_SIDE = frozenset({"Surv", "cbind"})
_POWERS = {"square": 2.0}


def from_python(code: str) -> Expression:
    """Read a factor as patsy hands it over.

    Examples
    --------
    >>> from_python("np.log(Q('net pay'))")
    Call(function='log', arguments=(Name(name='net pay'),))
    """
    return _tree(ast.parse(code.strip(), mode="eval").body)


def _tree(node: ast.AST) -> Expression:
    """Turn one node of Python's syntax tree into an expression."""
    match node:
        case ast.Name(id=name):
            return Name(name)
        case ast.Call(func=ast.Name(id="Q"), args=[ast.Constant(value=str() as name)]):
            return Name(name)
        case ast.Constant(value=bool() | None):
            return ""
        case ast.Constant(value=value):
            return float(value) if isinstance(value, int | float) else str(value)
        case ast.expr():
            return _call(node)
    return ""


def _call(node: ast.expr) -> Call:
    """Turn an operator or a function into a call."""
    match node:
        case ast.Call(func=function, args=given, keywords=named):
            base = [function.value] if isinstance(function, ast.Attribute) else []
            inner = [each for each in base if not _is_module(each)] + [*given, *(one.value for one in named)]
            return Call(_called(function), tuple(map(_tree, inner)))
        case ast.BinOp(left=left, op=operator, right=right):
            sign = _OPERATORS.get(type(operator), type(operator).__name__)
            return Call(sign, (_tree(left), _tree(right)))
        case ast.UnaryOp(op=operator, operand=inner):
            sign = {ast.USub: "-", ast.UAdd: "+"}.get(type(operator), "not")
            return Call(sign, (_tree(inner),))
    children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return Call(
        "compare" if isinstance(node, ast.Compare) else type(node).__name__, tuple(map(_tree, children))
    )


def _is_module(node: ast.AST) -> bool:
    """Whether an attribute's owner is a module by custom, not a column."""
    return isinstance(node, ast.Name) and node.id in {"np", "numpy", "pd", "pandas", "patsy", "scipy"}


def _called(node: ast.AST) -> str:
    """Give the last name of what is called."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else "?"


def from_plain(plain: Any) -> Expression:
    """Read a tree that R sent: a number, ``{"name": x}``, or ``{"call": function, "arguments": [...]}``.

    Examples
    --------
    >>> from_plain({"call": "^", "arguments": [{"name": "age"}, 2.0]})
    Call(function='**', arguments=(Name(name='age'), 2.0))
    """
    if isinstance(plain, Mapping) and "name" in plain:
        return Name(str(plain["name"]))
    if isinstance(plain, Mapping):
        name = str(plain["call"])
        found = {"^": "**", "==": "compare", "<": "compare", ">": "compare", "<=": "compare", ">=": "compare"}
        given = plain.get("arguments") or []
        items = list(given.values()) if isinstance(given, Mapping) else list(given)
        return Call(found.get(name, name), tuple(map(from_plain, items)))
    return float(plain) if isinstance(plain, int | float) and not isinstance(plain, bool) else str(plain)


def columns_in(tree: Expression, columns: AbstractSet[str]) -> frozenset[str]:
    """Columns that an expression reads."""
    return frozenset(_names(tree)) & columns


def _names(tree: Expression) -> Iterator[str]:
    """Walk over all names."""
    if isinstance(tree, Name):
        yield tree.name
    if isinstance(tree, Call):
        for inner in tree.arguments:
            yield from _names(inner)


def monomials(tree: Expression, columns: AbstractSet[str]) -> frozenset[Monomial] | None:
    """Give the products of columns that an expression is a sum of; None where it is no polynomial.

    Examples
    --------
    >>> sorted(monomials(from_python("I((age - 40) ** 2)"), {"age"}))
    [(), ('age',), ('age', 'age')]
    >>> monomials(from_python("np.log(age)"), {"age"}) is None
    True
    """
    if isinstance(tree, Name) and tree.name in columns:
        return frozenset({(tree.name,)})
    if not columns_in(tree, columns):
        return frozenset({()})
    return _of_call(tree, columns) if isinstance(tree, Call) else None


def _of_call(tree: Call, columns: AbstractSet[str]) -> frozenset[Monomial] | None:
    """Go through the functions that make polynomials of polynomials."""
    first, *rest = tree.arguments
    if tree.function in _SAME and not any(columns_in(each, columns) for each in rest):
        return monomials(first, columns)
    if tree.function in _POWERS:
        return _power(monomials(first, columns), _POWERS[tree.function])
    if tree.function in {"**", "power"} and rest:
        return _power(monomials(first, columns), rest[0])
    if tree.function in _SIDE_BY_SIDE:
        return _arithmetic(Call("+", tree.arguments), columns)
    if tree.function in {"poly", "polym"}:
        return _poly(first, rest, columns)
    return _arithmetic(tree, columns)


def _arithmetic(tree: Call, columns: AbstractSet[str]) -> frozenset[Monomial] | None:
    """Add, subtract, multiply, or divide by what is no column."""
    if tree.function not in {"+", "-", "*", "/"}:
        return None
    sides = [monomials(each, columns) for each in tree.arguments]
    known = [side for side in sides if side is not None]
    if len(known) < len(sides):
        return None
    if tree.function == "/":
        return known[0] if known[1] == {()} else None
    if tree.function == "*":
        return _times(known[0], known[1])
    return frozenset().union(*known)


def _times(left: frozenset[Monomial], right: frozenset[Monomial]) -> frozenset[Monomial]:
    """Multiply sums of products."""
    return frozenset(tuple(sorted((*a, *b))) for a in left for b in right)


def _power(base: frozenset[Monomial] | None, exponent: Expression) -> frozenset[Monomial] | None:
    """Raise to a small whole power."""
    if base is None or not isinstance(exponent, float) or exponent not in {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}:
        return None
    made: frozenset[Monomial] = frozenset({()})
    for _ in range(int(exponent)):
        made = _times(made, base)
    return made


def _poly(first: Expression, rest: list[Expression], columns: AbstractSet[str]) -> frozenset[Monomial] | None:
    """Give all powers up to the degree of R's ``poly``."""
    degrees = [each for each in rest if isinstance(each, float)]
    powers = [
        _power(monomials(first, columns), float(k)) for k in range(1, int(degrees[0] if degrees else 1) + 1)
    ]
    known = [power for power in powers if power is not None]
    return frozenset().union(*known) if len(known) == len(powers) else None
