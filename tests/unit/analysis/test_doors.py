"""What is handed to an analysis by mistake is told in one sentence, whatever it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from pysynthdp import Synthesizer, glm, logit, ols, pool
from pysynthdp.analysis import Estimates, apply, fit_copies
from pysynthdp.base.errors import FitError


@pytest.fixture(scope="module")
def real():
    rng = np.random.default_rng(3)
    return pd.DataFrame({"x": rng.normal(size=80).round(2), "y": rng.normal(size=80).round(2)})


@pytest.fixture(scope="module")
def release(real):
    return Synthesizer(progress=False).fit(real).draw(m=5, rng=1)


@pytest.fixture(scope="module")
def fits(release):
    return [smf.ols("y ~ x", copy).fit() for copy in release.copies]


WRONG = {
    "frame": (lambda real: real, "not an object of type DataFrame; a release is what"),
    "frames": (lambda real: [real, real], "not a list of DataFrames"),
    "path": (lambda real: Path("release"), "SyntheticRelease.load"),  # noqa: ARG005
    "text": (lambda real: "release", "SyntheticRelease.load"),  # noqa: ARG005
    "fitted": (lambda real: Synthesizer(progress=False).fit(real), "draw copies first"),
    "settings": (lambda real: Synthesizer(progress=False), "fit it to the table"),  # noqa: ARG005
    "none": (lambda real: None, "not None"),  # noqa: ARG005
    "number": (lambda real: 5, "not an object of type int"),  # noqa: ARG005
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_release_is_told(name, real):
    make, says = WRONG[name]
    calls = (
        lambda given: ols("y ~ x", given),
        lambda given: logit("y ~ x", given),
        lambda given: glm("y ~ x", given),
        lambda given: fit_copies("y ~ x", given, smf.poisson),
        lambda given: apply(lambda copy: (copy.x.mean(), 1.0), given),
    )
    for call in calls:
        with pytest.raises(FitError) as found:
            call(make(real))
        assert says in str(found.value)
        assert "\n" not in str(found.value)


def test_swapped_arguments_are_told(release, fits):
    with pytest.raises(FitError, match="in the place of the formula"):
        ols(release, "y ~ x")
    with pytest.raises(FitError, match="must be text"):
        ols(fits[0].model, release)
    with pytest.raises(FitError, match="function"):
        apply(release, lambda copy: copy)


def test_what_is_no_list_of_fits_is_told(real, release, fits):
    pooled = ols("y ~ x", release)
    for wrong, says in (
        (None, "not None"),
        (fits[0], "not one fit"),
        (release, "given a release"),
        (real, "DataFrame"),
        ("fits", "type str"),
        (Path("fits"), "Path"),
        (3, "type int"),
        ({"a": 1}, "type dict"),
        (pooled, "pooled result already"),
        ([], "no fits"),
    ):
        with pytest.raises(FitError, match=says):
            pool(wrong, release=release)
    with pytest.raises(FitError, match="needs a release"):
        pool(fits, release=real)


def test_what_is_no_fit_is_told_with_its_copy(real, release, fits):
    for wrong, says in (
        (real, "a table is no fit"),
        ("fit", "text is no fit"),
        (1.5, "no fit; give"),
        (None, "None is no fit"),
        (fits[0].summary(), "summary is no fit"),
        (fits[0].summary2(), "summary is no fit"),
        (fits[0].model, "OLS is not fitted"),
        (ols("y ~ x", release), "pooled already"),
        ([1.0, 2.0, 3.0], "is not known"),
    ):
        with pytest.raises(FitError, match=f"copy 2: .*{says}"):
            pool([fits[0], wrong, *fits[2:]], release=release)


def test_a_generator_of_fits_is_taken(release, fits):
    assert pool((fit for fit in fits), release=release).params.equals(pool(fits, release=release).params)
    assert len(pool(np.array(fits, dtype=object), release=release).fits) == 5


class Robust:
    """A fit of the user's own class, with the two public names."""

    def __init__(self, fit, params=None, cov=None, **more):
        self.params = fit.params if params is None else params
        self.cov_params = fit.cov_params if cov is None else cov
        self.__dict__.update(more)


def test_a_class_of_the_user_is_read_by_its_public_names(release, fits):
    expected = pool(fits, release=release)
    shapes = (
        Robust,
        lambda fit: Robust(fit, cov=fit.cov_params()),
        lambda fit: Robust(fit, params=fit.params.to_dict()),
        lambda fit: Robust(fit, cov=fit.cov_params().iloc[::-1, ::-1]),
        lambda fit: Robust(
            fit, fit.params.to_numpy(), fit.cov_params().to_numpy(), param_names=["Intercept", "x"]
        ),
        lambda fit: Robust(fit, fit.params.to_numpy(), fit.cov_params()),
    )
    for make in shapes:
        done = pool([make(fit) for fit in fits], release=release)
        pd.testing.assert_series_equal(done.params, expected.params)
        pd.testing.assert_frame_equal(done.cov_params(), expected.cov_params())
        assert done.model == "Robust"
    nameless = pool(
        [Robust(f, f.params.to_numpy(), f.cov_params().to_numpy()) for f in fits], release=release
    )
    assert nameless.terms == ("estimate 1", "estimate 2")


def test_a_class_of_the_user_is_held_to_one_model_too(release, fits):
    with pytest.raises(FitError, match="no matrix of that size"):
        pool([Robust(fit, cov=np.eye(3)) for fit in fits], release=release)
    mixed = [Robust(fit, formula="y ~ x") for fit in fits[:4]]
    other = pd.Series({"Intercept": 0.0, "z": 1.0})
    with pytest.raises(FitError, match="copy 5"):
        pool([*mixed, Robust(fits[4], params=other, cov=np.eye(2), formula="y ~ z")], release=release)
    with pytest.raises(FitError, match="something else"):
        pool([Robust(fits[0])] * 5, release=release)


def test_estimates_given_as_such_may_describe_themselves():
    one = Estimates(("x",), np.array([1.0]), np.eye(1))
    two = Estimates(("x",), np.array([1.5]), np.eye(1))
    assert pool([one, two], n_syn=10, n_org=10).params["x"] == pytest.approx(1.25)


def test_a_column_that_was_overwritten_is_noted_and_a_new_one_is_not():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"x": rng.normal(size=80).round(2), "y": rng.normal(size=80).round(2)})
    release = Synthesizer(progress=False).fit(table).draw(m=3, rng=1)
    for copy in release:
        copy["z"] = copy["x"] ** 2
    assert not [note for note in ols("y ~ x + z", release).notes if "changed since" in note]
    release[1]["x"] = table["x"].to_numpy()
    (note,) = [note for note in ols("y ~ x", release).notes if "changed since" in note]
    assert note.startswith("x: changed since the copies were drawn")
    assert not [note for note in ols("y ~ z", release).notes if "changed since" in note]
