"""Which relations the copies of a release hold: the moments that its chain of models was given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from pysynthdp.analysis.asked import Factor, Term
from pysynthdp.analysis.expressions import Call, Expression, Monomial, columns_in, monomials
from pysynthdp.base.marks import KEPT_REAL
from pysynthdp.tags.steps import TaggedStep

__all__ = ["TREE", "Chain", "Link", "Shape"]

TREE = "cart"
_EXACT = frozenset({"plain", "logit"})
_AT_ONE_PLACE = frozenset({"", "hinge", "step"})  # "" of a mapping is one level
_LOGARITHMS = frozenset({"log", "log2", "log10"})


@dataclass(frozen=True, slots=True)
class Shape:
    """What a term is made of: products of columns, what it bends, and what of that by a logarithm."""

    products: frozenset[Monomial]
    bent: frozenset[str] = frozenset()
    logs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Link:
    """How a response and a product of columns hang together in the copies.

    Parameters
    ----------
    held : bool
        Whether the model drawn last among them was given the others as one term.
    last : str
        The column drawn last; the response where all are real.
    exact : bool
        Whether that model keeps their plain moment by its own equations, so that the order does not matter.
    tested : bool
        Of what is not held, whether it was tested against the confidential data and not kept, being weak.
    chosen : bool
        Of what is held, whether it is because a test against the confidential data found it.
    """

    held: bool
    last: str
    exact: bool = False
    tested: bool = False
    chosen: bool = False


class Chain:
    """The steps of a release in drawing order, asked which moments they keep.

    A response y depends on a product of columns as the last one drawn among all of them does on the product
    of the others: E[y x1 x2] is kept by y's own model if that was given x1:x2, and where x2 is drawn last by
    x2's model if that was given y:x1.

    Parameters
    ----------
    steps : iterable of TaggedStep
        From the tags, in drawing order.
    levels : set of str
        Columns known to hold levels besides those that the steps draw.
    """

    def __init__(self, steps: Iterable[TaggedStep], *, levels: Iterable[str] = ()) -> None:
        self.steps: dict[str, TaggedStep] = {}
        self.partial: set[str] = set()
        self._before: dict[str, frozenset[str]] = {}
        for step in steps:
            earlier = frozenset(self.steps) - {*step.columns}
            for name in step.columns:
                if step.draws == "kind":
                    self.partial.add(name)
                self._before.setdefault(name, earlier)
                self.steps[name] = step
        self.order = {name: place for place, name in enumerate(self.steps)}
        self.kept = frozenset(name for name, step in self.steps.items() if step.model == KEPT_REAL)
        own = {name for name, step in self.steps.items() if step.draws == "levels"}
        numbers = {name for name, step in self.steps.items() if step.draws == "number"}  # dates are numbers
        self.levels = frozenset(own | (set(levels) - numbers))

    def shape_of(self, term: Term, columns: AbstractSet[str]) -> Shape:
        """Multiply out a term."""
        made: frozenset[Monomial] = frozenset({()})
        bent: frozenset[str] = frozenset()
        logs: frozenset[str] = frozenset()
        for factor in term.factors:
            shape = self.factor(factor, columns)
            logs = (logs - shape.bent) | (shape.logs - bent)
            made = frozenset(self._reduced((*a, *b)) for a in made for b in shape.products)
            bent |= shape.bent
        return Shape(made - {()}, bent, logs)

    def factor(self, factor: Factor, columns: AbstractSet[str]) -> Shape:
        """Say what a factor is: a polynomial, a function of levels, or a curve."""
        products = monomials(factor.tree, columns)
        if products is not None:
            return Shape(frozenset(map(self._reduced, products)))
        read = sorted(columns_in(factor.tree, columns))
        if self.levels.issuperset(read):  # any function of levels is a sum of products of their dummies
            parts = (part for size in range(1, len(read) + 1) for part in combinations(read, size))
            return Shape(frozenset(parts))
        bent = frozenset(read) - self.levels
        return Shape(frozenset({tuple(read)}), bent, bent if _is_log(factor.tree, columns) else frozenset())

    def _reduced(self, product: Monomial) -> Monomial:
        """Sort a product; a level's dummies squared are themselves."""
        powers = [name for name in product if name not in self.levels]
        return tuple(sorted([*powers, *(set(product) & self.levels)]))

    def link(
        self,
        response: str,
        product: Monomial,
        bent: AbstractSet[str] = frozenset(),
        logs: AbstractSet[str] = frozenset(),
    ) -> Link:
        """Say whether the copies hold how a response goes with a product of columns."""
        involved = {response, *product}
        if involved <= self.kept:
            return Link(held=True, last=response, exact=True)
        last = max(involved, key=lambda name: self.order.get(name, -1))
        step = self.steps[last]
        inside = involved.issubset(step.columns) and len(product) + 1 == len(involved)
        if inside and not bent and len(involved) <= step.together:
            return Link(held=True, last=response, exact=True)
        rest = [*product, response]
        rest.remove(last)
        held = last not in rest and self._spans(last, self._reduced(tuple(rest)), bent, logs)
        tested = self._tested(last, rest, response, bent)
        exact = self._exact(response, last)
        return Link(held=held, last=last, exact=exact, tested=tested and not held, chosen=tested and held)

    def _tested(self, last: str, rest: Iterable[str], response: str, bent: AbstractSet[str]) -> bool:
        """Whether a relation was among those tested when the last model was settled.

        Products of two and curves of one number were; a curve of the number drawn last was not, nor any
        product of more.
        """
        others = [*rest]
        among = {*others} <= {*self.steps[last].tested}
        if last != response and last in bent:
            return False
        return among and (len(others) == 2 if not bent else {*others} <= bent and len({*others}) == 1)

    def _exact(self, response: str, last: str) -> bool:
        """Whether the score equations of the last model keep the moment: a canonical link, all rows there."""
        step = self.steps[last]
        whole = not self.partial & {response, last}
        return step.linear_on in _EXACT and not step.keeps_shape and whole

    def _spans(self, column: str, product: Monomial, bent: AbstractSet[str], logs: AbstractSet[str]) -> bool:
        """Whether a column's model was given a product; a basis stands for every curve of its column.

        A tree takes whatever columns it was given together and on any scale, as far as it has splits.
        """
        step = self.steps[column]
        if step.model == TREE and step.terms is None:
            return self._before[column].issuperset(product)
        if step.model == TREE:
            return {name for term in map(_split, step.terms or ()) for name in term[0]}.issuperset(product)
        if step.terms is None:
            return not bent and len(product) == 1 and product[0] in self._before[column]
        return any(self._is(term, product, bent, logs) for term in step.terms if not _in_part(term))

    def _is(
        self, term: Iterable[Any], product: Monomial, bent: AbstractSet[str], logs: AbstractSet[str]
    ) -> bool:
        """Whether a term of a step holds a product: itself, or by a basis for what is bent or a power."""
        names, curved = _split(term)
        logged = frozenset(each["column"] for each in term if _basis(each) == "log")
        curved = curved - (logged - (logs & bent))
        if logged - curved:
            return False
        free = tuple(name for name in product if name not in curved)
        given = tuple(name for name in names if name not in curved)
        same = curved <= set(product) and self._reduced(given) == self._reduced(free)
        return same and bent <= curved | self.levels


