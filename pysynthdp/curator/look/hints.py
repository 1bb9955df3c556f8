"""What is odd about a column, each oddity with its mend: what ``look`` shows and a fit warns of.

A fit's warning goes into logs, so it names no value that was learned from records; ``look`` is for the
person who holds the data, and may.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.display import number
from pysynthdp.base.remarks import FEWEST, Remark, few
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.infer.spikes import HIGH_CODES, LOW_CODES, stand_out
from pysynthdp.curator.infer.written import written_as
from pysynthdp.curator.whole_table import rare_words

__all__ = ["Hint", "code_hints", "few_values_hints", "level_hints", "number_hints"]

_CODE_SHARE = 0.005  # a code is used more than by chance
_CODE_COUNT = 3
_SPIKE_SHARE = 0.1
_FEW_SPIKES = 2  # more are heaps
_MANY_VALUES = 20
_HEAP_SHARE = 0.6
_HEAPS = (1000, 500, 100, 50, 10, 5)
_MOST = 0.99
_MANY_LEVELS = 60
_FEW_VALUES = 12
_BETWEEN = 1.5  # possible values for each that occurs
_CODE_TEXT = re.compile(r"-\d+(\.0)?")


@dataclass(frozen=True, slots=True)
class Hint:
    """An oddity of a column.

    Parameters
    ----------
    remark : Remark
        As a fit says it: no value of a record, and no code that was learned.
    shown : Remark or None
        As ``look`` shows it to whoever holds the data, where it can say more.
    note : bool
        Whether it is well as it is: ``look`` tells it, and nobody is warned.
    """

    remark: Remark
    shown: Remark | None = None
    note: bool = False

    @property
    def to_holder(self) -> Remark:
        """What the person who holds the data is shown."""
        return self.shown or self.remark


def code_hints(name: str, values: FloatArray, declared: tuple[object, ...]) -> Iterator[Hint]:
    """Say which of a scale's few numbers look like missing codes."""
    distinct, counts = np.unique(values, return_counts=True)
    open_ones = ~np.isin(distinct, [code for code in declared if isinstance(code, int | float)])
    codes = _codes(distinct[open_ones], counts[open_ones])
    if codes.any():
        found = distinct[open_ones][codes]
        yield _code_hint(name, found, counts[open_ones][codes].sum(), counts.sum(), "drawn as numbers")


def _code_hint(name: str, codes: FloatArray, count: int, total: int, fate: str) -> Hint:
    """Say that some values look like codes, and how to declare them."""
    template = "if so, {missing}, else they are {fate}"
    named = {_native(code): "..." for code in codes}
    known, vague = (
        Words(template, missing=Setting("missing", {name: own}), fate=fate) for own in (named, {...: "label"})
    )
    what = Words("{share} look like missing codes", share=_share(count, total))
    return Hint(Remark(name, "codes", what, vague), Remark(name, "codes", what, known))


def few_values_hints(name: str, distinct: FloatArray, n: int, grain: float) -> Iterator[Hint]:
    """Say that few distinct values are drawn as a continuum, so that copies have others between them.

    Parameters
    ----------
    name : str
        Column name.
    distinct : array (values,)
        Present values in order, without codes and spikes.
    n : int
        Records that have one.
    grain : float
        Of which copies hold multiples; 0 for any number.
    """
    if not 2 < len(distinct) <= _FEW_VALUES or n <= 2 * len(distinct):
        return
    if (distinct[-1] - distinct[0]) + grain < _BETWEEN * len(distinct) * grain:
        return
    what = "few distinct values, and copies have others between them"
    remedy = Words("{levels} draws those only", levels=Setting("levels", {name: [...]}))
    named = Words("{levels} draws those only", levels=Setting("levels", {name: [*map(_native, distinct)]}))
    yield Hint(Remark(name, "few values", what, remedy), Remark(name, "few values", what, named))


def number_hints(
    name: str, distinct: FloatArray, counts: IntArray, *, dated: bool, apart: FloatArray, massed: bool = False
) -> Iterator[Hint]:
    """Say what is odd about the numbers of a column.

    Parameters
    ----------
    name : str
        Column name.
    distinct, counts : arrays (values,)
        Present values in order, without declared codes and spikes, and how many records have each.
    dated : bool
        Whether they count days or seconds; codes and heaps are then not looked for.
    apart : array of float
        Learned spikes: they are kept apart already.
    massed : bool
        Whether the model draws a value that many share as often, as the default does.
    """
    if not len(distinct):
        return
    yield from _common(name, counts)
    if dated or len(distinct) < 2:
        return
    codes = _codes(distinct, counts)
    if codes.any():
        kept = bool(np.isin(distinct[codes], apart).all())
        fate = "kept apart as spikes" if kept else "drawn as numbers"
        yield _code_hint(name, distinct[codes], counts[codes].sum(), counts.sum(), fate)
    plain, frequency = distinct[~codes], counts[~codes]
    spikes = _stand_out(plain, frequency) | np.isin(plain, apart)
    if spikes.any():
        kept = bool(np.isin(plain[spikes], apart).all())
        share = frequency[spikes].sum() / frequency.sum()
        yield _spike_hint(name, plain[spikes], share, kept=kept, massed=massed)
    yield from _heaps(name, plain[~spikes], frequency[~spikes])


