"""How often rows met the rules of a plan when they were first drawn."""

from __future__ import annotations

from threading import Lock

__all__ = ["Tally"]


class Tally:
    """Counts over blocks, whichever thread draws them.

    Notes
    -----
    Privacy: of drawn rows.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.saw("age >= 18", rows=100, broken=8, anew=0)
    >>> tally.met("age >= 18")
    0.92
    """

    __slots__ = ("_counts", "_lock")

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, int, int]] = {}
        self._lock = Lock()

    def saw(self, rule: str, *, rows: int, broken: int, anew: int) -> None:
        """Add the rows of a block, those that broke a rule, and those that were drawn anew as a whole."""
        with self._lock:
            found = self._counts.get(rule, (0, 0, 0))
            self._counts[rule] = (found[0] + rows, found[1] + broken, found[2] + anew)

    def met(self, rule: str) -> float | None:
        """Share of rows that met a rule at once; None where none was drawn."""
        rows, broken, _ = self._counts.get(rule, (0, 0, 0))
        return None if not rows else 1 - broken / rows

    def anew(self, rule: str) -> int:
        """Rows that were drawn anew as a whole, because the last column of a rule could not meet it."""
        return self._counts.get(rule, (0, 0, 0))[2]
