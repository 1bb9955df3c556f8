"""What a draw itself guarantees: every formula of ``docs/formulas.md`` that prices one, as a typed function.

*What they are.* Arithmetic in public constants: sizes, ranges, priors, noise. None spends a budget or draws a
number, and none reads a record but ``local_from_data``, whose result is local to one table and no guarantee.
``docs/formulas.md`` has the claim behind each name, its source, and the assumptions that it rests on.

*What they are for.* ``privacy.mechanisms`` wraps those that a release may be priced by: only these enter a
statement. The others plan (``*_records``, ``records_for_*``), recompute what a paper claims (``miura_*``,
``theta_laplace_scale``) or check a price by another way (``*_delta``, ``*_renyi`` of pairs).

*What never changes.* The meaning of a name: another formula gets another name, and a mended bound is told of
in the changelog under a heading of its own.

Examples
--------
>>> from pysynthdp.privacy import prices
>>> round(prices.plug_in_mean(n=1000, lower=0.0, upper=1.0, sigma=2.0, n_syn=1000).mu, 4)
0.0158
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pysynthdp.privacy.prices.addremove import add_one_renyi, addremove_renyi, remove_one_renyi
    from pysynthdp.privacy.prices.basic import (
        exponential_probabilities,
        gaussian_scale,
        laplace_scale,
        zcdp_gaussian_scale,
    )
    from pysynthdp.privacy.prices.beta_binomial import (
        beta_binomial_delta,
        beta_delta,
        one_parameter_delta,
        parameter_delta,
    )
    from pysynthdp.privacy.prices.beta_curves import beta_binomial_renyi, beta_renyi, parameter_renyi
    from pysynthdp.privacy.prices.binary import binary_delta, binomial_delta, theta_laplace_scale
    from pysynthdp.privacy.prices.binary_curves import bernoulli_renyi, binary_renyi
    from pysynthdp.privacy.prices.categorical import (
        CellWeights,
        categorical_delta,
        categorical_one_delta,
        categorical_one_renyi,
        categorical_renyi,
    )
    from pysynthdp.privacy.prices.cells import cells_epsilon, cells_smallest_weight
    from pysynthdp.privacy.prices.cells_curves import binary_draws, categorical_draws
    from pysynthdp.privacy.prices.gaussian_floored import (
        floored_renyi,
        floored_variance,
        variance_sensitivity,
        variance_weight,
    )
    from pysynthdp.privacy.prices.gaussian_known import (
        mean_laplace_scale,
        mean_per_copy,
        mean_per_record,
        mean_release,
        mean_sensitivity,
        plug_in_mean,
    )
    from pysynthdp.privacy.prices.gaussian_local import (
        LocalDiagnostic,
        local_bound,
        local_from_data,
        local_from_summary,
    )
    from pysynthdp.privacy.prices.gaussian_pairs import (
        normal_delta,
        normal_renyi,
        student_epsilon,
        variance_loss,
    )
    from pysynthdp.privacy.prices.gaussian_planning import mean_per_copy_records, plug_in_mean_records
    from pysynthdp.privacy.prices.gaussian_prior import mean_with_prior, shrinkage
    from pysynthdp.privacy.prices.gaussian_truncated import (
        truncated_draws,
        truncated_epsilon,
        truncated_renyi,
    )
    from pysynthdp.privacy.prices.grids import (
        discrete_gaussian_renyi,
        grid_draws,
        mean_on_grid,
        round_half_up,
    )
    from pysynthdp.privacy.prices.linear_statistics import (
        family_sensitivity,
        marginals_sensitivity,
        statistics_with_gaussian,
        statistics_with_laplace,
    )
    from pysynthdp.privacy.prices.linear_statistics_planner import (
        points_for_accuracy,
        records_for_accuracy,
        records_for_privacy,
        renyi_condition_number,
    )
    from pysynthdp.privacy.prices.miura import miura_addremove, miura_largest_order, miura_replace
    from pysynthdp.privacy.prices.multivariate_normal import (
        known_covariance,
        ridge_bound_renyi,
        ridge_leverage,
        ridged_normal,
    )
    from pysynthdp.privacy.prices.mvn_pairs import (
        mvn_renyi,
        record_weight,
        replace_one_largest,
        replace_one_renyi,
    )
    from pysynthdp.privacy.prices.regression import (
        logistic_ridge_curve,
        logistic_ridge_draws,
        logistic_ridge_pure,
        ridge_draws,
        ridge_shift,
    )
    from pysynthdp.privacy.prices.sufficient_statistics import (
        cross_products_sensitivity,
        noisy_cross_products,
    )

_WHERE = {
    "addremove": "add_one_renyi addremove_renyi remove_one_renyi",
    "basic": "exponential_probabilities gaussian_scale laplace_scale zcdp_gaussian_scale",
    "beta_binomial": "beta_binomial_delta beta_delta one_parameter_delta parameter_delta",
    "beta_curves": "beta_binomial_renyi beta_renyi parameter_renyi",
    "binary": "binary_delta binomial_delta theta_laplace_scale",
    "binary_curves": "bernoulli_renyi binary_renyi",
    "categorical": "CellWeights categorical_delta "
    "categorical_one_delta categorical_one_renyi categorical_renyi",
    "cells": "cells_epsilon cells_smallest_weight",
    "cells_curves": "binary_draws categorical_draws",
    "gaussian_floored": "floored_renyi floored_variance variance_sensitivity variance_weight",
    "gaussian_known": "mean_laplace_scale mean_per_copy mean_per_record "
    "mean_release mean_sensitivity plug_in_mean",
    "gaussian_local": "LocalDiagnostic local_bound local_from_data local_from_summary",
    "gaussian_pairs": "normal_delta normal_renyi student_epsilon variance_loss",
    "gaussian_planning": "mean_per_copy_records plug_in_mean_records",
    "gaussian_prior": "mean_with_prior shrinkage",
    "gaussian_truncated": "truncated_draws truncated_epsilon truncated_renyi",
    "grids": "discrete_gaussian_renyi grid_draws mean_on_grid round_half_up",
    "linear_statistics": "family_sensitivity marginals_sensitivity "
    "statistics_with_gaussian statistics_with_laplace",
    "linear_statistics_planner": "points_for_accuracy records_for_accuracy "
    "records_for_privacy renyi_condition_number",
    "miura": "miura_addremove miura_largest_order miura_replace",
    "multivariate_normal": "known_covariance ridge_bound_renyi ridge_leverage ridged_normal",
    "mvn_pairs": "mvn_renyi record_weight replace_one_largest replace_one_renyi",
    "regression": "logistic_ridge_curve logistic_ridge_draws logistic_ridge_pure ridge_draws ridge_shift",
    "sufficient_statistics": "cross_products_sensitivity noisy_cross_products",
}
_HOME = {name: module for module, names in _WHERE.items() for name in names.split()}

__all__ = [
    "CellWeights",
    "LocalDiagnostic",
    "add_one_renyi",
    "addremove_renyi",
    "bernoulli_renyi",
    "beta_binomial_delta",
    "beta_binomial_renyi",
    "beta_delta",
    "beta_renyi",
    "binary_delta",
    "binary_draws",
    "binary_renyi",
    "binomial_delta",
    "categorical_delta",
    "categorical_draws",
    "categorical_one_delta",
    "categorical_one_renyi",
    "categorical_renyi",
    "cells_epsilon",
    "cells_smallest_weight",
    "cross_products_sensitivity",
    "discrete_gaussian_renyi",
    "exponential_probabilities",
    "family_sensitivity",
    "floored_renyi",
    "floored_variance",
    "gaussian_scale",
    "grid_draws",
    "known_covariance",
    "laplace_scale",
    "local_bound",
    "local_from_data",
    "local_from_summary",
    "logistic_ridge_curve",
    "logistic_ridge_draws",
    "logistic_ridge_pure",
    "marginals_sensitivity",
    "mean_laplace_scale",
    "mean_on_grid",
    "mean_per_copy",
    "mean_per_copy_records",
    "mean_per_record",
    "mean_release",
    "mean_sensitivity",
    "mean_with_prior",
    "miura_addremove",
    "miura_largest_order",
    "miura_replace",
    "mvn_renyi",
    "noisy_cross_products",
    "normal_delta",
    "normal_renyi",
    "one_parameter_delta",
    "parameter_delta",
    "parameter_renyi",
    "plug_in_mean",
    "plug_in_mean_records",
    "points_for_accuracy",
    "record_weight",
    "records_for_accuracy",
    "records_for_privacy",
    "remove_one_renyi",
    "renyi_condition_number",
    "replace_one_largest",
    "replace_one_renyi",
    "ridge_bound_renyi",
    "ridge_draws",
    "ridge_leverage",
    "ridge_shift",
    "ridged_normal",
    "round_half_up",
    "shrinkage",
    "statistics_with_gaussian",
    "statistics_with_laplace",
    "student_epsilon",
    "theta_laplace_scale",
    "truncated_draws",
    "truncated_epsilon",
    "truncated_renyi",
    "variance_loss",
    "variance_sensitivity",
    "variance_weight",
    "zcdp_gaussian_scale",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        msg = f"module 'pysynthdp.privacy.prices' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"pysynthdp.privacy.prices.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
