"""R inside this Python, by rpy2: for notebooks (``%load_ext pysynthdp.bridge.rpy2``) and calls from Python.

The only file that needs rpy2, which is loaded when something here is first called. rpy2 is under the GPL and
no part of this package; nothing else here imports it.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.codec import RValue, RVector, dumps, loads
from pysynthdp.bridge.codec.wire import MAX_INT
from pysynthdp.bridge.conditions import RError, RWarning, exception_of
from pysynthdp.bridge.dispatch import handle
from pysynthdp.bridge.facts import FrameFacts, RFrame
from pysynthdp.bridge.frames import frame_from_r, frame_to_r, warn_of_whole_columns
from pysynthdp.bridge.magic import watched
from pysynthdp.bridge.plain import plain_from_r, plain_to_r
from pysynthdp.bridge.r_programs import run_r
from pysynthdp.bridge.releases import release_from_r, release_to_r
from pysynthdp.release import SyntheticRelease
from pysynthdp.schema import Schema

__all__ = ["RError", "RWarning", "attach", "evaluate", "from_r", "load", "load_ipython_extension", "to_r"]

_kept: list[Any] = []  # R calls back into this function, so Python must not collect it
_EVALUATE: Final = """
function(code) {
  heard <- list()
  tryCatch(
    list(ok = TRUE, value = withCallingHandlers(
      eval(parse(text = code), globalenv()),
      warning = function(w) {
        heard[[length(heard) + 1L]] <<- list(conditionMessage(w), class(w))
        invokeRestart("muffleWarning")
      }
    ), heard = heard),
    error = function(e) list(ok = FALSE, text = conditionMessage(e), class = class(e), heard = heard)
  )
}
"""
_FIRST_WITH_GETVAR: Final = (4, 5)
_LAST_FOR_OLDER_R: Final = "3.6.5"
_facts: dict[int, tuple[weakref.ref[pd.DataFrame], FrameFacts]] = {}


@dataclass(frozen=True, repr=False)
class ReleaseFromR(SyntheticRelease):
    """A release that a cell of R gave to Python.

    rpy2 tries to write a name onto what it converts, and takes AttributeError for "no"; a frozen dataclass
    with slots answers TypeError.
    """


def load() -> Any:
    """Load rpy2 and start R in this process.

    Returns
    -------
    module
        ``rpy2.rinterface``.

    Raises
    ------
    BridgeError
        If rpy2 cannot be loaded, whatever the reason; the message says what to install.

    Notes
    -----
    Privacy: reads no data.
    """
    try:
        with _own_library_path():
            interface = import_module("rpy2.rinterface")
            interface.initr()
            import_module("rpy2.robjects")
    except Exception as error:
        raise BridgeError(_why_not(error), kind="installation") from error
    return interface


@contextmanager
def _own_library_path() -> Iterator[None]:
    """Undo what R puts onto LD_LIBRARY_PATH: a child Python would load a libpython that is not its own."""
    before = os.environ.get("LD_LIBRARY_PATH")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("LD_LIBRARY_PATH", None)
        else:
            os.environ["LD_LIBRARY_PATH"] = before


def to_r(value: Any) -> Any:
    """Give the R object of a release, a data frame or plain values, for use with rpy2.

    Parameters
    ----------
    value : SyntheticRelease, DataFrame, RFrame, RValue or plain value
        What to send. A frame that :func:`from_r` gave goes back exactly as it came.

    Returns
    -------
    rpy2.rinterface.Sexp
        The R object.

    Raises
    ------
    BridgeError
        If R has no value for it, or rpy2 cannot be loaded.

    Notes
    -----
    Privacy: every value is passed on to the R in this process.
    """
    interface = load()
    stream = np.frombuffer(dumps(_value_of(value)), dtype=np.uint8)
    return interface.baseenv["unserialize"](interface.ByteSexpVector(stream))


def _value_of(value: Any) -> RValue:
    """Give the R value that is sent."""
    if isinstance(value, SyntheticRelease):
        return release_to_r(value)
    if isinstance(value, pd.DataFrame):
        return frame_to_r(value, _remembered(value))
    return plain_to_r(value)


def from_r(value: Any, *, schema: Schema | None = None) -> Any:
    """Give what an R object means in Python.

    Parameters
    ----------
    value : rpy2 object
        From ``rpy2.robjects`` or ``rpy2.rinterface``.
    schema : Schema, optional
        Declared columns of a data frame, for a formal guarantee: each cell is then read alone.

    Returns
    -------
    object
        A SyntheticRelease for an object of class ``synthetic`` or ``synds``, a DataFrame for a data frame,
        else plain values as :mod:`pysynthdp.bridge.plain` says.

    Raises
    ------
    BridgeError
        If it means nothing outside R.

    Warns
    -----
    PysynthdpWarning
        If a cell keeps a whole column of dates or times from being one in pandas; never with a schema.

    Notes
    -----
    Privacy: passes on what it is given.
    """
    interface = load()
    stream = interface.baseenv["serialize"](value, interface.NULL, xdr=False, version=2)
    return _meaning(loads(np.asarray(stream, dtype=np.uint8).data), schema)


def _meaning(value: RValue, schema: Schema | None = None) -> Any:
    """Give a release, a frame or plain values."""
    classes = value.classes if isinstance(value, RVector) else ()
    if "synds" in classes:
        return release_from_r(value)
    if "data.frame" in classes:
        made = frame_from_r(value, schema=schema)
        if schema is not None:
            return made.frame
        warn_of_whole_columns(made)
        return _remember(made)
    return plain_from_r(value, "the R object")


def attach() -> None:
    """Attach the R package in the R of this process; its requests are then answered by this very Python.

    Raises
    ------
    BridgeError
        If rpy2 cannot be loaded, or the R package is not installed; the message has the command.

    Notes
    -----
    Privacy: reads no data.
    """
    interface = load()
    robjects = import_module("rpy2.robjects")
    if not robjects.r('isTRUE(suppressWarnings(requireNamespace("pysynthdp", quietly = TRUE)))')[0]:
        raise BridgeError(
            f"the R package is not installed: {sys.executable} -m pysynthdp.bridge install-r",
            kind="installation",
        )

    @interface.rternalize  # type: ignore[untyped-decorator]  # rpy2 has no types
    def answer(request: Any) -> Any:
        # an exception here would become NULL in R, so the dispatcher turns each into a reply
        reply = handle(np.asarray(request, dtype=np.uint8).tobytes(), largest=MAX_INT)
        return interface.ByteSexpVector(np.frombuffer(reply, dtype=np.uint8))

    _kept[:] = [answer]
    robjects.r("pysynthdp:::set_embedded")(answer)
    robjects.r("suppressPackageStartupMessages(library(pysynthdp))")


def evaluate(code: str) -> Any:
    """Evaluate R code in the R of this process.

    Parameters
    ----------
    code : str
        R code.

    Returns
    -------
    object
        The value of the last expression, as :func:`from_r` gives it.

    Raises
    ------
    RError
        For an error in R, with R's classes; one of this package's own conditions becomes its exception again.

    Warns
    -----
    RWarning
        With the text and the classes of every warning in R.

    Notes
    -----
    Privacy: whatever the code does.
    """
    interface = load()
    function = interface.evalr(_EVALUATE.strip())
    done = function(interface.StrSexpVector([code]))
    names = list(interface.baseenv["names"](done))
    parts = dict(zip(names, done, strict=True))
    for text, classes in parts["heard"]:
        warnings.warn(RWarning(str(text[0]), tuple(map(str, classes))), stacklevel=2)
    if not parts["ok"][0]:
        raise exception_of(str(parts["text"][0]), tuple(str(name) for name in parts["class"]))
    return from_r(parts["value"]) if "value" in parts else None


def load_ipython_extension(shell: Any) -> None:
    """Give a notebook ``%R`` and ``%%R`` with the R package attached and exact frames both ways.

    Parameters
    ----------
    shell : InteractiveShell
        Of IPython, which calls this for ``%load_ext pysynthdp.bridge.rpy2``.

    Raises
    ------
    BridgeError
        If rpy2 cannot be loaded or the R package is not installed.

    Warns
    -----
    RWarning
        Later, with the text and the classes of every warning of a cell; an error of a cell is raised as
        :func:`evaluate` raises it.

    Notes
    -----
    Privacy: reads no data.
    """
    attach()
    shell.run_line_magic("load_ext", "rpy2.ipython")
    magics = shell.magics_manager.registry["RMagics"]
    magics.options.converter = _converter()
    parse = import_module("rpy2.rinterface").parse
    magics.eval = watched(magics.eval, parse, lambda: evaluate("pysynthdp:::heard()"))


def _received(value: Any) -> Any:
    """Give a frame, or a release that can be asked for attributes as rpy2 does."""
    made = from_r(value)
    if not isinstance(made, SyntheticRelease):
        return made
    return ReleaseFromR(
        **{item.name: getattr(made, item.name) for item in fields(SyntheticRelease) if item.init}
    )


def _converter() -> Any:
    """Give rpy2's own conversion, but for frames and releases, which go by the exact codec."""
    interface = load()
    conversion = import_module("rpy2.robjects.conversion")
    template = import_module("rpy2.ipython.rmagic").default.converter
    made = conversion.Converter("pysynthdp", template=template)
    for kind in (pd.DataFrame, SyntheticRelease):
        made.py2rpy.register(kind, to_r)
    old = made._rpy2py_nc_map[interface.ListSexpVector]  # noqa: SLF001 -- rpy2 has no public way by class names
    own = dict.fromkeys(("data.frame", "synthetic", "synds"), _received)
    made._rpy2py_nc_map[interface.ListSexpVector] = conversion.NameClassMap(  # noqa: SLF001 -- the same
        old._default,  # noqa: SLF001 -- the same
        {**old._map, **own},  # noqa: SLF001 -- the same
    )
    return made


