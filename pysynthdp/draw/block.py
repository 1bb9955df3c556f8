"""Draw one block of rows: step by step, each new part encoded once, and again what breaks a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pysynthdp.base.errors import PlanError
from pysynthdp.base.streams import NumpySampler
from pysynthdp.base.words import Words
from pysynthdp.design.parts import Part, parts_of, settle
from pysynthdp.design.universes import asked_rows, condition_of, limited, outside_code, set_outside
from pysynthdp.draw.tally import Tally
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.counted import Counted
from pysynthdp.plan.derived import Derived, derived_parts
from pysynthdp.plan.fit import DrawnStep, Fit, Key
from pysynthdp.plan.rules import Rule
from pysynthdp.schema import Column, NumericColumn
from pysynthdp.schema.universe import Universe

__all__ = ["BlockDraw"]

_FEW_AGAIN: Final = 20  # fewer than one row in so many that are drawn again is few
_TRIES: Final = 25  # of the last column of a rule, given all before it
_ROUNDS: Final = 200  # of whole rows, where that does not help
_PATIENCE: Final = 8  # rounds after which a rule that no row met cannot be met, or is met by holding a column
_AT_ONCE: Final = 64  # rows that are drawn in one go, where a few are drawn again: several times each


@dataclass(frozen=True, slots=True, repr=False)
class _Before:
    """What was there before a step, and what waited."""

    keys: frozenset[Key]
    waiting: tuple[Derived, ...]
    late: tuple[tuple[Column, frozenset[Key]], ...]


@dataclass(slots=True, repr=False)
class _Rows:
    """Rows under way.

    Parameters
    ----------
    X : array (rows, features)
        Wide features of what was drawn.
    parts : dict key -> array (rows,)
        What was drawn.
    waiting : tuple of Derived
        Columns whose arguments are not all there.
    late : tuple of (Column, set of keys)
        Columns with a universe that is still to be set, and the parts that this takes.
    """

    X: FloatArray
    parts: dict[Key, AnyArray]
    waiting: tuple[Derived, ...]
    late: tuple[tuple[Column, frozenset[Key]], ...]

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.X)

    def some(self, rows: IntArray, before: _Before) -> _Rows:
        """Take some rows as they were before a step."""
        parts = {key: values[rows] for key, values in self.parts.items() if key in before.keys}
        return _Rows(self.X.T[:, rows].T, parts, before.waiting, before.late)

    def put(self, rows: IntArray, others: _Rows, taken: BoolArray | None = None) -> None:
        """Write others in the place of some rows."""
        own: Any = slice(None) if taken is None else taken
        self.X[rows] = others.X[own]
        for key, values in others.parts.items():
            self.parts[key][rows] = values[own]


@dataclass(frozen=True, slots=True, repr=False)
class BlockDraw:
    """How one block is drawn.

    Parameters
    ----------
    plan : SynthesisPlan
        Who is drawn from whom, and the rules.
    fit : Fit
        Fitted steps.
    params : sequence
        Parameters of each step.
    samplers : tuple of NumpySampler
        One a step, of this (copy, step, block): what is drawn again comes from the same stream.
    tally : Tally
        Told how often rows met the rules at once.
    """

    plan: SynthesisPlan
    fit: Fit
    params: Sequence[Any]
    samplers: tuple[NumpySampler, ...]
    tally: Tally

    def parts(self, rows: slice) -> dict[Key, AnyArray]:
        """Draw the rows of the block.

        Raises
        ------
        PlanError
            Where nothing meets a rule; quotes it.
        """
        kept = {key: values[rows] for key, values in self.fit.kept.items()}
        drawn, ends = self._fresh(kept, rows.stop - rows.start), self._ends()
        before: list[_Before] = []
        for number in range(len(self.fit.steps)):
            before.append(_Before(frozenset(drawn.parts), drawn.waiting, drawn.late))
            self._step(number, drawn, self.samplers[number])
            if number in ends:
                self._mend(number, drawn, before, kept, ends)
        return drawn.parts

    # -- rules ---------------------------------------------------------------------------------------------

    def _ends(self) -> dict[int, tuple[Rule, ...]]:
        """Say after which step each rule can be judged: the last that one of its columns needs."""
        if not self.plan.rules:
            return {}
        last = {part.column: at for at, step in enumerate(self.fit.steps) for part in step.targets}
        for own in self.plan.derived:
            last[own.column] = max((last.get(name, -1) for name in (own.column, *own.given)), default=-1)
        for column in limited(self.plan.schema):
            names = (column.name, *condition_of(column, self.plan.schema).columns)
            last[column.name] = max(last.get(name, -1) for name in names)
        found: dict[int, tuple[Rule, ...]] = {}
        for rule in self.plan.rules:
            at = max(last.get(name, -1) for name in rule.columns)
            found[at] = (*found.get(at, ()), rule)
        return found

    def _mend(
        self,
        number: int,
        drawn: _Rows,
        before: Sequence[_Before],
        kept: Mapping[Key, AnyArray],
        ends: Mapping[int, tuple[Rule, ...]],
    ) -> None:
        """Draw again the rows that break a rule: their last column, and where that is no use, all of them."""
        broken = {rule: self._broken((rule,), drawn) for rule in ends[number]}
        odd = np.flatnonzero(np.logical_or.reduce(list(broken.values())))
        odd = self._again(number, drawn, before, odd, ends[number])
        for rule, rows in broken.items():
            self.tally.saw(rule.text, rows=drawn.n, broken=int(rows.sum()), anew=len(odd))
        odd = self._anew(number, drawn, odd, kept, ends)
        odd = self._held(drawn, odd, ends[number])
        if odd.size:
            raise _unmet(self._worst(ends[number], drawn, odd))

    def _broken(self, rules: Sequence[Rule], drawn: _Rows) -> BoolArray:
        """Rows that break one of some rules."""
        schema = self.plan.schema
        found = [rule.broken(schema, drawn.parts, drawn.n) for rule in rules]
        return np.asarray(np.logical_or.reduce(found))

    def _again(
        self,
        number: int,
        drawn: _Rows,
        before: Sequence[_Before],
        odd: IntArray,
        rules: Sequence[Rule],
    ) -> IntArray:
        """Draw the last column of some rows anew, given all before it; return rows that nothing mended."""
        column, start = self.fit.steps[number].targets[0].column, number
        while start and self.fit.steps[start - 1].targets[0].column == column:
            start -= 1
        tries = _TRIES
        while tries and odd.size:
            times = min(tries, max(1, _AT_ONCE // odd.size))
            some = drawn.some(np.repeat(odd, times), before[start])
            for at in range(start, number + 1):
                self._step(at, some, NumpySampler(self.samplers[at].generator))
            good = ~self._broken(rules, some).reshape(-1, times)
            taken = np.zeros(good.shape, dtype=np.bool_)
            taken[np.arange(len(odd)), np.argmax(good, axis=1)] = True  # the first that is good, or any
            drawn.put(odd, some, taken.ravel())
            odd, tries = odd[~good.any(axis=1)], tries - times
        return odd

    def _anew(
        self,
        number: int,
        drawn: _Rows,
        odd: IntArray,
        kept: Mapping[Key, AnyArray],
        ends: Mapping[int, tuple[Rule, ...]],
    ) -> IntArray:
        """Draw whole rows anew as far as a step, until they keep all rules up to there."""
        many = len(odd)
        rounds = _PATIENCE if any(rule.held for rule in ends[number]) else _ROUNDS
        for turn in range(rounds):
            if not odd.size or (turn >= _PATIENCE and len(odd) == many):
                break
            some, good = self._fresh({key: values[odd] for key, values in kept.items()}, len(odd)), None
            before: list[_Before] = []
            for at in range(number + 1):
                before.append(_Before(frozenset(some.parts), some.waiting, some.late))
                self._step(at, some, NumpySampler(self.samplers[at].generator))
                if at in ends:
                    bad = np.flatnonzero(self._broken(ends[at], some))
                    left = self._again(at, some, before, bad, ends[at])
                    good = np.ones(len(odd), dtype=np.bool_) if good is None else good
                    good[left] = False
            taken = np.ones(len(odd), dtype=np.bool_) if good is None else good
            drawn.put(odd[taken], some, taken)
            odd = odd[~taken]
        return odd

    def _held(self, drawn: _Rows, odd: IntArray, rules: Sequence[Rule]) -> IntArray:
        """Hold a column at another one in rows that nothing mended, where a rule says so; return the rest."""
        for rule in (each for each in rules if each.held is not None and odd.size):
            column, other = rule.held or ("", "")
            parts = {key: values[odd] for key, values in drawn.parts.items()}
            rows = odd[rule.broken(self.plan.schema, parts, len(odd))]
            for part in parts_of(self.plan.schema[column]):
                drawn.parts[part.key][rows] = drawn.parts[other, part.role][rows]
            self._encode_column(column, drawn)
        if not odd.size:
            return odd
        parts = {key: values[odd] for key, values in drawn.parts.items()}
        broken = [rule.broken(self.plan.schema, parts, len(odd)) for rule in rules]
        return odd[np.logical_or.reduce(broken)]

    def _worst(self, rules: Sequence[Rule], drawn: _Rows, odd: IntArray) -> Rule:
        """Give the rule that most of some rows break."""
        parts = {key: values[odd] for key, values in drawn.parts.items()}
        counts = [int(rule.broken(self.plan.schema, parts, len(odd)).sum()) for rule in rules]
        return rules[int(np.argmax(counts))]

    # -- steps ---------------------------------------------------------------------------------------------

    def _fresh(self, kept: Mapping[Key, AnyArray], size: int) -> _Rows:
        """Begin rows with what is kept real."""
        layout = self.fit.layout
        drawn = _Rows(layout.empty(size), dict(kept), self.plan.derived, self._limits())
        for part in layout.parts:
            if part.key in drawn.parts:
                self._encode(part, drawn)
        self._derive(drawn)
        return drawn

    def _step(self, number: int, drawn: _Rows, sampler: NumpySampler) -> None:
        """Run one step, and compute what can be computed by then."""
        step = self.fit.steps[number]
        values = self._values(step, self.params[number], drawn, sampler)
        for part, own in zip(step.targets, values, strict=True):
            drawn.parts[part.key] = self._typed(own, part, step.model, drawn)
            self._encode(part, drawn)
        if drawn.late:
            self._limit(drawn)
        if drawn.waiting:
            self._derive(drawn)

    def _derive(self, drawn: _Rows) -> None:
        """Compute the columns whose arguments are all there, in order; the others wait for more."""
        schema, left = self.plan.schema, []
        for own in drawn.waiting:
            needed = (part.key for name in own.given for part in parts_of(schema[name]))
            if not drawn.parts.keys() >= {*needed}:
                left.append(own)
                continue
            drawn.parts.update(derived_parts(own, schema, drawn.parts))
            self._encode_column(own.column, drawn)
        drawn.waiting = tuple(left)

    def _limits(self) -> tuple[tuple[Column, frozenset[Key]], ...]:
        """Name the columns with a universe, each with its parts and those of its condition."""
        schema = self.plan.schema
        names = {
            column.name: (column.name, *condition_of(column, schema).columns) for column in limited(schema)
        }
        return tuple(
            (schema[name], frozenset(part.key for each in own for part in parts_of(schema[each])))
            for name, own in names.items()
        )

    def _limit(self, drawn: _Rows) -> None:
        """Set the columns whose universe is known, and that are all there, outside of it."""
        schema, left = self.plan.schema, []
        for column, needed in drawn.late:
            asked = asked_rows(column, drawn.parts, schema, drawn.n) if needed <= drawn.parts.keys() else None
            if asked is None:
                left.append((column, needed))
                continue
            drawn.parts.update(set_outside(column, drawn.parts, asked))
            self._encode_column(column.name, drawn)
        drawn.late = tuple(left)

    def _encode_column(self, name: str, drawn: _Rows) -> None:
        """Write the features of a column that was computed."""
        layout = self.fit.layout
        for part in parts_of(self.plan.schema[name]):
            if part.key in layout.starts:
                self._encode(part, drawn)

    def _encode(self, part: Part, drawn: _Rows) -> None:
        """Write a drawn part's features."""
        layout, kind = self.fit.layout, drawn.parts[part.column, "kind"] if part.partial else None
        layout.write(drawn.X, part, layout.starts[part.key], drawn.parts[part.key], kind)

    def _counted(self, part: Part) -> Counted | None:
        """Say what a number is counted from."""
        if not part.numeric:
            return None
        return next((own for own in self.plan.counted if own.column == part.column), None)

    def _values(self, step: DrawnStep, params: Any, drawn: _Rows, sampler: NumpySampler) -> list[FloatArray]:
        """Draw a step's parts; a partial value only where its kind says that there is one."""
        target, X = step.targets[0], drawn.X
        if step.within is not None:
            return self._inside(step, params, drawn, sampler)
        if target.gated:
            return [self._asked(step, params, drawn, sampler)]
        if not target.partial:
            values = step.draw(params, X, sampler)
            if len(step.targets) > 1:
                return list(values.T)
            return [_gated(step, values, params, X, sampler, drawn.parts)]
        present = drawn.parts[target.column, "kind"] == 0
        return [_where(step, params, drawn, present, sampler)]

    def _inside(self, step: DrawnStep, params: Any, drawn: _Rows, sampler: NumpySampler) -> list[FloatArray]:
        """Draw the rows of each group by the group's own model."""
        zero = np.zeros(drawn.n, dtype=np.int64)
        group = step.within.of(drawn.parts) if step.within is not None else zero
        values = [np.zeros(drawn.n) for _ in step.targets]
        order = np.argsort(group, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
            number = int(group[rows[0]])
            own = None if params is None else params[number]
            parts = {key: each[rows] for key, each in drawn.parts.items()}
            some = _Rows(drawn.X.T[:, rows].T, parts, (), ())
            found = self._values(step.inside[number], own, some, sampler)
            for whole, part in zip(values, found, strict=True):
                whole[rows] = part
        return values

    def _asked(self, step: DrawnStep, params: Any, drawn: _Rows, sampler: NumpySampler) -> FloatArray:
        """Draw kinds or levels of a column where it is asked; there not what stands outside alone."""
        part = step.targets[0]
        column = self.plan.schema[part.column]
        asked = asked_rows(column, drawn.parts, self.plan.schema, drawn.n)
        there = np.ones(drawn.n, dtype=np.bool_) if asked is None else asked.copy()
        if part.partial:
            there &= drawn.parts[part.column, "kind"] == 0
        role, code = outside_code(column)
        values, outside = _where(step, params, drawn, there, sampler), float(code if part.role == role else 0)
        if part.role == role and isinstance(column.universe, Universe) and column.universe.alone:
            again = NumpySampler(sampler.generator)
            _without(outside, values, there, lambda odd: _where(step, params, drawn, odd, again)[odd])
        if asked is not None:
            values[~asked] = outside
        return values

    def _typed(self, values: FloatArray, part: Part, model: ColumnModel, drawn: _Rows) -> AnyArray:
        """Write level codes as int16; round numbers, and bound them where the source of the copies does.

        Records' own values stay as they are, but for roundings and top codes that were asked for: a digit of
        few records is not among the column's decimals.
        """
        if not part.holds_numbers:
            return values.astype(np.int16)
        column = self.plan.schema[part.column]
        if not isinstance(column, NumericColumn):
            return values
        if getattr(model, "real_values", False) and column.name not in self.plan.recoded:
            return values
        if not self.fit.source.keeps_bounds(model):
            column = replace(column, lower=None, upper=column.upper if column.topped else None)
        own = self._counted(part)
        if own is not None:
            return own.values(values, drawn.parts, column)
        return settle(np.ascontiguousarray(values), column)


def _where(step: DrawnStep, params: Any, drawn: _Rows, there: BoolArray, sampler: NumpySampler) -> FloatArray:
    """Draw a step in some rows; zero elsewhere."""
    values = np.zeros(drawn.n)
    X, keys = _read_by(step, drawn.X, there), () if step.gates is None else step.gates.keys
    earlier = {key: drawn.parts[key][there] for key in keys if key in drawn.parts}
    values[there] = _gated(step, step.draw(params, X, sampler), params, X, sampler, earlier)
    return values


def _read_by(step: DrawnStep, X: FloatArray, rows: BoolArray | IntArray) -> FloatArray:
    """Take some rows of the wide features, of which those hold anything that the step does not read."""
    reads = step.design.reads
    some = np.empty((X.shape[1], int(rows.sum()) if rows.dtype == np.bool_ else len(rows)))
    for position in reads:
        some[position] = X[rows, position]
    return some.T


def _without(
    outside: float, values: FloatArray, there: BoolArray, again: Callable[[BoolArray], FloatArray]
) -> None:
    """Draw again, in place, what stands outside of a universe alone; at last take another code."""
    for _ in range(_TRIES):
        odd = there & (values == outside)
        if not odd.any():
            return
        values[odd] = again(odd)
    values[there & (values == outside)] = 0.0 if outside else 1.0


def _gated(
    step: DrawnStep,
    values: FloatArray,
    params: Any,
    X: FloatArray,
    sampler: NumpySampler,
    drawn: Mapping[Key, AnyArray],
) -> FloatArray:
    """Draw again what never occurs together with what was drawn before.

    Few rows are drawn independently of each other: to order them costs more than it evens.
    """
    if step.gates is None:
        return values

    def again(odd: IntArray) -> FloatArray:
        few = len(odd) * _FEW_AGAIN < len(X)
        some = _read_by(step, X, odd)
        return step.draw(params, some, NumpySampler(sampler.generator) if few else sampler)

    return step.gates.mended(values, drawn, again)


def _unmet(rule: Rule) -> PlanError:
    """Say that nothing meets a rule."""
    return PlanError(
        Words("rules: '{text}' cannot be met by what the models draw", text=rule.text),
        column=rule.columns[-1],
        kind="rules",
        remedy="correct it, draw its columns from one another, or leave it out",
    )
