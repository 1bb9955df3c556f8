"""Each check of a column model bites: a model that breaks one promise is told of that one, in words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from pysynthdp.base.errors import FitError
from pysynthdp.models.ask import Moments, RowSum, WholeRows
from pysynthdp.testing import check_column_model, column_model_checks, fitted, hard_data
from pysynthdp.testing.cases import targets_tried


@dataclass(frozen=True, slots=True)
class Mean:
    """Parameters of a normal law without predictors."""

    mean: float
    sd: float
    n: float


@dataclass(frozen=True)
class Plain:
    """A normal law without predictors: keeps every promise."""

    name: ClassVar[str] = "plain_toy"
    reason: ClassVar[str] = "one record can move the mean of a column without limit"
    real_values: ClassVar[bool] = False

    def accepts(self, target):
        return target.kind == "numeric"

    def fit(self, task):
        (total, square) = (yield RowSum(lambda X, y: (y.sum(), y @ y))).value  # noqa: ARG005
        mean = float(total) / task.n
        return Mean(mean, float(np.sqrt(max(float(square) / task.n - mean**2, 0.0))), float(task.n))

    def redraw(self, params, rng):
        return replace(params, mean=params.mean + params.sd * rng.standard_normal() / np.sqrt(params.n))

    def draw(self, params, X, sampler):
        return sampler.normal(np.full(len(X), params.mean), params.sd)


def test_a_model_that_keeps_all_promises_passes():
    check_column_model(Plain)
    check_column_model(Plain())


FAULTS: dict[str, list[tuple[type, str]]] = {}


def breaks(check: str, words: str):
    """File a broken model under the check that must tell of it."""

    def note(model: type) -> type:
        FAULTS.setdefault(check, []).append((model, words))
        return model

    return note


@breaks("declares_itself", "is no frozen dataclass")
@dataclass
class Thawed:
    name: ClassVar[str] = "thawed"
    reason: ClassVar[str] = Plain.reason
    real_values: ClassVar[bool] = False
    accepts, fit, redraw, draw = Plain.accepts, Plain.fit, Plain.redraw, Plain.draw


@breaks("declares_itself", "has no real_values that is a bool")
class Unsaid(Plain):
    real_values = None


@breaks("declares_itself", "no part of a sentence")
class Shouting(Plain):
    reason = "It cannot."


@breaks(
    "declares_itself", r"draw takes \['params', 'features', 'sampler'\], not \['params', 'X', 'sampler'\]"
)
class Renamed(Plain):
    def draw(self, params, features, sampler):
        return Plain.draw(self, params, features, sampler)


@breaks("says_which_targets_it_draws", "accepts raised KeyError")
class Raising(Plain):
    def accepts(self, target):
        return {"numeric": True}[target.kind]


@breaks("says_which_targets_it_draws", "different things of a number, or neither True nor False")
class ByName(Plain):
    def accepts(self, target):
        return target.name == "y" and target.kind == "numeric"


@breaks("fits_and_leaves_the_rows_alone", "writes into X or y")
class Writing(Plain):
    def fit(self, task):
        def total(X, y):
            y -= 1.0
            return (y.sum(), y @ y, X.sum())

        (total_, square, _) = (yield RowSum(total)).value
        return Mean(float(total_) / task.n, float(square), float(task.n))


@breaks("fits_and_leaves_the_rows_alone", "asked 1000 questions and did not end")
class Endless(Plain):
    def fit(self, task):
        del task
        while True:
            yield Moments()


@breaks("fits_and_leaves_the_rows_alone", "yielded a str, which is no question")
class Mumbling(Plain):
    def fit(self, task):
        yield "how many?"
        return Mean(0.0, 1.0, float(task.n))


@breaks("fits_and_leaves_the_rows_alone", r"fit raised ZeroDivisionError \(float division by zero\)")
class Dividing(Plain):
    def fit(self, task):
        yield Moments()
        return Mean(1.0 / (task.n - task.n), 1.0, float(task.n))


@breaks("adds_over_any_split_of_the_rows", "from one block of rows and .* from several")
class OfBlocks(Plain):
    def fit(self, task):
        (mean,) = (yield RowSum(lambda X, y: (y.mean(),))).value  # noqa: ARG005
        return Mean(float(mean), 1.0, float(task.n))


@breaks("does_not_care_for_the_order_of_rows", "for the same rows in another order")
class EveryOther(Plain):
    def fit(self, task):
        (total,) = (yield RowSum(lambda X, y: (y.sum(),), every=2)).value  # noqa: ARG005
        return Mean(float(total) / task.n, 1.0, float(task.n))


@dataclass(frozen=True)
class Records:
    """Parameters that hold what they must not."""

    seen: Any
    mean: float = 0.0
    sd: float = 1.0
    n: float = 9.0


@breaks(
    "parameters_are_plain_and_hold_no_record", "seen of the parameters has 307 entries, as many as the table"
)
class Hoarding(Plain):
    real_values = True

    def fit(self, task):
        del task
        return Records((yield WholeRows()).value[1])


@breaks("parameters_are_plain_and_hold_no_record", "Records.seen is a dict")
class Loose(Plain):
    def fit(self, task):
        del task
        yield Moments()
        return Records({})


@breaks("parameters_are_plain_and_hold_no_record", "seen of the parameters is not finite")
class Infinite(Plain):
    def fit(self, task):
        del task
        yield Moments()
        return Records(np.array([np.inf]))


@dataclass(frozen=True)
class Forgetful:
    """A field that the constructor does not take."""

    mean: float
    sd: float
    n: float
    shift: float = field(default=0.0, init=False)


@breaks("parameters_are_plain_and_hold_no_record", "written and read draw other values")
class Forgetting(Plain):
    def fit(self, task):
        yield Moments()
        params = Forgetful(0.0, 1.0, float(task.n))
        object.__setattr__(params, "shift", 3.0)
        return params

    def draw(self, params, X, sampler):
        return sampler.normal(np.full(len(X), params.mean + params.shift), params.sd)


@breaks("draws_stay_in_the_domain", "float32 of shape")
class Single(Plain):
    def draw(self, params, X, sampler):
        return Plain.draw(self, params, X, sampler).astype("float32")


@breaks("draws_stay_in_the_domain", "missing or infinite")
class Holes(Plain):
    def draw(self, params, X, sampler):
        values = Plain.draw(self, params, X, sampler)
        values[0] = np.nan
        return values


@breaks("draws_stay_in_the_domain", "no codes of levels 0 to 1")
class HalfLevels(Plain):
    def accepts(self, target):
        return target.kind == "categorical"


@breaks("draws_stay_in_the_domain", r"never drew the levels \[1\]")
class Onesided(HalfLevels):
    def draw(self, params, X, sampler):
        del params, sampler
        return np.zeros(len(X))


@breaks("draws_depend_on_the_sampler_alone", "two draws with one stream differ")
class OwnDice(Plain):
    dice: ClassVar[np.random.Generator] = np.random.default_rng(0)

    def draw(self, params, X, sampler):
        return Plain.draw(self, params, X, sampler) + self.dice.normal()


@breaks("draws_depend_on_the_sampler_alone", "two streams are equal")
class Dull(Plain):
    def draw(self, params, X, sampler):
        del sampler
        return np.full(len(X), params.mean)


@dataclass(frozen=True)
class Arrays:
    """Parameters in an array that can be written into."""

    means: Any


@breaks("draws_depend_on_the_sampler_alone", "draw changed the parameters")
class Wearing(Plain):
    def fit(self, task):
        (yield Moments())
        return Arrays(np.full(2, float(task.n)))

    def draw(self, params, X, sampler):
        values = sampler.normal(np.zeros(len(X)), 1.0)
        params.means[0] += 1.0
        return values


@breaks("redraws_differ_and_leave_the_fit_alone", "redraw gave the fit back")
class Stubborn(Plain):
    def redraw(self, params, rng):
        del rng
        return params


@breaks("redraws_differ_and_leave_the_fit_alone", "redraw changed the fitted parameters")
class Overwriting(Wearing):
    def redraw(self, params, rng):
        params.means[1] = rng.normal()
        return Arrays(params.means.copy())


@breaks("redraws_differ_and_leave_the_fit_alone", "parameters have other fields")
class Shifting(Plain):
    def redraw(self, params, rng):
        return Arrays(np.array([params.mean, rng.normal()]))


@breaks("is_fitted_to_its_own_draws", "cannot be fitted: FitError")
class Picky(Plain):
    def fit(self, task):
        (negative,) = (yield RowSum(lambda X, y: (np.sum(y < 0),))).value  # noqa: ARG005
        if negative:
            what = f"{task.target.name} has negative values"
            raise FitError(what, column=task.target.name, kind="method", remedy="use 'norm'")
        return (yield from Plain.fit(self, task))


@breaks("says_if_it_holds_rows", "asked for whole rows, and the class does not say")
class Secretive(Plain):
    def fit(self, task):
        X, y = (yield WholeRows()).value
        return Mean(float(y.mean()), float(X.std()), float(task.n))


@breaks("goes_through_the_doors", "raised")
class Scaled(Plain):
    affine: ClassVar[Any] = property(lambda _: 1 / 0)  # callers ask for it


@breaks("never_breaks_on_hard_tables", r"1 row and 0 predictors\): raised ZeroDivisionError")
class ByTheSpread(Plain):
    def fit(self, task):
        params = yield from Plain.fit(self, task)
        return replace(params, n=params.n + 0.0 * (1.0 / params.sd))


@breaks("never_breaks_on_hard_tables", "refused by FitError without column or kind")
class Curt(Plain):
    def fit(self, task):
        params = yield from Plain.fit(self, task)
        if params.sd == 0.0:
            what = "no"
            raise FitError(what)
        return params


@breaks("is_priced_from_public_constants", "the mechanism 'dice' gives no price")
class Unpriced(Plain):
    def mechanism(self, task):
        return "dice", {"n": task.n}


@breaks("is_priced_from_public_constants", "different things of one task")
class Haggling(Plain):
    offers: ClassVar[list[int]] = []

    def mechanism(self, task):
        self.offers.append(task.n)
        return "dice", {"n": len(self.offers)}


@breaks("fits_from_moments", "returned Mean without beta, sigma, df")
class Halfway(Plain):
    def fit_from_moments(self, task, given):
        del given
        return Mean(0.0, 1.0, float(task.n))


@breaks("splits_levels", "rows that sum to one")
class Unfair(HalfLevels):
    def fit_from_moments(self, task, given):
        del given
        return Mean(0.0, 1.0, float(task.n))

    def level_shares(self, params, X):
        del params
        return np.ones((len(X), 2))


@dataclass(frozen=True)
class Stripped:
    """Parameters that lose more than their posterior."""

    mean: float
    root: float

    def without_posterior(self):
        return replace(self, mean=0.0)


@breaks("draws_the_same_without_its_posterior", "without their posterior draw other values")
class Losing(Plain):
    def fit(self, task):
        moments = (yield Moments()).value
        return Stripped(1.0 + moments.n / task.n, 1.0)

    def draw(self, params, X, sampler):
        return sampler.normal(np.full(len(X), params.mean), params.root)


@dataclass(frozen=True)
class Rooted:
    """A mean, and a root of X'X."""

    mean: float
    root: Any