def _why_not(error: Exception) -> str:
    """Say what to install.

    Parameters
    ----------
    error : Exception
        What loading rpy2 raised.

    Returns
    -------
    str
        One line with a command.

    Notes
    -----
    Privacy: reads no data.
    """
    wanted = f"pip install 'rpy2-rinterface=={_LAST_FOR_OLDER_R}' rpy2-robjects"
    try:
        found = version("rpy2-rinterface")
    except PackageNotFoundError:
        return f"rpy2 is not installed: {wanted}; for R 4.5 or later without the version"
    try:
        r_version = run_r("cat(as.character(getRversion()))")
    except BridgeError as problem:
        return str(problem)
    if _numbers(r_version) < _FIRST_WITH_GETVAR and _numbers(found) > _numbers(_LAST_FOR_OLDER_R):
        return f"rpy2-rinterface {found} cannot load R {r_version}: {wanted}"
    kind = type(error).__name__
    return (
        f"rpy2-rinterface {found} cannot load R {r_version} ({kind}); {wanted}, or reinstall both for this R"
    )


def _numbers(text: str) -> tuple[int, ...]:
    """Give a version as numbers."""
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def _remember(held: RFrame) -> pd.DataFrame:
    """Give the frame, and remember its facts until it is gone."""
    key = id(held.frame)
    _facts[key] = (weakref.ref(held.frame, lambda _: _facts.pop(key, None)), held.facts)
    return held.frame


def _remembered(frame: pd.DataFrame) -> FrameFacts | None:
    """Give R's facts of a frame that came from R."""
    known = _facts.get(id(frame))
    return known[1] if known is not None and known[0]() is frame else None
