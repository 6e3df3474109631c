"""Results are typed, and tables for other libraries; arrays have every request and every block."""

import numpy as np
import pandas
import pyarrow
import pytest
import tandem
from tandem.figures import Times

LOAD = "synth:zipf?requests=3000&reads=30&seed=2"


@pytest.fixture(scope="module")
def run():
    return tandem.replay(LOAD, capacity="1GiB", slc="8MiB")


def test_figures_have_names_and_types(run):
    figures = run.to_dict()
    assert isinstance(run.write_us, Times) and run.write_us.p99 == figures["write_us"]["p99"]
    assert run.requests.writes + run.requests.reads == 3000
    assert run.parts["slc"].operations["host"].program == figures["parts"]["slc"]["operations"]["host"]["program"]
    assert run.trim_us.mean is None and run.steady is None and run.factors is None
    # No figure of the JSON is without a name here, and none here is not of the JSON.
    known = set(tandem.Run.__dataclass_fields__) - {"_dict", "responses", "wear", "steady"}
    assert known == set(figures)


def test_a_result_is_shown_in_few_words(run):
    trace = "synth:zipf?requests=3000&reads=30&seed=2"
    assert repr(run) == f"<Run paged on c3: {trace}, 3000 requests>"
    comparison = tandem.compare(LOAD, "conventional,paged", capacity="1GiB", record=False)
    assert repr(comparison) == f"<Comparison of conventional, paged on c3: {trace}>"
    plan = {"devices": "tiny", "systems": "page-slc", "traces": "synth:uniform?requests=9&size=1KiB"}
    assert repr(tandem.sweep(plan)) == "<Sweep: 1 of 1 runs>"


def test_every_name_of_the_json_is_known_however_deep():
    chang = tandem.compare(LOAD, "conventional,hybrid", capacity="1GiB", steady=True)
    for run in [*chang, tandem.replay("synth:uniform?requests=99&size=1KiB", "disk-cache", "tiny")]:
        assert undone(run) == run.to_dict()
    assert chang["hybrid"].factors.alpha is not None and chang["hybrid"].steady.rounds


def undone(value):
    """A typed value as a dictionary again."""
    if hasattr(value, "__dataclass_fields__"):
        own = ("_dict", "responses", "wear") if isinstance(value, tandem.Run) else ()
        names = [name for name in value.__dataclass_fields__ if name not in own]
        return {name: undone(getattr(value, name)) for name in names if name != "steady" or value.steady is not None}
    if isinstance(value, list):
        return [undone(one) for one in value]
    return {name: undone(one) for name, one in value.items()} if isinstance(value, dict) else value


def test_arrays_have_every_request_and_every_block(run):
    responses = run.responses
    assert (responses.op.dtype, responses.time_ns.dtype, len(responses.op)) == (np.uint8, np.uint64, 3000)
    assert int(responses.time_ns.sum()) == round(run.response_us.total * 1000)
    assert responses.of("W").max() == run.write_us.max * 1000 and len(responses.of("R")) == run.requests.reads
    requests = tandem.synth("zipf?reads=30", requests=3000, seed=2, capacity="1GiB")
    assert np.array_equal(responses.op, requests.op)
    assert int(run.wear["slc"].sum()) == run.slc.erases > 0
    assert run.wear["mlc"].dtype == np.uint32 and run.wear["mlc"].max() == run.mlc.erase_count.max


def test_arrays_are_not_copied(run):
    times = run.responses.time_ns
    assert run.responses.to_arrow().column("time_ns").chunk(0).buffers()[1].address == times.ctypes.data
    # Python owns what Rust has made, and may change it.
    assert times.flags.writeable and times.base is not None


def test_who_wants_no_arrays_gets_none():
    run = tandem.replay(LOAD, capacity="1GiB", record=False)
    assert run.responses is None and run.wear == {}


def test_outstanding_requests_stand_in_their_order():
    alone = tandem.replay(LOAD, "page-mlc", capacity="1GiB", parallel=True)
    many = tandem.replay(LOAD, "page-mlc", capacity="1GiB", parallel=True, queue_depth=16)
    assert np.array_equal(many.responses.op, alone.responses.op)
    assert many.responses.time_ns.sum() == round(many.response_us.total * 1000) > alone.responses.time_ns.sum()


def test_tables(run):
    table = run.to_pandas()
    assert isinstance(table, pandas.DataFrame) and table["write_us.p99"][0] == run.write_us.p99
    assert isinstance(run.to_arrow(), pyarrow.Table)
    comparison = tandem.compare(LOAD, "conventional,paged", capacity="1GiB")
    table = comparison.to_pandas().set_index("system")
    assert table["ratios.rs"]["paged"] == comparison.ratios["paged"].rs > 1
    assert table["slc_gain"]["paged"] == comparison.slc_gain["paged"]
    assert comparison.to_arrow().num_rows == len(comparison) == 2
    assert comparison.ranking[0].standing == "taken" and comparison.without_slc["paged"]["slc_bytes"] == 0
    with pytest.raises(KeyError):
        comparison["hybrid"]
    sweep = tandem.sweep({"devices": "tiny", "systems": "page-slc", "traces": "synth:uniform?requests=9&size=1KiB"})
    assert sweep.to_pandas()["ratios.rs"].tolist() == [1.0] and sweep.to_arrow().num_rows == sweep.planned == 1
    profile = tandem.profile(LOAD)
    assert profile.to_pandas()["writes"].sum() == profile.writes == sum(size.writes for size in profile.sizes)
    assert profile.to_arrow().column("hits.times_least").to_pylist() == [hit.times_least for hit in profile.hits]
    torture = tandem.torture(requests=3)
    assert torture.to_pandas()["tried"].sum() == torture.total.tried == torture.by_cause["host"].tried + sum(
        cuts.tried for cause, cuts in torture.by_cause.items() if cause != "host"
    )
    requests = tandem.synth("uniform", requests=4)
    assert len(requests) == len(requests.to_pandas()) == requests.to_arrow().num_rows == 4
