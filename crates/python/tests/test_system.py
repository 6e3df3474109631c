"""FTLs in Python: measured like the others, and never the end of the interpreter."""

import pytest
import tandem
from ftl import Log, PageMap

LOAD = "synth:uniform?requests=400&size=1KiB&reads=30&seed=4"


def test_an_ftl_in_python_is_compared_with_the_others():
    comparison = tandem.compare(LOAD, ["page-mlc", PageMap], "tiny")
    own = comparison["page-map-in-python"]
    assert own.verified_reads == comparison["page-mlc"].verified_reads > 0
    assert own.mlc.erases > 0 and own.mlc.pages.gc_program > 0 and own.write_amplification > 1
    causes = own.response_by_cause_us.writes
    assert causes.host + causes.reclaim == own.write_us.total
    assert comparison.ratios["page-map-in-python"].rs > 0.5


def test_its_figures_are_those_of_the_same_ftl_in_rust():
    # As long as nothing is cleaned, the page map of the simulator does the same.
    load = "synth:uniform?requests=120&size=2KiB&reads=30&footprint=64KiB"
    ours, theirs = (tandem.replay(load, system, "tiny", fill="nothing") for system in (PageMap, "page-mlc"))
    for name in ("response_us", "read_us", "write_us", "energy_mj", "cost_usd", "write_amplification", "verified_reads"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.mlc.pages == theirs.mlc.pages
    slc = tandem.replay("synth:uniform?requests=50&size=1KiB&reads=50&footprint=8KiB", Log, "tiny", fill="nothing")
    assert (slc.read_us.max, slc.write_us.mean, slc.write_us.max) == (25.0, 200.0, 200.0)


def test_an_object_of_it_will_do():
    class Named(PageMap):
        def __init__(self, name):
            self.name = name

    system = Named("mine")
    assert tandem.replay(LOAD, system, "tiny").system == "mine"
    assert system.flash.regions == ["mlc"] and system.flash.erase_count("mlc", 0) >= 0
    assert (system.flash.page_bytes, system.flash.pages, system.flash.blocks("mlc")) == (2048, 160, 18)


def test_both_regions_have_slots_of_a_page():
    class Both(PageMap):
        memory = "both"

        def start(self, flash):
            assert flash.regions == ["slc", "mlc"]
            # A page of the MLC takes two of the SLC.
            assert (flash.page_bytes, flash.slots("slc"), flash.slots("mlc")) == (2048, 4, 16)
            super().start(flash)
            flash.program("slc", 2, 0, b"\1" * 2048)
            assert flash.read("slc", 2, 0) == b"\1" * 2048
            flash.erase("slc", 2)

    assert tandem.replay(LOAD, Both, "tiny").slc_bytes == 12 * 8 * 1024


def test_parts_of_pages_trims_and_flushes():
    requests = {
        "op": ["W", "T", "R", "W", "F", "R", "T", "R"],
        "offset": [0, 1024, 0, 3072, 0, 2048, 0, 0],
        "length": [8192, 1024, 4096, 1024, 0, 4096, 8192, 8192],
    }
    run = tandem.replay(requests, PageMap, "tiny", fill="nothing")
    assert (run.requests.trims, run.requests.flushes, run.verified_reads) == (2, 1, 16)


def test_what_it_raises_is_raised_by_the_run():
    class Wrong(PageMap):
        def write(self, page, data, cause="host"):
            raise LookupError(f"page {page}")

    with pytest.raises(LookupError, match="page 0"):
        tandem.replay(LOAD, Wrong, "tiny")

    class Unsure(PageMap):
        def check(self):
            assert False, "the map is wrong"

    with pytest.raises(AssertionError, match="the map is wrong"):
        tandem.replay(LOAD, Unsure, "tiny")

    class Unstarted(PageMap):
        def start(self, flash):
            raise KeyError("none")

    with pytest.raises(KeyError):
        tandem.compare(LOAD, ["page-mlc", Unstarted], "tiny")


def test_data_that_is_lost_is_a_violation():
    class Forgetful(PageMap):
        def read(self, page):
            return bytes(self.flash.page_bytes)

    with pytest.raises(tandem.Violation, match="violation: "):
        tandem.replay(LOAD, Forgetful, "tiny")


class Overwriting(Log):
    """Programs a page twice."""

    def write(self, page, data):
        self.flash.program("slc", 0, 0, data)


class Jumping(Log):
    """Programs a block from its end."""

    def write(self, page, data):
        self.flash.program("slc", 0, 7, data)


@pytest.mark.parametrize(("system", "said"), [(Overwriting, "SLC block 0, page 0"), (Jumping, "SLC block 0, page 7")])
def test_a_broken_rule_of_the_chip_is_a_violation_and_nothing_is_printed(system, said, capfd):
    with pytest.raises(tandem.Violation, match=said):
        tandem.replay(LOAD, system, "tiny", fill="nothing")
    told = capfd.readouterr()
    assert (told.out, told.err) == ("", "")


class Asks(Log):
    """Asks for what cannot be."""

    def write(self, page, data):
        type(self).question(self.flash, data)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (lambda flash, data: flash.program("mlc", 0, 0, data), "no region `mlc`"),
        (lambda flash, data: flash.program("slc", 99_999, 0, data), "SLC block 99999 is beyond the region's 72 blocks$"),
        (lambda flash, data: flash.program("slc", -1, 0, data), "block: give a number from 0 on, not -1"),
        (lambda flash, data: flash.read("slc", 0, 1.5), "slot: give a number from 0 on, not 1.5"),
        (lambda flash, data: flash.erase("slc", None), "block: give a number from 0 on, not None"),
        (lambda flash, data: flash.program("slc", 0, 99, data), "slot 99 is beyond the 8"),
        (lambda flash, data: flash.program("slc", 0, 0, b""), "a slot has 1024 bytes, and was given 0"),
        (lambda flash, data: flash.program("slc", 0, 0, data, "fun"), "`fun` is no cause"),
        (lambda flash, data: flash.erase("slc", 99_999), "beyond the region's"),
    ],
)
def test_questions_that_cannot_be_answered(monkeypatch, question, said):
    monkeypatch.setattr(Asks, "question", staticmethod(question), raising=False)
    with pytest.raises(tandem.BadInput, match=said):
        tandem.replay(LOAD, Asks, "tiny", fill="nothing")


def test_what_is_no_system():
    class Short(PageMap):
        def read(self, page):
            return b"short"

    with pytest.raises(tandem.BadInput, match="a page has 2048 bytes, and this one has 5"):
        tandem.replay(LOAD, Short, "tiny")

    class Silent(PageMap):
        def read(self, page):
            pass

    with pytest.raises(tandem.BadInput, match=r"read\(\d+\) returned NoneType: .*must return the bytes of the page, 2048"):
        tandem.replay(LOAD, Silent, "tiny")

    class Nowhere(PageMap):
        memory = "disk"

    with pytest.raises(tandem.BadInput, match="`disk` is no memory"):
        tandem.replay(LOAD, Nowhere, "tiny")

    class Taken(PageMap):
        name = "paged"

    with pytest.raises(tandem.BadInput, match="choose another name"):
        tandem.replay(LOAD, Taken, "tiny")
    with pytest.raises(NotImplementedError, match="define write"):
        tandem.replay(LOAD, tandem.System, "tiny")
    with pytest.raises(tandem.BadInput, match="names its systems"):
        tandem.sweep({"devices": "tiny", "systems": [PageMap], "traces": "synth:uniform"})