def _spike_hint(name: str, spikes: FloatArray, share: float, *, kept: bool, massed: bool) -> Hint:
    """Say that one or two values have a mass of their own."""
    values = [_native(value) for value in spikes]
    listed = ", ".join(map(str, values))
    drawn = "drawn as often; to keep that mass apart:" if massed else "keep that mass apart with"
    fate = "kept apart; to declare it:" if kept else drawn
    own, vague = Setting("spikes", {name: values}), Setting("spikes", {name: [...]})
    one = "one value" if len(values) == 1 else f"{len(values)} values"
    what = Words("{share} of the values are {listed}", share=_percent(share), listed=one)
    shown = Words("{share} of the values are {listed}", share=_percent(share), listed=listed)
    return Hint(
        Remark(name, "spikes", what, Words("{fate} {spikes}", fate=fate, spikes=vague)),
        Remark(name, "spikes", shown, Words("{fate} {spikes}", fate=fate, spikes=own)),
        note=kept or massed,
    )


def _common(name: str, counts: IntArray) -> Iterator[Hint]:
    """Constant and nearly constant columns."""
    drop = Setting("drop", [name])
    if len(counts) == 1:
        remedy = Words("{drop}, or leave it and it stays constant", drop=drop)
        yield Hint(Remark(name, "constant", "constant: it tells nothing", remedy))
    elif counts.max() / counts.sum() >= _MOST:
        differ = few(int(counts.sum() - counts.max()))
        what = Words("nearly constant: {differ} records differ, and copies may point to them", differ=differ)
        sample = Setting("method", {name: "sample"})
        remedy = Words("{drop} or {sample}", drop=drop, sample=sample)
        yield Hint(Remark(name, "nearly constant", what, remedy))


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


def _heaps(name: str, distinct: FloatArray, counts: IntArray) -> Iterator[Hint]:
    """Find values that people rounded: most are multiples of a step that few would be by chance."""
    if len(distinct) <= _MANY_VALUES or not bool((distinct == np.round(distinct)).all()):
        return
    for step in _HEAPS:
        on = np.remainder(distinct, step) == 0
        share = counts[on].sum() / counts.sum()
        if share >= _HEAP_SHARE and on.sum() > 2 and not on.all():
            yield Hint(_heap_remark(name, step, _percent(share)))
            return


def _heap_remark(name: str, step: int, share: str) -> Remark:
    """Say that people rounded, and how to round alike."""
    what = Words(
        "{share} of the values are multiples of {step}: copies will be smoother", share=share, step=step
    )
    digits = {1000: -3, 500: -2, 100: -2, 50: -1, 10: -1}.get(step)
    if digits is None:
        return Remark(name, "heaps", what, "round the column before the fit if its copies should be")
    remedy = Words("{decimals} rounds them so", decimals=Setting("decimals", {name: digits}))
    return Remark(name, "heaps", what, remedy)


def level_hints(name: str, counts: Mapping[object, int], *, ordered: bool) -> Iterator[Hint]:
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
    yield from _mistyped(name, texts)
    rare = int((sizes < FEWEST).sum())
    if rare:
        yield Hint(Remark(name, *rare_words(rare)))
    if len(counts) > _MANY_LEVELS and not ordered:
        many = Words("{count} levels make a slow and vague fit", count=number(len(counts)))
        nested = Setting("nested", {name: "..."})
        mend = Words(
            "group them, or, if they belong to those of a coarser column, name it: {nested}", nested=nested
        )
        yield Hint(Remark(name, "many levels", many, mend))


def _coded_texts(name: str, texts: list[str]) -> Iterator[Hint]:
    """Find codes among texts, such as '-8'."""
    codes = [text for text in texts if _CODE_TEXT.fullmatch(text.strip())]
    if codes and len(codes) < len(texts):
        own, vague = (
            Words("if so, {missing}", missing=Setting("missing", {name: given}))
            for given in (dict.fromkeys(sorted(codes), "..."), {...: "label"})
        )
        what = "a level looks like a missing code"
        yield Hint(Remark(name, "codes", what, vague), Remark(name, "codes", what, own))


def _mistyped(name: str, texts: list[str]) -> Iterator[Hint]:
    """Find numbers and dates that are stored as texts."""
    if (written := written_as(texts, name)) is not None:
        yield Hint(Remark(name, written.kind, written.what, written.remedy))


def _native(value: float) -> int | float:
    """Write a value so that it can be declared: every digit, whole numbers without a point."""
    return int(value) if float(value).is_integer() else float(value)


def _share(count: int, total: int) -> str:
    """Write how many values; fewer than ten stay vague."""
    return "fewer than ten values" if count < 10 else f"{_percent(count / total)} of the values"


def _percent(share: float) -> str:
    """Write a share."""
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.1f} %"
