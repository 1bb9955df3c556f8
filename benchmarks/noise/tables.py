"""Public tables and codebooks for the noise benchmarks: what a column is, its bounds and its typical range.

One written rule makes the hints. A codebook (or general knowledge of the variable) gives for each number
its possible range [lower, upper] and the range [a, b] in which nearly all values lie; the hint is centre
(a + b)/2 and spread (b - a)/3.5, rather too wide than too narrow. Neither is computed from the table.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm

from pysynthdp import CategoricalColumn, NumericColumn, Schema

DATA = Path(os.environ.get("PYSYNTHDP_DATA", "data"))


@dataclass(frozen=True)
class Number:
    """Possible range, usual range, digits, and whether a value may be missing."""

    lower: float
    upper: float
    usual: tuple[float, float]
    decimals: int | None = None
    missing: bool = False


@dataclass(frozen=True)
class Public:
    """A table with its codebook, and the regressions that the benchmark asks of it."""

    name: str
    table: pd.DataFrame
    numbers: dict[str, Number]
    ols: tuple[str, tuple[str, ...]]
    logit: tuple[str, str, tuple[str, ...]]

    @property
    def schema(self) -> Schema:
        """Declared columns: levels as the codebook lists them, the first for anything else."""
        columns = []
        for name in self.table.columns:
            if name in self.numbers:
                number = self.numbers[name]
                columns.append(
                    NumericColumn(
                        name,
                        lower=number.lower,
                        upper=number.upper,
                        decimals=number.decimals,
                        may_be_missing=number.missing,
                        fallback=None if number.missing else number.usual[0],
                    )
                )
            else:
                levels = list(self.table[name].cat.categories)
                missing = bool(self.table[name].isna().any())
                columns.append(CategoricalColumn(name, levels, other=levels[0], may_be_missing=missing))
        return Schema(columns)

    @property
    def hints(self) -> dict[str, tuple[float, float]]:
        """Centre and spread by the written rule."""
        return {
            name: ((number.usual[0] + number.usual[1]) / 2, (number.usual[1] - number.usual[0]) / 3.5)
            for name, number in self.numbers.items()
        }


def levels(values: pd.Series, groups: dict[str, list]) -> pd.Categorical:
    """Merge values to the benchmark's levels; what is in none is missing."""
    place = {value: name for name, members in groups.items() for value in members}
    return pd.Categorical(values.map(place), categories=list(groups))


def sd2011() -> Public:
    """Eight columns of Social Diagnosis 2011, complete rows."""
    raw = pd.read_csv(DATA / "sd2011.csv", keep_default_na=False, na_values=["NA"])
    table = pd.DataFrame(
        {
            "sex": levels(raw.sex, {"female": ["FEMALE"], "male": ["MALE"]}),
            "edu": levels(
                raw.edu,
                {
                    "primary": ["PRIMARY/NO EDUCATION"],
                    "vocational": ["VOCATIONAL/GRAMMAR"],
                    "secondary": ["SECONDARY"],
                    "higher": ["POST-SECONDARY OR HIGHER"],
                },
            ),
            "marital": levels(
                raw.marital,
                {
                    "single": ["SINGLE"],
                    "married": ["MARRIED"],
                    "widowed": ["WIDOWED"],
                    "divorced": ["DIVORCED", "LEGALLY SEPARATED", "DE FACTO SEPARATED"],
                },
            ),
            "smoke": levels(raw.smoke, {"no": ["NO"], "yes": ["YES"]}),
            "trust": levels(
                raw.trust,
                {
                    "careful": ["ONE CAN`T BE TOO CAREFUL"],
                    "depends": ["IT`S DIFFICULT TO TELL"],
                    "trusted": ["MOST PEOPLE CAN BE TRUSTED"],
                },
            ),
            "age": raw.age.astype(float),
            "weight": raw.weight.astype(float),
            "logincome": np.log(raw.income.where(raw.income > 0)),
        }
    ).dropna(ignore_index=True)
    numbers = {
        "age": Number(16, 100, (16, 84), 0),
        "weight": Number(30, 180, (46, 106), 0),
        "logincome": Number(4.0, 10.0, (5.6, 8.4)),
    }
    return Public(
        "sd2011",
        table,
        numbers,
        ols=("logincome", ("sex", "edu", "marital", "smoke", "trust", "age", "weight")),
        logit=("smoke", "yes", ("sex", "edu", "marital", "trust", "age")),
    )


