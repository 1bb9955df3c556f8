"""What every column model must keep, tried on plain and on hard tables."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray
from pysynthdp.base.errors import PlanError, PysynthdpError, PysynthdpWarning, ReleaseError
from pysynthdp.io.tree import from_tree, to_tree
from pysynthdp.models.ask import WholeRows
from pysynthdp.models.base import COLUMN_MODELS, ColumnModel, HoldsRows
from pysynthdp.synthesizer import Synthesizer
from pysynthdp.testing.abilities import ability_checks
from pysynthdp.testing.cases import Case, N, cases_of, numbers_in
from pysynthdp.testing.checks import Check, broken, demand, run_all
from pysynthdp.testing.declared import accepts, declares_itself, is_frozen
from pysynthdp.testing.hard import hard_data

__all__ = ["check_column_model", "column_model_checks"]

_WAYS: tuple[dict[str, Any], ...] = (
    {"block_rows": 43},
    {"block_rows": 7, "in_memory": False},
    {"block_rows": 43, "workers": 2},
)
_PLAIN = (bool, int, float, str, type(None), np.ndarray, np.number)


def check_column_model(model: ColumnModel | type[ColumnModel], *, together: int = 1) -> None:
    """Try a column model on everything that every model must keep.

    Parameters
    ----------
    model : ColumnModel or its class
        A class is made without settings; give an object where settings are needed.
    together : int
        How many columns a joint model fills at once.

    Raises
    ------
    AssertionError
        Lists what is broken, why it matters and how to mend it.

    Notes
    -----
    Privacy: made-up tables only; the real curator answers what the model asks.
    No check can know whether the model fits what it says: compare its fit with an independent one.

    Examples
    --------
    >>> from pysynthdp.models import Norm
    >>> check_column_model(Norm)
    """
    made = model() if isinstance(model, type) else model
    run_all(type(made).__name__, column_model_checks(made, together=together))


def column_model_checks(model: ColumnModel | type[ColumnModel], *, together: int = 1) -> tuple[Check, ...]:
    """List the same checks one by one, for a test that is parametrised over them.

    Parameters
    ----------
    model, together
        As :func:`check_column_model` takes them.

    Returns
    -------
    tuple of Check
        Each is called without arguments, and its text is its name.

    Examples
    --------
    >>> from pysynthdp.models import Norm
    >>> [str(check) for check in column_model_checks(Norm)][:2]
    ['declares_itself', 'says_which_targets_it_draws']
    """
    made = model() if isinstance(model, type) else model
    named: dict[str, Callable[[], None]] = {
        "declares_itself": partial(declares_itself, made),
        "says_which_targets_it_draws": partial(accepts, made),
    }
    cases = cache(partial(cases_of, made, together))  # made by the first check that needs them
    named |= {name: partial(_each, check, cases) for name, check in _EACH.items()}
    named["never_breaks_on_hard_tables"] = partial(_hard, made, cases)
    return (*(Check(name, run) for name, run in named.items()), *ability_checks(made, cases))


def _each(check: Callable[[Case], None], cases: Callable[[], tuple[Case, ...]]) -> None:
    """Run a check on every plain table."""
    for case in cases():
        check(case)


def _fits(case: Case) -> None:
    """Check that the fit ends, and no function of a sum writes into the rows."""
    try:
        case.done  # noqa: B018 -- the fit is the test
    except ValueError as problem:
        if "read-only" not in str(problem):
            raise
        broken(
            case.told("a function of a RowSum writes into X or y"),
            why="other columns' fits read the same block, and later rounds of this one",
            mend="copy first, or compute without in-place operations",
        )
    except AssertionError as fault:
        raise AssertionError(case.told(str(fault))) from fault
    except Exception as problem:  # noqa: BLE001 -- the code may be anybody's
        broken(
            case.told(f"fit raised {type(problem).__name__} ({problem})"),
            why="a user reads a traceback where a sentence should be",
            mend="raise FitError(what, column=task.target.name, kind='method', remedy=...) for what the "
            "model cannot fit; the cause of this error is the model's own",
        )


def _adds(case: Case) -> None:
    """Fits from blocks of any size, gathered or not, by one or two threads, are the same."""
    for how in _WAYS:
        split = case.fit(**how)
        for name, one, other in _pairs(case, case.done.params, split.params):
            demand(
                _alike(one, other),
                case.told(f"{name} is {_short(one)} from one block of rows and {_short(other)} from several"),
                why="a table is read in blocks, so the fit would depend on how it lies on disk",
                mend="let the function of a RowSum return sums over its rows (not means, nor largest values)",
            )


def _any_order(case: Case) -> None:
    """Check that a fit is the same for the rows in any order."""
    turned = case.fit(np.random.default_rng(3).permutation(N))
    for name, one, other in _pairs(case, case.done.params, turned.params):
        demand(
            _alike(one, other),
            case.told(f"{name} is {_short(one)}, and {_short(other)} for the same rows in another order"),
            why="a statement on privacy takes a table as a set of records",
            mend="ask for sums over all rows (every=1 in a RowSum) before the last round",
        )


def _plain_parameters(case: Case) -> None:
    """Parameters are frozen, plain and finite, hold no record, and survive a file."""
    params = case.done.params
    _frozen(case, params, type(params).__name__)
    for name, values in numbers_in(params):
        demand(
            np.isfinite(values).all(),
            case.told(f"{name} of the parameters is not finite"),
            why="draws would be missing or endless, and files refuse it",
            mend="refuse in fit by FitError, or bound the search",
        )
        demand(
            N not in values.shape,
            case.told(f"{name} of the parameters has {N} entries, as many as the table has rows"),
            why="a fit that is saved or shown would give records away",
            mend="ask for sums or Quantiles, and keep what follows from them",
        )
    _survives(case, params)


def _frozen(case: Case, value: Any, path: str) -> None:
    """Nothing but frozen dataclasses, tuples, arrays of numbers and plain values."""
    if isinstance(value, tuple):
        for index, part in enumerate(value):
            _frozen(case, part, f"{path}[{index}]")
        return
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        demand(
            is_frozen(value),
            case.told(f"{path} is a dataclass that can be changed"),
            why="one fit serves many copies",
            mend="put @dataclass(frozen=True, slots=True) above it",
        )
        for item in dataclasses.fields(value):
            _frozen(case, getattr(value, item.name), f"{path}.{item.name}")
        return
    plain = isinstance(value, _PLAIN) and getattr(getattr(value, "dtype", None), "kind", "f") != "O"
    demand(
        plain,
        case.told(f"{path} is a {type(value).__name__}"),
        why="a saved fit is plain values and arrays of numbers, with nothing to execute",
        mend="return a frozen dataclass of arrays, numbers, texts and tuples of them",
    )


def _survives(case: Case, params: Any) -> None:
    """Parameters come back from a file and draw the same."""
    arrays: list[AnyArray] = []
    try:
        tree = to_tree(params, arrays)
        known = case.model.name in COLUMN_MODELS and COLUMN_MODELS[case.model.name] is type(case.model)
        again = from_tree(tree, arrays) if known else _rebuilt(params)
    except (ReleaseError, TypeError) as problem:
        broken(
            case.told(f"parameters do not survive a file ({problem})"),
            why="fits are saved and drawn from later",
            mend="let the constructor take all fields, as a dataclass does, and keep the class in a module",
        )
    demand(
        np.array_equal(case.draw(again), case.draw(params)),
        case.told("parameters that were written and read draw other values"),
        why="a saved fit must draw what the fit would have drawn",
        mend="keep everything that draw needs in fields, nothing in a cache or a global",
    )


def _rebuilt(value: Any) -> Any:
    """Parameters as they come back from a file: fields, written plain and read again."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        items = {
            item.name: _rebuilt(getattr(value, item.name)) for item in dataclasses.fields(value) if item.init
        }
        return type(value)(**items)
    if isinstance(value, tuple):
        return tuple(_rebuilt(part) for part in value)
    return np.array(value) if isinstance(value, np.ndarray) else value


