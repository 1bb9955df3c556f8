"""Names of columns that SPSS, Stata and SAS take."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pysynthdp.io.survey.planned import Fallback, cut

__all__ = ["SAS", "SPSS", "STATA", "NameRule", "file_names"]


@dataclass(frozen=True, slots=True)
class NameRule:
    """Which names a program takes.

    Parameters
    ----------
    pattern : str
        That a name matches as a whole.
    most : int
        Bytes of the longest one.
    folds : bool
        Whether a and A are one name.
    reserved : callable
        Whether a name is a word of the program.
    characters : bool
        Whether ``most`` counts characters.
    """

    pattern: str
    most: int
    folds: bool
    reserved: Callable[[str], bool]
    characters: bool = False

    def takes(self, name: str) -> bool:
        """Whether a name is taken as it is."""
        size = len(name) if self.characters else len(name.encode())
        return size <= self.most and bool(re.fullmatch(self.pattern, name)) and not self.reserved(name)

    def key(self, name: str) -> str:
        """Give what two names must not share."""
        return name.lower() if self.folds else name

    def made(self, name: str, taken: set[str]) -> str:
        """Make a name that is taken and free."""
        flags = re.ASCII if self.pattern.isascii() and "A-Z" in self.pattern else re.UNICODE
        plain = re.sub(r"\W", "_", name, flags=flags)
        plain = plain if re.match(r"[^\W\d_]", plain) else f"v{plain}"
        for ending in ("", *(f"_{number}" for number in range(2, len(taken) + 3))):
            tried = cut(plain, self.most - len(ending), characters=self.characters) + ending
            tried = tried if self.takes(tried) else f"{cut(tried, self.most - 1)}_"
            if self.takes(tried) and self.key(tried) not in taken:
                return tried
        msg = "every name is taken"
        raise AssertionError(msg)


_OF_SPSS: Final = frozenset(
    ["ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"]
)
_OF_STATA: Final = frozenset(
    ["byte", "double", "float", "if", "in", "int", "long", "strL", "using", "with", "_all", "_b", "_coef"]
) | {"_cons", "_n", "_N", "_pi", "_pred", "_r", "_rc", "_se", "_skip"}

SPSS: Final = NameRule(r"[^\W\d_][\w.$#@]*(?<!\.)", 64, True, lambda name: name.upper() in _OF_SPSS)
STATA: Final = NameRule(
    r"[^\W\d]\w*",
    32,
    False,
    lambda name: name in _OF_STATA or re.fullmatch(r"str\d+", name) is not None,
    characters=True,
)
SAS: Final = NameRule(r"[A-Za-z_][A-Za-z_0-9]*", 32, True, lambda _: False)


def file_names(
    names: Sequence[str], rule: NameRule, taken: Sequence[str]
) -> Iterator[tuple[str, list[Fallback]]]:
    """Give each column its name in a file, and say which is another.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    rule : NameRule
        Of the program.
    taken : sequence of str
        Names that are in use already.
    """
    used = {rule.key(name) for name in taken}
    keys = [rule.key(name) for name in names]
    used |= {key for name, key in zip(names, keys, strict=True) if rule.takes(name) and keys.count(key) == 1}
    for name, key in zip(names, keys, strict=True):
        if rule.takes(name) and (keys.count(key) == 1 or key not in used) and key not in map(rule.key, taken):
            used.add(key)
            yield name, []
            continue
        made = rule.made(name, used)
        used.add(rule.key(made))
        yield made, [Fallback(name, f"is called {made}, since its name is none there", lossy=True)]
