"""Numbers of R's serialize format: type codes, flag bits and encoding marks.

All of them are for the codec.
Source: "R Internals", sections 1.1 (SEXPTYPEs) and 1.8 (Serialization Formats).
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import numpy as np

Kind: TypeAlias = Literal["logical", "integer", "double", "complex", "character", "list", "expression", "raw"]

# Types that are stored as a header, a length and elements.
CODE_OF_KIND: Final[dict[Kind, int]] = {
    "logical": 10,
    "integer": 13,
    "double": 14,
    "complex": 15,
    "character": 16,
    "list": 19,
    "expression": 20,
    "raw": 24,
}
KIND_OF_CODE: Final[dict[int, Kind]] = {code: kind for kind, code in CODE_OF_KIND.items()}
ELEMENT: Final[dict[Kind, np.dtype[np.generic]]] = {
    "logical": np.dtype(np.int32),
    "integer": np.dtype(np.int32),
    "double": np.dtype(np.float64),
    "complex": np.dtype(np.complex128),
    "raw": np.dtype(np.uint8),
}

SYMBOL, PAIRLIST, CLOSURE, ENVIRONMENT, PROMISE, LANGUAGE = 1, 2, 3, 4, 5, 6
SPECIAL, BUILTIN, TEXT, DOTS, BYTECODE = 7, 8, 9, 17, 21
POINTER, WEAK_REFERENCE, S4 = 22, 23, 25

ALTREP, ATTRIBUTED_PAIRLIST, ATTRIBUTED_LANGUAGE = 238, 239, 240
BASE_ENVIRONMENT, EMPTY_ENVIRONMENT = 241, 242
CODE_REFERENCE, CODE_DEFINITION = 243, 244
PERSISTENT, PACKAGE, NAMESPACE, BASE_NAMESPACE = 247, 248, 249, 250
MISSING_ARGUMENT, UNBOUND, GLOBAL_ENVIRONMENT, NIL, REFERENCE = 251, 252, 253, 254, 255

# Single objects of every R session that have a code instead of contents.
SINGLETON: Final[dict[int, str]] = {
    BASE_ENVIRONMENT: "base environment",
    EMPTY_ENVIRONMENT: "empty environment",
    BASE_NAMESPACE: "base namespace",
    MISSING_ARGUMENT: "missing argument",
    UNBOUND: "unbound value",
    GLOBAL_ENVIRONMENT: "global environment",
}

# The flags word: type in the low byte, three bits, and from bit 12 on the "general purpose" bits.
IS_OBJECT, HAS_ATTRIBUTES, HAS_TAG = 0x100, 0x200, 0x400
S4_BIT = 1 << (12 + 4)

# Marks of a text, as they stand in its flags word.
MARK_BYTES, MARK_LATIN1, MARK_UTF8, MARK_ASCII = 2 << 12, 4 << 12, 8 << 12, 64 << 12
MARKS: Final = MARK_BYTES | MARK_LATIN1 | MARK_UTF8 | MARK_ASCII

MAX_TEXT: Final = 2**31 - 1  # bytes in one text
MAX_INT: Final = 2**31 - 1
MAX_PACKED: Final = MAX_INT >> 8  # the largest reference that fits beside its type
