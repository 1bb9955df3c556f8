"""What a pooled table must say of the copies' rows: alike in variance, and independent of one another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pysynthdp.analysis.asked import Asked
from pysynthdp.analysis.expressions import columns_in
from pysynthdp.analysis.held import Chain

__all__ = ["listed", "of_rows"]


def of_rows(asked: Asked, chain: Chain | None) -> Iterator[str]:
    """Say what copies' rows are: alike in variance but for what models say, and independent."""
    if asked.robust and not asked.clusters:
        yield (
            "robust covariances describe the copies, whose rows have the variances that their models give "
            "them, not those of the confidential rows"
        )
    if asked.clusters or asked.mixed:
        yield _of_clusters(asked, chain)
    if asked.quantiles:
        yield (
            "quantiles of the response given others: the models hold its mean, and one spread and shape for "
            "all rows"
        )


def _of_clusters(asked: Asked, chain: Chain | None) -> str:
    """Say what of clusters the copies hold: nothing, or the mean of each where the cluster is a category."""
    what = "random effects" if asked.mixed else "robust or cluster covariances"
    text = f"{what}: rows of the copies are drawn independently, so they have no clusters"
    held = [] if chain is None else [name for name in asked.groups if _is_category(name, asked, chain)]
    if not held:
        return (
            f"{text}; only a cluster's name kept as a category from which the response is drawn would keep "
            "the means of clusters"
        )
    return (
        f"{text} beyond the mean of the response in each level of {listed(held)}, a category from which it "
        "was drawn; nothing else is alike within one"
    )


def _is_category(name: str, asked: Asked, chain: Chain) -> bool:
    """Whether clusters are levels that the response was drawn from."""
    if name not in chain.levels or name not in chain.steps:
        return False
    known = frozenset(chain.steps)
    responses = frozenset() if asked.response is None else columns_in(asked.response.tree, known)
    return bool(responses) and all(chain.link(each, (name,)).held for each in responses)


def listed(names: Iterable[str]) -> str:
    """List names; the first six where there are many."""
    shown = list(names)
    rest = f" and {len(shown) - 6} more" if len(shown) > 6 else ""
    return ", ".join(shown[:6]) + rest
