"""Disclosure risk of a release: every measure asked for, and the reason for each that is not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.errors import SettingError
from pysynthdp.base.slips import answers_slips
from pysynthdp.base.streams import RandomSource, root_sequence, stream
from pysynthdp.base.words import Words
from pysynthdp.design.survey_table import SurveyTable
from pysynthdp.evaluate.risk import alarms
from pysynthdp.evaluate.risk.asked import Asked, Keys, KnownByAll, asked, exact_numbers
from pysynthdp.evaluate.risk.attacks import inference_table, singling_out_table
from pysynthdp.evaluate.risk.attempts import logged_attempt
from pysynthdp.evaluate.risk.bound import bound_table, curve_table, most_true_positives
from pysynthdp.evaluate.risk.by_keys import (
    attribute_table,
    coded_control,
    growth_table,
    identity_table,
    obvious_targets,
)
from pysynthdp.evaluate.risk.coding import Files
from pysynthdp.evaluate.risk.control import Control, controls
from pysynthdp.evaluate.risk.distances import COUNTER_EXAMPLE, distance_table
from pysynthdp.evaluate.risk.given import Given, given, people_of
from pysynthdp.evaluate.risk.matching import match_table, why_no_matches
from pysynthdp.evaluate.risk.membership import membership
from pysynthdp.evaluate.risk.records import (
    Matched,
    Shared,
    exact_matches,
    rank_matches,
    row_by_row,
    shared_rare,
)
from pysynthdp.evaluate.risk.result import DisclosureRisk
from pysynthdp.evaluate.risk.values import rare_values
from pysynthdp.evaluate.risk.wording import EITHER, HOLDOUT, KNOWN, REFIT, SHADOWS, TARGETS, groups_of
from pysynthdp.synthesizer import Synthesizer

__all__ = ["disclosure_risk"]

_FEWEST_FITS: Final = 8  # shadow fits, half of which teach the rule
_NO_CONTROL: Final = Words(
    "Nothing was held against people never used; every attack gets a control with {either}.", either=EITHER
)
_BOUND: Final = (
    "These numbers are measured on the records without noise, so the guarantee of the release does not cover "
    "them: they may not leave"
)


@answers_slips
def disclosure_risk(
    table: Any,
    release: Any,
    *,
    keys: Keys,
    targets: Sequence[str] | str = (),
    known_by_all: KnownByAll | None = None,
    holdout: pd.DataFrame | SurveyTable | str | Path | None = None,
    refit: Synthesizer | None = None,
    folds: int = 3,
    ngroups: Mapping[str, int] | None = None,
    without_missing: Sequence[str] = (),
    denom_lim: int | None = None,
    earlier: Sequence[Any] = (),
    attacks: int = 500,
    shadow_fits: int = 0,
    shadow_records: int = 20,
    distances: bool = False,
    log: str | Path | None = None,
    rng: RandomSource = 0,
) -> DisclosureRisk:
    """Measure what an intruder could learn from copies of a confidential table; the result is INTERNAL.

    Parameters
    ----------
    table : DataFrame, SurveyTable or path
        The confidential table.
    release : SyntheticRelease, StoredRelease, DataFrame, list of DataFrames, or path
        The copies: a release or its folder, or copies of any other tool.
    keys : mapping of str to sequence of str
        What an intruder may know of a person, by a name: ``{"neighbour": ["sex", "age", "region"]}``. A list
        is one key set.
    targets : sequence of str
        What an intruder wants to learn.
    known_by_all : mapping of str to sequence, optional
        What is no disclosure, since everybody knows it: for a target its levels, ``{"alcabuse": ["NO"]}``, or
        combinations, ``{"smoke": [{"sex": "F", "smoke": "no"}]}``.
    holdout : DataFrame, SurveyTable or path, optional
        People of the same population who had no part in the copies: the control of every attack.
    refit : Synthesizer, optional
        Settings of the release. The table is cut into ``folds`` parts, copies are made without each of them,
        and its people are the control; with ``shadow_fits`` it also makes those. Not with ``holdout`` but for
        these.
    folds : int
        Parts of the table for ``refit``.
    ngroups : mapping of str to int, optional
        Numbers among keys and targets that are cut into so many groups at quantiles of table and copies.
    without_missing : sequence of str
        Keys and targets whose missing values tell an intruder nothing.
    denom_lim : int, optional
        Leave out cells (keys with target) of more records than this.
    earlier : sequence
        What was released before from the same source, each as ``release``.
    attacks : int
        People, and predicates, of each attack by guessing.
    shadow_fits : int
        Fits with and without the most exposed records, to tell members; some 64 give a rough answer. Needs
        ``refit``.
    shadow_records : int
        How many of them.
    distances : bool
        Give distances to the closest record too, beside the file that shows that they prove nothing: every
        real record with one added to each number passes as a safe file does. Needs ``holdout``.
    log : path, optional
        Folder of the agency's own with the list of evaluations, ``INTERNAL_attempts.jsonl``, to which this
        one is added.
    rng : int, SeedSequence or Generator, optional
        Chooses who is attacked; fixed, so that a repeated evaluation gives the same numbers.

    Returns
    -------
    DisclosureRisk
        Page one when printed; ``worst()``, ``tables()``, ``table("RepU")``, ``plot()``, ``save(folder)``.

    Raises
    ------
    SchemaError, SettingError, FitError
        When a column is not in table and copies, or settings do not fit; several faults at once.

    Notes
    -----
    Privacy: reads real rows, and its result tells of them, under a guarantee too: it stays with whoever holds
    the table. Copies of refits and shadow fits are looked at and dropped; none can be drawn from, saved or
    charged.

    UiO, UiS, UiOiS, RepU, Dorig, Dsyn, iS, DiS, DiSCO, DiSDiO and the attribution probabilities are those of
    synthpop's ``disclosure`` (Raab, Nowok and Dibben 2024), but TCAP, which is the share of right ones among
    records with a certain answer as it was published. ``docs/disclosure-risk.md`` has all formulas.

    Examples
    --------
    >>> import pandas as pd, pysynthdp as sdp
    >>> df = pd.DataFrame({"sex": ["F", "M"] * 60, "age": range(120), "ill": ["no", "no", "yes"] * 40})
    >>> risk = sdp.disclosure_risk(df, df, keys={"neighbour": ["sex", "age"]}, targets=["ill"])
    >>> risk.table("RepU")["RepU"].tolist(), len(risk.alarms) > 0
    ([100.0, 100.0], True)
    """
    what = given(table, release, earlier)
    wanted = asked(
        what.files.names,
        keys=keys,
        targets=targets,
        known_by_all=known_by_all,
        ngroups=ngroups,
        without_missing=without_missing,
        denom_lim=denom_lim,
    )
    _check(
        holdout,
        folds=folds,
        attacks=attacks,
        shadow_fits=shadow_fits,
        shadow_records=shadow_records,
        refit=refit,
    )
    root = root_sequence(rng)
    beside = controls(
        what.files,
        people_of(holdout),
        refit if holdout is None else None,
        folds=folds,
        rng=stream(root, 0),
    )
    work = _Work(what, wanted, beside)
    if log is not None:
        work.logged(log, folds=folds, shadow_fits=shadow_fits)
    work.by_keys()
    work.records(stream(root, 1))
    work.attacked(attacks, stream(root, 2))
    work.bounds()
    work.shadows(refit, shadow_fits, shadow_records, stream(root, 3))
    if distances:
        work.distances(stream(root, 4))
    return work.result()


def _check(
    holdout: Any,
    *,
    folds: int,
    attacks: int,
    shadow_fits: int,
    shadow_records: int,
    refit: Synthesizer | None,
) -> None:
    """Refuse numbers that cannot be."""
    least = {"folds": (folds, 2), "attacks": (attacks, 1), "shadow_records": (shadow_records, 1)}
    for name, (value, smallest) in least.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < smallest:
            raise SettingError(f"{name} must be a whole number of at least {smallest}", kind="setting")
    if not shadow_fits and refit is not None and holdout is not None:
        both = Words("{holdout} and {refit} are two controls", holdout=HOLDOUT, refit=REFIT)
        raise SettingError(both, kind="setting", remedy="leave the refits out, the hold-out tells more")
    if not shadow_fits:
        return
    if refit is None:
        what = "shadow fits need the settings of the release"
        raise SettingError(what, kind="setting", remedy=Words("give {refit}", refit=REFIT))
    if shadow_fits < _FEWEST_FITS:
        raise SettingError(f"shadow_fits must be 0 or at least {_FEWEST_FITS}", kind="setting")


class _Work:
    """Tables, alarms and reasons while they come about."""

    def __init__(self, what: Given, wanted: Asked, control: Control) -> None:
        self.what, self.wanted, self.control = what, wanted, control
        self.files: Files = what.files
        self.found: dict[str, pd.DataFrame] = {}
        self.alarms: list[str] = []
        self.missing: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self.tried: int | None = None
        if len(what.differences):
            self.found["differences"] = what.differences
            self.notes.append(
                f"The copies differ from the table in structure, in {len(what.differences)} points: see the "
                "table of differences."
            )

    def lacking(self, measure: str, reason: str) -> None:
        """Say why a measure is not there."""
        self.missing.append((measure, reason))

    def logged(self, folder: str | Path, **settings: Any) -> None:
        """Write down the attempt."""
        plain = {"keys": {name: list(of) for name, of in self.wanted.keys.items()}}
        sizes = {"rows": len(self.files.table), "copies": len(self.files.copies)}
        line = {
            **sizes,
            **plain,
            "targets": list(self.wanted.targets),
            "control": self.control.kind,
            **settings,
        }
        self.tried = logged_attempt(folder, self.files.table, line)

    def _fresh(self) -> pd.DataFrame | None:
        """Give people who were never used, beside the copies themselves."""
        return self.control.files[0].fresh if self.control.kind == "holdout" else None

    def _drawn(self) -> list[str]:
        """Name the columns that models drew: neither kept real nor numbered anew."""
        apart = {*self.what.kept, *self.what.anew}
        return [name for name in self.files.names if name not in apart]

    def by_keys(self) -> None:
        """Measure identity and attribute disclosure by key sets, and how they grow."""
        codes = self.wanted.coded(self.files)
        beside = coded_control(self.wanted, self.control)
        self.found["identity"] = identity_table(self.wanted, self.files, codes, beside)
        self.found["attribute"] = attribute_table(self.wanted, self.files, codes, beside)
        if not self.wanted.pairs():
            self.lacking(
                "DiSCO", Words("no target was named that is not a key: give {targets}", targets=TARGETS)
            )
        fresh = self._fresh()
        every = Files(self.files.table, self.what.every, fresh)
        again = (
            codes
            if len(self.what.every) == len(self.files.copies) and fresh is None
            else self.wanted.coded(every)
        )
        self.found["growth"] = growth_table(
            self.wanted, every, again, self.what.releases, fresh=fresh is not None
        )
        for keys, target in obvious_targets(self.wanted, self.files, codes):
            what = "Nearly all disclosures of {target} by {keys} are of one level; known to all? {how}"
            self.notes.append(Words(what, target=target, keys=keys, how=KNOWN))
        exact = exact_numbers(self.files.table, self.wanted.columns, self.wanted.ngroups)
        if exact:
            what = (
                "Compared value by value, so that nearly right is wrong: {names}; cut into groups by {how}."
            )
            self.notes.append(Words(what, names=", ".join(exact), how=groups_of(exact[0])))
        self._matching(codes)
        self.alarms += alarms.key_alarms(
            self.found["identity"],
            self.found["attribute"],
            len(self.files.table),
            self.control.people,
            kept=self.what.kept,
            keys=self.wanted.keys,
        )

    def _matching(self, codes: Any) -> None:
        """Measure match risk where rows belong together."""
        reason = why_no_matches(self.files, self.what.kept)
        if reason is None:
            self.found["match_risk"] = match_table(self.wanted, self.files, dict(codes))
        else:
            self.lacking("match_risk", reason)

    def records(self, rng: np.random.Generator) -> None:
        """Look for records and rare values of the table in the copies."""
        names = self._drawn()
        fresh = self._fresh()
        files = Files(self.files.table, self.files.copies, fresh)
        n, copies = len(files.table), len(files.copies)
        values = rare_values(files, names)
        self.found["values"] = values
        self.alarms += alarms.value_alarms(values, copies)
        matched = exact_matches(files, names)
        if matched is None:
            self.lacking("matches", "no copy repeats a value of the table in any column")
        else:
            self.found["matches"] = _match_frame(matched)
            self.alarms += alarms.match_alarms(matched, n)
        shared = shared_rare(files, names)
        self.found["rare_together"] = _shared_frame(shared)
        self.alarms += alarms.shared_alarms(shared, n)
        self._aligned(names, rng)

    def _aligned(self, names: Sequence[str], rng: np.random.Generator) -> None:
        """Compare row by row and by ranks, where copies have as many rows as the table."""
        n = len(self.files.table)
        same = [copy for copy in self.files.copies if len(copy) == n]
        if not same:
            reason = "the copies have another number of rows than the table"
            self.missing += [("rank_matches", reason), ("row_by_row", reason)]
            return
        files = self.files.with_copies(same)
        self.found["row_by_row"] = row_by_row(files, names, kept=self.what.kept, unit=self.what.unit)
        self.alarms += alarms.column_alarms(self.found["row_by_row"], self.what.kept)
        ranked = rank_matches(files, names, rng)
        if ranked is None:
            self.lacking("rank_matches", "no column holds numbers")
            return
        self.found["rank_matches"] = _match_frame(ranked[0]).assign(expected=100 * ranked[1])
        self.alarms += alarms.rank_alarms(*ranked)

    def attacked(self, attempts: int, rng: np.random.Generator) -> None:
        """Attack by guessing."""
        if self.wanted.pairs():
            self.found["inference"] = inference_table(self.wanted, self.files, self.control, attempts, rng)
        self.found["singling_out"] = singling_out_table(self.wanted, self.files, self.control, attempts, rng)
        self.alarms += alarms.attack_alarms(self.found.get("inference"), self.found["singling_out"])

    def bounds(self) -> None:
        """Translate the guarantee."""
        claim = self.what.claim
        if claim is None or claim.status == "none":
            self.lacking(
                "bound", "the release has no formal guarantee" if claim else "the copies have no statement"
            )
            return
        if claim.status == "void":
            self.lacking("bound", "the privacy statement is void")
            return
        self.found["bound"] = bound_table(claim)
        self.found["trade_off"] = curve_table(claim.guarantee)
        self.notes.append(_BOUND)

    def shadows(self, refit: Synthesizer | None, fits: int, records: int, rng: np.random.Generator) -> None:
        """Attack membership by shadow fits, if they are asked for."""
        if not fits or refit is None:
            self.lacking("membership", Words("it takes shadow fits: give {how}", how=SHADOWS))
            return
        if self.what.unit is not None or refit.units is not None:
            self.lacking("membership", "rows that belong together in units are not taken out one by one")
            return
        claim = self.what.claim
        found = membership(
            self.files.table,
            refit,
            names=self._drawn(),
            records=min(records, len(self.files.table) // 2),
            fits=fits,
            m=len(self.files.copies),
            k=None if refit.keep else len(self.files.copies[0]),
            replaced=bool(refit.keep) or claim is None or claim.unit.relation == "replace_one",
            rng=rng,
        )
        self.found["membership"] = found.to_frame()
        false, true = found.rates()
        curve = pd.DataFrame({"false_positives": false, "true_positives": true})
        self.found["membership_curve"] = curve
        most = None
        if "trade_off" in self.found and claim is not None:
            rates = self.found["membership"]["blind"].to_numpy(np.float64)[:-1] / 100
            most = 100 * most_true_positives(claim.guarantee, rates)
            self.found["membership"]["at_most"] = [*most, np.nan]
        self.alarms += alarms.membership_alarms(self.found["membership"])

    def distances(self, rng: np.random.Generator) -> None:
        """Give distances to the closest record, beside what they cannot tell."""
        if self.control.kind != "holdout":
            self.lacking("distances", Words("they need {holdout}", holdout=HOLDOUT))
            return
        names = self._drawn()
        self.found["distances"] = distance_table(self.control.files[0], names, rng)
        self.notes.append(COUNTER_EXAMPLE)

    def result(self) -> DisclosureRisk:
        """Put it together."""
        return DisclosureRisk(
            facts=tuple(self._facts()),
            alarms=tuple(self.alarms),
            not_computed=tuple(self.missing),
            notes=tuple(self.notes),
            found=self.found,
            control=self.control.kind,
            _limit="" if self.control.kind != "none" else _NO_CONTROL,
        )

    def _facts(self) -> list[tuple[str, Any]]:
        """Say what was held against what."""
        said = {
            "holdout": "people never used (hold-out)",
            "refits": f"people left out of {len(self.control.files)} refits",
            "none": "none",
        }
        drawn = None if self.what.claim is None else self.what.claim.copies
        kept = [("columns released REAL", ", ".join(self.what.kept))] if self.what.kept else []
        known = (
            []
            if drawn is None
            else [("copies drawn from this fit so far", max(drawn, len(self.files.copies)))]
        )
        before = max(self.what.releases) - 1
        return [
            ("records of the table", len(self.files.table)),
            ("copies", len(self.files.copies)),
            *known,
            *([("earlier releases of this source, counted in growth", before)] if before else []),
            *([] if self.tried is None else [("evaluations of this table so far", self.tried)]),
            *kept,
            ("control", said[self.control.kind]),
            *([("people of the control", self.control.people)] if self.control.people else []),
        ]


def _match_frame(found: Matched) -> pd.DataFrame:
    """Write exact matches as a table, in per cent."""
    hits, people = found.fresh
    rows = [
        {
            "of": each.of,
            "rows": 100 * each.rows / max(each.of_rows, 1),
            "expected": 100 * found.expected,
            "unique": each.unique,
            "found": each.found,
            "found_share": 100 * each.found / each.unique if each.unique else np.nan,
            "control": 100 * hits / people if people and each.of == "any copy" else np.nan,
            "table": each.real,
            "columns": len(found.columns),
        }
        for each in found.matches
    ]
    return pd.DataFrame(rows)


def _shared_frame(shared: Sequence[Shared]) -> pd.DataFrame:
    """Write rows that share rare values of one record as a table, in per cent of rows."""
    most = max(int(np.flatnonzero(each.rows).max(initial=-1)) for each in shared)
    rows = [
        (each.of, at + 1, 100 * each.rows[at] / max(each.of_rows, 1), int(each.records[at]))
        for each in shared
        for at in range(most + 1)
    ]
    return pd.DataFrame(rows, columns=["of", "values", "rows", "records"])
