"""Results: typed figures, and the same as a dictionary, a DataFrame, or a table of Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import BadInput
from ._tables import Table, columns, flat
from .figures import (
    Broken,
    BrokenScript,
    ByRequest,
    Counts,
    Cuts,
    Factors,
    Filter,
    Folding,
    Hash,
    HitClass,
    Part,
    Place,
    Ratios,
    Region,
    SizeClass,
    SmallDevice,
    Steady,
    Throttle,
    Times,
    members,
    typed,
)
from .requests import OPS


@dataclass(frozen=True, eq=False, kw_only=True)
class Result(Table):
    """What a run ends with, as a dictionary: the content of the program's JSON."""

    _dict: dict[str, Any] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The content of the program's JSON."""
        return self._dict


@dataclass(frozen=True, eq=False, kw_only=True)
class Responses(Table):
    """Every request of a run, in the order in which they were issued."""

    #: 0 for a read, 1 for a write, 2 for a trim, 3 for a flush.
    op: NDArray[np.uint8]
    #: How long each took, in nanoseconds.
    time_ns: NDArray[np.uint64]

    def of(self, op: str) -> NDArray[np.uint64]:
        """The times of one operation: R, W, T or F."""
        if op not in OPS:
            raise BadInput(f"an operation is R, W, T or F, not {op!r}")
        times: NDArray[np.uint64] = self.time_ns[self.op == OPS.index(op)]
        return times

    def _columns(self) -> dict[str, Any]:
        return {"op": self.op, "time_ns": self.time_ns}


@dataclass(frozen=True, eq=False, kw_only=True)
class Run(Result):
    """One run of one system. Figures without measurements, such as the mean of no reads, are `None`."""

    schema: int
    system: str
    device: str
    slc_bytes: int
    parallel: bool
    open_loop: bool
    queue_depth: int
    trace: str
    passes: int
    fit: str
    fill: str
    seed: int | None
    partial: bool
    skipped_lines: int
    bytes_written: int
    bytes_touched: int
    bytes_packed: int
    bytes_a_day: int
    requests: Counts
    response_us: Times
    read_us: Times
    write_us: Times
    trim_us: Times
    elapsed_us: float
    response_by_cause_us: ByRequest
    slc: Region
    mlc: Region
    parts: dict[str, Part]
    write_amplification: float | None
    rewrite_amplification: float | None
    times_over: float | None
    energy_mj: float
    cost_usd: float
    price_source: str
    ram_bytes: int
    factors: Factors | None
    folding: Folding | None
    filter: Filter | None
    log_writes: int | None
    throttle: Throttle | None
    hash: Hash | None
    figures: dict[str, float]
    verified_reads: int
    wall_s: float
    busy_s: float
    requests_per_s: float
    nand_ops_per_s: float
    steady: Steady | None = None
    #: Every request; `None` if it was not asked for.
    responses: Responses | None = field(default=None, repr=False)
    #: The erases of every block during the run, by the name of the memory.
    wear: dict[str, NDArray[np.uint32]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, result: dict[str, Any], arrays: Any = None) -> Run:
        """The run of a result, with its arrays."""
        if arrays is None:
            return cls(_dict=result, **members(cls, result))
        op, times, wear = arrays
        responses = Responses(op=op, time_ns=times)
        return cls(_dict=result, responses=responses, wear=wear, **members(cls, result))

    def __repr__(self) -> str:
        asked = self.requests
        count = asked.reads + asked.writes + asked.trims + asked.flushes
        return f"<Run {self.system} on {self.device}: {self.trace}, {count} requests>"

    def _columns(self) -> dict[str, Any]:
        return columns([flat(self._dict)])


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison(Result):
    """Systems side by side, on the same requests."""

    #: One of each system; the others are compared with the first.
    runs: list[Run]
    ratios: dict[str, Ratios]
    #: How many times as fast each system is with its SLC as without.
    slc_gain: dict[str, float]
    #: The results without SLC that were made for that, but for the times of this computer.
    without_slc: dict[str, dict[str, Any]]
    #: The best first.
    ranking: list[Place]

    @classmethod
    def of(cls, comparison: dict[str, Any], arrays: list[Any]) -> Comparison:
        """A comparison, with the arrays of its runs."""
        runs = [Run.of(run, own) for run, own in zip(comparison["runs"], arrays, strict=True)]
        rest = members(cls, {name: value for name, value in comparison.items() if name != "runs"})
        return cls(_dict=comparison, runs=runs, **rest)

    def __repr__(self) -> str:
        systems = ", ".join(run.system for run in self.runs)
        where = f" on {self.runs[0].device}: {self.runs[0].trace}" if self.runs else ""
        return f"<Comparison of {systems}{where}>"

    def __getitem__(self, system: str) -> Run:
        for run in self.runs:
            if run.system == system:
                return run
        raise KeyError(system)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def _columns(self) -> dict[str, Any]:
        def row(run: dict[str, Any]) -> dict[str, Any]:
            system = run["system"]
            gain = self._dict["slc_gain"].get(system)
            return flat(run) | flat({"ratios": self._dict["ratios"][system]}) | {"slc_gain": gain}

        return columns(map(row, self._dict["runs"]))


