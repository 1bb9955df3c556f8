"""What makes intervals from noised answers doubtful: the release's own flags, and what its model lacks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pysynthdp.tags import ReleaseTags

__all__ = ["noise_flags"]

_PLAIN = frozenset({"nonrobust", None})
_BENT = re.compile(r"\b(?:np\.|numpy\.)?(?:log(?:1p|2|10)?|sqrt|exp(?:m1)?)\s*\(")
_CURVED = re.compile(r"\*\*|\*|:(?!:)|\^|%in%|\b(?:np\.(?:power|square)|poly|bs|cr)\s*\(")


def noise_flags(tags: ReleaseTags, formula: str | None, fits: Sequence[Any]) -> tuple[str, ...]:
    """Collect the flags of an analysis of noised copies; empty where there is no privacy noise.

    Parameters
    ----------
    tags : ReleaseTags
        Of the release; its details hold the flags of the release.
    formula : str or None
        The model as the user wrote it.
    fits : sequence
        One a copy.

    Returns
    -------
    tuple of str
        Sentences.

    Notes
    -----
    Privacy: post-processing. The noisy answers hold means, shares and cross-products, so the copies carry no
    interaction, curvature or unequal variance of the confidential rows, and no shape of a number but by a
    noisy histogram.

    Examples
    --------
    >>> noisy = ReleaseTags(kind="complete", m=20, n_syn=9, noise="per_copy_from_one", parameters="drawn")
    >>> noise_flags(noisy, "y ~ a * b", [])
    ('the model has interactions or powers, which the copies do not carry: they are about zero by design',)
    """
    if tags.noise == "none":
        return ()
    flags = [str(flag) for flag in tags.details.get("flags", ())]
    right = (formula or "").split("~", 1)[-1]
    if _CURVED.search(right):
        flags.append(
            "the model has interactions or powers, which the copies do not carry: they are about zero by "
            "design"
        )
    if _BENT.search(formula or ""):
        flags.append(
            "the model takes a log, root or exponential of a column: the copies have the shape of a number "
            "only where 'normrank' drew it, to the width of a range"
        )
    if any(getattr(fit, "cov_type", None) not in _PLAIN for fit in fits):
        flags.append(
            "robust or cluster covariances describe the copies, whose rows have equal variance and no "
            "clusters"
        )
    if tags.details.get("void"):
        flags.append("void: the noise was seeded, for testing")
    return tuple(flags)
