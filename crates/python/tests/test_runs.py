"""While it runs: progress, Ctrl-C, other threads; and runs that fail."""

import signal
import threading
import time

import pytest
import tandem

#: Some seconds, unless it is stopped.
LONG = "synth:uniform?requests=30000000&size=4KiB"


def test_progress_is_told_as_a_share_and_a_count():
    told = []
    tandem.replay("synth:uniform?requests=600000&size=4KiB", "page-mlc", capacity="1GiB", progress=lambda *at: told.append(at))
    shares = [share for share, _ in told if share is not None]
    assert shares == sorted(shares) and 0 < shares[-1] <= 1
    assert told[-1][1] > 500_000


class Bar:
    """What tqdm's bars have."""

    made = []

    def __init__(self, total=None, **_):
        self.total, self.n, self.is_closed = total, 0, False
        Bar.made.append(self)

    def update(self, n):
        assert n > 0
        self.n += n

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_closed = True


def test_a_bar_like_tqdms_is_filled():
    bar = Bar(total=50)
    load = "synth:uniform?requests=400000&size=4KiB"
    tandem.replay(load, "page-mlc", capacity="1GiB", progress=bar)
    assert 45 < bar.n <= 50 and not bar.is_closed
    tandem.replay(load, "page-mlc", capacity="1GiB", progress=Bar)
    assert Bar.made[-1].total == 100 and Bar.made[-1].n > 90 and Bar.made[-1].is_closed
    counted = Bar()
    cuts = tandem.torture(requests=4, progress=counted)
    assert counted.n == cuts.total.tried


def test_tqdm_itself(capsys):
    tandem.profile("synth:uniform?requests=300000", progress=True)
    assert "100%" in capsys.readouterr().err


def test_a_sweep_counts_its_runs():
    told = []
    plan = {"devices": "tiny", "systems": ["page-slc"], "traces": "synth:uniform?requests=9&size=1KiB", "seeds": range(5)}
    tandem.sweep(plan, progress=lambda *at: told.append(at))
    assert told[-1] == (1.0, 5)


WORKS = {
    "replay": lambda: tandem.replay(LONG, "page-mlc", record=False),
    "compare": lambda: tandem.compare(LONG, "page-mlc,page-slc", record=False),
    "a fill": lambda: tandem.replay("synth:uniform", "page-mlc", fill="random"),
    "sweep": lambda: tandem.sweep({"devices": "c3", "systems": "page-mlc", "traces": LONG}),
    "profile": lambda: tandem.profile(LONG),
    "torture": lambda: tandem.torture_worlds(10_000),
    "synth": lambda: tandem.synth("zipf", requests=200_000_000),
}


@pytest.fixture
def interruptible():
    """Ctrl-C is heeded: where tests run in the background of a shell, it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("what", WORKS)
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_it_soon(what):
    begun = time.monotonic()
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        WORKS[what]()
    # Long before it would have ended, on a busy machine, too.
    assert time.monotonic() - begun < 20


def test_what_progress_raises_ends_the_run():
    def tell(share, count):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        tandem.replay(LONG, "page-mlc", record=False, progress=tell)


def test_other_threads_go_on():
    counted, is_over = [0], threading.Event()

    def count():
        while not is_over.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    tandem.replay("synth:uniform?requests=600000&size=4KiB", "page-mlc", capacity="1GiB")
    assert counted[0] - before > 10_000
    is_over.set()
    thread.join()


def test_runs_in_several_threads_are_those_of_one():
    def mean(into):
        into.append(tandem.replay("synth:zipf?requests=20000", capacity="1GiB").response_us.mean)

    means = []
    threads = [threading.Thread(target=mean, args=[means]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(means) == 3 and len(set(means)) == 1


def test_a_sweep_whose_runs_fail_has_the_others():
    plan = {
        "devices": "tiny",
        "systems": ["page-slc"],
        "traces": ["synth:uniform?requests=9&size=1KiB", "synth:uniform?requests=9&size=1MiB"],
    }
    with pytest.raises(tandem.BadInput, match="1 of 2 runs failed") as failed:
        tandem.sweep(plan)
    assert [run.result.requests.writes for run in failed.value.sweep] == [9]
