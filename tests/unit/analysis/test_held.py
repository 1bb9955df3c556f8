"""Flags of pooled tables: one where the plan lacks the effect, none where it holds it; both errors count."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from pysynthdp import Synthesizer, SyntheticRelease, compare_fits, glm, logit, ols
from pysynthdp.analysis import mean_of, pool, quantile_of, share_of
from pysynthdp.analysis.asked import asked_by_formula, asked_by_r
from pysynthdp.analysis.flags import UNSAID, remarks_on
from pysynthdp.base.errors import ReleaseError
from pysynthdp.tags import ReleaseTags
from pysynthdp.tags.steps import TaggedStep

KINDS = {"a": "number", "g": "levels", "h": "levels", "b": "number", "y": "number", "z": "levels"}
ROOT = Path(__file__).parents[3]


class Release:
    """Names of columns and tags are all that flags are read from."""

    def __init__(self, tags, columns):
        self.tags = tags
        self.copies = (pd.DataFrame(columns=list(columns)),)


def release(order, *, kept="", terms=None, scale="plain", kind=None, partial="", free=True, **more):
    """A release whose columns were drawn in an order; terms of y; a mapping is a basis."""
    steps = [TaggedStep(columns=(name,), draws=KINDS[name], model="kept real") for name in kept]
    for name in order:
        levels = KINDS[name] == "levels"
        if name in partial:
            steps.append(TaggedStep(columns=(name,), draws="kind", model="logreg", linear_on="logit"))
        steps.append(
            TaggedStep(
                columns=(name,),
                draws=KINDS[name],
                model=kind or ("logreg" if levels else "normrank" if free else "norm"),
                terms=(terms or {}).get(name),
                linear_on="logit" if levels else scale,
                keeps_shape=free and not levels,
            )
        )
    tags = ReleaseTags(
        kind="partial" if kept else "complete",
        m=5,
        n_syn=100,
        n_org=100,
        synthesised=frozenset(order),
        kept=frozenset(kept),
        steps=tuple(steps),
        **more,
    )
    return Release(tags, [*kept, *order])


def main(*names, **more):
    """The main effects of names, and more terms."""
    return {"y": (*((name,) for name in names), *more.get("terms", ()))}


def flags(made, formula, **more):
    return remarks_on(made, asked_by_formula(formula, **{"canonical": True, **more})).flags


LAST = "aghby"  # y is drawn last
HELD = [
    # plain main effects of a later column on earlier ones, in any writing that changes nothing
    (release(LAST), "y ~ a + g + h + b"),
    (release(LAST), "y ~ g"),
    (release(LAST), "b ~ a + C(g, Treatment('x'))"),
    (release(LAST), "y ~ I(a / 10) + I(b - 3)"),
    (release(LAST), "y ~ center(a) + standardize(b)"),
    (release(LAST), "y ~ I(a + 2 * b)"),
    (release(LAST), "I(y / 1000) ~ a"),
    (release(LAST), "y ~ I(g == 'x') + g.isin(['x', 'y'])"),
    (release("aghbz"), "z ~ a + g + h"),
    (release("aghbz"), "I(z == 'yes') ~ a"),
    (release(LAST), "y ~ 1"),
    # what the plan was given beyond that
    (release(LAST, terms=main("a", "g", terms=[("a", "g")])), "y ~ a * g"),
    (release(LAST, terms=main("a", "g", "h", terms=[("g", "h")])), "y ~ a + g * h"),
    (release(LAST, terms=main("a", terms=[("a", "a")])), "y ~ a + I(a ** 2)"),
    (release(LAST, terms=main("a", terms=[("a", "a")])), "y ~ I((a - 40) ** 2)"),
    (release(LAST, terms=main("a", terms=[("a", "a")])), "y ~ np.square(a) + np.power(a, 2)"),
    (release(LAST, terms=main("a", "b", terms=[("a", "b")])), "y ~ I(a * b)"),
    (release(LAST, terms={"y": (({"column": "a", "basis": "ns"},), ("g",))}), "y ~ bs(a, df=4) + g"),
    (release(LAST, terms={"y": (({"column": "a", "basis": "ns"},),)}), "y ~ a + I(a ** 2) + np.log(a)"),
    (release(LAST, terms={"y": (({"column": "a", "basis": "ns"}, "g"), ("g",))}), "y ~ bs(a, df=4):g"),
    # the scale that it was drawn on
    (release(LAST, scale="log"), "np.log(y) ~ a + g"),
    (release(LAST, scale="sqrt"), "np.sqrt(y) ~ a"),
    (release(LAST, scale="any"), "I(y > 3) ~ a"),
    # the order: three-way moments are kept by the column drawn last
    (release("ygh", terms={"h": (("y",), ("g",), ("g", "y"))}, free=False), "y ~ g * h"),
    (release("zgh"), "z ~ g + h"),
    (release("yab", free=False), "y ~ a + b"),
    # real columns hold everything among themselves
    (release("hy", kept="abg"), "a ~ b * g + I(b ** 2)"),
    (release("hy", kept="abg"), "y ~ a + g + h"),
]
LACKING = [
    (release(LAST), "y ~ a * g", "a:g: interactions"),
    (release(LAST), "y ~ g:h", "g:h: interactions"),
    (release(LAST), "y ~ (a + b) ** 2", "a:b: interactions"),
    (release(LAST), "y ~ a + I(a ** 2)", "powers"),
    (release(LAST), "y ~ I(a * b)", "I(a * b): interactions"),
    (release(LAST), "y ~ bs(a, df=4)", "straight lines"),
    (release(LAST), "y ~ cr(a, df=4) + g", "straight lines"),
    (release(LAST), "y ~ np.log(a)", "straight lines"),
    (release(LAST), "y ~ C(a)", "straight lines"),
    (release(LAST), "y ~ I(a > 3)", "straight lines"),
    (release(LAST), "y ~ I(a / b)", "straight lines"),
    (release("aghbz"), "z ~ a * g", "interactions"),
    (release("aghbz"), "z ~ I((g == 'x') & (h == 'y'))", "interactions"),
    (release(LAST, terms=main("a", "g", terms=[("a", "g")])), "y ~ a * g * h", "a:g:h"),
    (release(LAST, terms=main("a", "g", terms=[("a", "g")])), "y ~ a * h", "a:h"),
    (release(LAST, terms=main("a", terms=[("a", "a")])), "y ~ I(a ** 3)", "powers"),
    (release(LAST, terms={"y": (({"column": "a", "basis": "ns"},), ("g",))}), "y ~ bs(a, df=4):g", "curve"),
    (release(LAST, terms={"y": (({"column": "a", "basis": "ns"},), ("b",))}), "y ~ I(b ** 2)", "powers"),
    (release(LAST, terms=main("a")), "y ~ a + g", "y and g were not drawn from one another"),
    (release(LAST, scale="plain"), "np.log(y) ~ a", "its plain scale"),
    (release(LAST, scale="log"), "np.sqrt(y) ~ a", "its logarithmic scale"),
    (release(LAST, scale=None), "np.log(y) ~ a", "does not tell"),
    (release(LAST), "I(y > 3) ~ a", "its plain scale"),
    (release(LAST, free=False), "np.log(y) ~ a", "shape that 'norm' gives"),
    (release("yagh"), "y ~ a + g", "y is drawn before a"),
    (release("ayg", partial="y"), "y ~ a + g", "y is drawn before g: "),
    (release("yab", free=False), "np.log(y) ~ a + b", "y is drawn before a, b"),
    (release("ygh", free=False), "y ~ g * h", "g:h: interactions"),
    (
        release("ygh", free=False, terms={"h": (("y",), ("g",), ("g", "y"))}),
        "g ~ y * h + I(y ** 2)",
        "powers",
    ),
    (release("abh", kept="gy"), "y ~ a + g", "y is released real and a drawn from it"),
    (release("abh", kept="gy"), "y ~ a * g", "a:g"),
]


@pytest.mark.parametrize(("made", "formula"), HELD)
def test_no_flag_where_the_plan_holds_the_terms(made, formula):
    assert flags(made, formula) == ()


@pytest.mark.parametrize(("made", "formula", "words"), LACKING)
def test_a_flag_where_it_does_not(made, formula, words):
    assert any(words in flag for flag in flags(made, formula)), flags(made, formula)


def test_a_response_before_its_predictors_is_clean_only_where_moments_are_kept_by_equations():
    made = release("yab", free=False)
    assert flags(made, "y ~ a + b") == ()
    assert "visit_sequence" in flags(made, "y ~ a + b", canonical=False)[0]
    assert "visit_sequence" in flags(release("yab"), "y ~ a + b")[0]


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ("log", "its logarithmic scale (normrank)"),
        ("sqrt", "analyse y on that scale, or"),
        ("score", "only roughly; have it drawn by method 'norm'"),
    ],
)
def test_a_number_as_it_is_is_flagged_where_it_was_drawn_on_another_scale(scale, words):
    made = release(LAST, scale=scale)
    (flag,) = flags(made, "y ~ a + g", straight=True)
    assert words in flag
    assert flags(made, "I(y / 1000) ~ a + g", straight=True) == (flag,)


def test_no_flag_of_scale_with_a_link_without_predictors_or_before_them():
    assert flags(release(LAST, scale="log"), "y ~ a + g") == ()  # a log link holds it
    assert flags(release(LAST, scale="log"), "y ~ 1", straight=True) == ()
    for scale in ("plain", "any", "log mean"):
        assert flags(release(LAST, scale=scale), "y ~ a + g", straight=True) == ()
    (early,) = flags(release("yab", scale="log"), "y ~ a", straight=True)
    assert "visit_sequence" in early


def test_least_squares_of_a_number_drawn_by_its_logarithm_is_flagged_and_a_log_link_is_not():
    rng = np.random.default_rng(3)
    age = rng.integers(20, 70, 600)
    pay = np.exp(5 + 0.05 * age + 0.1 * rng.normal(size=600)).round()
    release = (
        Synthesizer(progress=False, terms="main").fit(pd.DataFrame({"age": age, "pay": pay})).draw(m=3, rng=1)
    )
    assert [step.linear_on for step in release.tags.steps] == [None, "log"]
    for pooled in (ols("pay ~ age", release), glm("pay ~ age", release, family="gaussian")):
        assert "pay was drawn on its logarithmic scale" in pooled.flags[0]
    assert glm("pay ~ age", release, family="poisson").flags == ()
    assert ols("np.log(pay) ~ age", release).flags == ols("pay ~ 1", release).flags == ()
    assert release.apply(mean_of("pay")).flags == ()
    assert any(
        "only roughly" in flag
        for flag in pool([smf.ols("pay ~ age", copy).fit() for copy in release], release=release).flags
    )


def test_a_function_of_a_date_is_a_curve_and_a_date_is_a_straight_line():
    rng = np.random.default_rng(5)
    day = rng.integers(0, 900, 200)
    frame = pd.DataFrame({"day": pd.Timestamp("2020-01-01") + pd.to_timedelta(day, unit="D")})
    frame["stay"] = pd.to_timedelta(rng.integers(0, 60, 200), unit="D")
    frame["y"] = (0.01 * day + rng.normal(size=200)).round(2)
    drawn = Synthesizer(progress=False, terms="main").fit(frame).draw(m=3, rng=1)
    assert ols("y ~ day + stay", drawn).flags == ()
    for formula in ("y ~ C(day.dt.year)", "y ~ I(day > '2021-06-01')", "y ~ bs(day, df=4) + stay"):
        (flag,) = ols(formula, drawn).flags
        assert "take day by straight lines" in flag


def test_a_subgroup_in_fits_made_by_hand_is_flagged():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"g": rng.choice(["a", "b"], 400), "x": rng.normal(size=400).round(2)})
    frame["y"] = (frame.x * (frame.g == "a") + rng.normal(size=400)).round(2)
    drawn = Synthesizer(progress=False, terms="main").fit(frame).draw(m=3, rng=1)
    part = pool([smf.ols("y ~ x", copy[copy.g == "a"]).fit() for copy in drawn], release=drawn)
    assert "particular to a subgroup" in part.flags[0]
    assert "complete rows" in part.notes[-1]
    assert pool([smf.ols("y ~ x", copy).fit() for copy in drawn], release=drawn).flags == ()


def test_columns_with_names_that_are_no_identifiers_are_found():
    steps = tuple(
        TaggedStep(columns=(name,), draws="number", model="norm", linear_on="plain")
        for name in ("net pay", "C", "years in school")
    )
    tags = ReleaseTags(kind="complete", m=2, n_syn=9, steps=steps)
    made = Release(tags, ["net pay", "C", "years in school"])
    assert flags(made, "Q('years in school') ~ Q('net pay') + C") == ()
    assert "Q('net pay'):C" in flags(made, "Q('years in school') ~ Q('net pay') * C")[0]


def test_a_running_number_goes_with_nothing():
    made = release(LAST)
    made.copies = (pd.DataFrame(columns=[*LAST, "id"]),)
    assert "id: identifiers or running numbers" in flags(made, "y ~ a + id")[0]


def test_what_a_release_says_of_a_column_is_noted_where_the_column_is_used():
    made = release(LAST, details={"column_notes": {"y": "draws may lie outside its bounds"}})
    assert remarks_on(made, asked_by_formula("y ~ a")).notes == ("y: draws may lie outside its bounds.",)
    assert remarks_on(made, asked_by_formula("b ~ a")).notes == ()
    assert remarks_on(made, asked_by_formula("b ~ a")).flags == ()


def test_flags_of_the_release_stand_first_and_remarks_about_rules_stay_out():
    details = {"flags": ["noise-dominated"], "remarks": ["low signal-to-noise ratio"], "void": True}
    made = release(LAST, details=details, noise="per_copy_from_one")
    told = flags(made, "y ~ a * g")
    assert (told[0], told[-1]) == ("noise-dominated", "void: the noise was seeded, for testing")
    assert "interactions" in told[1]
    assert flags(made, "y ~ a") == (told[0], told[-1])


def test_joint_models_keep_pairs_of_their_columns_and_nothing_else():
    joint = TaggedStep(
        columns=("a", "b", "y"), draws="number", model="multivariate_normal", terms=(), together=2
    )
    made = Release(ReleaseTags(kind="complete", m=2, n_syn=9, steps=(joint,)), "aby")
    assert flags(made, "a ~ b + y") == ()
    assert flags(made, "a ~ b * y") != ()
    assert flags(made, "a ~ I(b ** 2)") != ()


# -- what rows are -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    n = 600
    sex, school = rng.choice(["f", "m"], n), rng.integers(0, 8, n)
    age = rng.integers(20, 70, n)
    pay = 20 + 0.3 * age + (sex == "m") * (2 + 0.4 * (age - 45)) + school + rng.normal(0, 3, n)
    return pd.DataFrame({"sex": sex, "school": [f"s{k}" for k in school], "age": age, "pay": pay.round(2)})


@pytest.fixture(scope="module")
def drawn(table):
    return Synthesizer(progress=False, terms="main").fit(table).draw(m=3, rng=1)


def test_main_effects_of_a_default_release_are_clean_and_every_header_says_valid(drawn):
    clean = ols("pay ~ age + sex + school", drawn)
    assert clean.flags == ()
    assert not any("model" in note for note in clean.notes)
    for text in (str(clean.summary()), clean._repr_html_(), clean.to_markdown(), clean.to_latex()):
        assert "under the synthesis model" in " ".join(text.split())
    bent = ols("pay ~ age * sex", drawn)
    for text in (str(bent.summary()), bent._repr_html_(), bent.to_markdown(), bent.to_latex()):
        assert "age:sex: interactions or powers" in " ".join(text.split())


def test_variances_clusters_and_random_effects_are_flagged_on_every_release(drawn):
    def told(result):
        return " ".join(result.flags)

    assert "robust covariances" in told(ols("pay ~ age", drawn, cov_type="HC3"))
    named = {"cov_type": "cluster", "cov_kwds": {"groups": "school"}}
    assert "each level of school" in told(ols("pay ~ age", drawn, **named))
    numbered = {"cov_type": "cluster", "cov_kwds": {"groups": "age"}}
    assert "no clusters; only" in told(ols("pay ~ sex", drawn, **numbered))
    assert "random effects" in told(drawn.fit("pay ~ age", smf.mixedlm, groups="school"))
    assert "no clusters" in told(drawn.fit("pay ~ age", smf.gee, groups="school"))
    assert "one spread and shape" in told(drawn.fit("pay ~ age", smf.quantreg, q=0.9))
    assert told(drawn.fit("pay ~ age", smf.rlm)) == ""
    assert told(glm("pay ~ age", drawn)) == ""
    assert (
        told(
            logit(
                "sex ~ age",
                Synthesizer(progress=False, terms="main", visit_sequence=["age", "school", "pay", "sex"])
                .fit(drawn[0])
                .draw(m=3, rng=1),
            )
        )
        == ""
    )


def test_pooled_fits_and_comparisons_say_the_same(drawn, table):
    formula = "sex ~ pay"
    fits = [smf.ols("pay ~ age * sex", data=copy).fit() for copy in drawn]
    assert "age:sex" in pool(fits, release=drawn).flags[0]
    early = ols("age ~ pay + sex", drawn)
    assert "put age last" in early.flags[0]
    notes = compare_fits(early, smf.ols("age ~ pay + sex", data=table).fit()).notes
    assert any("visit_sequence" in note for note in notes), formula


def test_subgroups_are_flagged_where_their_effect_is_not_held(drawn, table):
    assert drawn.apply(mean_of("pay", by="sex")).flags == ()
    assert drawn.apply(mean_of("pay")).flags == ()
    assert drawn.apply(quantile_of("pay", 0.5)).flags == ()
    assert drawn.apply(share_of("school", "s1", by="sex")).flags == ()
    assert "straight lines" in drawn.apply(mean_of("pay", by="age")).flags[0]
    assert drawn.apply(quantile_of("pay", 0.9, by="sex")).flags == ()  # cells hold each group's distribution
    one = Synthesizer(progress=False, terms="main", method={"pay": "normrank"}).fit(table).draw(m=3, rng=1)
    assert "by group" in one.apply(quantile_of("pay", 0.9, by="sex")).flags[0]
    assert "value of pay" in one.apply(share_of("pay", 30.0, by="sex")).flags[0]


def test_shapes_of_a_formula_are_flagged(table):
    made = Synthesizer(method={"pay": "norm"}, progress=False).fit(table).draw(m=3, rng=1)
    assert made.apply(mean_of("pay")).flags == ()
    (flag,) = made.apply(quantile_of("pay", 0.5)).flags
    assert "shape that 'norm' gives" in flag


def test_formulas_of_the_plan_are_in_the_tags_and_lift_the_flag(table, tmp_path):
    formulas = ["pay ~ age * sex + school + I(age ** 2)"]
    made = Synthesizer(formulas=formulas, progress=False).fit(table).draw(m=3, rng=1)
    made.save(tmp_path / "out")
    for each in (made, SyntheticRelease.load(tmp_path / "out")):
        assert each.tags == made.tags
        assert ols("pay ~ age * sex + I(age ** 2)", each).flags == ()
        assert "age:school" in ols("pay ~ age * school", each).flags[0]


def test_the_scale_that_a_fit_found_is_in_the_tags(table):
    skewed = table.assign(pay=np.exp(table.pay / 8))
    made = Synthesizer(progress=False, terms="main", method={"pay": "normrank"}).fit(skewed).draw(m=3, rng=1)
    assert ols("np.log(pay) ~ age", made).flags == ()
    assert "its logarithmic scale" in ols("pay ~ age", made).flags[0]
    plain = Synthesizer(progress=False, terms="main", method={"pay": "norm"}).fit(table).draw(m=3, rng=1)
    assert "plain scale" in ols("np.log(np.abs(pay)) ~ age", plain).flags[0]


def test_a_folder_of_an_older_version_gets_one_note():
    old = SyntheticRelease.load(ROOT / "tests/golden/releases/0.1.0/none")
    names = list(old.schema.names)
    result = old.apply(mean_of(names[-1]))
    assert old.tags.steps is None
    assert [note for note in result.notes if note == UNSAID] == [UNSAID]


def test_a_step_without_its_parts_is_refused():
    with pytest.raises(ReleaseError, match="lacks"):
        TaggedStep.from_plain({"columns": ["a"]})
    with pytest.raises(ReleaseError, match="must draw"):
        TaggedStep(columns=("a",), draws="text", model="norm")


def test_trees_of_r_ask_the_same():
    def named(name):
        return {"text": name, "tree": {"name": name}}

    square = {
        "text": "I(a^2)",
        "tree": {"call": "I", "arguments": [{"call": "^", "arguments": [{"name": "a"}, 2]}]},
    }
    poly = {"text": "poly(a, 2)", "tree": {"call": "poly", "arguments": [{"name": "a"}, 2.0]}}
    smooth = {"text": "s(a)", "tree": {"call": "s", "arguments": [{"name": "a"}]}}
    for term, words in ((square, "powers"), (poly, "powers"), (smooth, "straight lines")):
        asked = asked_by_r({"response": named("y"), "terms": [[named("g")], [term]]}, "lm")
        assert words in remarks_on(release(LAST), asked).flags[0]
    subset = {"text": 'g == "x"', "tree": {"call": "==", "arguments": [{"name": "g"}, "x"]}}
    asked = asked_by_r({"response": named("y"), "terms": [[named("a")]], "subset": subset}, "lm")
    assert "particular to this subgroup" in remarks_on(release(LAST), asked).flags[0]
    mixed = asked_by_r({"response": named("y"), "terms": [[named("a")]], "groups": "g"}, "lmerMod")
    assert "each level of g" in remarks_on(release(LAST), mixed).flags[0]
    sandwich = asked_by_r(
        {"response": named("y"), "terms": [[named("a")]], "functions": ["lm", "vcovHC"]}, "list"
    )
    assert "robust" in remarks_on(release(LAST), sandwich).flags[0]


# -- whether the words are true ----------------------------------------------------------------------------


def test_unflagged_effects_are_in_the_copies_and_flagged_ones_are_not():
    """z of each effect, pooled against confidential, in confidential standard errors, over 6 tables.

    Passes where |mean z| of an unflagged effect is below 1.5: copies of m = 5 add a standard deviation of .45
    to each z of a right model, so the mean of six has .18 and a right plan fails with p < 1e-9; and
    where that of a flagged effect, truly eight standard errors or more from zero, is above 4.
    """
    plain, told = {}, {}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        a, g = rng.normal(0, 1, 800), rng.choice(["x", "z"], 800)
        late = a + (g == "x") * (1 + 0.5 * a) + 0.3 * a**2 + rng.normal(0, 1, 800)
        real = pd.DataFrame({"g": g, "a": a.round(3), "late": late.round(3)})
        lacking = (
            Synthesizer(progress=False, terms="main", method={"late": "norm"}).fit(real).draw(m=5, rng=seed)
        )
        formulas = ["late ~ a * g + I(a ** 2)"]
        holding = Synthesizer(progress=False, terms="main", formulas=formulas).fit(real).draw(m=5, rng=seed)
        for made in (lacking, holding):
            for formula in ("late ~ a * g", "late ~ a + I(a ** 2)", "late ~ a + g"):
                mine, theirs = ols(formula, made), smf.ols(formula, data=real).fit()
                term = theirs.params.index[-1]
                z = (mine.params[term] - theirs.params[term]) / theirs.bse[term]
                (told if mine.flags else plain).setdefault((formula, made is holding), []).append(z)
    assert {key: len(values) for key, values in plain.items()} == dict.fromkeys(plain, 6)
    assert {formula for formula, holds in plain if not holds} == {"late ~ a + g"}
    assert {formula for formula, holds in told} == {"late ~ a * g", "late ~ a + I(a ** 2)"}
    assert max(abs(np.mean(values)) for values in plain.values()) < 1.5, plain
    assert min(abs(np.mean(values)) for values in told.values()) > 4, told


def test_rows_without_a_logarithm_are_counted():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"x": rng.normal(size=300).round(2)})
    frame["y"] = 1 + frame.x + rng.normal(size=300)
    drawn = Synthesizer(progress=False, terms="main").fit(frame).draw(m=3, rng=1)
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        pooled = ols("np.log(y) ~ x", drawn)
    lost = sum(int((copy.y < 0).sum()) for copy in drawn)
    assert any(note.startswith(f"{lost} of 900 complete rows") for note in pooled.notes)
    assert not any("complete rows" in note for note in ols("y ~ x", drawn).notes)
    gaps = frame.assign(x=frame.x.where(rng.random(300) < 0.8))
    holed = Synthesizer(progress=False, terms="main").fit(gaps).draw(m=3, rng=1)
    assert not any("complete rows" in note for note in ols("y ~ x", holed).notes)


# -- trees -------------------------------------------------------------------------------------------------


def of_trees(**more):
    return release(LAST, kind="cart", scale="any", **more)


@pytest.mark.parametrize("formula", ["y ~ a + g", "y ~ a * g", "y ~ I(a ** 2) + b", "y ~ np.log(a)"])
def test_a_tree_holds_products_and_curves_of_its_columns_and_is_flagged_as_a_tree(formula):
    (flag,) = flags(of_trees(), formula)
    assert "drawn by trees ('cart')" in flag
    assert "default methods" in flag


def test_a_tree_holds_nothing_of_columns_that_it_was_not_given():
    found = flags(of_trees(terms={"y": (("a",), ("g",))}), "y ~ a + b")
    assert any("y and b were not drawn from one another" in flag for flag in found)


def test_only_columns_of_trees_that_an_analysis_uses_are_flagged():
    tree = TaggedStep(columns=("h",), draws="levels", model="cart", linear_on="any")
    made = release("agb")
    made = Release(
        ReleaseTags(kind="complete", m=5, n_syn=100, n_org=100, steps=(*made.tags.steps, tree)), "agbh"
    )
    assert not flags(made, "b ~ a + g")
    assert "h: drawn by trees" in flags(made, "h ~ a")[0]
