"""docs/PYTHON.md says what happens."""

import contextlib
import io
import re

from conftest import ROOT

PAGE = (ROOT / "docs/PYTHON.md").read_text()


def test_the_example_prints_what_stands_below_each_line():
    [example] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, "docs/PYTHON.md", "exec"), {})
    told = [line.removeprefix("#") for line in example.splitlines() if line.startswith("#")]
    assert [line.split() for line in printed.getvalue().splitlines()] == [line.split() for line in told]
