"""Numbers that are sums, products, ratios, powers or logarithms of other numbers, all but a few rows.

A number is regressed on all others, on the plain and on the logarithmic scale, by least squares that leave
out the tenth of the rows that fits worst. What then fits to within rounding has its coefficients written as
short as they can be; an expression that needs more than a handful of columns is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray
from pysynthdp.curator.relations.written import product_text, shortest, simplest_between, sum_text
from pysynthdp.design.expressions import quoted
from pysynthdp.models.fits.rank import pivot_shares

__all__ = ["Numbers", "arithmetic_of"]

_KEPT = 0.9  # of the rows; the worst tenth does not shape the fit
_ROUNDS = 6
_VARIES = 1e-13  # of the largest number: less is rounding
_ALREADY = 1e-4  # of the variance of a number that earlier ones leave; less is nothing of its own
_ROWS_A_COLUMN = 5
_PRESENT = 0.5  # of the rows, that a number must be there in
_FEWEST_ROWS = 50
_EXACT = 1e-6  # standard deviations: what storage rounds
_COARSE = 0.05  # standard deviations; a coarser grid lets nearly anything pass for rounding
_NEAR = 0.03  # standard deviations: what a near-function misses in nine rows of ten
_MOST_TERMS = 6
_WORTH = 0.5  # of the variance: below, a few odd rows are not what hides a function
_PAIRED = 24  # numbers up to which all products of two are tried
_FIRST = 300  # rows that tell which pairs are worth a closer look
_ALIKE = 0.98
_BENT = 1e-3  # standard deviations of exp(y), where y itself was rounded


@dataclass(frozen=True, slots=True, repr=False)
class Numbers:
    """A sample of the numbers of a table.

    Parameters
    ----------
    columns : mapping column -> array (rows,)
        NaN where missing.
    steps : mapping column -> float
        Grid of each; 0 where it has none.
    """

    columns: Mapping[str, FloatArray]
    steps: Mapping[str, float]

    def beside(self, name: str, others: Sequence[str]) -> tuple[list[str], FloatArray, FloatArray]:
        """Take the rows that have a number and its closest others: names and values of those, and its own."""
        y = self.columns[name]
        near = [other for other in others if np.isfinite(self.columns[other]).mean() >= _PRESENT]
        near.sort(key=lambda other: -_closeness(self.columns[other], y))
        near = near[: int(np.isfinite(y).sum() / _ROWS_A_COLUMN)]
        names = [other for other in others if other in near]
        if not names:
            return [], np.zeros((0, 0)), np.zeros(0)
        X = np.column_stack([self.columns[other] for other in names])
        there = np.isfinite(X).all(axis=1) & np.isfinite(y)
        return names, X[there], y[there]


def _closeness(x: FloatArray, y: FloatArray) -> float:
    """Squared correlation of two numbers where both are there."""
    there = np.isfinite(x) & np.isfinite(y)
    if np.count_nonzero(there) < _FEWEST_ROWS:
        return 0.0
    Z = _standardised(np.stack([x[there], y[there]], axis=1))
    return float((Z[:, 0] @ Z[:, 1] / max(len(Z), 1)) ** 2)


def arithmetic_of(name: str, others: Sequence[str], numbers: Numbers) -> Iterator[str]:
    """Give expressions of other numbers that one may be, the simplest kinds first.

    Parameters
    ----------
    name : str
        The number.
    others : sequence of str
        Numbers that it may be made of.
    numbers : Numbers
        The sample.

    Notes
    -----
    Privacy: reads real rows. Constants are those of a relation that nine rows of ten share.
    """
    there = numbers.columns[name][np.isfinite(numbers.columns[name])]
    if others and np.unique(there[:200]).size > 2:
        yield from _sums(name, others, numbers)
        yield from _products(name, others, numbers)
        yield from _curves(name, others, numbers)


# -- sums --------------------------------------------------------------------------------------------------


def _sums(name: str, others: Sequence[str], numbers: Numbers) -> Iterator[str]:
    """Give the sum of multiples that a number is."""
    left, X, y = numbers.beside(name, others)
    if not left or len(y) < _FEWEST_ROWS:
        return
    found = _thinned(X, y, _allowed(y, numbers.steps[name]))
    if found is None:
        return
    used, slopes = found
    step, spread = numbers.steps[name], float(np.std(y))
    off = _allowed(y, step)

    def misses(given: tuple[Fraction, ...]) -> int:
        rest = y - X[:, used] @ np.array([float(each) for each in given])
        return _missed(rest, off, _constant(rest, step))

    times = _between(X[:, used], y, off) or shortest(slopes, misses)
    if misses(times) > (1 - _KEPT) * len(y) and _scatter(y - X[:, used] @ np.array(slopes)) > _NEAR * spread:
        return
    rest = y - X[:, used] @ np.array([float(each) for each in times])
    terms = [(each, quoted(left[at])) for each, at in zip(times, used, strict=True) if each]
    if terms:
        yield sum_text(terms, Fraction(_constant(rest, step)).limit_denominator(1_000_000))


def _between(X: FloatArray, y: FloatArray, off: float) -> tuple[Fraction, ...]:
    """Find the simplest factor of one positive number that every row allows; none where rows disagree."""
    if X.shape[1] > 1 or X.min() <= 0:
        return ()
    x = X[:, 0]
    low, high = float(((y - off) / x).max()), float(((y + off) / x).min())
    return (simplest_between(low, high),) if 0 < low <= high else ()


def _constant(rest: FloatArray, step: float) -> float:
    """Find the constant that most rows share, on a grid ten times finer than the number's own."""
    middle = float(np.median(rest))
    if not step:
        return middle
    for fine in (1.0, 0.5, 0.1):
        found = round(middle / (step * fine)) * step * fine
        if abs(found - middle) <= step * 0.25:
            return found
    return middle


