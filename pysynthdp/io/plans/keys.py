"""The keys of a plan file, each with what it says, in the order of the reader's own table."""

from __future__ import annotations

from pysynthdp.io.plans.plan_file import KEYS

__all__ = ["plan_keys"]

_ABOUT = {
    "codebook": 'codebook that declares the columns, a path relative to the plan: codebook = "codebook.csv"',
    "format": "format of the plan file, a whole number; may be left out",
    "method": 'column model, for all columns or by column: method = "norm" or [method] age = "norm"',
    "visit_sequence": 'order in which columns are drawn: ["sex", "age", "income"]',
    "predictors": 'which earlier columns a column is drawn from: [predictors] income = ["sex", "age"]',
    "formulas": 'predictors as formulas: ["income ~ age * sex + I(age ** 2)"]',
    "missing": 'codes that are no values, with labels: [missing] income = { -8 = "refused" }',
    "spikes": "values with a mass of their own: [spikes] income = [0]",
    "bounds": "least and largest value, inf for none: [bounds] age = [0, 120]",
    "decimals": "digits after the point, negative for tens and hundreds: [decimals] income = -2",
    "levels": 'declared levels: [levels] sex = ["F", "M"]',
    "keep": 'columns to release as they REALLY are: ["weight"]',
    "drop": 'columns to leave out: ["name", "id"]',
    "proper": "true: draw parameters anew for each copy",
    "emit_original": "true: let normrank and sample repeat REAL values, as synthpop does",
    "joint": 'columns that one model draws together: [[joint]] columns = [...], method = "..."',
    "rare": 'levels of fewer than five records: "keep", "merge" or "refuse"',
    "guarantee": 'how the table is protected: [guarantee] name = "zcdp", rho = 0.5; see docs/guarantees.md',
    "sep": 'separator of the CSV file: ";"',
    "decimal": 'decimal mark of the CSV file: ","',
    "encoding": 'encoding of the CSV file: "latin-1"',
    "text": 'columns of the CSV file that are texts whatever they look like: ["postcode"]',
    "day_first": "true or false: whether 01/02/2020 in the CSV file is 1 February",
}


def plan_keys() -> dict[str, str]:
    """Say what each key of a plan file is for.

    Examples
    --------
    >>> plan_keys()["drop"]
    'columns to leave out: ["name", "id"]'
    """
    return {key: _ABOUT.get(key, "") for key in KEYS}
