"""What is odd about a column, each oddity with its mend; for the data's holder, so values may be named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from pysynthdp._typing import BoolArray, FloatArray, IntArray
from pysynthdp.display import number
from pysynthdp.infer.spikes import HIGH_CODES, LOW_CODES, stand_out
from pysynthdp.queries import FEWEST

__all__ = ["level_hints", "number_hints"]

_CODE_SHARE = 0.005  # a code is used more than by chance
_CODE_COUNT = 3
_SPIKE_SHARE = 0.1
_FEW_SPIKES = 2  # more are heaps
_MANY_VALUES = 20
_HEAP_SHARE = 0.6
_HEAPS = (1000, 500, 100, 50, 10, 5)
_MOST = 0.99
_MANY_LEVELS = 60
_CODE_TEXT = re.compile(r"-\d+(\.0)?")


def code_hints(name: str, values: FloatArray, declared: tuple[object, ...]) -> Iterator[str]:
    """Say which of a scale's few numbers look like missing codes."""
    distinct, counts = np.unique(values, return_counts=True)
    open_ones = ~np.isin(distinct, [code for code in declared if isinstance(code, int | float)])
    codes = _codes(distinct[open_ones], counts[open_ones])
    if codes.any():
        yield _code_text(name, distinct[open_ones][codes], counts[open_ones][codes].sum() / counts.sum())


def _code_text(name: str, codes: FloatArray, share: float, *, apart: bool = False) -> str:
    """Name what looks like a code, and how to declare it."""
    listed = ", ".join(f"{code:g}: '...'" for code in codes)
    otherwise = "are kept apart as spikes" if apart else "are drawn as numbers"
    return (
        f"{_percent(share)} of the values look like codes: if so, missing={{{name!r}: {{{listed}}}}}, "
        f"else they {otherwise}"
    )


def number_hints(
    name: str, values: FloatArray, *, dated: bool, apart: tuple[float, ...] = ()
) -> Iterator[str]:
    """Say what is odd about the numbers of a column.

    Parameters
    ----------
    name : str
        Column name.
    values : array (rows,)
        Present values, without declared codes and spikes.
    dated : bool
        Whether they count days or seconds; codes and heaps are then not looked for.
    apart : tuple of float
        Learned spikes: they are kept apart already.
    """
    distinct, counts = np.unique(values, return_counts=True)
    if not len(distinct):
        return
    yield from _common(name, counts)
    if dated or len(distinct) < 2:
        return
    codes = _codes(distinct, counts)
    if codes.any():
        kept = bool(np.isin(distinct[codes], apart).all())
        yield _code_text(name, distinct[codes], counts[codes].sum() / counts.sum(), apart=kept)
    plain, frequency = distinct[~codes], counts[~codes]
    spikes = _stand_out(plain, frequency) | np.isin(plain, apart)
    if spikes.any():
        listed = ", ".join(_exact(value) for value in plain[spikes])
        share = _percent(frequency[spikes].sum() / frequency.sum())
        kept = bool(np.isin(plain[spikes], apart).all())
        what = "kept apart; to declare it:" if kept else "keep that mass apart with"
        yield f"{share} of the values are {listed}: {what} spikes={{{name!r}: [{listed}]}}"
    yield from _heaps(name, plain[~spikes], frequency[~spikes])


def _common(name: str, counts: IntArray) -> Iterator[str]:
    """Constant and nearly constant columns."""
    if len(counts) == 1:
        yield f"constant: it tells nothing; drop=[{name!r}], or leave it and it stays constant"
    elif counts.max() / counts.sum() >= _MOST:
        few = int(counts.sum() - counts.max())
        differ = "record differs" if few == 1 else "records differ"
        yield (
            f"nearly constant: {number(few)} {differ}, and copies may point to them; "
            f"drop=[{name!r}] or method={{{name!r}: 'sample'}}"
        )


def _codes(distinct: FloatArray, counts: IntArray) -> BoolArray:
    """Find frequent values that stand apart: -8 or -9 below numbers of zero and more, 97 or 999 far above."""
    often = (counts >= _CODE_COUNT) & (counts >= _CODE_SHARE * counts.sum())
    low = np.isin(distinct, LOW_CODES)
    high = np.isin(distinct, HIGH_CODES)
    rest = distinct[~(low | high)]
    if len(rest) < 2:
        return np.zeros(len(distinct), dtype=bool)
    width = max(float(rest[-1] - rest[0]), 1.0)
    apart = high & (distinct > rest[-1] + max(0.25 * width, 2.0))
    below = low & (rest[0] >= 0)
    return np.asarray((apart | below) & often, dtype=bool)


def _stand_out(distinct: FloatArray, counts: IntArray) -> BoolArray:
    """Find one or two values among many with a tenth of the records each, far above their neighbours."""
    none = np.zeros(len(counts), dtype=bool)
    if len(counts) <= _MANY_VALUES:
        return none
    high = stand_out(distinct, counts, counts >= _SPIKE_SHARE * counts.sum(), apart=none)
    return high if high.sum() <= _FEW_SPIKES else none


def _heaps(name: str, distinct: FloatArray, counts: IntArray) -> Iterator[str]:
    """Find values that people rounded: most are multiples of a step that few would be by chance."""
    if len(distinct) <= _MANY_VALUES or not bool((distinct == np.round(distinct)).all()):
        return
    for step in _HEAPS:
        on = np.remainder(distinct, step) == 0
        share = counts[on].sum() / counts.sum()
        if share >= _HEAP_SHARE and on.sum() > 2 and not on.all():
            digits = {1000: -3, 500: -2, 100: -2, 50: -1, 10: -1}.get(step)
            mend = f"; decimals={{{name!r}: {digits}}} rounds them so" if digits else ""
            yield f"{_percent(share)} of the values are multiples of {step}: copies will be smoother{mend}"
            return


def level_hints(name: str, counts: Mapping[object, int], *, ordered: bool) -> Iterator[str]:
    """Say what is odd about the levels of a column.

    Parameters
    ----------
    name : str
        Column name.
    counts : mapping level -> records
        Levels with records, without declared codes.
    ordered : bool
        Whether the column is declared ordered.
    """
    if not counts:
        return
    sizes = np.array(list(counts.values()), dtype=np.int64)
    yield from _common(name, sizes)
    texts = [level for level in counts if isinstance(level, str)]
    yield from _coded_texts(name, texts)
    rare = int((sizes < FEWEST).sum())
    if rare:
        what = "1 level has" if rare == 1 else f"{number(rare)} levels have"
        yield (
            f"{what} fewer than {FEWEST} records: copies tell that such a person is there, and not what else "
            "they answered; rare='merge' puts such levels together"
        )
    if len(counts) > _MANY_LEVELS and not ordered:
        yield f"{number(len(counts))} levels make a slow and vague fit; group them before fitting"


def _coded_texts(name: str, texts: list[str]) -> Iterator[str]:
    """Find codes among texts, such as '-8'."""
    codes = [text for text in texts if _CODE_TEXT.fullmatch(text.strip())]
    if codes and len(codes) < len(texts):
        listed = ", ".join(f"{code!r}: '...'" for code in sorted(codes))
        yield f"a level looks like a missing code: if so, missing={{{name!r}: {{{listed}}}}}"


def _exact(value: float) -> str:
    """Write a value so that it can be declared: every digit, whole numbers without a point."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _percent(share: float) -> str:
    """Write a share."""
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.1f} %"