def _allowed(y: FloatArray, step: float) -> float:
    """How far off a row may be: half a step of a fine grid, else what storage rounds."""
    spread = float(np.std(y))
    half = 0.5 * step * (1 + 1e-6)
    return max(half if half <= _COARSE * spread else 0.0, _EXACT * spread)


def _scatter(rest: FloatArray) -> float:
    """How far off nine rows of ten are from the middle."""
    return float(np.quantile(np.abs(rest - np.median(rest)), _KEPT))


def _thinned(X: FloatArray, y: FloatArray, off: float) -> tuple[list[int], list[float]] | None:
    """Fit a number on others and leave out those that it does not need; None where it does not fit."""
    if len(y) < _FEWEST_ROWS:
        return None
    used = [int(at) for at in np.flatnonzero(_varies(X))]
    if not used or not _varies(y[:, None]).any() or _explained(X[:, used], y) < _WORTH:
        return None
    return _needed(X, y, _unlike_earlier(X, used), off) or _needed(X, y, used, off)


def _varies(X: FloatArray) -> BoolArray:
    """Whether columns vary by more than rounding, which alone gives a constant one a spread."""
    return np.asarray(np.std(X, axis=0) > _VARIES * np.abs(X).max(axis=0, initial=0.0), dtype=np.bool_)


def _unlike_earlier(X: FloatArray, used: Sequence[int]) -> list[int]:
    """Leave out columns that are nearly sums of earlier ones, which say the same."""
    Z = (X[:, used] - X[:, used].mean(axis=0)) / np.std(X[:, used], axis=0)
    left = pivot_shares(Z.T @ Z / len(Z), np.full(len(used), _ALREADY))
    return [at for at, pivot in zip(used, left, strict=True) if pivot > _ALREADY]


