"""From what a caller gives as `progress` to what the simulator calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

Told = Callable[[float | None, int], object]


@runtime_checkable
class Bar(Protocol):
    """A bar like tqdm's."""

    n: float
    total: float | None

    def update(self, n: float) -> Any: ...


#: A function of a share (from 0 to 1, or `None`) and a count; a bar like tqdm's, or its class; or `True` for tqdm's own.
Progress = Told | Bar | type | bool | None


def _onto(bar: Any) -> Told:
    def tell(share: float | None, count: int) -> None:
        now = count if share is None or not bar.total else share * bar.total
        if now > bar.n:
            bar.update(now - bar.n)

    return tell


def _ready_made() -> type:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("progress=True needs tqdm: `pip install tqdm`, or give a function") from None
    bar: type = tqdm
    return bar


@contextmanager
def told(progress: Progress) -> Iterator[Told | None]:
    """What the simulator calls. A bar that is made here is closed here."""
    if progress is None or progress is False:
        yield None
        return
    if progress is True:
        progress = _ready_made()
    if isinstance(progress, type):
        with progress(total=100, unit="%", bar_format="{l_bar}{bar}| {elapsed}<{remaining}") as bar:
            yield _onto(bar)
    elif isinstance(progress, Bar):
        yield _onto(progress)
    elif callable(progress):
        yield progress
    else:
        raise TypeError("progress is a function of a share and a count, a bar like tqdm's, or True")
