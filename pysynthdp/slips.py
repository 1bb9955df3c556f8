"""A call with a setting that is not there, answered: did you mean, or where it goes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any, Final, TypeVar

from pysynthdp.errors import SettingError
from pysynthdp.words import Words, nearest

__all__ = ["answers_slips", "unknown_setting"]

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

_PROTECTIONS: Final = (
    "it belongs to how the table is protected: write guarantee=ByNoise(ZCDP(0.5), {name}=...)"
)
_ELSEWHERE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("rng", "m", "k"), "it belongs to the drawing: write draw({name}=...)"),
    "eps": "an epsilon at a delta is a guarantee: ApproxDP(1.0, 1e-6)",
    "rho": "a rho is a guarantee: ZCDP(0.5)",
    **dict.fromkeys(("unit", "hints", "deltas", "testing", "fresh", "outside"), _PROTECTIONS),
    "delta": "a guarantee is quoted at deltas of its own: write guarantee=ByNoise(ZCDP(0.5), deltas=(1e-6,))",
    "noise_seed": "it belongs to the fit: write fit(table, noise_seed=...)",
    "answers": "it belongs to the fit: write fit(table, answers=...)",
    "table": "the table belongs to the fit: write fit(table)",
    "data": "the table belongs to the fit: write fit(table)",
    "guarantee": "it belongs to the settings: write Synthesizer(guarantee=...)",
    "method": "it belongs to the settings: write Synthesizer(method=...)",
    "schema": "it belongs to the settings: write Synthesizer(schema=...)",
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
    pysynthdp.errors.SettingError: draw has no setting 'copys'; did you mean 'copies'?
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
        except TypeError:
            wrong = _misfit(signature, name, args, named)
            if wrong is None:
                raise
        raise wrong

    return called


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
        return SettingError(what, kind="setting", remedy=Words("it takes {known}", known=", ".join(known)))
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
    return SettingError(what, kind="setting", remedy=_way_out(given, known))


def _way_out(given: str, known: Collection[str]) -> str:
    """Name what was meant: the same under another name, at another place, a near miss, or all there is."""
    plain = given.replace(".", "_").lower()
    ours = plain if plain in known else _OURS.get(plain, plain)
    if ours in known:
        return Words("here it is called '{ours}'", ours=ours)
    if ours in _ELSEWHERE:
        return Words("{elsewhere}", elsewhere=_ELSEWHERE[ours].format(name=ours))
    near = nearest(plain, known)
    if near is not None:
        return Words("did you mean '{near}'?", near=near)
    return Words("it has {known}", known=", ".join(known) or "none")
