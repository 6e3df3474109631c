"""The extension module. Use `tandem`, which has the same for people."""

from collections.abc import Callable
from os import PathLike
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from .system import System

_Size = int | str
_Progress = Callable[[float | None, int], object] | None
_System = str | System | type[System]
_U64 = NDArray[np.uint64]
_U8 = NDArray[np.uint8]
_Arrays = tuple[_U8, _U64, dict[str, NDArray[np.uint32]]]

__version__: str

class _Read(TypedDict):
    format: str | None
    columns: str | None
    lenient: bool
    first: int | None

class _Replay(TypedDict):
    fit: str | None
    passes: int
    steady: bool
    open_loop: bool
    queue_depth: int
    bytes_a_day: _Size | None
    record: bool

class _Cuts(TypedDict):
    ftl: str
    device: str
    system: str
    requests: int
    seed: int
    seeds: int
    cuts: str
    at: list[str]
    nested: str | None
    faults: str
    format: bool
    bytes: bool

class Device:
    def __init__(
        self,
        device: str | PathLike[str] | dict[str, Any],
        capacity: _Size | None = None,
        slc: _Size | None = None,
        parallel: bool = False,
        fill: str = "in-order",
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def capacity(self) -> int: ...
    @property
    def slc_bytes(self) -> int: ...
    @property
    def mlc_bytes(self) -> int: ...

class Workload:
    @staticmethod
    def named(names: list[str], read: _Read) -> Workload: ...
    @staticmethod
    def arrays(name: str, columns: dict[str, Any]) -> Workload: ...

class Flash:
    @property
    def page_bytes(self) -> int: ...
    @property
    def pages(self) -> int: ...
    @property
    def regions(self) -> list[str]: ...
    def blocks(self, region: str) -> int: ...
    def slots(self, region: str) -> int: ...
    def erase_count(self, region: str, block: int) -> int: ...
    def read(self, region: str, block: int, slot: int, cause: str = "host") -> bytes: ...
    def program(self, region: str, block: int, slot: int, data: bytes, cause: str = "host") -> None: ...
    def erase(self, region: str, block: int, cause: str = "gc") -> None: ...

def replay(
    workload: Workload, device: Device, systems: list[_System], asked: _Replay, progress: _Progress
) -> list[tuple[dict[str, Any], _Arrays | None]]: ...
def compare(
    workload: Workload, device: Device, systems: list[_System], asked: _Replay, progress: _Progress
) -> tuple[dict[str, Any], list[_Arrays | None]]: ...
def profile(workload: Workload, passes: int, capacity: _Size, progress: _Progress) -> dict[str, Any]: ...
def sweep(
    plan: str | PathLike[str] | dict[str, Any],
    out: str | PathLike[str] | None = None,
    jobs: int | None = None,
    progress: _Progress = None,
) -> tuple[dict[str, Any], Exception | None]: ...
def synth(name: str, capacity: _Size) -> tuple[_U64, _U8, _U64, _U64, _U8]: ...
def save(path: str | PathLike[str], columns: dict[str, Any]) -> None: ...
def cuts(asked: _Cuts, progress: _Progress) -> dict[str, Any]: ...
def worlds(sought: dict[str, Any], progress: _Progress) -> dict[str, Any]: ...
def small(sought: dict[str, Any], progress: _Progress) -> dict[str, Any]: ...
def script(text: str) -> tuple[list[str], list[dict[str, Any]]]: ...
def devices() -> list[str]: ...
def systems() -> list[tuple[str, str]]: ...
def workloads() -> list[str]: ...
def formats() -> list[tuple[str, str]]: ...
def table(path: str | PathLike[str]) -> dict[str, Any]: ...
