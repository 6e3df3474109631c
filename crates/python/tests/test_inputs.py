"""Traces, devices and systems in every form; and what is refused, with the program's words."""

import re
from pathlib import Path

import numpy as np
import pandas
import pyarrow
import pytest
import tandem
from conftest import of_device

REQUESTS = tandem.synth("zipf?reads=40", requests=2000, seed=3, capacity="256MiB")


def figures(trace, **more):
    run = tandem.replay(trace, capacity="256MiB", name="mine", **more)
    return {**of_device(run.to_dict()), "trace": "", "seed": None}


LETTERS = np.array(["R", "W", "T", "F"])[REQUESTS.op]
COLUMNS = {"time_ns": REQUESTS.time_ns, "op": REQUESTS.op, "offset": REQUESTS.offset, "length": REQUESTS.length}
IN_MICROS = {"time_us": REQUESTS.time_ns / 1000, "op": LETTERS, "offset": REQUESTS.offset, "length": REQUESTS.length}
FORMS = {
    "requests": REQUESTS,
    "arrays": COLUMNS,
    "letters and microseconds": IN_MICROS,
    "a structured array": np.rec.fromarrays(list(COLUMNS.values()), names=list(COLUMNS)),
    "lists": {name: column.tolist() for name, column in COLUMNS.items()},
    "signed numbers": {name: column.astype(np.int64) for name, column in COLUMNS.items()},
    "a DataFrame": pandas.DataFrame(IN_MICROS),
    "a table of Arrow": pyarrow.table(IN_MICROS),
    "a table of Arrow in chunks": pyarrow.concat_tables(
        [pyarrow.table(COLUMNS).slice(0, 700), pyarrow.table(COLUMNS).slice(700)]
    ),
    "words in a dictionary of Arrow": pyarrow.table(
        {**IN_MICROS, "op": pyarrow.array(np.where(LETTERS == "R", "read", "Write")).dictionary_encode()}
    ),
    "a batch of Arrow": pyarrow.RecordBatch.from_pydict(COLUMNS),
    "lifetimes that are not known": {**COLUMNS, "lifetime": [""] * len(REQUESTS)},
}


@pytest.fixture(scope="module")
def expected():
    return figures("synth:zipf?reads=40&requests=2000&seed=3")


@pytest.mark.parametrize("form", FORMS)
def test_a_trace_in_arrays_is_like_one_in_a_file(form, expected):
    assert figures(FORMS[form]) == expected


def test_lifetimes_reach_the_store(tmp_path):
    load = "synth:writers?requests=30000&size=64KiB&speed=3"
    made = tandem.synth(load, capacity="1GiB")
    assert {tandem.requests.LIFETIMES[number] for number in made.lifetime} == {"short", "long"}
    words = {**made.to_dict(), "lifetime": np.array(tandem.requests.LIFETIMES)[made.lifetime]}
    made.save(tmp_path / "writers.csv")
    where = {"capacity": "1GiB", "slc": 0}
    for form in (made, words, tmp_path / "writers.csv", load):
        assert tandem.replay(form, "paged", **where).mlc.pages.gc_program == 0
    assert tandem.replay(f"{load}&hints=off", "paged", **where).mlc.pages.gc_program > 10_000


def test_a_recording_with_few_lifetimes_can_be_read_by_libraries_of_tables(tmp_path):
    path = tmp_path / "recording.csv"
    lines = ["time_us,op,offset,length,lifetime", "0,W,0,4096,", "1,W,4096,4096,short", "2,R,0,4096,"]
    path.write_text("\n".join(lines) + "\n")
    table = pandas.read_csv(path)
    for form in (table, pyarrow.Table.from_pandas(table), table.drop(index=1)):
        requests = tandem.Requests.of(form)
        assert sorted(requests.lifetime) == sorted([0, 2, 0] if len(requests) == 3 else [0, 0])


def test_files_by_path_and_in_a_row(tmp_path, expected):
    path = tmp_path / "trace.csv.gz"
    REQUESTS.save(path)
    assert figures(path) == expected
    assert figures([str(path), path])["requests"]["reads"] == 2 * expected["requests"]["reads"]
    assert figures(REQUESTS, first=10)["requests"] == figures(path, first=10)["requests"]