def fair() -> Public:
    """Eight columns of Fair's survey of wives, which statsmodels ships."""
    raw = sm.datasets.fair.load_pandas().data
    table = pd.DataFrame(
        {
            "child": levels(raw.children > 0, {"no": [False], "yes": [True]}),
            "religious": levels(
                raw.religious, {"not": [1.0], "mildly": [2.0], "fairly": [3.0], "very": [4.0]}
            ),
            "occupation": levels(
                raw.occupation,
                {"student": [1.0, 2.0], "white": [3.0], "skilled": [4.0], "leading": [5.0, 6.0]},
            ),
            "affair": levels(raw.affairs > 0, {"no": [False], "yes": [True]}),
            "rating": levels(raw.rate_marriage, {"poor": [1.0, 2.0, 3.0], "good": [4.0], "very good": [5.0]}),
            "age": raw.age,
            "educ": raw.educ,
            "years": raw.yrs_married,
        }
    )
    numbers = {
        "age": Number(17, 45, (16, 42), 1),
        "educ": Number(8, 20, (10, 19), 0),
        "years": Number(0, 25, (0, 24), 1),
    }
    return Public(
        "fair",
        table,
        numbers,
        ols=("years", ("child", "religious", "occupation", "affair", "rating", "age", "educ")),
        logit=("affair", "yes", ("child", "religious", "occupation", "rating", "age")),
    )


def eusilc() -> Public:
    """Ten columns of persons like those of EU-SILC, with missing values."""
    raw = pd.read_csv(DATA / "eusilc.csv", keep_default_na=False, na_values=["NA"])
    table = pd.DataFrame(
        {
            "region": pd.Categorical(raw.db040),
            "sex": levels(raw.rb090, {"male": ["male"], "female": ["female"]}),
            "status": pd.Categorical(raw.pl030.astype("Int64").astype("str").where(raw.pl030.notna())),
            "citizen": pd.Categorical(raw.pb220a),
            "household": levels(
                raw.hsize.clip(upper=5), {"1": [1], "2": [2], "3": [3], "4": [4], "5 or more": [5]}
            ),
            "age": raw.age.astype(float),
            "adults": raw.eqSS.astype(float),
            "logincome": np.log(raw.eqIncome.where(raw.eqIncome > 0)),
            "logpay": np.log(raw.py010n.where(raw.py010n > 0)),
            "logallowance": np.log(raw.hy050n.where(raw.hy050n > 0)),
        }
    )
    numbers = {
        "age": Number(0, 100, (0, 85), 0),
        "adults": Number(1, 8, (1, 3.5), 1),
        "logincome": Number(5.0, 13.0, (8.6, 10.9), None, missing=True),
        "logpay": Number(3.0, 13.0, (7.0, 11.0), None, missing=True),
        "logallowance": Number(3.0, 11.0, (6.5, 9.5), None, missing=True),
    }
    return Public(
        "eusilc",
        table,
        numbers,
        ols=("logincome", ("sex", "household", "age")),
        logit=("status", "1", ("sex", "household", "age")),
    )


def randhie() -> Public:
    """Eight columns of the RAND health insurance experiment, from statsmodels; never used for tuning."""
    raw = sm.datasets.randhie.load_pandas().data
    health = np.select([raw.hlthg > 0, raw.hlthf > 0, raw.hlthp > 0], ["good", "fair", "poor"], "excellent")
    table = pd.DataFrame(
        {
            "deductible": levels(raw.idp > 0, {"no": [False], "yes": [True]}),
            "limited": levels(raw.physlm > 0, {"no": [False], "yes": [True]}),
            "health": pd.Categorical(health, ["excellent", "good", "fair", "poor"]),
            "doctor": levels(raw.mdvis > 0, {"no": [False], "yes": [True]}),
            "coinsurance": raw.lncoins,
            "incentive": raw.lpi,
            "diseases": raw.disea,
            "visits": np.log1p(raw.mdvis),
        }
    )
    numbers = {
        "coinsurance": Number(0.0, 4.62, (0.0, 4.62)),
        "incentive": Number(0.0, 7.2, (0.0, 7.2)),
        "diseases": Number(0, 60, (0, 30)),
        "visits": Number(0.0, 4.5, (0.0, 3.0)),
    }
    return Public(
        "randhie",
        table,
        numbers,
        ols=("visits", ("deductible", "limited", "health", "coinsurance", "incentive", "diseases")),
        logit=("doctor", "yes", ("deductible", "limited", "health", "diseases")),
    )
