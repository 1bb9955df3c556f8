"""Sentences with something to type in them, said at the edge in the dialect of the reader."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, Literal, Protocol, Self, runtime_checkable

__all__ = [
    "CODEBOOK",
    "FLAG",
    "GUARANTEE",
    "OTHER",
    "TABLE",
    "Argument",
    "Dialect",
    "Facts",
    "Said",
    "Setting",
    "Words",
    "joined",
    "meant",
    "nearest",
    "one_line",
    "r_column",
    "said",
]

Dialect = Literal["python", "shell", "r"]
"""Who reads: somebody who writes Python, types commands (and plan files), or writes R."""

_OPTIONS: Final = frozenset(
    {
        *("drop", "rare", "proper", "m", "k", "seed", "format", "text", "sep", "decimal", "encoding"),
        *("scratch", "scratch_encrypt"),
    }
)
"""Settings that the command line takes as options; the others are keys of a plan file."""
_R_WORDS: Final = "if|else|for|in|while|repeat|next|break|function|TRUE|FALSE|NULL|NA|Inf|NaN"
_R_NAME: Final = re.compile(rf"(?!(?:{_R_WORDS})$)[A-Za-z.][\w.]*$")
_TOML_KEY: Final = re.compile(r"[A-Za-z0-9_-]+$")
_UNSEEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@runtime_checkable
class _Part(Protocol):
    """A piece of a sentence that differs between dialects."""

    def said(self, dialect: Dialect) -> str:
        """Write it for one kind of reader."""
        ...


def said(text: object, dialect: Dialect) -> str:
    """Say a text, or a piece of one, in a dialect; what has no dialects is said as it is.

    Examples
    --------
    >>> said("plain", "r"), said(Setting("rare", "merge"), "shell")
    ('plain', '--rare merge')
    """
    return text.said(dialect) if isinstance(text, _Part) else str(text)


class Words(str):
    """A sentence; as a ``str`` it reads as a Python user types.

    Parameters
    ----------
    template : str
        The sentence, with ``{name}`` for every part, as for :meth:`str.format`.
    **parts : object
        :class:`Setting`, :class:`Said`, other :class:`Words`, or anything with a ``str``.

    Notes
    -----
    Privacy: no part may be a value of a record, whoever reads. Joining two with ``+`` or an f-string gives a
    plain ``str`` in Python's dialect; nest them in a template instead. A column's name is a part: written
    into the template, a brace in it would break it.

    Examples
    --------
    >>> text = Words("id is an identifier; leave it out with {drop}", drop=Setting("drop", ["id"]))
    >>> str(text)
    "id is an identifier; leave it out with drop=['id']"
    >>> text.said("r")
    'id is an identifier; leave it out with drop = "id"'
    >>> text.said("shell")
    'id is an identifier; leave it out with --drop id'
    """

    __slots__ = ("parts", "template")

    parts: Mapping[str, object]
    template: str

    def __new__(cls, template: str = "", **parts: object) -> Self:
        """Keep the parts beside the sentence."""
        made = super().__new__(cls, _filled(template, parts, "python"))
        made.template, made.parts = template, parts
        return made

    def __reduce__(self) -> tuple[Callable[..., Words], tuple[str, Mapping[str, object]]]:
        """Pickle with its parts, as an error that comes back from a worker must."""
        return _words, (self.template, self.parts)

    def said(self, dialect: Dialect) -> str:
        """Write the sentence in a dialect."""
        return _filled(self.template, self.parts, dialect)


def _filled(template: str, parts: Mapping[str, object], dialect: Dialect) -> str:
    """Fill a template with its parts in one dialect; a name with a line break stays in its line."""
    return template.format(
        **{
            name: said(part, dialect) if isinstance(part, _Part) else one_line(str(part))
            for name, part in parts.items()
        }
    )


def one_line(text: str) -> str:
    r"""Write line breaks and other characters that steer a screen as Python does; all others stay.

    Examples
    --------
    >>> one_line("net\nincome €")
    'net\\nincome €'
    """
    return _UNSEEN.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def _words(template: str, parts: Mapping[str, object]) -> Words:
    """Make a sentence anew."""
    return Words(template, **parts)


class Said:
    """What each kind of reader types or reads, where no rule turns one into the other.

    Parameters
    ----------
    python, shell, r : str
        The piece as each reads it.

    Examples
    --------
    >>> frame = Said("a DataFrame", "a file", "a data frame")
    >>> frame.said("r"), str(frame)
    ('a data frame', 'a DataFrame')
    """

    __slots__ = ("_texts",)

    def __init__(self, python: str, shell: str, r: str) -> None:
        self._texts: dict[Dialect, str] = {"python": python, "shell": shell, "r": r}

    def __str__(self) -> str:
        return self._texts["python"]

    def said(self, dialect: Dialect) -> str:
        """Write it for one kind of reader."""
        return self._texts[dialect]


FLAG: Final = Said("True or False", "true or false", "TRUE or FALSE")
TABLE: Final = Said("a pandas DataFrame", "a table", "a data frame")
GUARANTEE: Final = Said(
    "guarantee=ZCDP(rho=...) or guarantee=BySampling()",
    'guarantee = { name = "zcdp", rho = ... } or guarantee = { name = "by_sampling" } in the plan',
    "guarantee = zcdp(rho = ...) or guarantee = by_sampling()",
)
OTHER: Final = Said(
    "CategoricalColumn(..., other=...) in schema=",
    "other = ... in the codebook",
    "other = ... in schema = list(...)",
)
CODEBOOK: Final = Said(
    "schema=Schema([...])", 'a codebook, codebook = "..." in the plan', "schema = list(...)"
)


class Facts:
    """Facts of a column as somebody declares them: arguments of a column, or keys of a codebook.

    Parameters
    ----------
    **facts : object
        Each with its value, ``...`` where it is for the reader to know.

    Examples
    --------
    >>> facts = Facts(may_be_missing=False, fallback=...)
    >>> str(facts), facts.said("r")
    ('may_be_missing=False, fallback=...', 'may_be_missing = FALSE, fallback = ...')
    >>> facts.said("shell")
    'may_be_missing = false, fallback = ... in the codebook'
    """

    __slots__ = ("_facts",)

    def __init__(self, **facts: object) -> None:
        self._facts = facts

    def __str__(self) -> str:
        return self.said("python")

    def said(self, dialect: Dialect) -> str:
        """Write them as one kind of reader types them."""
        if dialect == "python":
            return ", ".join(f"{name}={_python(value)}" for name, value in self._facts.items())
        form = _r if dialect == "r" else _toml
        listed = ", ".join(f"{name} = {form(value)}" for name, value in self._facts.items())
        return listed if dialect == "r" else f"{listed} in the codebook"


class Setting:
    """A setting of the synthesis with a value to give it: an argument, an option or a key of the plan file.

    Parameters
    ----------
    name : str
        Name of the setting, the same everywhere.
    value : object
        Plain values: texts, numbers, True, None, and lists, tuples and mappings of them; ``...`` for what the
        reader has to fill in.

    Examples
    --------
    >>> bounds = Setting("bounds", {"age": (0, None)})
    >>> bounds.said("python"), bounds.said("r")
    ("bounds={'age': (0, None)}", 'bounds = list(age = c(0, NA))')
    >>> bounds.said("shell")
    'bounds = { age = [0, inf] } in the plan'
    >>> Setting("missing", {"wage": {-8: "refused"}}).said("r")
    'missing = list(wage = c(refused = -8))'
    """

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: object) -> None:
        self.name, self.value = name, value

    def __str__(self) -> str:
        return self.said("python")

    def said(self, dialect: Dialect) -> str:
        """Write it as one kind of reader types it."""
        if dialect == "python":
            return f"{self.name}={_python(self.value)}"
        if dialect == "r":
            return f"{self.name} = {_r(self.value)}"
        if self.name in _OPTIONS:
            return _options(self.name, self.value)
        return f"{self.name} = {_toml(self.value)} in the plan"


def _python(value: object) -> str:
    """Write a value as Python does; an open place as three dots."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_python(key)}: {_python(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_python, value)) + "]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_python, value))}{',' if len(value) == 1 else ''})"
    return "..." if value is ... else repr(value)