def test_a_trace_in_columns_of_ones_own(tmp_path, expected):
    path = tmp_path / "odd.txt"
    rows = zip(REQUESTS.length, LETTERS, REQUESTS.offset, REQUESTS.time_ns // 1000, strict=True)
    path.write_text("".join(f"{' '.join(map(str, row))}\n" for row in rows))
    assert figures(path, columns="time=3:us,op=1,offset=2,length=0") == expected


def test_devices_by_name_table_and_file(tmp_path):
    text = Path("devices/tiny.toml").read_text()
    path = tmp_path / "own.toml"
    path.write_text(text)
    load = "synth:uniform?requests=300&size=1KiB"
    by_name = of_device(tandem.replay(load, device="tiny").to_dict())
    for device in (path, tandem.Device(path)):
        assert of_device(tandem.replay(load, device=device).to_dict()) == by_name
    table = tandem._native.table(path)
    assert of_device(tandem.replay(load, device=table).to_dict()) == by_name
    assert of_device(tandem.replay(load, device=tandem.Device("tiny")).to_dict()) == by_name
    table["slc"]["program"] = "1ms"
    slower = tandem.replay(load, "page-slc", table)
    assert slower.write_us.p50 == 1000.0
    device = tandem.Device("c3", "1GiB", slc=8 << 20)
    assert (device.name, device.capacity, device.slc_bytes) == ("c3", 1 << 30, 8 << 20)
    assert "C3" in device.title and device.mlc_bytes > 1 << 30 and repr(device) == "<Device c3: 1GiB>"


def test_systems_by_name_table_and_file(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text('system = "ko"\nthreshold = 3\n')
    load = "synth:uniform?requests=300&size=4KiB"
    run = tandem.replay(load, path, capacity="64MiB")
    assert run.system == "ko?threshold=3"
    off = tandem.replay(load, {"system": "hybrid", "filter": False}, capacity="1GiB")
    assert off.system == "hybrid?filter=off"


def test_what_can_be_named_is_listed():
    assert {"c3", "tiny"} <= set(tandem.devices())
    assert "page map" in tandem.systems()["paged"]
    assert {"ntfs", "zipf"} <= set(tandem.workloads())
    assert {"csv", "msr"} <= set(tandem.formats())


REFUSED = {
    ("replay", "none.csv"): lambda: tandem.replay("none.csv"),
    ("replay", "zipf"): lambda: tandem.replay("zipf"),
    ("replay", "Cargo.toml"): lambda: tandem.replay("Cargo.toml"),
    ("replay", "synth:zipf", "--device", "c9"): lambda: tandem.replay("synth:zipf", device="c9"),
    ("replay", "synth:zipf", "--slc", "99"): lambda: tandem.replay("synth:zipf", slc=99),
    ("replay", "synth:zipf", "--system", "conventional", "--capacity", "1MiB"): lambda: tandem.replay(
        "synth:zipf", "conventional", capacity="1MiB"
    ),
    ("replay", "synth:zipf?requests=0"): lambda: tandem.replay("synth:zipf?requests=0"),
    ("compare", "synth:zipf", "--systems", "paged,paged"): lambda: tandem.compare("synth:zipf", "paged,paged"),
    ("sweep", "none.toml", "--out", "target/none"): lambda: tandem.sweep("none.toml"),
    ("profile", "/dev/null"): lambda: tandem.profile("/dev/null"),
    ("torture", "--device", "c9"): lambda: tandem.torture("c9"),
}


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_what_is_refused_is_told_in_the_programs_words(program, arguments):
    with pytest.raises(tandem.BadInput) as refused:
        REFUSED[arguments]()
    theirs = program.refusal(*arguments)
    assert theirs and squeezed(str(refused.value)) == squeezed(without_flags(theirs))


def squeezed(text):
    return " ".join(text.split())


def without_flags(text):
    text = re.sub(r"--capacity (\d+\w+)", r'capacity="\1"', text)
    return text.replace("--format", "format").replace("--columns", "columns")


DEVICES = "a device is a name, a path, a dictionary or a tandem.Device"
WRONG = {
    "no size": (lambda: tandem.replay("synth:zipf", capacity="much"), "`much` is no size"),
    "less than nothing": (lambda: tandem.replay("synth:zipf", capacity=-1), "`-1` is no size"),
    "no system": (lambda: tandem.replay("synth:zipf", "pages"), "no system is called `pages`"),
    "no switch": (lambda: tandem.replay("synth:zipf", "hybrid?filter=maybe"), "on or off"),
    "no fill": (lambda: tandem.replay("synth:zipf", fill="half"), "write nothing, in-order or random"),
    "no fit": (lambda: tandem.replay("synth:zipf", fit="shrink"), "write wrap or pack, or auto"),
    "no passes": (lambda: tandem.replay("synth:zipf", passes=0), "passes: give at least 1"),
    "two paces": (lambda: tandem.replay("synth:zipf", open_loop=True, queue_depth=2), "leave out open_loop"),
    "no requests": (lambda: tandem.replay("synth:zipf", first=0), "first: give at least 1"),
    "a switch in words": (lambda: tandem.replay("synth:zipf", open_loop="yes"), "open_loop: give True or False, not 'yes'"),
    "a device's switch": (lambda: tandem.replay("synth:zipf", parallel=1), "parallel: give True or False, not 1"),
    "half a request": (lambda: tandem.replay("synth:zipf", first=10.0), "first: give a whole number, not 10.0"),
    "passes in words": (lambda: tandem.profile("synth:zipf", passes="x"), "passes: give a whole number, not 'x'"),
    "passes without end": (lambda: tandem.replay("synth:zipf", passes=1 << 40), "passes: give at most 4294967295"),
    "a name of a number": (lambda: tandem.replay("synth:zipf", name=3), "name: give a string, not 3"),
    "fewer worlds than none": (lambda: tandem.torture_worlds(-5), "worlds: give at least 1, not -5"),
    "no worlds": (lambda: tandem.torture_worlds(0), "worlds: give at least 1, not 0"),
    "no requests": (lambda: tandem.torture(requests=0), "requests: give at least 1, not 0"),
    "too few cuts": (lambda: tandem.torture(requests=2, cuts=1, seed=2), "no power cut was tried"),
    "a seed too large": (lambda: tandem.torture(seed=2**64 - 1), "begin with 18446744073709551614 or less"),
    "worlds in words": (lambda: tandem.torture_worlds("5"), "worlds: give a whole number, not '5'"),
    "torture of nothing": (lambda: tandem.torture(None), "device: give a name or a path, not None"),
    "a cut alone": (lambda: tandem.torture(at="3:erased"), "at: give a list of strings"),
    "a seed in words": (lambda: tandem.synth("zipf", seed="x"), "seed: give a whole number"),
    "no device": (lambda: tandem.replay("synth:zipf", device=None), DEVICES + ", not None"),
    "a device of a number": (lambda: tandem.Device(5), DEVICES + ", not 5"),
    "a plan of a number": (lambda: tandem.sweep(3), "a plan is a path or a dictionary, not 3"),
    "no names": (lambda: tandem.replay([]), "a list of names, and this one has nothing"),
    "a name and a table": (lambda: tandem.replay([COLUMNS, "synth:zipf"]), "a list of names, and this one has a dict"),
    "an array without fields": (lambda: tandem.replay(np.zeros(3)), "a structured array, with the fields op"),
    "an empty name": (lambda: tandem.replay(""), "the name of the trace is empty"),
    "arrays in a plan": (lambda: tandem.sweep({"devices": "tiny", "traces": COLUMNS}), "a plan names its traces"),
    "no operation's times": (lambda: tandem.replay(REQUESTS, first=9).responses.of("X"), "R, W, T or F, not 'X'"),
    "a system of nothing": (lambda: tandem.replay("synth:zipf", {"filter": "off"}), "has its name"),
    "a system of a number": (lambda: tandem.replay("synth:zipf", 7), "7 is no system"),
    "a trace of a number": (lambda: tandem.replay(7), "this is of type int"),
    "an offset of many digits": (lambda: tandem.replay({"op": [1, 1], "offset": [0, 1e30], "length": [1, 1]}), "request 2 has 1e+30, which is more than 64 bits hold"),
    "too few columns": (lambda: tandem.replay({"op": [1]}), "this one has op"),
    "lengths that differ": (lambda: tandem.replay({"op": [1], "offset": [0, 1], "length": [1]}), "equally many"),
    "a negative offset": (lambda: tandem.replay({"op": [1, 1], "offset": [0, -4], "length": [1, 1]}), "request 2 has -4"),
    "half a byte": (lambda: tandem.replay({"op": [1], "offset": [0.5], "length": [1]}), "whole numbers, not float64"),
    "no operation": (lambda: tandem.replay({"op": ["x"], "offset": [0], "length": [1]}), "`x` is not known: an operation is 0"),
    "no lifetime": (
        lambda: tandem.replay({"op": [1], "offset": [0], "length": [1], "lifetime": ["brief"]}),
        "a lifetime is short",
    ),
    "operation 4": (lambda: tandem.replay({"op": [4], "offset": [0], "length": [1]}), "3 for F"),
    "an empty request": (lambda: tandem.replay({"op": [1], "offset": [0], "length": [0]}), "at least a byte"),
    "no request": (lambda: tandem.replay({"op": [], "offset": [], "length": []}), "arrays"),
    "beyond the end": (lambda: tandem.replay({"op": [1], "offset": [1 << 40], "length": [1]}), 'fit="pack" moves'),
    "a format of arrays": (lambda: tandem.replay({"op": [1]}, format="csv"), "the trace is in arrays"),
    "no format": (lambda: tandem.replay("x.csv", format="paper"), "no format is called `paper`"),
    "a device without its table": (lambda: tandem.replay("synth:zipf", device={"name": "x"}), "the device"),
    "a plan of nothing": (lambda: tandem.sweep({"devices": "tiny"}), "missing field `systems`"),
    "a plan with a typing error": (
        lambda: tandem.sweep({"devices": "tiny", "systems": "paged", "traces": "synth:zipf", "sed": [1]}),
        "did you mean",
    ),
    "a folder that cannot be": (lambda: REQUESTS.save("no/such/a.csv"), "no/such/a.csv cannot be written"),
    "a folder in none": (
        lambda: tandem.sweep({"devices": "tiny", "systems": "paged", "traces": "synth:zipf"}, "no/such/folder"),
        "there is no such folder: make it first",
    ),
    "a workload of a number": (lambda: tandem.synth(5), "workload: give a string, not 5"),
    "a script of a number": (lambda: tandem.torture_script(5), "script: give a string, not 5"),
    "no such cut": (lambda: tandem.torture(at=["x"]), "x"),
    "a cut that is not met": (lambda: tandem.torture(requests=3, at=["999999:erased"]), "was not met"),
    "no such faults": (lambda: tandem.torture(faults="luck"), "luck"),
    "no such bound": (lambda: tandem.torture_small(9), "give 1 to 6"),
    "no such shard": (lambda: tandem.torture_small(shard="3/2"), "write I/N"),
    "no such small device": (lambda: tandem.torture_small(device="big"), "there is no small device `big`"),
    "no script": (lambda: tandem.torture_script("abc"), "`abc` is no script"),
    "no such FTL": (lambda: tandem.torture(ftl="ext4"), "give hybrid or paged"),
    "no systems": (lambda: tandem.compare("synth:zipf", []), "no system is named"),
    "no names of systems": (lambda: tandem.compare("synth:zipf", ","), "no system is named"),
    "no jobs": (lambda: tandem.sweep({"devices": "tiny"}, jobs=0), "jobs: give at least 1"),
}


@pytest.mark.parametrize("what", WRONG)
def test_bad_input_is_an_exception(what):
    work, said = WRONG[what]
    with pytest.raises(tandem.BadInput) as refused:
        work()
    assert said in str(refused.value)
    assert isinstance(refused.value, ValueError) and isinstance(refused.value, tandem.TandemError)


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (lambda: tandem.sweep({}), "the plan: missing field `devices`"),
        (lambda: tandem.replay("synth:zipf", device={}), "the device: missing field `name`"),
        (lambda: tandem.replay("synth:zipf", device={"name": "x"}), "the device: missing field `title`"),
    ],
)
def test_of_a_dictionary_no_line_is_told(work, said):
    with pytest.raises(tandem.BadInput) as refused:
        work()
    assert str(refused.value).startswith(said) and "line" not in str(refused.value)


