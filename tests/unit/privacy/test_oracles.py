"""Every stored check value of the formula reference, computed by an independent 40-digit implementation.

``ADAPTER`` maps the names and arguments of the reference (where m means three things) to the
public functions. Nothing is skipped.
"""
# ruff: noqa: PLW0108, ARG005  # the adapter spells out the reference's argument names

import json
import math
from pathlib import Path

import numpy as np
import pytest

from pysynthdp.privacy.conversion import gdp as convert_gdp
from pysynthdp.privacy.conversion import pure as convert_pure
from pysynthdp.privacy.conversion import rdp as convert_rdp
from pysynthdp.privacy.conversion import textbook
from pysynthdp.privacy.conversion import zcdp as convert_zcdp
from pysynthdp.privacy.prices import (
    addremove,
    beta_binomial,
    binary,
    categorical,
    cells,
    gaussian_floored,
    gaussian_known,
    gaussian_local,
    gaussian_pairs,
    gaussian_planning,
    gaussian_prior,
    gaussian_truncated,
    grids,
    linear_statistics,
    linear_statistics_planner,
    miura,
    multivariate_normal,
    mvn_pairs,
    regression,
    sufficient_statistics,
)
from pysynthdp.privacy.prices import beta_curves as beta_renyi
from pysynthdp.privacy.prices import binary_curves as binary_renyi

GOLDEN = Path(__file__).parents[2] / "golden" / "privacy" / "check_values.json"


def combine(q, u, n_syn, n_org):
    """I1: the variances' arithmetic, in the test only; pooling has its own tests."""
    q, u, m = np.array(q), np.array(u), len(q)
    ratio, inside = n_syn / n_org, u.mean()
    out = {"q_bar": q.mean(), "u_bar": inside}
    out |= {"T_s": (ratio + 1 / m) * inside, "T_ppd": (ratio + (1 + ratio) / m) * inside}
    if m > 1:
        between = (1 + 1 / m) * q.var(ddof=1)
        freedom = (m - 1) * (1 - inside / between) ** 2
        out |= {"b_m": q.var(ddof=1), "T_f": between - inside, "nu_f": freedom}
    return out


def prior(kind, n, lo, hi, sigma, sigma0, n_syn, m):
    kind = "parameter" if kind == "param" else kind
    return gaussian_prior.mean_with_prior(
        n, lo, hi, sigma=sigma, sigma0=sigma0, n_syn=n_syn, copies=m, draw=kind
    ).rho


def truncated(kind, n, R, sigma, sigma0=None):
    draw = {"map": "map", "post": "many", "param": "parameter"}[kind]
    return gaussian_truncated.truncated_epsilon(n, R, sigma=sigma, sigma0=sigma0, draw=draw)


def cat_delta(kind, n, m, a1, a2, asum, eps):
    function = categorical.categorical_delta if kind == "iid" else categorical.categorical_one_delta
    return function(n, m, categorical.CellWeights(a1, a2, asum), epsilon=eps)