class Argument:
    """The name of an argument or a setting, which the reader gives a value.

    Parameters
    ----------
    name : str
        The same everywhere.

    Examples
    --------
    >>> n_org = Argument("n_org")
    >>> n_org.said("python"), n_org.said("r"), Argument("seed").said("shell"), Argument("keep").said("shell")
    ('n_org=', 'n_org =', '--seed', 'keep')
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.said("python")

    def said(self, dialect: Dialect) -> str:
        """Write it as one kind of reader types it."""
        if dialect == "shell":
            return _option(self.name) if self.name in _OPTIONS else self.name
        return f"{self.name}=" if dialect == "python" else f"{self.name} ="


def joined(texts: Sequence[str], between: str = ", ") -> Words:
    """Join sentences, or pieces of one, each of which keeps its dialects.

    Examples
    --------
    >>> joined([Words("{drop}", drop=Setting("drop", ["id"])), "or leave it"], " ").said("r")
    'drop = "id" or leave it'
    """
    parts = {f"part{at}": text for at, text in enumerate(texts)}
    return Words("{between}".join(f"{{{name}}}" for name in parts), between=between, **parts)


def _option(name: str) -> str:
    """Write the name of an option of the command line."""
    return f"--{name.replace('_', '-')}"


def _options(name: str, value: object) -> str:
    """Write an option of the command line, once for each of several values."""
    if value is True:
        return _option(name)
    values = value if isinstance(value, list | tuple) else [value]
    return " ".join(f"{_option(name)} {'...' if item is ... else _shell_word(str(item))}" for item in values)


def _shell_word(text: str) -> str:
    """Quote a word where a shell asks for it."""
    return text if re.fullmatch(r"[\w.,:/@%+-]+", text) else "'" + text.replace("'", "'\\''") + "'"


def _toml(value: object) -> str:
    """Write a value as a plan file holds it."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml_key(key)} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        ends = ["-inf" if item is None and not at else _toml(item) for at, item in enumerate(value)]
        return f"[{', '.join(ends)}]"
    if value is None:
        return "inf"
    return ("true" if value else "false") if isinstance(value, bool) else _quoted(value)


