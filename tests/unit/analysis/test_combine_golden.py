"""Every rule against reference values computed elsewhere with 50 digits."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

from pysynthdp.analysis.combining import combine
from pysynthdp.analysis.f_tests import JOINT_TESTS
from pysynthdp.analysis.rules.base import RULES
from pysynthdp.base.errors import CombiningRuleError

pytestmark = pytest.mark.filterwarnings("ignore:T = .* gives no interval")  # asked for on purpose
FOLDER = Path(__file__).parents[2] / "golden" / "combining"
GOLDEN = json.loads((FOLDER / "check_values.json").read_text(encoding="utf-8"))
IN, OUT = GOLDEN["inputs"], GOLDEN["expected"]
EXTRA = ("r", "riv", "lam", "fmi", "df_obs", "negative", "fallback")
SCALAR = [(rule, case) for rule, cases in OUT["scalar"].items() if rule != "basics" for case in cases]
NESTED = [(rule, case) for rule, cases in OUT["nested"].items() if rule != "basics" for case in cases]


def close(got, want, rtol=1e-12):
    if want is None:
        assert np.isnan(got)
    elif want == "inf":
        assert np.isposinf(got)
    else:
        assert float(got) == pytest.approx(float(want), rel=rtol, abs=0)


def check(done, want, q0, rtol):
    close(done.qbar, want["qbar"], rtol)
    low, high = done.conf_int()
    if "T" in want:
        close(done.T, want["T"], rtol)
        close(done.df, want["df"], rtol)
    if want.get("T", 1) is None or want.get("T", 1) <= 0:
        assert np.isnan([done.se, low, high, done.pvalue(q0)]).all()
        assert done.reason is not None
        return
    # With df < 0.01 the t quantile multiplies the rounding of the inputs to doubles by 10^4: exact rational
    # arithmetic on the doubles themselves is 5e-12 away from the reference, which starts from decimals.
    limits = 1e-11 if (want.get("df") or 1) != "inf" and (want.get("df") or 1) < 0.01 else rtol
    close(low, want["ci95_low"], limits)
    close(high, want["ci95_high"], limits)
    close(done.pvalue(q0), want["p_two_sided"], rtol)
    if "se" in want:
        close(done.se, want["se"], rtol)
        close((done.qbar - q0) / done.se, want["t"], rtol)
    for name in EXTRA:
        if name in want:
            close(done.extras[name], want[name], rtol)


@pytest.mark.parametrize(("rule", "case"), SCALAR)
def test_rule_for_one_number(rule, case):
    x, want = IN["scalar"][case], OUT["scalar"][rule][case]
    if "qbar" not in want:
        want = {"qbar": OUT["scalar"]["basics"][case]["qbar"], **want}
    given = {k: x[k] for k in ("n_syn", "n_org", "df_com", "noise_var")}
    done = combine(x["q"], x["u"], rule=rule, **given)
    check(done, want, x["q0"], 1e-10 if rule == "full_posterior_truncated" else 1e-12)


@pytest.mark.parametrize(("rule", "case"), NESTED)
def test_rule_for_nested_copies(rule, case):
    x, want = IN["nested"][case], OUT["nested"][rule][case]
    q, u = np.array(x["q"]), np.array(x["u"])
    nests = [f"imputation {i}" for i in range(q.shape[0]) for _ in range(q.shape[1])]
    check(combine(q.ravel(), u.ravel(), rule=rule, nests=nests), want, x["q0"], 1e-12)


@pytest.mark.parametrize("case", list(OUT["scalar"]["basics"]))
def test_basic_quantities(case):
    x, want = IN["scalar"][case], OUT["scalar"]["basics"][case]
    done = combine(x["q"], x["u"], n_syn=x["n_syn"], n_org=x["n_org"], rule="raab_simple")
    close(done.ubar, want["ubar"])
    assert done.m == want["m"]
    if want["b"] is None:
        assert done.b is None
    else:
        close(done.b, want["b"])


@pytest.mark.parametrize("case", list(OUT["vector_covariance"]))
def test_covariance_of_several_numbers(case):
    x, want = IN["vector"][case], OUT["vector_covariance"][case]
    for rule in set(want) - {"qbar", "ubar", "b"}:
        done = combine(x["q"], x["U"], n_syn=x["n_syn"], n_org=x["n_org"], rule=rule)
        np.testing.assert_allclose(done.covariance(), want[rule], rtol=1e-12, atol=1e-16)
        np.testing.assert_allclose(done.T, np.diag(want[rule]), rtol=1e-12)
        np.testing.assert_allclose(done.qbar, want["qbar"], rtol=1e-12)


WALD_RULE = {
    "wald_missing_lrr1991": "missing_rubin1987",
    "wald_full_reiter2005": "full_rrr2003",
    "wald_partial_reiter2005": "partial_reiter2003",
}


@pytest.mark.parametrize(("test", "case"), [(t, c) for t in WALD_RULE for c in OUT["vector"][t]])
def test_wald_test_of_several_numbers(test, case):
    x, want = IN["vector"][case], OUT["vector"][test][case]
    done = combine(x["q"], x["U"], rule=WALD_RULE[test])
    got = done.wald(np.eye(len(x["q0"])), np.array(x["q0"]))
    assert got.name == test
    for name, value in (
        ("r", got.r),
        ("stat", got.stat),
        ("df1", got.df1),
        ("df2", got.df2),
        ("p", got.pvalue),
    ):
        close(value, want[name])


@pytest.mark.parametrize(("test", "case"), [(t, c) for t, cs in OUT["likelihood_ratio"].items() for c in cs])
def test_likelihood_ratio_test(test, case):
    x, want = IN["likelihood_ratio"][case], OUT["likelihood_ratio"][test][case]
    m, p, own, pooled = len(x["own"]), x["k"], np.mean(x["own"]), np.mean(x["pooled"])
    got = JOINT_TESTS[test]().test(pooled, m * (own - pooled) / (p * (m - 1)), p=p, m=m)
    for name, value in (
        ("r", got.r),
        ("stat", got.stat),
        ("df1", got.df1),
        ("df2", got.df2),
        ("p", got.pvalue),
    ):
        close(value, want[name])


def test_one_copy_is_refused_by_every_rule_that_needs_a_spread():
    x = IN["scalar"]["D_single_copy"]
    given = {k: x[k] for k in ("n_syn", "n_org", "df_com", "noise_var")}
    for name in RULES:
        if RULES[name].nested or "between" not in RULES[name].needs:
            continue
        with pytest.raises(CombiningRuleError, match="raab_simple"):
            combine(x["q"], x["u"], rule=name, **given)
    with pytest.raises(CombiningRuleError, match="raab_proper"):
        combine(x["q"], x["u"], n_syn=400, n_org=800)


def test_terms_are_independent_columns():
    a, c = IN["scalar"]["A"], IN["scalar"]["B"]
    q = np.column_stack([a["q"][:3], c["q"]])
    u = np.column_stack([a["u"][:3], c["u"]])
    both = combine(q, u, n_syn=500, n_org=2000)
    alone = combine(c["q"], c["u"], n_syn=500, n_org=2000)
    assert both.T[1] == alone.T
    assert both.df[1] == alone.df
    np.testing.assert_array_equal(both.conf_int()[1], alone.conf_int())


def test_every_rule_of_the_reference_file_is_registered():
    wanted = {*OUT["scalar"], *OUT["nested"]} - {"basics"}
    assert wanted <= set(RULES)
    assert {*OUT["vector"], *OUT["likelihood_ratio"]} - {"basics"} <= set(JOINT_TESTS)


# those of this package alone: simulations hold them, and no other program has their numbers
OWN = {
    "effective_rows_drawn",
    "effective_rows_fitted",
    "estimates_only",
    "missing_then_partial_size_adjusted",
    "noise_floored",
    "partial_design",
}


def test_every_rule_of_the_literature_has_reference_values():
    known = {*OUT["scalar"], *OUT["nested"], *OWN} - {"basics"}
    assert not known - set(RULES)
    assert not set(RULES) - known, "write its formula in tests/golden/combining/make_scalar.py, and run that"


def test_the_script_gives_what_is_stored():
    maker = runpy.run_path(str(FOLDER / "make_scalar.py"))
    assert set(maker["RULES"]) == set(OUT["scalar"]) - {"basics", "full_posterior_truncated"}
    for rule in maker["RULES"]:
        assert not maker["differences"](maker["block"](rule, IN["scalar"]), OUT["scalar"][rule]), rule


def test_every_rule_with_reference_values_stands_in_the_table_of_formulas():
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [
        rule for rule in {*OUT["scalar"], *OUT["nested"]} - {"basics"} if f"| `{rule}` |" not in page
    ] == []
