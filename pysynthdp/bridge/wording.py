"""Messages in the words of R: what to write is shown as an R user writes it."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["in_r_words"]

_LITERAL: Final = re.compile(r"(?<![\w])(\w+)=(\{(?:[^{}]|\{[^{}]*\})*\}|\[[^\[\]]*\]|\([^()]*\))")
_DICT: Final = re.compile(r"\{'[^{}]*\}")
_KEY: Final = re.compile(r"(?:'([^']*)'|\"([^\"]*)\"|(-?[\w.]+)):\s*")
_NAME: Final = re.compile(r"^[A-Za-z.][\w.]*$")
_LONE: Final = re.compile(r"(?<![\w)\]=])\[([^\[\]]*)\]")
_EQUALS: Final = re.compile(r"(?<=\w)=(?=[\w'\".(-])")
_WORDS: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"\bNumericColumn\((['\"])(\w+)\1,\s*", r"\2 = numeric_column("),
        (r"\bCategoricalColumn\((['\"])(\w+)\1,\s*", r"\2 = categorical_column("),
        (r"\bpd\.to_numeric\b(\(\))?", "as.numeric()"),
        (r"\bpd\.to_(datetime|timedelta)\b(\(\))?", "as.POSIXct()"),
        (r"df\.columns = ", "names(data) <- "),
        (r"\ba pandas DataFrame\b|\ba DataFrame\b", "a data frame"),
        (r"\bpandas DataFrame\b|\bDataFrame\b", "data frame"),
        (r"\bpandas\b", "R"),
        (r"\bTrue\b", "TRUE"),
        (r"\bFalse\b", "FALSE"),
        (r"\bNone\b", "NULL"),
        (r"\bdtype\b", "type"),
        (r"\b(Int|int)(8|16|32|64)\b", "integer"),
        (r"\bfloat(32|64)\b", "double"),
        (r"\bboolean\b", "logical"),
        (r"\ba mapping\b", "a list with names"),
        (r"\bPython\b", "the engine"),
        (r" \*\* ", "^"),
        (r"rules\(\) shows (\w+) and (\w+) beside it", r"pool(rule = ) with \1 or \2 shows others"),
    )
)


def in_r_words(message: str) -> str:
    """Rewrite a message of the package for an R user.

    Parameters
    ----------
    message : str
        What an error or a warning says.

    Returns
    -------
    str
        The same, with ``list(...)``, ``c(...)``, ``TRUE`` and R's names of types.

    Notes
    -----
    Privacy: adds nothing; messages quote no confidential value.

    Examples
    --------
    >>> in_r_words("drop=['id'], method={'id': 'serial'} or may_be_missing=True")
    'drop = "id", method = list(id = "serial") or may_be_missing = TRUE'
    """
    message = message.replace("Schema([...])", "list(...)")
    text = _LITERAL.sub(lambda found: f"{found[1]} = {_literal(found[2])}", message)
    text = _DICT.sub(lambda found: _literal(found[0]), text)
    text = _LONE.sub(lambda found: _literal(f"[{found[1]}]"), text)
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    return _EQUALS.sub(" = ", text)


def _literal(text: str) -> str:
    """Write a dict, list or tuple as R does; one element needs no ``c()``."""
    inside = text[1:-1]
    if text[0] == "{":
        inside = re.sub(r"\{([^{}]*)\}", lambda found: f"c({_labelled(found[1])})", inside)
        inside = re.sub(r"\[([^\[\]]*)\]", lambda found: _vector(found[1]), inside)
        return f"list({_quoted(_KEY.sub(_named, inside))})"
    return _vector(inside)


def _vector(inside: str) -> str:
    """Write elements as a vector."""
    parts = [part.strip() for part in inside.split(",") if part.strip()]
    joined = _quoted(", ".join(parts))
    return joined if len(parts) == 1 and parts[0] != "..." else f"c({joined})"


def _labelled(inside: str) -> str:
    """Write codes with labels: R's names are the labels."""
    pairs = [pair.split(":", 1) for pair in inside.split(",") if ":" in pair]
    return ", ".join(f"{label.strip()} = {code.strip()}" for code, label in pairs) or inside


def _named(found: re.Match[str]) -> str:
    """Write a key as a name, in backticks where R asks for them."""
    key = next(part for part in found.groups() if part is not None)
    return f"{key} = " if _NAME.match(key) else f"`{key}` = "


def _quoted(text: str) -> str:
    """Write single quotes as R prints texts."""
    return text.replace("'", '"')