def _split(term: Iterable[Any]) -> tuple[Monomial, frozenset[str]]:
    """Give the columns of a step's term, and those of them that enter by a basis."""
    factors = list(term)
    return tuple(_column(each) for each in factors), frozenset(_bases(factors))


def _column(factor: Any) -> str:
    """Name the column of a factor."""
    return str(factor["column"]) if isinstance(factor, Mapping) else str(factor)


def _basis(factor: Any) -> str:
    """Name the basis of a factor; none for a column as it is, or for one level."""
    return str(factor.get("basis", "")) if isinstance(factor, Mapping) else ""


def _bases(factors: Iterable[Any]) -> Iterator[str]:
    """Name the columns that enter by a basis."""
    return (_column(each) for each in factors if _basis(each))


def _in_part(term: Iterable[Any]) -> bool:
    """Whether a term holds one level, or a bend at one place, and not all of what a column says."""
    return any(isinstance(each, Mapping) and _basis(each) in _AT_ONE_PLACE for each in term)


def _is_log(tree: Expression, columns: AbstractSet[str]) -> bool:
    """Whether an expression is the logarithm of a column."""
    named = isinstance(tree, Call) and tree.function in _LOGARITHMS
    products = monomials(tree.arguments[0], columns) if isinstance(tree, Call) and named else None
    return products is not None and all(len(product) <= 1 for product in products)
