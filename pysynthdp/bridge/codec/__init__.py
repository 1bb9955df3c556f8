"""An exact codec of R's serialize format; numpy only, no R needed."""

from __future__ import annotations

from pysynthdp.bridge.codec.files import load_rdata, load_rds, save_rds
from pysynthdp.bridge.codec.reader import DEFAULT_MAX_BYTES, loads
from pysynthdp.bridge.codec.values import (
    NA_INTEGER,
    NA_REAL,
    RS4,
    RCell,
    ROpaque,
    RPairs,
    RSymbol,
    RValue,
    RVector,
    UndecodedText,
    character,
    is_na_real,
    named_list,
)
from pysynthdp.bridge.codec.writer import dumps

__all__ = [
    "DEFAULT_MAX_BYTES",
    "NA_INTEGER",
    "NA_REAL",
    "RS4",
    "RCell",
    "ROpaque",
    "RPairs",
    "RSymbol",
    "RValue",
    "RVector",
    "UndecodedText",
    "character",
    "dumps",
    "is_na_real",
    "load_rdata",
    "load_rds",
    "loads",
    "named_list",
    "save_rds",
]
