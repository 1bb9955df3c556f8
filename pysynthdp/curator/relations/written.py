"""Functions of columns written as expressions, with constants as short as they can be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

__all__ = ["product_text", "shortest", "simple_numbers", "simplest_between", "sum_text"]

_DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 100, 1000, 10_000, 100_000, 1_000_000)


def simple_numbers(given: Sequence[float]) -> Iterator[tuple[Fraction, ...]]:
    """Give fractions near some numbers, with ever larger denominators.

    Examples
    --------
    >>> next(simple_numbers([0.4999, 1.00002]))
    (Fraction(0, 1), Fraction(1, 1))
    """
    for denominator in _DENOMINATORS:
        yield tuple(Fraction(round(number * denominator), denominator) for number in given)


def simplest_between(low: float, high: float) -> Fraction:
    """Give the simplest fraction, or one over a decimal number, between two positive numbers.

    Examples
    --------
    >>> simplest_between(0.49, 0.502), simplest_between(0.621371, 0.6213712)
    (Fraction(1, 2), Fraction(15625, 25146))
    """
    for denominator in (*_DENOMINATORS, 10**9, 10**12):
        for below, above, upside in ((low, high, False), (1 / high, 1 / low, True)):
            found = Fraction(math.ceil(below * denominator), denominator)
            if below <= found <= above:
                return 1 / found if upside else found
    return Fraction(low)


def shortest(given: Sequence[float], misses: Callable[[tuple[Fraction, ...]], int]) -> tuple[Fraction, ...]:
    """Take the fractions of which a relation misses fewest rows, and of those the simplest."""
    found = [(misses(numbers), place, numbers) for place, numbers in enumerate(simple_numbers(given))]
    return min(found)[2]


def _decimal(value: Fraction) -> bool:
    """Whether a fraction is a decimal number."""
    below = value.denominator
    for prime in (2, 5):
        while below % prime == 0:
            below //= prime
    return below == 1


def _number(value: Fraction) -> str:
    """Write a fraction: as a decimal number where that is exact."""
    return f"{float(value):.12g}" if _decimal(value) else f"{value.numerator} / {value.denominator}"


def sum_text(terms: Sequence[tuple[Fraction, str]], constant: Fraction) -> str:
    """Write a sum of multiples.

    Examples
    --------
    >>> sum_text([(Fraction(1), "educ"), (Fraction(1), "exper")], Fraction(6))
    'educ + exper + 6'
    >>> sum_text([(Fraction(1, 2), "low"), (Fraction(1, 2), "high")], Fraction(0))
    '(low + high) / 2'
    >>> sum_text([(Fraction(2), "a"), (Fraction(-1, 3), "`b c`")], Fraction(-1))
    '2 * a - `b c` / 3 - 1'
    """
    shared = {abs(times) for times, _ in terms}
    if len(terms) > 1 and not constant and len(shared) == 1 and shared != {Fraction(1)}:
        (times,) = shared
        inner = sum_text([(factor / times, name) for factor, name in terms], Fraction(0))
        return _times(times, f"({inner})")
    pieces = [(times < 0, _times(abs(times), name)) for times, name in terms]
    pieces += [(constant < 0, _number(abs(constant)))] if constant or not terms else []
    first = ("-" if pieces[0][0] else "") + pieces[0][1]
    return first + "".join(f" {'-' if negative else '+'} {text}" for negative, text in pieces[1:])


def _times(times: Fraction, text: str) -> str:
    """Write a positive multiple."""
    if times == 1:
        return text
    if times.numerator == 1 or (not _decimal(times) and _decimal(1 / times)):
        return f"{text} / {_number(1 / times)}"
    return f"{_number(times)} * {text}" if _decimal(times) else f"{text} * {_number(times)}"


def product_text(powers: Sequence[tuple[Fraction, str]], times: Fraction) -> str:
    """Write a product of powers.

    Examples
    --------
    >>> product_text([(Fraction(1), "weight"), (Fraction(-2), "height")], Fraction(10000))
    '10000 * weight / height ** 2'
    >>> product_text([(Fraction(1, 2), "area")], Fraction(1))
    'area ** 0.5'
    """
    above = [_power(power, name) for power, name in powers if power > 0]
    below = [_power(-power, name) for power, name in powers if power < 0]
    if times != 1 or not above:
        factor = _number(times)
        above = [f"({factor})" if "/" in factor else factor, *above]
    return " / ".join([" * ".join(above), *below])


def _power(power: Fraction, name: str) -> str:
    """Write a power."""
    return name if power == 1 else f"{name} ** {_number(power)}"
