"""Whether the fits of m copies are of one model, and coefficients of one name mean the same in all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from pysynthdp.analysis.description import Coding
from pysynthdp.analysis.estimates import Estimates
from pysynthdp.base.errors import FitError

__all__ = ["Compared", "all_equal", "compare_models", "copy_numbers"]

_SHOWN = 6
_LEARNED = (
    "{factors}: learned from each copy anew (knots, means, polynomials or cuts), so its coefficients do not "
    "quite mean the same in all. Read the pooled curve, or fix what is learned (knots and bounds, degree, "
    "centre and scale as numbers). Between the copies they vary by that too, and T counts it."
)


@dataclass(frozen=True, slots=True)
class Compared:
    """Estimates without the terms that do not mean the same in all copies, and what the reader should know.

    Parameters
    ----------
    found : list of Estimates, length m
        NaN where a term is not pooled.
    notes : tuple of str
        Sentences.
    masked : frozenset of str
        Terms that the notes name.
    """

    found: list[Estimates]
    notes: tuple[str, ...]
    masked: frozenset[str]


def compare_models(found: Sequence[Estimates]) -> Compared:
    """Refuse fits of different models; take out the terms whose meaning differs between copies.

    Parameters
    ----------
    found : sequence of Estimates
        One a copy, aligned to the same terms; what they say of themselves is in ``about``.

    Returns
    -------
    Compared
        The estimates to pool, and notes.

    Raises
    ------
    FitError
        When the formula, the response, the kind of model, its family or the kind of covariance differ.

    Notes
    -----
    Privacy: post-processing of fits to synthetic copies; formulas and levels are those of the copies.

    Examples
    --------
    >>> import numpy as np
    >>> one = Estimates(("x",), np.array([1.0]), np.eye(1), model="OLS")
    >>> compare_models([one, one]).notes
    ()
    """
    _refuse_others(found)
    recoded, about_codes = _recoded(found)
    tangled, about_tangles = _entangled(found)
    masked = recoded | tangled
    return Compared(
        [_without(estimate, masked) for estimate in found],
        (*about_codes, *about_tangles, *_learned(found)),
        frozenset(masked),
    )


def _refuse_others(found: Sequence[Estimates]) -> None:
    """Refuse fits of which one is of another model than the others."""
    asked: tuple[tuple[str, Callable[[Estimates], Any], str], ...] = (
        ("is of the model {}", lambda one: one.model, "fit one model to every copy"),
        ("explains {}", _response, "give every copy's fit the same response"),
        ("has the family {}", lambda one: one.about and one.about.family, "fit one family to every copy"),
        ("has the covariance {}", _covariance, "take one kind of covariance for every copy"),
    )
    for says, read, remedy in asked:
        _refuse_odd([read(one) for one in found], says, remedy)
    texts = [_formula(one) for one in found]
    if len({frozenset(one.design_terms_here()) for one in found}) > 1:
        _refuse_odd(texts, "was fitted by {}", "fit one formula to every copy")


def _response(one: Estimates) -> str | None:
    """Name the response."""
    return one.about.response if one.about else None


def _covariance(one: Estimates) -> str | None:
    """Name the kind of covariance, the ordinary one too."""
    return (one.about.covariance or "that goes with the model") if one.about else None


def _formula(one: Estimates) -> str | None:
    """Give the formula without blanks that mean nothing."""
    text = (one.about.formula if one.about else None) or one.formula
    return None if text is None else " ".join(text.split())


def _refuse_odd(values: Sequence[Any], says: str, remedy: str) -> None:
    """Name the copies that differ from most, where anything differs."""
    known = [value for value in values if value is not None]
    if len(set(known)) < 2:
        return
    usual = Counter(known).most_common(1)[0][0]
    number, odd = next((i, v) for i, v in enumerate(values, start=1) if v not in {None, usual})
    raise FitError(
        f"copy {number}: its fit {says.format(odd)}, while that of copy {values.index(usual) + 1} "
        f"{says.format(usual)}, and one table cannot hold both; {remedy}",
        kind="another model",
    )


def _recoded(found: Sequence[Estimates]) -> tuple[set[str], list[str]]:
    """Terms whose contrasts differ between copies, with everything nested with them."""
    described = [(i, one.about.codings) for i, one in enumerate(found, start=1) if one.about]
    wrong: dict[str, tuple[set[int], set[frozenset[str]]]] = {}
    for number, mine in described[1:]:
        for first, second in zip_longest(described[0][1], mine):
            if not _agree(first, second):
                coding = first or second
                copies, sets = wrong.setdefault(coding.factor, (set(), set()))
                copies.add(number)
                sets |= {coding.members, coding.members - {coding.factor}}
    masked: set[str] = set()
    notes = []
    for factor, (copies, sets) in wrong.items():
        terms = _terms_of(found, sets)
        masked |= set(terms)
        notes.append(
            f"{_few(terms)} cannot be pooled: {factor} has another reference level, or other levels that "
            f"its contrasts rest on, in copy {copy_numbers(copies)} than in copy {described[0][0]}. Give it "
            "a reference level that occurs in every copy, merge rare levels, or cut at values of your own."
        )
    return masked, notes


def _agree(first: Coding | None, second: Coding | None) -> bool:
    """Whether two codings are of one term and mean the same."""
    if first is None or second is None:
        return False
    if (first.members, first.factor) != (second.members, second.factor):
        return True  # other terms: the formulas were compared already
    return first.same_meaning(second)


def _terms_of(found: Sequence[Estimates], sets: set[frozenset[str]]) -> list[str]:
    """Coefficients that belong to one of some sets of factors, in all equations."""
    belongs = {name: members for one in found if one.about for name, members in one.about.members.items()}
    pairs = zip(found[0].terms, found[0].design_terms, strict=True)
    return [term for term, inner in pairs if belongs.get(inner) in sets]


def _entangled(found: Sequence[Estimates]) -> tuple[set[str], list[str]]:
    """Terms that are collinear with others in some copies, and so mean something else there."""
    where: dict[str, list[int]] = {}
    for number, one in enumerate(found, start=1):
        for inner in one.about.entangled if one.about else ():
            where.setdefault(inner, []).append(number)
    if len(found) > 1 and all(
        one.about and one.about.entangled and not np.isnan(one.values).any() for one in found
    ):
        raise FitError("columns of the model are collinear in every copy; drop a term", kind="another model")
    # A program that drops a column drops the same in all copies, where all have the same collinearity.
    dropped = all(np.isnan(one.values).any() for one in found)
    wrong = {inner: copies for inner, copies in where.items() if len(copies) < len(found) or not dropped}
    pairs = zip(found[0].terms, found[0].design_terms, strict=True)
    terms = [term for term, inner in pairs if inner in wrong]
    if not terms:
        return set(), []
    copies = sorted({number for numbers in wrong.values() for number in numbers})
    note = (
        f"{_few(terms)} cannot be pooled: in copy {copy_numbers(copies)} they are collinear and "
        "cannot be told apart. Drop a term, or merge rare levels."
    )
    return set(terms), [note]


def _learned(found: Sequence[Estimates]) -> list[str]:
    """Note the factors whose basis differs between copies."""
    described = [one.about.bases for one in found if one.about]
    names = dict.fromkeys(name for bases in described for name in bases)
    differ = [name for name in names if not _same_numbers([bases.get(name) for bases in described])]
    return [_LEARNED.format(factors=", ".join(differ))] if differ else []


def _same_numbers(many: Sequence[Any]) -> bool:
    """Whether all arrays are there, of one size, and equal to rounding."""
    first = many[0]
    return all(
        one is not None
        and first is not None
        and one.shape == first.shape
        and np.allclose(
            one, first, rtol=1e-8, atol=1e-10 * float(np.max(np.abs(first), initial=0)), equal_nan=True
        )
        for one in many
    )


def _few(names: Sequence[str]) -> str:
    """Name the first few."""
    more = len(names) - _SHOWN
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:_SHOWN])} and {more} more terms"


def _without(one: Estimates, masked: set[str]) -> Estimates:
    """Put NaN in the place of some terms."""
    places = [i for i, term in enumerate(one.terms) if term in masked]
    if not places:
        return one
    values, cov = one.values.copy(), one.cov.copy()
    values[places] = np.nan
    cov[places, :] = np.nan
    cov[:, places] = np.nan
    return replace(one, values=values, cov=cov)


def all_equal(found: Sequence[Estimates]) -> bool:
    """Whether estimates and variances are the same in all copies to rounding, and not all certain."""
    q = np.array([one.values for one in found])
    U = np.array([one.cov for one in found])
    known = np.isfinite(q).all(axis=0)
    u = np.diagonal(U, axis1=1, axis2=2)
    if len(found) < 2 or not known.any() or not np.all(u[:, known] > 0):
        return False
    scale = np.sqrt(u[0, known])
    apart = np.ptp(q[:, known], axis=0) / scale
    return bool(np.all(apart < 1e-9) and np.all(np.ptp(u[:, known], axis=0) < 1e-9 * u[0, known]))


def copy_numbers(numbers: Any) -> str:
    """Write numbers of copies: ``2, 4``."""
    return ", ".join(str(number) for number in sorted(numbers))