def _needed(
    X: FloatArray, y: FloatArray, used: list[int], off: float
) -> tuple[list[int], list[float]] | None:
    """Fit on some columns, and again without those that change less than the fit misses."""
    widths, spread = np.std(X, axis=0), float(np.std(y))
    slopes = np.zeros(0)
    while used:
        slopes, rest = trimmed(X[:, used], y)
        scatter = _scatter(rest)
        if scatter > max(_NEAR * spread, off):
            return None
        weight = np.abs(slopes) * widths[used]
        small = weight < max(2 * scatter, _EXACT * spread)
        if not small.any():
            break
        used = [at for at, less in zip(used, small, strict=True) if not less]
    return (used, slopes.tolist()) if used and len(used) <= _MOST_TERMS else None


def _explained(X: FloatArray, y: FloatArray) -> float:
    """Share of the variance that a regression on all rows explains."""
    Z = (X - X.mean(axis=0)) / np.std(X, axis=0)
    z = (y - y.mean()) / np.std(y)
    c = Z.T @ z
    return float(c @ np.linalg.lstsq(Z.T @ Z, c, rcond=1e-12)[0] / len(z))


def trimmed(X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Regress on the nine tenths of the rows that fit best: slopes, and every row's residual.

    Notes
    -----
    Least trimmed squares by concentration steps (Rousseeuw and Van Driessen 2006, Data Mining and Knowledge
    Discovery 12, 29), from the fit to all rows.
    """
    Z = np.column_stack([np.ones(len(X)), (X - X.mean(axis=0)) / np.std(X, axis=0)])
    kept: BoolArray = np.ones(len(y), dtype=np.bool_)
    rest = y
    for _ in range(_ROUNDS):
        W = Z[kept]
        beta = np.linalg.lstsq(W.T @ W, W.T @ y[kept], rcond=1e-13)[0]
        rest = y - Z @ beta
        now = np.abs(rest) <= np.quantile(np.abs(rest), _KEPT)
        if (now == kept).all():
            break
        kept = now
    return beta[1:] / np.std(X, axis=0), rest


# -- products ----------------------------------------------------------------------------------------------


def _products(name: str, others: Sequence[str], numbers: Numbers) -> Iterator[str]:
    """Give the product of powers that a positive number is."""
    logs = {each: _logs(numbers.columns[each]) for each in (*others, name)}
    positive = Numbers({each: column for each, column in logs.items() if column is not None}, {})
    if name not in positive.columns:
        return
    left, X, y = positive.beside(name, [other for other in others if other in positive.columns])
    if len(y) < _FEWEST_ROWS:
        return
    rounding = 0.5 * numbers.steps[name] * np.exp(-np.quantile(y, 0.1))
    found = _thinned(X, y, max(float(rounding), _EXACT))
    if found is None:
        return
    used, slopes = found
    powers = [Fraction(round(2 * slope), 2) for slope in slopes]
    kept = [(power, at) for power, at in zip(powers, used, strict=True) if power]
    if not kept or max(abs(power) for power, _ in kept) > 4:
        return
    rest = y - sum(float(power) * X[:, at] for power, at in kept)
    if _scatter(rest) > max(_NEAR * float(np.std(y)), 2 * rounding):
        return
    factor = float(np.exp(np.median(rest)))
    yield product_text([(power, quoted(left[at])) for power, at in kept], _short(factor, _scatter(rest)))


def _logs(column: FloatArray) -> FloatArray | None:
    """Logarithms of a number that is positive in nearly all rows."""
    with np.errstate(all="ignore"):
        found = np.where(column > 0, np.log(column), np.nan)
    there = np.isfinite(column)
    enough = there.any() and (np.isfinite(found).sum() >= _KEPT * there.sum())
    return found if enough else None


def _short(value: float, off: float) -> Fraction:
    """Give the simplest number near a factor, a power of ten first."""
    ten = 10.0 ** round(np.log10(value))
    if abs(value / ten - 1) <= max(off, 1e-3):
        return Fraction(ten).limit_denominator(1_000_000_000)
    for digits in range(1, 9):
        found = float(f"{value:.{digits}g}")
        if abs(value / found - 1) <= max(off, 1e-6) / 4:
            break
    return Fraction(f"{found!r}")


# -- curves, and products of numbers that may be zero --------------------------------------------------------

_CURVES: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "log({})": np.log,
    "sqrt({})": np.sqrt,
    "exp({})": np.exp,
}


def _curves(name: str, others: Sequence[str], numbers: Numbers) -> Iterator[str]:
    """Give multiples of a curve of one number, or of a product of two, that a number is."""
    y, step = numbers.columns[name], numbers.steps[name]
    with np.errstate(all="ignore"):
        for other in others:
            for text, of in _CURVES.items():
                yield from _multiple(of(numbers.columns[other]), y, step, text.format(quoted(other)))
        if len(others) <= _PAIRED:
            for first, second in _pairs(y, others, numbers):
                text = f"{quoted(first)} ** 2" if first == second else f"{quoted(first)} * {quoted(second)}"
                yield from _multiple(numbers.columns[first] * numbers.columns[second], y, step, text)
        yield from (f"log({text})" for text in _shifted(np.exp(y), others, numbers))


def _shifted(bent: FloatArray, others: Sequence[str], numbers: Numbers) -> Iterator[str]:
    """Give numbers with a constant added whose logarithm a number may be: ``x + 0.1``."""
    for other in others:
        x = numbers.columns[other]
        off = bent - x
        there = np.isfinite(off)
        if there.sum() >= _FEWEST_ROWS and _scatter(off[there]) <= _BENT * float(np.std(x[there])):
            constant = Fraction(round(float(np.median(off[there])), 3)).limit_denominator(1000)
            yield sum_text([(Fraction(1), quoted(other))], constant)


def _pairs(y: FloatArray, others: Sequence[str], numbers: Numbers) -> Iterator[tuple[str, str]]:
    """Give the pairs whose product goes closely with a number in the first rows."""
    first = np.isfinite(y)[:_FIRST]
    if np.count_nonzero(first) < _FEWEST_ROWS:
        return
    X = np.stack([np.nan_to_num(numbers.columns[name][:_FIRST][first]) for name in others], axis=1)
    z = _standardised(y[:_FIRST][first][:, None])[:, 0]
    for at, name in enumerate(others):
        near = np.abs(z @ _standardised(X[:, [at]] * X[:, at:])) / max(len(z), 1) > _ALIKE
        yield from ((name, others[at + int(place)]) for place in np.flatnonzero(near))


def _standardised(X: FloatArray) -> FloatArray:
    """Centre and scale columns; constant ones become zero."""
    centred = X - X.mean(axis=0)
    width = np.std(X, axis=0)
    return np.asarray(np.divide(centred, width, out=np.zeros_like(centred), where=width > 0))


def _multiple(x: FloatArray, y: FloatArray, step: float, text: str) -> Iterator[str]:
    """Give ``a * text + b`` where a number is that in nearly all rows."""
    there = np.isfinite(x) & np.isfinite(y)
    if there.sum() < max(_FEWEST_ROWS, _KEPT * np.isfinite(y).sum()):
        return
    x, y = x[there], y[there]
    ends = _standardised(np.stack([x[:_FIRST], y[:_FIRST]], axis=1))
    if abs(ends[:, 0] @ ends[:, 1]) < _ALIKE * len(ends) or not 0 < np.std(x) < np.inf:
        return
    (slope,), rest = trimmed(x[:, None], y)
    allowed = _allowed(y, step)
    if _scatter(rest) > allowed:
        return
    (times,) = shortest([float(slope)], lambda given: _missed(y - float(given[0]) * x, allowed))
    left = y - float(times) * x
    if times and _missed(left, allowed) <= (1 - _KEPT) * len(y):
        middle = float(np.median(left))
        (constant,) = shortest([middle], lambda given: _missed(left, allowed, float(given[0])))
        yield sum_text([(times, text)], constant)


def _missed(rest: FloatArray, off: float, middle: float | None = None) -> int:
    """Count rows that are further off than may be."""
    centre = float(np.median(rest)) if middle is None else middle
    return int((np.abs(rest - centre) > off).sum())
