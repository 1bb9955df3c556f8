"""One dispatcher for every carrier: the bytes of a request in, the bytes of a reply out; it never raises.

A request is R's ``list(protocol =, verb =, args =, debug =)``. A reply is ``list(ok =, value =, warnings =)``
or ``list(ok = FALSE, class =, message =, column =, kind =, remedy =, faults =, trace =, warnings =)``; R
raises it as a condition of these classes with these fields. Everything is worded for R here.
"""

from __future__ import annotations

import re
import traceback
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from pysynthdp.base.errors import BridgeError, PysynthdpError, PysynthdpWarning
from pysynthdp.base.words import said
from pysynthdp.bridge.codec import (
    DEFAULT_MAX_BYTES,
    RValue,
    RVector,
    character,
    dumps,
    loads,
    named_list,
)
from pysynthdp.bridge.plain import plain_from_r, plain_to_r

__all__ = ["PROTOCOL", "handle"]

PROTOCOL: Final = 2
"""Changes when the R package and this module no longer understand each other."""
_GROWTH: Final = 16  # a decoded table takes at most so many times its bytes
_AS_THEY_ARE: Final = (
    "x",
    "data",
    "earlier",
)  # arguments of these names stay R values: settings say how they are read
_FIELDS: Final = ("column", "kind", "remedy")
_TOO_LONG: Final = (
    "the copies are larger than 2^31 - 1 bytes, which this transport cannot carry; start R anew with "
    'options(pysynthdp.transport = "worker"), or draw fewer rows or fewer copies'
)
_VERBS: Final[Mapping[str, tuple[str, str]]] = {  # loaded when asked for: starting a worker loads no model
    "ping": ("about", "ping"),
    "echo": ("about", "echo"),
    "synthesise": ("synthesis", "synthesise"),
    "plan": ("synthesis", "plan"),
    "look": ("synthesis", "look"),
    "check": ("synthesis", "check"),
    "broken_rules": ("synthesis", "broken_rules"),
    "rules_of_copies": ("objects", "rules_of_copies"),
    "pool": ("pooling", "pool_fits"),
    "compare": ("pooling", "compare"),
    "disclosure_risk": ("risk", "disclosure_risk"),
    "report": ("reporting", "report"),
    "evaluate": ("evaluation", "evaluate"),
    "from_synds": ("objects", "from_synds"),
    "accept_sdc": ("objects", "accept_sdc"),
    "write_release": ("objects", "write_release"),
    "read_release": ("objects", "read_release"),
    "read_survey": ("objects", "read_survey"),
    "verify_release": ("objects", "verify_release"),
}


