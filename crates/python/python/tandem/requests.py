"""Requests as arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._errors import BadInput
from ._tables import Table

#: The operations by their numbers.
OPS = ("R", "W", "T", "F")

#: How long a write's data may be expected to live, by the numbers of Linux's write hints; the first two: the host does not
#: know.
LIFETIMES = ("", "none", "short", "medium", "long", "extreme")


@dataclass(frozen=True, eq=False)
class Requests(Table):
    """Requests of a host, one after the other, in arrays of equal length."""

    #: When each arrives, in nanoseconds.
    time_ns: NDArray[np.uint64]
    #: 0 for a read, 1 for a write, 2 for a trim, 3 for a flush.
    op: NDArray[np.uint8]
    #: The first byte of each.
    offset: NDArray[np.uint64]
    #: How many bytes each has.
    length: NDArray[np.uint64]
    #: How long the host expects a write's data to live: a place in LIFETIMES, which is Linux's number.
    lifetime: NDArray[np.uint8]
    #: Their name in results.
    name: str = ""
    #: Whether their times are known; if not, they are all 0.
    has_times: bool = True

    def __len__(self) -> int:
        return len(self.time_ns)

    @classmethod
    def of(cls, given: Any) -> Requests:
        """From a table: a dictionary of arrays, a structured array, a DataFrame, or a table of Arrow.

        Its columns are `op`, `offset` and `length`, and `time_ns` or `time_us` if times matter. An operation is a letter (R,
        W, T, F), a word that begins with it, or its number. A column `lifetime` may say how long each write's data is
        expected to live: a word of LIFETIMES, or its place there.
        """
        if isinstance(given, Requests):
            return given
        columns = _columns(given)
        missing = [name for name in ("op", "offset", "length") if name not in columns]
        if missing:
            there = ", ".join(map(str, columns)) or "none"
            raise BadInput(f"a table of requests has the columns op, offset and length; this one has {there}")
        offset = _whole(columns["offset"], "offset")
        timed = [name for name in ("time_ns", "time_us") if name in columns]
        if len(timed) > 1:
            raise BadInput("a table of requests has times in time_ns or in time_us; this one has both")
        if "time_ns" in columns:
            times = _whole(columns["time_ns"], "time_ns")
        elif "time_us" in columns:
            micros = np.asarray(columns["time_us"])
            exact = np.issubdtype(micros.dtype, np.integer)
            times = _whole(micros, "time_us") * np.uint64(1000) if exact else _whole(np.rint(micros * 1000), "time_us")
        else:
            times = np.zeros(len(offset), np.uint64)
        lifetimes = np.zeros(len(offset), np.uint8)
        if "lifetime" in columns:
            lifetimes = _lifetimes(columns["lifetime"])
        length = _whole(columns["length"], "length")
        return cls(times, _ops(columns["op"]), offset, length, lifetimes, has_times=bool(timed))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes them in the program's own format, in whole microseconds; a name in .gz or .zst is compressed."""
        _native.save(path, self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The arrays by their names."""
        places = {"time_ns": self.time_ns, "op": self.op, "offset": self.offset, "length": self.length}
        return {**places, "lifetime": self.lifetime}

    def _columns(self) -> dict[str, Any]:
        return self.to_dict()


def _columns(given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, np.ndarray) and given.dtype.names:
        return {name: given[name] for name in given.dtype.names}
    # A table of Arrow, and whatever can be one, such as a DataFrame of polars.
    if hasattr(given, "column_names") and hasattr(given, "column"):
        return {name: _of_arrow(name, given.column(name)) for name in given.column_names}
    if hasattr(given, "schema") and hasattr(given, "column"):
        return {name: _of_arrow(name, given.column(name)) for name in given.schema.names}
    if hasattr(given, "columns") and hasattr(given, "to_numpy"):
        return {str(name): given[name].to_numpy() for name in given.columns}
    if hasattr(given, "__arrow_c_stream__"):
        import pyarrow

        return _columns(pyarrow.table(given))
    if isinstance(given, np.ndarray):
        raise BadInput("a trace in one array is a structured array, with the fields op, offset and length: give one")
    raise BadInput(
        f"a trace is a file's name, a synthetic workload, or requests in arrays; this is of type {type(given).__name__}"
    )


def _of_arrow(name: str, column: Any) -> NDArray[Any]:
    if column.null_count and name != "lifetime":
        raise BadInput("a column of the trace has missing values")
    # What Arrow has in one piece can be seen as it is; what is in chunks is put together.
    numbers: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return numbers


def _whole(values: Any, name: str) -> NDArray[np.uint64]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise BadInput(f"{name}: give an array of one dimension")
    if array.dtype == np.uint64:
        return np.ascontiguousarray(array)
    kind = array.dtype.kind
    if kind not in "iuf" or (kind == "f" and not np.all(np.isfinite(array) & (array == np.floor(array)))):
        raise BadInput(f"{name}: give whole numbers, not {array.dtype}")
    if len(array) and array.min() < 0:
        at = int(np.argmax(array < 0))
        raise BadInput(f"{name}: request {at + 1} has {array[at]}, which is less than 0")
    if kind == "f" and len(array) and array.max() >= 2.0**64:
        at = int(np.argmax(array >= 2.0**64))
        raise BadInput(f"{name}: request {at + 1} has {array[at]}, which is more than 64 bits hold")
    return np.ascontiguousarray(array, dtype=np.uint64)


def _ops(values: Any) -> NDArray[np.uint8]:
    told = "an operation is 0 for R, 1 for W, 2 for T or 3 for F"
    return _numbered(values, OPS, lambda word: word[:1].upper(), "op", told)


def _lifetimes(values: Any) -> NDArray[np.uint8]:
    # A recording leaves the field empty where the client did not know: libraries of tables read that as missing.
    array = np.asarray(values)
    if array.dtype.kind == "f":
        missing = np.isnan(array)
        values = np.where(missing, 0, array).astype(np.int64)
    elif array.dtype.kind == "O":
        values = ["" if value is None or value != value else str(value) for value in array]
    told = "a lifetime is short (2), medium (3), long (4), extreme (5), or unknown (0, 1, none, or an empty word)"
    return _numbered(values, LIFETIMES, str.lower, "lifetime", told)


def _numbered(
    values: Any, words: tuple[str, ...], known: Callable[[str], str], name: str, told: str
) -> NDArray[np.uint8]:
    """The places of words in a list, or these places as they are."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise BadInput(f"{name}: give an array of one dimension")
    if array.dtype.kind in "iu":
        if len(array) and not (0 <= array.min() and array.max() < len(words)):
            raise BadInput(f"{name}: {told}")
        return np.ascontiguousarray(array, dtype=np.uint8)
    # Few words, however long the trace.
    there, which = np.unique(array.astype(str), return_inverse=True)
    numbers = np.empty(len(there), np.uint8)
    for at, word in enumerate(there):
        if known(word) not in words:
            raise BadInput(f"{name}: `{word}` is not known: {told}")
        numbers[at] = words.index(known(word))
    return numbers[which.reshape(-1)]