ADAPTER = {
    "zcdp_to_eps_bs": lambda rho, delta: convert_zcdp.zcdp_epsilon_simple(rho, delta),
    "zcdp_to_delta_cks": lambda rho, eps: convert_zcdp.zcdp_delta(rho, eps),
    "zcdp_to_eps_cks": lambda rho, delta: convert_zcdp.zcdp_epsilon(rho, delta),
    "gdp_delta": lambda mu, eps: convert_gdp.gdp_delta(mu, eps),
    "gdp_eps": lambda mu, delta: convert_gdp.gdp_epsilon(mu, delta),
    "gdp_mu_max": lambda eps, delta: convert_gdp.gdp_mu(eps, delta),
    "rdp_to_eps_mironov": lambda alpha, tau, delta: convert_rdp.rdp_epsilon_mironov(alpha, tau, delta),
    "rdp_to_eps_cks": lambda alpha, tau, delta: convert_rdp.rdp_epsilon(alpha, tau, delta),
    "rdp_to_delta": lambda alpha, tau, eps: convert_rdp.rdp_delta(alpha, tau, eps),
    "pure_to_rdp": lambda eps, alpha: convert_pure.pure_renyi(eps, alpha),
    "pure_to_zcdp": lambda eps: convert_pure.pure_zcdp(eps),
    "advanced_composition_eps": lambda eps, k, delta_p: (
        textbook.advanced_composition(eps, k, slack=delta_p).eps
    ),
    "subsample_exact": lambda eps, m, n: textbook.subsample(eps, m, n=n)[0],
    "rho_plugin": lambda n, lo, hi, sigma, n_syn, m: (
        gaussian_known.plug_in_mean(n, lo, hi, sigma=sigma, n_syn=n_syn, copies=m).rho
    ),
    "nsyn_plugin": lambda rho, n, lo, hi, sigma, m: gaussian_planning.plug_in_mean_records(
        rho, n, lo, hi, sigma=sigma, copies=m
    ),
    "delta_plugin": lambda n, lo, hi, sigma, n_syn, m, eps: gaussian_known.plug_in_mean(
        n, lo, hi, sigma=sigma, n_syn=n_syn, copies=m
    ).delta(eps),
    "rho_param_release": lambda n, lo, hi, sigma, m: (
        gaussian_known.mean_release(n, lo, hi, sigma=sigma, copies=m).rho
    ),
    "rho_bayes_one": lambda n, lo, hi, sigma, n_syn, m: (
        gaussian_known.mean_per_copy(n, lo, hi, sigma=sigma, n_syn=n_syn, copies=m).rho
    ),
    "delta_bayes_one": lambda n, lo, hi, sigma, n_syn, m, eps: gaussian_known.mean_per_copy(
        n, lo, hi, sigma=sigma, n_syn=n_syn, copies=m
    ).delta(eps),
    "rho_bayes_many": lambda n, lo, hi, sigma, n_syn, m: (
        gaussian_known.mean_per_record(n, lo, hi, sigma=sigma, n_syn=n_syn, copies=m).rho
    ),
    "rho_prior": prior,
    "eps_truncated_worst": truncated,
    "rdp_truncated": lambda c, cp, v, R, alpha: gaussian_truncated.truncated_renyi(
        c, cp, variance=v, half_width=R, orders=alpha
    ),
    "laplace_scale_mean": lambda n, R, eps, w=1: gaussian_known.mean_laplace_scale(
        n, -R, R, epsilon=eps, weight=w
    ),
    "renyi_normal": lambda mu1, v1, mu2, v2, alpha, N=1: gaussian_pairs.normal_renyi(
        mu1, v1, mu2, v2, orders=alpha, n_draws=N
    ),
    "hs_normal": lambda mu1, v1, mu2, v2, eps, N: gaussian_pairs.normal_delta(
        mu1, v1, mu2, v2, epsilon=eps, n_draws=N
    ),
    "rdp_plugin_floor": lambda n, d, f, alpha, N, ddof=1: gaussian_floored.floored_renyi(
        n, d, f, orders=alpha, n_draws=N, ddof=ddof
    ),
    "rdp_plugin_local": lambda n, d, xbar, s2, alpha, N, ddof=1: gaussian_local.local_bound(
        n, d, mean=xbar, variance=s2, orders=alpha, n_draws=N, ddof=ddof
    ).reveal(),
    "gamma_loss": lambda N, v, vp, x: gaussian_pairs.variance_loss(N, v, vp, value=x),
    "bayes_t_eps": lambda n, SS, xbar, SSp, xbarp, N: gaussian_pairs.student_epsilon(
        n, SS, xbar, other_scatter=SSp, other_mean=xbarp, n_syn=N
    ),
    "mvn_add": lambda q, alpha, n, d: addremove.add_one_renyi(q, orders=alpha, n=n, columns=d),
    "mvn_rem": lambda q, alpha, n, d: addremove.remove_one_renyi(q, orders=alpha, n=n, columns=d),
    "mvn_addremove_sup": lambda q, alpha, n, d: addremove.addremove_renyi(q, orders=alpha, n=n, columns=d),
    "renyi_mvn": lambda mu1, S1, mu2, S2, alpha: mvn_pairs.mvn_renyi(mu1, S1, mu2, S2, alpha=alpha),
    "miura_eps": lambda alpha, n, d, sigma: miura.miura_addremove(alpha, n=n, columns=d, least=sigma),
    "miura_bounded": lambda alpha, n, d, sigma: miura.miura_replace(
        alpha, n=n, columns=d, least=sigma, corrected=False
    ),
    "mvn_replace": lambda p, s, r, alpha, n: mvn_pairs.replace_one_renyi(p, s, r, orders=alpha, n=n),
    "mvn_replace_bound": lambda q, alpha, n: mvn_pairs.replace_one_largest(q, alpha=alpha, n=n),
    "mvn_replace_proved": lambda q, alpha, n: multivariate_normal.ridge_bound_renyi(q, orders=alpha, n=n),
    "bsv_eps": lambda F, n, sigma_lap: (
        linear_statistics.statistics_with_laplace(linear_statistics.family_sensitivity(F, n), sigma_lap).eps
    ),
    "bsv_min_n": lambda F, gamma_, delta_acc, eps: linear_statistics_planner.records_for_privacy(
        F, failure=gamma_, accuracy=delta_acc, epsilon=eps
    ),
    "bsv_rho_gauss": lambda F, n, sigma_g: (
        linear_statistics.statistics_with_gaussian(
            linear_statistics.family_sensitivity(F, n, norm=2), sigma_g
        ).rho
    ),
    "pure_beta": lambda kind, m, amin: cells.cells_epsilon(amin, m, draw=kind),
    "hs_binom": lambda m, p, q, eps: binary.binomial_delta(m, p, q, epsilon=eps),
    "delta_binary_iid": lambda n, m, a, b, eps, n1=None: binary.binary_delta(n, m, (a, b), epsilon=eps),
    "hs_betabin": lambda m, A, B, eps: beta_binomial.beta_binomial_delta(m, A, B, epsilon=eps),
    "delta_post_one": lambda n, m, alpha, beta_, eps: beta_binomial.one_parameter_delta(
        n, m, alpha, beta_, epsilon=eps
    ),
    "hs_beta": lambda A, B, eps: beta_binomial.beta_delta(A, B, epsilon=eps),
    "delta_param_post": lambda n, alpha, beta_, eps: beta_binomial.parameter_delta(
        n, alpha, beta_, epsilon=eps
    ),
    "rdp_bern": lambda p, q, alpha, m: binary_renyi.bernoulli_renyi(p, q, orders=alpha, n_draws=m),
    "rdp_binary_iid": lambda n, m, a, b, alpha: binary_renyi.binary_renyi(n, m, (a, b), orders=alpha),
    "rdp_beta": lambda A, B, order: beta_renyi.beta_renyi(A, B, orders=order),
    "rdp_param_post": lambda n, alpha, beta_, order: beta_renyi.parameter_renyi(
        n, alpha, beta_, orders=order
    ),
    "rdp_betabin": lambda m, A, B, order: beta_renyi.beta_binomial_renyi(m, A, B, alpha=order),
    "laplace_scale_theta": lambda n, alpha, beta_, eps, kind: binary.theta_laplace_scale(
        n, alpha, beta_, epsilon=eps, estimate=kind
    ),
    "cat_delta": cat_delta,
    "cat_rdp": lambda n, m, a1, a2, asum, alpha: categorical.categorical_renyi(
        n, m, categorical.CellWeights(a1, a2, asum), orders=alpha
    ),
    "dgauss_renyi": lambda shift, s2, alpha: grids.discrete_gaussian_renyi(shift, s2, orders=alpha),
    "rho_grid": lambda delta, grid, sigma, n_draws: (
        grids.grid_draws(delta, grid, sigma=sigma, n_draws=n_draws).rho
    ),
    "ridge_pred_shift": lambda n, L, B, Lam: regression.ridge_shift(n, row_norm=L, response=B, ridge=Lam),
    "rho_ridge": lambda n, L, B, Lam, sigma, n_draws: (
        regression.ridge_draws(n, row_norm=L, response=B, ridge=Lam, sigma=sigma, n_syn=n_draws).rho
    ),
    "rho_logit_ridge": lambda n, L, Lam, n_draws: (
        regression.logistic_ridge_draws(row_norm=L, ridge=Lam, n_syn=n_draws).rho
    ),
    "rho_ssp": lambda L, tau, neighbours="replace": (
        sufficient_statistics.noisy_cross_products(
            L, tau, relation="replace_one" if neighbours == "replace" else "add_remove"
        ).rho
    ),
    "combine": combine,
}


def cases():
    for entry in json.loads(GOLDEN.read_text())["entries"]:
        for index, case in enumerate(entry["cases"]):
            label = f"{entry['id']}-{entry['fn']}-{index}-{case['in'].get('kind', '')}"
            yield pytest.param(entry["fn"], case, entry.get("float64_rtol", 0.0), id=label)


def close(found, wanted, rtol):
    if wanted == "inf":
        return math.isinf(found)
    return abs(float(found) - wanted) <= rtol * abs(wanted)


@pytest.mark.parametrize(("name", "case", "rtol"), list(cases()))
def test_check_value(name, case, rtol):
    found, wanted = ADAPTER[name](**case["in"]), case["out"]
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        assert all(close(found[key], wanted[key], rtol) for key in wanted)
    else:
        assert close(float(found), wanted, rtol), (float(found), wanted, float(found) / float(wanted) - 1)


def test_all_223_values_are_here():
    assert len(list(cases())) == 223
    assert all(case.values[0] in ADAPTER for case in cases())
