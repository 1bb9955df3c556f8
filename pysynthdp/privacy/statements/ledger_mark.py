"""Where a release stands in an agency's ledger, as its statement says it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LedgerMark"]

_SHORT = 16  # digits of a head that tell it apart


@dataclass(frozen=True, slots=True)
class LedgerMark:
    """The entry of a ledger by which a release was reserved.

    Parameters
    ----------
    source : str
        Whose account it is: the id that the agency gave to these people.
    entry : int
        Number of the reservation in that account.
    head : str
        Digest of that entry and all before it: an account that lacks it was changed or restored from an
        older backup.
    overrides : tuple of str
        By whom the limit was overridden until then, in words; empty where nobody did.

    Notes
    -----
    Privacy: a function of public constants and of keyed digests; names no record.

    Examples
    --------
    >>> print(LedgerMark("REG-2026", 3, "ab" * 32))
    source REG-2026, entry 3, head abababababababab
    """

    source: str
    entry: int
    head: str
    overrides: tuple[str, ...] = ()

    def __str__(self) -> str:
        said = "".join(f"; LIMIT OVERRIDDEN {each}" for each in self.overrides)
        return f"source {self.source}, entry {self.entry}, head {self.head[:_SHORT]}{said}"
