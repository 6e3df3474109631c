"""Designs and compares hybrid SLC/MLC solid-state disks on a simulated NAND chip.

    import tandem

    run = tandem.replay("synth:zipf?requests=10000", device="c3", capacity="1GiB")
    print(run.write_us.mean, run.write_amplification)

The same simulator as the program `tandem`, with the same figures. docs/PYTHON.md is its page.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from . import _inputs, _native
from ._arguments import checked, path, switch
from ._errors import BadInput, Note, TandemError, Violation
from ._inputs import DeviceLike, Size, SystemLike, Trace
from ._native import Device, Flash, __version__
from ._progress import Progress, told
from ._tables import as_json
from .figures import BrokenScript
from .requests import Requests
from .results import (
    Comparison,
    Profile,
    Responses,
    Run,
    Script,
    SmallWorlds,
    Sweep,
    SweepRun,
    Torture,
)
from .system import System

Fit = Literal["wrap", "pack", "auto"]
Fill = Literal["nothing", "in-order", "random"]


def replay(
    trace: Trace,
    system: SystemLike = "paged",
    device: DeviceLike = "c3",
    *,
    capacity: Size | None = None,
    slc: Size | None = None,
    parallel: bool = False,
    fill: Fill = "in-order",
    fit: Fit | None = None,
    passes: int = 1,
    steady: bool = False,
    open_loop: bool = False,
    queue_depth: int = 1,
    bytes_a_day: Size | None = None,
    name: str | None = None,
    format: str | None = None,
    columns: str | None = None,
    lenient: bool = False,
    first: int | None = None,
    record: bool = True,
    progress: Progress = None,
) -> Run:
    """Replays a trace on one system, as `tandem replay` does.

    `record` keeps every response time and the wear of every block: nine bytes for each request.
    """
    made = _inputs.device(device, capacity, slc, parallel, fill)
    asked = checked(
        fit=fit, passes=passes, steady=steady, open_loop=open_loop, queue_depth=queue_depth, record=record
    )
    asked["bytes_a_day"] = bytes_a_day
    trace = _inputs.timed(trace) if open_loop else trace
    workload = _inputs.workload(trace, name, format, columns, lenient, first)
    with told(progress) as tell:
        [(result, arrays)] = _native.replay(workload, made, [_inputs.system(system)], asked, tell)
    return Run.of(as_json(result), arrays)


def compare(
    trace: Trace,
    systems: SystemLike | Sequence[SystemLike] | None = None,
    device: DeviceLike = "c3",
    *,
    capacity: Size | None = None,
    slc: Size | None = None,
    parallel: bool = False,
    fill: Fill = "in-order",
    fit: Fit | None = "auto",
    passes: int = 1,
    steady: bool = False,
    open_loop: bool = False,
    queue_depth: int = 1,
    bytes_a_day: Size | None = None,
    name: str | None = None,
    format: str | None = None,
    columns: str | None = None,
    lenient: bool = False,
    first: int | None = None,
    record: bool = True,
    progress: Progress = None,
) -> Comparison:
    """Replays a trace on several systems at once, and compares them with the first, as `tandem compare` does.

    Without `systems` they are the usual ones; `"all"` are all that fit the device.
    """
    made = _inputs.device(device, capacity, slc, parallel, fill)
    asked = checked(
        fit=fit, passes=passes, steady=steady, open_loop=open_loop, queue_depth=queue_depth, record=record
    )
    asked["bytes_a_day"] = bytes_a_day
    trace = _inputs.timed(trace) if open_loop else trace
    workload = _inputs.workload(trace, name, format, columns, lenient, first)
    with told(progress) as tell:
        comparison, arrays = _native.compare(workload, made, _inputs.systems(systems), asked, tell)
    return Comparison.of(as_json(comparison), arrays)


def sweep(
    plan: str | os.PathLike[str] | Mapping[str, Any],
    out: str | os.PathLike[str] | None = None,
    *,
    jobs: int | None = None,
    progress: Progress = None,
) -> Sweep:
    """Does the runs of a plan on all cores, as `tandem sweep` does: a file, or a table with the same keys.

    With `out`, results are kept in that folder, which the program knows, too, and are not made again. If runs fail, the
    exception has the results of the others as its `sweep`.
    """
    with told(progress) as tell:
        table, failed = _native.sweep(_inputs.plan(plan), out, checked(jobs=jobs)["jobs"], tell)
    results = Sweep.of(as_json(table))
    if failed is not None:
        failed.sweep = results  # type: ignore[attr-defined]
        raise failed
    return results


def profile(
    trace: Trace,
    *,
    capacity: Size = "20GiB",
    passes: int = 1,
    name: str | None = None,
    format: str | None = None,
    columns: str | None = None,
    lenient: bool = False,
    first: int | None = None,
    progress: Progress = None,
) -> Profile:
    """Counts a workload's requests by size, and its sectors by hits, as `tandem profile` does."""
    workload = _inputs.workload(trace, name, format, columns, lenient, first)
    arguments = checked(passes=passes)
    with told(progress) as tell:
        return Profile.of(as_json(_native.profile(workload, arguments["passes"], capacity, tell)))


