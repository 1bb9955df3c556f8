"""Guarantees, accounting and statements: pure arithmetic, and the only room that makes noise.

Every public formula is here by name: ``from pysynthdp.privacy import plug_in_mean, gdp_epsilon, compose``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_WHERE = {
    "account": "Account",
    "prices.basic": "exponential_probabilities gaussian_scale laplace_scale zcdp_gaussian_scale",
    "statements.column": "ColumnStatement Draw",
    "composition": "compose group_privacy repeat",
    "conversion.gdp": "gdp_delta gdp_epsilon gdp_mu",
    "conversion.pure": "pure_renyi pure_zcdp",
    "conversion.rdp": "rdp_delta rdp_epsilon rdp_epsilon_mironov",
    "conversion.zcdp": "zcdp_delta zcdp_epsilon zcdp_epsilon_simple",
    "guarantee": "GUARANTEES Guarantee guarantee_from_dict guarantee_to_dict",
    "guarantees.approx": "ApproxDP",
    "guarantees.gdp": "GDP",
    "guarantees.none": "NoGuarantee",
    "guarantees.pure": "PureDP",
    "guarantees.rdp": "RDP",
    "guarantees.zcdp": "ZCDP",
    "mechanism": "MECHANISMS PricedColumn SamplingMechanism price_of",
    "conversion.orders": "ORDERS",
    "prices.addremove": "add_one_renyi addremove_renyi remove_one_renyi",
    "prices.beta_binomial": "beta_binomial_delta beta_delta one_parameter_delta parameter_delta",
    "prices.beta_curves": "beta_binomial_renyi beta_renyi parameter_renyi",
    "prices.binary": "binary_delta binomial_delta theta_laplace_scale",
    "prices.binary_curves": "bernoulli_renyi binary_renyi",
    "prices.categorical": "CellWeights categorical_delta categorical_one_delta categorical_one_renyi "
    "categorical_renyi",
    "prices.cells": "cells_epsilon cells_smallest_weight",
    "prices.cells_curves": "binary_draws categorical_draws",
    "prices.gaussian_floored": "floored_renyi floored_variance variance_sensitivity variance_weight",
    "prices.gaussian_known": "mean_laplace_scale mean_per_copy mean_per_record mean_release "
    "mean_sensitivity plug_in_mean",
    "prices.gaussian_local": "local_bound local_from_data local_from_summary",
    "prices.gaussian_pairs": "normal_delta normal_renyi student_epsilon variance_loss",
    "prices.gaussian_planning": "mean_per_copy_records plug_in_mean_records",
    "prices.gaussian_prior": "mean_with_prior shrinkage",
    "prices.gaussian_truncated": "truncated_draws truncated_epsilon truncated_renyi",
    "prices.grids": "discrete_gaussian_renyi grid_draws mean_on_grid round_half_up",
    "prices.linear_statistics": "family_sensitivity marginals_sensitivity statistics_with_gaussian "
    "statistics_with_laplace",
    "prices.linear_statistics_planner": "points_for_accuracy records_for_accuracy records_for_privacy "
    "renyi_condition_number",
    "prices.miura": "miura_addremove miura_largest_order miura_replace",
    "prices.multivariate_normal": "known_covariance ridge_bound_renyi ridge_leverage ridged_normal",
    "prices.mvn_pairs": "mvn_renyi record_weight replace_one_largest replace_one_renyi",
    "prices.regression": "logistic_ridge_curve logistic_ridge_draws logistic_ridge_pure ridge_draws "
    "ridge_shift",
    "prices.sufficient_statistics": "cross_products_sensitivity noisy_cross_products",
    "shared_account": "PrivacyAccount",
    "statements.statement": "PrivacyStatement",
    "conversion.textbook": "advanced_composition basic_composition subsample subsample_simple",
    "unit": "PrivacyUnit",
    "statements.verification": "Check Verification",
}
_HOME = {name: module for module, names in _WHERE.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        msg = f"module 'pysynthdp.privacy' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"pysynthdp.privacy.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME)
