"""A call with a setting that is not there, answered: did you mean, or where it goes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any, Final, TypeVar

from pysynthdp.base.errors import SettingError
from pysynthdp.base.words import Said, Words, nearest

__all__ = ["answers_slips", "no_attribute", "unknown_setting", "way_out"]

T = TypeVar("T", bound=Callable[..., Any])

_OURS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("seed", "random_state", "random_seed", "rng_seed", "generator"), "rng"),
    **dict.fromkeys(("n_samples", "num_samples", "num_rows", "n_rows", "nrows", "sample_size", "n"), "k"),
    **dict.fromkeys(("n_copies", "num_copies", "copies", "n_syn", "n_datasets"), "m"),
    **dict.fromkeys(("cont_na", "na_values", "missing_codes", "special_codes"), "missing"),
    **dict.fromkeys(("models", "model", "methods", "distributions"), "method"),
    **dict.fromkeys(("metadata", "domain", "codebook"), "schema"),
    **dict.fromkeys(("exclude", "ignore", "skip", "drop_vars", "drop_columns"), "drop"),
    **dict.fromkeys(("n_jobs", "threads", "n_threads", "n_cores", "cores"), "workers"),
    **dict.fromkeys(("verbose", "show_progress", "print_flag", "quiet"), "progress"),
    **dict.fromkeys(("order", "visit_order", "sequence"), "visit_sequence"),
    **dict.fromkeys(("predictors", "parents"), "predictor_matrix"),
    **dict.fromkeys(("min", "minimum", "low", "lb"), "lower"),
    **dict.fromkeys(("max", "maximum", "high", "ub"), "upper"),
    **dict.fromkeys(("digits", "precision", "rounding"), "decimals"),
    **dict.fromkeys(("values", "labels", "domain_values"), "levels"),
    **dict.fromkeys(("nullable", "has_missing", "allow_missing", "na"), "may_be_missing"),
    **dict.fromkeys(("dp", "privacy", "protection", "mechanism"), "guarantee"),
    **dict.fromkeys(("epsilon", "target_epsilon"), "eps"),
}
"""What other packages call a setting, and what it is called here."""


def _drawing(name: str, option: str) -> Words:
    """Say where a setting of the drawing goes."""
    how = Said(f"draw({name}=...)", f"--{option}", f"{option} = ...")
    return Words("it belongs to the drawing: write {how}", how=how)


def _guarding(name: str, text: str = "it belongs to the guarantee: write {how}") -> Words:
    """Say where a setting of the guarantee goes."""
    how = Said(
        f"guarantee=ByNoise(ZCDP(0.5), {name}=...)",
        f'guarantee = {{ name = "zcdp", rho = 0.5, {name} = ... }}',
        f"guarantee = zcdp(0.5, {name} = ...)",
    )
    return Words(text, how=how)


_FIT: Final = Said("fit(table, ...)", "the command line", "synthesise()")
_SETTINGS: Final = Said("Synthesizer(...)", "the plan", "synthesise()")
_EPSILON: Final = Said("ApproxDP(1.0, 1e-6)", '{ name = "approx", ... }', "approx_dp(1, 1e-6)")
_RHO: Final = Said("ZCDP(0.5)", '{ name = "zcdp", rho = 0.5 }', "zcdp(0.5)")
_DELTAS: Final = Said("deltas=(1e-6,)", "deltas = [1e-6]", "deltas = 1e-6")
_UNIT: Final = "rows that belong together are 'units'; whose record is protected, the guarantee says: {how}"
_ELSEWHERE: Final[Mapping[str, Words]] = {
    "rng": _drawing("rng", "seed"),
    "m": _drawing("m", "m"),
    "k": _drawing("k", "k"),
    **{name: _guarding(name) for name in ("hints", "deltas", "testing", "fresh", "outside")},
    "unit": _guarding("unit", _UNIT),
    "eps": Words("an epsilon at a delta is a guarantee: {form}", form=_EPSILON),
    "rho": Words("a rho is a guarantee: {form}", form=_RHO),
    "delta": Words("a guarantee is quoted at deltas of its own: {deltas}", deltas=_DELTAS),
    **dict.fromkeys(("noise_seed", "answers", "table", "data"), Words("it belongs to {fit}", fit=_FIT)),
    **dict.fromkeys(("guarantee", "method", "schema"), Words("it belongs to {place}", place=_SETTINGS)),
}
"""Settings that exist, at another place."""


def answers_slips(thing: T) -> T:
    """Let a function, or a class when it is made, answer a call that does not fit it; used as a decorator.

    Signature, types and documentation stay; a call that fits costs nothing more.

    Raises
    ------
    SettingError
        In a call of it with a setting that it does not have, or without one that it needs.

    Notes
    -----
    Privacy: reads names of settings only.

    Examples
    --------
    >>> @answers_slips
    ... def draw(*, copies=5): ...
    >>> draw(copys=3)
    Traceback (most recent call last):
    pysynthdp.base.errors.SettingError: draw has no setting 'copys'; did you mean 'copies'?
    """
    if isinstance(thing, type):
        init: Callable[..., None] = thing.__init__  # type: ignore[misc]  # replaced, as its own kind
        thing.__init__ = _answering(init, thing.__name__)  # type: ignore[misc]
        return thing
    return _answering(thing, thing.__name__)  # type: ignore[return-value]  # wraps() keeps all of it


def _answering(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Call a function; if that fails because the call does not fit it, say so."""
    signature = inspect.signature(function)

    @wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        try:
            return function(*args, **named)
        except (TypeError, AttributeError):
            wrong = _on_class(function, args) or _misfit(signature, name, args, named)
            if wrong is None:
                raise
        raise wrong

    return called


