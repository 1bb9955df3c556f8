"""Guarantees, accounting and statements: pure arithmetic, and the only room that makes noise.

Every public formula is here by name: ``from pysynthdp.privacy import plug_in_mean, gdp_epsilon, compose``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_WHERE = {
    "account": "Account",
    "basic_mechanisms": "exponential_probabilities gaussian_scale laplace_scale zcdp_gaussian_scale",
    "column_statement": "ColumnStatement Draw",
    "composition": "compose group_privacy repeat",
    "convert_gdp": "gdp_delta gdp_epsilon gdp_mu",
    "convert_pure": "pure_renyi pure_zcdp",
    "convert_rdp": "rdp_delta rdp_epsilon rdp_epsilon_mironov",
    "convert_zcdp": "zcdp_delta zcdp_epsilon zcdp_epsilon_simple",
    "guarantee": "GUARANTEES Guarantee guarantee_from_dict guarantee_to_dict",
    "guarantees.approx": "ApproxDP",
    "guarantees.gdp": "GDP",
    "guarantees.none": "NoGuarantee",
    "guarantees.pure": "PureDP",
    "guarantees.rdp": "RDP",
    "guarantees.zcdp": "ZCDP",
    "mechanism": "MECHANISMS PricedColumn SamplingMechanism price_of",
    "orders": "ORDERS",
    "sampling.addremove": "add_one_renyi addremove_renyi remove_one_renyi",
    "sampling.beta_binomial": "beta_binomial_delta beta_delta one_parameter_delta parameter_delta",
    "sampling.beta_renyi": "beta_binomial_renyi beta_renyi parameter_renyi",
    "sampling.binary": "binary_delta binomial_delta theta_laplace_scale",
    "sampling.binary_renyi": "bernoulli_renyi binary_renyi",
    "sampling.categorical": "CellWeights categorical_delta categorical_one_delta categorical_one_renyi "
    "categorical_renyi",
    "sampling.cells": "cells_epsilon cells_smallest_weight",
    "sampling.cells_curves": "binary_draws categorical_draws",
    "sampling.gaussian_floored": "floored_renyi floored_variance variance_sensitivity variance_weight",
    "sampling.gaussian_known": "mean_laplace_scale mean_per_copy mean_per_record mean_release "
    "mean_sensitivity plug_in_mean",
    "sampling.gaussian_local": "local_bound local_from_data local_from_summary",
    "sampling.gaussian_pairs": "normal_delta normal_renyi student_epsilon variance_loss",
    "sampling.gaussian_planning": "mean_per_copy_records plug_in_mean_records",
    "sampling.gaussian_prior": "mean_with_prior shrinkage",
    "sampling.gaussian_truncated": "truncated_draws truncated_epsilon truncated_renyi",
    "sampling.grids": "discrete_gaussian_renyi grid_draws mean_on_grid round_half_up",
    "sampling.linear_statistics": "family_sensitivity marginals_sensitivity statistics_with_gaussian "
    "statistics_with_laplace",
    "sampling.linear_statistics_planner": "points_for_accuracy records_for_accuracy records_for_privacy "
    "renyi_condition_number",
    "sampling.miura": "miura_addremove miura_largest_order miura_replace",
    "sampling.multivariate_normal": "known_covariance ridge_bound_renyi ridge_leverage ridged_normal",
    "sampling.mvn_pairs": "mvn_renyi record_weight replace_one_largest replace_one_renyi",
    "sampling.regression": "logistic_ridge_curve logistic_ridge_draws logistic_ridge_pure ridge_draws "
    "ridge_shift",
    "sampling.sufficient_statistics": "cross_products_sensitivity noisy_cross_products",
    "shared_account": "PrivacyAccount",
    "statement": "PrivacyStatement",
    "textbook": "advanced_composition basic_composition subsample subsample_simple",
    "unit": "PrivacyUnit",
    "verification": "Check Verification",
}
_HOME = {name: module for module, names in _WHERE.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        msg = f"module 'pysynthdp.privacy' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"pysynthdp.privacy.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME)
