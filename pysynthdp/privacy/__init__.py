"""Guarantees, accounting and statements: pure arithmetic, and the only room that makes noise.

Every public name is here: ``from pysynthdp.privacy import GDP, gdp_epsilon, compose``. The formulas that
price a draw are :mod:`pysynthdp.privacy.prices`; their names are known here too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pysynthdp.privacy import prices

if TYPE_CHECKING:
    from pysynthdp.privacy.account import Account
    from pysynthdp.privacy.composition import compose, group_privacy, repeat
    from pysynthdp.privacy.conversion.gdp import gdp_delta, gdp_epsilon, gdp_mu
    from pysynthdp.privacy.conversion.orders import ORDERS
    from pysynthdp.privacy.conversion.pure import pure_renyi, pure_zcdp
    from pysynthdp.privacy.conversion.rdp import rdp_delta, rdp_epsilon, rdp_epsilon_mironov
    from pysynthdp.privacy.conversion.textbook import (
        advanced_composition,
        basic_composition,
        subsample,
        subsample_simple,
    )
    from pysynthdp.privacy.conversion.zcdp import zcdp_delta, zcdp_epsilon, zcdp_epsilon_simple
    from pysynthdp.privacy.guarantee import GUARANTEES, Guarantee, guarantee_from_dict, guarantee_to_dict
    from pysynthdp.privacy.guarantees.approx import ApproxDP
    from pysynthdp.privacy.guarantees.gdp import GDP
    from pysynthdp.privacy.guarantees.none import NoGuarantee
    from pysynthdp.privacy.guarantees.pure import PureDP
    from pysynthdp.privacy.guarantees.rdp import RDP
    from pysynthdp.privacy.guarantees.zcdp import ZCDP
    from pysynthdp.privacy.limit import SourceLimit
    from pysynthdp.privacy.mechanism import MECHANISMS, PricedColumn, SamplingMechanism, price_of
    from pysynthdp.privacy.prices import *  # noqa: F403 -- its __all__, which a checker reads
    from pysynthdp.privacy.shared_account import PrivacyAccount
    from pysynthdp.privacy.statements.column import ColumnStatement, Draw
    from pysynthdp.privacy.statements.ledger_mark import LedgerMark
    from pysynthdp.privacy.statements.statement import PrivacyStatement
    from pysynthdp.privacy.statements.verification import Check, Verification
    from pysynthdp.privacy.unit import PrivacyUnit

_WHERE = {
    "account": "Account",
    "composition": "compose group_privacy repeat",
    "conversion.gdp": "gdp_delta gdp_epsilon gdp_mu",
    "conversion.orders": "ORDERS",
    "conversion.pure": "pure_renyi pure_zcdp",
    "conversion.rdp": "rdp_delta rdp_epsilon rdp_epsilon_mironov",
    "conversion.textbook": "advanced_composition basic_composition subsample subsample_simple",
    "conversion.zcdp": "zcdp_delta zcdp_epsilon zcdp_epsilon_simple",
    "guarantee": "GUARANTEES Guarantee guarantee_from_dict guarantee_to_dict",
    "guarantees.approx": "ApproxDP",
    "guarantees.gdp": "GDP",
    "guarantees.none": "NoGuarantee",
    "guarantees.pure": "PureDP",
    "guarantees.rdp": "RDP",
    "guarantees.zcdp": "ZCDP",
    "limit": "SourceLimit",
    "mechanism": "MECHANISMS PricedColumn SamplingMechanism price_of",
    "shared_account": "PrivacyAccount",
    "statements.column": "ColumnStatement Draw",
    "statements.ledger_mark": "LedgerMark",
    "statements.statement": "PrivacyStatement",
    "statements.verification": "Check Verification",
    "unit": "PrivacyUnit",
}
_HOME = {name: module for module, names in _WHERE.items() for name in names.split()}
_HOME |= dict.fromkeys(prices.__all__, "prices")

__all__ = [
    "GDP",
    "GUARANTEES",
    "MECHANISMS",
    "ORDERS",
    "RDP",
    "ZCDP",
    "Account",
    "ApproxDP",
    "Check",
    "ColumnStatement",
    "Draw",
    "Guarantee",
    "LedgerMark",
    "NoGuarantee",
    "PricedColumn",
    "PrivacyAccount",
    "PrivacyStatement",
    "PrivacyUnit",
    "PureDP",
    "SamplingMechanism",
    "SourceLimit",
    "Verification",
    "advanced_composition",
    "basic_composition",
    "compose",
    "gdp_delta",
    "gdp_epsilon",
    "gdp_mu",
    "group_privacy",
    "guarantee_from_dict",
    "guarantee_to_dict",
    "price_of",
    "prices",
    "pure_renyi",
    "pure_zcdp",
    "rdp_delta",
    "rdp_epsilon",
    "rdp_epsilon_mironov",
    "repeat",
    "subsample",
    "subsample_simple",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_epsilon_simple",
]
__all__ += prices.__all__


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        msg = f"module 'pysynthdp.privacy' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"pysynthdp.privacy.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
