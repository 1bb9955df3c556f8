"""Every exception and warning of the package.

All derive from :class:`PysynthdpError`. A message names the column and the rule and says how to mend it;
it never quotes a value of a confidential record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from pysynthdp.base.words import Dialect, Words, one_line, said

__all__ = [
    "BridgeError",
    "BudgetExceeded",
    "CombiningRuleError",
    "FitError",
    "PlanError",
    "PrivacyError",
    "PysynthdpError",
    "PysynthdpWarning",
    "ReleaseError",
    "SchemaError",
    "SettingError",
    "together",
]


class Told(Exception):  # noqa: N818 -- what an error and a warning share
    """What, where and the way out, in pieces; read by a door that words it for its own people."""

    def __init__(
        self,
        what: str = "",
        *,
        column: str | None = None,
        kind: str | None = None,
        remedy: str | None = None,
        faults: Sequence[Self] = (),
    ) -> None:
        super().__init__(str(_whole(what, remedy)))
        self.what, self.column, self.kind, self.remedy = what, column, kind, remedy
        self._faults = tuple(faults)

    @property
    def faults(self) -> tuple[Self, ...]:
        """Give each of several things that it tells; itself, if it is one."""
        return self._faults or (self,)

    def said(self, dialect: Dialect) -> str:
        """Word it for somebody who writes Python, types commands, or writes R.

        Parameters
        ----------
        dialect : {"python", "shell", "r"}
            Who reads.

        Returns
        -------
        str
            What and the remedy, with settings as this reader types them.
        """
        return said(_whole(self.what, self.remedy), dialect)


def _whole(what: str, remedy: str | None) -> str:
    """Put what and the remedy into one sentence."""
    if remedy:
        return Words("{what}; {remedy}", what=what, remedy=remedy)
    return what if isinstance(what, Words) else one_line(what)


class PysynthdpError(Told):
    """Base of every error that the package raises on purpose.

    Parameters
    ----------
    what : str
        What is wrong; it names the column. The remedy may stand in it, or apart.
    column : str, optional
        The column that it is about.
    kind : str, optional
        What it is about, in one or two words that never change: ``"identifier"``.
    remedy : str, optional
        What to type; joined to the message by a semicolon.
    faults : sequence of PysynthdpError
        Where several things are wrong at once: each of them.

    Attributes
    ----------
    what, column, kind, remedy
        The same.
    faults : tuple of PysynthdpError
        All that is wrong; the error itself if it is one thing.

    Examples
    --------
    >>> error = SchemaError("age is infinite", column="age", remedy="make it missing")
    >>> print(error)
    age is infinite; make it missing
    """


class SchemaError(PysynthdpError, ValueError):
    """The data, or a statement about the data, do not fit the schema."""


class PlanError(PysynthdpError, ValueError):
    """A synthesis plan asks for something that cannot be done."""


class SettingError(PlanError, TypeError):
    """A call names a setting that is not there, or lacks one; also a TypeError, as Python itself raises."""


class PrivacyError(PysynthdpError, ValueError):
    """A privacy guarantee cannot be given, or a parameter lies outside its domain of validity."""


class BudgetExceeded(PrivacyError):  # noqa: N818 -- the word by which agencies know it
    """A release would cost more than is left of its source's limit; nothing was read, reserved or drawn."""


class FitError(PysynthdpError, RuntimeError):
    """A column model cannot be fitted to the rows that it was given."""


class CombiningRuleError(PysynthdpError, ValueError):
    """A combining rule is not valid for these copies; the message names one that is."""


class ReleaseError(PysynthdpError, ValueError):
    """A release cannot be written or read."""


class BridgeError(PysynthdpError, RuntimeError):
    """A value cannot cross between R and Python, or R cannot be reached."""


class PysynthdpWarning(Told, UserWarning):
    """Something that the user should know and can mend.

    Parameters
    ----------
    what : str
        What; it names the column.
    column, kind, remedy : str, optional
        As of :class:`PysynthdpError`.
    faults : sequence of PysynthdpWarning
        Where it is said of many columns at once: of each of them.
    """


def together(faults: Sequence[PysynthdpError]) -> PysynthdpError:
    """Make one error of several faults, of the first one's class, so that a person mends them all in one go.

    Examples
    --------
    >>> print(together([SchemaError("age is empty"), SchemaError("sex is empty")]))
    2 faults:
    - age is empty
    - sex is empty
    """
    if len(faults) == 1:
        return faults[0]
    parts = {f"fault{at}": _whole(fault.what, fault.remedy) for at, fault in enumerate(faults)}
    listed = "\n".join(f"- {{{name}}}" for name in parts)
    return type(faults[0])(Words(f"{len(faults)} faults:\n{listed}", **parts), kind="several", faults=faults)