def _domain(case: Case) -> None:
    """Check that draws are one finite number, or one level code, for each row, and reach every level."""
    params = case.done.params
    _check_draws(case, params)
    missed = set(np.unique(case.y)) - set(np.unique(case.draw(params)))
    demand(
        case.target.kind != "categorical" or not missed,
        case.told(f"never drew the levels {sorted(map(int, missed))}, which many rows have"),
        why="a copy would lack whole groups of people",
        mend="draw every level with its probability",
    )


def _check_draws(case: Case, params: Any, seed: int = 1) -> None:
    """Look at the draws of some parameters."""
    values = case.draw(params, seed)
    wanted = (len(case.X),) if case.together == 1 else (len(case.X), case.together)
    demand(
        isinstance(values, np.ndarray) and values.shape == wanted and values.dtype == np.float64,
        case.told(f"draw gave {_form(values)}, not float64 of shape {wanted}"),
        why="the values become a column of the copy, one for each row of X",
        mend="return np.asarray(..., dtype=np.float64) with one value for each row of X",
    )
    demand(
        np.isfinite(values).all(),
        case.told("draw gave values that are missing or infinite"),
        why="a copy would hold cells that no table can hold",
        mend="bound the linear predictor, or refuse in fit by FitError",
    )
    if case.target.kind == "categorical":
        outside = sorted(set(np.unique(values)) - set(range(case.target.n_levels)))
        demand(
            not outside,
            case.told(f"drew {outside[:3]}, which are no codes of levels 0 to {case.target.n_levels - 1}"),
            why="codes are places in the list of levels",
            mend="draw by sampler.categorical, whose answers are codes",
        )


