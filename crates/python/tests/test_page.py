"""docs/PYTHON.md says what happens."""

import contextlib
import io
import re

import pytest
from conftest import ROOT

PAGE = (ROOT / "docs/PYTHON.md").read_text()


def test_the_example_prints_what_stands_below_each_line():
    [example] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, "docs/PYTHON.md", "exec"), {})
    told = [line.removeprefix("#") for line in example.splitlines() if line.startswith("#")]
    assert [line.split() for line in printed.getvalue().splitlines()] == [line.split() for line in told]


def test_every_extra_that_is_named_can_be_installed():
    tomllib = pytest.importorskip("tomllib", reason="it came with Python 3.11")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(re.findall(r"pip install '\.\[(\w+)\]'", PAGE)) == set(extras) == {"tables", "notebooks"}
    assert {"matplotlib", "jupyterlab"} <= {re.split(r"\W", need)[0] for need in extras["notebooks"]}
