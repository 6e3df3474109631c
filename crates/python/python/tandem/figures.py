"""The figures of a run, by the names of the program's JSON. `docs` of the Rust type `RunResult` say what each counts."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class Counts:
    """The requests. Sectors are those of the FTL."""

    reads: int
    writes: int
    trims: int
    flushes: int
    sectors_read: int
    sectors_written: int


@dataclass(frozen=True)
class Times:
    """Response times in microseconds; `None` without requests. Shares are exact to four digits, the others wholly."""

    total: float
    mean: float | None
    p50: float | None
    p90: float | None
    p99: float | None
    p999: float | None
    max: float | None


@dataclass(frozen=True)
class ByCause:
    """Response times by cause, in microseconds, which add up to their total."""

    waiting: float
    host: float
    reclaim: float
    fold: float
    write_back: float
    wear_leveling: float
    scan: float
    map: float
    meta: float


@dataclass(frozen=True)
class ByRequest:
    """Response times by cause, for each kind of request."""

    reads: ByCause
    writes: ByCause
    trims: ByCause
    flushes: ByCause


@dataclass(frozen=True)
class Spread:
    """A spread over blocks."""

    min: int
    mean: float
    max: int
    stddev: float


@dataclass(frozen=True)
class Pages:
    """Page operations of a region, by cause."""

    host_read: int
    host_program: int
    gc_read: int
    gc_program: int
    wl_read: int
    wl_program: int
    scan_read: int
    map_read: int
    map_program: int
    meta_read: int
    meta_program: int


@dataclass(frozen=True)
class Region:
    """Operations and wear of a region."""

    erases: int
    erase_count: Spread
    lifetime_years: float | None
    pages: Pages


@dataclass(frozen=True)
class ByVerb:
    """Operations of a memory for one cause."""

    read: int
    program: int
    erase: int


@dataclass(frozen=True)
class Part:
    """Operations and wear of a memory, by the name of the cause."""

    bytes: int
    programmed_before: int
    wear: Spread
    operations: dict[str, ByVerb]


@dataclass(frozen=True)
class Factors:
    """The factors of Chang's analysis."""

    alpha: float | None
    n1: float | None
    n2: float | None
    n3: float | None
    n4: float | None
    p1: float | None
    p2: float | None


@dataclass(frozen=True)
class Folding:
    """Folds and switches."""

    folds: int
    switches: int
    n4_with_switches: float | None
    p2_with_switches: float | None


@dataclass(frozen=True)
class Filter:
    """The hot-data filter, at the end."""

    threshold_sectors: int
    threshold_bytes: int


@dataclass(frozen=True)
class Throttle:
    """The throttle."""

    active_share: float | None
    rejected_writes: int
    k: int


@dataclass(frozen=True)
class Hash:
    """The hash table of the log."""

    rejected_writes: int
    load: float | None
    valid: float | None
    probes_mean: float | None


@dataclass(frozen=True)
class Round:
    """One replay of the trace, of a run until the device is steady."""

    write_amplification: float | None
    filled: float | None
    mean_us: float | None
    write_mean_us: float | None


@dataclass(frozen=True)
class Steady:
    """The rounds of a run until the device is steady."""

    settled: bool
    rounds: list[Round]


@dataclass(frozen=True)
class Ratios:
    """A system compared with the first: how many times as fast, its share of the energy, its price, and erases of an SLC
    block for one of an MLC block."""

    rs: float | None
    es: float | None
    ec: float | None
    bw: float | None


@dataclass(frozen=True)
class Place:
    """A system in the ranking."""

    system: str
    slc_bytes: int
    standing: str
    speed_for_price: float | None
    speed: float | None
    price: float | None
    cost_usd: float
    price_source: str
    energy: float | None
    life_years: float | None
    survives_power_loss: bool
    ram_bytes: int


@dataclass(frozen=True)
class SizeClass:
    """Requests of one class of sizes: larger than half of `sectors_most`, and no larger than it."""

    sectors_most: int
    writes: int
    reads: int
    sectors_written: int
    sectors_distinct: int
    update_ratio: float | None


@dataclass(frozen=True)
class HitClass:
    """Sectors that were touched at least `times_least` times, and less than twice as often."""

    times_least: int
    sectors_written: int
    sectors_read: int


@dataclass(frozen=True)
class Cuts:
    """Power cuts of one kind: how many were tried, how many lost data, how many left a device that is stuck."""

    tried: int
    lost: int
    stuck: int


@dataclass(frozen=True)
class Broken:
    """A broken promise, and the program's command that shows it again."""

    device: str
    system: str
    seed: int
    cuts: list[str]
    sentence: str
    replay: str


@dataclass(frozen=True)
class BrokenScript:
    """A broken promise, and the command that shows it."""

    sentence: str
    replay: str


@dataclass(frozen=True)
class SmallDevice:
    """What was tried on one of the smallest devices."""

    device: str
    states: int
    transitions: int
    lives: int
    broken: int


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def typed(kind: Any, value: Any) -> Any:
    """The value as that type: dictionaries become classes, however deep they lie."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return None if value is None else typed(inner[0], value)
    if origin is list:
        return [typed(inner[0], one) for one in value]
    if origin is dict:
        return {name: typed(inner[1], one) for name, one in value.items()}
    if origin is tuple:
        return tuple(typed(one, part) for one, part in zip(inner, value, strict=True))
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**members(kind, value))
    return value


def members(kind: Any, value: dict[str, Any]) -> dict[str, Any]:
    """The members of that class that the value has."""
    hints = _hints(kind)
    return {one.name: typed(hints[one.name], value[one.name]) for one in fields(kind) if one.name in value}
