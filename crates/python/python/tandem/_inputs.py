"""From what a caller gives as trace, device or system to what the simulator takes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _native
from ._arguments import checked
from ._errors import BadInput
from .requests import Requests
from .system import System

Size = int | str
Trace = Any
DeviceLike = str | os.PathLike[str] | Mapping[str, Any] | _native.Device
SystemLike = str | os.PathLike[str] | Mapping[str, Any] | System | type[System]


def device(
    given: DeviceLike, capacity: Size | None, slc: Size | None, parallel: bool, fill: str
) -> _native.Device:
    """A device by its name, by the path of its file, or by the table that such a file has."""
    if isinstance(given, _native.Device):
        if capacity is not None or slc is not None or parallel or fill != "in-order":
            raise BadInput("a Device has its size already: give capacity, slc, parallel and fill when it is made")
        return given
    if isinstance(given, Mapping):
        given = dict(given)
    arguments = checked(parallel=parallel, fill=fill)
    return _native.Device(given, capacity, slc, **arguments)


def system(given: SystemLike) -> str | System | type[System]:
    """A system by its name, `hybrid?filter=off`; by a table, `{"system": "hybrid", "filter": "off"}`; by a TOML file of
    such a table; or one in Python."""
    if isinstance(given, (str, System)) or (isinstance(given, type) and issubclass(given, System)):
        return given
    if isinstance(given, os.PathLike):
        given = _native.table(given)
    if not isinstance(given, Mapping):
        raise BadInput(f"{given!r} is no system: give a name, a table, a file or a System")
    table = dict(given)
    name = table.pop("system", None)
    if not isinstance(name, str):
        raise BadInput('a table of a system has its name: {"system": "hybrid", …}')
    words = {True: "on", False: "off"}
    values = (f"{key}={words[value] if isinstance(value, bool) else value}" for key, value in table.items())
    parameters = "&".join(values)
    return f"{name}?{parameters}" if parameters else name


def systems(given: SystemLike | Sequence[SystemLike] | None) -> list[str | System | type[System]]:
    """Several systems; a string may name some, separated by commas."""
    if given is None:
        return []
    named: list[str | System | type[System]]
    if isinstance(given, str):
        named = list(filter(None, given.split(",")))
    elif isinstance(given, Sequence):
        named = [system(one) for one in given]
    else:
        named = [system(given)]
    if not named:
        raise BadInput("no system is named: name at least one, or leave out the argument for the usual ones")
    return named


def workload(
    trace: Trace, name: str | None, format: str | None, columns: str | None, lenient: bool, first: int | None
) -> _native.Workload:
    """Files and synthetic workloads by their names, or requests in arrays and tables."""
    reading = checked(format=format, columns=columns, lenient=lenient, first=first)
    called = checked(name=name)["name"]
    names = _names(trace)
    if names is not None:
        return _native.Workload.named(names, reading)
    if format is not None or columns is not None or lenient:
        raise BadInput("format, columns and lenient are of files, and the trace is in arrays")
    requests = Requests.of(trace)
    arrays = {column: values[: reading["first"]] for column, values in requests.to_dict().items()}
    return _native.Workload.arrays(called or requests.name or "arrays", arrays)


def timed(trace: Trace) -> Trace:
    """The trace, whose requests must say when they arrive."""
    if _names(trace) is not None:
        return trace
    requests = Requests.of(trace)
    if not requests.has_times:
        raise BadInput(
            "open_loop: requests are issued when they arrive, and these arrays have no times: add time_ns or time_us"
        )
    return requests


def _names(trace: Trace) -> list[str] | None:
    """The names that a trace consists of, if it does."""
    parts = trace if isinstance(trace, (list, tuple)) else [trace]
    named = [one for one in parts if isinstance(one, (str, os.PathLike))]
    if parts is trace and (not parts or len(named) < len(parts)):
        other = next((f"a {type(one).__name__}" for one in parts if not isinstance(one, (str, os.PathLike))), "nothing")
        raise BadInput(f"a trace in a list is a list of names, and this one has {other}: name files or workloads")
    if not named:
        return None
    names = [os.fspath(one) for one in named]
    if not all(names):
        raise BadInput("the name of the trace is empty: name a file, a folder or a synthetic workload")
    return names


def plan(given: str | os.PathLike[str] | Mapping[str, Any]) -> str | Path | dict[str, Any]:
    """A plan by the path of its file, or as a table: a value that may be a list may be one, too."""
    if isinstance(given, (str, os.PathLike)):
        return Path(given)
    if not isinstance(given, Mapping):
        raise BadInput(f"a plan is a path or a dictionary, not {given!r}")
    table: dict[str, Any] = {}
    for key, value in given.items():
        key = key.replace("_", "-")
        many = key in ("devices", "slc", "systems", "traces", "seeds")
        values = list(value) if isinstance(value, (list, tuple, range, np.ndarray)) else [value]
        if key == "systems":
            values = [_listed(one) for one in values]
        elif key in ("slc", "devices"):
            values = [str(one) if not isinstance(one, os.PathLike) else os.fspath(one) for one in values]
        elif key == "traces":
            values = [_named(one) for one in values]
        elif key == "seeds":
            values = [checked(seed=one)["seed"] for one in values]
        if value is not None:
            table[key] = values if many else str(value) if key in ("capacity", "bytes-a-day") else value
    return table


def _named(given: Any) -> str | list[str]:
    names = _names(given)
    if names is None:
        raise BadInput("a plan names its traces: save requests in arrays first, by tandem.Requests.of(arrays).save('mine.csv.zst')")
    return names if isinstance(given, (list, tuple)) else names[0]


def _listed(given: SystemLike) -> str:
    named = system(given)
    if not isinstance(named, str):
        raise BadInput("a plan names its systems: a System in Python is for replay and compare")
    return named