def _on_class(function: Callable[..., Any], args: tuple[Any, ...]) -> SettingError | None:
    """Say that a method was called on the class, as in ``Synthesizer.fit(table)``; None if it was not."""
    owner, _, method = function.__qualname__.rpartition(".")
    owner = owner.rpartition(".")[2]
    if owner in ("", "<locals>") or next(iter(inspect.signature(function).parameters), "") != "self":
        return None
    if args and any(kind.__name__ == owner for kind in type(args[0]).__mro__):
        return None
    what = Words("{owner}.{method} is called on the class", owner=owner, method=method)
    mend = Words("call it on an object: {owner}(...).{method}(...)", owner=owner, method=method)
    return SettingError(what, kind="call", remedy=mend)


def no_attribute(thing: object, name: str, ways: Mapping[str, str]) -> AttributeError:
    """Make the error of a method that stands elsewhere, with what to write in its place.

    Examples
    --------
    >>> print(no_attribute("a", "draw", {"draw": "fit a table first"}))
    'str' object has no attribute 'draw'; fit a table first
    """
    what = f"{type(thing).__name__!r} object has no attribute {name!r}"
    way = f"; {ways[name]}" if name in ways else ""
    return AttributeError(f"{what}{way}", name=name, obj=thing)


def _misfit(
    signature: inspect.Signature, name: str, args: tuple[Any, ...], named: Mapping[str, Any]
) -> SettingError | None:
    """Say what of a call does not fit; None if it fits, and its failure is another matter."""
    try:
        signature.bind(*args, **named)
    except TypeError as problem:
        known = [each for each in signature.parameters if each not in ("self", "cls")]
        unknown = [key for key in named if key not in signature.parameters]
        if unknown:
            return unknown_setting(unknown[0], known, name)
        what = Words("{name}: {problem}", name=name, problem=problem)
        named_only = {
            each for each in known if signature.parameters[each].kind is inspect.Parameter.KEYWORD_ONLY
        }
        shown = ", ".join(f"{each}=" if each in named_only else each for each in known)
        return SettingError(what, kind="setting", remedy=Words("it takes {known}", known=shown))
    return None


def unknown_setting(given: str, known: Collection[str], where: str) -> SettingError:
    """Make the error for a setting that is not there, with the one that is meant.

    Examples
    --------
    >>> print(unknown_setting("bound", ["bounds", "method"], "Synthesizer"))
    Synthesizer has no setting 'bound'; did you mean 'bounds'?
    >>> print(unknown_setting("random_state", ["method"], "Synthesizer"))
    Synthesizer has no setting 'random_state'; it belongs to the drawing: write draw(rng=...)
    """
    what = Words("{where} has no setting '{given}'", where=where, given=given)
    return SettingError(what, kind="setting", remedy=way_out(given, known))


def way_out(given: str, known: Collection[str]) -> Words:
    """Name what was meant: the same under another name, at another place, a near miss, or all there is.

    Examples
    --------
    >>> print(way_out("random_state", ["method"]).said("shell"))
    it belongs to the drawing: write --seed
    """
    plain = given.replace(".", "_").lower()
    ours = plain if plain in known else _OURS.get(plain, plain)
    if ours in known:
        return Words("here it is called '{ours}'", ours=ours)
    near = nearest(plain, known)
    if ours in _ELSEWHERE and (ours != plain or near in (None, "units")):
        return _ELSEWHERE[ours]
    if near is not None:
        return Words("did you mean '{near}'?", near=near)
    return Words("it has {known}", known=", ".join(known) or "none")