def test_an_open_loop_needs_times():
    untimed = {name: column for name, column in COLUMNS.items() if name != "time_ns"}
    for trace in (untimed, tandem.Requests.of(untimed), pandas.DataFrame(untimed)):
        assert tandem.replay(trace, capacity="256MiB").requests.writes > 0
        for run in (tandem.replay, tandem.compare):
            with pytest.raises(tandem.BadInput, match="these arrays have no times: add time_ns or time_us"):
                run(trace, capacity="256MiB", open_loop=True)
    with pytest.raises(tandem.BadInput, match="in time_ns or in time_us; this one has both"):
        tandem.replay({**COLUMNS, **IN_MICROS})


def test_a_clock_that_was_set_back_is_like_one_in_a_file(tmp_path):
    falling = tandem.Requests.of({**untimed_writes(6), "time_us": [5000, 9000, 2000, 9500, 6000, 9600]})
    falling.save(tmp_path / "falling.csv")
    held = {**untimed_writes(6), "time_us": [5000, 9000, 9000, 9500, 9500, 9600]}
    runs = [figures(trace, open_loop=True) for trace in (falling, tmp_path / "falling.csv", held)]
    assert runs[0] == runs[1] == runs[2]


def untimed_writes(count):
    return {"op": ["W"] * count, "offset": np.arange(count) * 8192, "length": [8192] * count}


def test_what_is_no_progress():
    with pytest.raises(TypeError, match="progress is a function"):
        tandem.replay("synth:zipf", progress=7)


def test_a_missing_value_of_arrow_is_told():
    table = pyarrow.table({"op": ["W", None], "offset": [0, 0], "length": [1, 1]})
    with pytest.raises(tandem.BadInput, match="missing values"):
        tandem.replay(table)


def test_notes_are_warnings():
    beyond = {"op": [1, 1], "offset": [0, 1 << 40], "length": [4096, 4096]}
    with pytest.warns(tandem.Note, match='as with fit="pack"; fit="wrap" begins again'):
        tandem.compare(beyond, "page-mlc", capacity="64MiB")
