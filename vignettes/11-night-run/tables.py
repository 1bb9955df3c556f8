"""Tables for the night run, made up: a survey of 35 variables in SPSS's format, and a register in a database.

``python tables.py 5000 20000`` makes ``in/qol2025.sav`` with 5,000 persons and ``register.db`` with 20,000.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import sqlalchemy

LEVELS = {
    "sex": ["FEMALE", "MALE"],
    "marital": ["SINGLE", "MARRIED", "WIDOWED", "DIVORCED"],
    "edu": ["PRIMARY", "SECONDARY", "HIGHER"],
    "smoke": ["NO", "YES"],
    "region": [f"region {number}" for number in range(1, 17)],
}
MISSING = {"income": {-8: "refused", -9: "does not know"}, "nociga": {-8: "does not smoke"}}


def survey(n: int, seed: int = 5) -> pd.DataFrame:
    """Make a survey of the quality of life: n persons, 35 variables, codes of SPSS."""
    rng = np.random.default_rng(seed)
    age = rng.integers(16, 95, n)
    edu = np.where(age < 20, 1, rng.integers(1, 4, n))
    smokes = rng.random(n) < 0.28
    height = np.round(170 + rng.normal(0, 9, n))
    weight = np.round(height - 100 + rng.normal(0, 11, n))
    income = np.round(np.exp(6.2 + 0.25 * edu + 0.004 * age + rng.normal(0, 0.5, n)), -1)
    said = rng.random(n)
    table = {
        "name": np.arange(n) + 100000,
        "interviewer": rng.integers(1, 200, n),
        "sex": rng.integers(1, 3, n),
        "age": age,
        "marital": np.where(age < 18, 1, rng.integers(1, 5, n)),
        "region": rng.integers(1, 17, n),
        "edu": edu,
        "eduspec": edu * 10 + rng.integers(1, 5, n),
        "income": np.where(said < 0.12, -8, np.where(said < 0.15, -9, income)),
        "smoke": 1 + smokes,
        "nociga": np.where(smokes, rng.choice([5, 10, 15, 20, 30], n), -8),
        "height": height,
        "weight": weight,
        "bmi": weight / (height / 100) ** 2,
    }
    well = rng.normal(0, 1, n) + 0.3 * edu - 0.01 * age
    for number in range(1, 15):
        table[f"item{number}"] = np.clip(np.round(3 + well + rng.normal(0, 1, n)), 1, 5)
    for number in range(1, 8):
        table[f"hours{number}"] = np.round(np.clip(rng.gamma(2, 3, n) + well, 0, 24), 1)
    return pd.DataFrame(table).astype(float)


def write_survey(table: pd.DataFrame, path: Path) -> None:
    """Write it as SPSS does, with labels of values and declared missing codes."""
    labels = {
        name: dict(enumerate(map(str, levels), start=1)) for name, levels in LEVELS.items() if name in table
    }
    labels["eduspec"] = {float(10 * a + b): f"field {a}.{b}" for a in (1, 2, 3) for b in (1, 2, 3, 4)}
    path.parent.mkdir(parents=True, exist_ok=True)
    pyreadstat.write_sav(
        table,
        str(path),
        variable_value_labels={**labels, **MISSING},
        missing_ranges={name: [float(code) for code in codes] for name, codes in MISSING.items()},
    )


def register(persons: int, seed: int = 6) -> pd.DataFrame:
    """Make a register: persons with one to six spells of work each."""
    rng = np.random.default_rng(seed)
    born = rng.integers(1930, 2005, persons)
    person = np.repeat(np.arange(persons), rng.choice([1, 1, 1, 2, 3, 6], persons))
    n = len(person)
    wage = np.clip(np.round(np.exp(7.4 + 0.004 * (2005 - born[person]) + rng.normal(0, 0.4, n))), 0, 20000)
    sector = rng.choice(["public", "private", "self"], n, p=[0.3, 0.6, 0.1])
    columns = {"row_id": np.arange(n), "person_id": person, "born": born[person], "sector": sector}
    return pd.DataFrame({**columns, "wage": wage.astype(int), "part_time": rng.random(n) < 0.25})


def write_register(table: pd.DataFrame, url: str) -> None:
    """Write it into a database."""
    plain = table.assign(part_time=np.where(table["part_time"], "yes", "no"))
    kinds = [sqlalchemy.BigInteger if kind.kind == "i" else sqlalchemy.Text for kind in plain.dtypes]
    columns = [sqlalchemy.Column(name, kind) for name, kind in zip(plain, kinds, strict=True)]
    spells = sqlalchemy.Table("spells", sqlalchemy.MetaData(), *columns)
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        spells.drop(connection, checkfirst=True)
        spells.create(connection)
        for start in range(0, len(plain), 100_000):
            rows = plain.iloc[start : start + 100_000].astype(object).to_dict("records")
            connection.execute(spells.insert(), rows)
    engine.dispose()


if __name__ == "__main__":
    write_survey(survey(int(sys.argv[1])), Path("in/qol2025.sav"))
    write_register(register(int(sys.argv[2])), "sqlite:///register.db")