@dataclass(frozen=True, eq=False, kw_only=True)
class SweepRun:
    """A run of a plan."""

    #: The name of its result in the sweep's folder.
    file: str
    #: The size of the SLC in the plan.
    slc_asked: int | None
    #: Compared with the first system of the plan; `None` if that has no result.
    ratios: Ratios | None
    result: Run


@dataclass(frozen=True, eq=False, kw_only=True)
class Sweep(Result):
    """The results of a plan."""

    schema: int
    #: How many runs the plan has.
    planned: int
    runs: list[SweepRun]

    @classmethod
    def of(cls, table: dict[str, Any]) -> Sweep:
        """The results of a table."""

        def run(row: dict[str, Any]) -> SweepRun:
            ratios = typed(Ratios | None, row["ratios"])
            result = Run.of(row["result"])
            return SweepRun(file=row["file"], slc_asked=row["slc_asked"], ratios=ratios, result=result)

        runs = [run(row) for row in table["runs"]]
        return cls(_dict=table, schema=table["schema"], planned=table["planned"], runs=runs)

    def __repr__(self) -> str:
        return f"<Sweep: {len(self.runs)} of {self.planned} runs>"

    def __iter__(self) -> Iterator[SweepRun]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def _columns(self) -> dict[str, Any]:
        def row(run: dict[str, Any]) -> dict[str, Any]:
            own = {"file": run["file"], "slc_asked": run["slc_asked"]}
            return own | flat(run["result"]) | flat({"ratios": run["ratios"] or {}})

        return columns(map(row, self._dict["runs"]))


@dataclass(frozen=True, eq=False, kw_only=True)
class Profile(Result):
    """A workload by the measures of Chang's Figure 7, in sectors of 512 bytes."""

    writes: int
    reads: int
    bytes_written: int
    bytes_read: int
    bytes_touched: int
    #: By the size of the request.
    sizes: list[SizeClass]
    #: By how often a sector was touched.
    hits: list[HitClass]

    @classmethod
    def of(cls, profile: dict[str, Any]) -> Profile:
        """A profile."""
        return cls(_dict=profile, **members(cls, profile))

    def _columns(self) -> dict[str, Any]:
        """The classes of sizes; those of hits are beside them, for there are equally many."""
        sizes, hits = self._dict["sizes"], self._dict["hits"]
        return columns(size | flat({"hits": hit}) for size, hit in zip(sizes, hits, strict=True))


@dataclass(frozen=True, eq=False, kw_only=True)
class Torture(Result):
    """Power cuts that were tried, and the promises that were broken."""

    total: Cuts
    #: Cuts during or after the mount that followed another cut.
    nested: int
    #: By what the operation was for that power failed in.
    by_cause: dict[str, Cuts]
    #: By what the cut left.
    by_fate: dict[str, Cuts]
    violations: list[Broken]
    #: Operations of the workloads, on chosen devices.
    operations: int | None = None
    #: Random worlds, and mounts in them.
    worlds: int | None = None
    lives: int | None = None

    @classmethod
    def of(cls, counts: dict[str, Any]) -> Torture:
        """The counts of a run."""
        named = {name: dict(map(tuple, counts[name])) for name in ("by_cause", "by_fate")}
        return cls(_dict=counts, **members(cls, counts | named))

    def _columns(self) -> dict[str, Any]:
        rows = [{"cause": cause} | count for cause, count in self._dict["by_cause"]]
        return columns(rows)


@dataclass(frozen=True, eq=False, kw_only=True)
class SmallWorlds(Result):
    """Every small world of a shard, and the promises that were broken."""

    ftl: str
    bound: int
    shard: str
    states: int
    transitions: int
    #: Mounts.
    lives: int
    seconds: float
    threads: int
    devices: list[SmallDevice]
    violations: list[BrokenScript]

    @classmethod
    def of(cls, counts: dict[str, Any]) -> SmallWorlds:
        """The counts of a walk."""
        return cls(_dict=counts, **members(cls, counts))

    def _columns(self) -> dict[str, Any]:
        return columns(self._dict["devices"])


@dataclass(frozen=True)
class Script:
    """A script that was followed: the operations on the device, and what was broken."""

    history: list[str]
    violations: list[BrokenScript]
