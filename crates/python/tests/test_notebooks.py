"""The notebooks run, from their first cell to their last, and every figure that they show is the program's, to the digit."""

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas
import pytest
import tandem
from conftest import of_device

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


class Played(NamedTuple):
    """What a notebook leaves."""

    names: dict[str, Any]
    #: The values that its cells end with, as a notebook shows them.
    shown: list[Any]
    #: The lines that it prints.
    printed: list[str]


@pytest.fixture
def play(monkeypatch):
    """Runs a notebook."""

    def played(name):
        monkeypatch.chdir(NOTEBOOKS)
        monkeypatch.setenv("MPLBACKEND", "agg")
        cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text())["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        assert len(code) > 2
        names, shown, printed = {"__name__": "__main__"}, [], io.StringIO()
        for number, cell in enumerate(code):
            where = f"{name}.ipynb, cell {number + 1}"
            body = ast.parse(cell, where).body
            last = body.pop() if isinstance(body[-1], ast.Expr) else None
            with contextlib.redirect_stdout(printed):
                exec(compile(ast.Module(body, []), where, "exec"), names)
                value = eval(compile(ast.Expression(last.value), where, "eval"), names) if last else None
            shown += [value] if isinstance(value, pandas.DataFrame) else []
        return Played(names, shown, printed.getvalue().splitlines())

    return played


def test_every_notebook_is_compared():
    tests = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} <= tests


def same(table, rows):
    """Every figure of a table that is shown is in the program's rows under its name: `write_us.p99` is in `write_us`."""
    assert len(table) == len(rows) > 0
    for (_, shown), row in zip(table.iterrows(), rows, strict=True):
        for name, value in shown.items():
            theirs = row
            for part in name.split("."):
                theirs = theirs[part]
            assert value == theirs or (theirs is None and pandas.isna(value)), (name, value, theirs)


def test_chang(play, program, tmp_path):
    names, [table], printed = play("chang")
    lists = {name: value if isinstance(value, list) else [value] for name, value in names["plan"].items()}
    plan = tmp_path / "plan.toml"
    plan.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in lists.items()))
    done = program.run("sweep", plan, "--out", tmp_path / "theirs")
    assert done.returncode == 0, done.stderr
    theirs = json.loads((tmp_path / "theirs/table.json").read_text())
    assert of_device(names["sweep"].to_dict()) == of_device(theirs)
    rows = [{**run["result"], **run} for run in theirs["runs"]]
    same(table, rows)
    lines = []
    for trace in sorted({row["trace"] for row in rows}):
        for system in ("conventional", "hybrid"):
            sized = [row for row in rows if (row["trace"], row["system"]) == (trace, system) and row["slc_asked"]]
            rs = np.array([row["ratios"]["rs"] for row in sorted(sized, key=lambda row: row["slc_asked"])])
            lines += [f"{trace:30} {system:8} {rs.round(2)}"] if sized else []
    factors = next(row["factors"] for row in rows if row["system"] == "hybrid" and row["slc_asked"] == 256 << 20)
    assert printed == [*lines, str(tandem.figures.Factors(**factors))]


def test_own_trace(play, program, tmp_path):
    names, [head, sizes, compared], printed = play("own_trace")
    trace = tmp_path / "trace.csv"
    names["trace"].astype({"time_us": int}).to_csv(trace, index=False)
    assert head.equals(names["trace"].head())
    profile = program.json("profile", trace)
    assert names["profile"].to_dict() == profile
    same(sizes, [row for row in profile["sizes"] if row["writes"] + row["reads"] > 0])

    def theirs(*flags):
        found = program.json("compare", trace, "--capacity", "4GiB", "--slc", "64MiB", *flags)
        # The trace has another name in a file.
        runs = [*found["runs"], *found["without_slc"].values()]
        for run in runs:
            assert run["trace"] == str(trace)
            run["trace"] = "a database"
        return found

    opened, closed = theirs("--open-loop"), theirs()
    assert of_device(names["comparison"].to_dict()) == of_device(opened)
    assert of_device(names["closed"].to_dict()) == of_device(closed)
    gain = opened["slc_gain"]
    same(
        compared,
        [
            {**run, "ratios": opened["ratios"][run["system"]], "slc_gain": gain.get(run["system"])}
            for run in opened["runs"]
        ],
    )
    best = opened["ranking"][0]
    lines = [f"{best['system']}: {best['speed']:.2f} times as fast for {best['price']:.2f} of the price"]
    for run in opened["runs"]:
        waits = run["response_by_cause_us"]["writes"]["waiting"] / run["write_us"]["total"]
        rs = closed["ratios"][run["system"]]["rs"]
        lines.append(f"{run['system']:12} waits for {waits:.0%} of the time of its writes; without a queue: RS {rs:.2f}")
    assert printed == lines


def test_own_ftl(play, program):
    """The program has no FTL in Python: what it can say is the system beside it, the ratio, and a load that needs no
    garbage collection, where its page map does the same."""
    names, [table], printed = play("own_ftl")
    load, comparison = names["load"], names["comparison"]
    theirs = program.json("replay", load, "--system", "page-mlc", "--device", "tiny")
    assert of_device(comparison["page-mlc"].to_dict()) == of_device(theirs)
    own = comparison["my-map"].to_dict()
    assert (own["requests"], own["verified_reads"]) == (theirs["requests"], theirs["verified_reads"])
    ratios = [1.0, theirs["response_us"]["mean"] / own["response_us"]["mean"]]
    rows = [{**run, "ratios": {"rs": rs}} for run, rs in zip((theirs, own), ratios, strict=True)]
    same(table, rows)
    figures = [f"{run.system:8} {run.write_amplification:.3f} bytes" for run in names["runs"]]
    assert [line[: len(figure)] for line, figure in zip(printed, figures, strict=False)] == figures
    assert f"{own['write_amplification']:.3f}" in printed[0]

    load = "synth:uniform?requests=120&size=2KiB&reads=30&footprint=64KiB"
    theirs = program.json("replay", load, "--system", "page-mlc", "--device", "tiny", "--fill", "nothing")
    for system in ("PageMap", "Fifo"):
        ours = tandem.replay(load, names[system], "tiny", fill="nothing").to_dict()
        for name in ("response_us", "read_us", "write_us", "energy_mj", "cost_usd", "write_amplification", "verified_reads"):
            assert ours[name] == theirs[name], (system, name)
        assert ours["mlc"]["pages"] == theirs["mlc"]["pages"]