@breaks("keeps_no_posterior_that_nobody_redraws_from", "root is kept with proper=False")
class Keeping(Plain):
    def fit(self, task):
        moments = (yield Moments()).value
        return Rooted(moments.cross[0] / task.n, np.linalg.cholesky(moments.gram + np.eye(len(moments.gram))))


@breaks("keeps_no_posterior_that_nobody_redraws_from", "root is kept with proper=False")
class KeepingTheInverse(Keeping):
    def fit(self, task):
        params = yield from super().fit(task)
        return replace(params, root=np.linalg.inv(params.root.T))


def named(value: object) -> str | None:
    """The name of a planted model."""
    return getattr(value, "__name__", None)


PLANTED = [(check, *fault) for check, faults in FAULTS.items() for fault in faults]


@pytest.mark.parametrize(
    ("check", "model", "words"), PLANTED, ids=lambda value: getattr(value, "__name__", None)
)
def test_a_planted_fault_is_named(check, model, words):
    checks = {str(each): each for each in column_model_checks(model)}
    with pytest.raises(AssertionError, match=words) as caught:
        checks[check]()
    assert "why it matters: " in str(caught.value)
    assert "to mend it: " in str(caught.value)


def test_every_check_has_a_planted_fault():
    names = {str(each) for model in (Plain, Unpriced, Halfway, Unfair) for each in column_model_checks(model)}
    assert names == set(FAULTS)