def _sampler_alone(case: Case) -> None:
    """Check that draws follow the stream alone, and that parameters stay as they are."""
    params = case.done.params
    before = [values.copy() for _, values in numbers_in(params)]
    first, again, other = (case.draw(params, seed) for seed in (1, 1, 2))
    demand(
        np.array_equal(first, again),
        case.told("two draws with one stream differ"),
        why="a seed must give the same copies, with any number of workers",
        mend="take all randomness from the sampler that draw is given",
    )
    demand(
        case.data.name != "plain" or (first != other).any(),
        case.told("draws with two streams are equal"),
        why="copies would all be the same",
        mend="draw by the sampler; return no fitted values",
    )
    demand(
        all(np.array_equal(a, b) for a, (_, b) in zip(before, numbers_in(params), strict=True)),
        case.told("draw changed the parameters"),
        why="one fit serves many copies, drawn in any order",
        mend="copy arrays before writing into them",
    )


def _redraws(case: Case) -> None:
    """Redrawn parameters differ, have the same form, can draw, and leave the fit as it was."""
    params = case.done.params
    before = [values.copy() for _, values in numbers_in(params)]
    new = case.model.redraw(params, np.random.default_rng(1))
    pairs = list(_pairs(case, params, new))
    demand(
        type(new) is type(params) and all(one.shape == other.shape for _, one, other in pairs),
        case.told("redraw gave parameters of another form"),
        why="draw gets them in the place of the fit",
        mend="return dataclasses.replace(params, ...) with arrays of the same shapes",
    )
    demand(
        all(np.array_equal(a, b) for a, (_, b) in zip(before, numbers_in(params), strict=True)),
        case.told("redraw changed the fitted parameters"),
        why="every copy starts from the same fit",
        mend="copy arrays before writing into them",
    )
    demand(
        case.priced or case.data.name != "plain" or any((one != other).any() for _, one, other in pairs),
        case.told("redraw gave the fit back"),
        why="copies that say 'parameters drawn anew' would have intervals that are too short",
        mend="draw the parameters from their posterior with the rng that redraw is given",
    )
    _check_draws(case, new)


def _own_draws(case: Case) -> None:
    """Check that what a model drew, it can be fitted to."""
    drawn = case.draw(case.done.params)
    if case.together > 1:
        return  # a joint table of its draws is no case of one column
    again = dataclasses.replace(case, data=dataclasses.replace(case.data, name="its own draws", y=drawn))
    try:
        again.done  # noqa: B018 -- the fit is the test
    except PysynthdpError as problem:
        broken(
            again.told(f"cannot be fitted: {type(problem).__name__} ({problem})"),
            why="whoever gets a copy fits the model to it",
            mend="draw what fit accepts, or accept what draw gives",
        )


def _whole_rows(case: Case) -> None:
    """Who asks for rows says so."""
    asked = any(isinstance(query, WholeRows) for query in case.done.asked)
    holds = isinstance(case.model, HoldsRows) and case.model.emit_original
    demand(
        not asked or getattr(case.model, "real_values", False) or holds,
        case.told("fit asked for whole rows, and the class does not say that it holds real values"),
        why="statements and tags would call the copies free of records' values",
        mend="ask for sums or Quantiles; else set real_values = True, or give it the setting emit_original",
    )


