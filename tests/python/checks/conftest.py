"""Small source trees that break one rule each, so that no check can pass by looking at nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

CHECKS = Path(__file__).resolve().parents[2] / "checks"
sys.path.insert(0, str(CHECKS))

from tree import Tree  # noqa: E402


class Planted:
    """A temporary tree. Paths are below its root; `compile` also leaves what a build would."""

    def __init__(self, root):
        self.root = root
        self.commands = []

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return self

    def compile(self, path, text, *flags, contract="-ffp-contract=off"):
        self.write(path, text)
        output = f"{path}.o"
        (self.root / "build" / output).parent.mkdir(parents=True, exist_ok=True)
        command = ["g++", "-std=c++20", "-O1", *flags, contract, "-o", output, "-c", f"../{path}"]
        subprocess.run(command, cwd=self.root / "build", check=True)
        self.commands.append(
            {
                "directory": str(self.root / "build"),
                "file": f"../{path}",
                "command": " ".join(command),
            }
        )
        return self

    def link(self, path, text, *flags):
        source = self.root / "shared.cpp"
        source.write_text(text)
        target = self.root / "build" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        command = ["g++", "-std=c++20", "-shared", "-fPIC", *flags, "-o", target, source]
        subprocess.run(command, check=True)
        return self

    @property
    def tree(self):
        build = self.root / "build"
        build.mkdir(exist_ok=True)
        (build / "compile_commands.json").write_text(json.dumps(self.commands))
        return Tree(self.root, build)


@pytest.fixture
def planted(tmp_path):
    return Planted(tmp_path)
