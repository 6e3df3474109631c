"""The notebooks run, from their first cell to their last, and say what their tests say that they say."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook(path, monkeypatch):
    monkeypatch.chdir(NOTEBOOKS)
    monkeypatch.setenv("MPLBACKEND", "agg")
    cells = json.loads(path.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) > 2
    names = {"__name__": "__main__"}
    for number, cell in enumerate(code):
        exec(compile(cell, f"{path.name}, cell {number + 1}", "exec"), names)
