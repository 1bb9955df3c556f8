"""What an evaluation was asked: key sets, targets, what everybody knows; checked before anything is read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import BoolArray
from pysynthdp.base.errors import PysynthdpError, SchemaError, SettingError, together
from pysynthdp.base.words import Words, nearest
from pysynthdp.evaluate.risk.cells import Cells, Known, cells_of
from pysynthdp.evaluate.risk.coding import Coded, Files, combined
from pysynthdp.evaluate.risk.wording import KEYS

__all__ = ["Asked", "Keys", "KnownByAll", "asked", "exact_numbers"]

Keys: TypeAlias = Mapping[str, Sequence[str]] | Sequence[str]
"""Key sets by name; a list of columns is one set."""
KnownByAll: TypeAlias = Mapping[str, Sequence[Any]]
"""For a target: levels that everybody knows, or mappings from columns to levels that are known together."""
_ONE: Final = "keys"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be measured.

    Parameters
    ----------
    keys : dict of str to tuple of str
        Key sets.
    targets : tuple of str
        Columns that an intruder wants to learn.
    known_by_all : dict
        Levels of targets, or combinations of levels, that are no news.
    ngroups : dict
        Numbers that are cut into so many groups.
    without_missing : tuple of str
        Columns whose missing values tell nothing.
    denom_lim : int or None
        Cells of more records are left out.
    """

    keys: Mapping[str, tuple[str, ...]]
    targets: tuple[str, ...]
    known_by_all: KnownByAll
    ngroups: Mapping[str, int]
    without_missing: tuple[str, ...]
    denom_lim: int | None

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is named."""
        named = [*(name for names in self.keys.values() for name in names), *self.targets]
        return tuple(dict.fromkeys(named))

    def pairs(self) -> list[tuple[str, str]]:
        """Key sets and targets that go together: a target is no key of its set."""
        return [
            (name, target)
            for name, names in self.keys.items()
            for target in self.targets
            if target not in names
        ]

    def coded(self, files: Files) -> dict[str, Coded]:
        """Code every column that is named, once."""
        return {name: files.coded(name, self.ngroups.get(name, 0)) for name in self.columns}

    def key(self, codes: Mapping[str, Coded], name: str) -> Coded:
        """Code a key set."""
        return combined([codes[column] for column in self.keys[name]])

    def cells(self, files: Files, codes: Mapping[str, Coded], name: str, target: str | None) -> Cells:
        """Count a key set together with a target, or alone."""
        key, single = self.key(codes, name), codes[self.keys[name][0]]
        wanted = (
            single.like([np.zeros_like(each) for each in single.files], 1)
            if target is None
            else codes[target]
        )
        known = [_missing_keys(key, codes[one]) for one in self.keys[name] if one in self.without_missing]
        if target is not None:
            known += self._of_target(files, codes, key, name, target)
        return cells_of(key, wanted, known=known, denom_lim=None if target is None else self.denom_lim)

    def _of_target(
        self, files: Files, codes: Mapping[str, Coded], key: Coded, name: str, target: str
    ) -> list[Known]:
        """Collect what is known of a target."""
        missing = codes[target].missing
        known = [Known(target=missing)] if target in self.without_missing and missing >= 0 else []
        for each in self.known_by_all.get(target, ()):
            if not isinstance(each, Mapping):
                known.append(Known(target=_code(files, codes[target], target, each)))
                continue
            if not {*each} <= {*self.keys[name], target}:
                continue
            rows = np.ones(key.size, dtype=bool)
            for column in {*each} - {target}:
                rows &= _has(key, codes[column], _code(files, codes[column], column, each[column]))
            own = _code(files, codes[target], target, each[target]) if target in each else None
            known.append(Known(rows, own))
        return known


def _has(key: Coded, part: Coded, code: int) -> BoolArray:
    """Mark the key combinations in which a column has a code."""
    rows = np.zeros(key.size, dtype=bool)
    for keys, parts in zip(key.files, part.files, strict=True):
        rows[keys[parts == code]] = True
    return rows


def _missing_keys(key: Coded, part: Coded) -> Known:
    """Give the key combinations in which a column is missing."""
    rows = np.zeros(key.size, dtype=bool) if part.missing < 0 else _has(key, part, part.missing)
    return Known(rows)


def _code(files: Files, column: Coded, name: str, level: object) -> int:
    """Find the code of a level that somebody typed."""
    for codes, values in zip(column.files, files.columns(name), strict=True):
        same = values.astype(object) == level
        if not same.any():
            same = values.astype(str) == str(level)
        if same.any():
            return int(codes[int(np.argmax(same.to_numpy(dtype=bool, na_value=False)))])
    what = f"known_by_all names a level of {name} that neither table nor copies have"
    raise SchemaError(what, column=name, kind="setting", remedy="write it as the table does")


def asked(
    columns: Collection[str],
    *,
    keys: Keys,
    targets: Sequence[str] | str = (),
    known_by_all: KnownByAll | None = None,
    ngroups: Mapping[str, int] | None = None,
    without_missing: Sequence[str] = (),
    denom_lim: int | None = None,
) -> Asked:
    """Check what is asked against the columns that table and copies have.

    Parameters
    ----------
    columns : collection of str
        Columns that all files have.
    keys, targets, known_by_all, ngroups, without_missing, denom_lim
        As of :func:`pysynthdp.disclosure_risk`.

    Returns
    -------
    Asked
        What is to be measured.

    Raises
    ------
    SettingError, SchemaError
        For a key set without columns, or a column that is not there; all faults at once.
    """
    sets = {_ONE: keys} if not isinstance(keys, Mapping) else keys
    named = {str(name): _names(of) for name, of in sets.items()}
    wanted, known = _names(targets), known_by_all or {}
    faults = _faults(named, ngroups or {}, denom_lim)
    given = {
        "keys": [name for of in named.values() for name in of],
        "targets": list(wanted),
        "known_by_all": [*known, *_in_pairs(known)],
        "ngroups": list(ngroups or {}),
        "without_missing": list(without_missing),
    }
    for setting, names in given.items():
        faults += [_unknown(setting, name, columns) for name in dict.fromkeys(names) if name not in columns]
    if faults:
        raise together(faults)
    return Asked(
        keys=named,
        targets=wanted,
        known_by_all=known,
        ngroups=dict(ngroups or {}),
        without_missing=tuple(without_missing),
        denom_lim=denom_lim,
    )


def _names(given: Sequence[str] | str) -> tuple[str, ...]:
    """Take one name as a list of it, and each name once."""
    return (given,) if isinstance(given, str) else tuple(dict.fromkeys(map(str, given)))


def _in_pairs(known: KnownByAll) -> list[str]:
    """Columns that combinations of levels name."""
    return [str(name) for of in known.values() for each in of if isinstance(each, Mapping) for name in each]


def _faults(
    keys: Mapping[str, tuple[str, ...]], ngroups: Mapping[str, int], denom_lim: int | None
) -> list[PysynthdpError]:
    """Say what is wrong with the settings themselves."""
    faults: list[PysynthdpError] = []
    how = Words("write {keys}: what an intruder knows of a person", keys=KEYS)
    if not keys:
        faults.append(SettingError("disclosure_risk needs at least one key set", kind="setting", remedy=how))
    faults += [
        SettingError(Words("the key set '{name}' names no column", name=name), kind="setting", remedy=how)
        for name, of in keys.items()
        if not of
    ]
    faults += [
        SettingError(f"ngroups of {name} must be a whole number of at least 2", column=name, kind="setting")
        for name, many in ngroups.items()
        if isinstance(many, bool) or not isinstance(many, int | np.integer) or many < 2
    ]
    if denom_lim is not None and (isinstance(denom_lim, bool) or denom_lim < 1):
        faults.append(SettingError("denom_lim must be a whole number of at least 1", kind="setting"))
    return faults


def _unknown(setting: str, name: str, columns: Collection[str]) -> PysynthdpError:
    """Say that a column is not there."""
    near = nearest(name, columns)
    what = Words(
        "{setting} names '{name}', which table and copies do not both have", setting=setting, name=name
    )
    mend = f"did you mean '{near}'?" if near is not None else "name a column of both"
    return SchemaError(what, column=name, kind="columns", remedy=mend)


def exact_numbers(table: pd.DataFrame, names: Sequence[str], ngroups: Mapping[str, int]) -> tuple[str, ...]:
    """Name numbers of very many values that are compared value by value, where nearly is near enough."""
    many = 50
    return tuple(
        name
        for name in names
        if name not in ngroups
        and pd.api.types.is_numeric_dtype(table[name].dtype)
        and not pd.api.types.is_bool_dtype(table[name].dtype)
        and table[name].nunique() > many
    )