def _doors(case: Case) -> None:
    """Check that a Synthesizer plans the model, fits it beside others and draws from it."""
    if case.together > 1 or case.priced or case.data.name != "plain":
        return
    table = pd.DataFrame({"a": case.X[:, 1], "b": case.X[:, 2], "y": _cells(case)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PysynthdpWarning)
        settings = Synthesizer(method={"y": case.model}, progress=False)
        copy = settings.fit(table).draw(1, rng=1)[0]
    demand(
        len(copy) == N and copy["y"].notna().all(),
        case.told("a copy of a table with such a column has missing cells in it"),
        why="nothing was missing in the table",
        mend="return one value for each row of X",
    )


def _cells(case: Case) -> Any:
    """Check that the target as a column of a table."""
    if case.target.kind == "numeric":
        return case.y.astype(np.int64) if case.target.decimals == 0 else case.y
    names = [f"level {code}" for code in range(case.target.n_levels)]
    cells = [names[int(code)] for code in case.y]
    return pd.Categorical(cells, names, ordered=case.target.ordered)


def _hard(model: ColumnModel, cases: Callable[[], tuple[Case, ...]]) -> None:
    """Every hard table is drawn, or refused by an error that names the column."""
    drawn = [
        _drawn_or_refused(dataclasses.replace(case, data=data))
        for case in cases()
        for data in hard_data(case.target)
    ]
    demand(
        any(drawn),
        f"{type(model).__name__} refuses every hard table",
        why="real tables have few rows, rare levels and columns of one value",
        mend="shrink, or fall back to the mean, before refusing",
    )


def _drawn_or_refused(case: Case) -> bool:
    """Fit, draw and redraw with warnings as errors; say whether it was drawn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            params = case.done.params
            _plain_parameters_of_few(case, params)
            for each in (params, case.model.redraw(params, np.random.default_rng(1))):
                _check_draws(case, each, seed=2)
        except PysynthdpError as refusal:
            _check_refusal(case, refusal)
            return False
        except AssertionError:
            raise
        except Exception as problem:  # noqa: BLE001 -- the code may be anybody's
            broken(
                case.told(f"raised {type(problem).__name__} ({problem})"),
                why="a user's table looks like this one, and the error says nothing of it",
                mend="refuse in fit by FitError(what, column=task.target.name, kind='method', remedy=...), "
                "or make the arithmetic safe; the cause of this error is the model's own",
            )
    return True


def _plain_parameters_of_few(case: Case, params: Any) -> None:
    """Parameters from few rows are plain and finite too."""
    _frozen(case, params, type(params).__name__)
    for name, values in numbers_in(params):
        demand(
            np.isfinite(values).all(),
            case.told(f"{name} of the parameters is not finite"),
            why="draws would be missing or endless, and files refuse it",
            mend="refuse in fit by FitError, or bound the search",
        )


def _check_refusal(case: Case, refusal: PysynthdpError) -> None:
    """Check that a refusal names the column and what kind it is."""
    demand(
        isinstance(refusal, PlanError) or (refusal.column and refusal.kind),
        case.told(f"refused by {type(refusal).__name__} without column or kind ({refusal})"),
        why="in a table of fifty columns a user must read which one, and programs ask by the fields",
        mend="raise FitError(what, column=task.target.name, kind='method', remedy=...)",
    )


def _pairs(case: Case, one: Any, other: Any) -> Iterator[tuple[str, AnyArray, AnyArray]]:
    """Check that the numbers of two sets of parameters, side by side."""
    left, right = list(numbers_in(one)), list(numbers_in(other))
    demand(
        [name for name, _ in left] == [name for name, _ in right],
        case.told("parameters have other fields from one fit to the next"),
        why="files and joint fits read them by field",
        mend="return one dataclass with the same fields from every fit of one kind of target",
    )
    for (name, a), (_, b) in zip(left, right, strict=True):
        yield name, a, b


def _alike(one: AnyArray, other: AnyArray) -> bool:
    """Whether two arrays agree; a root of a matrix is known up to a turn."""
    if one.shape != other.shape:
        return False
    close = bool(np.allclose(other, one, rtol=1e-6, atol=1e-8))
    return close or (one.ndim == 2 and np.allclose(other @ other.T, one @ one.T, rtol=1e-6, atol=1e-8))


def _short(values: AnyArray) -> str:
    """Check that the first numbers of an array: a model's own, of a made-up table."""
    return np.array2string(values.ravel()[:3], precision=4, separator=", ")


def _form(values: FloatArray) -> str:
    """Type and shape."""
    return f"{getattr(values, 'dtype', type(values).__name__)} of shape {np.shape(values)}"


_EACH: dict[str, Callable[[Case], None]] = {
    "fits_and_leaves_the_rows_alone": _fits,
    "adds_over_any_split_of_the_rows": _adds,
    "does_not_care_for_the_order_of_rows": _any_order,
    "parameters_are_plain_and_hold_no_record": _plain_parameters,
    "draws_stay_in_the_domain": _domain,
    "draws_depend_on_the_sampler_alone": _sampler_alone,
    "redraws_differ_and_leave_the_fit_alone": _redraws,
    "is_fitted_to_its_own_draws": _own_draws,
    "says_if_it_holds_rows": _whole_rows,
    "goes_through_the_doors": _doors,
}
