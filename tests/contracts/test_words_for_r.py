"""What an R user reads is R's: mistakes as people make them, driven through the dispatcher without R."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpError
from pysynthdp.bridge.codec import RVector, character, dumps, loads, named_list
from pysynthdp.bridge.dispatch import PROTOCOL, handle
from pysynthdp.bridge.plain import plain_from_r, plain_to_r
from pysynthdp.bridge.releases import release_to_r
from pysynthdp.io.plans.plan_file import read_plan
from pysynthdp.synthesizer import Synthesizer, synthesize

PYTHON = re.compile(
    r"=\{|=\[|=\(|\bTrue\b|\bFalse\b|\bNone\b|DataFrame|\bpandas\b|\bdtype\b|\bu?int64\b|\bpd\.|df\[|\*\*|\{'"
    r"|\w=(?:[\w'\"]|\.\.\.)|NumericColumn|CategoricalColumn|\bZCDP\b|BySampling|PrivacyUnit|\bSchema\b"
)
"""What no message to an R user may hold."""


def table(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "income": rng.normal(2000, 400, n).round(2),
            "sex": pd.Categorical(rng.choice(["f", "m"], n)),
        }
    )


def with_column(name: str, values) -> pd.DataFrame:
    return table().assign(**{name: values})


def ask(verb: str, **args) -> dict:
    values = {name: plain_to_r(value) for name, value in args.items()}
    request = {"protocol": plain_to_r(PROTOCOL), "verb": plain_to_r(verb), "args": named_list(values)}
    reply = loads(handle(dumps(named_list(request))))
    return dict(zip(reply.names, map(plain_or_not, reply.items), strict=True))


def plain_or_not(value):
    return value if isinstance(value, RVector) and "synds" in value.classes else plain_from_r(value)


def synth(data=None, m=2.0, **settings):
    return ask("synthesise", data=table() if data is None else data, settings=settings, m=m, seed=1.0)


NUMBERS = {"age": {"kind": "numeric", "lower": 0.0, "upper": 99.0, "fallback": 40.0}}
SEX = {"kind": "categorical", "levels": ["f", "m"], "other": "f"}
ZCDP = {"name": "zcdp", "rho": 0.5}
FITS = [{"terms": ["x"], "values": [q], "cov": [1.0], "df": None, "nobs": 200} for q in (0.1, 0.2, 0.3)]
TAGS = synthesize(table(), m=3, rng=1, progress=False).tags.to_dict()


def pool(fits=None, **more):
    return ask("pool", **{"fits": FITS if fits is None else fits, "model": "lm", **more})


def tagged(fits=None, **tags):
    columns = ["age", "income", "sex"]
    return pool(fits, tags={**TAGS, **tags}, columns=columns, variables=["age", "income"])


MISTAKES = {
    # a setting that is not there, or of another form
    "misspelt setting": (lambda: synth(bound={"age": [0.0, 99.0]}), "did you mean 'bounds'?"),
    "another's setting": (lambda: synth(seeds=1.0), "there is no setting 'seeds'"),
    "proper as a text": (lambda: synth(proper="yes"), "TRUE or FALSE"),
    "keep of numbers": (lambda: synth(keep=[1.0, 2.0]), 'c("...", "...")'),
    "bounds without names": (lambda: synth(bounds=[0.0, 9.0]), "bounds = list(column = ...)"),
    "one bound": (lambda: synth(bounds={"age": 9.0}), "c(lower, upper)"),
    "method of a model": (lambda: synth(method={"age": 3.0}), 'list(name = "norm", ...)'),
    "m is zero": (lambda: synth(m=0.0), "at least 1"),
    "m is a fraction": (lambda: synth(m=2.5), "m must be a whole number"),
    "schema of a number": (lambda: synth(schema=3.0), "numeric_column("),
    "column not declared": (lambda: synth(schema={"age": 3.0}), "numeric_column() or categorical_column()"),
    "joint as a text": (lambda: synth(joint=["a", "b"]), "list(list(columns = c(...), method = ...))"),
    "guarantee as a text": (lambda: synth(guarantee="zcdp"), "guarantee = zcdp(rho = 0.5)"),
    "setting of a model": (
        lambda: synth(method={"age": {"name": "negbin", "rige": 1.0}}),
        "negbin has no setting 'rige'",
    ),
    "no such plan": (lambda: synth(plan="nowhere.toml"), "nowhere.toml cannot be read"),
    # unknown values and columns
    "method": (lambda: synth(method="nrom"), "norm"),
    "method of a column": (lambda: synth(method={"age": "ranger"}), "ranger"),
    "rare": (lambda: synth(rare="marge"), "merge"),
    "column in bounds": (lambda: synth(bounds={"agee": [0.0, 9.0]}), "agee"),
    "column in method": (lambda: synth(method={"agee": "norm"}), "agee"),
    "column in keep": (lambda: synth(keep="agee"), "agee"),
    "column in drop": (lambda: synth(drop="agee"), "agee"),
    "column in a formula": (lambda: synth(formulas="income ~ agee"), "agee"),
    "later predictor": (
        lambda: synth(predictor_matrix={"age": "income"}, visit_sequence=["age", "sex", "income"]),
        "income",
    ),
    "order leaves out": (lambda: synth(visit_sequence=["age", "income"]), "sex"),
    "logreg of a number": (lambda: synth(method={"income": "logreg"}), 'method = list(income = "normrank")'),
    "norm of a factor": (lambda: synth(method={"sex": "norm"}), "norm"),
    # the data
    "identifier": (
        lambda: synth(with_column("id", [f"p{i:05d}" for i in range(200)])),
        'drop = "id"',
    ),
    "infinite": (lambda: synth(with_column("w", [np.inf, *range(199)])), "infinite"),
    "no rows": (lambda: synth(table(0)), "row"),
    "values beyond bounds": (lambda: synth(bounds={"age": [40.0, 60.0]}), "bounds"),
    "levels not declared": (lambda: synth(levels={"sex": ["f", "x"]}), "levels"),
    # a guarantee
    "nothing declared": (lambda: synth(guarantee=ZCDP), "schema"),
    "half declared": (lambda: synth(schema=NUMBERS, guarantee=ZCDP), "income"),
    "kept under a guarantee": (
        lambda: synth(schema={**NUMBERS, "sex": SEX}, guarantee=ZCDP, drop="income", keep="sex"),
        "keep",
    ),
    "rare under a guarantee": (
        lambda: synth(schema={**NUMBERS, "sex": SEX}, guarantee=ZCDP, drop="income", rare="merge"),
        "rare",
    ),
    "no bounds": (
        lambda: synth(schema={"age": {"kind": "numeric"}, "sex": SEX}, guarantee=ZCDP, drop="income"),
        "bounds",
    ),
    "no fallback": (
        lambda: synth(
            schema={"age": {**NUMBERS["age"], "fallback": None, "may_be_missing": False}, "sex": SEX},
            guarantee=ZCDP,
            drop="income",
        ),
        "fallback",
    ),
    "misspelt budget": (lambda: synth(guarantee={"name": "zcdp", "roh": 1.0}), "rho"),
    "a negative budget": (lambda: synth(guarantee={"name": "zcdp", "rho": -1.0}), "rho"),
    "a budget as a text": (lambda: synth(guarantee={"name": "zcdp", "rho": "1"}), "rho"),
    "unknown protection": (lambda: synth(guarantee={"name": "zdcp", "rho": 1.0}), "zcdp"),
    "sampling without models": (
        lambda: synth(schema={**NUMBERS, "sex": SEX}, guarantee={"name": "by_sampling"}, drop="income"),
        "age",
    ),
    # fits and folders
    "no fits": (lambda: pool([]), "give one a copy"),
    "sizes not known": (lambda: pool(FITS), "data ="),
    "another number of fits": (lambda: tagged(FITS[:2]), "there are 2 fits for 3 copies"),
    "unknown rule": (lambda: pool(rule="raab_simpel"), "did you mean 'raab_simple'?"),
    "a rule that is not valid": (lambda: ask("pool", **pooled_by("missing_rubin1987")), "valid here"),
    "one copy": (lambda: pool(FITS[:1], n_syn=9.0, n_org=9.0), 'rule = "raab_simple"'),
    "noise": (lambda: tagged(noise="shared"), "noise_var"),
    "size not published": (lambda: tagged(n_org=None), "n_org ="),
    "another kind of fit": (
        lambda: tagged([{**FITS[0], "about": {"family": "poisson"}}, *(
            {**fit, "about": {"family": "gaussian"}} for fit in FITS[1:]
        )]),
        "one family",
    ),
    "no release": (lambda: ask("read_release", folder="nowhere"), "nowhere"),
    "format": (
        lambda: ask("write_release", x=release_to_r(synthesize(table(), m=1, rng=1, progress=False)),
                    folder="nowhere", format="parket"),
        "parquet, csv",
    ),
    "no object": (lambda: ask("from_synds", x=character(["a"])), "synds"),
    "no data frame": (lambda: ask("look", data=character(["a", "b"]), settings={}), "data frame"),
}  # fmt: skip


def pooled_by(rule: str) -> dict:
    columns = ["age", "income", "sex"]
    return {"fits": FITS, "tags": TAGS, "columns": columns, "variables": ["age"], "rule": rule, "model": "lm"}


def test_there_are_many():
    assert len(MISTAKES) > 50


@pytest.mark.parametrize("case", MISTAKES, ids=lambda case: case)
def test_a_mistake_is_told_in_r(case):
    make, phrase = MISTAKES[case]
    reply = make()
    assert reply["ok"] is False, reply
    assert phrase in reply["message"]
    assert reply["class"][0] != "pysynthdp_internal_error"
    texts = [reply["message"], reply["remedy"] or "", *(one["message"] for one in reply["warnings"])]
    assert [text for text in texts if PYTHON.search(text)] == []


def test_fields_come_with_the_message():
    reply = synth(with_column("id", [f"p{i:05d}" for i in range(200)]))
    assert (reply["column"], reply["kind"]) == ("id", "identifier")
    assert 'drop = "id"' in reply["remedy"]


def test_warnings_come_with_their_fields():
    data = with_column("town", pd.Categorical(["a", "b", *["c"] * 198]))
    reply = ask("synthesise", data=data, settings={}, m=1.0, seed=1.0)
    told = next(one for one in reply["warnings"] if one["column"] == "town")
    assert told["remedy"]
    assert not PYTHON.search(told["message"] + told["remedy"])


def test_what_is_printed_is_in_r():
    data = with_column("den", pd.Categorical(["1.5", "2", "3", "4"] * 50)).assign(
        day=pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(200) % 90, unit="D"),
        wage=[-8.0, *np.arange(20, 29)] * 20,
        same="x",
    )
    texts = [
        ask("look", data=data, settings={})["value"]["text"],
        ask("plan", data=table(), settings={"method": {"age": "norm"}, "keep": "sex"})["value"]["text"],
        pool(n_syn=200.0, n_org=200.0)["value"]["why"],
        pool(n_syn=200.0, n_org=200.0)["value"]["notes"],
        " ".join(tagged()["value"][name] or "" for name in ("why", "notes")),
    ]
    released = ask("synthesise", data=table(), settings={"keep": "sex"}, m=1.0, seed=1.0)["value"]
    words = plain_from_r(released.items[released.names.index("words")])
    texts += [words["card"], words["paragraph"]]
    declared = {**NUMBERS, "sex": SEX}
    priced = ask("plan", data=None, settings={"schema": declared, "guarantee": ZCDP}, m=5.0, n=200.0)[
        "value"
    ]["text"]
    for text in [*texts, priced]:
        assert not PYTHON.search(text), (PYTHON.search(text), text)
    assert "data$den <- as.numeric(as.character(data$den))" in " ".join(texts[0].split())
    assert re.search(r"^den +categorical +factor", texts[0], flags=re.MULTILINE)
    assert re.search(r"^wage +\w+ +numeric", texts[0], flags=re.MULTILINE)
    assert re.search(r"^same +\w+ +character", texts[0], flags=re.MULTILINE)


SHELL = re.compile(
    r"=\{|=\[|\bTrue\b|\bNone\b|DataFrame|\bpd\.|df\[|\blist\(|\bc\(|\bTRUE\b|NumericColumn|Schema\("
)
"""What nobody who types commands and plan files is told."""
IN_R = re.compile(r"\blist\(\w+ = |= c\(|\bTRUE\b|\bNULL\b|--\w+|<- ")
"""What nobody who writes Python is told."""
SAME = {
    "identifier": (
        {},
        {"id": [f"p{i:05d}" for i in range(200)]},
        ("drop=['id']", "--drop id", 'drop = "id"'),
    ),
    "bounds": ({"bounds": {"age": (40, 60)}}, {}, ("age", "age", "age")),
    "unknown column": ({"bounds": {"agee": (0, 9)}}, {}, ("'age'?", "'age'?", "'age'?")),
    "method": ({"method": "nrom"}, {}, ("'norm'?", "'norm'?", "'norm'?")),
    "rare": ({"rare": "marge"}, {}, ("merge", "merge", "merge")),
    "levels": ({"levels": {"sex": ["f", "x"]}}, {}, ("sex", "sex", "sex")),
    "kept": ({"keep": ["nobody"]}, {}, ("nobody", "nobody", "nobody")),
    "order": ({"visit_sequence": ["age"]}, {}, ("sex", "sex", "sex")),
    "proper": ({"proper": "yes"}, {}, ("True or False", "true or false", "TRUE or FALSE")),
    "nothing declared": ({"guarantee": sdp.ZCDP(0.5)}, {}, ("Schema([", "codebook", "list(")),
}


@pytest.mark.parametrize("case", SAME, ids=lambda case: case)
def test_the_same_mistake_is_told_in_each_dialect(case):
    settings, columns, phrases = SAME[case]
    with pytest.raises(PysynthdpError) as caught:
        Synthesizer(**settings, progress=False).fit(table().assign(**columns))
    said = [caught.value.said(dialect) for dialect in ("python", "shell", "r")]
    assert said[0] == str(caught.value)
    for text, phrase, never in zip(said, phrases, (IN_R, SHELL, PYTHON), strict=True):
        assert phrase in text
        assert not never.search(text), text


def test_a_plan_file_is_told_in_toml(tmp_path):
    for line, phrase in [
        ("bound = { age = [0, 99] }", "did you mean 'bounds'"), ('rare = "marge"', "merge"),
        ("proper = 'yes'", "true or false"), ("bounds = { age = 3 }", "[lower, upper]"),
        ('method = "nrom"', "norm"), ('guarantee = { name = "zdcp", rho = 1 }', "zcdp"),
    ]:  # fmt: skip
        path = tmp_path / "plan.toml"
        path.write_text(f"{line}\n", encoding="utf-8")
        with pytest.raises(PysynthdpError, match=re.escape(phrase)) as caught:
            Synthesizer(**read_plan(path), progress=False).plan(table())
        assert not SHELL.search(caught.value.said("shell")), line
