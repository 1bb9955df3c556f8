"""Compute reference values of rules for one number with 50 digits, and write those of rules that have none.

A new rule is one line of ``RULES``, from the paper and not from our code. Stored values are never changed:
they are computed again and compared. Needs mpmath (1.4.1 was used).

    python tests/golden/combining/make_scalar.py
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mpmath as mp

FILE = Path(__file__).parent / "check_values.json"
mp.mp.dps = 50


@dataclass(frozen=True)
class Case:
    """What the formulas of the README speak of; b is NaN with one copy."""

    m: int
    ubar: mp.mpf
    b: mp.mpf
    f: mp.mpf
    v: mp.mpf
    df_com: mp.mpf

    @property
    def extra(self) -> mp.mpf:
        """(1 + 1/m) b."""
        return (1 + mp.mpf(1) / self.m) * self.b


Formula = Callable[[Case], mp.mpf]


def rubin(c: Case) -> mp.mpf:
    """Degrees of freedom of Rubin (1987)."""
    return (c.m - 1) * (1 + c.ubar / c.extra) ** 2


def barnard_rubin(c: Case) -> mp.mpf:
    """Degrees of freedom of Barnard and Rubin (1999)."""
    observed = (c.df_com + 1) / (c.df_com + 3) * c.df_com * c.ubar / (c.ubar + c.extra)
    return 1 / (1 / rubin(c) + 1 / observed) if c.b else observed


RULES: dict[str, tuple[Formula, Formula]] = {
    "original_data_expectation": (lambda c: c.f * c.ubar, lambda _: mp.inf),
    "raab_simple": (lambda c: c.ubar * (c.f + mp.mpf(1) / c.m), lambda _: mp.inf),
    "raab_proper": (lambda c: c.ubar * (c.f + (1 + c.f) / c.m), lambda _: mp.inf),
    "partial_reiter2003": (
        lambda c: c.ubar + c.b / c.m,
        lambda c: (c.m - 1) * (1 + c.ubar / (c.b / c.m)) ** 2,
    ),
    "partial_size_adjusted": (
        lambda c: c.f * c.ubar + c.b / c.m,
        lambda c: (c.m - 1) * (1 + c.f * c.ubar / (c.b / c.m)) ** 2,
    ),
    "full_rrr2003": (lambda c: c.extra - c.ubar, lambda c: (c.m - 1) * (1 - c.ubar / c.extra) ** 2),
    "full_reiter2002_adjusted": (
        lambda c: c.extra - c.ubar if c.extra > c.ubar else c.f * c.ubar + 0 * c.b,
        lambda c: (c.m - 1) * ((1 - c.ubar / c.extra) ** 2 if c.extra > c.ubar else 1),
    ),
    "missing_rubin1987": (lambda c: c.ubar + c.extra, rubin),
    "missing_barnard_rubin1999": (lambda c: c.ubar + c.extra, barnard_rubin),
    "census_fresh_samples": (lambda c: c.b / c.m, lambda c: mp.mpf(c.m - 1)),
    "shared_noise_added": (
        lambda c: c.f * c.ubar + c.b / c.m + c.v,
        lambda c: (c.m - 1) * ((c.f * c.ubar + c.b / c.m + c.v) / (c.b / c.m)) ** 2,
    ),
    "pseudo_population_single": (
        lambda c: c.extra - 2 * c.ubar,
        lambda c: (c.m - 1) * (1 - 2 * c.ubar / c.extra) ** 2,
    ),
}


def tail(t: mp.mpf, df: mp.mpf) -> mp.mpf:
    """Two-sided tail probability of Student's t."""
    if mp.isinf(df):
        return mp.erfc(abs(t) / mp.sqrt(2))
    return mp.betainc(df / 2, mp.mpf(1) / 2, 0, df / (df + t * t), regularized=True)


def quantile(df: mp.mpf) -> mp.mpf:
    """0.975 quantile, by halving the logarithm: with few degrees of freedom it is huge."""
    low, high = mp.mpf(0), mp.mpf(1)
    while tail(mp.exp(high), df) > mp.mpf("0.05"):
        low, high = high, 2 * high
    for _ in range(190):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(mp.exp(middle), df) > mp.mpf("0.05") else (low, middle)
    return mp.exp(low)


def values(x: dict, rule: str) -> dict[str, mp.mpf | None] | None:
    """Pool one input; None where it has one copy and the rule needs more."""
    q, u, m = [mp.mpf(str(a)) for a in x["q"]], [mp.mpf(str(a)) for a in x["u"]], len(x["q"])
    qbar, ubar = mp.fsum(q) / m, mp.fsum(u) / m
    b = mp.fsum((a - qbar) ** 2 for a in q) / (m - 1) if m > 1 else mp.nan
    f, v = mp.mpf(x["n_syn"]) / x["n_org"], mp.mpf(str(x["noise_var"]))
    case = Case(m, ubar, b, f, v, mp.mpf(x["df_com"]))
    variance, freedom = RULES[rule]
    T = variance(case)
    if mp.isnan(T):
        return None
    if T <= 0:
        return {"qbar": qbar, "T": T, "df": None}
    try:
        df = freedom(case)
    except ZeroDivisionError:  # b = 0
        df = mp.inf
    se = mp.sqrt(T)
    t, half = (qbar - mp.mpf(str(x["q0"]))) / se, quantile(df) * se
    found = {"qbar": qbar, "T": T, "df": df, "se": se, "t": t, "p_two_sided": tail(t, df)}
    return {**found, "ci95_low": qbar - half, "ci95_high": qbar + half}


def plain(value: mp.mpf | None) -> float | str | None:
    """Write a number as the file does: by its first 17 digits."""
    if value is None:
        return None
    return "inf" if mp.isinf(value) else float(mp.nstr(value, 17))


def block(rule: str, inputs: dict) -> dict[str, dict]:
    """Give what one rule says of all inputs."""
    found = {name: values(x, rule) for name, x in inputs.items()}
    return {name: {k: plain(v) for k, v in row.items()} for name, row in found.items() if row is not None}


def differences(new: dict[str, dict], old: dict[str, dict] | None) -> list[str]:
    """List what is stored otherwise; a T of zero is stored as null."""
    if old is None:
        return []
    if set(new) != set(old):
        return ["other inputs"]
    pairs = ((case, key, new[case][key], old[case].get(key)) for case in new for key in new[case])
    return [f"{case} {key}: {a}, stored {b}" for case, key, a, b in pairs if a != b and (a or b)]


def main() -> None:
    """Compare what is stored, and add what is not."""
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    known = stored["expected"]["scalar"]
    made = {rule: block(rule, stored["inputs"]["scalar"]) for rule in RULES}
    faults = [f"{rule} {each}" for rule in RULES for each in differences(made[rule], known.get(rule))]
    if faults:
        raise SystemExit("\n".join(faults))
    stored["expected"]["scalar"] = {**known, **made, **known}  # what is stored stays
    FILE.write_text(json.dumps(stored, indent=1, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
