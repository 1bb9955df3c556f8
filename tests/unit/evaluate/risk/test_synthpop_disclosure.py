"""Identity and attribute measures against synthpop 1.9-2 on the same files, or where that is wrong."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.evaluate.risk.asked import asked
from pysynthdp.evaluate.risk.cells import attribute, certainty, identity, intruders, probabilities
from pysynthdp.evaluate.risk.coding import Files
from pysynthdp.evaluate.risk.records import exact_matches

HOME = Path(__file__).parents[3] / "golden" / "synthpop"
SCHEMA = json.loads((HOME / "schema.json").read_text())
FOUND = json.loads((HOME / "disclosure.json").read_text())
UNIQUES = json.loads((HOME / "replicated_uniques.json").read_text())
CASES = [(name, case) for name in FOUND if name != "meta" for case in FOUND[name]]
FEW_KEYS = ["sex", "age", "income"]


@cache
def files(name):
    which = name.split("_", maxsplit=1)[0]
    table, copies = (
        pd.read_csv(HOME / f"{file}.csv", keep_default_na=False, na_values=["", "NA"])
        for file in (which, name)
    )
    for frame in (table, copies):
        for column, about in SCHEMA[which].items():
            if "levels" in about:
                frame[column] = pd.Categorical(frame[column], about["levels"])
    single = [part.drop(columns=".syn").reset_index(drop=True) for _, part in copies.groupby(".syn")]
    return Files(table, tuple(single))


def argument(call, name):
    found = re.search(name + r" = (c\([^)]*\)|[^,)]+)", call)
    if found is None:
        return []
    inside = re.match(r"c\((.*)\)$", found[1])
    return [part.strip().strip('"') for part in (inside[1] if inside else found[1]).split(",")]


def question(name, case):
    """Say in our words what the call asks."""
    call, have = FOUND[name][case]["call"], files(name)
    keys = [column for column in have.names if column in argument(call, "keys")]
    (target,) = argument(call, "target")[:1]
    groups = dict(zip(keys, argument(call, "ngroups_keys"), strict=False)) | dict(
        zip([target], argument(call, "ngroups_target"), strict=False)
    )
    unused = [key for key, used in zip(keys, argument(call, "usekeysNA"), strict=False) if used == "FALSE"]
    unused += [target] if argument(call, "usetargetNA") == ["FALSE"] else []
    known = {"not.targetlev": ["no"], "exclude.keys": [{"sex": "F", "smoke": "no"}]}
    return asked(
        have.names,
        keys=keys,
        targets=[target],
        known_by_all={
            target: [each for name, levels in known.items() if argument(call, name) for each in levels]
        },
        ngroups={column: int(float(many)) for column, many in groups.items() if float(many)},
        without_missing=unused,
        denom_lim=1 if argument(call, "denom_lim") else None,
    )


def measured(name, case):
    """All measures of each copy."""
    want, have = question(name, case), files(name)
    cells = want.cells(have, want.coded(have), "keys", want.targets[0])
    for seen in intruders(cells)[: len(have.copies)]:
        ours = identity(cells, seen) | attribute(cells, seen) | certainty(cells, seen)
        ours |= probabilities(cells, seen)
        yield {**ours, "repU": ours["RepU"]}


@pytest.mark.parametrize(("name", "case"), CASES)
def test_every_measure_is_synthpops(name, case):
    for at, ours in enumerate(measured(name, case)):
        for block in ("ident", "attrib", "allCAPs"):
            row = FOUND[name][case][block]
            theirs = [float(each if each is not None else "nan") for each in row["values"][at]]
            for column, value in zip(row["cols"], theirs, strict=True):
                if column != "TCAP":
                    np.testing.assert_allclose(ours[column], value, rtol=0, atol=1e-10, err_msg=column)


def test_tcap_is_the_published_one():
    """Of the records with a certain answer the share that is right; synthpop divides by all found keys."""
    ours = next(measured("survey_np_m1", "smoke_keys4"))
    theirs = dict(
        zip(
            FOUND["survey_np_m1"]["smoke_keys4"]["allCAPs"]["cols"],
            FOUND["survey_np_m1"]["smoke_keys4"]["allCAPs"]["values"][0],
            strict=True,
        )
    )
    have = files("survey_np_m1")
    keys = ["sex", "age", "region", "edu"]
    text = [frame[keys].astype(object).fillna("-").astype(str).agg("|".join, axis=1)
            for frame in (have.table, have.copies[0])]  # fmt: skip
    answers = (
        have.copies[0]
        .groupby(text[1])["smoke"]
        .agg(lambda each: each.iloc[0] if len(set(each)) == 1 else None)
    )
    said = text[0].map(answers.astype(object))
    right = (said == have.table["smoke"].astype(object))[said.notna()]
    assert ours["TCAP"] == pytest.approx(100 * right.mean(), abs=1e-10)
    found = text[0].isin(text[1]).mean()
    assert theirs["TCAP"] == pytest.approx(100 * right.sum() / len(said) / found, abs=1e-10)
    assert ours["TCAP"] != pytest.approx(theirs["TCAP"], abs=1)


@pytest.mark.parametrize("name", [name for name in UNIQUES if name not in ("meta", "note")])
def test_replicated_uniques_are_synthpops_where_it_matches_numbers_rightly(name):
    have = files(name)
    for case, row in UNIQUES[name].items():
        keys = argument(row["call"], "keys")
        keys = list(have.names) if case.startswith("all_columns") else keys
        tables = row["res_tab"] if isinstance(row["res_tab"], list) else [row["res_tab"]]
        want = asked(have.names, keys=keys)
        cells = want.cells(have, want.coded(have), "keys", None)
        for seen, theirs in zip(intruders(cells), tables, strict=False):
            ours = round(identity(cells, seen)["RepU"] * len(have.table) / 100)
            if not case.endswith("format_caveat"):
                assert ours == theirs["values"][3][0]
            else:
                assert ours >= theirs["values"][3][0]


def test_synthpop_misses_twenty_of_thirty_six_replicated_uniques():
    """Counted by hand: synthpop writes numbers to the width of their table, so equal ones differ."""
    have = files("survey_np_m5")
    rows = [list(map(tuple, frame[FEW_KEYS].astype(object).fillna("-").to_numpy())) for frame in
            (have.table, have.copies[4])]  # fmt: skip
    once = [{row for row in own if own.count(row) == 1} for own in rows]
    assert len(once[0] & once[1]) == 36
    assert UNIQUES["survey_np_m5"]["with_income_format_caveat"]["res_tab"][4]["values"][3][0] == 16
    want = asked(have.names, keys=FEW_KEYS)
    cells = want.cells(have, want.coded(have), "keys", None)
    assert round(identity(cells, intruders(cells)[4])["RepU"] * 6) == 36


def test_exact_matches_of_all_columns_count_every_row():
    have = files("survey_np_m5")
    names = ["sex", "age", "region", "edu", "visits", "smoke"]
    found = exact_matches(have, names)
    rows = [list(map(tuple, frame[names].astype(object).fillna("-").to_numpy())) for frame in
            (have.table, *have.copies)]  # fmt: skip
    once = {row for row in rows[0] if rows[0].count(row) == 1}
    for each, copy in zip(found.matches, rows[1:], strict=False):
        assert each.rows == sum(row in once for row in copy)
        assert each.found == len(once & set(copy))
    assert found.matches[-1].found == len(once & {row for copy in rows[1:] for row in copy})


def test_the_public_door_gives_the_same():
    have = files("survey_np_m5")
    keys = {"four": ["sex", "age", "region", "edu"]}
    risk = sdp.disclosure_risk(have.table, list(have.copies), keys=keys, targets=["smoke"], attacks=20)
    theirs = FOUND["survey_np_m5"]["smoke_keys4"]
    ours = risk.table("attribute").query("of.str.startswith('copy')")
    assert ours["DiSCO"].tolist() == pytest.approx([row[4] for row in theirs["attrib"]["values"]], abs=1e-10)
    repu = risk.table("RepU").query("of.str.startswith('copy')")["RepU"]
    assert repu.tolist() == pytest.approx([row[3] for row in theirs["ident"]["values"]], abs=1e-10)
