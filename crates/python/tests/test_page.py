"""docs/PYTHON.md says what happens."""

import contextlib
import io
import re

import pytest
import tandem
from conftest import ROOT

PAGE = (ROOT / "docs/PYTHON.md").read_text()


def test_the_example_prints_what_stands_below_each_line():
    [example] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, "docs/PYTHON.md", "exec"), {})
    told = [line.removeprefix("#") for line in example.splitlines() if line.startswith("#")]
    assert [line.split() for line in printed.getvalue().splitlines()] == [line.split() for line in told]


def test_hints_save_two_writers_the_copies_that_the_page_store_tells():
    """Two writers in a GiB, 7.4 % of it spare, with hints and without: docs/PAGE_STORE.md has the figures."""
    load = "synth:writers?size=64KiB&requests="
    run = {hints: tandem.replay(f"{load}60000&hints={hints}", capacity="1GiB", slc=0) for hints in ("on", "off")}
    later = tandem.replay(f"{load}120000&hints=off", capacity="1GiB", slc=0)
    hinted, blind = run["on"].write_amplification, run["off"].write_amplification
    print(f"write amplification with hints {hinted:.3f}, without {blind:.3f}, later {later.write_amplification:.3f}")
    assert hinted <= 1.1 and hinted < blind and run["on"].mlc.pages.gc_program == 0 < run["off"].mlc.pages.gc_program
    page = " ".join((ROOT / "docs/PAGE_STORE.md").read_text().split())
    told = f"{hinted:.2f} pages are programmed for each written, and none is copied, if pairs are not guarded; without hints "
    told += f"{blind:.2f} over the first 3.7 GiB, until the FTL has learned, and {later.write_amplification:.2f} over 7.3 GiB"
    assert told in page


def test_every_extra_that_is_named_can_be_installed():
    tomllib = pytest.importorskip("tomllib", reason="it came with Python 3.11")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(re.findall(r"pip install '\.\[(\w+)\]'", PAGE)) == set(extras) == {"tables", "notebooks"}
    assert {"matplotlib", "jupyterlab"} <= {re.split(r"\W", need)[0] for need in extras["notebooks"]}
