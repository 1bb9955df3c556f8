"""What a labelled file says of a column beside its cells: labels, meanings of codes, missing kinds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, get_args

from pysynthdp.base.errors import SchemaError
from pysynthdp.base.words import Words
from pysynthdp.schema.plain_values import value_from_plain, value_to_plain

__all__ = [
    "TAGS",
    "Kind",
    "Labels",
    "Measure",
    "Source",
    "as_tag",
    "labels_from_plain",
    "labels_to_plain",
    "sentinel",
    "shown_labels",
    "tag_of",
    "written",
]

Measure: TypeAlias = Literal["nominal", "ordinal", "scale"]
Source: TypeAlias = Literal["spss", "stata", "sas"]
TAGS: Final = (*(f".{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"), "._")
"""Names of missing kinds of numbers, as Stata and SAS write them; ``._`` is known to SAS alone."""

_HUGE: Final = 2.0**1023  # no number of a table: beyond what may be squared


def as_tag(given: Any) -> str | None:
    """Name the kind that a code means, ``.a`` for ``.a`` and ``.A``; None for what is none.

    Examples
    --------
    >>> as_tag(".A"), as_tag("-8"), as_tag(-8)
    ('.a', None, None)
    """
    low = given.lower() if isinstance(given, str) else None
    return low if low in TAGS else None


def sentinel(tag: str) -> float:
    """Give the number that stands for a missing kind while a column is modelled.

    Examples
    --------
    >>> sentinel(".a") > 9e307, sentinel(".a") < sentinel(".b")
    (True, True)
    """
    return _HUGE * (1 + (1 + TAGS.index(tag)) / 64)


def tag_of(number: Any) -> str | None:
    """Name the kind for which a number stands; None for any other number.

    Examples
    --------
    >>> tag_of(sentinel(".c")), tag_of(3.0)
    ('.c', None)
    """
    at = (number / _HUGE - 1) * 64 - 1
    return TAGS[int(at)] if at in range(len(TAGS)) else None


@dataclass(frozen=True, slots=True)
class Kind:
    """One reason for which values are missing.

    Parameters
    ----------
    tag : str, optional
        Its letter, ``".a"`` to ``".z"``: of Stata and SAS as in the file, of SPSS as numbers hold it here.
    code : number or str, optional
        What the file has in place of a value, such as -8 in SPSS.
    label : str
        What the file calls it.
    """

    tag: str | None = None
    code: Any = None
    label: str = ""

    @property
    def own(self) -> Any:
        """Its code where there is one, else its tag."""
        return self.tag if self.code is None else self.code


@dataclass(frozen=True, slots=True)
class Labels:
    """What a labelled file says of one variable beside its cells.

    Parameters
    ----------
    label : str
        Of the variable: the question.
    codes : tuple of (code, label), or mapping
        What codes mean, in the file's order, unused ones too.
    kinds : tuple of Kind
        Reasons for which values are missing.
    missing_range : (float, float), optional
        Range of codes that SPSS takes for missing; open ends are infinite.
    measure : {"nominal", "ordinal", "scale"}, optional
        Level of measurement.
    width : int, optional
        Of a column on the screen, or of a text.
    format : str, optional
        How the program prints values, such as ``"F8.2"``, ``"%9.0g"`` or ``"DATE9"``.
    source : {"spss", "stata", "sas"}, optional
        Whose file it was.

    Examples
    --------
    >>> labels = Labels("Smokes?", {1: "Yes", 2: "No"}, (Kind(".a", -8, "Refused"),))
    >>> labels.texts()
    {1: 'Yes', 2: 'No', -8: 'Refused'}
    """

    label: str = ""
    codes: Any = ()
    kinds: tuple[Kind, ...] = ()
    missing_range: tuple[float, float] | None = None
    measure: Measure | None = None
    width: int | None = None
    format: str | None = None
    source: Source | None = None

    def __post_init__(self) -> None:
        pairs = self.codes.items() if isinstance(self.codes, Mapping) else self.codes
        object.__setattr__(self, "codes", tuple((code, str(label)) for code, label in pairs))
        object.__setattr__(self, "kinds", tuple(self.kinds))
        if self.missing_range is not None:
            low, high = self.missing_range
            object.__setattr__(self, "missing_range", (float(low), float(high)))
        self._check()

    def _check(self) -> None:
        """Codes are distinct, kinds too, and choices are known ones."""
        for what, given, known in (
            ("measure", self.measure, get_args(Measure)),
            ("source", self.source, get_args(Source)),
        ):
            if given is not None and given not in known:
                options = ", ".join(known)
                raise _wrong(Words("{what} of a label must be one of {options}", what=what, options=options))
        if any(kind.tag is not None and kind.tag not in TAGS for kind in self.kinds):
            raise _wrong("the tag of a missing kind must be .a to .z, or ._")
        codes = [*(code for code, _ in self.codes), *(kind.own for kind in self.kinds)]
        if len(set(codes)) < len(codes):
            raise _wrong("a code has two labels")
        tags = [kind.tag for kind in self.kinds if kind.tag is not None]
        if len(set(tags)) < len(tags):
            raise _wrong("two missing kinds have one tag")
        if self.missing_range is not None and not self.missing_range[0] <= self.missing_range[1]:
            raise _wrong("the lower end of a range of missing codes lies above the upper one")

    def texts(self) -> dict[Any, str]:
        """Name each code, then each missing kind, by a text of its own: its label, with the code if need be.

        Examples
        --------
        >>> Labels(codes={1: "Yes", 2: "Yes", 3: ""}).texts()
        {1: '1 Yes', 2: '2 Yes', 3: '3'}
        """
        labels = {**dict(self.codes), **{kind.own: kind.label for kind in self.kinds}}
        seen = Counter(label.strip() for label in labels.values())
        plain = {code: text if seen[text.strip()] == 1 and text.strip() else _both(code, text)
                 for code, text in labels.items()}  # fmt: skip
        if len(set(plain.values())) == len(plain):
            return plain
        full = {code: _both(code, text) for code, text in labels.items()}
        return full if len(set(full.values())) == len(full) else {code: written(code) for code in labels}

    def code_of(self) -> dict[str, Any]:
        """Give the file's code of each text of :meth:`texts`."""
        return {text: code for code, text in self.texts().items()}