def _toml_key(key: object) -> str:
    """Write a key, in quotes where TOML asks for them."""
    if key is ...:
        return "..."
    return str(key) if _TOML_KEY.match(str(key)) else json.dumps(str(key), ensure_ascii=False)


def _quoted(value: object) -> str:
    """Write a text in double quotes, anything else as it is."""
    if value is ...:
        return "..."
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)


def _r(value: object, *, inside: bool = False) -> str:
    """Write a value as R does; a mapping is a list, and one of codes with labels a vector with names."""
    if isinstance(value, Mapping) and inside:
        return f"c({', '.join(f'{_r_name(label)} = {_quoted(code)}' for code, label in value.items())})"
    if isinstance(value, Mapping):
        items = (f"{_r_name(key)} = {_r(item, inside=True)}" for key, item in value.items())
        return f"list({', '.join(items)})"
    if isinstance(value, list | tuple):
        written = ["NA" if item is None else _r(item, inside=True) for item in value]
        if not written:
            return "character()"  # c() is NULL, and a list drops it
        return written[0] if len(written) == 1 and value[0] is not ... else f"c({', '.join(written)})"
    if value is None:
        return "NULL"
    return ("TRUE" if value else "FALSE") if isinstance(value, bool) else _quoted(value)


def _r_name(key: object) -> str:
    """Write a name, in backticks where R asks for them."""
    return str(key) if _R_NAME.match(str(key)) else f"`{key}`"


def r_column(name: str) -> str:
    """Write a column of the data as R does.

    Examples
    --------
    >>> r_column("age"), r_column("my age")
    ('data$age', 'data[["my age"]]')
    """
    return f"data${name}" if _R_NAME.match(name) else f"data[[{_quoted(name)}]]"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Find the known name that somebody may have meant; capitals do not count.

    Examples
    --------
    >>> nearest("bound", ["bounds", "method"]), nearest("xyz", ["bounds"])
    ('bounds', None)
    """
    names = {other.lower(): other for other in known}
    close = get_close_matches(name.lower(), names, n=1)
    return names[close[0]] if close else None


def meant(name: str, known: Iterable[str], otherwise: str) -> str:
    """Ask whether the nearest known name was meant; say something else where none is near.

    Examples
    --------
    >>> meant("bound", ["bounds"], "see the help"), meant("xyz", ["bounds"], "see the help")
    ("did you mean 'bounds'?", 'see the help')
    """
    near = nearest(name, known)
    return otherwise if near is None else f"did you mean {near!r}?"
