"""Options of the command line that say which account of an agency's ledger pays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError
from pysynthdp.cli.reading import gathered

if TYPE_CHECKING:
    from pysynthdp.privacy.guarantee import Guarantee
    from pysynthdp.privacy.unit import PrivacyUnit

__all__ = ["charged_to", "check_charge", "with_ledger"]

_OVERRIDING: Final = ("override", "second", "reason")
_OPTIONS: dict[str, Any] = {
    "ledger": Annotated[
        str | None,
        typer.Option(
            help="Ledger that pays: a file, or env:NAME with the URL of PostgreSQL.", show_default=False
        ),
    ],
    "source": Annotated[
        str | None, typer.Option(help="Whose account there: the id of the people.", show_default=False)
    ],
    "override": Annotated[
        str | None, typer.Option(help="Who lets it go beyond the limit.", show_default=False)
    ],
    "second": Annotated[str | None, typer.Option(help="The other one who does.", show_default=False)],
    "reason": Annotated[str | None, typer.Option(help="Why, in one line.", show_default=False)],
}


def with_ledger(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a ledger; it gets them together, as ``charge``."""
    return gathered("charge", _OPTIONS)(function)


def charged_to(charge: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """Give the ledger, which is told the file, and the source that the options name; empty without them.

    Raises
    ------
    PlanError
        If an override lacks a name or a reason, or there is no ledger to override.
    """
    given = [name for name in _OVERRIDING if charge[name] is not None]
    if given and (charge["ledger"] is None or len(given) < len(_OVERRIDING)):
        raise PlanError(
            "--override, --second and --reason go together, with --ledger and --source", kind="command"
        )
    if charge["ledger"] is None:
        return {} if charge["source"] is None else {"source": charge["source"]}
    leave = None
    if given:
        leave = sdp.Override(charge["override"], second=charge["second"], reason=charge["reason"])
    return {
        "ledger": sdp.SpendingLedger(charge["ledger"], override=leave, file=file),
        "source": charge["source"],
    }


def check_charge(paying: Mapping[str, Any], unit: PrivacyUnit, price: Guarantee | None) -> None:
    """Refuse what could not be paid, as far as its price is known, before the table is opened.

    Raises
    ------
    BudgetExceeded
        If it costs more than is left.
    PrivacyError
        If the ledger has no such source.
    """
    if "ledger" in paying and paying["source"] is not None:
        paying["ledger"].attempt(paying["source"], unit, job="").check(price)