def shown_labels(labels: Labels | None, *, withhold: bool) -> Labels | None:
    """Leave out what codes mean, where they are identifiers."""
    return replace(labels, codes=(), kinds=(), missing_range=None) if labels and withhold else labels


def written(code: Any) -> str:
    """Write a code, whole numbers without a point."""
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)


def _both(code: Any, label: str) -> str:
    """Write a code before its label."""
    return f"{written(code)} {label}".strip()


def _wrong(what: str) -> SchemaError:
    """Make the error of labels that cannot be."""
    return SchemaError(what, kind="declaration")


def labels_to_plain(labels: Labels) -> dict[str, Any]:
    """Write labels as JSON values; what is not said is left out."""
    plain: dict[str, Any] = {}
    if labels.codes:
        plain["codes"] = [[value_to_plain(code), text] for code, text in labels.codes]
    if labels.kinds:
        plain["kinds"] = [[kind.tag, value_to_plain(kind.code), kind.label] for kind in labels.kinds]
    if labels.missing_range is not None:
        plain["missing_range"] = [None if math.isinf(end) else end for end in labels.missing_range]
    for name in ("label", "measure", "width", "format", "source"):
        if getattr(labels, name):
            plain[name] = getattr(labels, name)
    return plain


def labels_from_plain(plain: Mapping[str, Any]) -> Labels:
    """Read what :func:`labels_to_plain` wrote."""
    own = {name: plain[name] for name in ("label", "measure", "width", "format", "source") if name in plain}
    span = plain.get("missing_range")
    ends = None if span is None else (*_ends(span),)
    return Labels(
        codes=tuple((value_from_plain(code), text) for code, text in plain.get("codes", ())),
        kinds=tuple(Kind(tag, value_from_plain(code), text) for tag, code, text in plain.get("kinds", ())),
        missing_range=None if ends is None else (ends[0], ends[1]),
        **own,
    )


def _ends(span: Iterable[float | None]) -> Iterator[float]:
    """Read the ends of a range, None for an open one."""
    for end, far in zip(span, (-math.inf, math.inf), strict=True):
        yield far if end is None else end