def handle(request: bytes, *, largest: int | None = None) -> bytes:
    """Answer one request.

    Parameters
    ----------
    request : bytes
        R's ``serialize(list(protocol =, verb =, args =), NULL)``.
    largest : int, optional
        Bytes that the carrier can take back; a longer reply becomes an error that says so.

    Returns
    -------
    bytes
        For R's ``unserialize()``; an error is a reply too.

    Notes
    -----
    Privacy: nothing in a request is run. The message of an error that is not ours may quote data, and is sent
    only when the request asks for it (``debug``).

    Examples
    --------
    >>> loads(handle(dumps(named_list({"verb": character(["ping"])})))).names
    ('ok', 'class', 'message', 'column', 'kind', 'remedy', 'faults', 'trace', 'warnings')
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reply = _reply(request)
    answer = _written(reply, caught)
    if largest is not None and len(answer) > largest:
        answer = _written(_failure(BridgeError(), _TOO_LONG), caught)
    return answer


def _written(reply: dict[str, RValue], caught: list[warnings.WarningMessage]) -> bytes:
    """Write a reply with the warnings of the package that were heard."""
    heard = [_told(one.message) for one in caught if isinstance(one.message, PysynthdpWarning)]
    return dumps(named_list({**reply, "warnings": plain_to_r(heard)}))


def _reply(request: bytes) -> dict[str, RValue]:
    """Call the verb; say what came of it."""
    debug = False
    try:
        asked = _read(request)
        debug = asked.get("debug") is not None and bool(plain_from_r(asked["debug"]))
        return {"ok": plain_to_r(True), "value": plain_to_r(_call(asked))}
    except PysynthdpError as error:
        return _failure(error, error.said("r"))
    except MemoryError as error:
        return _failure(error, "there is not enough memory for this; draw fewer rows or fewer copies")
    except Exception as error:  # noqa: BLE001 -- whatever it is, R must hear of it
        kind = type(error).__name__
        text = (
            f"{kind}: {error}" if debug else f"unexpected {kind}; options(pysynthdp.debug = TRUE) shows more"
        )
        return _failure(error, text)


def _read(request: bytes) -> dict[str, RValue]:
    """Read a request, after checking that both sides speak alike."""
    # R itself wrote the request, so the user's own table sets how much memory it may take
    asked = loads(request, max_bytes=max(DEFAULT_MAX_BYTES, _GROWTH * len(request)))
    if not isinstance(asked, RVector) or asked.kind != "list" or "verb" not in asked.names:
        raise BridgeError("this is no request of the R package pysynthdp", kind="request")
    fields = {str(name): item for name, item in zip(asked.names, asked.items, strict=True)}
    if plain_from_r(fields.get("protocol")) != PROTOCOL:
        raise BridgeError(
            "the R package and the engine are of different versions; install the R package again: "
            "<python> -m pysynthdp.bridge install-r",
            kind="request",
        )
    return fields


def _call(asked: Mapping[str, RValue]) -> Any:
    """Call a verb with its arguments."""
    verb = plain_from_r(asked["verb"])
    sent = asked.get("args")
    items = sent.items if isinstance(sent, RVector) and sent.kind == "list" else ()
    names = sent.names if isinstance(sent, RVector) else ()
    pairs = [(str(name), item) for name, item in zip(names, items, strict=True)]
    if verb not in _VERBS:
        raise BridgeError(
            "the engine does not know what was asked; install the R package that it carries", kind="request"
        )
    module, function = _VERBS[verb]
    answer = getattr(import_module(f"pysynthdp.bridge.verbs.{module}"), function)
    given = {name: item if name in _AS_THEY_ARE else plain_from_r(item, name) for name, item in pairs}
    return answer(**given)


def _failure(error: BaseException, message: str) -> dict[str, RValue]:
    """Say what went wrong, by class and text; the trace shows places in the code, never values."""
    told = _told(error) if isinstance(error, PysynthdpError) else dict.fromkeys(_FIELDS)
    several = error.faults if isinstance(error, PysynthdpError) and len(error.faults) > 1 else ()
    return {
        "ok": plain_to_r(False),
        "class": character(_classes(error)),
        "message": character([message]),
        **{name: plain_to_r(told[name]) for name in _FIELDS},
        "faults": plain_to_r([_told(fault) for fault in several] or None),
        "trace": character([line.rstrip() for line in traceback.format_tb(error.__traceback__)]),
    }


def _told(one: PysynthdpError | PysynthdpWarning) -> dict[str, str | None]:
    """Give what R shows of an error or a warning, and its fields."""
    remedy = None if one.remedy is None else said(one.remedy, "r")
    return {"message": one.said("r"), "column": one.column, "kind": one.kind, "remedy": remedy}


def _classes(error: BaseException) -> list[str]:
    """Give R's condition classes of an error, the most special first."""
    if not isinstance(error, PysynthdpError):
        return ["pysynthdp_internal_error", "pysynthdp_error"]
    kinds = [kind for kind in type(error).__mro__ if issubclass(kind, PysynthdpError)]
    names = [re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower() for kind in kinds[:-1]]
    return [*(f"pysynthdp_{name}" for name in names), "pysynthdp_error"]