def test_all_faults_are_told_at_once_with_their_cause():
    class Two(Dull):
        reason = "No."

    with pytest.raises(AssertionError, match="Two breaks 2 of its promises") as caught:
        check_column_model(Two)
    assert "- declares_itself: " in str(caught.value)
    assert "- draws_depend_on_the_sampler_alone: " in str(caught.value)
    assert caught.value.__cause__ is not None


def test_a_model_that_accepts_nothing_is_no_model_that_passed():
    class Nobody(Plain):
        def accepts(self, target):
            del target
            return False

    with pytest.raises(AssertionError, match="nothing was checked"):
        check_column_model(Nobody)


def test_a_fit_to_arrays_is_the_real_one_and_hides_no_error():
    X = np.column_stack([np.ones(20), np.arange(20.0)])
    done = fitted(Secretive(), X, X[:, 1])
    assert done.held_rows
    assert [type(query) for query in done.asked] == [WholeRows]
    with pytest.raises(ZeroDivisionError):
        fitted(Dividing(), X, X[:, 1])


def test_hard_data_stay_in_the_target_s_domain_and_are_the_same_at_every_call():
    for target in targets_tried().values():
        for one, other in zip(hard_data(target), hard_data(target), strict=True):
            np.testing.assert_array_equal(one.y, other.y)
            assert one.X.shape[0] == len(one.y)
            assert (one.X[:, 0] == 1.0).all()
            if target.kind == "categorical":
                assert set(one.y) <= set(range(target.n_levels))
            elif target.upper is not None:
                assert one.y.max() <= target.upper
