"""What was spent from each source of an agency: append-only accounts that no run can overspend."""

from __future__ import annotations

from pysynthdp.io.ledger.attempt import Attempt, Override
from pysynthdp.io.ledger.check import LedgerCheck
from pysynthdp.io.ledger.ledger import SpendingLedger

__all__ = ["Attempt", "LedgerCheck", "Override", "SpendingLedger"]