def synth(
    workload: str, *, requests: int | None = None, seed: int | None = None, capacity: Size = "20GiB"
) -> Requests:
    """The requests of a synthetic workload, such as `ntfs` or `zipf?skew=1.2`, on a disk of that size."""
    name = checked(workload=workload)["workload"]
    given = {"requests": requests, "seed": seed}
    for parameter, value in checked(**{one: value for one, value in given.items() if value is not None}).items():
        name += f"{'&' if '?' in name else '?'}{parameter}={value}"
    return Requests(*_native.synth(name, capacity), name=name if name.startswith("synth:") else f"synth:{name}")


def torture(
    device: str | os.PathLike[str] = "tiny",
    *,
    ftl: Literal["paged", "hybrid"] = "paged",
    system: Literal["usual", "conventional", "small"] = "usual",
    requests: int = 300,
    seed: int = 1,
    seeds: int = 1,
    cuts: int | Literal["exhaustive"] = "exhaustive",
    at: Sequence[str] = (),
    nested: Literal["some", "every"] | None = None,
    faults: str = "",
    format: bool = False,
    bytes: bool = False,
    progress: Progress = None,
) -> Torture:
    """Cuts the power at the operations of a workload, mounts, and checks all data, as `tandem torture` does.

    Broken promises are in the result. `progress` hears of cuts, not of a share.
    """
    asked = checked(ftl=ftl, system=system, requests=requests, seed=seed, seeds=seeds, cuts=cuts, at=at)
    asked |= checked(nested=nested, faults=faults, bytes=bytes)
    asked |= {"device": path("device", device), "format": switch("format", format)}
    with told(progress) as tell:
        return Torture.of(as_json(_native.cuts(asked, tell)))


def torture_worlds(
    worlds: int,
    *,
    ftl: Literal["paged", "hybrid"] = "paged",
    seed: int = 1,
    lives: str | None = None,
    progress: Progress = None,
) -> Torture:
    """Tries random worlds, each drawn from a seed, as `tandem torture --worlds` does."""
    sought = checked(ftl=ftl, seed=seed, worlds=worlds, lives=lives)
    with told(progress) as tell:
        return Torture.of(as_json(_native.worlds(sought, tell)))


def torture_small(
    bound: int = 1,
    *,
    ftl: Literal["paged", "hybrid"] = "paged",
    shard: str | None = None,
    device: str | None = None,
    progress: Progress = None,
) -> SmallWorlds:
    """Tries every sequence of a few requests on the smallest devices, and every power cut in them, as `tandem torture
    --exhaustive` does.

    `progress` hears of transitions. A bound of 1 takes minutes; `shard="1/40"` is one part of forty of it.
    """
    sought = checked(ftl=ftl, bound=bound, shard=shard, device=device)
    if sought["bound"] > 6:
        raise BadInput("bound: give 1 to 6")
    with told(progress) as tell:
        return SmallWorlds.of(as_json(_native.small(sought, tell)))


def torture_script(script: str) -> Script:
    """Follows a script, as `torture_small` and `tandem torture --exhaustive` give it for a broken promise."""
    history, violations = _native.script(checked(script=script)["script"])
    return Script(history, [BrokenScript(**broken) for broken in violations])


def devices() -> list[str]:
    """The names of the built-in devices."""
    return _native.devices()


def systems() -> dict[str, str]:
    """The names of the systems, each with what it is."""
    return dict(_native.systems())


def workloads() -> list[str]:
    """The names of the synthetic workloads."""
    return _native.workloads()


def formats() -> dict[str, str]:
    """The names of the formats of traces, each with what it is."""
    return dict(_native.formats())


for _told in (BadInput, Note, TandemError, Violation):
    # In messages they have the name under which they are imported.
    _told.__module__ = __name__


def __dir__() -> list[str]:
    """What is of the package, without what its code imports."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


__all__ = [
    "BadInput",
    "BrokenScript",
    "Comparison",
    "Device",
    "Flash",
    "Note",
    "Profile",
    "Requests",
    "Responses",
    "Run",
    "Script",
    "SmallWorlds",
    "Sweep",
    "SweepRun",
    "System",
    "TandemError",
    "Torture",
    "Violation",
    "__version__",
    "compare",
    "devices",
    "formats",
    "profile",
    "replay",
    "sweep",
    "synth",
    "systems",
    "torture",
    "torture_script",
    "torture_small",
    "torture_worlds",
    "workloads",
]
