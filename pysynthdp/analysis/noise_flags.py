"""What noised copies lack by design, where their tags do not tell the steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pysynthdp.analysis.asked import Asked, Factor
from pysynthdp.analysis.expressions import Call, Expression, Name, monomials
from pysynthdp.tags import ReleaseTags

__all__ = ["noise_flags"]

_BENDING = frozenset({"log", "log1p", "log2", "log10", "sqrt", "exp", "expm1"})
_CURVING = frozenset({"bs", "cr", "cc", "te", "ns", "s", "poly", "power", "square"})


def noise_flags(tags: ReleaseTags, asked: Asked) -> tuple[str, ...]:
    """Collect the flags of an analysis of noised copies; empty where there is no privacy noise.

    Parameters
    ----------
    tags : ReleaseTags
        Of a release that does not tell its steps; its details hold the flags of the release.
    asked : Asked
        The analysis.

    Returns
    -------
    tuple of str
        Sentences.

    Notes
    -----
    Privacy: post-processing. The noisy answers hold means, shares and cross-products, so the copies carry no
    interaction and no curvature of the confidential rows, and no shape of a number but by a noisy histogram.

    Examples
    --------
    >>> from pysynthdp.analysis.asked import asked_by_formula
    >>> noisy = ReleaseTags(kind="complete", m=20, n_syn=9, noise="per_copy_from_one", parameters="drawn")
    >>> noise_flags(noisy, asked_by_formula("y ~ a * b"))
    ('the model has interactions or powers, which the copies do not carry: they are about zero by design',)
    """
    if tags.noise == "none":
        return ()
    flags = [str(flag) for flag in tags.details.get("flags", ())]
    factors = [factor for term in asked.terms for factor in term.factors]
    if any(len(term.factors) > 1 for term in asked.terms) or any(map(_is_curved, factors)):
        flags.append(
            "the model has interactions or powers, which the copies do not carry: they are about zero by "
            "design"
        )
    if _calls([*factors, *([] if asked.response is None else [asked.response])]) & _BENDING:
        flags.append(
            "the model takes a log, root or exponential of a column: the copies have the shape of a number "
            "only where 'normrank' drew it, to the width of a range"
        )
    if tags.details.get("void"):
        flags.append("void: the noise was seeded, for testing")
    return tuple(flags)


def _is_curved(factor: Factor) -> bool:
    """Whether a factor has products, powers or splines."""
    products = monomials(factor.tree, frozenset(_names(factor.tree)))
    return bool(_calls([factor]) & _CURVING) or (products is not None and max(map(len, products)) > 1)


def _names(tree: Expression) -> Iterator[str]:
    """All names of an expression, taken for columns."""
    if isinstance(tree, Name):
        yield tree.name
    if isinstance(tree, Call):
        for inner in tree.arguments:
            yield from _names(inner)


def _calls(factors: Iterable[Factor]) -> set[str]:
    """All functions that factors call."""
    found: set[str] = set()
    trees: list[Expression] = [factor.tree for factor in factors]
    while trees:
        tree = trees.pop()
        if isinstance(tree, Call):
            found.add(tree.function)
            trees += tree.arguments
    return found
