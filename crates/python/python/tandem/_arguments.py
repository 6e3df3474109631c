"""What the arguments of the package's functions take: each is looked at by its name, before anything runs."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ._errors import BadInput

Check = Callable[[str, Any], Any]


def _count(least: int, bits: int) -> Check:
    most = (1 << bits) - 1

    def checked(name: str, value: Any) -> int:
        try:
            number = operator.index(value)
        except TypeError:
            raise BadInput(f"{name}: give a whole number, not {value!r}") from None
        if number < least:
            raise BadInput(f"{name}: give at least {least}, not {number}")
        if number > most:
            raise BadInput(f"{name}: give at most {most}, not {number}")
        return number

    return checked


def switch(name: str, value: Any) -> bool:
    """What is on or off."""
    if not isinstance(value, (bool, np.bool_)):
        raise BadInput(f"{name}: give True or False, not {value!r}")
    return bool(value)


def _word(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise BadInput(f"{name}: give a string, not {value!r}")
    return value


def path(name: str, value: Any) -> str:
    """A name or a path."""
    if not isinstance(value, (str, os.PathLike)):
        raise BadInput(f"{name}: give a name or a path, not {value!r}")
    return os.fspath(value)


def _words(name: str, value: Any) -> list[str]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
        raise BadInput(f"{name}: give a list of strings, not {value!r}")
    return list(value)


def _cuts(name: str, value: Any) -> str:
    return value if isinstance(value, str) else str(_count(0, 32)(name, value))


def _or_none(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


_TAKES: dict[str, Check] = {
    "at": _words,
    "bound": _count(1, 8),
    "bytes": switch,
    "columns": _or_none(_word),
    "cuts": _cuts,
    "device": _or_none(path),
    "faults": _word,
    "fill": _word,
    "first": _or_none(_count(1, 64)),
    "fit": _or_none(_word),
    "format": _or_none(_word),
    "ftl": _word,
    "jobs": _or_none(_count(1, 32)),
    "lenient": switch,
    "lives": _or_none(_word),
    "name": _or_none(_word),
    "nested": _or_none(_word),
    "open_loop": switch,
    "parallel": switch,
    "passes": _count(1, 32),
    "queue_depth": _count(1, 32),
    "record": switch,
    "requests": _count(1, 32),
    "script": _word,
    "seed": _count(0, 64),
    "seeds": _count(1, 32),
    "shard": _or_none(_word),
    "steady": switch,
    "system": _word,
    "workload": _word,
    "worlds": _count(1, 64),
}


def checked(**given: Any) -> Any:
    """The arguments, each as the simulator takes it, or what is wrong with one and what it takes. Sizes are not among
    them: where they are read, it is said what a size is."""
    return {name: _TAKES[name](name, value) for name, value in given.items()}
