"""Every exception and warning of the package.

All derive from :class:`PysynthdpError`. A message names the column and the rule and says how to mend it;
it never quotes a value of a confidential record.
"""

from __future__ import annotations

__all__ = [
    "BridgeError",
    "CombiningRuleError",
    "FitError",
    "PlanError",
    "PrivacyError",
    "PysynthdpError",
    "PysynthdpWarning",
    "ReleaseError",
    "SchemaError",
]


class PysynthdpError(Exception):
    """Base of every error that the package raises on purpose."""


class SchemaError(PysynthdpError, ValueError):
    """The data, or a statement about the data, do not fit the schema."""


class PlanError(PysynthdpError, ValueError):
    """A synthesis plan asks for something that cannot be done."""


class PrivacyError(PysynthdpError, ValueError):
    """A privacy guarantee cannot be given, or a parameter lies outside its domain of validity."""


class FitError(PysynthdpError, RuntimeError):
    """A column model cannot be fitted to the rows that it was given."""


class CombiningRuleError(PysynthdpError, ValueError):
    """A combining rule is not valid for these copies; the message names one that is."""


class ReleaseError(PysynthdpError, ValueError):
    """A release cannot be written or read."""


class BridgeError(PysynthdpError, RuntimeError):
    """A value cannot cross between R and Python, or R cannot be reached."""


class PysynthdpWarning(UserWarning):
    """Something that the user should know and can mend.

    Parameters
    ----------
    text : str
        What, and the mend.
    column, kind, remedy : str, optional
        The same in pieces, where it is about a column.
    """

    def __init__(
        self, text: str = "", *, column: str | None = None, kind: str | None = None, remedy: str | None = None
    ) -> None:
        super().__init__(text)
        self.column, self.kind, self.remedy = column, kind, remedy
