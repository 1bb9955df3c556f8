"""What a column's name says of it: weak evidence, asked only where numbers alone cannot tell."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["named_as_key", "named_as_person", "named_as_time"]

_WORDS: Final = re.compile(r"[A-ZÀ-Þ]?[a-zß-ÿ]+|[A-ZÀ-Þ]+(?![a-zß-ÿ])")
_TIME: Final = re.compile(
    "ages?|cohort|date|days?|hours?|julday|minutes?|months?|period|quarter|rank|ranking|seconds?|season|t|time|"
    "weeks?|wk|years?|yr|alter|datum|jahr|monat|quartal|sekunde|stunde|tag|woche|zeit|annee|année|heure|jour|"
    "mois|semaine|ano|año|dia|día|edad|fecha|hora|mes|semana"
)
_KEY: Final = re.compile(
    "ids?|idnum|idno|idcode|ident|identifier|[ug]uid|uuid|[phcs]id|key|nr|lfdnr|serial|seqno|seqn|"
    "(?:case|child|client|cluster|employee|family|firm|hh|household|hospital|indiv|individual|mother|pat|"
    "participant|patient|pers|person|plant|psu|pupil|record|respondent|school|site|ssu|strata|stratum|student|"
    "subj|subject|teacher|village|worker|betrieb|fall|haushalt|klasse|schule|schüler|familie|ménage)"
    "(?:id|no|nr|num)"
)
_SAMPLED: Final = re.compile(
    "cluster|hh|household|haushalt|individual|participant|psu|pupil|respondent|ssu|strata|stratum|subj|subject"
)
"""What a name may end in: nobody counts by these words, as years of school or members of a family."""
_PLACE: Final = re.compile(
    "(?:centre|center|class|cluster|district|firm|hospital|plant|psu|region|school|site|ssu|strata|stratum|"
    "village|ward|zip|betrieb|klasse|schule)(?:id|no|nr|num)?"
)
"""Words for what many persons belong to, no household or family."""


def named_as_time(name: str) -> bool:
    """Whether a name speaks of years, ages, ranks and the like; such a column may well count by one.

    Examples
    --------
    >>> named_as_time("birth_year"), named_as_time("dayOfYear"), named_as_time("stay")
    (True, True, False)
    """
    return any(map(_TIME.fullmatch, _words(name)))


def named_as_key(name: str) -> bool:
    """Whether a name speaks of an identifier, or of what records belong to: a household, a school, a cluster.

    Examples
    --------
    >>> named_as_key("hh_id"), named_as_key("schoolNR"), named_as_key("paid"), named_as_key("yearID")
    (True, True, False, False)
    """
    words = _words(name)
    own = any(map(_KEY.fullmatch, words)) or any(map(_SAMPLED.fullmatch, words[-1:]))
    return own and not named_as_time(name)


def named_as_person(name: str) -> bool:
    """Whether a name speaks of an identifier that may be a person's or a household's.

    Examples
    --------
    >>> named_as_person("patient_id"), named_as_person("id"), named_as_person("school_id")
    (True, True, False)
    """
    return named_as_key(name) and not any(map(_PLACE.fullmatch, _words(name)))


def _words(name: str) -> list[str]:
    """Split a name into its words, in small letters."""
    return [word.lower() for word in _WORDS.findall(name)]
