"""What the tests share: the program `tandem`, whose figures must be ours."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
#: The times of this computer in a result.
OF_COMPUTER = {"wall_s", "busy_s", "requests_per_s", "nand_ops_per_s"}


def of_device(result):
    """A result without the times of this computer, however deep they lie."""
    if isinstance(result, dict):
        return {name: of_device(value) for name, value in result.items() if name not in OF_COMPUTER}
    if isinstance(result, (list, tuple)):
        return [of_device(value) for value in result]
    return result


class Program:
    """The program, of which `TANDEM` is the path."""

    def __init__(self):
        self.path = os.environ.get("TANDEM", str(ROOT / "target/release/tandem"))

    def run(self, *arguments):
        return subprocess.run([self.path, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True)

    def json(self, *arguments):
        """What it writes as JSON."""
        done = self.run(*arguments, "--json", "-")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def refusal(self, *arguments):
        """Why it refuses."""
        done = self.run(*arguments)
        assert done.returncode in (1, 2), done
        return done.stderr.partition("error: ")[2].strip()


@pytest.fixture(scope="session")
def program():
    return Program()


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)
